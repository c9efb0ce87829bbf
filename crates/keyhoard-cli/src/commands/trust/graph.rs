//! `keyhoard trust graph`: draws the certifications on which the validity of a certificate depends.

mod picture;

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io::Write;

use engine::cert::Fingerprint;
use engine::cert::effective::PacketView;
use engine::listing::{OwnerTrust, Validity};
use engine::store::Selection;
use engine::validity::{Certifier, Explained, ExplainedUser, Explanation};

use super::explanations::explanations;
use crate::commands::named_certificates::NamedCertificates;
use crate::exit::Outcome;
use crate::naming;
use crate::printable::printable;
use crate::session::Session;
use crate::trust_options::WebOptions;
use picture::{Node, Picture};

/// The arguments of `keyhoard trust graph`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  keyhoard trust graph someone@debian.org > someone.svg
  keyhoard trust graph --most 20 0123456789ABCDEF > short.svg

An arrow is a certification that counts. Green keys are trusted to certify others, yellow ones marginally; the \
user's own are blue.")]
pub(super) struct Arguments {
    /// The certificate to draw.
    #[arg(value_name = "NAME")]
    name: OsString,

    /// Draw at most this many keys, the nearest ones.
    #[arg(long, value_name = "NUMBER", default_value_t = 100)]
    most: usize,

    #[command(flatten)]
    trust: WebOptions,
}

/// Writes an SVG picture.
pub(super) fn run(session: &mut Session, arguments: &Arguments) -> anyhow::Result<Outcome> {
    let settings = arguments.trust.settings(session.now, PacketView::Full)?;
    let store = session.open()?;
    let snapshot = store.snapshot()?;
    let id = NamedCertificates::find_one(snapshot.as_ref(), &arguments.name)?;
    let explanations = explanations(store.as_ref(), snapshot.as_ref(), Selection::Ids(&[id]), &settings)?;
    let Some(explanation) = explanations.first() else { return Ok(Outcome::Nothing) };
    let drawn = &explanation.certificates[..explanation.certificates.len().min(arguments.most.max(1))];
    if drawn.len() < explanation.certificates.len() {
        session.note(format_args!("{} more keys are left out", explanation.certificates.len() - drawn.len()));
    }
    session.output.write_all(draw(explanation, drawn).svg().as_bytes())?;
    Ok(Outcome::Done)
}

fn draw(explanation: &Explanation, drawn: &[Explained]) -> Picture {
    let index = |key: &Fingerprint| drawn.iter().position(|explained| explained.key == *key);
    let nodes = drawn.iter().map(|explained| node(explanation, explained)).collect();
    let edges = drawn.iter().enumerate().flat_map(|(to, explained)| {
        let introducers = explained.users.iter().flat_map(ExplainedUser::introducers);
        introducers.filter_map(move |issuer| Some((index(&issuer)?, to)))
    });
    Picture { nodes, edges: edges.collect::<BTreeSet<_>>().into_iter().collect() }
}

fn node(explanation: &Explanation, explained: &Explained) -> Node {
    let certifier = explanation.certifiers.get(&explained.key);
    let trust =
        certifier.and_then(|certifier| certifier.introducer.as_ref()).map(|introducer| introducer.trust);
    let validity = explained.users.iter().map(|user| user.validity).max().unwrap_or_default();
    let is_subject = explained.key == explanation.subject().key;
    let name = match certifier {
        Some(Certifier { name: Some(name), .. }) => printable(name),
        _ => explained.users.first().map_or_else(|| "no user ID".to_owned(), |user| printable(&user.name)),
    };
    let status = match trust.filter(|_| !is_subject) {
        Some(trust) => naming::owner_trust_phrase(trust).to_owned(),
        None => format!("validity: {}", validity.word()),
    };
    let colour = match (trust, validity) {
        (Some(OwnerTrust::Ultimate), _) | (_, Validity::Ultimate) => picture::BLUE,
        (Some(OwnerTrust::Full), _) if !is_subject => picture::GREEN,
        (Some(OwnerTrust::Marginal), _) if !is_subject => picture::YELLOW,
        _ => picture::WHITE,
    };
    Node { lines: vec![name, explained.key.key_id().to_string(), status], colour, is_bold: is_subject }
}
