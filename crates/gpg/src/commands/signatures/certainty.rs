//! Reports how certain it is that the key of a signature belongs to the person that its user ID names.

use engine::cert::effective::ComponentState;
use engine::cert::facts::ComponentKind;
use engine::cert::mailbox::mailbox;
use engine::configuration::Compat;
use engine::listing::UserTrust;
use engine::trust::Validity;
use engine::validity::Model;
use engine::verification::{CandidateSigner, SignatureContents};

use crate::commands::first_use;
use crate::render::identity::grouped;
use crate::settings::Settings;
use crate::settings::trust::model_name;
use crate::streams::Streams;

/// Reports the validity of the key.
pub(super) fn report(
    settings: &Settings,
    streams: &mut Streams,
    statement: &SignatureContents,
    signer: &CandidateSigner,
    trust: &UserTrust,
) {
    if settings.trust_model == Model::Always {
        if !settings.quiet {
            streams.info("WARNING: Using untrusted key!");
        }
        return;
    }
    if signer.component > 0 {
        streams.considered(&signer.primary());
    }
    if signer.effective.primary().revoked.is_some() {
        streams.status("KEYREVOKED");
        streams.info("WARNING: This key has been revoked by its owner!");
        streams.info("         This could mean that the signature is forged.");
    } else if signer.state().revoked.is_some() {
        streams.status("KEYREVOKED");
        streams.info("WARNING: This subkey has been revoked by its owner!");
    }
    if trust.disabled {
        streams.info("Note: This key has been disabled.");
    }
    if signer.state().expired {
        streams.info("Note: This key has expired!");
        return report_fingerprint(streams, signer);
    }
    let named = named(settings, statement, signer);
    let (level, whose) = match &named {
        None => (trust.key, "This key is"),
        Some(Named { user_id: Some(index), .. }) => (trust.of_component(*index), "The key's User ID is"),
        Some(Named { address, user_id: None }) => {
            if !settings.quiet {
                streams.info(format_args!("issuer \"{address}\" does not match any User ID"));
            }
            (Validity::Undefined, "The key's User ID is")
        }
    };
    let not_certified = format!("WARNING: {whose} not certified with a trusted signature!");
    let hardly_certified = format!("WARNING: {whose} not certified with sufficiently trusted signatures!");
    let (keyword, lines): (_, &[&str]) = match level {
        Validity::Unknown | Validity::Undefined => (
            "TRUST_UNDEFINED",
            &[&not_certified, "         There is no indication that the signature belongs to the owner."],
        ),
        Validity::Never => (
            "TRUST_NEVER",
            &["WARNING: We do NOT trust this key!", "         The signature is probably a FORGERY."],
        ),
        Validity::Marginal => (
            "TRUST_MARGINAL",
            &[&hardly_certified, "         It is not certain that the signature belongs to the owner."],
        ),
        Validity::Full => ("TRUST_FULLY", &[]),
        Validity::Ultimate => ("TRUST_ULTIMATE", &[]),
    };
    let model = match settings.trust_model {
        Model::TofuPgp if first_use::decides(settings, trust) => "tofu",
        Model::TofuPgp => "pgp",
        model => model_name(model),
    };
    let address = named.map(|named| format!(" {}", named.address)).unwrap_or_default();
    streams.status(format!("{keyword} 0 {model}{address}"));
    lines.iter().for_each(|line| streams.info(line));
    if matches!(level, Validity::Unknown | Validity::Undefined | Validity::Marginal) {
        report_fingerprint(streams, signer);
    }
}

/// The mail address that a signature names as its signer's.
struct Named {
    address: String,
    /// The index of the newest valid user ID with it.
    user_id: Option<usize>,
}

/// Returns the mail address that the signature names, which since 2.4 decides how certain it is.
fn named(settings: &Settings, statement: &SignatureContents, signer: &CandidateSigner) -> Option<Named> {
    let address = mailbox(statement.user_id.as_deref()?).filter(|_| settings.compat >= Compat::V2_4)?;
    let components = signer.certificate.facts.components.iter().zip(&signer.effective.components).enumerate();
    let valid = components.filter_map(|(index, (component, state))| match (&component.kind, state) {
        (ComponentKind::UserId(value), ComponentState::User(state)) if !state.revoked && !state.expired => {
            let created = state.created.filter(|_| mailbox(value).as_ref() == Some(&address))?;
            Some((created, index))
        }
        _ => None,
    });
    // The first of several that are as new.
    let user_id = valid.rev().max_by_key(|(created, _)| *created).map(|(_, index)| index);
    Some(Named { address: String::from_utf8_lossy(&address).into_owned(), user_id })
}

fn report_fingerprint(streams: &mut Streams, signer: &CandidateSigner) {
    let mut line = b"Primary key fingerprint: ".to_vec();
    grouped(&signer.primary(), &mut line);
    streams.continue_info(&line);
    if signer.component > 0 {
        let mut line = b"     Subkey fingerprint: ".to_vec();
        grouped(&signer.key().fingerprint, &mut line);
        streams.continue_info(&line);
    }
}
