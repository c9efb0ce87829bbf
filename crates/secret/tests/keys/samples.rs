//! The sample keys of RFC 9580, appendix A, and of LibrePGP's draft.

use cert::split::{Piece, Splitter};
use keyhoard_secret::file::FileKeys;
use keyhoard_secret::{
    Error, IntegrityCheck, Lock, Passphrase, Protection, Role, S2k, SecretKey, SecretKeys as _,
};

const PLAIN: &[u8] = include_bytes!("../testdata/rfc9580-a4.asc");
const LOCKED: &[u8] = include_bytes!("../testdata/rfc9580-a5.asc");
const VERSION_5: &[u8] = include_bytes!("../../../cert/tests/data/librepgp-v5-secret.pgp");
const PASSPHRASE: &[u8] = b"correct horse battery staple";

const PRIMARY: &str = "CB186C4F0609A697E4D52DFA6C722B0C1F1E27C18A56708F6525EC27BAD9ACC9";

fn secrets(armored: &[u8]) -> [SecretKey; 2] {
    let pieces: Vec<Piece> = Splitter::new(armored).map(|piece| piece.expect("a piece")).collect();
    let [Piece::Certificate(raw)] = &pieces[..] else { panic!("one certificate: {pieces:?}") };
    let secrets = raw.secrets.iter().map(|raw| SecretKey::try_from(raw).expect("a secret key"));
    secrets.collect::<Vec<_>>().try_into().expect("a primary key and a subkey")
}

#[test]
fn the_plain_version_6_key_opens_without_passphrase() {
    let [primary, subkey] = secrets(PLAIN);
    assert_eq!(primary.fingerprint().to_string(), PRIMARY);
    assert_eq!([primary.role(), subkey.role()], [Role::Primary, Role::Subkey]);
    for key in [primary, subkey] {
        assert_eq!(*key.protection(), Protection::None);
        let unlocked = key.unlock_plain().expect("the secret of its public part");
        assert_eq!(*unlocked.plain().body(), *key.body());
    }
}

#[test]
fn the_locked_version_6_key_opens_with_its_passphrase_to_the_plain_one() {
    for (locked, plain) in secrets(LOCKED).iter().zip(secrets(PLAIN)) {
        let Protection::Locked(how) = locked.protection() else { panic!("{:?}", locked.protection()) };
        assert_eq!((how.check, how.cipher), (IntegrityCheck::Aead(2), 9));
        assert!(matches!(how.s2k, S2k::Argon2 { passes: 1, lanes: 4, exponent: 21, .. }), "{how:?}");
        let unlocked = locked.unlock(&Passphrase::new(PASSPHRASE)).expect("its passphrase");
        assert_eq!(*unlocked.plain().body(), *plain.body());
    }
}

#[test]
fn the_locked_version_6_key_opens_with_no_other_passphrase() {
    let [primary, _] = secrets(LOCKED);
    let error = primary.unlock(&Passphrase::new(b"correct horse battery stapler")).expect_err("wrong");
    assert!(matches!(error, Error::WrongPassphrase { .. }), "{error}");
    assert_eq!(error.to_string(), format!("secret key {PRIMARY}: wrong passphrase"));
    let error = primary.unlock_plain().expect_err("it is locked");
    assert!(matches!(error, Error::NoPassphrase { .. }), "{error}");
}

#[test]
fn a_locked_version_6_key_is_bound_to_its_place_and_its_public_part() {
    let [primary, _] = secrets(LOCKED);
    let moved = SecretKey::parse(Role::Subkey, &primary.body()).expect("a secret key");
    let mut younger = primary.body();
    younger[4] ^= 1;
    let younger = SecretKey::parse(Role::Primary, &younger).expect("a secret key");
    for changed in [moved, younger] {
        let error = changed.unlock(&Passphrase::new(PASSPHRASE)).expect_err("another context");
        assert!(matches!(error, Error::WrongPassphrase { .. }), "{error}");
    }
}

/// A key of version 5 without protection, locked, and as a stub.
fn version_5_forms(key: &SecretKey) -> [SecretKey; 3] {
    let unlocked = key.unlock_plain().expect("the secret of its public part");
    let locked = unlocked.lock(&Passphrase::new(PASSPHRASE), Lock::Iterated { count: 0 });
    let stub = SecretKey::stub(key.role(), key.public_body());
    [unlocked.plain(), locked.expect("a locked key"), stub.expect("a stub")]
}

#[test]
fn a_version_5_key_is_written_as_it_was_read_and_opens_with_its_passphrase() {
    for key in secrets(VERSION_5) {
        let [plain, locked, stub] = version_5_forms(&key);
        assert_eq!(*plain.body(), *key.body());
        assert_eq!(*plain.protection(), Protection::None);
        assert_eq!(*stub.protection(), Protection::Dummy);
        let opened = locked.unlock(&Passphrase::new(PASSPHRASE)).expect("its passphrase");
        assert_eq!(*opened.plain().body(), *key.body());
        opened.try_out().expect("a key that signs or decrypts");
        let error = locked.unlock(&Passphrase::new(b"another")).expect_err("wrong");
        assert!(matches!(error, Error::WrongPassphrase { .. }), "{error}");
    }
}

#[test]
fn version_5_keys_are_listed_with_their_protection() {
    for key in secrets(VERSION_5) {
        for form in version_5_forms(&key) {
            let home = tempfile::tempdir().expect("a directory");
            let keys = FileKeys::beside(&home.path().join("keyhoard.db"));
            keys.store(&form).expect("stored");
            let [listed] = &keys.list().expect("a list")[..] else { panic!("one key") };
            assert_eq!((listed.fingerprint, &listed.protection), (key.fingerprint(), form.protection()));
        }
    }
}

#[test]
fn a_version_5_key_that_is_cut_short_or_counts_its_protection_wrongly_does_not_open() {
    let mut tried = 0;
    for key in secrets(VERSION_5) {
        let [plain, locked, _] = version_5_forms(&key);
        for form in [plain, locked] {
            let opens = |body: &[u8]| {
                let key = SecretKey::parse(form.role(), body);
                key.and_then(|key| key.unlock(&Passphrase::new(PASSPHRASE))).is_ok()
            };
            let (body, split) = (form.body(), form.public_body().len());
            assert!(opens(&body));
            for length in split..body.len() {
                assert!(!opens(&body[..length]), "{length} bytes of {}", body.len());
            }
            for count in (0..=u8::MAX).filter(|count| *count != body[split + 1]) {
                let mut changed = body.clone();
                changed[split + 1] = count;
                assert!(!opens(&changed), "{count} instead of {}", body[split + 1]);
                tried += 1;
            }
        }
    }
    assert_eq!(tried, 4 * 255);
}

#[test]
fn a_version_5_key_on_a_card_is_read_as_gnupg_writes_it() {
    let [key, _] = secrets(VERSION_5);
    // The fields, the length of what follows, and the length of the serial number with it.
    let secret = b"\xff\x07\x00\x65\x00GNU\x02\0\0\0\x05\x04\xd2\x76\x00\x01";
    let card = SecretKey::parse(Role::Primary, &[key.public_body(), secret].concat()).expect("on a card");
    assert_eq!(*card.protection(), Protection::Card { serial: Vec::new() });
}
