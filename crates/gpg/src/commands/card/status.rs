//! `--card-status`, and `list` of `--edit-card`.

use std::ops::ControlFlow;

use agent::card::Card;
use engine::cert::effective::{EvaluationContext, PacketView, evaluate};
use engine::store::{Detail, Fingerprint, Query, Selection};

use super::access::CardAccess;
use crate::keyrings::Keyrings;
use crate::render::card::{self, CardCertificate};
use crate::secrets::Secrets;
use crate::settings::Settings;
use crate::streams::Streams;

/// Shows the card in the reader, the card with a serial number, or `all`.
pub(crate) fn run(arguments: &[Vec<u8>], settings: &Settings, streams: &mut Streams) -> anyhow::Result<()> {
    match arguments {
        [] => show(&mut CardAccess::new(settings, streams), Destination::Out).map(drop),
        [wanted] => show_wanted(wanted, &mut CardAccess::new(settings, streams)),
        _ => {
            streams.usage("--card-status [serialno]");
            Ok(())
        }
    }
}

/// Where a card is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Destination {
    Out,
    /// The terminal; records go to standard output all the same.
    Terminal,
}

/// Shows one of the cards in all readers, or all of them, and goes back to the one that was chosen before.
fn show_wanted(wanted: &[u8], access: &mut CardAccess<'_>) -> anyhow::Result<()> {
    let verbose = access.settings.verbose > 0;
    // Without a card, the next command says so.
    let _ = access.find();
    let chosen = match access.send("SCD SERIALNO", None) {
        Ok((card, _)) => card.serial.unwrap_or_default(),
        Err(failure) => {
            if verbose {
                access.streams.info(format_args!("error getting serial number of card: {failure}"));
            }
            return Ok(());
        }
    };
    let is_all = wanted == b"all";
    let mut is_first = true;
    for serial in access.cards() {
        if !is_all && serial.as_bytes() != wanted {
            continue;
        }
        if !std::mem::take(&mut is_first) && !access.settings.list.with_colons {
            access.streams.out().write_all(b"\n")?;
        }
        if let Err(failure) = access.send(&format!("SCD SERIALNO --demand={serial}"), None) {
            if verbose {
                access.streams.info(format_args!("error getting serial number of card: {failure}"));
            }
            continue;
        }
        show(access, Destination::Out)?;
        if !is_all {
            return Ok(());
        }
    }
    // As in gpg, it does not matter whether that card is still there.
    let _ = access.send(&format!("SCD SERIALNO --demand={chosen}"), None);
    Ok(())
}

/// Shows the card in the reader; returns the serial number of an OpenPGP card.
pub(super) fn show(access: &mut CardAccess<'_>, destination: Destination) -> anyhow::Result<Option<String>> {
    let settings = &access.settings.list;
    let card = match access.learn() {
        Ok(card) => card,
        Err(failure) => {
            if settings.with_colons {
                access.streams.out().write_all(b"AID:::\n")?;
            }
            access.streams.error(format_args!("OpenPGP card not available: {failure}"));
            return Ok(None);
        }
    };
    let mut text = Vec::new();
    if settings.with_colons {
        card::colons(&card, settings, &mut text);
        access.streams.out().write_all(&text)?;
    } else {
        card::human(&card, settings, &mut text);
        put(access, destination, &text)?;
        if card.is_openpgp() {
            owner(&card, access, destination)?;
        }
    }
    Ok(card.serial.clone().filter(|_| card.is_openpgp()))
}

fn put(access: &mut CardAccess<'_>, destination: Destination, text: &[u8]) -> anyhow::Result<()> {
    match destination {
        Destination::Out => access.streams.out().write_all(text)?,
        Destination::Terminal => access.tell(text),
    }
    Ok(())
}

/// Shows the certificate of the card's keys.
fn owner(card: &Card, access: &mut CardAccess<'_>, destination: Destination) -> anyhow::Result<()> {
    let settings = access.settings;
    let first = card.keys.iter().map(|key| key.fingerprint.as_slice()).find(|bytes| !bytes.is_empty());
    let fingerprint = first.and_then(|bytes| bytes.try_into().ok()).map(Fingerprint::V4);
    let mut certificate = Vec::new();
    if let Some(fingerprint) = fingerprint {
        let keyrings = Keyrings::open(settings, access.streams)?;
        let secrets = Secrets::kept(settings)?;
        let moment = EvaluationContext::new(settings.now, PacketView::Gnupg)
            .with_digests(settings.self_signature_digests());
        for (_, snapshot) in keyrings.snapshots()?.iter() {
            let ids = snapshot.find(&Query::Fingerprint(fingerprint))?;
            snapshot.visit(Selection::Ids(&ids), Detail::Own, &mut |record| {
                let Some(facts) = &record.facts else { return ControlFlow::Continue(()) };
                access.streams.considered(&record.fingerprint);
                let effective = evaluate(facts, moment);
                let secret = secrets.parts(facts);
                let shown = CardCertificate { facts, effective: &effective, secret: &secret };
                shown.write(&fingerprint, &settings.list, &mut certificate);
                ControlFlow::Break(())
            })?;
            if !certificate.is_empty() {
                break;
            }
        }
    }
    if certificate.is_empty() {
        certificate.extend(b"[none]\n");
    } else if destination == Destination::Terminal {
        // As in gpg, the key begins a line there.
        certificate.insert(0, b'\n');
    }
    if card.manufacturer.is_none() {
        certificate.extend(
            b"\nThe maker of this card is unknown. If the listing looks wrong, try the command \"openpgp\"\n",
        );
    }
    put(access, destination, &certificate)
}
