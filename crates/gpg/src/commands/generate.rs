//! `--quick-generate-key`, `--generate-key` and `--full-generate-key`.

pub(super) mod defaults;
pub(super) mod make;
mod parameter_file;
pub(super) mod quick;

use std::cell::RefCell;

use agent::card_key::CardUse;

use crate::commands::card::existing;
use crate::commands::existing_key;
use crate::generation::dialogue::{self, Answer, HeldKeys};
use crate::generation::{Family, Kind, Material};
use crate::secrets::secret_keys;
use crate::settings::Settings;
use crate::streams::Streams;
use defaults::defaults;
use make::{AgentKeys, Order, is_forbidden, report_failure};

/// Generates keys from a parameter file or a dialogue; a `full` dialogue asks for everything.
pub(super) fn run(
    arguments: &[Vec<u8>],
    settings: &Settings,
    streams: &mut Streams,
    full: bool,
) -> anyhow::Result<()> {
    let name = if full { "--full-generate-key" } else { "--generate-key" };
    let most = usize::from(settings.batch);
    if arguments.len() > most {
        let parameter_file = if most == 1 { " [parameterfile]" } else { "" };
        streams.usage(&format!("{name}{parameter_file}"));
        return Ok(());
    }
    if is_forbidden(settings, streams) {
        return Ok(());
    }
    if settings.batch {
        return parameter_file::run(arguments, settings, streams);
    }
    let defaults = defaults(settings);
    let keys = secret_keys(settings)?;
    let files = keys.files();
    let family = |keygrip| existing_key::family_as_primary(keygrip, files, settings);
    let of_card = RefCell::new(Vec::new());
    let on_card = |settings: &Settings, streams: &mut Streams| -> Result<(String, Vec<Kind>), String> {
        let (serial, keys) = existing::read_all(settings, streams)?;
        let kinds = keys.iter().map(|key| key.kind.clone()).collect();
        of_card.replace(keys);
        Ok((serial, kinds))
    };
    let held = HeldKeys { family: &family, on_card: &on_card };
    match dialogue::ask(full, &defaults, settings, streams, held)? {
        Answer::Request(request) => {
            let material = request.primary.kind.material;
            let on_card = of_card.into_inner().into_iter().find(|key| key.kind.material == material);
            let public = match (on_card, material) {
                (Some(key), _) => Some(key.public),
                (None, Material::Existing(_, Family::Ecdh)) => None,
                (None, Material::Existing(keygrip, _))
                    if existing_key::in_file(keygrip, files)?.is_none() =>
                {
                    existing_key::public_body(keygrip, CardUse::Signs, settings)
                }
                _ => None,
            };
            let order = match public {
                Some(public) => Order::of_agent_keys(*request, AgentKeys::existing(vec![public])),
                None => Order::of(*request),
            };
            make::make(settings, streams, &order)
        }
        Answer::Cancelled => {
            streams.error("Key generation canceled.");
            Ok(())
        }
        Answer::Impossible(code) => {
            report_failure(streams, code);
            Ok(())
        }
    }
}
