//! What is sent to keyservers.

use std::io::Write;
use std::ops::ControlFlow;

use cert::armor_writer::ArmorWriter;
use cert::certificate::{Certificate, Retained};
use cert::effective::{ComponentState, EvaluationContext, PacketView, evaluate};
use cert::facts::ComponentKind;
use cert::mailbox::mailbox;
use cert::{Fingerprint, Timestamp};
use network::keyserver::{self, Submission};
use network::{Client, Keyserver};
use store::{CertId, Detail, ReadCertificates, Selection};

use crate::export::ExportOptions;
use crate::stored::try_visit;
use crate::{Error, Result};

/// What is published: nothing that could not be read, since it may be a local signature.
pub(super) const PUBLIC: ExportOptions = ExportOptions {
    local_signatures: false,
    superseded: true,
    attributes: true,
    sensitive_revokers: false,
    certifications: true,
    unreadable: false,
};

/// A certificate that was sent, and what became of it.
#[derive(Debug)]
pub struct Published {
    /// The certificate.
    pub fingerprint: Fingerprint,
    /// What the server says.
    pub outcome: network::Result<Submission>,
}

/// Sends certificates to a server, one after the other, without local signatures.
///
/// # Errors
///
/// The database's errors.
pub fn publish(
    snapshot: &dyn ReadCertificates,
    ids: &[CertId],
    server: &Keyserver,
    client: &Client,
    now: Timestamp,
) -> Result<Vec<Published>> {
    let mut published = Vec::new();
    each(snapshot, ids, &mut |fingerprint, certificate| {
        let certificate = public_part(&certificate, &PUBLIC);
        let armored = armored(&certificate.bytes)?;
        let addresses = addresses(&certificate, now);
        let name = fingerprint.to_string();
        let sent =
            keyserver::Certificate { fingerprint: &name, packets: &certificate.bytes, armored: &armored };
        let outcome = server.submit(client, sent, &addresses);
        published.push(Published { fingerprint, outcome });
        Ok(())
    })?;
    Ok(published)
}

/// Returns what of a certificate is published: user IDs, attributes and subkeys only with a signature that is, so that
/// one that has local signatures alone stays here.
pub(super) fn public_part(certificate: &Certificate, options: &ExportOptions) -> Certificate {
    certificate.retain(|asked| match asked {
        Retained::Component(component) => {
            options.keep_component(component)
                && component.signatures.iter().any(|signature| options.keep_signature(signature))
        }
        Retained::Signature(_, signature) => options.keep_signature(signature),
        Retained::Unread(..) => options.unreadable,
    })
}

/// Visits certificates with their bytes.
pub(super) fn each(
    snapshot: &dyn ReadCertificates,
    ids: &[CertId],
    visit: &mut dyn FnMut(Fingerprint, Certificate) -> Result<()>,
) -> Result<()> {
    try_visit(snapshot, Selection::Ids(ids), Detail::Bytes, &mut |record| {
        if let (Some(facts), Some(bytes)) = (record.facts, record.bytes) {
            visit(record.fingerprint, Certificate { bytes, facts })?;
        }
        Ok(ControlFlow::Continue(()))
    })
}

/// Returns the addresses in the valid user IDs of a certificate, each once.
pub(super) fn addresses(certificate: &Certificate, now: Timestamp) -> Vec<String> {
    let effective = evaluate(&certificate.facts, EvaluationContext::new(now, PacketView::Full));
    let mut addresses: Vec<String> = Vec::new();
    for (component, state) in certificate.facts.components.iter().zip(&effective.components) {
        if let (ComponentKind::UserId(user_id), ComponentState::User(user)) = (&component.kind, state)
            && user.created.is_some()
            && let Some(Ok(address)) = mailbox(user_id).map(String::from_utf8)
            && !addresses.contains(&address)
        {
            addresses.push(address);
        }
    }
    addresses
}

fn armored(packets: &[u8]) -> Result<Vec<u8>> {
    let mut writer = ArmorWriter::titled(Vec::new(), "PUBLIC KEY BLOCK");
    writer.write_all(packets).map_err(Error::Output)?;
    writer.finish().map_err(Error::Output)
}
