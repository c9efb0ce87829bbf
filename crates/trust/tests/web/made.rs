//! Webs written down by hand: keys are small numbers.

use std::collections::HashMap;
use std::convert::Infallible;

use cert::facts::{SignatureType, TrustSignature};
use cert::{Fingerprint, Timestamp};
use keyhoard_trust::pgp::{
    Certificate, CertificateUser, Certification, Edge, IntroducerStatus, Outcome, Settings, TrustSignatures,
    Web, certifies,
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
    /// By which certifications count; [`settings`] if there are none.
    pub(crate) rules: Option<Settings>,
    /// Leaves out every certification that [`Web::certified_by`] may leave out.
    pub(crate) is_sparing: bool,
}

/// A certificate.
#[derive(Clone, Debug)]
pub(crate) struct MadeCertificate {
    pub(crate) status: IntroducerStatus,
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

impl MadeUser {
    fn read((user, component): (&Self, usize)) -> CertificateUser {
        CertificateUser { component, live: user.live, name: user.name.as_bytes().into() }
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

    fn read(&self) -> Certification {
        Certification {
            issuer: key(self.issuer),
            kind: SignatureType(self.kind),
            created: Timestamp(self.created),
            expires: self.expires.map(Timestamp),
            revocable: self.revocable,
            trust: self.trust.map(|(depth, amount)| TrustSignature { depth, amount }),
            regexp: self.regexp.map(|regexp| regexp.as_bytes().into()),
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
        let certificate = MadeCertificate { status: IntroducerStatus::Usable, users: users.collect() };
        self.certificates.insert(number, certificate);
        self
    }

    /// Gives the user ID of a certificate a name.
    pub(crate) fn named(mut self, number: u8, name: &str) -> Self {
        self.certificate_mut(number).users[0].name = name.to_owned();
        self
    }

    /// Changes whether a key may certify.
    pub(crate) fn status(mut self, number: u8, status: IntroducerStatus) -> Self {
        self.certificate_mut(number).status = status;
        self
    }

    /// Makes a web of certificates and owner trust.
    pub(crate) fn of(certificates: HashMap<u8, MadeCertificate>, trusts: HashMap<u8, OwnerTrust>) -> Self {
        Self { certificates, trusts, ..Self::default() }
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

    /// Returns what some keys certified of a certificate.
    fn edges(&self, number: u8, issuers: &[Fingerprint]) -> Vec<Edge<u8>> {
        let users = self.certificates.get(&number).into_iter().flat_map(|certificate| &certificate.users);
        let mut edges = Vec::new();
        for (index, user) in users.enumerate() {
            let certifications = user.certifications.iter().map(MadeCertification::read);
            let asked = certifications.filter(|certification| issuers.contains(&certification.issuer));
            edges.extend(asked.map(|certification| Edge {
                certificate: number,
                component: index + 1,
                certification,
            }));
        }
        edges
    }

    /// Says whether what one key made of a user ID certifies it, and never expires.
    fn certifies_for_ever(&self, of_issuer: &[&Edge<u8>]) -> bool {
        let certifications: Vec<_> = of_issuer.iter().map(|edge| &edge.certification).collect();
        certifications.iter().all(|certification| certification.expires.is_none())
            && certifies(&certifications, &self.rules.unwrap_or_else(settings))
    }

    /// Returns what untrusted keys certified of a user ID, without what may be left out.
    fn spared(&self, of_user: &[Edge<u8>]) -> Vec<Edge<u8>> {
        let mut issuers: Vec<_> = of_user.iter().map(|edge| edge.certification.issuer).collect();
        issuers.sort_unstable();
        issuers.dedup();
        let of = |issuer| of_user.iter().filter(move |edge| edge.certification.issuer == issuer);
        let enough = issuers.iter().find(|issuer| self.certifies_for_ever(&of(**issuer).collect::<Vec<_>>()));
        let expires = |issuer| of(issuer).any(|edge| edge.certification.expires.is_some());
        let stays = |edge: &&Edge<u8>| {
            let issuer = edge.certification.issuer;
            enough.is_none_or(|enough| *enough == issuer) || expires(issuer)
        };
        of_user.iter().filter(stays).cloned().collect()
    }

    /// Returns the validity of a user ID by an outcome, which may not know whether it is live.
    pub(crate) fn validity(&self, outcome: &Outcome<u8>, number: u8, component: usize) -> Validity {
        let live = self.certificates.get(&number).is_some_and(|certificate| {
            certificate.status != IntroducerStatus::Dead
                && certificate.users.get(component - 1).is_some_and(|user| user.live)
        });
        outcome.validity(&key(number), number, component, live)
    }
}

fn number(key: &Fingerprint) -> u8 {
    key.as_bytes()[0]
}

impl Web for Made {
    type Error = Infallible;
    type Id = u8;

    fn owner_trust(&mut self, key: &Fingerprint) -> Result<OwnerTrust, Infallible> {
        Ok(self.trusts.get(&number(key)).copied().unwrap_or_default())
    }

    fn status(&mut self, key: &Fingerprint) -> Result<Option<IntroducerStatus>, Infallible> {
        Ok(self.certificates.get(&number(key)).map(|certificate| certificate.status))
    }

    fn certified_by(
        &mut self,
        trusted: &[Fingerprint],
        untrusted: &[Fingerprint],
        is_settled: &dyn Fn(u8) -> bool,
    ) -> Result<Vec<Edge<u8>>, Infallible> {
        let mut all = Vec::new();
        for (&number, certificate) in &self.certificates {
            if !self.is_sparing {
                all.extend(self.edges(number, &[trusted, untrusted].concat()));
                continue;
            }
            if certificate.status == IntroducerStatus::Dead || is_settled(number) {
                continue;
            }
            let mut edges = self.edges(number, trusted);
            let by_untrusted = self.edges(number, untrusted);
            edges
                .extend(by_untrusted.chunk_by(Edge::is_on_the_same).flat_map(|of_user| self.spared(of_user)));
            edges.retain(|edge| certificate.users[edge.component - 1].live);
            edges.sort_by_key(|edge| edge.component);
            all.extend(edges);
        }
        Ok(all)
    }

    fn certified_by_untrusted(
        &mut self,
        issuers: &[Fingerprint],
        is_settled: &dyn Fn(u8) -> bool,
    ) -> Result<Vec<(u8, usize)>, Infallible> {
        let edges = self.certified_by(&[], issuers, is_settled)?;
        let users = edges.chunk_by(Edge::is_on_the_same).filter(|of_user| {
            let certifications: Vec<_> = of_user.iter().map(|edge| &edge.certification).collect();
            certifies(&certifications, &self.rules.unwrap_or_else(settings))
        });
        Ok(users.map(|of_user| (of_user[0].certificate, of_user[0].component)).collect())
    }

    fn certificate(&mut self, number: u8) -> Result<Option<Certificate>, Infallible> {
        Ok(self.certificates.get(&number).map(|made| Certificate {
            key: key(number),
            status: made.status,
            users: made.users.iter().zip(1..).map(MadeUser::read).collect(),
        }))
    }

    fn certifications_of(
        &mut self,
        key: &Fingerprint,
        issuers: &[Fingerprint],
    ) -> Result<Vec<Edge<u8>>, Infallible> {
        Ok(self.edges(number(key), issuers))
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
