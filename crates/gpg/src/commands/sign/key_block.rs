//! `--include-key-block`: the signer's certificate, as it is put into signatures.

use engine::cert::certificate::Certificate;
use engine::cert::effective::{ComponentState, EvaluationContext, PacketView, Usage, evaluate};
use engine::cert::facts::ComponentKind;
use engine::cert::mailbox::mailbox;
use engine::compact::compact;
use engine::export::{ExportOptions, Preparation, export};
use engine::signing_keys::SigningKey;
use engine::store::{CertId, Query, Selection};

use crate::commands::checks::checker_for_clean;
use crate::filter_properties;
use crate::keyrings::Keyrings;
use crate::settings::Settings;

/// Returns the certificate of a key, as gpg reduces it: the user ID with this mail address or else the primary one, this
/// key and those that encrypt, each with its newest self-signature.
pub(super) fn key_block(
    settings: &Settings,
    keyrings: &Keyrings,
    signer: &SigningKey,
    address: Option<&[u8]>,
) -> anyhow::Result<Vec<u8>> {
    let options = ExportOptions { superseded: false, unreadable: false, ..ExportOptions::default() };
    let compaction = settings.compaction(true, true);
    let mut block = Vec::new();
    for (_, snapshot) in keyrings.snapshots()?.iter() {
        let snapshot = snapshot.as_ref();
        let mut checker = checker_for_clean(snapshot, settings);
        let mut reduce = |_: CertId, certificate: Certificate| {
            let certificate = compact(&certificate, &mut checker, &compaction, settings.now)?;
            let facts = &certificate.facts;
            let effective = evaluate(facts, EvaluationContext::new(settings.now, PacketView::Gnupg));
            let components = facts.components.iter().zip(&effective.components);
            let kept = components.map(|(component, state)| match (&component.kind, state) {
                (ComponentKind::UserId(name), ComponentState::User(state)) => match address {
                    Some(address) => mailbox(name).is_some_and(|it| it.eq_ignore_ascii_case(address)),
                    None => state.primary,
                },
                (ComponentKind::Key(key), ComponentState::Key(state)) => {
                    [signer.primary, signer.key].contains(&key.fingerprint)
                        || state.usage.contains(Usage::ENCRYPT)
                }
                _ => false,
            });
            let kept: Vec<bool> = kept.collect();
            Ok(filter_properties::retain(&certificate, &kept))
        };
        let ids = snapshot.find(&Query::Fingerprint(signer.primary))?;
        export(
            snapshot,
            Selection::Ids(&ids),
            &options,
            Some(&mut reduce as &mut Preparation<'_>),
            &mut block,
            |_| {},
        )?;
        if !block.is_empty() {
            break;
        }
    }
    Ok(block)
}
