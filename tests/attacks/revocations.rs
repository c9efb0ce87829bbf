//! No number of forged signatures hides a revocation.

use harness::attack::{Attack, Expected, Rule};

use packet_builder::{Certificate, Key, MADE, Packet, Signature, Signed, Subpacket};

use crate::people::TEXT;

/// More than any budget for one certificate.
const FORGERIES: u64 = 12_000;

/// The rule and its inputs.
pub(crate) fn rule() -> Rule {
    let key = Key::ed25519("Flooded");
    Rule {
        title: "A genuine revocation counts among 12,000 forged signatures",
        about: "12,000 signatures that claim to be the certificate's own and have the right digest prefix, \
                so that each of them has to be verified, and that are newer than the genuine one.",
        attacks: vec![
            by(&key, "forged revocations after the genuine one", &|it| {
                it.packets.splice(1..1, [&[revocation(&key)][..], &forged_revocations(&key)].concat());
            }),
            by(&key, "forged revocations before the genuine one", &|it| {
                it.packets.splice(1..1, [&forged_revocations(&key)[..], &[revocation(&key)]].concat());
            }),
            by(&key, "forged direct-key signatures and a genuine revocation", &|it| {
                it.packets.splice(
                    1..1,
                    [&forged(&key, 0x1F, &Signed::Key(&key))[..], &[revocation(&key)]].concat(),
                );
            }),
            by(&key, "forged certifications of the user ID and a genuine revocation", &|it| {
                let forged = forged(&key, 0x13, &Signed::UserId(&key, NAME));
                it.packets.extend(forged);
                it.packets.insert(1, revocation(&key));
            }),
            over_several_imports(&key),
            of_subkey(),
            of_repeated_subkey(),
            of_rsa_key(),
        ],
    }
}

const NAME: &[u8] = b"Flooded <flooded@example.org>";

fn revocation(key: &Key) -> Packet {
    let signature = Signature::new(0x20).at(MADE + 1).with(Subpacket::reason(2, "stolen"));
    signature.sign(key, &Signed::Key(key))
}

fn forged_revocations(key: &Key) -> Vec<Packet> {
    forged(key, 0x20, &Signed::Key(key))
}

/// Forged signatures with the right digest prefix, all newer than what is genuine.
fn forged(key: &Key, kind: u8, signed: &Signed<'_>) -> Vec<Packet> {
    let one = |number: u64| {
        let signature = Signature::new(kind).at(MADE + 1_000_000 + number as u32).forged(number);
        signature.sign(key, signed)
    };
    (0..FORGERIES).map(one).collect()
}

fn refused(name: &str, signer: &Key, known: Vec<Vec<u8>>) -> Attack {
    let signature = Signature::new(0x00).at(MADE + 1000).sign(signer, &Signed::Bytes(TEXT));
    let attack = Attack::detached(name, signature.bytes(), TEXT, Expected::Refuse);
    Attack { certificates: known, ..attack }
}

fn by(key: &Key, name: &str, change: &dyn Fn(&mut Certificate)) -> Attack {
    let mut certificate = Certificate::new(key, NAME);
    change(&mut certificate);
    refused(name, key, vec![certificate.bytes()])
}

fn over_several_imports(key: &Key) -> Attack {
    let mut imports = vec![Certificate::new(key, NAME)];
    for part in forged_revocations(key).chunks(FORGERIES as usize / 3) {
        let mut certificate = Certificate::new(key, NAME);
        certificate.packets.splice(1..1, part.iter().cloned());
        imports.push(certificate);
    }
    let mut genuine = Certificate::new(key, NAME);
    genuine.packets.insert(1, revocation(key));
    imports.insert(2, genuine);
    let known = imports.iter().map(Certificate::bytes).collect();
    refused("forged revocations over several imports, the genuine one among them", key, known)
}

fn of_subkey() -> Attack {
    let (key, subkey) = (Key::ed25519("Flooded"), Key::ed25519("Flooded subkey"));
    let mut certificate = Certificate::new(&key, NAME);
    certificate.add_subkey(&key, &subkey, 2);
    let signed = Signed::Subkey(&key, &subkey);
    certificate.packets.extend(forged(&key, 0x28, &signed));
    certificate.add(Signature::new(0x28).at(MADE + 1).sign(&key, &signed));
    refused("forged revocations of a subkey and a genuine one", &subkey, vec![certificate.bytes()])
}

fn of_repeated_subkey() -> Attack {
    let (key, subkey) = (Key::ed25519("Flooded"), Key::ed25519("Flooded subkey"));
    let mut revoked = Certificate::new(&key, NAME);
    revoked.add_subkey(&key, &subkey, 2);
    let mut repeated = revoked.clone();
    revoked.add(Signature::new(0x28).at(MADE + 1).sign(&key, &Signed::Subkey(&key, &subkey)));
    repeated.add_subkey(&key, &subkey, 2);
    let known = vec![revoked.bytes(), repeated.bytes()];
    refused(
        "a copy of the certificate that has its revoked subkey twice, without the revocation",
        &subkey,
        known,
    )
}

fn of_rsa_key() -> Attack {
    let key = Key::rsa4096();
    let mut certificate = Certificate::new(&key, NAME);
    certificate.packets.splice(1..1, [&forged_revocations(&key)[..], &[revocation(&key)]].concat());
    refused("forged revocations of an RSA-4096 key and a genuine one", &key, vec![certificate.bytes()])
}

#[cfg(test)]
mod tests {
    use harness::attack::assert_rule;
    use harness::{Engine, Run, on_both_engines};
    use packet_builder::bytes;

    use super::*;

    fn a_genuine_revocation_counts_whatever_stands_around_it(engine: Engine) {
        assert_rule(engine, &rule());
    }

    fn a_revoked_user_id_stays_revoked_behind_forged_revocations(engine: Engine) {
        let key = Key::ed25519("Flooded");
        let signed = Signed::UserId(&key, NAME);
        let mut certificate = Certificate::new(&key, NAME);
        certificate.add_user_id(&key, "Other <other@example.org>", 3);
        let mut revocations = forged(&key, 0x30, &signed);
        revocations.push(Signature::new(0x30).at(MADE + 1).sign(&key, &signed));
        certificate.packets.splice(3..3, revocations);
        let home = engine.home();
        Run::gpg_keyhoard(&home).arg("--import").stdin(certificate.bytes()).output();
        let listing = || Run::gpg_keyhoard(&home).args(["--with-colons", "--list-keys"]).succeed().text();
        let revoked = |listing: &str| {
            listing.lines().any(|line| line.starts_with("uid:r:") && line.contains("flooded@example.org"))
        };
        assert!(revoked(&listing()), "{}", listing());
        Run::keyhoard(&home).args(["doctor", "--rebuild"]).output();
        assert!(revoked(&listing()), "after the rebuild:\n{}", listing());
    }

    fn a_known_revocation_outlives_a_flood_and_a_rebuild(engine: Engine) {
        let key = Key::ed25519("Flooded");
        let home = engine.home();
        let import = |packets: &[Packet]| {
            Run::gpg_keyhoard(&home).arg("--import").stdin(bytes(packets)).output();
        };
        let mut certificate = Certificate::new(&key, NAME);
        certificate.packets.insert(1, revocation(&key));
        import(&certificate.packets);
        certificate.packets.splice(1..1, forged_revocations(&key));
        let revoked = || {
            let listing = Run::gpg_keyhoard(&home).args(["--with-colons", "--list-keys"]).succeed().text();
            assert!(listing.lines().any(|line| line.starts_with("pub:r:")), "{listing}");
        };
        revoked();
        import(&certificate.packets);
        revoked();
        Run::keyhoard(&home).args(["doctor", "--rebuild"]).output();
        revoked();
    }

    fn a_flood_of_self_signatures_on_an_unknown_certificate_is_told_and_fails(engine: Engine) {
        let key = Key::ed25519("Flooded");
        let mut certificate = Certificate { packets: vec![key.packet(), Packet::user_id(NAME)] };
        certificate.packets.extend(forged(&key, 0x13, &Signed::UserId(&key, NAME)));
        let done = Run::gpg_keyhoard(&engine.home()).arg("--import").stdin(certificate.bytes()).output();
        assert_eq!(done.code, Some(2), "{}", done.errors());
        assert!(done.errors().contains("forged self-signatures"), "{}", done.errors());
        let done = Run::keyhoard(&engine.home()).arg("import").stdin(certificate.bytes()).output();
        assert_eq!(done.code, Some(2), "{}", done.errors());
        assert!(done.errors().contains("forged self-signatures"), "{}", done.errors());
    }

    on_both_engines! {
        a_genuine_revocation_counts_whatever_stands_around_it
        a_revoked_user_id_stays_revoked_behind_forged_revocations
        a_known_revocation_outlives_a_flood_and_a_rebuild
        a_flood_of_self_signatures_on_an_unknown_certificate_is_told_and_fails
    }
}
