//! The comparison notices differences: a harness that cannot fail would prove nothing.

use harness::{Home, Keyring, Run, assert_same, mask, without_misplaced};

#[test]
fn equal_outputs_are_the_same() {
    assert_same("a listing", b"pub\nuid\n", b"pub\nuid\n");
}

#[test]
#[should_panic = "differ from line 2 on"]
fn one_different_byte_is_reported_with_its_line() {
    assert_same("a listing", b"pub\nuid a\nsub\n", b"pub\nuid b\nsub\n");
}

#[test]
fn only_the_keyrings_path_and_the_date_of_the_trust_record_are_masked() {
    let home = Home::new();
    let path = home.path().join("pubring.kbx").display().to_string();
    let listing = format!("{path}\n{}\ntru:o:0:1700000000:1:3:1:5\npub:1700000000\n", "-".repeat(path.len()));
    let masked = mask(listing.as_bytes(), &home);
    assert_eq!(
        String::from_utf8_lossy(&masked),
        "[path of the keyring]\n[underline]\ntru:o:0:[date]:1:3:1:5\npub:1700000000\n"
    );
}

#[test]
fn an_underline_of_the_wrong_length_is_not_masked() {
    let home = Home::new();
    let listing = format!("{}\n---\n", home.database().display());
    assert_eq!(mask(listing.as_bytes(), &home), b"[path of the keyring]\n---\n");
}

#[test]
fn only_signatures_by_others_on_subkeys_are_misplaced() {
    let colons = "pub:-:C32A4D0858F5A6EA:\nfpr:F225BB6B5A9B18FF331DFAF6C32A4D0858F5A6EA:\nuid:a:\n\
                  sig:E8446B4AC8C77261:\nsub:B99AC5A6F31A913A:\nfpr:412E85CF6A8BE4D03A1D0609B99AC5A6F31A913A:\n\
                  sig:C32A4D0858F5A6EA:\n";
    let people = "pub   rsa4096\n      F225BB6B5A9B18FF331DFAF6C32A4D0858F5A6EA\nuid           a\n\
                  sig          E8446B4AC8C77261 2022\nsub   rsa4096\nsig          C32A4D0858F5A6EA 2016\n";
    for (listing, misplaced) in
        [(colons, "sig:E8446B4AC8C77261:\n"), (people, "sig          E8446B4AC8C77261 2022\n")]
    {
        let with = format!("{listing}{misplaced}");
        assert_eq!(without_misplaced(with.as_bytes()), listing.as_bytes());
    }
}

#[test]
fn the_real_gpg_lists_what_it_imported() {
    let home = Home::new();
    let import =
        Run::gpg(&home).args(["--status-fd", "2", "--import"]).arg(Keyring::Nonupload.path()).succeed();
    let result = import.status_lines();
    assert!(result.contains("[GNUPG:] IMPORT_RES "), "{result}");
    let listing = Run::gpg(&home).args(["--with-colons", "--list-keys"]).succeed().text();
    assert!(listing.lines().any(|line| line.starts_with("pub:")), "{listing}");
}
