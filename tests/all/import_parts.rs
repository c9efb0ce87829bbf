//! Imports of files, which are written part by part while they are still being verified: they come to the same as any
//! other import.

use harness::packets::{self, PUBLIC_KEY, Packet, SIGNATURE, SUBKEY};
use harness::{Home, Keyring, OwnKey, Run};
use serde_json::Value;

/// The moment of all imports and listings: when a certificate was first seen is part of a listing.
const NOW: [&str; 2] = ["--faked-system-time", "1767225600"];

#[test]
fn a_first_import_of_files_has_the_reports_and_the_result_of_an_import_from_a_pipe() {
    from_files_as_from_a_pipe([Home::new(), Home::new()]);
}

#[test]
fn a_later_import_of_files_has_the_reports_and_the_result_of_an_import_from_a_pipe() {
    let developers = Keyring::Developers.bytes();
    let known = packets::bytes(&packets::certificates(&developers)[400..500].concat());
    from_files_as_from_a_pipe([Home::new(), Home::new()].map(|home| {
        Run::keyhoard(&home).args(NOW).args(["import", "-"]).stdin(known.clone()).succeed();
        home
    }));
}

/// Imports into both what comes again in part, into one of them from files, into the other so that it may have to wait.
fn from_files_as_from_a_pipe([files, pipe]: [Home; 2]) {
    let key = OwnKey::new("Revoked <revoked@example.org>");
    let [nonupload, maintainers, developers] =
        [Keyring::Nonupload, Keyring::Maintainers, Keyring::Developers].map(Keyring::bytes);
    let [nonupload, maintainers] = [&nonupload, &maintainers].map(|bytes| packets::certificates(bytes));
    // Long enough for several parts, the second of which begins after the certificates that come again.
    let developers = packets::certificates(&developers);
    let first = [key.certificate(), all(&nonupload, shortened), all(&maintainers, shortened)]
        .into_iter()
        .chain([all(&developers[..300], <[Packet<'_>]>::to_vec)])
        .collect::<Vec<_>>()
        .concat();
    // Those that come twice again are in one part.
    let again = [
        all(&nonupload, without_user_ids),
        all(&maintainers, without_user_ids),
        all(&maintainers, <[Packet<'_>]>::to_vec),
    ]
    .concat();

    let import = |home: &Home| {
        let first = home.write("first.pgp", &first);
        let revocation = home.write("revocation.asc", key.revocation());
        Run::keyhoard(home).args(NOW).args(["import", "--json"]).arg(first).arg(revocation)
    };
    let from_files = import(&files).arg(files.write("again.pgp", &again)).succeed();
    let from_pipe = import(&pipe).arg("-").stdin(again).succeed();
    let [from_files, from_pipe] = [from_files, from_pipe].map(|done| without_files(done.json_lines()));
    assert_eq!(from_files, from_pipe);
    let summary = from_files.last().expect("a summary");
    assert!(summary["changed"].as_u64() > Some(100), "{summary}");
    assert_eq!(summary["no_user_id"], 0, "{summary}");

    let [left, expected] = [&files, &pipe].map(|home| Run::keyhoard(home).arg("export").succeed().stdout);
    assert!(packets::sorted(&left) == packets::sorted(&expected), "the exports differ");
    let listed =
        [&files, &pipe].map(|home| Run::keyhoard(home).args(NOW).args(["list", "--json"]).succeed().stdout);
    assert!(listed[0] == listed[1], "the listings differ");
    Run::keyhoard(&files).arg("doctor").succeed();
}

/// Returns a keyring of certificates, each as `change` leaves it.
fn all<'a>(certificates: &[Vec<Packet<'a>>], change: fn(&[Packet<'a>]) -> Vec<Packet<'a>>) -> Vec<u8> {
    certificates.iter().flat_map(|certificate| packets::bytes(&change(certificate))).collect()
}

/// Leaves the last packet out, as a rule the signature that binds a subkey.
fn shortened<'a>(certificate: &[Packet<'a>]) -> Vec<Packet<'a>> {
    certificate[..certificate.len() - 1].to_vec()
}

/// Leaves the keys with their signatures.
fn without_user_ids<'a>(certificate: &[Packet<'a>]) -> Vec<Packet<'a>> {
    let mut keeps = true;
    let mut kept = Vec::new();
    for packet in certificate {
        if packet.tag != SIGNATURE {
            keeps = matches!(packet.tag, PUBLIC_KEY | SUBKEY);
        }
        kept.extend(keeps.then_some(*packet));
    }
    kept
}

fn without_files(mut lines: Vec<Value>) -> Vec<Value> {
    lines.iter_mut().filter_map(Value::as_object_mut).for_each(|line| drop(line.remove("file")));
    lines
}
