//! The life of a key: what its owner changes about it, and what others certify.
//!
//! An [`Editor`] reads a certificate, has the signatures made that a change takes, and hands them to an
//! [`import`](crate::import): the changed certificate goes through the same merge and under the same journal as one that
//! somebody sent, so that `undo` takes an edit back like an import. Nothing is written unless everything was signed.
//! With a [`Draft`], edits change a certificate in memory, which is written when the user is content with it.
//!
//! One file per action: [`Editor::add_user_id`], [`Editor::revoke_user_id`], [`Editor::set_primary_user_id`],
//! [`Editor::add_subkey`], [`Editor::set_expiry`], [`Editor::set_preferences`], [`Editor::certify`],
//! [`Editor::revoke_certification`], [`Editor::update_approvals`], [`Editor::revoke`] and [`Editor::revocation_certificate`].

mod add_decryption_subkey;
mod add_revoker;
mod add_subkey;
mod add_user_id;
mod approvals;
mod certify;
mod change;
mod designated_revocation;
mod draft;
mod editor;
mod expiry;
mod identities;
mod preferences;
mod primary_user_id;
mod refusal;
mod renew;
mod revocation_certificate;
mod revoke;
mod revoke_certification;
mod revoke_user_id;
pub(crate) mod self_signature;
mod target;

pub use add_subkey::NewSubkey;
pub use add_user_id::can_be_user_id;
pub use approvals::{ApprovableCertification, ApprovalUpdate, Certifiers, IdentityApprovals};
pub use certify::{
    Certification, CertificationObstacle, CertificationSubpacket, PlannedCertification, Recertify,
};
pub use draft::Draft;
pub use editor::{Edited, Editor};
pub use expiry::ExpiryTarget;
pub use preferences::NewPreferences;
pub use refusal::EditRefusal;
pub use renew::Alteration;
pub use revocation_certificate::armored;
pub use revoke::Revoked;
pub use revoke_certification::RevokedCertifications;
pub use target::{CertifiedIdentity, Subkey, Target, UserId};
