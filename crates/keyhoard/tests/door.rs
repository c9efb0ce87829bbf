//! What the door promises.

use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use keyhoard::{Cert, Error, Keyhoard, Location, OwnerTrust, Status, SubkeyUse, Validity};
use packet_builder::{Certificate, Key, MADE, Signature, Signed, Subpacket};

const ANN: &str = "Ann <ann@example.org>";

fn with_ann() -> (Keyhoard, Cert) {
    let kh = Keyhoard::in_memory().expect("a database in memory");
    let ann = kh.generate(ANN).create().expect("a key");
    (kh, ann)
}

#[test]
fn a_key_that_was_made_is_found_by_its_address_its_fingerprint_and_a_word() {
    let (kh, ann) = with_ann();
    let certs = kh.certs();
    assert_eq!(certs.by_email("ann@example.org").expect("found"), std::slice::from_ref(&ann));
    assert_eq!(certs.by_email("ANN@example.org").expect("found"), std::slice::from_ref(&ann));
    assert_eq!(certs.by_email("nn@example.org").expect("answers"), []);
    assert_eq!(certs.by_fingerprint(ann.fingerprint()).expect("found"), Some(ann.clone()));
    assert_eq!(certs.search("ann example").expect("found"), std::slice::from_ref(&ann));
    assert_eq!(certs.count().expect("counts"), 1);
    let user_id = ann.user_id().expect("it has one");
    assert_eq!((user_id.text().as_str(), user_id.email().as_deref()), (ANN, Some("ann@example.org")));
    let keys = ann.keys();
    assert_eq!(keys.len(), 2);
    assert!(keys[0].is_primary && keys[0].can_sign && keys[1].can_encrypt && keys[1].is_usable);
}

#[test]
fn the_signatures_on_a_certificate_are_listed_with_the_names_of_their_issuers() {
    let (_kh, ann) = with_ann();
    let signatures = ann.signatures().expect("read");
    assert!(signatures.iter().any(|one| (0x10..=0x13).contains(&one.kind)), "{signatures:?}");
    assert!(signatures.iter().any(|one| one.kind == 0x18), "{signatures:?}");
    assert!(signatures.iter().all(|one| one.is_own && one.issuer_name.as_deref() == Some(ANN)));
}

#[test]
fn what_is_imported_is_exported_with_the_same_bytes_and_is_valid_to_nobody() {
    let (yours, ann) = with_ann();
    let mine = Keyhoard::in_memory().expect("a database");
    let imported = mine.import(ann.armored().expect("text").as_bytes()).expect("imports");
    assert_eq!((imported.processed, imported.new, imported.secret_keys), (1, 1, 0));
    let here = mine.certs().by_email("ann@example.org").expect("found").remove(0);
    assert_eq!(here.to_bytes().expect("bytes"), ann.to_bytes().expect("bytes"));
    assert_eq!(here.validity().expect("computed").validity, Validity::Unknown);
    assert_eq!(ann.validity().expect("computed").validity, Validity::Ultimate);
    let refused = mine.encrypt().to_email("ann@example.org").bytes("for Ann").expect_err("not valid");
    assert_eq!(refused.code(), "not-valid");
    let message = mine.encrypt().to(&here).bytes("for Ann").expect("she is named");
    assert_eq!(yours.decrypt().bytes(message).expect("hers").0, b"for Ann");
    mine.set_owner_trust(&here, OwnerTrust::Ultimate).expect("set");
    mine.encrypt().to_email("ann@example.org").bytes("for Ann").expect("valid now");
}

#[test]
fn a_message_that_was_encrypted_and_signed_comes_back_with_a_certain_signature() {
    let (kh, ann) = with_ann();
    for armored in [false, true] {
        let encrypt = kh.encrypt().to_email("ann@example.org").sign_by("ann@example.org");
        let encrypt = if armored { encrypt.armor() } else { encrypt };
        let message = encrypt.file_name("letter.txt").bytes("Hello").expect("encrypts");
        assert_eq!(message.starts_with(b"-----BEGIN PGP MESSAGE-----"), armored);
        let (text, decrypted) = kh.decrypt().bytes(&message).expect("decrypts");
        assert_eq!((text.as_slice(), decrypted.file_name.as_str()), (&b"Hello"[..], "letter.txt"));
        assert!(decrypted.verdicts.are_certain());
        let verdict = decrypted.verdicts.iter().next().expect("one signature");
        assert_eq!(verdict.certificate, Some(ann.fingerprint()));
    }
}

#[test]
fn a_password_opens_what_was_encrypted_to_it_and_another_one_does_not() {
    let kh = Keyhoard::in_memory().expect("a database");
    let message = kh.encrypt().password("open sesame").bytes("cave").expect("encrypts");
    assert_eq!(kh.decrypt().password("open sesame").bytes(&message).expect("opens").0, b"cave");
    let wrong = kh.decrypt().password("open barley").bytes(&message).expect_err("wrong");
    assert_eq!(wrong.code(), "cannot-decrypt");
    let none = kh.decrypt().bytes(&message).expect_err("no password");
    assert_eq!(none.code(), "cannot-decrypt");
}

#[test]
fn detached_inline_and_clear_signatures_hold_until_a_byte_changes() {
    let (kh, ann) = with_ann();
    let detached = kh.sign().with(&ann).armor().detached(&b"data"[..]).expect("signs");
    assert!(kh.verify().detached(&detached[..], &b"data"[..]).expect("verifies").are_certain());
    let other = kh.verify().detached(&detached[..], &b"date"[..]).expect("verifies");
    assert!(!other.are_good());
    assert_eq!(other.iter().next().expect("one").status, Status::Bad);

    let mut inline = Vec::new();
    kh.sign().with(&ann).inline(&b"data"[..], &mut inline).expect("signs");
    let mut content = Vec::new();
    assert!(kh.verify().inline(&inline[..], &mut content).expect("verifies").are_good());
    assert_eq!(content, b"data");

    let clear = kh.sign().with(&ann).cleartext("a text\n").expect("signs");
    let clear = String::from_utf8(clear).expect("text");
    let (text, verdicts) = kh.verify().cleartext(&clear).expect("verifies");
    assert!(verdicts.are_good());
    assert_eq!(text.as_deref(), Some("a text\n"));
    let (text, verdicts) = kh.verify().cleartext(&clear.replace("a text", "a test")).expect("verifies");
    assert!(!verdicts.are_good());
    assert_eq!(text, None);
}

#[test]
fn many_signatures_are_verified_in_the_order_of_the_items() {
    let (kh, ann) = with_ann();
    let texts: Vec<String> = (0..40).map(|number| format!("text {number}")).collect();
    let sign = |text: &String| (kh.sign().with(&ann).detached(text.as_bytes()).expect("signs"), text.clone());
    let mut items: Vec<(Vec<u8>, String)> = texts.iter().map(sign).collect();
    items[7].1.push('!');
    items[9].0.truncate(5);
    let open = |(signature, text): &(Vec<u8>, String)| {
        Ok((std::io::Cursor::new(signature.clone()), std::io::Cursor::new(text.clone())))
    };
    let verdicts = kh.verify().many(items, open).expect("verifies");
    assert_eq!(verdicts.len(), 40);
    for (number, verdicts) in verdicts.iter().enumerate() {
        match (number, verdicts) {
            (9, verdicts) => assert_eq!(verdicts.as_ref().expect_err("cut short").code(), "malformed"),
            (number, verdicts) => assert_eq!(verdicts.as_ref().expect("read").are_good(), number != 7),
        }
    }
}

#[test]
fn a_locked_key_signs_only_with_its_passphrase() {
    let kh = Keyhoard::in_memory().expect("a database");
    let ann = kh.generate(ANN).passphrase("secret").create().expect("a key");
    let sign = || kh.sign().with(&ann);
    assert_eq!(sign().detached(&b"x"[..]).expect_err("locked").code(), "passphrase");
    assert_eq!(sign().passphrase("wrong").detached(&b"x"[..]).expect_err("wrong").code(), "passphrase");
    sign().passphrase("secret").detached(&b"x"[..]).expect("unlocked");
    sign()
        .passphrases(|request| Some(if request.wrong == 0 { "a" } else { "secret" }.into()))
        .detached(&b"x"[..])
        .expect("unlocked by the second answer");
    assert!(kh.keys().unlocks(&ann, "secret").expect("answers"));
    assert!(!kh.keys().unlocks(&ann, "wrong").expect("answers"));
    kh.keys().relock(&ann, "secret", "another").expect("locks anew");
    assert!(kh.keys().unlocks(&ann, "another").expect("answers"));
}

#[test]
fn secret_keys_move_to_another_database_with_their_certificate() {
    let (kh, ann) = with_ann();
    let exported = kh.keys().export_armored(&ann).expect("exports");
    let other = Keyhoard::in_memory().expect("a database");
    assert_eq!(other.import(exported.as_bytes()).expect("imports").secret_keys, 1);
    let there = other.certs().by_fingerprint(ann.fingerprint()).expect("found").expect("it is there");
    assert_eq!(other.keys().of(&there).expect("listed").len(), 2);
    assert!(kh.keys().delete(&ann).expect("deletes"));
    assert_eq!(kh.keys().export(&ann).expect_err("gone").code(), "not-found");
}

#[test]
fn what_is_deleted_comes_back_by_an_undo_of_the_journals_entry() {
    let (kh, ann) = with_ann();
    kh.delete(&ann).expect("deletes");
    assert_eq!(kh.certs().count().expect("counts"), 0);
    assert_eq!(ann.to_bytes().expect_err("gone").code(), "not-found");
    let journal = kh.journal(10).expect("reads");
    assert_eq!((journal[0].removed, journal.len()), (1, 2));
    let undone = kh.undo(Some(journal[0].id)).expect("undoes");
    assert_eq!((undone.entry, undone.restored), (journal[0].id, 1));
    assert_eq!(kh.certs().count().expect("counts"), 1);
    assert_eq!(kh.undo(Some(journal[0].id)).expect_err("undone already").code(), "undo");
}

#[test]
fn a_transaction_does_everything_or_nothing() {
    let (kh, ann) = with_ann();
    let bob = {
        let other = Keyhoard::in_memory().expect("a database");
        other.generate("Bob <bob@example.org>").create().and_then(|bob| bob.to_bytes()).expect("a key")
    };
    let failed: Result<(), Error> = kh.transaction(|transaction| {
        assert_eq!(transaction.import(&bob[..])?.new, 1);
        transaction.delete(&ann)?;
        Err(Error::NotFound { name: "what else was wanted".to_owned() })
    });
    assert_eq!(failed.expect_err("it fails").code(), "not-found");
    assert_eq!(kh.certs().by_email("bob@example.org").expect("answers"), []);
    kh.transaction(|transaction| {
        assert_eq!(transaction.import(&bob[..])?.new, 1);
        assert_eq!(transaction.import(&bob[..])?.unchanged, 1);
        transaction.delete(&ann)
    })
    .expect("commits");
    assert_eq!(kh.certs().by_email("bob@example.org").expect("answers").len(), 1);
    assert_eq!(kh.certs().by_email("ann@example.org").expect("answers"), []);
    kh.undo(None).expect("all of it is one entry");
    assert_eq!(kh.certs().by_email("ann@example.org").expect("answers").len(), 1);
    assert_eq!(kh.certs().by_email("bob@example.org").expect("answers"), []);
}

#[test]
fn the_clock_decides_what_has_expired() {
    let seconds = Arc::new(AtomicU64::new(1_800_000_000));
    let clock = {
        let seconds = seconds.clone();
        move || UNIX_EPOCH + Duration::from_secs(seconds.load(Ordering::Relaxed))
    };
    let kh = Keyhoard::options().clock(clock).open(":memory:").expect("opens");
    let ann = kh.generate(ANN).expires_in(Duration::from_secs(86_400)).create().expect("a key");
    assert_eq!(ann.expires(), Some(UNIX_EPOCH + Duration::from_secs(1_800_086_400)));
    assert!(ann.is_usable());
    seconds.store(1_800_090_000, Ordering::Relaxed);
    let later = kh.certs().by_fingerprint(ann.fingerprint()).expect("found").expect("it is there");
    assert!(later.is_expired() && !later.is_usable());
    assert_eq!(kh.sign().with(&ann).detached(&b"x"[..]).expect_err("expired").code(), "no-usable-key");
    assert_eq!(kh.encrypt().to(&ann).bytes("x").expect_err("expired").code(), "no-usable-key");
}

#[test]
fn a_file_keeps_certificates_and_secret_keys() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let path = directory.path().join("keys.db");
    let missing = Keyhoard::options().must_exist().open(&path).expect_err("it is not there");
    assert_eq!(missing.code(), "missing");
    let ann = Keyhoard::open(&path).and_then(|kh| kh.generate(ANN).create()).expect("a key");
    let kh = Keyhoard::options().must_exist().open(&path).expect("opens");
    assert_eq!(kh.keys().list().expect("lists").len(), 2);
    let signature = kh.sign().by(ann.fingerprint().to_string()).detached(&b"x"[..]).expect("signs");
    assert!(kh.verify().detached(&signature[..], &b"x"[..]).expect("verifies").are_certain());
    let file = directory.path().join("ann.asc");
    std::fs::File::create(&file)
        .and_then(|mut out| out.write_all(ann.armored().expect("text").as_bytes()))
        .expect("writes");
    assert_eq!(kh.import_file(&file).expect("imports").unchanged, 1);
}

#[test]
fn an_input_without_any_certificate_is_an_error_with_its_position_and_a_damaged_certificate_is_counted() {
    let (kh, ann) = with_ann();
    let ann = ann.to_bytes().expect("bytes");
    let message = kh.encrypt().password("secret").bytes("text").expect("encrypts");
    for (input, told) in
        [(&b"no OpenPGP\n"[..], "byte 0"), (b"", "byte 0"), (&message, "byte 0"), (&ann[..20], "byte 0")]
    {
        for error in [
            kh.import(input).expect_err("no certificate"),
            kh.transaction(|changes| changes.import(input)).expect_err("no certificate"),
        ] {
            assert_eq!(error.code(), "malformed", "{error}");
            assert!(error.to_string().contains(told), "{error}");
        }
    }
    assert_eq!(kh.journal(10).expect("reads").len(), 1, "nothing was written");
    let imported = kh.import(&[&ann[..], b"\xFF\xFF"].concat()[..]).expect("Ann is in it");
    assert_eq!((imported.unchanged, imported.refused), (1, 1));
}

#[test]
fn what_cannot_be_read_to_its_end_is_an_error_and_what_came_before_is_imported() {
    struct Broken;
    impl std::io::Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
            Err(std::io::Error::other("the line was cut"))
        }
    }
    let (kh, ann) = with_ann();
    let ben = kh.generate("Ben <ben@example.org>").create().expect("a key");
    let both = [ann, ben].map(|cert| cert.to_bytes().expect("bytes")).concat();
    let other = Keyhoard::in_memory().expect("a database");
    // Nobody knows whether the second one is whole.
    let error = other.import(std::io::Read::chain(&both[..], Broken)).expect_err("cut");
    assert_eq!(error.code(), "io");
    assert!(error.to_string().contains("the line was cut"), "{error}");
    assert_eq!(other.certs().count().expect("counts"), 1);
}

#[cfg(unix)]
#[test]
fn no_key_is_made_where_others_can_change_the_database_since_it_could_not_be_used() {
    use std::os::unix::fs::PermissionsExt;
    let directory = tempfile::tempdir().expect("a temporary directory");
    let mode = |mode| std::fs::set_permissions(directory.path(), std::fs::Permissions::from_mode(mode));
    let kh = Keyhoard::open(directory.path().join("keys.db")).expect("opens");
    for exposed in [0o775, 0o1777] {
        mode(exposed).expect("it is this user's");
        let refused = kh.generate(ANN).create().expect_err("others can change it");
        assert_eq!(refused.code(), "secret-key", "{refused}");
        assert_eq!(kh.certs().count().expect("counts"), 0);
    }
    mode(0o700).expect("it is this user's");
    let ann = kh.generate(ANN).create().expect("a key");
    kh.sign().with(&ann).detached(&b"x"[..]).expect("signs");
}

#[test]
fn the_password_of_a_server_is_not_shown() {
    let location = Location::from("postgresql://ann:secret@db.example.org/keys");
    let shown = format!("{location:?}");
    assert!(shown.contains("db.example.org") && !shown.contains("secret"), "{shown}");
}

#[test]
fn keys_that_are_too_small_sign_and_encrypt_by_gnupgs_rules_alone() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let path = directory.path().join("keys.db");
    let gnupgs = Keyhoard::options().gnupg_rules().open(&path).expect("opens");
    let small = gnupgs.generate(ANN).algorithm("dsa1024").subkey(Some("elg2048")).create().expect("a key");
    let signature = gnupgs.sign().with(&small).detached(&b"data"[..]).expect("signs");
    let verdicts = |kh: &Keyhoard| kh.verify().detached(&signature[..], &b"data"[..]).expect("verifies");
    assert!(verdicts(&gnupgs).are_certain());
    gnupgs.encrypt().to(&small).bytes("for Ann").expect("encrypts");

    let kh = Keyhoard::open(&path).expect("opens");
    assert!(!verdicts(&kh).are_good());
    let refused = kh.encrypt().to(&small).bytes("for Ann").expect_err("a small key");
    assert_eq!(refused.code(), "no-usable-key");
}

/// Returns what the rules of RFC 9580, and GnuPG's, make of certificates at a moment after keys are made.
fn by_both_rules<T>(certificate: &Certificate, seconds: u32, judged: impl Fn(&Keyhoard) -> T) -> [T; 2] {
    let now = UNIX_EPOCH + Duration::from_secs((MADE + seconds).into());
    [Keyhoard::options(), Keyhoard::options().gnupg_rules()].map(|options| {
        let kh = options.clock(move || now).open(Location::Memory).expect("opens");
        kh.import(&certificate.bytes()[..]).expect("imports");
        judged(&kh)
    })
}

#[test]
fn by_gnupgs_rules_a_signature_of_several_times_was_made_at_the_first_and_expires_after_it() {
    let key = Key::ed25519("Ann");
    let times = Signature::new(0x00).at(MADE + 10).with(Subpacket::created(MADE + 50));
    let signature = times.with(Subpacket::expires(100)).sign(&key, &Signed::Bytes(b"data")).bytes();
    let judged = by_both_rules(&Certificate::new(&key, ANN), 120, |kh| {
        let verdicts = kh.verify().detached(&signature[..], &b"data"[..]).expect("verifies");
        let verdict = verdicts.iter().next().expect("a verdict").clone();
        let seconds = |time: Option<SystemTime>| {
            time.expect("it says so").duration_since(UNIX_EPOCH).expect("after 1970").as_secs()
                - u64::from(MADE)
        };
        (verdict.status, seconds(verdict.created), seconds(verdict.expires))
    });
    assert_eq!(judged, [(Status::Good, 50, 150), (Status::Expired, 10, 110)]);
}

#[test]
fn by_gnupgs_rules_a_self_signature_from_the_future_counts() {
    let key = Key::ed25519("Ann");
    let mut certificate = Certificate::new(&key, ANN);
    let user_id = Signed::UserId(&key, ANN.as_bytes());
    certificate.add(Signature::new(0x30).at(MADE + 500).sign(&key, &user_id));
    let judged = by_both_rules(&certificate, 120, |kh| {
        kh.certs().by_fingerprint(key.fingerprint_text()).expect("found").expect("a certificate").user_ids()
    });
    assert_eq!(judged.map(|user_ids| user_ids[0].is_revoked), [false, true]);
}

#[test]
fn threads_share_a_database_in_memory() {
    let (kh, ann) = with_ann();
    std::thread::scope(|scope| {
        for number in 0..4 {
            let (kh, ann) = (kh.clone(), ann.clone());
            scope.spawn(move || {
                for round in 0..5 {
                    let user_id = format!("Somebody {number} {round} <{number}.{round}@example.org>");
                    kh.generate(user_id).create().expect("a key");
                    assert_eq!(kh.certs().by_email("ann@example.org").expect("found").len(), 1);
                    let message = kh.encrypt().to(&ann).bytes("x").expect("encrypts");
                    kh.decrypt().bytes(message).expect("decrypts");
                }
            });
        }
    });
    assert_eq!(kh.certs().count().expect("counts"), 21);
}

#[test]
fn the_database_its_certificates_and_its_builders_can_be_shared_and_sent() {
    fn is_shared<T: Send + Sync>() {}
    is_shared::<Keyhoard>();
    is_shared::<Cert>();
    is_shared::<keyhoard::Encrypt<'_>>();
    is_shared::<keyhoard::Decrypt<'_>>();
    is_shared::<keyhoard::Sign<'_>>();
    is_shared::<keyhoard::Verify<'_>>();
    is_shared::<keyhoard::Verdicts>();
    is_shared::<Error>();
}

#[test]
fn names_that_lead_nowhere_are_errors_with_codes() {
    let (kh, _) = with_ann();
    assert_eq!(kh.certs().by_fingerprint("not hex").expect_err("no fingerprint").code(), "name");
    assert_eq!(kh.encrypt().bytes("x").expect_err("nobody").code(), "incomplete");
    assert_eq!(kh.encrypt().to_email("bob@example.org").bytes("x").expect_err("unknown").code(), "not-found");
    assert_eq!(kh.sign().detached(&b"x"[..]).expect_err("nobody").code(), "incomplete");
    assert_eq!(kh.decrypt().bytes("no message").expect_err("garbage").code(), "malformed");
    assert_eq!(kh.verify().message(&b"no message"[..]).expect_err("garbage").code(), "malformed");
    assert_eq!(kh.generate(ANN).profile("nonsense").create().expect_err("unknown").code(), "generate");
}

#[test]
fn a_new_subkey_signs_and_is_locked_as_the_primary_key_is() {
    let kh = Keyhoard::in_memory().expect("a database");
    let ann = kh.generate(ANN).passphrase("open sesame").create().expect("a key");
    let add = || kh.add_subkey(&ann, SubkeyUse::Sign).expires_in(Duration::from_secs(86400));
    assert_eq!(add().create().expect_err("locked").code(), "passphrase");
    assert_eq!(add().algorithm("nonsense").create().expect_err("unknown").code(), "generate");
    let subkey = add().passphrase("open sesame").create().expect("a subkey");
    let found = kh.certs().by_fingerprint(subkey).expect("found").expect("Ann's");
    assert_eq!(found, ann);
    let key = found.keys().into_iter().find(|key| key.fingerprint == subkey).expect("a subkey");
    assert!(key.can_sign && key.is_usable && key.expires.is_some());
    assert!(kh.keys().of(&found).expect("keys").iter().all(|key| key.is_locked));
    let signature = kh.sign().with(&found).passphrase("open sesame").detached(&b"text"[..]).expect("signs");
    let verdicts = kh.verify().detached(&signature[..], &b"text"[..]).expect("verifies");
    assert_eq!(verdicts.iter().next().expect("one").key, Some(subkey));
}

#[test]
fn a_certificate_that_an_own_key_certifies_is_valid_and_is_certified_once() {
    let (kh, ann) = with_ann();
    let other = Keyhoard::in_memory().expect("a database");
    let ben =
        other.generate("Ben <ben@example.org>").user_id("Ben <ben@example.net>").create().expect("a key");
    kh.import(ben.armored().expect("text").as_bytes()).expect("imports");
    let ben = kh.certs().by_email("ben@example.org").expect("found").remove(0);
    assert_eq!(kh.certify(&ben, &ann).local().create().expect("certifies"), 2);
    assert_eq!(kh.certify(&ben, &ann).local().create().expect("nothing to do"), 0);
    let ben = kh.certs().by_email("ben@example.org").expect("found").remove(0);
    assert_eq!(ben.validity().expect("computed").validity, Validity::Full);
    let refused = kh.certify(&ann, &ben).create().expect_err("no secret key");
    assert_eq!(refused.code(), "generate");
}
