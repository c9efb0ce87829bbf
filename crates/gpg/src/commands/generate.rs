//! `--quick-generate-key`, `--generate-key` and `--full-generate-key`.

pub(super) mod defaults;
mod make;
mod parameter_file;
pub(super) mod quick;

use secret::ask::Nobody;
use secret::{Name, SecretKeys as _};

use crate::generation::Family;
use crate::generation::dialogue::{self, Answer};
use crate::secrets::secret_keys;
use crate::settings::Settings;
use crate::streams::Streams;
use defaults::defaults;
use make::{Order, is_forbidden, report_failure};

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
    let secret_key_family = |keygrip| {
        let key = keys.export(&Name::Keygrip(keygrip), &mut Nobody).ok()?;
        Family::from_number(key.key().algorithm.0.into())
    };
    match dialogue::ask(full, &defaults, settings, streams, &secret_key_family)? {
        Answer::Request(request) => make::make(settings, streams, &Order::of(*request)),
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
