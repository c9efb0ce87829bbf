//! Signatures, messages and armor.

use std::io::{self, Write};

use engine::cert::Timestamp;
use engine::cert::armor_writer::ArmorWriter;
use engine::message::SessionKey;
use engine::recipients::EncryptionPurpose;
use engine::stateless::{
    self, Decryption, Encryption, Failure, Inline, Keys, Kind, Password, Period, Profile, Result,
    Verification,
};
use engine::verify::HashAlgorithm;

use super::arguments::{
    DataKind, DateLimits, Decrypt, Encrypt, InlineDetach, InlineKind, InlineSign, InlineVerify, PurposeKind,
    Sign, SigningKeys, Verify,
};
use super::designator::{self, SideOutput, existing_passwords, new_password, standard_output};
use super::keys;
use crate::json;
use crate::timestamp::rfc3339;

pub(super) fn sign(arguments: &Sign, now: Timestamp) -> Result<()> {
    let micalg = arguments.micalg_out.as_deref().map(SideOutput::create).transpose()?;
    let (signers, passwords) = arguments.signers.read()?;
    let as_text = arguments.kind == DataKind::Text;
    let (signatures, digest) = stateless::sign(&mut io::stdin().lock(), &signers, &passwords, as_text, now)?;
    if let Some(micalg) = micalg {
        micalg.write(digest.map(mime_name).unwrap_or_default().as_bytes())?;
    }
    keys::write(&arguments.form, "SIGNATURE", &signatures)
}

/// Returns a hash algorithm's name for multipart/signed (RFC 3156, section 5).
fn mime_name(digest: HashAlgorithm) -> String {
    digest.name().map(|name| format!("pgp-{}", name.to_ascii_lowercase())).unwrap_or_default()
}

impl SigningKeys {
    /// Reads the keys and their passwords.
    fn read(&self) -> Result<(Vec<Keys>, Vec<Password>)> {
        Ok((designator::keys(&self.keys)?, existing_passwords(&self.key_passwords.with_key_password)?))
    }
}

impl DateLimits {
    fn period(&self, now: Timestamp) -> Period {
        Period { from: self.not_before.first(now), to: self.not_after.last(now) }
    }
}

pub(super) fn verify(arguments: &Verify, now: Timestamp) -> Result<()> {
    let signers = designator::signers(&arguments.certs)?;
    let signatures = designator::read(&arguments.signatures)?;
    let (data, period) = (&mut io::stdin().lock(), arguments.date_limits.period(now));
    let valid = stateless::verify(&signatures, data, &signers, period, now)?;
    Ok(standard_output()?.write_all(lines(&valid).as_bytes())?)
}

/// Returns the VERIFICATIONS lines of valid signatures.
fn lines(verifications: &[Verification]) -> String {
    let line = |verification: &Verification| {
        let mode = if verification.is_text { "mode:text" } else { "mode:binary" };
        let more = json::text(&serde_json::json!({ "signers": [verification.signer] }));
        format!(
            "{} {} {} {mode} {more}\n",
            rfc3339(verification.created),
            verification.key,
            verification.primary
        )
    };
    verifications.iter().map(line).collect()
}

pub(super) fn encrypt(arguments: &Encrypt, now: Timestamp) -> Result<()> {
    let session_key = arguments.session_key_out.as_deref().map(SideOutput::create).transpose()?;
    let encryption = Encryption {
        profile: Profile::named(&arguments.profile)?,
        purpose: match arguments.purpose {
            PurposeKind::Any => EncryptionPurpose::Any,
            PurposeKind::Storage => EncryptionPurpose::Storage,
            PurposeKind::Communications => EncryptionPurpose::Communications,
        },
        as_text: arguments.kind == DataKind::Text,
        with_armor: !arguments.form.no_armor,
        recipients: arguments
            .certs
            .iter()
            .map(|name| designator::certificates(name))
            .collect::<Result<_>>()?,
        passwords: arguments.with_password.iter().map(|name| new_password(name)).collect::<Result<_>>()?,
        signers: designator::keys(&arguments.sign_with)?,
        key_passwords: existing_passwords(&arguments.key_passwords.with_key_password)?,
    };
    let key = stateless::encrypt(&mut io::stdin().lock(), &mut standard_output()?, &encryption, now)?;
    write_session_key(session_key, &key)
}

fn write_session_key(out: Option<SideOutput<'_>>, key: &SessionKey) -> Result<()> {
    let mut text = key.to_text();
    text.push('\n');
    out.map_or(Ok(()), |out| out.write(text.as_bytes()))
}

pub(super) fn decrypt(arguments: &Decrypt, now: Timestamp) -> Result<()> {
    let Decrypt { verify_with, verifications_out, verify_not_before, verify_not_after, .. } = arguments;
    let bounded = verify_not_before.is_some() || verify_not_after.is_some();
    if verify_with.is_empty() == verifications_out.is_some() || (verify_with.is_empty() && bounded) {
        let reason = "--verify-with and --verifications-out go together";
        return Err(Failure::new(Kind::IncompleteVerification, reason));
    }
    let session_key = arguments.session_key_out.as_deref().map(SideOutput::create).transpose()?;
    let verifications = verifications_out.as_deref().map(SideOutput::create).transpose()?;
    let decryption = Decryption {
        session_keys: arguments
            .with_session_key
            .iter()
            .map(|name| read_session_key(name))
            .collect::<Result<_>>()?,
        passwords: existing_passwords(&arguments.with_password)?,
        keys: designator::keys(&arguments.keys)?,
        key_passwords: existing_passwords(&arguments.key_passwords.with_key_password)?,
        signers: designator::signers(verify_with)?,
        period: Period {
            from: verify_not_before.and_then(|date| date.first(now)),
            to: verify_not_after.map_or(Some(now), |date| date.last(now)),
        },
    };
    let decrypted = stateless::decrypt(&mut io::stdin(), Box::new(standard_output()?), &decryption, now)?;
    if let Some(verifications) = verifications {
        verifications.write(lines(&decrypted.verifications).as_bytes())?;
    }
    write_session_key(session_key, &decrypted.session_key)
}

fn read_session_key(name: &std::ffi::OsStr) -> Result<SessionKey> {
    let bytes = designator::read(name)?;
    let key = std::str::from_utf8(&bytes).ok().and_then(SessionKey::from_text);
    key.ok_or_else(|| Failure::new(Kind::BadData, format!("{}: no session key", name.display())))
}

pub(super) fn armor() -> Result<()> {
    stateless::armor(&mut io::stdin().lock(), &mut standard_output()?)
}

pub(super) fn dearmor() -> Result<()> {
    stateless::dearmor(&mut io::stdin().lock(), &mut standard_output()?)
}

pub(super) fn inline_detach(arguments: &InlineDetach) -> Result<()> {
    let out = SideOutput::create(&arguments.signatures_out)?;
    let signatures = stateless::split(&mut io::stdin(), &mut standard_output()?)?;
    if arguments.form.no_armor {
        return out.write(&signatures);
    }
    let mut armored = ArmorWriter::titled(Vec::new(), "SIGNATURE");
    armored.write_all(&signatures)?;
    out.write(&armored.finish()?)
}

pub(super) fn inline_verify(arguments: &InlineVerify, now: Timestamp) -> Result<()> {
    let verifications = arguments.verifications_out.as_deref().map(SideOutput::create).transpose()?;
    let signers = designator::signers(&arguments.certs)?;
    let (out, period) = (Box::new(standard_output()?), arguments.date_limits.period(now));
    let valid = stateless::verify_inline(&mut io::stdin(), out, &signers, period, now)?;
    verifications.map_or(Ok(()), |out| out.write(lines(&valid).as_bytes()))
}

pub(super) fn inline_sign(arguments: &InlineSign, now: Timestamp) -> Result<()> {
    let how = match arguments.kind {
        InlineKind::Binary => Inline::Binary,
        InlineKind::Text => Inline::Text,
        InlineKind::ClearSigned if arguments.form.no_armor => {
            return Err(Failure::new(
                Kind::IncompatibleOptions,
                "clear text is text: --no-armor is not for it",
            ));
        }
        InlineKind::ClearSigned => Inline::ClearSigned,
    };
    let (keys, passwords) = arguments.signers.read()?;
    let with_armor = !arguments.form.no_armor;
    stateless::sign_inline(
        &mut io::stdin().lock(),
        &mut standard_output()?,
        &keys,
        &passwords,
        how,
        with_armor,
        now,
    )
}
