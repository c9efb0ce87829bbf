//! Listings of one small certificate, varied one property at a time.

use engine::cert::effective::{KeyState, Revocation, Usage, UserIdState};
use engine::cert::facts::{
    AttributeFacts, AttributeSubpacket, Issuer, KeyFacts, RevocationReason, Revoker, SignatureFacts,
    SignatureFlags, SignatureType, TrustSignature,
};
use engine::cert::packet::Span;
use engine::cert::{Fingerprint, KeyId, Timestamp};
use engine::certifications::{CertificationStatus, Unverifiable};
use engine::configuration::Compat;
use engine::listing::{
    IssuerName, KeyListing, ListedComponent, ListedItem, ListedSignature, StatedPreferences, UserTrust,
    Validity,
};
use engine::store::Origin;
use verify::{HashAlgorithm, PublicKeyAlgorithm};

use crate::settings::{KeyIdFormat, ListSettings};

/// 2024-01-01 and the days after it.
const fn day(number: u32) -> Timestamp {
    Timestamp(1_704_067_200 + 86_400 * number)
}

/// A certificate with a primary key, one user ID or attribute, one signature on it, and a subkey.
struct Fixture {
    key: KeyFacts,
    state: KeyState,
    attribute: Option<AttributeFacts>,
    user: UserIdState,
    signature: SignatureFacts,
    expired: bool,
    issuer: IssuerName<'static>,
    standing: Option<CertificationStatus>,
    subkey: KeyFacts,
    subkey_state: KeyState,
    revokers: Vec<Revoker>,
    trust: UserTrust,
    settings: ListSettings,
}

fn key(first: u8) -> KeyFacts {
    KeyFacts {
        fingerprint: Fingerprint::V4(std::array::from_fn(|i| first + i as u8)),
        created: day(0),
        algorithm: PublicKeyAlgorithm::RSA,
        bits: 3072,
        curve: None,
        keygrip: None,
        subgroup_bits: 0,
    }
}

fn fixture() -> Fixture {
    let flags = SignatureFlags::default();
    let signature = SignatureFacts {
        span: Span { start: 0, end: 0 },
        version: 4,
        kind: SignatureType::GENERIC_CERTIFICATION,
        key_algorithm: PublicKeyAlgorithm::RSA,
        hash_algorithm: HashAlgorithm::SHA256,
        created: day(1),
        expires: None,
        issuer: Issuer { key_id: KeyId(0xabc), fingerprint: None },
        flags,
        trust: None,
        trust_regexp: None,
        reason: None,
        content: None,
        own: None,
    };
    let state = KeyState { valid: true, usage: Usage::CERTIFY | Usage::SIGN, ..KeyState::default() };
    Fixture {
        key: key(0),
        state,
        attribute: None,
        user: UserIdState { created: Some(day(1)), primary: true, ..UserIdState::default() },
        signature,
        expired: false,
        issuer: IssuerName::UserId(b"Iris"),
        standing: None,
        subkey: key(0x80),
        subkey_state: KeyState { usage: Usage::ENCRYPT, ..state },
        revokers: Vec::new(),
        trust: UserTrust::default(),
        settings: ListSettings { signatures: true, ..ListSettings::of(Compat::V2_2) },
    }
}

impl Fixture {
    fn listing(&self) -> KeyListing<'_> {
        static NOWHERE: Origin = Origin { kind: 0, updated: None, url: None };
        let listed = |index, item, signatures| ListedComponent {
            index,
            item,
            origin: None,
            first_use: None,
            own: None,
            body: None,
            signatures,
        };
        let user = match &self.attribute {
            Some(attribute) => ListedItem::Attribute(attribute, &self.user, Validity::Unknown),
            None => ListedItem::UserId(b"Uma: u", &self.user, Validity::Unknown),
        };
        let signature = ListedSignature {
            facts: &self.signature,
            expired: self.expired,
            issuer: self.issuer,
            status: self.standing,
            body: None,
        };
        KeyListing {
            fully_checked: true,
            components: vec![
                listed(0, ListedItem::Primary(&self.key, &self.state), vec![]),
                listed(1, user, vec![signature]),
                listed(2, ListedItem::Subkey(&self.subkey, &self.subkey_state), vec![]),
            ],
            preferences: StatedPreferences::default(),
            revokers: &self.revokers,
            trust: &self.trust,
            origin: &NOWHERE,
            stored: None,
        }
    }

    fn lines(&self) -> Vec<String> {
        let mut out = Vec::new();
        super::listing(&self.listing(), &self.settings, &mut out);
        String::from_utf8(out).expect("all names here are UTF-8").lines().map(str::to_owned).collect()
    }

    /// The listing for people: key, fingerprint, user ID, signature, subkey, an empty line.
    fn human(&self) -> [String; 6] {
        self.lines().try_into().expect("every component has its line")
    }

    /// The records whose type this is.
    fn records(&mut self, kind: &str) -> Vec<String> {
        self.settings.with_colons = true;
        let is_kind = |line: &String| line.split(':').next() == Some(kind);
        self.lines().into_iter().filter(is_kind).collect()
    }

    fn record(&mut self, kind: &str) -> String {
        let [record] = self.records(kind).try_into().expect("there is one of the kind");
        record
    }
}

#[test]
fn a_certificate_is_listed_for_people() {
    assert_eq!(
        fixture().human(),
        [
            "pub   rsa3072 2024-01-01 [SC]",
            "      000102030405060708090A0B0C0D0E0F10111213",
            "uid           [ unknown] Uma: u",
            "sig          0000000000000ABC 2024-01-02  Iris",
            "sub   rsa3072 2024-01-01 [E]",
            "",
        ]
    );
}

#[test]
fn a_certificate_is_listed_for_programs() {
    let mut fixture = fixture();
    fixture.settings.with_colons = true;
    assert_eq!(
        fixture.lines(),
        [
            "pub:-:3072:1:0C0D0E0F10111213:1704067200:::-:::scESC::::::23::0:",
            "fpr:::::::::000102030405060708090A0B0C0D0E0F10111213:",
            "uid:-::::1704153600::DF43300C9A98A824DF4C92A9DF42CEB4B6061D7E::Uma\\x3a u::::::::::0:",
            "sig:::1:0000000000000ABC:1704153600::::Iris:10x:::::8:",
            "sub:-:3072:1:8C8D8E8F90919293:1704067200::::::e::::::23:",
            "fpr:::::::::808182838485868788898A8B8C8D8E8F90919293:",
        ]
    );
}

#[test]
fn a_key_says_how_it_ends() {
    let mut fixture = fixture();
    fixture.state.expires = Some(day(9));
    assert_eq!(fixture.human()[0], "pub   rsa3072 2024-01-01 [SC] [expires: 2024-01-10]");
    fixture.state.expired = true;
    assert_eq!(fixture.human()[0], "pub   rsa3072 2024-01-01 [SC] [expired: 2024-01-10]");
    fixture.state.revoked = Some(Revocation { date: day(3), designated: false });
    assert_eq!(fixture.human()[0], "pub   rsa3072 2024-01-01 [SC] [revoked: 2024-01-04]");
}

#[test]
fn a_subkey_that_ended_with_its_primary_key_has_no_day_of_its_own() {
    let mut fixture = fixture();
    fixture.settings.flags.unusable_subkeys = true;
    fixture.subkey_state.expired = true;
    assert_eq!(fixture.human()[4], "sub   rsa3072 2024-01-01 [E] [expired: never     ]");
}

#[test]
fn a_primary_key_that_can_only_encrypt_is_pointed_out() {
    let mut fixture = fixture();
    fixture.key.algorithm = PublicKeyAlgorithm::ELGAMAL;
    assert_eq!(fixture.human()[0], "pub   elg3072 2024-01-01 [INVALID_ALGO]");
    fixture.key.algorithm = PublicKeyAlgorithm(101);
    assert_eq!(
        fixture.human()[0],
        "pub   unknown_101 2024-01-01 [INVALID_ALGO] [experimental algorithm 101]"
    );
}

#[test]
fn key_ids_move_user_ids_to_the_right() {
    let mut fixture = fixture();
    fixture.settings.key_id_format = KeyIdFormat::LongWith0x;
    let [key, _, user, signature, ..] = fixture.human();
    assert_eq!(key, "pub   rsa3072/0x0C0D0E0F10111213 2024-01-01 [SC]");
    assert_eq!(user, "uid                   [ unknown] Uma: u");
    assert_eq!(signature, "sig          0x0000000000000ABC 2024-01-02  Iris");
    fixture.settings.flags.uid_validity = false;
    fixture.settings.key_id_format = KeyIdFormat::Short;
    let [key, _, user, signature, ..] = fixture.human();
    assert_eq!(key, "pub   rsa3072/10111213 2024-01-01 [SC]");
    assert_eq!(user, "uid                    Uma: u");
    assert_eq!(signature, "sig          00000ABC 2024-01-02  Iris");
}

#[test]
fn a_fingerprint_is_grouped_when_it_is_asked_for_and_labelled_beside_key_ids() {
    let mut fixture = fixture();
    fixture.settings.fingerprint = 1;
    assert_eq!(fixture.human()[1], "      0001 0203 0405 0607 0809  0A0B 0C0D 0E0F 1011 1213");
    fixture.settings.key_id_format = KeyIdFormat::Long;
    let labelled = "      Key fingerprint = 0001 0203 0405 0607 0809  0A0B 0C0D 0E0F 1011 1213";
    assert_eq!(fixture.human()[1], labelled);
    fixture.settings.fingerprint = 2;
    assert_eq!(fixture.lines().iter().filter(|line| line.contains(" = ")).count(), 2);
}

#[test]
fn unusable_user_ids_and_subkeys_are_hidden_with_their_signatures() {
    let mut fixture = fixture();
    fixture.user.revoked = true;
    fixture.subkey_state.expired = true;
    assert_eq!(fixture.lines().len(), 3);
    fixture.settings.flags.unusable_uids = true;
    fixture.settings.flags.unusable_subkeys = true;
    assert_eq!(fixture.human()[2], "uid           [ revoked] Uma: u");
}

#[test]
fn gpg_2_4_shows_self_signatures_as_such_and_hides_sha1_certifications() {
    let mut fixture = fixture();
    fixture.settings = ListSettings { signatures: true, ..ListSettings::of(Compat::V2_4) };
    fixture.signature.hash_algorithm = HashAlgorithm::SHA1;
    assert!(fixture.lines().iter().all(|line| !line.starts_with("sig")));
    fixture.settings.weak_key_signatures = true;
    assert_eq!(fixture.human()[3], "sig          0000000000000ABC 2024-01-02  Iris");
    fixture.settings.weak_key_signatures = false;
    fixture.signature.issuer.key_id = fixture.key.fingerprint.key_id();
    assert!(fixture.human()[3].ends_with("2024-01-02  [self-signature]"), "{}", fixture.human()[3]);
}

#[test]
fn times_of_day_are_shown_on_request() {
    let mut fixture = fixture();
    fixture.settings.full_times = true;
    assert_eq!(fixture.human()[0], "pub   rsa3072 2024-01-01 00:00:00 [SC]");
}

#[test]
fn the_key_s_end_is_its_user_ids_end() {
    let mut fixture = fixture();
    fixture.state.expired = true;
    assert_eq!(fixture.human()[2], "uid           [ expired] Uma: u");
    assert!(fixture.record("uid").starts_with("uid:e:"));
    fixture.state.revoked = Some(Revocation { date: day(3), designated: false });
    assert!(fixture.record("uid").starts_with("uid:r:"));
}

#[test]
fn the_properties_of_a_signature_have_columns() {
    let mut fixture = fixture();
    fixture.signature.kind = SignatureType(0x12);
    fixture.signature.trust = Some(TrustSignature { depth: 1, amount: 120 });
    let flags = &mut fixture.signature.flags;
    (flags.exportable, flags.revocable, flags.policy, flags.notations) = (false, false, true, true);
    fixture.expired = true;
    assert_eq!(fixture.human()[3], "sig 2 LRPNX1 0000000000000ABC 2024-01-02  Iris");
    fixture.signature.trust = Some(TrustSignature { depth: 10, amount: 60 });
    assert_eq!(fixture.human()[3], "sig 2 LRPNXT 0000000000000ABC 2024-01-02  Iris");
}

#[test]
fn a_trust_signature_tells_depth_amount_and_domain_in_its_record() {
    let mut fixture = fixture();
    fixture.signature.flags.exportable = false;
    fixture.signature.trust = Some(TrustSignature { depth: 1, amount: 120 });
    fixture.signature.trust_regexp = Some(b"<[^>]+[@.]example\\.org>$:".to_vec());
    let expected =
        "sig:::1:0000000000000ABC:1704153600::1 120:<[^>]+[@.]example\\x5c.org>$\\x3a:Iris:10l:::::8:";
    assert_eq!(fixture.record("sig"), expected);
}

#[test]
fn a_signature_s_end_is_shown_on_request_and_always_in_its_record() {
    let mut fixture = fixture();
    fixture.settings.flags.sig_expire = true;
    assert_eq!(fixture.human()[3], "sig          0000000000000ABC 2024-01-02 never       Iris");
    fixture.signature.expires = Some(day(5));
    assert_eq!(fixture.human()[3], "sig          0000000000000ABC 2024-01-02 2024-01-06  Iris");
    assert!(fixture.record("sig").contains(":1704153600:1704499200:"));
}

#[test]
fn only_an_issuer_without_key_gets_the_question_mark() {
    let mut fixture = fixture();
    fixture.issuer = IssuerName::NoKey;
    assert_eq!(fixture.human()[3], "sig          0000000000000ABC 2024-01-02  [User ID not found]");
    assert!(fixture.record("sig").starts_with("sig:?::1:"));
    fixture.issuer = IssuerName::NoUserId;
    assert!(fixture.record("sig").starts_with("sig:::1:"));
    assert!(fixture.record("sig").contains(":[User ID not found]:"));
}

#[test]
fn a_fast_listing_has_neither_names_nor_the_validity_of_keys() {
    let mut fixture = fixture();
    fixture.settings.fast = true;
    fixture.issuer = IssuerName::NotAsked;
    assert_eq!(fixture.human()[3], "sig          0000000000000ABC 2024-01-02  ");
    assert_eq!(fixture.record("sig"), "sig:::1:0000000000000ABC:1704153600:::::10x:::::8:");
    assert!(fixture.record("pub").starts_with("pub::3072:1:0C0D0E0F10111213:1704067200::::::sc"));
    assert!(fixture.record("uid").starts_with("uid:-:"));
}

#[test]
fn a_revocation_says_why_a_line_at_a_time() {
    let mut fixture = fixture();
    fixture.signature.kind = SignatureType::CERTIFICATION_REVOCATION;
    let comment = b"gone\n\nfor good:\x07".to_vec();
    fixture.signature.reason = Some(Box::new(RevocationReason { code: 0x20, comment }));
    assert_eq!(
        fixture.lines()[3..7],
        [
            "rev          0000000000000ABC 2024-01-02  Iris",
            "      reason for revocation: User ID is no longer valid",
            "         revocation comment: gone",
            "         revocation comment: for good:\\x07",
        ]
    );
    let expected =
        "rev:::1:0000000000000ABC:1704153600::::Iris:30x,20:::::8:::::gone\\n\\nfor good\\x3a\\x07:";
    assert_eq!(fixture.record("rev"), expected);
    fixture.settings.with_colons = false;
    fixture.signature.reason = Some(Box::new(RevocationReason { code: 0x64, comment: vec![] }));
    assert_eq!(fixture.lines()[4], "      reason for revocation: code=64");
}

#[test]
fn a_signature_that_does_not_belong_on_a_key_is_only_mentioned() {
    let mut fixture = fixture();
    fixture.signature.kind = SignatureType(0x02);
    let expected = "sig                             [unexpected signature class 0x02]";
    assert_eq!(fixture.human()[3], expected);
    assert_eq!(fixture.record("sig"), "sig::::::::::02x:");
}

#[test]
fn an_attribute_has_a_record_of_its_own() {
    let mut fixture = fixture();
    let subpackets = vec![AttributeSubpacket { kind: 100, length: 7, image: None }];
    fixture.attribute = Some(AttributeFacts { subpackets, name_hash: [0xab; 20], length: 9 });
    let hash = "AB".repeat(20);
    assert_eq!(fixture.record("uat"), format!("uat:-::::1704153600::{hash}::1 9::::::::::0:"));
}

#[test]
fn an_invalid_key_is_invalid_before_all_else() {
    let mut fixture = fixture();
    fixture.state = KeyState { valid: false, expired: true, ..fixture.state };
    assert!(fixture.record("pub").starts_with("pub:i:"));
    assert!(!fixture.record("pub").contains("scES"), "a key that is not usable adds no capabilities");
}

#[test]
fn designated_revokers_come_before_the_fingerprint() {
    let mut fixture = fixture();
    let fingerprint = Fingerprint::V4([0x11; 20]);
    let algorithm = PublicKeyAlgorithm::DSA;
    fixture.revokers = vec![Revoker { class: 0xc0, algorithm, fingerprint }];
    let digits = "11".repeat(20);
    assert_eq!(fixture.record("rvk"), format!("rvk:::17::::::{digits}:c0s:"));
    assert!(fixture.lines()[2].starts_with("fpr:"));
}

#[test]
fn validity_and_owner_trust_have_letters() {
    let mut fixture = fixture();
    fixture.trust.key = Validity::Ultimate;
    fixture.trust.owner = engine::listing::OwnerTrust::Marginal;
    fixture.trust.disabled = true;
    assert!(fixture.record("pub").starts_with("pub:u:"));
    assert!(fixture.record("pub").contains(":m:::scESCD:"));
    assert!(fixture.record("uid").starts_with("uid:u:"), "all user IDs of the user's own key are");
    assert!(fixture.record("sub").starts_with("sub:u:"));
    fixture.trust.owner = engine::listing::OwnerTrust::Expired;
    assert!(fixture.record("pub").contains(":e:::scESCD:"));
}

#[test]
fn only_mailboxes_that_hold_are_listed_by_themselves() {
    let mut fixture = fixture();
    fixture.settings.flags.only_fpr_mbox = true;
    assert_eq!(fixture.lines(), Vec::<String>::new(), "Uma has no address");
}

#[test]
fn a_checked_signature_has_a_mark_in_both_listings() {
    let mut fixture = fixture();
    let maker = Fingerprint::V4([7; 20]);
    let marks = [
        (CertificationStatus::Good(maker), "sig! ", "sig:!:", "Iris"),
        (CertificationStatus::Bad, "sig- ", "sig:-:", "Iris"),
        (
            CertificationStatus::Refused(Unverifiable::WeakDigest),
            "sig% ",
            "sig:%:",
            "[Invalid digest algorithm] ",
        ),
    ];
    for (standing, human, colons, name) in marks {
        fixture.standing = Some(standing);
        fixture.settings.with_colons = false;
        let line = fixture.human()[3].clone();
        assert!(line.starts_with(human) && line.ends_with(name), "{line}");
        fixture.settings.with_colons = true;
        let lines = fixture.lines();
        let line = lines.iter().find(|line| line.starts_with("sig:")).expect("a signature");
        assert!(line.starts_with(colons) && line.contains(name), "{line}");
    }
}

#[test]
fn a_signature_that_cannot_be_checked_for_want_of_a_key_is_in_the_colon_listing_only() {
    let mut fixture = fixture();
    fixture.standing = Some(CertificationStatus::NoIssuer);
    assert!(!fixture.lines().iter().any(|line| line.starts_with("sig")));
    fixture.settings.with_colons = true;
    let lines = fixture.lines();
    let line = lines.iter().find(|line| line.starts_with("sig:")).expect("a signature");
    assert!(line.starts_with("sig:?:") && !line.contains("Iris"), "{line}");
}

#[test]
fn without_the_cache_a_good_signature_names_the_key_that_made_it() {
    let mut fixture = fixture();
    fixture.settings.with_colons = true;
    fixture.standing = Some(CertificationStatus::Good(Fingerprint::V4([7; 20])));
    let made_by = |fixture: &Fixture| fixture.lines().iter().any(|line| line.contains(&"07".repeat(20)));
    assert!(!made_by(&fixture));
    fixture.settings.no_sig_cache = true;
    assert!(made_by(&fixture));
}
