//! `keyhoard sign` and `keyhoard verify`: signatures that gpg, gpg1, sq and rnp take for good, theirs, and what is not.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use harness::{Engine, Gnupg, Home, Output, OwnKey, Run, SIGNED_TEXT, Victim, detached, signing_keys};

harness::on_both_engines! {
    decrypt_reports_the_signer_of_an_encrypted_message
    trust_on_first_use_counts_what_was_verified_once
    a_signature_needs_a_key_with_the_signing_flag_and_a_subkey_with_a_back_signature
    the_maker_of_a_signature_does_not_depend_on_certificates_that_claim_its_key
    a_copy_without_its_back_signature_that_is_imported_first_does_not_disable_the_subkey
}

const NOW: &str = "20260101T000000";

/// The exit codes of `keyhoard verify` for a key that is not here, and for a good signature by a key that no trusted key
/// certifies.
const UNKNOWN_KEY: i32 = 3;
const OWNER_NOT_VERIFIED: i32 = 4;

fn run(home: &Home, arguments: &[&str]) -> Run {
    Run::keyhoard(home).args(["--faked-system-time", NOW]).args(arguments)
}

/// A home with a key that is not locked.
fn with_key(profile: &str) -> Home {
    with_key_on(Engine::Sqlite, profile)
}

fn with_key_on(engine: Engine, profile: &str) -> Home {
    let home = engine.home();
    let options =
        ["generate", "--faked-system-time", "20250101T000000", "--no-passphrase", "--profile", profile];
    Run::keyhoard(&home).args(options).arg("Ann <ann@example.org>").succeed();
    home
}

/// The three forms, each with what of the options makes it.
const FORMS: [(&str, &[&str]); 4] = [
    ("inline", &["sign"]),
    ("compressed", &["sign", "--compress", "zlib", "--armor"]),
    ("text", &["sign", "--text"]),
    ("clear", &["sign", "--clear"]),
];

const TEXT: &[u8] = b"- a dash\nFrom me\n\nand  white space \nthe end\n";
/// What is signed of it in clear text.
const CLEAR: &[u8] = b"- a dash\nFrom me\n\nand  white space\nthe end\n";

fn verified(home: &Home, message: &[u8]) -> (Output, Vec<u8>) {
    let file = home.path().join("verified");
    let _ = fs::remove_file(&file);
    let done = run(home, &["--json", "verify", "--output", &file.to_string_lossy()]).stdin(message).output();
    (done, fs::read(file).unwrap_or_default())
}

fn certificate(home: &Home) -> Vec<u8> {
    Run::keyhoard(home).args(["export", "--binary", "ann@example.org"]).succeed().stdout
}

/// Lets a program of GnuPG's judge a message, with our certificate in its keyring.
fn judged_by(program: impl AsRef<OsStr>, home: &Home, files: &[&Path]) -> bool {
    let gpg = Home::new();
    let key = home.write("certificate", certificate(home));
    let command = |arguments: &[&str]| {
        let mut command = Command::new(&program);
        command.args(["--batch", "--no-permission-warning", "--homedir"]).arg(gpg.path());
        command.env("GNUPGHOME", gpg.path()).args(arguments);
        command
    };
    assert!(command(&["--import"]).arg(&key).output().expect("it is installed").status.success());
    let output = command(&["--verify"]).args(files).output().expect("it is installed");
    output.status.success() && String::from_utf8_lossy(&output.stderr).contains("Good signature")
}

#[test]
fn every_form_of_signature_is_verified_by_keyhoard_and_gpg() {
    let home = with_key("compatible");
    for (form, options) in FORMS {
        let message = run(&home, options).stdin(TEXT).succeed().stdout;
        let (done, content) = verified(&home, &message);
        assert_eq!(done.code, Some(0), "{form}: {}", done.errors());
        assert_eq!(content, if form == "clear" { CLEAR } else { TEXT }, "{form}");
        let told = &done.json_lines()[0];
        assert_eq!((&told["holds"], &told["signatures"][0]["standing"]), (&true.into(), &"good".into()));
        assert_eq!(told["signatures"][0]["validity"], "ultimate");
        assert!(judged_by(Gnupg::V2_2.program("gpg"), &home, &[&home.write("message", &message)]), "{form}");
    }
}

#[test]
fn gpg_1_sq_and_rnp_verify_our_signatures() {
    let home = with_key("rsa4096");
    let data = home.write("data", TEXT);
    let signature = home.path().join("data.sig");
    let name = signature.to_string_lossy().into_owned();
    run(&home, &["sign", "--detached", "--output", &name]).arg(&data).succeed();
    assert!(judged_by("gpg1", &home, &[&signature, &data]));
    let clear = home.write("clear", run(&home, &["sign", "--clear"]).stdin(TEXT).succeed().stdout);
    assert!(judged_by("gpg1", &home, &[&clear]));
    let key = home.write("certificate", certificate(&home));
    let sq = |arguments: &[&std::ffi::OsStr]| {
        let output = Command::new("sq").arg("verify").arg("--signer-cert").arg(&key).args(arguments).output();
        let output = output.expect("sq is installed");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    sq(&["--detached".as_ref(), signature.as_os_str(), data.as_os_str()]);
    sq(&[clear.as_os_str()]);
    let rnp_home = Home::new();
    let rnp = |program: &str, arguments: &[&std::ffi::OsStr]| {
        let output = Command::new(program).arg("--homedir").arg(rnp_home.path()).args(arguments).output();
        let output = output.expect("rnp is installed");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    rnp("rnpkeys", &["--import".as_ref(), key.as_os_str()]);
    rnp("rnp", &["--verify".as_ref(), signature.as_os_str()]);
    rnp("rnp", &["--verify".as_ref(), clear.as_os_str()]);
}

#[test]
fn signatures_of_gpg_are_verified_in_every_form() {
    let home = Home::new();
    let ann = OwnKey::new("Ann <ann@example.org>");
    Run::keyhoard(&home).args(["import", "--quiet"]).stdin(ann.certificate()).succeed();
    let gpg = |options: &[&str]| Run::gpg_with_agent(ann.home()).args(options).stdin(TEXT).succeed().stdout;
    for options in
        [&["--sign"][..], &["--sign", "--armor"], &["--sign", "--textmode", "-z0"], &["--clearsign"]]
    {
        let (done, content) = verified(&home, &gpg(options));
        assert_eq!(done.code, Some(OWNER_NOT_VERIFIED), "{options:?}: {}", done.errors());
        assert_eq!(content, if options[0] == "--clearsign" { CLEAR } else { TEXT }, "{options:?}");
    }
    let data = home.write("data", TEXT);
    let options =
        ["--detach-sign", "--sig-notation", "test@example.org=a value", "--sig-policy-url", "https://x/"];
    let signature = home.write("data.sig", gpg(&options));
    // The data's name is the signature's without its end.
    let done = run(&home, &["--json", "verify"]).arg(&signature).output();
    assert_eq!(done.code, Some(OWNER_NOT_VERIFIED), "{}", done.errors());
    let told = &done.json_lines()[0]["signatures"][0];
    assert_eq!(told["notations"][0]["value"]["text"], "a value");
    assert_eq!(told["policies"][0]["text"], "https://x/");
    assert_eq!(told["certificate"], ann.fingerprint());
    assert_eq!(told["validity"], "unknown");
    // Good, but no trusted key certifies it.
    let sure = |options: &[&str]| {
        run(&home, &["verify", "--sure"]).args(options).arg(&signature).arg(&data).output().code
    };
    assert_eq!(sure(&[]), Some(OWNER_NOT_VERIFIED));
    assert_eq!(sure(&["--trusted-key", ann.fingerprint()]), Some(0));
}

#[test]
fn bad_signatures_unknown_keys_and_revoked_keys_fail_verification() {
    let home = with_key("compatible");
    let data = home.write("data", TEXT);
    let signature = home.write("data.sig", run(&home, &["sign", "--detached"]).stdin(TEXT).succeed().stdout);
    let judged = |home: &Home, now: &str| {
        let run = Run::keyhoard(home).args(["--faked-system-time", now, "--json", "verify"]);
        let done = run.arg(&signature).arg(&data).output();
        (done.code, done.json_lines()[0]["signatures"][0]["standing"].as_str().unwrap_or_default().to_owned())
    };
    assert_eq!(judged(&home, NOW), (Some(0), "good".to_owned()));
    assert_eq!(judged(&home, "20250601T000000"), (Some(1), "wrong-time".to_owned()), "before it was made");
    assert_eq!(judged(&Home::new(), NOW), (Some(UNKNOWN_KEY), "no-key".to_owned()));
    fs::write(&data, b"other data\n").expect("space");
    assert_eq!(judged(&home, NOW), (Some(1), "bad".to_owned()));
    fs::write(&data, TEXT).expect("space");
    run(&home, &["key", "revoke", "--yes", "ann@example.org"]).succeed();
    assert_eq!(judged(&home, NOW), (Some(1), "key-revoked".to_owned()));
}

#[test]
fn content_that_is_not_signed_is_not_written() {
    let home = with_key("compatible");
    let message = run(&home, &["sign", "--clear"]).stdin("I owe you 10\n").succeed().stdout;
    let around = [b"I owe you 1000\n", &message[..], b"I owe you 1000000\n"].concat();
    assert_eq!(verified(&home, &around).1, b"I owe you 10\n");
    // Nor is it called good, where what is signed is not written.
    for around in
        [&around[..], &[b"I owe you 1000\n", &message[..]].concat(), &[&message[..], b"1000"].concat()]
    {
        let done = run(&home, &["verify"]).stdin(around).output();
        assert_eq!((done.code, done.text().as_str()), (Some(2), ""), "{}", done.errors());
        assert!(done.errors().contains("unsigned text around the signed text"), "{}", done.errors());
    }
    run(&home, &["verify"]).stdin([b"\n", &message[..], b" \r\n"].concat()).succeed();
    let mut changed = message;
    let at = changed.windows(2).position(|pair| pair == b"10").expect("the text");
    changed[at] = b'9';
    let (done, content) = verified(&home, &changed);
    assert_eq!((done.code, &content[..]), (Some(1), &b""[..]));
    let encrypted = run(&home, &["encrypt", "--to", "ann@example.org"]).stdin("text").succeed().stdout;
    let done = run(&home, &["verify"]).stdin(encrypted).output();
    assert_eq!(done.code, Some(2));
    assert!(done.errors().contains("encrypted"), "{}", done.errors());
}

fn decrypt_reports_the_signer_of_an_encrypted_message(engine: Engine) {
    for profile in ["compatible", "modern"] {
        let home = with_key_on(engine, profile);
        let encrypt = ["encrypt", "--to", "ann@example.org", "--sign"];
        let message = run(&home, &encrypt).stdin(TEXT).succeed().stdout;
        let file = home.path().join("content");
        let done =
            run(&home, &["--json", "decrypt", "--output", &file.to_string_lossy()]).stdin(message).output();
        assert_eq!(done.code, Some(0), "{}", done.errors());
        assert_eq!(fs::read(&file).expect("content"), TEXT);
        assert_eq!(done.json_lines()[0]["signatures"][0]["standing"], "good");
    }
}

fn list(pairs: &[(PathBuf, PathBuf)]) -> String {
    pairs.iter().map(|(signature, data)| format!("{}\t{}\n", signature.display(), data.display())).collect()
}

#[test]
fn a_batch_reports_its_signatures_in_their_order() {
    let home = with_key("compatible");
    let mut pairs = Vec::new();
    for number in 0..20 {
        let text = format!("text {number}\n");
        let data = home.write(&format!("data{number}"), &text);
        let signature = run(&home, &["sign", "--detached"]).stdin(text).succeed().stdout;
        pairs.push((home.write(&format!("data{number}.sig"), signature), data));
    }
    fs::write(&pairs[7].1, "something else").expect("space");
    fs::remove_file(&pairs[9].1).expect("a file");
    let done = run(&home, &["verify", "--batch", "-"]).stdin(list(&pairs)).output();
    assert_eq!(done.code, Some(1), "{}", done.errors());
    let told = done.json_lines();
    for (number, (line, (_, data))) in told.iter().zip(&pairs).enumerate() {
        assert_eq!(line["data"], data.to_string_lossy().into_owned());
        assert_eq!(line["holds"], number != 7 && number != 9, "{line}");
        assert_eq!(line["error"].is_null(), number != 9, "{line}");
    }
    assert_eq!(told.len(), 20);
    let done = run(&home, &["verify", "--batch", "-"]).stdin(list(&pairs[..5])).output();
    assert_eq!(done.code, Some(0), "{}", done.errors());
}

#[test]
fn a_malformed_line_of_a_batch_fails_with_its_number_and_the_others_are_verified() {
    let home = with_key("compatible");
    let data = home.write("data", TEXT);
    let signature = home.write("data.sig", run(&home, &["sign", "--detached"]).stdin(TEXT).succeed().stdout);
    let good = list(&[(signature, data)]);
    let lines = format!("{good}no tab\n{good}\n{good}");
    let done = run(&home, &["verify", "--batch", "-"]).stdin(lines).output();
    assert_eq!((done.code, &done.errors()[..]), (Some(1), ""));
    let told = done.json_lines();
    assert_eq!(told.len(), 5);
    for (before, line) in told.iter().enumerate() {
        let number = before + 1;
        assert_eq!(line["line"], number);
        let is_malformed = [2, 4].contains(&number);
        assert_eq!(line["holds"], !is_malformed, "{line}");
        assert_eq!((line["data"].is_null(), line["signature"].is_null()), (is_malformed, is_malformed));
        let error = line["error"].as_str().unwrap_or_default();
        assert_eq!(error.starts_with(&format!("line {number}: ")), is_malformed, "{line}");
    }
    assert!(told[1]["error"].as_str().is_some_and(|error| error.contains("no tab")), "{}", told[1]);
}

#[test]
fn signed_tags_of_a_repository_are_verified_and_lightweight_tags_are_skipped() {
    let home = Home::new();
    let ann = OwnKey::new("Ann <ann@example.org>");
    Run::keyhoard(&home).args(["import", "--quiet"]).stdin(ann.certificate()).succeed();
    let repository = home.path().join("repository");
    let git = |arguments: &[&str]| {
        let mut command = Command::new("git");
        command.arg("-C").arg(home.path()).args(["-c", "user.name=Ann", "-c", "user.email=ann@example.org"]);
        command.env("GNUPGHOME", ann.home().path()).env("GIT_CONFIG_GLOBAL", "/dev/null").args(arguments);
        let output = command.output().expect("git is installed");
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        output.stdout
    };
    let here = ["-C", "repository"];
    let signer = format!("user.signingKey={}", ann.fingerprint());
    git(&["init", "-q", "repository"]);
    git(&[&here[..], &["-c", &signer, "commit", "-q", "--allow-empty", "-S", "-m", "One"]].concat());
    git(&[&here[..], &["-c", &signer, "tag", "-s", "-m", "Release", "v1"]].concat());
    git(&[&here[..], &["tag", "-a", "-m", "Not signed", "v2"]].concat());
    // Its commit is signed, itself it is not, nor is the content that looks like a signed tag.
    git(&[&here[..], &["tag", "light"]].concat());
    let looks = git(&[&here[..], &["cat-file", "tag", "v1"]].concat());
    let file = home.write("looks", looks);
    let blob = git(&[&here[..], &["hash-object", "-w", &file.to_string_lossy()]].concat());
    git(&[&here[..], &["tag", "blob", String::from_utf8_lossy(&blob).trim_end()]].concat());
    for (option, name) in [("--tags", Some("v1")), ("--commits", None)] {
        let done = Run::keyhoard(&home).args(["--json", "verify", option]).arg(&repository).output();
        assert_eq!(done.code, Some(0), "{}", done.errors());
        let told = done.json_lines();
        assert_eq!(told.len(), 1);
        assert!(name.is_none_or(|name| told[0]["name"] == name));
        assert_eq!(told[0]["signatures"][0]["certificate"], ann.fingerprint());
    }
    assert_eq!(Run::keyhoard(&home).args(["verify", "--tags"]).arg(home.path()).output().code, Some(2));
}

fn trust_on_first_use_counts_what_was_verified_once(engine: Engine) {
    let home = with_key_on(engine, "compatible");
    let data = home.write("data", TEXT);
    let signature = home.write("data.sig", run(&home, &["sign", "--detached"]).stdin(TEXT).succeed().stdout);
    for _ in 0..2 {
        let verify = run(&home, &["verify", "--trust-model", "tofu"]).arg(&signature).arg(&data);
        verify.succeed();
    }
    run(&home, &["encrypt", "--trust-model", "tofu", "--to", "ann@example.org"]).stdin("text").succeed();
    let told = run(&home, &["--json", "tofu", "explain", "ann@example.org"]).succeed().json_lines();
    let key = &told[0]["keys"][0];
    assert_eq!(
        (&key["verified"]["messages"], &key["encrypted"]["messages"]),
        (&1.into(), &1.into()),
        "{key}"
    );
}

#[test]
fn policy_lists_the_accepted_algorithms() {
    let home = Home::new();
    let told = run(&home, &["--json", "policy"]).succeed().json_lines();
    let rule = |name: &str| told.iter().find(|rule| rule["name"] == name).expect("a rule");
    assert_eq!(rule("MD5")["verifying"], "no");
    assert_eq!(rule("SHA512")["verifying"], "yes");
    assert_eq!(rule("3DES")["writing"], "with --allow-old-cipher");
    let text = run(&home, &["policy"]).succeed().text();
    assert!(text.contains("AES256"), "{text}");
}

#[test]
fn long_clear_text_is_verified_with_any_algorithms_in_its_hash_headers() {
    let home = with_key("compatible");
    let message = run(&home, &["sign", "--clear"]).stdin("some text\n".repeat(200_000)).succeed().stdout;
    let message = String::from_utf8(message).expect("text");
    let (title, rest) = message.split_once('\n').expect("a title");
    let (_, text) = rest.split_once("\n\n").expect("headers");
    for headers in ["", "Hash: SHA1\n", "Hash: SHA256,SHA512\n"] {
        run(&home, &["verify"]).stdin(format!("{title}\n{headers}\n{text}")).succeed();
    }
}

#[test]
fn memory_does_not_grow_with_the_signed_data() {
    let home = with_key("compatible");
    let data = home.path().join("data");
    let file = fs::File::create(&data).expect("a file");
    file.set_len(200 << 20).expect("space, of which none is used");
    let signature = home.path().join("data.sig");
    let name = signature.to_string_lossy().into_owned();
    for run in [
        run(&home, &["sign", "--detached", "--output", &name]).arg(&data),
        run(&home, &["verify"]).arg(&signature).arg(&data),
    ] {
        let (done, cost) = run.measured();
        assert_eq!(done.code, Some(0), "{}", done.errors());
        assert!(cost.peak_memory < 32 << 20, "{cost:?}");
    }
}

/// Verifies a detached signature over the made text; returns what is told of it.
fn judged(home: &Home, signature: &[u8]) -> (Option<i32>, serde_json::Value) {
    let paths = [home.write("made.sig", signature), home.write("made", SIGNED_TEXT)];
    let done = run(home, &["--json", "verify"]).args(paths).output();
    (done.code, done.json_lines()[0]["signatures"][0].clone())
}

fn a_signature_needs_a_key_with_the_signing_flag_and_a_subkey_with_a_back_signature(engine: Engine) {
    let home = engine.home();
    let repository = home.path().join("repository");
    let git = |arguments: &[&str], stdin: Option<&[u8]>| {
        let file = home.write("stdin", stdin.unwrap_or_default());
        let mut command = Command::new("git");
        command.arg("-C").arg(&repository).env("GIT_CONFIG_GLOBAL", "/dev/null").args(arguments);
        let output = command.stdin(fs::File::open(file).expect("a file")).output().expect("git is installed");
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
    };
    fs::create_dir(&repository).expect("a directory");
    git(&["init", "-q"], None);
    let tree = git(&["hash-object", "-t", "tree", "-w", "--stdin"], None);
    let cases = signing_keys();
    for (number, case) in cases.iter().enumerate() {
        Run::keyhoard(&home).args(["import", "--quiet"]).stdin(&case.certificate[..]).succeed();
        let (code, told) = judged(&home, &case.signature());
        let expected =
            if case.is_accepted { ("good", Some(OWNER_NOT_VERIFIED)) } else { ("key-unusable", Some(1)) };
        assert_eq!((told["standing"].as_str().unwrap_or_default(), code), expected, "{}", case.name);
        assert_eq!(told["certificate"], case.primary, "{}", case.name);
        let tag = format!("object {tree}\ntype tree\ntag v{number}\ntagger A <a> 0 +0000\n\nText\n");
        let armor = packet_builder::Armor::new("SIGNATURE", detached(&case.key, tag.as_bytes())).bytes();
        let tag = [tag.as_bytes(), &armor].concat();
        let tag = git(&["hash-object", "-t", "tag", "-w", "--stdin"], Some(&tag));
        git(&["update-ref", &format!("refs/tags/v{number:02}"), &tag], None);
    }
    let done = run(&home, &["--json", "verify", "--tags"]).arg(&repository).output();
    let holds: Vec<bool> = done.json_lines().iter().map(|tag| tag["holds"] == true).collect();
    let expected: Vec<bool> = cases.iter().map(|case| case.is_accepted).collect();
    assert_eq!((holds, done.code), (expected, Some(1)), "{}", done.errors());
}

fn the_maker_of_a_signature_does_not_depend_on_certificates_that_claim_its_key(engine: Engine) {
    let ann = Victim::new();
    for order in [[true, false], [false, true]] {
        let home = engine.home();
        for is_ann in order {
            let certificates = if is_ann { ann.certificate.clone() } else { ann.claimants(100) };
            Run::keyhoard(&home).args(["import", "--quiet"]).stdin(certificates).succeed();
        }
        for key in [&ann.primary, &ann.subkey] {
            let (code, told) = judged(&home, &detached(key, SIGNED_TEXT));
            assert_eq!((code, &told["standing"]), (Some(OWNER_NOT_VERIFIED), &"good".into()), "{told}");
            assert_eq!(told["certificate"], ann.primary.fingerprint_text());
        }
    }
    let home = engine.home();
    Run::keyhoard(&home).args(["import", "--quiet"]).stdin(ann.claimants(20)).succeed();
    let (code, told) = judged(&home, &detached(&ann.subkey, SIGNED_TEXT));
    assert_eq!((code, &told["standing"]), (Some(1), &"key-unusable".into()), "without its owner: {told}");
}

fn a_copy_without_its_back_signature_that_is_imported_first_does_not_disable_the_subkey(engine: Engine) {
    use packet_builder::{Certificate, Key, Signature};
    let (primary, subkey) = (Key::ed25519("Ann"), Key::ed25519("Ann's subkey"));
    let [stripped, forged, whole] = [None, Some(Signature::new(0x19).forged(1)), Some(Signature::new(0x19))]
        .map(|back| {
            let mut certificate = Certificate::new(&primary, "Ann <ann@example.org>");
            let binding = Certificate::binding(&primary, &subkey, 2, back);
            certificate.add(subkey.subkey_packet()).add(binding);
            certificate.bytes()
        });
    for first in [&stripped, &forged] {
        let home = engine.home();
        let import = |certificate: &[u8]| {
            Run::keyhoard(&home).args(["import", "--quiet"]).stdin(certificate).succeed();
        };
        let signature = detached(&subkey, SIGNED_TEXT);
        import(first);
        assert_eq!(judged(&home, &signature).1["standing"], "key-unusable");
        import(&whole);
        assert_eq!(judged(&home, &signature).1["standing"], "good");
        Run::keyhoard(&home).arg("undo").succeed();
        assert_eq!(judged(&home, &signature).1["standing"], "key-unusable", "after it was taken back");
        import(&whole);
        import(first);
        assert_eq!(judged(&home, &signature).1["standing"], "good");
        Run::keyhoard(&home).args(["doctor", "--rebuild"]).succeed();
        assert_eq!(judged(&home, &signature).1["standing"], "good", "after the rows were made again");
    }
}

/// Makes a file and Ann's signature of it, in a home that has her certificate and does not trust it.
fn signed_by_ann(name: &str) -> (Home, OwnKey, PathBuf) {
    let home = Home::new();
    let ann = OwnKey::new("Ann <ann@example.org>");
    Run::keyhoard(&home).args(["import", "--quiet"]).stdin(ann.certificate()).succeed();
    let signature = Run::gpg_with_agent(ann.home()).args(["--detach-sign"]).stdin(TEXT).succeed().stdout;
    home.write("data", TEXT);
    let signature = home.write(name, signature);
    (home, ann, signature)
}

#[test]
fn the_first_line_says_good_bad_or_unknown_key() {
    let (home, ann, signature) = signed_by_ann("data.sig");
    let verify = |options: &[&str]| {
        let done = run(&home, &["verify"]).args(options).arg(&signature).output();
        (done.code, done.text().lines().next().unwrap_or_default().to_owned())
    };
    let not_verified =
        "GOOD signature by Ann <ann@example.org>, owner not verified: no trusted key certifies it";
    assert_eq!(verify(&[]), (Some(4), not_verified.to_owned()));
    let verified = "GOOD signature by Ann <ann@example.org>, owner verified".to_owned();
    assert_eq!(verify(&["--trusted-key", ann.fingerprint()]), (Some(0), verified.clone()));
    assert_eq!(verify(&["--signer", "ann@example.org"]), (Some(0), verified));
    home.write("data", "other data");
    let (code, line) = verify(&[]);
    assert!(code == Some(1) && line.starts_with("BAD signature by Ann"), "{line}");
    let elsewhere = run(&Home::new(), &["verify"]).arg(&signature).output();
    assert_eq!(elsewhere.code, Some(3), "{}", elsewhere.errors());
    assert!(elsewhere.text().starts_with("UNKNOWN KEY"), "{}", elsewhere.text());
    assert!(elsewhere.errors().contains(&format!("`keyhoard fetch {}`", ann.fingerprint())));
}

#[test]
fn with_the_trust_model_always_every_owner_counts_as_verified_and_only_as_long_as_nobody_is_named() {
    let (home, _, signature) = signed_by_ann("data.sig");
    let ben = OwnKey::new("Ben <ben@example.org>");
    Run::keyhoard(&home).args(["import", "--quiet"]).stdin(ben.certificate()).succeed();
    let verify = |options: &[&str]| {
        let always = run(&home, &["verify", "--trust-model", "always"]).args(options);
        let done = always.arg(&signature).output();
        (done.code, done.text().lines().next().unwrap_or_default().to_owned())
    };
    let accepted = "GOOD signature by Ann <ann@example.org>, owner accepted: --trust-model always".to_owned();
    assert_eq!(verify(&[]), (Some(0), accepted.clone()));
    assert_eq!(verify(&["--sure"]), (Some(0), accepted));
    assert_eq!(verify(&["--signer", "ben@example.org"]).0, Some(1));
    home.write("data", "other data");
    assert_eq!(verify(&[]).0, Some(1));
}

#[test]
fn a_signature_of_somebody_else_than_the_named_signer_is_bad() {
    let (home, _, signature) = signed_by_ann("data.sig");
    let ben = OwnKey::new("Ben <ben@example.org>");
    Run::keyhoard(&home).args(["import", "--quiet"]).stdin(ben.certificate()).succeed();
    let done = run(&home, &["verify", "--signer", "ben@example.org"]).arg(&signature).output();
    assert_eq!(done.code, Some(1), "{}", done.errors());
    assert!(done.text().starts_with("BAD: signed by Ann"), "{}", done.text());
}

#[test]
fn a_certificate_in_a_file_verifies_without_a_database() {
    let (home, ann, signature) = signed_by_ann("data.sig");
    let certificate = home.write("ann.pgp", ann.certificate());
    let elsewhere = Home::new();
    let by_file =
        |file: &Path| run(&elsewhere, &["verify", "--signer-file"]).arg(file).arg(&signature).output();
    let done = by_file(&certificate);
    assert_eq!(done.code, Some(0), "{}", done.errors());
    assert!(!elsewhere.has_database());
    let ben = home.write("ben.pgp", OwnKey::new("Ben <ben@example.org>").certificate());
    assert_eq!(by_file(&ben).code, Some(3));
    assert_eq!(by_file(&home.write("nothing", "")).code, Some(2));
}

#[test]
fn a_signature_finds_its_data_by_its_name() {
    for name in ["data.sig", "data.asc", "data.sign"] {
        let (home, _, signature) = signed_by_ann(name);
        assert_eq!(run(&home, &["verify"]).arg(&signature).output().code, Some(4), "{name}");
    }
}

#[test]
fn armor_is_read_by_rfc_9580() {
    let home = with_key("modern");
    let message = run(&home, &["sign", "--armor"]).stdin(TEXT).succeed().text();
    let lines = || message.lines().filter(|line| !(line.starts_with('=') && line.len() == 5));
    let without_checksum: String = lines().map(|line| format!("{line}\n")).collect();
    let good = verified(&home, message.as_bytes()).0.code;
    for (what, text, is_read) in [
        ("no checksum", without_checksum.clone(), true),
        ("a wrong checksum", without_checksum.replace("-----END", "=AAAA\n-----END"), true),
        ("no last line", message.split("-----END").next().expect("one").to_owned(), false),
        ("no empty line", message.replace("-----\n\n", "-----\n"), false),
        ("dashes before it", message.replace("-----BEGIN", "- -----BEGIN"), false),
    ] {
        assert_eq!(verified(&home, text.as_bytes()).0.code == good, is_read, "{what}");
    }
    let signature = run(&home, &["sign", "--detached", "--armor"]).stdin(TEXT).succeed().text();
    let lines = signature.lines().filter(|line| !(line.starts_with('=') && line.len() == 5));
    let signature: String = lines.map(|line| format!("{line}\n")).collect();
    let wrong = home.write("text.asc", signature.replace("-----END", "=AAAA\n-----END"));
    let text = home.write("text", TEXT);
    assert_eq!(run(&home, &["verify"]).arg(wrong).arg(text).output().code, good);
}
