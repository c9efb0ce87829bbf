//! `keyhoard import`: several inputs, one journal entry, and errors that say where.

use harness::{Engine, Keyring, OwnKey, Run};
use packet_builder::{Armor, Checksum};

harness::on_both_engines! {
    several_files_are_one_entry_of_the_journal
    a_bad_certificate_is_reported_with_its_file_and_position_and_the_good_ones_are_imported
    packets_before_junk_or_a_truncation_are_imported_and_the_position_of_the_damage_is_reported
    an_import_without_certificates_has_exit_code_1
    an_import_of_which_nothing_is_taken_ends_with_exit_code_1
    a_file_that_is_not_there_and_a_directory_are_errors_before_anything_is_written
    a_dry_run_says_what_an_import_would_do_and_makes_no_database
    a_dry_run_of_more_than_a_batch_writes_nothing
    merge_only_imports_only_additions_to_stored_certificates
    armor_with_a_wrong_checksum_is_imported_with_a_warning
}

fn several_files_are_one_entry_of_the_journal(engine: Engine) {
    let home = engine.home();
    let files = [Keyring::Nonupload, Keyring::Maintainers].map(Keyring::path);
    let done = Run::keyhoard(&home).args(["import", "--json"]).args(&files).succeed();
    let events = done.json_lines();
    let summary = events.last().expect("a summary");
    assert_eq!((&summary["event"], &summary["entry"]), (&"summary".into(), &1.into()));
    for file in &files {
        let name = file.to_str().expect("text");
        assert!(events.iter().any(|event| event["file"] == name), "{name}");
    }
    assert_eq!(Run::keyhoard(&home).args(["log", "--json"]).succeed().text().lines().count(), 1);
}

fn a_bad_certificate_is_reported_with_its_file_and_position_and_the_good_ones_are_imported(engine: Engine) {
    let [ann, bob] = [OwnKey::new("Ann <ann@example.org>"), OwnKey::new("Bob <bob@example.org>")];
    let home = engine.home();
    let mut bytes = ann.certificate();
    let position = bytes.len();
    // A version 3 key: its packet is sound, but nobody should use it any more.
    bytes.extend([0x99, 0, 12, 3, 0x30, 0, 0, 0, 0, 0, 1, 0, 1, 1, 0]);
    bytes.extend(bob.certificate());
    let file = home.write("damaged.pgp", bytes);
    let done = Run::keyhoard(&home).arg("import").arg(&file).succeed();
    assert!(
        done.errors().contains(&format!("damaged.pgp, byte {position}: a key of the obsolete version 3")),
        "{}",
        done.errors()
    );
    assert_eq!(Run::keyhoard(&home).args(["list", "--json"]).succeed().text().lines().count(), 2);
}

fn packets_before_junk_or_a_truncation_are_imported_and_the_position_of_the_damage_is_reported(
    engine: Engine,
) {
    let [ann, bob] =
        ["Ann <ann@example.org>", "Bob <bob@example.org>"].map(|name| OwnKey::new(name).certificate());
    let junk = [&[0; 20][..], &[0xff; 20], b"some text, no packet", b"\xb6\x7f\xff\xff\xff and far too long"];
    let cut = |certificate: &[u8]| certificate[..certificate.len() - 20].to_vec();
    let mut files: Vec<_> =
        junk.iter().map(|junk| ([&ann[..], junk, &bob].concat(), ann.len(), vec![&ann, &bob])).collect();
    files.push(([&ann[..], &cut(&bob)].concat(), 0, vec![&ann]));
    for (bytes, damage, whole) in files {
        let home = engine.home();
        let file = home.write("damaged.pgp", &bytes);
        let done = Run::keyhoard(&home).arg("import").arg(&file).succeed();
        let place = if damage > 0 { format!("damaged.pgp, byte {damage}: ") } else { "cut short".to_owned() };
        assert!(done.errors().contains(&place), "{}", done.errors());
        let export = Run::keyhoard(&home).arg("export").succeed().stdout;
        assert!(whole.iter().all(|one| export.windows(one.len()).any(|part| part == *one)), "{place}");
    }
}

fn an_import_without_certificates_has_exit_code_1(engine: Engine) {
    let home = engine.home();
    assert_eq!(Run::keyhoard(&home).arg("import").stdin("not a key").output().code, Some(1));
    assert_eq!(Run::keyhoard(&home).arg("import").output().code, Some(1));
}

fn a_file_that_is_not_there_and_a_directory_are_errors_before_anything_is_written(engine: Engine) {
    let home = engine.home();
    let missing = home.path().join("missing.pgp");
    let done = Run::keyhoard(&home).arg("import").arg(Keyring::Nonupload.path()).arg(&missing).output();
    assert_eq!(done.code, Some(2));
    assert!(done.errors().contains("missing.pgp"), "{}", done.errors());
    assert!(!home.has_database());
    let done = Run::keyhoard(&home).arg("import").arg(home.path()).output();
    assert_eq!(done.code, Some(2));
    assert!(done.errors().contains("is a directory; name the files in it"), "{}", done.errors());
}

fn a_dry_run_says_what_an_import_would_do_and_makes_no_database(engine: Engine) {
    let (key, home) = (OwnKey::new("Ann <ann@example.org>"), engine.home());
    let summary = |arguments: &[&str]| {
        let done = Run::keyhoard(&home).args(["import", "--json"]).args(arguments).stdin(key.certificate());
        let mut lines = done.succeed().json_lines();
        assert_eq!(lines[0]["fingerprint"], key.fingerprint());
        let summary = lines.pop().expect("a summary");
        ["new", "changed", "unchanged"].map(|name| summary[name].as_u64().expect("a number"))
    };
    assert_eq!(summary(&["--dry-run"]), [1, 0, 0]);
    assert!(!home.has_database());
    assert_eq!(summary(&[]), [1, 0, 0]);
    assert_eq!(summary(&["--dry-run"]), [0, 0, 1]);
    key.add_user_id("20240201T000000!", "Ann at work <ann@example.com>");
    assert_eq!(summary(&["--dry-run"]), [0, 1, 0]);
    assert_eq!(summary(&[]), [0, 1, 0]);
    assert_eq!(Run::keyhoard(&home).args(["log", "--json"]).succeed().json_lines().len(), 2);
}

fn a_dry_run_of_more_than_a_batch_writes_nothing(engine: Engine) {
    let home = engine.home();
    Run::keyhoard(&home).arg("import").arg(Keyring::Nonupload.path()).succeed();
    let log = || Run::keyhoard(&home).args(["log", "--json"]).succeed().text();
    let before = log();
    let dry = Run::keyhoard(&home).args(["import", "--dry-run", "--json"]).arg(Keyring::Developers.path());
    assert_eq!(dry.succeed().json_lines().last().expect("a summary")["new"], 905);
    assert_eq!(log(), before);
}

fn merge_only_imports_only_additions_to_stored_certificates(engine: Engine) {
    let [ann, bob] = [OwnKey::new("Ann <ann@example.org>"), OwnKey::new("Bob <bob@example.org>")];
    let home = engine.home();
    Run::keyhoard(&home).arg("import").stdin(ann.certificate()).succeed();
    ann.add_user_id("20240201T000000!", "Ann at work <ann@example.com>");
    let both = [ann.certificate(), bob.certificate()].concat();
    let done = Run::keyhoard(&home).args(["import", "--merge-only", "--json"]).stdin(both).succeed();
    let summary = done.json_lines().pop().expect("a summary");
    assert_eq!(
        (&summary["changed"], &summary["not_here"], &summary["new"]),
        (&1.into(), &1.into(), &0.into())
    );
}

fn an_import_of_which_nothing_is_taken_ends_with_exit_code_1(engine: Engine) {
    let home = engine.home();
    let certificate = Keyring::Nonupload.bytes();
    // A key packet alone has nothing to be known by.
    let length = usize::from(u16::from_be_bytes([certificate[1], certificate[2]]));
    let import =
        |bytes: &[u8], option: &str| Run::keyhoard(&home).args(["import", option]).stdin(bytes).output().code;
    let bare = &certificate[..3 + length];
    assert_eq!(import(bare, "--verbose"), Some(1));
    assert_eq!(import(&certificate, "--merge-only"), Some(1));
    assert_eq!(import(&certificate, "--verbose"), Some(0));
    assert_eq!(import(bare, "--verbose"), Some(0), "it is known now");
}

fn armor_with_a_wrong_checksum_is_imported_with_a_warning(engine: Engine) {
    let armor = Armor::new("PUBLIC KEY BLOCK", OwnKey::new("Ann <ann@example.org>").certificate());
    for (checksum, is_warned_of) in
        [(Checksum::Right, false), (Checksum::None, false), (Checksum::Is("=AAAA".to_owned()), true)]
    {
        let text = Armor { checksum, ..armor.clone() }.bytes();
        for from_file in [true, false] {
            let home = engine.home();
            let run = Run::keyhoard(&home).arg("import");
            let done = match from_file {
                true => run.arg(home.write("ann.asc", &text)).succeed(),
                false => run.stdin(text.clone()).succeed(),
            };
            let errors = done.errors();
            assert_eq!(errors.contains("the armor was damaged"), is_warned_of, "{errors}");
            assert_eq!(Run::keyhoard(&home).args(["list", "--json"]).succeed().text().lines().count(), 1);
        }
    }
}
