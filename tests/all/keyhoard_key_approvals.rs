//! `keyhoard key approvals`: which certifications by others the owner of a certificate approves of
//! (draft-dkg-openpgp-1pa3pc), with packets of the tests' builder, and with sequoia-openpgp on the other side.

use harness::{Home, Run};
use packet_builder::{Hash, Key, MADE, Packet, Signature, Signed, Subpacket, bytes};
use sequoia_openpgp as openpgp;
use serde_json::Value;

use openpgp::cert::CertBuilder;
use openpgp::packet::signature::SignatureBuilder;
use openpgp::parse::Parse as _;
use openpgp::policy::StandardPolicy;
use openpgp::serialize::SerializeInto as _;
use openpgp::types::SignatureType;
use openpgp::{Cert, Profile};

const BOB: &[u8] = b"Bob <bob@example.org>";
const APPROVED_CERTIFICATIONS: u8 = 37;

/// Ann, who certifies, and Bob, who approves.
struct People {
    ann: Key,
    bob: Key,
}

impl People {
    fn new() -> Self {
        Self { ann: Key::ed25519("ann"), bob: Key::ed25519("bob") }
    }

    /// With keys of version 6.
    fn of_rfc9580() -> Self {
        Self { ann: Key::ed25519_v6("ann"), bob: Key::ed25519_v6("bob") }
    }

    fn anns_certificate(&self) -> Vec<u8> {
        packet_builder::Certificate::new(&self.ann, "Ann <ann@example.org>").bytes()
    }

    /// Bob's certificate with further signatures over his user ID.
    fn bobs_certificate(&self, further: &[Packet]) -> Vec<u8> {
        let own =
            Signature::by(&self.bob, 0x13).with(Subpacket::key_flags(3)).sign(&self.bob, &self.over_bob());
        let all = [self.bob.packet(), Packet::user_id(BOB), own];
        bytes(all.iter().chain(further))
    }

    fn over_bob(&self) -> Signed<'_> {
        Signed::UserId(&self.bob, BOB)
    }

    fn certification(&self) -> Packet {
        Signature::by(&self.ann, 0x10).at(MADE + 5).sign(&self.ann, &self.over_bob())
    }

    /// Bob's approval of certifications, made so many seconds after his key.
    fn approval(&self, seconds: u32, approved: &[&Packet]) -> Packet {
        self.unsigned(seconds, Hash::SHA256, approved).sign(&self.bob, &self.over_bob())
    }

    fn unsigned(&self, seconds: u32, hash: Hash, approved: &[&Packet]) -> Signature {
        let digests: Vec<u8> = approved.iter().flat_map(|packet| digest(hash, packet)).collect();
        let subpacket = Subpacket::new(APPROVED_CERTIFICATIONS, digests);
        Signature::by(&self.bob, 0x16).at(MADE + seconds).hash(hash).with(subpacket)
    }
}

/// Returns the digest of a signature without its unhashed subpackets (RFC 9580, 5.2.4).
fn digest(hash: Hash, packet: &Packet) -> Vec<u8> {
    let body = &packet.body;
    // The numbers of bytes of an area have two bytes, in version 6 four.
    let wide = if body[0] == 6 { 4 } else { 2 };
    let end = |at: usize| {
        let length = body[at..at + wide].iter().fold(0, |sum, &byte| sum << 8 | usize::from(byte));
        at + wide + length
    };
    let hashed = end(4);
    let bare = [&body[..hashed], &[0, 0, 0, 0][..wide], &body[end(hashed)..]].concat();
    hash.digest(&[&[0x88], &(bare.len() as u32).to_be_bytes()[..], &bare].concat())
}

fn import(home: &Home, certificate: Vec<u8>) {
    Run::keyhoard(home).args(["import", "--quiet"]).stdin(certificate).succeed();
}

/// Returns what is listed of a certificate's only user ID.
fn listed(home: &Home, name: &str) -> Value {
    let done = Run::keyhoard(home).args(["--json", "key", "approvals", "list", name]).succeed();
    let [document] = &done.json_lines()[..] else { panic!("one document") };
    let user_ids = document["user_ids"].as_array().expect("user IDs");
    assert_eq!(user_ids.len(), 1);
    user_ids[0].clone()
}

/// Says whether Bob approves of Ann's certification, if these packets follow his user ID.
fn approves(people: &People, further: &[Packet]) -> bool {
    let home = Home::new();
    import(&home, people.anns_certificate());
    import(&home, people.bobs_certificate(further));
    let user_id = listed(&home, "bob@example.org");
    let certification = &user_id["certifications"][0];
    assert_eq!(certification["by"], people.ann.fingerprint_text());
    certification["approved"].as_bool().expect("a truth value")
}

#[test]
fn only_the_newest_valid_approval_signature_of_a_user_id_counts() {
    let people = People::new();
    let (ann, bob, certification) = (&people.ann, &people.bob, people.certification());
    let approval = people.approval(10, &[&certification]);
    let nothing = people.approval(20, &[]);
    let approves = |further: &[&Packet]| {
        let all: Vec<Packet> =
            [&certification].iter().chain(further).map(|packet| (*packet).clone()).collect();
        approves(&people, &all)
    };
    assert!(!approves(&[]), "never approved");
    assert!(approves(&[&approval]));
    assert!(!approves(&[&approval, &nothing]), "withdrawn");
    assert!(!approves(&[&nothing, &approval]), "whatever their order");
    assert!(approves(&[&nothing, &people.approval(30, &[&certification])]), "approved again");
    assert!(approves(&[&approval, &people.approval(10, &[])]), "all of one second count together");
    let over_bob = people.over_bob();
    let signed = |signature: Signature| signature.sign(bob, &over_bob);
    let good = || people.unsigned(10, Hash::SHA512, &[&certification]);
    assert!(approves(&[&signed(good())]), "with another hash algorithm");
    assert!(approves(&[&signed(good().with(Subpacket::notation("a@example.org", "b")))]));
    assert!(!approves(&[&signed(good().with(Subpacket::notation("a@example.org", "b").critical()))]));
    assert!(!approves(&[&signed(good().with(Subpacket::expires(60)))]), "expired");
    assert!(!approves(&[&signed(people.unsigned(10, Hash::SHA1, &[&certification]))]), "a weak digest");
    assert!(!approves(&[&signed(good().at(u32::MAX - 1))]), "in the future");
    assert!(!approves(&[&signed(good().forged(1))]));
    assert!(!approves(&[&good().sign(ann, &over_bob)]), "by somebody else");
    let mut cut = digest(Hash::SHA256, &certification);
    cut.pop();
    let cut = Signature::new(0x16).at(MADE + 10).with(Subpacket::new(APPROVED_CERTIFICATIONS, cut));
    assert!(!approves(&[&signed(cut)]), "a digest that is too short");
    let critical = Subpacket::new(APPROVED_CERTIFICATIONS, digest(Hash::SHA256, &certification)).critical();
    assert!(approves(&[&signed(Signature::new(0x16).at(MADE + 10).with(critical))]), "as sequoia writes it");
}

#[test]
fn certifications_of_version_6_are_approved_with_their_salt() {
    let people = People::of_rfc9580();
    let certification = people.certification();
    let approval = people.approval(10, &[&certification]);
    assert!(approves(&people, &[certification.clone(), approval]));
    assert!(!approves(&people, &[certification]));
}

#[test]
fn an_approval_binds_no_user_id() {
    let (people, home) = (People::new(), Home::new());
    let certification = people.certification();
    let certificate =
        [people.bob.packet(), Packet::user_id(BOB), people.approval(10, &[&certification]), certification];
    Run::keyhoard(&home).args(["import", "--quiet"]).stdin(bytes(&certificate)).output();
    assert_ne!(Run::keyhoard(&home).args(["show", "bob@example.org"]).output().code, Some(0));
}

#[test]
fn approvals_are_kept_merged_listed_and_exported_but_hidden_from_gpg() {
    let (people, home) = (People::new(), Home::new());
    let certification = people.certification();
    let approvals = [10, 20].map(|seconds| people.approval(seconds, &[&certification]));
    let forged = people.unsigned(30, Hash::SHA256, &[]).sign(&people.ann, &people.over_bob());
    let has =
        |bytes: &[u8], packet: &Packet| bytes.windows(packet.body.len()).any(|part| part == packet.body);
    for approval in &approvals {
        let further = [certification.clone(), approval.clone(), forged.clone()];
        import(&home, people.bobs_certificate(&further));
    }
    let exported = Run::keyhoard(&home).args(["export", "--binary", "bob@example.org"]).succeed().stdout;
    assert!(approvals.iter().all(|approval| has(&exported, approval)));
    assert!(!has(&exported, &forged), "an approval by another key is none");
    let shown = Run::keyhoard(&home).args(["list", "--signatures", "bob@example.org"]).succeed().text();
    assert_eq!(shown.matches("certification approval").count(), 2, "{shown}");
    assert!(!shown.contains("superseded"), "{shown}");
    let of_gpg = Run::gpg_keyhoard(&home).args(["--export", "bob@example.org"]).succeed().stdout;
    assert!(has(&of_gpg, &certification) && !approvals.iter().any(|approval| has(&of_gpg, approval)));
    let ours = home.write("ours", people.bobs_certificate(&[certification.clone(), approvals[0].clone()]));
    let merge = Run::keyhoard(&home).args(["sop", "merge-certs", "--no-armor"]).arg(ours);
    let merged = merge.stdin(people.bobs_certificate(&approvals[1..])).succeed().stdout;
    assert!(approvals.iter().all(|approval| has(&merged, approval)), "sop keeps them, too");
}

/// Ann's and Bob's keys of sequoia, Bob's with Ann's certification.
fn of_sequoia(profile: Profile) -> (Cert, Cert) {
    let generate = |name| {
        let builder = CertBuilder::new().set_profile(profile).expect("a profile").add_userid(name);
        builder.generate().expect("a key").0
    };
    let (ann, bob) = (generate("Ann <ann@example.org>"), generate("Bob <bob@example.org>"));
    let mut signer = signer_of(&ann);
    let user_id = bob.userids().next().expect("a user ID").userid().clone();
    let builder = SignatureBuilder::new(SignatureType::GenericCertification);
    let certification = user_id.bind(&mut signer, &bob, builder).expect("a certification");
    let bob = bob.insert_packets(vec![certification]).expect("packets").0;
    (ann, bob)
}

fn signer_of(cert: &Cert) -> openpgp::crypto::KeyPair {
    let key = cert.primary_key().key().clone().parts_into_secret().expect("a secret key");
    key.into_keypair().expect("not locked")
}

fn approved_by_sequoia(certificate: &[u8]) -> usize {
    let cert = Cert::from_bytes(certificate).expect("a certificate");
    let policy = StandardPolicy::new();
    let valid = cert.with_policy(&policy, None).expect("valid");
    assert_eq!(cert.bad_signatures().count(), 0);
    let user_id = valid.userids().next().expect("a user ID");
    user_id.approved_certifications().count()
}

#[test]
fn sequoia_and_we_approve_of_the_same_certifications() {
    let home = Home::new();
    // Of signatures of version 6 its digests are others: with areas whose length has two bytes, and without the salt.
    let (ann, bob) = of_sequoia(Profile::RFC4880);
    let user_id = bob.userids().next().expect("a user ID");
    let certification = user_id.certifications().next().expect("Ann's").clone();
    let approval = user_id
        .approve_of_certifications(&StandardPolicy::new(), None, &mut signer_of(&bob), [certification])
        .expect("an approval");
    let bob = bob.insert_packets(approval).expect("packets").0;
    import(&home, ann.to_vec().expect("bytes"));
    import(&home, bob.as_tsk().to_vec().expect("bytes"));
    let is_approved = || listed(&home, "bob@example.org")["certifications"][0]["approved"].clone();
    let exported = || {
        let export = Run::keyhoard(&home).args(["export", "--binary", "bob@example.org"]);
        export.succeed().stdout
    };
    assert_eq!((is_approved(), approved_by_sequoia(&exported())), (true.into(), 1));
    let updates: [(&[&str], bool); 6] = [
        (&["--remove-all"], false),
        (&["--add-all"], true),
        (&["--remove-by", "ann@example.org"], false),
        (&["--add-by", "ann@example.org"], true),
        (&["--remove-all", "--add-by", "ann@example.org"], true),
        (&["--remove-all", "--user-id", "Bob <bob@example.org>"], false),
    ];
    for (options, approved) in updates {
        let update = ["key", "approvals", "update", "bob@example.org"];
        Run::keyhoard(&home).args(update).args(options).succeed();
        // A signature that replaces one of the same second is made a second later.
        std::thread::sleep(std::time::Duration::from_millis(1100));
        assert_eq!(is_approved(), approved, "{options:?}");
        assert_eq!(approved_by_sequoia(&exported()), usize::from(approved), "{options:?}");
    }
}

#[test]
fn certifications_that_cannot_be_verified_are_not_approved() {
    let (people, home) = (People::new(), Home::new());
    let own = packet_builder::Certificate::with_flags(&people.bob, BOB, 3);
    let secret = [vec![people.bob.secret_packet(5)], own.packets[1..].to_vec(), vec![people.certification()]];
    import(&home, bytes(&secret.concat()));
    let update = || {
        let update = ["key", "approvals", "update", "bob@example.org", "--add-all"];
        Run::keyhoard(&home).args(update).succeed().errors()
    };
    assert!(update().contains("nothing had to be changed"), "Ann's certificate is not here");
    assert_eq!(listed(&home, "bob@example.org")["certifications"][0]["by"], Value::Null);
    import(&home, people.anns_certificate());
    assert!(update().contains("approvals updated"));
    assert_eq!(listed(&home, "bob@example.org")["certifications"][0]["approved"], true);
    let text = Run::keyhoard(&home).args(["key", "approvals", "list", "bob@example.org"]).succeed().text();
    assert!(text.contains("approved") && text.contains(&people.ann.fingerprint_text()), "{text}");
}

#[test]
fn an_update_keeps_approvals_of_certifications_that_are_not_here_whatever_their_hash_algorithms() {
    let (people, home) = (People::new(), Home::new());
    let elsewhere = |seconds| {
        let draft = Signature::by(&people.ann, 0x10).at(MADE + seconds);
        draft.sign(&people.ann, &people.over_bob())
    };
    let approvals = [(Hash::SHA256, elsewhere(6)), (Hash::SHA512, elsewhere(7))]
        .map(|(hash, absent)| people.unsigned(10, hash, &[&absent]).sign(&people.bob, &people.over_bob()));
    let own = Signature::by(&people.bob, 0x13).with(Subpacket::key_flags(3));
    let own = own.sign(&people.bob, &people.over_bob());
    let [first, second] = approvals;
    let secret = people.bob.secret_packet(5);
    let certificate = [secret, Packet::user_id(BOB), own, people.certification(), first, second];
    import(&home, people.anns_certificate());
    import(&home, bytes(&certificate));
    assert_eq!(listed(&home, "bob@example.org")["elsewhere"], 2);
    let update = ["key", "approvals", "update", "bob@example.org"];
    for (option, approved) in [("--add-by", true), ("--remove-by", false)] {
        Run::keyhoard(&home).args(update).args([option, "ann@example.org"]).succeed();
        let user_id = listed(&home, "bob@example.org");
        assert_eq!(user_id["certifications"][0]["approved"], approved, "{option}");
        assert_eq!(user_id["elsewhere"], 2, "{option}");
        // A signature that replaces one of the same second is made a second later.
        std::thread::sleep(std::time::Duration::from_millis(1100));
    }
}
