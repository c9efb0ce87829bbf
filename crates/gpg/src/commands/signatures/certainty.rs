//! Reports how certain it is that the key of a signature belongs to the person that its user ID names.

use engine::listing::UserTrust;
use engine::trust::Validity;
use engine::validity::Model;
use engine::verification::CandidateSigner;

use crate::commands::first_use;
use crate::render::identity::grouped;
use crate::settings::Settings;
use crate::settings::trust::model_name;
use crate::streams::Streams;

/// Reports the validity of the key.
pub(super) fn report(
    settings: &Settings,
    streams: &mut Streams,
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
    let (keyword, lines): (_, &[&str]) = match trust.key {
        Validity::Unknown | Validity::Undefined => (
            "TRUST_UNDEFINED",
            &[
                "WARNING: This key is not certified with a trusted signature!",
                "         There is no indication that the signature belongs to the owner.",
            ],
        ),
        Validity::Never => (
            "TRUST_NEVER",
            &["WARNING: We do NOT trust this key!", "         The signature is probably a FORGERY."],
        ),
        Validity::Marginal => (
            "TRUST_MARGINAL",
            &[
                "WARNING: This key is not certified with sufficiently trusted signatures!",
                "         It is not certain that the signature belongs to the owner.",
            ],
        ),
        Validity::Full => ("TRUST_FULLY", &[]),
        Validity::Ultimate => ("TRUST_ULTIMATE", &[]),
    };
    let model = match settings.trust_model {
        Model::TofuPgp if first_use::decides(settings, trust) => "tofu",
        Model::TofuPgp => "pgp",
        model => model_name(model),
    };
    streams.status(format!("{keyword} 0 {model}"));
    lines.iter().for_each(|line| streams.info(line));
    if matches!(trust.key, Validity::Unknown | Validity::Undefined | Validity::Marginal) {
        report_fingerprint(streams, signer);
    }
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
