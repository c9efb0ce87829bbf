//! Names of keys on the command line.

use engine::configuration::Compat;
use engine::store::query::{Name, NameError};
use engine::store::{CertId, Fingerprint, ReadCertificates};

use crate::code::Code;

/// The names of the keys that a command works on.
pub(crate) struct Names {
    names: Vec<Name>,
    refused: Vec<Refused>,
    none_given: bool,
}

/// An invalid name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refused {
    pub(crate) name: Vec<u8>,
    pub(crate) code: Code,
}

/// A certificate that was found, and the name that matched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hit {
    pub(crate) id: CertId,
    /// The index of the first name that matches.
    name: usize,
}

impl Names {
    /// Reads names. One that cannot match anything is dropped; an invalid one is refused.
    pub(crate) fn parse(names: &[Vec<u8>], compat: Compat) -> Self {
        let mut parsed = Self { names: Vec::new(), refused: Vec::new(), none_given: names.is_empty() };
        for name in names {
            match self::parsed(name, Code::NO_PUBLIC_KEY, compat) {
                Ok(name) => parsed.names.push(name),
                Err(Code::NO_PUBLIC_KEY) => {}
                Err(code) => parsed.refused.push(Refused { name: name.clone(), code }),
            }
        }
        parsed
    }

    /// Returns the invalid names.
    pub(crate) fn refused(&self) -> &[Refused] {
        &self.refused
    }

    /// Says whether no name was given at all.
    pub(crate) fn is_empty(&self) -> bool {
        self.none_given
    }

    /// Says whether a `!` at the end of a name asks for single subkeys.
    pub(crate) fn choose_subkeys(&self) -> bool {
        self.names.iter().any(|name| name.exact_key)
    }

    /// Finds the certificates that match one of the names, each once, in database order.
    pub(crate) fn find(&self, snapshot: &dyn ReadCertificates) -> engine::Result<Vec<Hit>> {
        let mut hits = Vec::new();
        for (name, parsed) in self.names.iter().enumerate() {
            hits.extend(snapshot.find(&parsed.query)?.into_iter().map(|id| Hit { id, name }));
        }
        hits.sort_by_key(|hit| (hit.id, hit.name));
        hits.dedup_by_key(|hit| hit.id);
        Ok(hits)
    }

    /// Returns which subkeys of a found certificate are selected: all of them (`None`), or those named with a `!` at the
    /// end.
    pub(crate) fn chosen_subkeys(&self, hit: Hit) -> Option<impl Fn(&Fingerprint) -> bool + '_> {
        let exact = |name: &&Name| name.exact_key;
        self.names.get(hit.name).filter(exact)?;
        Some(move |key: &Fingerprint| self.names.iter().filter(exact).any(|name| name.query.names_key(key)))
    }
}

/// Parses a name; fails with gpg's code, `unsearchable` for a name that cannot match anything, as fingerprints of version 3
/// since 2.4.
pub(crate) fn parsed(name: &[u8], unsearchable: Code, compat: Compat) -> Result<Name, Code> {
    Name::parse(name).map_err(|error| match error {
        NameError::Invalid => Code::INVALID_USER_ID,
        NameError::Version3 if compat < Compat::V2_4 => Code::INVALID_VALUE,
        NameError::Version3 | NameError::Unsearchable(_) => unsearchable,
    })
}

impl Refused {
    /// Returns the value for a status line: in gpg 2.2 the keybox refuses fingerprints of version 3.
    pub(crate) fn value(&self) -> u32 {
        if self.code == Code::INVALID_VALUE { self.code.with_keybox() } else { self.code.bare() }
    }
}
