//! `--sign`, `--detach-sign` and `--clear-sign`.

pub(super) mod announcement;
pub(super) mod choice;
mod key_block;
pub(super) mod signers;

use std::io::{self, Read, Write};

use engine::cert::facts::SignatureType;
use engine::message::{self, LiteralOptions};

use super::{literal, message_output};
use crate::failure::{CodedFailure, Failure};
use crate::input;
use crate::progress::ReportedInput;
use crate::settings::{ArmorHeaders, Form, Settings};
use crate::streams::Streams;
use choice::DefaultKeys;
use signers::{signing, verbatim_signing};

/// Signs the file that the argument names, or standard input; a detached signature may be over several files.
pub(super) fn run(
    arguments: &[Vec<u8>],
    settings: &Settings,
    streams: &mut Streams,
    form: Form,
) -> anyhow::Result<()> {
    if form != Form::Detached && arguments.len() > 1 {
        let command = if form == Form::Clear { "--clear-sign" } else { "--sign" };
        streams.usage(&format!("{command} [filename]"));
        return Ok(());
    }
    if let Err(failure) = sign(arguments, settings, streams, form) {
        let CodedFailure { code, value } = failure.coded()?;
        streams.status_failure_value("sign", value);
        match (form, arguments.first()) {
            (Form::Clear, name) => {
                let name = input::shown_name(name.map(Vec::as_slice));
                streams.error(format_args!("{name}: clear-sign failed: {code}"));
            }
            _ => streams.error(format_args!("signing failed: {code}")),
        }
    }
    Ok(())
}

fn sign(
    arguments: &[Vec<u8>],
    settings: &Settings,
    streams: &mut Streams,
    form: Form,
) -> Result<(), Failure> {
    let signers = signers::collect(settings, streams, &mut DefaultKeys::default())?;
    let mut input: Box<dyn Read> = Box::new(io::empty());
    let named = arguments.iter().map(|name| Some(&name[..]));
    for name in named.chain(arguments.is_empty().then_some(None)) {
        let file = ReportedInput::new(input::open(name, streams)?, name, settings, streams);
        input = Box::new(input.chain(file));
    }
    let name = arguments.first().map(Vec::as_slice);
    let suffix: &[u8] = match form {
        _ if settings.armor || form == Form::Clear => b".asc",
        Form::Detached => b".sig",
        _ => b".gpg",
    };
    let mut output = message_output::open(arguments, settings, streams, name, suffix)?;
    let is_text = form == Form::Clear || settings.message.text;
    let kind = if is_text { SignatureType::TEXT } else { SignatureType::BINARY };
    announcement::begin(streams, &signers);
    let mut keys = signers::unlock(settings, streams, &signers)?;
    let content = match form {
        Form::Message => literal::options(settings, streams, settings.message.signed_compression(), name),
        Form::Clear | Form::Detached => LiteralOptions::default(),
    };
    let made = match form {
        Form::Clear if settings.message.not_dash_escaped => verbatim_signing(settings, &signers, &mut keys)?,
        _ => signing(settings, &signers, &mut keys, kind)?,
    };
    let mut out = output.sender(streams)?;
    let input = input.as_mut();
    let headers = &settings.armor_headers;
    let armor = settings.armor.then_some(headers);
    let written = match form {
        Form::Clear => message::sign_clear(input, &mut out, headers.lines(), made),
        Form::Message => {
            armored(out.as_mut(), armor, "MESSAGE", |out| message::sign(input, out, &content, made))
        }
        Form::Detached => message::sign_detached(input, made).and_then(|packets| {
            armored(out.as_mut(), armor, "SIGNATURE", |out| {
                out.write_all(&packets).map_err(message::Error::Write)
            })
        }),
    };
    let flushed = out.flush();
    drop(out);
    if let Err(error) = written {
        return Err(signers::refused(settings, streams, error));
    }
    flushed?;
    output.commit()?;
    announcement::created(settings, streams, &signers, form, kind);
    Ok(())
}

/// Writes in armor with these headers, if that is asked for.
fn armored(
    out: &mut dyn Write,
    armor: Option<&ArmorHeaders>,
    title: &'static str,
    write: impl FnOnce(&mut dyn Write) -> message::Result<()>,
) -> message::Result<()> {
    let Some(headers) = armor else { return write(out) };
    let mut armor = headers.begin(out, title);
    write(&mut armor)?;
    armor.finish().map(drop).map_err(message::Error::Write)
}
