//! Verdicts on the signatures of Debian's keyrings, as they are and with a bit flipped, against sequoia-openpgp, which
//! reads the very packets itself and verifies with RustCrypto.

#[path = "../../../tests/src/scale.rs"]
#[allow(unreachable_pub, reason = "shared with the harness, which exports it")]
mod scale;

#[path = "clean/digests.rs"]
mod digests;

use digests::for_each_digest;
use std::collections::HashMap;
use std::fs::File;

use keyhoard_cert::clean::{CleanOptions, clean};
use keyhoard_cert::packet::Packets;
use keyhoard_cert::signed::question;
use keyhoard_cert::split::{Piece, Splitter};
use keyhoard_cert::{Certificate, KeyId, Timestamp, key, signature};
use rsa::traits::PublicKeyParts as _;
use rsa::{BigUint, Pkcs1v15Sign, RsaPublicKey};
use sequoia_openpgp::Packet;
use sequoia_openpgp::crypto::mpi::{PublicKey, Signature};
use sequoia_openpgp::parse::{PacketParser, PacketParserResult, Parse};
use verify::hash::Digest;
use verify::{HashAlgorithm, Verdict};

/// 2026-01-01, when the keyrings were imported.
const NOW: Timestamp = Timestamp(1_767_225_600);

const KEYRINGS: [&str; 3] = ["debian-keyring", "debian-maintainers", "debian-nonupload"];

/// Of how many signatures `make test` looks at one; `make oracle` looks at all of them.
fn step() -> usize {
    scale::choose(1, 41)
}

/// A signature and a key that may have made it, as packets, and the digest that it is made over.
struct Claim<'a> {
    key: &'a [u8],
    signature: &'a [u8],
    digest: Digest,
}

impl Claim<'_> {
    /// What we say; `None` if the packets cannot be read.
    fn our_verdict(&self) -> Option<Verdict> {
        let key = key::parse_public(body(self.key)).ok()?;
        let signature = signature::parse(body(self.signature)).ok()?;
        match question(&key, &signature, self.digest) {
            Ok(check) => verify::verify(&[check]).pop(),
            Err(verdict) => Some(verdict),
        }
    }

    /// Whether sequoia calls it good; `None` if it cannot read the packets.
    fn is_good_to_sequoia(&self) -> Option<bool> {
        let Packet::PublicKey(key) = packet_of_sequoia(self.key)? else { return None };
        let Packet::Signature(signature) = packet_of_sequoia(self.signature)? else { return None };
        let digest = self.digest.as_bytes();
        if let (PublicKey::RSA { e, n }, Signature::RSA { s }) = (key.mpis(), signature.mpis())
            && n.bits() > 4096
        {
            let content = verify::digest_info(HashAlgorithm(signature.hash_algo().into()), digest)?;
            return Some(is_good_to_rustcrypto(n.value(), e.value(), s.value(), &content));
        }
        Some(key.verify(signature.mpis(), signature.hash_algo(), digest).is_ok())
    }

    /// Returns whether both call it good; `None` if sequoia cannot read it. It refuses a number whose length is not
    /// given to the bit, which GnuPG and we read.
    fn agreed(&self, what: &str) -> Option<bool> {
        let theirs = self.is_good_to_sequoia()?;
        let ours = self.our_verdict() == Some(Verdict::Good);
        assert_eq!(ours, theirs, "{what}: {:02x?} by {:02x?}", self.signature, self.key);
        Some(ours)
    }
}

/// Asks the library that sequoia verifies RSA with, since sequoia lets it take keys of up to 4,096 bits only.
fn is_good_to_rustcrypto(n: &[u8], e: &[u8], s: &[u8], content: &[u8]) -> bool {
    let [n, e] = [n, e].map(BigUint::from_bytes_be);
    let Ok(key) = RsaPublicKey::new_with_max_size(n, e, 16_384) else { return false };
    let mut padded = vec![0; key.size().saturating_sub(s.len())];
    padded.extend(s);
    key.verify(Pkcs1v15Sign::new_unprefixed(), content, &padded).is_ok()
}

fn body(packet: &[u8]) -> &[u8] {
    Packets::new(packet).next().expect("a packet").expect("a sound one").body
}

fn packet_of_sequoia(bytes: &[u8]) -> Option<Packet> {
    match PacketParser::from_bytes(bytes).ok()? {
        PacketParserResult::Some(parser) => parser.next().ok().map(|(packet, _)| packet),
        PacketParserResult::EOF(_) => None,
    }
}

fn certificates() -> Vec<Certificate> {
    let mut certificates = Vec::new();
    for keyring in KEYRINGS {
        let file = File::open(format!("/usr/share/keyrings/{keyring}.gpg")).expect("Debian's keyrings");
        for piece in Splitter::new(file) {
            if let Ok(Piece::Certificate(raw)) = piece {
                let cleaned = clean(&raw, &CleanOptions::default(), NOW);
                certificates.extend(cleaned.ok().map(|cleaned| cleaned.certificate));
            }
        }
    }
    certificates
}

/// Hands every `step`th signature whose issuer is here to `each`; the seed chooses the first.
fn each_claim(certificates: &[Certificate], step: usize, mut each: impl FnMut(&Claim<'_>)) {
    let primary = |certificate: &Certificate| certificate.facts.primary().fingerprint.key_id();
    let keys: HashMap<KeyId, &Certificate> =
        certificates.iter().map(|certificate| (primary(certificate), certificate)).collect();
    let mut number = scale::seed() as usize % step;
    for certificate in certificates {
        for_each_digest(certificate, |facts, _, digest| {
            let Some(issuer) = keys.get(&facts.issuer.key_id) else { return };
            number += 1;
            if let (0, Ok(digest)) = (number % step, digest) {
                let key = issuer.packet(issuer.facts.components[0].span);
                each(&Claim { key, signature: certificate.packet(facts.span), digest });
            }
        });
    }
}

#[test]
fn oracle_verdicts_on_every_signature_of_the_keyrings_are_sequoias() {
    let (mut good, mut bad, mut unread) = (0, 0, 0);
    each_claim(&certificates(), step(), |claim| match claim.agreed("as it is") {
        Some(true) => good += 1,
        Some(false) => bad += 1,
        None => unread += 1,
    });
    println!("{good} signatures are good, {bad} bad, {unread} only we can read");
    assert!(good > 40_000 / step() && good > 1_000 * unread, "{good} good, {unread} unread");
}

#[test]
fn oracle_verdicts_on_damaged_signatures_are_sequoias() {
    let certificates = certificates();
    let (mut number, mut compared) = (0_usize, 0);
    each_claim(&certificates, 5 * step(), |claim| {
        number += 1;
        // The end of either packet is in a number, so that both can mostly still be read.
        let flipped = |packet: &[u8], back: usize| {
            let mut packet = packet.to_vec();
            let place = packet.len() - 1 - back % 30;
            packet[place] ^= 1 << (number % 8);
            packet
        };
        let signature = flipped(claim.signature, number);
        let damaged = Claim { signature: &signature, ..*claim };
        let verdict = damaged.agreed("a bit of the signature's value is flipped");
        assert_ne!(verdict, Some(true));
        let key = flipped(claim.key, number / 7);
        let other = Claim { key: &key, ..*claim }.agreed("a bit of the key is flipped");
        compared += usize::from(verdict.is_some()) + usize::from(other.is_some());
    });
    assert!(number > 8_000 / step() && compared > number, "{compared} of {number}");
}

#[test]
fn oracle_verdicts_on_signatures_with_another_ones_digest_are_sequoias() {
    let certificates = certificates();
    let mut last = None;
    let mut compared = 0;
    each_claim(&certificates, 5 * step(), |claim| {
        if let Some(digest) = last.replace(claim.digest).filter(|digest| *digest != claim.digest) {
            let other = Claim { digest, ..*claim };
            assert_ne!(other.agreed("over another digest, perhaps of another length"), Some(true));
            compared += 1;
        }
    });
    assert!(compared > 4_000 / step(), "{compared}");
}
