//! Reading colon listings (GnuPG's doc/DETAILS).

/// One record of a colon listing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record<'a> {
    fields: Vec<&'a [u8]>,
}

impl<'a> Record<'a> {
    /// Returns the record's type: `pub`, `uid`, `fpr` and so on.
    pub fn kind(&self) -> &'a str {
        std::str::from_utf8(self.fields[0]).unwrap_or("")
    }

    /// Returns a field by its number in doc/DETAILS, counted from 1, as it stands there; empty if it is missing.
    pub fn field(&self, number: usize) -> &'a [u8] {
        self.fields.get(number - 1).copied().unwrap_or(b"")
    }

    /// Returns a field as text.
    pub fn text(&self, number: usize) -> String {
        String::from_utf8_lossy(self.field(number)).into_owned()
    }

    /// Returns a field with its escapes (`\x3a` for a colon) resolved: a user ID's bytes.
    pub fn unescaped(&self, number: usize) -> Vec<u8> {
        let mut rest = self.field(number);
        let mut bytes = Vec::with_capacity(rest.len());
        while let Some((&first, behind)) = rest.split_first() {
            let escaped = behind.strip_prefix(b"x").and_then(|hex| hex.get(..2)).filter(|_| first == b'\\');
            let byte = escaped.and_then(|hex| u8::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok());
            bytes.push(byte.unwrap_or(first));
            rest = if byte.is_some() { &behind[3..] } else { behind };
        }
        bytes
    }
}

/// Reads the records of a colon listing.
pub fn records(listing: &[u8]) -> Vec<Record<'_>> {
    let lines = listing.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
    lines.map(|line| Record { fields: line.split(|&byte| byte == b':').collect() }).collect()
}

/// Splits a colon listing into certificates: each begins with its `pub` record. What stands before the first
/// is left out.
pub fn certificates(listing: &[u8]) -> Vec<String> {
    let mut certificates: Vec<String> = Vec::new();
    for line in String::from_utf8_lossy(listing).split_inclusive('\n') {
        if line.starts_with("pub:") {
            certificates.push(String::new());
        }
        if let Some(certificate) = certificates.last_mut() {
            certificate.push_str(line);
        }
    }
    certificates
}
