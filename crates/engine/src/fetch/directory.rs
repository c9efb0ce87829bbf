//! A Web Key Directory: the files that a web server offers as they are.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use cert::{Fingerprint, Timestamp};
use network::wkd::{Address, WELL_KNOWN, encoded_domain};
use store::{CertId, ReadCertificates};

use super::answer::with_address;
use super::published::{PUBLIC, addresses, each, public_part};
use crate::export::ExportOptions;
use crate::output_file::{Content, Existing, OutputFile};
use crate::{Error, Result};

/// For which of the two methods a directory is (draft-koch-openpgp-webkey-service, 3.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DirectoryLayout {
    /// The advanced one: a server `openpgpkey.` of each domain; domains lie side by side.
    #[default]
    Advanced,
    /// The direct one: the domain's own web server. There can only be one domain.
    Direct,
}

/// What is written to a directory.
#[derive(Clone, Debug, Default)]
pub struct DirectoryOptions {
    /// The method.
    pub layout: DirectoryLayout,
    /// The domains; addresses of others are left out. All, if there is none.
    pub domains: Vec<String>,
}

/// The keys of an address in a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenKey {
    /// The address.
    pub address: String,
    /// The file.
    pub path: PathBuf,
    /// The certificates in it.
    pub certificates: Vec<Fingerprint>,
}

/// Writes certificates to a directory: for each address in their valid user IDs a file with the certificates that have
/// it, each with the user IDs of the address alone and without certifications by others; and for each domain an empty
/// policy file, unless there is one. A file of an address that is there is replaced.
///
/// # Errors
///
/// The database's errors, those of writing, and [`network::Error::Address`] for several domains where only one can be.
pub fn write_directory(
    snapshot: &dyn ReadCertificates,
    ids: &[CertId],
    directory: &Path,
    options: &DirectoryOptions,
    now: Timestamp,
) -> Result<Vec<WrittenKey>> {
    let mut files: BTreeMap<String, (Address, Vec<u8>, Vec<Fingerprint>)> = BTreeMap::new();
    let domains = encoded_domains(&options.domains)?;
    let export = ExportOptions { certifications: false, attributes: false, ..PUBLIC };
    each(snapshot, ids, &mut |fingerprint, certificate| {
        let certificate = public_part(&certificate, &export);
        let mut seen = BTreeSet::new();
        for text in addresses(&certificate, now) {
            // What is no address of mail on the internet has no directory.
            let Ok(address) = Address::parse(&text) else { continue };
            if !domains.is_empty() && !domains.iter().any(|domain| domain == address.domain()) {
                continue;
            }
            let text = address.to_string();
            // With its domain as written and as encoded, an address is the same.
            if !seen.insert(text.clone()) {
                continue;
            }
            let own = with_address(&certificate, text.as_bytes());
            let (_, bytes, fingerprints) = files.entry(text).or_insert((address, Vec::new(), Vec::new()));
            bytes.extend_from_slice(&own.bytes);
            fingerprints.push(fingerprint);
        }
        Ok(())
    })?;
    refuse_several_domains(&files, options.layout)?;
    let written = files.into_iter().map(|(text, (address, bytes, certificates))| {
        let domain = place(directory, &address, options.layout);
        let path = domain.join("hu").join(address.hash());
        make_directory(&domain.join("hu"))?;
        write_file(&path, &bytes)?;
        let policy = domain.join("policy");
        if !policy.exists() {
            write_file(&policy, b"")?;
        }
        Ok(WrittenKey { address: text, path, certificates })
    });
    written.collect()
}

/// Returns the domains as they are in addresses.
fn encoded_domains(domains: &[String]) -> Result<Vec<String>> {
    let encoded = domains.iter().map(|text| {
        let wrong = || network::Error::Address { text: text.clone(), reason: "not a domain" };
        Ok(encoded_domain(text).ok_or_else(wrong)?)
    });
    encoded.collect()
}

fn refuse_several_domains(
    files: &BTreeMap<String, (Address, Vec<u8>, Vec<Fingerprint>)>,
    layout: DirectoryLayout,
) -> Result<()> {
    let mut domains = files.values().map(|(address, ..)| address.domain());
    let first = domains.next();
    match domains.find(|domain| Some(*domain) != first) {
        Some(text) if layout == DirectoryLayout::Direct => {
            let reason =
                "a second domain; with the direct method a directory has one domain: give it with --domain";
            Err(network::Error::Address { text: text.to_owned(), reason }.into())
        }
        _ => Ok(()),
    }
}

fn place(directory: &Path, address: &Address, layout: DirectoryLayout) -> PathBuf {
    let well_known = directory.join(WELL_KNOWN);
    match layout {
        DirectoryLayout::Advanced => well_known.join(address.domain()),
        DirectoryLayout::Direct => well_known,
    }
}

fn make_directory(path: &Path) -> Result<()> {
    fs::create_dir_all(path).map_err(|source| Error::File { path: path.to_owned(), source })
}

fn write_file(path: &Path, bytes: &[u8]) -> Result<()> {
    let failed = |source| Error::File { path: path.to_owned(), source };
    let mut file = OutputFile::create(path, Content::Ordinary, Existing::Replaced, &[]).map_err(failed)?;
    file.write_all(bytes).map_err(failed)?;
    file.commit().map_err(failed)
}
