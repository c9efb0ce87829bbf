//! Secret keys in files.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use keyhoard_secret::ask::Nobody;
use keyhoard_secret::file::FileKeys;
use keyhoard_secret::{
    Ask, Error, Lock, Name, Passphrase, Protection, Question, Role, SecretKey, SecretKeys, Stored,
};
use tempfile::TempDir;

use crate::made;

/// Answers with one passphrase after the other.
struct Answers(Vec<&'static [u8]>);

impl Ask for Answers {
    fn passphrase(&mut self, _question: &Question<'_>) -> keyhoard_secret::Result<Option<Passphrase>> {
        Ok((!self.0.is_empty()).then(|| Passphrase::new(self.0.remove(0))))
    }
}

fn place() -> (TempDir, FileKeys) {
    let home = tempfile::tempdir().expect("a directory");
    let keys = FileKeys::beside(&home.path().join("keyhoard.db"));
    (home, keys)
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).expect("a file").permissions().mode() & 0o7777
}

fn locked(key: &SecretKey, passphrase: &[u8]) -> SecretKey {
    let unlocked = key.unlock_plain().expect("its secret");
    unlocked.lock(&Passphrase::new(passphrase), Lock::Iterated { count: 0 }).expect("a locked key")
}

#[test]
fn a_key_is_kept_in_a_file_that_nobody_else_can_read() {
    let (_home, keys) = place();
    let key = made::ed25519();
    assert_eq!(keys.store(&key).expect("stored"), Stored::New);
    let file = keys.path().join(format!("{}.key", key.fingerprint()));
    assert_eq!(file, keys.file(&key.fingerprint()));
    assert_eq!((mode(keys.path()), mode(&file)), (0o700, 0o600));
    assert_eq!(fs::read_dir(keys.path()).expect("a directory").count(), 1, "nothing but the key");
    let kept = keys.export(&key.fingerprint().into(), &mut Nobody).expect("the key");
    assert_eq!((&*kept.body(), kept.role()), (&*key.body(), key.role()));
}

#[test]
fn a_directory_that_others_can_read_or_write_is_refused() {
    let (_home, keys) = place();
    let key = made::ed25519();
    keys.store(&key).expect("stored");
    for mode in [0o750, 0o701, 0o770, 0o702] {
        fs::set_permissions(keys.path(), fs::Permissions::from_mode(mode)).expect("a mode");
        for refused in [
            keys.list().map(|_| ()),
            keys.store(&key).map(|_| ()),
            keys.export(&key.fingerprint().into(), &mut Nobody).map(|_| ()),
        ] {
            let error = refused.expect_err("open to others");
            assert!(matches!(error, Error::OpenToOthers { .. }), "{error}");
            assert!(error.to_string().contains("run `chmod 700 "), "{error}");
        }
    }
}

#[test]
fn no_directory_means_no_keys() {
    let (_home, keys) = place();
    let name = Name::from(made::ed25519().fingerprint());
    assert_eq!(keys.list().expect("a list"), []);
    assert!(!keys.contains(&name).expect("an answer"));
    assert!(!keys.delete(&name).expect("an answer"));
    assert!(matches!(keys.export(&name, &mut Nobody), Err(Error::Missing { .. })));
    assert!(!keys.path().exists(), "asking makes nothing");
}

#[test]
fn a_listing_tells_keys_and_their_protection_by_fingerprint_and_keygrip() {
    let (_home, keys) = place();
    let all = made::every_kind();
    for (n, (_, key)) in all.iter().enumerate() {
        let kept = match n % 3 {
            0 => key.clone(),
            1 => locked(key, b"abc"),
            _ => SecretKey::stub(Role::Primary, key.public_body()).expect("a stub"),
        };
        keys.store(&kept).expect("stored");
    }
    let listed = keys.list().expect("a list");
    assert_eq!(listed.len(), all.len());
    assert!(listed.is_sorted_by_key(|held| held.fingerprint));
    for (n, (kind, key)) in all.iter().enumerate() {
        let by_fingerprint = keys.find(&key.fingerprint().into()).expect("an answer").expect("a key");
        assert!(listed.contains(&by_fingerprint), "{kind}");
        assert_eq!(by_fingerprint.keygrip, key.keygrip(), "{kind}");
        if let Some(keygrip) = key.keygrip() {
            assert_eq!(
                keys.find(&keygrip.into()).expect("an answer"),
                Some(by_fingerprint.clone()),
                "{kind}"
            );
        }
        match n % 3 {
            0 => assert_eq!(by_fingerprint.protection, Protection::None, "{kind}"),
            1 => assert!(by_fingerprint.protection.is_locked(), "{kind}"),
            _ => assert_eq!(by_fingerprint.protection, Protection::Dummy, "{kind}"),
        }
    }
}

#[test]
fn a_stub_never_replaces_a_secret_and_a_secret_replaces_a_stub() {
    let (_home, keys) = place();
    let key = made::ed25519();
    let stub = SecretKey::stub(Role::Primary, key.public_body()).expect("a stub");
    assert_eq!(keys.store(&stub).expect("stored"), Stored::New);
    assert_eq!(keys.store(&stub).expect("stored"), Stored::Kept);
    assert_eq!(keys.store(&key).expect("stored"), Stored::InsteadOfStub);
    assert_eq!(keys.store(&stub).expect("stored"), Stored::Kept);
    assert_eq!(*keys.export(&key.fingerprint().into(), &mut Nobody).expect("the key").body(), *key.body());
}

#[test]
fn a_key_that_is_there_is_replaced_by_nothing() {
    let (_home, keys) = place();
    let key = made::ed25519();
    let kept = locked(&key, b"abc");
    keys.store(&kept).expect("stored");
    for other in [key.clone(), locked(&key, b"other")] {
        assert_eq!(keys.store(&other).expect("an answer"), Stored::Kept);
    }
    assert_eq!(*keys.export(&key.fingerprint().into(), &mut Nobody).expect("the key").body(), *kept.body());
}

#[test]
fn a_locked_key_opens_within_three_tries() {
    let (_home, keys) = place();
    let key = locked(&made::ed25519(), b"right");
    keys.store(&key).expect("stored");
    let name = key.fingerprint().into();
    let open = |answers: Vec<&'static [u8]>| keys.open(&name, &mut Answers(answers)).map(|_| ());
    assert!(open(vec![b"right"]).is_ok());
    assert!(open(vec![b"wrong", b"worse", b"right"]).is_ok());
    assert!(matches!(
        open(vec![b"wrong", b"worse", b"worst", b"right"]),
        Err(Error::TooManyTries { tries: 3, .. })
    ));
    assert!(matches!(open(vec![b"wrong"]), Err(Error::NoPassphrase { .. })));
    assert!(matches!(keys.open(&name, &mut Nobody), Err(Error::NoPassphrase { .. })));
}

#[test]
fn a_passphrase_is_changed_set_and_taken_away() {
    let (_home, keys) = place();
    let key = made::ed25519();
    keys.store(&key).expect("stored");
    let name = key.fingerprint().into();
    let relock =
        |answers, new: &[u8]| keys.relock(&name, &mut Answers(answers), &mut |_| Ok(Passphrase::new(new)));
    relock(vec![], b"one").expect("a key without passphrase gets one");
    relock(vec![b"one"], b"two").expect("another");
    let error = relock(vec![b"one", b"one", b"one"], b"three").expect_err("not the passphrase any more");
    assert!(matches!(error, Error::TooManyTries { .. }), "{error}");
    assert!(keys.open(&name, &mut Answers(vec![b"two"])).is_ok());
    relock(vec![b"two"], b"").expect("none");
    assert_eq!(*keys.export(&name, &mut Nobody).expect("the key").body(), *key.body());
}

#[test]
fn a_deleted_key_is_gone() {
    let (_home, keys) = place();
    let [one, other] = [made::ed25519(), made::ed25519()];
    assert_eq!(keys.store_all(&[&one, &other]).expect("stored"), [Stored::New; 2]);
    assert!(keys.delete(&one.fingerprint().into()).expect("an answer"));
    assert!(!keys.delete(&one.fingerprint().into()).expect("an answer"));
    assert!(keys.delete(&other.keygrip().expect("a keygrip").into()).expect("an answer"));
    assert_eq!(keys.list().expect("a list"), []);
}

#[test]
fn a_damaged_file_is_named_and_hides_no_other_key() {
    let (_home, keys) = place();
    let [good, cut] = [made::ed25519(), made::ed25519()];
    keys.store_all(&[&good, &cut]).expect("stored");
    let file = keys.file(&cut.fingerprint());
    let whole = fs::read(&file).expect("a file");
    let mistaken = keys.file(&made::ed25519().fingerprint());
    for (damage, what) in [
        (whole[..20].to_vec(), "is cut short"),
        (b"no key at all, but long enough".to_vec(), "is no file of a secret key"),
        ([b"KHSK\x02", &whole[5..]].concat(), "is of version 2"),
    ] {
        fs::write(&file, damage).expect("written");
        let error = keys.list().expect_err("a damaged file");
        assert!(error.to_string().contains(what), "{error}");
        assert!(error.to_string().contains("from a backup"), "{error}");
        assert!(error.to_string().starts_with(&*file.to_string_lossy()), "{error}");
        assert_eq!(keys.heads().expect("heads").iter().filter(|head| head.is_ok()).count(), 1);
        assert!(keys.find(&good.keygrip().expect("a keygrip").into()).expect("an answer").is_some());
        assert!(keys.find(&good.fingerprint().into()).expect("an answer").is_some());
    }
    fs::write(&mistaken, whole).expect("written");
    assert!(
        keys.list().is_err_and(|error| error.to_string().contains("no")),
        "a file under another key's name"
    );
}

#[test]
fn what_a_writer_left_that_died_is_in_nobodys_way() {
    let (_home, keys) = place();
    keys.store(&made::ed25519()).expect("stored");
    fs::write(keys.path().join(".new"), b"half a k").expect("written");
    assert_eq!(keys.list().expect("a list").len(), 1);
    keys.store(&made::ed25519()).expect("stored");
    assert_eq!(keys.list().expect("a list").len(), 2);
    assert!(!keys.path().join(".new").exists());
}

#[test]
fn many_writers_at_once_lose_nothing() {
    let (_home, keys) = place();
    let made: Vec<SecretKey> = (0..12).map(|_| made::ed25519()).collect();
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let (keys, made) = (&keys, &made);
            scope.spawn(move || {
                for n in 0..made.len() {
                    keys.store(&made[(n + writer * 3) % made.len()]).expect("stored");
                    assert!(keys.list().is_ok(), "a reader waits for nobody and sees whole files");
                }
            });
        }
    });
    assert_eq!(keys.list().expect("a list").len(), made.len());
}
