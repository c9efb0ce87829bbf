//! What is told of how certain it is whose the key of a signature is.

use keyhoard::listing::UserTrust;
use keyhoard::trust::Validity;
use keyhoard::verification::CandidateSigner;

use crate::commands::Session;
use crate::commands::first_use;
use crate::render::identity::grouped;
use crate::settings::TrustModel;
use crate::status::SignatureStatus;

/// Tells how certain it is whose the key is.
pub(super) fn tell(session: &mut Session<'_>, maker: &CandidateSigner, trust: &UserTrust) {
    if session.settings.trust_model == TrustModel::Always {
        if !session.settings.quiet {
            session.streams.info("WARNING: Using untrusted key!");
        }
        return;
    }
    if maker.component > 0 {
        session.considered(&maker.primary());
    }
    if maker.effective.primary().revoked.is_some() {
        session.tell_signature(SignatureStatus::KeyRevoked);
        session.streams.info("WARNING: This key has been revoked by its owner!");
        session.streams.info("         This could mean that the signature is forged.");
    } else if maker.state().revoked.is_some() {
        session.tell_signature(SignatureStatus::KeyRevoked);
        session.streams.info("WARNING: This subkey has been revoked by its owner!");
    }
    if trust.disabled {
        session.streams.info("Note: This key has been disabled.");
    }
    if maker.state().expired {
        session.streams.info("Note: This key has expired!");
        return tell_fingerprint(session, maker);
    }
    let (keyword, lines) = match trust.key {
        Validity::Unknown | Validity::Undefined => (
            "TRUST_UNDEFINED",
            [
                "WARNING: This key is not certified with a trusted signature!",
                "         There is no indication that the signature belongs to the owner.",
            ],
        ),
        Validity::Never => (
            "TRUST_NEVER",
            ["WARNING: We do NOT trust this key!", "         The signature is probably a FORGERY."],
        ),
        Validity::Marginal => (
            "TRUST_MARGINAL",
            [
                "WARNING: This key is not certified with sufficiently trusted signatures!",
                "         It is not certain that the signature belongs to the owner.",
            ],
        ),
        Validity::Full => ("TRUST_FULLY", ["", ""]),
        Validity::Ultimate => ("TRUST_ULTIMATE", ["", ""]),
    };
    let model = match session.settings.trust_model {
        TrustModel::Classic => "classic",
        TrustModel::Direct => "direct",
        TrustModel::Tofu => "tofu",
        TrustModel::TofuPgp if first_use::decides(session, trust) => "tofu",
        _ => "pgp",
    };
    session.tell_signature(SignatureStatus::Trust { keyword, model });
    for line in lines.iter().filter(|line| !line.is_empty()) {
        session.streams.info(line);
    }
    if matches!(trust.key, Validity::Unknown | Validity::Undefined | Validity::Marginal) {
        tell_fingerprint(session, maker);
    }
}

fn tell_fingerprint(session: &mut Session<'_>, maker: &CandidateSigner) {
    let mut line = b"Primary key fingerprint: ".to_vec();
    grouped(&maker.primary(), &mut line);
    session.streams.continue_info(&line);
    if maker.component > 0 {
        let mut line = b"     Subkey fingerprint: ".to_vec();
        grouped(&maker.key().fingerprint, &mut line);
        session.streams.continue_info(&line);
    }
}
