//! What verifying signatures came to.

use std::fmt;
use std::time::SystemTime;

use engine::verification::{Conclusion, SignatureVerdict, WantedSigners};

use crate::time::from_timestamp;
use crate::{Fingerprint, KeyId, Status, Validity};

/// The verdicts on all signatures over one content, in their order.
#[derive(Clone, Debug, Default)]
#[must_use = "a signature that was not good is no error: ask are_good() or are_certain()"]
pub struct Verdicts {
    all: Vec<Verdict>,
    are_good: bool,
    are_certain: bool,
}

/// The verdict on one signature.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Verdict {
    /// Whether it is good, and if not, why.
    pub status: Status,
    /// How certain it is that the key belongs to whom its certificate names; unknown unless the signature is good.
    pub validity: Validity,
    /// The certificate's primary key.
    pub certificate: Option<Fingerprint>,
    /// The key that made the signature, or where it is bad the one that it names.
    pub key: Option<Fingerprint>,
    /// The certificate's primary user ID, with control characters escaped.
    pub user_id: Option<String>,
    /// The key ID that the signature names: a hint.
    pub issuer: Option<KeyId>,
    /// The fingerprint that the signature names: a hint.
    pub issuer_fingerprint: Option<Fingerprint>,
    /// When it was made, as it says.
    pub created: Option<SystemTime>,
    /// When it expires, as it says.
    pub expires: Option<SystemTime>,
    /// The hash algorithm, such as `SHA512`.
    pub hash: Option<String>,
    /// Its notations, where they are text: names and values.
    pub notations: Vec<(String, String)>,
}

impl Verdicts {
    pub(crate) fn of(verdicts: &[SignatureVerdict]) -> Self {
        let conclusion = Conclusion::of(verdicts, &WantedSigners::Anybody);
        Self {
            all: verdicts.iter().map(Verdict::of).collect(),
            are_good: conclusion.holds(false),
            are_certain: conclusion.holds(true),
        }
    }

    /// Says whether the content was signed as it is: at least one signature is good, and none is bad. It does not say by
    /// whom: see [`Verdicts::are_certain`], or compare [`Verdict::certificate`].
    pub fn are_good(&self) -> bool {
        self.are_good
    }

    /// Says whether that is so and the certificate of a good signature is fully valid: somebody trusted says whose it is.
    pub fn are_certain(&self) -> bool {
        self.are_certain
    }

    /// Returns those of good signatures.
    pub fn good(&self) -> impl Iterator<Item = &Verdict> {
        self.all.iter().filter(|verdict| verdict.is_good())
    }

    /// Returns all.
    pub fn iter(&self) -> std::slice::Iter<'_, Verdict> {
        self.all.iter()
    }

    /// Returns their number.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Says whether there was no signature.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }
}

impl<'v> IntoIterator for &'v Verdicts {
    type Item = &'v Verdict;
    type IntoIter = std::slice::Iter<'v, Verdict>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl Verdict {
    fn of(verdict: &SignatureVerdict) -> Self {
        let SignatureVerdict { examined, status, trust } = verdict;
        let signer = examined.signer.candidate();
        let said = examined.statement.as_ref();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let notations = said.into_iter().flat_map(|said| &said.notations).filter(|one| one.readable);
        Self {
            status: *status,
            validity: if *status == Status::Good { trust.key } else { Validity::Unknown },
            certificate: signer.map(|signer| signer.primary()),
            key: signer.map(|signer| signer.key().fingerprint),
            user_id: signer.and_then(|signer| signer.user_id()).map(engine::foreign_text::shown),
            issuer: said.map(|said| said.issuer.key_id),
            issuer_fingerprint: said.and_then(|said| said.issuer.fingerprint),
            created: said.map(|said| from_timestamp(said.created)),
            expires: said.and_then(|said| said.expires).map(from_timestamp),
            hash: said
                .map(|said| said.hash)
                .map(|hash| hash.name().map_or_else(|| format!("digest-{}", hash.0), str::to_owned)),
            notations: notations.map(|one| (text(&one.name), text(&one.value))).collect(),
        }
    }

    /// Says whether the signature is over this content, by a key that could sign when it was made.
    pub fn is_good(&self) -> bool {
        self.status == Status::Good
    }

    /// Says whether it is good and the certificate is fully valid.
    pub fn is_certain(&self) -> bool {
        self.is_good() && self.validity >= Validity::Full
    }
}

/// Shows a line for people.
impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.status)?;
        if let Some(user_id) = &self.user_id {
            write!(f, ": {user_id}")?;
        }
        if let Some(certificate) = &self.certificate {
            write!(f, " ({certificate})")?;
        } else if let Some(issuer) = &self.issuer {
            write!(f, " ({issuer})")?;
        }
        if self.is_good() { write!(f, ", validity {}", self.validity.word()) } else { Ok(()) }
    }
}

/// Shows a line for each.
impl fmt::Display for Verdicts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, verdict) in self.iter().enumerate() {
            write!(f, "{}{verdict}", if index == 0 { "" } else { "\n" })?;
        }
        Ok(())
    }
}
