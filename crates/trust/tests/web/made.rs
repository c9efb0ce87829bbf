//! Webs written down by hand: keys are small numbers.

use std::collections::{HashMap, HashSet};
use std::convert::Infallible;

use cert::facts::{SignatureType, TrustSignature};
use cert::{Fingerprint, Timestamp};
use keyhoard_trust::pgp::{
    Certificate, Certification, CertifiedUserId, Certifier, Interest, IntroducerStatus, Settings,
    TrustSignatures, Web, weigh,
};
use keyhoard_trust::{OwnerTrust, Validity};

/// The present of every test.
pub(crate) const NOW: Timestamp = Timestamp(1_000_000);

/// Returns the fingerprint of a key.
pub(crate) fn key(number: u8) -> Fingerprint {
    Fingerprint::V4([number; 20])
}

/// Returns GnuPG's defaults.
pub(crate) fn settings() -> Settings {
    Settings {
        now: NOW,
        marginals_needed: 3,
        completes_needed: 1,
        max_cert_depth: 5,
        min_cert_level: 2,
        trust_signatures: TrustSignatures::OverrideNever,
    }
}

/// A web.
#[derive(Clone, Debug, Default)]
pub(crate) struct Made {
    /// Certificates by their keys.
    pub(crate) certificates: HashMap<u8, MadeCertificate>,
    /// Owner trust that was given.
    pub(crate) trusts: HashMap<u8, OwnerTrust>,
    /// What does not matter any more is left out.
    pub(crate) thrifty: bool,
    /// What cannot become fully valid yet by these settings is held back.
    pub(crate) holds: Option<Settings>,
    interests: HashMap<u8, Interest>,
    asked: Vec<Certifier>,
    handed_out: HashSet<u8>,
}

/// A certificate.
#[derive(Clone, Debug)]
pub(crate) struct MadeCertificate {
    pub(crate) standing: IntroducerStatus,
    pub(crate) users: Vec<MadeUser>,
}

/// A user ID.
#[derive(Clone, Debug)]
pub(crate) struct MadeUser {
    pub(crate) live: bool,
    pub(crate) name: String,
    pub(crate) certifications: Vec<MadeCertification>,
}

/// A certification.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MadeCertification {
    pub(crate) issuer: u8,
    pub(crate) kind: u8,
    pub(crate) created: u32,
    pub(crate) expires: Option<u32>,
    pub(crate) revocable: bool,
    pub(crate) trust: Option<(u8, u8)>,
    pub(crate) regexp: Option<&'static str>,
}

/// Returns a certification like most are.
pub(crate) fn by(issuer: u8) -> MadeCertification {
    MadeCertification {
        issuer,
        kind: 0x13,
        created: 1000,
        expires: None,
        revocable: true,
        trust: None,
        regexp: None,
    }
}

impl MadeCertification {
    pub(crate) fn at(self, created: u32) -> Self {
        Self { created, ..self }
    }

    pub(crate) fn until(self, expires: u32) -> Self {
        Self { expires: Some(expires), ..self }
    }

    pub(crate) fn of_kind(self, kind: u8) -> Self {
        Self { kind, ..self }
    }

    pub(crate) fn for_ever(self) -> Self {
        Self { revocable: false, ..self }
    }

    pub(crate) fn trusting(self, depth: u8, amount: u8) -> Self {
        Self { trust: Some((depth, amount)), ..self }
    }

    pub(crate) fn within(self, regexp: &'static str) -> Self {
        Self { regexp: Some(regexp), ..self }
    }

    fn read(&self) -> Certification<'_> {
        Certification {
            issuer: key(self.issuer),
            kind: SignatureType(self.kind),
            created: Timestamp(self.created),
            expires: self.expires.map(Timestamp),
            revocable: self.revocable,
            trust: self.trust.map(|(depth, amount)| TrustSignature { depth, amount }),
            regexp: self.regexp.map(str::as_bytes),
        }
    }
}

impl Made {
    /// Adds a certificate with one user ID.
    pub(crate) fn with(self, number: u8, certifications: &[MadeCertification]) -> Self {
        self.with_users(number, &[certifications])
    }

    /// Adds a certificate with several user IDs, named "0", "1" and so on.
    pub(crate) fn with_users(mut self, number: u8, users: &[&[MadeCertification]]) -> Self {
        let users = users.iter().enumerate().map(|(place, certifications)| MadeUser {
            live: true,
            name: place.to_string(),
            certifications: certifications.to_vec(),
        });
        let certificate = MadeCertificate { standing: IntroducerStatus::Usable, users: users.collect() };
        self.certificates.insert(number, certificate);
        self
    }

    /// Gives the user ID of a certificate a name.
    pub(crate) fn named(mut self, number: u8, name: &str) -> Self {
        self.certificate_mut(number).users[0].name = name.to_owned();
        self
    }

    /// Changes how a key is doing.
    pub(crate) fn standing(mut self, number: u8, standing: IntroducerStatus) -> Self {
        self.certificate_mut(number).standing = standing;
        self
    }

    /// Makes a web of certificates and owner trust.
    pub(crate) fn of(certificates: HashMap<u8, MadeCertificate>, trusts: HashMap<u8, OwnerTrust>) -> Self {
        Self { certificates, trusts, ..Self::default() }
    }

    /// Says whether anything by these certifiers still matters of a certificate.
    fn matters(&self, number: u8, certifiers: &[Certifier]) -> bool {
        let weighs = |certification: &MadeCertification| {
            certifiers.iter().any(|one| one.weighs && one.key == key(certification.issuer))
        };
        match self.interests.get(&number) {
            Some(Interest::Nothing) => false,
            Some(Interest::Weighing) => {
                let mut users = self.certificates[&number].users.iter();
                users.any(|user| user.certifications.iter().any(weighs))
            }
            Some(Interest::All) | None => true,
        }
    }

    /// Revokes a user ID.
    pub(crate) fn dead_user(mut self, number: u8, place: usize) -> Self {
        self.certificate_mut(number).users[place].live = false;
        self
    }

    /// Gives owner trust.
    pub(crate) fn trusting(mut self, number: u8, trust: OwnerTrust) -> Self {
        self.trusts.insert(number, trust);
        self
    }

    fn certificate_mut(&mut self, number: u8) -> &mut MadeCertificate {
        self.certificates.get_mut(&number).expect("a certificate that was added")
    }

    fn makers(&self, of: &Fingerprint, wanted: &dyn Fn(&MadeCertification) -> bool) -> Vec<Fingerprint> {
        let users = self.certificates.get(&number(of)).into_iter().flat_map(|certificate| &certificate.users);
        let certifications = users.flat_map(|user| &user.certifications);
        certifications.filter(|one| wanted(one)).map(|one| key(one.issuer)).collect()
    }

    fn may_be_full(&self, number: u8) -> bool {
        let Some(settings) = &self.holds else { return true };
        let counts = |issuer: &Fingerprint| self.asked.iter().find(|one| one.key == *issuer)?.counts;
        let mut may_be = false;
        self.hand_out(number, &self.asked, &mut |certificate| {
            for user in certificate.users {
                may_be |= user.certifications.iter().any(|one| counts(&one.issuer).is_none());
                let trust = |issuer: &Fingerprint| counts(issuer).unwrap_or_default();
                may_be |= weigh(user.certifications, &trust, settings) == Validity::Full;
            }
        });
        may_be
    }

    fn hand_out(&self, number: u8, certifiers: &[Certifier], visit: &mut dyn FnMut(Certificate<'_>)) {
        let Some(certificate) = self.certificates.get(&number) else { return };
        let wanted = |certification: &Certification<'_>| {
            certifiers.iter().any(|certifier| certifier.key == certification.issuer)
        };
        let certifications: Vec<Vec<Certification<'_>>> = certificate
            .users
            .iter()
            .map(|user| user.certifications.iter().map(MadeCertification::read).filter(wanted).collect())
            .collect();
        let user = |(place, (user, certifications))| -> CertifiedUserId<'_> {
            let (user, certifications): (&MadeUser, &Vec<_>) = (user, certifications);
            CertifiedUserId {
                component: 1 + place,
                live: user.live,
                name: user.name.as_bytes().into(),
                certifications,
            }
        };
        let users: Vec<CertifiedUserId<'_>> =
            certificate.users.iter().zip(&certifications).enumerate().map(user).collect();
        if certifications.iter().any(|of_user| !of_user.is_empty()) {
            visit(Certificate { key: key(number), standing: certificate.standing, users: &users });
        }
    }
}

fn number(key: &Fingerprint) -> u8 {
    key.as_bytes()[0]
}

impl Web for Made {
    type Error = Infallible;

    fn owner_trust(&mut self, key: &Fingerprint) -> Result<OwnerTrust, Infallible> {
        Ok(self.trusts.get(&number(key)).copied().unwrap_or_default())
    }

    fn standing(&mut self, key: &Fingerprint) -> Result<Option<IntroducerStatus>, Infallible> {
        Ok(self.certificates.get(&number(key)).map(|certificate| certificate.standing))
    }

    fn certified_by(
        &mut self,
        certifiers: &[Certifier],
        visit: &mut dyn FnMut(Certificate<'_>) -> Interest,
    ) -> Result<(), Infallible> {
        let mut interests = HashMap::new();
        for &number in self.certificates.keys() {
            if !self.thrifty || self.matters(number, certifiers) {
                self.hand_out(number, certifiers, &mut |certificate| {
                    interests.insert(number, visit(certificate));
                });
            }
        }
        if self.thrifty {
            self.interests.extend(interests);
        }
        Ok(())
    }

    fn certified_enough(
        &mut self,
        certifiers: &[Certifier],
        visit: &mut dyn FnMut(Certificate<'_>) -> Interest,
    ) -> Result<(), Infallible> {
        if self.holds.is_none() {
            return self.certified_by(certifiers, visit);
        }
        self.asked.extend(certifiers);
        let numbers: Vec<u8> = self.certificates.keys().copied().collect();
        for number in numbers {
            if self.handed_out.contains(&number) {
                self.hand_out(number, certifiers, &mut |certificate| {
                    visit(certificate);
                });
            } else if self.may_be_full(number) {
                self.handed_out.insert(number);
                self.hand_out(number, &self.asked, &mut |certificate| {
                    visit(certificate);
                });
            }
        }
        Ok(())
    }

    fn certificate(
        &mut self,
        key: &Fingerprint,
        certifiers: &[Certifier],
        visit: &mut dyn FnMut(Certificate<'_>),
    ) -> Result<(), Infallible> {
        self.hand_out(number(key), certifiers, visit);
        Ok(())
    }

    fn certifiers(&mut self, of: &Fingerprint) -> Result<Vec<Fingerprint>, Infallible> {
        Ok(self.makers(of, &|_| true))
    }

    fn may_have_certified(&mut self, by: &Fingerprint, of: &Fingerprint) -> Result<bool, Infallible> {
        let is_certified = self.makers(of, &|_| true).contains(by);
        Ok(is_certified || number(of).is_multiple_of(3))
    }

    fn delegators(&mut self, of: &Fingerprint, depth: u8) -> Result<Vec<Fingerprint>, Infallible> {
        Ok(self.makers(of, &|certification| certification.trust.is_some_and(|trust| trust.0 >= depth)))
    }
}
