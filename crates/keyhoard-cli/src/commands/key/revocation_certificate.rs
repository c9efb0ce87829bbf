//! `keyhoard key revocation-certificate`.

use std::io::Write;

use anyhow::Context;
use engine::cert::armor_writer::Headers;
use engine::edit::armored;
use engine::output_file::Content;

use super::editing::EditedKey;
use super::reason::KeyReason;
use crate::destination::NamedOutput;
use crate::exit::Outcome;
use crate::session::Session;

/// The arguments of `keyhoard key revocation-certificate`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  keyhoard key revocation-certificate ann@example.org --output ann-revocation.asc
  keyhoard key revocation-certificate ann@example.org --reason compromised | keyhoard import

Whoever has it can revoke the key: keep it where nobody else finds it, best on paper. Importing it revokes the key. A file \
given with --output is for its owner only (mode 0600).")]
pub(crate) struct Arguments {
    #[command(flatten)]
    key: EditedKey,

    #[command(flatten)]
    reason: KeyReason,

    #[command(flatten)]
    output: NamedOutput,
}

/// Makes the revocation and writes it.
pub(super) fn run(session: &mut Session, arguments: &Arguments) -> anyhow::Result<Outcome> {
    let file = arguments.output.create(session, Content::Secret, None)?;
    let editing = arguments.key.editing(session)?;
    let reason = arguments.reason.reason();
    let packet = editing.edit(|editor, key| editor.revocation_certificate(key, reason))?;
    let text = armored(&packet, Headers::default());
    match (arguments.output.file(), file) {
        (Some(path), Some(mut file)) => {
            let named = || path.display().to_string();
            file.write_all(&text).and_then(|()| file.commit()).with_context(named)?;
            session.note(format_args!(
                "revocation certificate written to {}: whoever has it can revoke the key",
                path.display()
            ));
        }
        _ => session.output.write_all(&text)?,
    }
    Ok(Outcome::Done)
}
