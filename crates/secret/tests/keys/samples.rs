//! The sample keys of RFC 9580, appendix A.

use cert::split::{Piece, Splitter};
use keyhoard_secret::{Error, IntegrityCheck, Passphrase, Protection, Role, S2k, SecretKey};

const PLAIN: &[u8] = include_bytes!("../testdata/rfc9580-a4.asc");
const LOCKED: &[u8] = include_bytes!("../testdata/rfc9580-a5.asc");
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
