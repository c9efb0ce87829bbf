//! An export of everything holds the packets that the real gpg exports.

use harness::packets::{Component, Packet, certificates, components};
use harness::{Both, Reference};

#[test]
fn oracle_export_of_the_members_who_do_not_upload_has_gpgs_packets() {
    compare(Reference::Nonupload);
}

#[test]
fn oracle_export_of_all_three_keyrings_has_gpgs_packets() {
    compare(Reference::Three);
}

/// Asserts that the exports hold the same certificates in the same order, each with the same components in the
/// same order, each component with the same signatures.
fn compare(reference: Reference) {
    let [gpg, keyhoard] = Both::of(reference).run(["--export"]);
    assert_eq!((gpg.code, keyhoard.code), (Some(0), Some(0)), "{}", keyhoard.errors());
    let [expected, found] = [&gpg, &keyhoard].map(|done| certificates(&done.stdout));
    let differing: Vec<String> = expected
        .iter()
        .zip(&found)
        .enumerate()
        .filter_map(|(number, (expected, found))| difference(number, expected, found))
        .collect();
    let count = differing.len();
    assert!(count == 0, "{count} certificates differ\n{}", differing[..count.min(20)].join("\n"));
    assert_eq!(found.len(), expected.len(), "certificates exported");
}

fn difference(number: usize, expected: &[Packet<'_>], found: &[Packet<'_>]) -> Option<String> {
    let [expected, found] = [expected, found].map(components);
    if expected == found {
        return None;
    }
    let same = expected.iter().zip(&found).take_while(|(one, other)| one == other).count();
    let show = |components: &[Component<'_>]| match components.get(same) {
        Some(Component { tag, body, signatures }) => {
            let start = body[..body.len().min(60)].escape_ascii();
            format!("packet type {tag} \"{start}\" with {} signatures", signatures.len())
        }
        None => "nothing more".to_owned(),
    };
    Some(format!(
        "certificate {number}, component {same}: gpg has {}, gpg-keyhoard {}",
        show(&expected),
        show(&found)
    ))
}
