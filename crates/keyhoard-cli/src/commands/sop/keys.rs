//! Keys, certificates and user IDs.

use std::io::Write;

use engine::cert::Timestamp;
use engine::cert::armor_writer::ArmorWriter;
use engine::stateless::{
    Certificates, Keys, Request, Result, Update, Wanted, certify, generate, key_profile, revoke, update,
    validate,
};

use super::arguments::{
    CertifyUserid, ChangeKeyPassword, Form, GenerateKey, MergeCerts, RevokeKey, UpdateKey, ValidateUserid,
};
use super::designator::{
    certificates, copies, existing_passwords, keys, new_password, standard_input, standard_output,
};

/// Writes packets to standard output.
pub(super) fn write(form: &Form, title: &'static str, packets: &[u8]) -> Result<()> {
    let mut out = standard_output()?;
    if form.no_armor {
        return Ok(out.write_all(packets)?);
    }
    let mut armored = ArmorWriter::titled(out, title);
    armored.write_all(packets)?;
    armored.finish()?;
    Ok(())
}

fn write_keys(form: &Form, keys: &Keys) -> Result<()> {
    write(form, "PRIVATE KEY BLOCK", &keys.bytes())
}

fn write_certificates(form: &Form, certificates: &Certificates) -> Result<()> {
    write(form, "PUBLIC KEY BLOCK", &certificates.bytes())
}

pub(super) fn generate_key(arguments: &GenerateKey, now: Timestamp) -> Result<()> {
    let mut profile = key_profile(&arguments.profile)?;
    profile.user_ids = arguments.user_ids.iter().map(|user_id| user_id.as_bytes().to_vec()).collect();
    let password = arguments.with_key_password.as_deref().map(new_password).transpose()?;
    write_keys(&arguments.form, &generate(profile, arguments.signing_only, password.as_ref(), now)?)
}

pub(super) fn change_key_password(arguments: &ChangeKeyPassword) -> Result<()> {
    let old = existing_passwords(&arguments.old_key_password)?;
    let new = arguments.new_key_password.as_deref().map(new_password).transpose()?;
    let mut keys = Keys::read(&standard_input()?)?;
    keys.relock(&old, new.as_ref())?;
    write_keys(&arguments.form, &keys)
}

pub(super) fn revoke_key(arguments: &RevokeKey, now: Timestamp) -> Result<()> {
    let passwords = existing_passwords(&arguments.key_passwords.with_key_password)?;
    let revoked = revoke(&Keys::read(&standard_input()?)?, &passwords, now)?;
    write_certificates(&arguments.form, &revoked)
}

pub(super) fn extract_cert(form: &Form) -> Result<()> {
    write_certificates(form, &Keys::read(&standard_input()?)?.certificates())
}

pub(super) fn update_key(arguments: &UpdateKey, now: Timestamp) -> Result<()> {
    let merged = arguments.merge_certs.iter().map(|name| copies(name)).collect::<Result<_>>()?;
    let UpdateKey { signing_only, no_added_capabilities, revoke_deprecated_keys, .. } = *arguments;
    let passwords = existing_passwords(&arguments.key_passwords.with_key_password)?;
    let mut keys = Keys::read(&standard_input()?)?;
    let wanted = Update { signing_only, no_added_capabilities, revoke_deprecated_keys, merged };
    update(&mut keys, &passwords, &wanted, now)?;
    write_keys(&arguments.form, &keys)
}

pub(super) fn merge_certs(arguments: &MergeCerts) -> Result<()> {
    let others: Vec<_> = arguments.certs.iter().map(|name| copies(name)).collect::<Result<_>>()?;
    let mut merged = Certificates::read(&standard_input()?)?;
    others.iter().for_each(|copies| merged.merge(copies));
    write_certificates(&arguments.form, &merged)
}

pub(super) fn certify_userid(arguments: &CertifyUserid, now: Timestamp) -> Result<()> {
    let request = Request {
        user_ids: arguments.userid.iter().map(|user_id| user_id.as_bytes().to_vec()).collect(),
        only_self_signed: !arguments.no_require_self_sig,
    };
    let (keys, passwords) =
        (keys(&arguments.keys)?, existing_passwords(&arguments.key_passwords.with_key_password)?);
    let mut certificates = Certificates::read(&standard_input()?)?;
    certify(&mut certificates, &keys, &passwords, &request, now)?;
    write_certificates(&arguments.form, &certificates)
}

pub(super) fn validate_userid(arguments: &ValidateUserid, now: Timestamp) -> Result<()> {
    let user_id = arguments.user_id.as_bytes().to_vec();
    let wanted = if arguments.addr_spec_only { Wanted::Address(user_id) } else { Wanted::UserId(user_id) };
    let read: Vec<_> = arguments.authorities.iter().map(|name| certificates(name)).collect::<Result<_>>()?;
    let targets = Certificates::read(&standard_input()?)?;
    validate(targets, Certificates::joined(read), &wanted, arguments.validate_at.first(now).unwrap_or(now))
}
