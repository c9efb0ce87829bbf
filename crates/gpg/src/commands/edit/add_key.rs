//! `--quick-add-key`.

use engine::cert::Timestamp;
use engine::configuration::Compat;
use engine::edit::NewSubkey;
use keygen::{Algorithm, Plan, Silent, Version, subkey};
use secret::Signer;
use secret::ask::KeyName;
use sign::KeyFlags;

use super::EditKeys;
use crate::code::Code;
use crate::failure::{CodedFailure, Failure};
use crate::generation::algorithm::{usage_list, with_size};
use crate::generation::key_algorithm::{NEEDS_COMPLIANCE, allows_curve448, key_algorithm, key_flags};
use crate::generation::{Curve, Material};
use crate::interval;
use crate::passphrases;
use crate::settings::Settings;
use crate::streams::Streams;

/// Generates a subkey and adds it to the key with a fingerprint.
pub(crate) fn run(arguments: &[Vec<u8>], settings: &Settings, streams: &mut Streams) -> anyhow::Result<()> {
    let (name, rest) = match arguments {
        [name, rest @ ..] if rest.len() <= 3 => (name, rest),
        _ => {
            streams.usage("--quick-add-key FINGERPRINT [ALGO [USAGE [EXPIRE]]]");
            return Ok(());
        }
    };
    let mut edit_keys = EditKeys::open(settings, streams)?;
    let key = match edit_keys.find_by_primary(name) {
        Ok(key) => key,
        Err(failure) => {
            let code = failure.coded()?.code;
            edit_keys.report_code("keyedit.addkey", code);
            return Ok(());
        }
    };
    let [algorithm, usage, end] = [0, 1, 2].map(|index| rest.get(index).map_or(&b""[..], Vec::as_slice));
    let now = settings.now;
    let wanted = wanted(algorithm, usage, end, now, settings);
    let made = wanted.and_then(|(plan, notes, end)| {
        notes.iter().for_each(|note| edit_keys.streams.info(note));
        let version = Version::in_gnupg(key.version(), plan.algorithm());
        let made = subkey(version, &plan, now, &mut Silent).map_err(|error| {
            edit_keys.streams.info(engine::causes(&error));
            Code::GENERAL
        })?;
        Ok(NewSubkey { key: made, flags: plan.flags(), end })
    });
    if made.as_ref().err() == Some(&Code::INVALID_PUBLIC_KEY_ALGORITHM) {
        edit_keys.streams.info(NEEDS_COMPLIANCE);
    }
    let added = made.map_err(Failure::from).and_then(|new| {
        let fingerprint = new.key.fingerprint().to_string();
        let name = KeyName::from(&Signer::key(&new.key));
        let passphrase = passphrases::of_new_subkey(settings, edit_keys.streams, &name)?;
        edit_keys.edit("--quick-add-key", &key, |editor| {
            editor.add_locked_subkey(&key, new, passphrase.as_ref())
        })?;
        Ok(fingerprint)
    });
    match added {
        Ok(fingerprint) => streams.status(format!("KEY_CREATED S {fingerprint}")),
        Err(failure) => report_failure(settings, streams, failure.coded()?),
    }
    Ok(())
}

fn report_failure(settings: &Settings, streams: &mut Streams, CodedFailure { code, value }: CodedFailure) {
    if code == Code::CERTIFICATE_REVOKED {
        streams.error("Key is revoked.");
        return;
    }
    report_not_added(settings, streams, CodedFailure { code, value });
    streams.info("Key not changed so no update needed.");
}

/// Reports that a subkey was not made.
pub(crate) fn report_not_added(
    settings: &Settings,
    streams: &mut Streams,
    CodedFailure { code, value }: CodedFailure,
) {
    streams.error(format_args!("Key generation failed: {code}"));
    if settings.compat == Compat::V2_4 {
        streams.status_error("key_generate", value);
        streams.status("KEY_NOT_CREATED ");
    }
}

/// Reads the plan of the subkey, and when it expires.
fn wanted(
    algorithm: &[u8],
    usage: &[u8],
    end: &[u8],
    now: Timestamp,
    settings: &Settings,
) -> Result<(Plan, Vec<String>, Option<Timestamp>), Code> {
    let flags = flags(usage)?;
    let curve = match flags {
        Some(flags) if !flags.contains(KeyFlags::ENCRYPT) => "ed25519",
        _ => "cv25519",
    };
    let text = String::from_utf8_lossy(algorithm);
    let name: &str = match text.to_ascii_lowercase().as_str() {
        "" | "-" | "default" => match settings.compat {
            Compat::V2_2 => "rsa3072",
            Compat::V2_4 => curve,
        },
        "future-default" | "futuredefault" => curve,
        _ => &text,
    };
    let curve = Curve::named(name, settings.compat);
    let (algorithm, notes) = match (with_size(name), curve) {
        (Some(material), _) => key_algorithm(material?, settings)?,
        (None, Some(curve @ (Curve::Ed25519 | Curve::Ed448))) => {
            key_algorithm(Material::Eddsa(curve), settings)?
        }
        (None, Some(curve)) => key_algorithm(Material::Ecdh(curve), settings)?,
        (None, None) => (unknown_to_gnupg(name)?, Vec::new()),
    };
    if algorithm == Algorithm::Curve448 {
        allows_curve448(settings)?;
    }
    let only_signs = matches!(curve, Some(Curve::Ed25519 | Curve::Ed448)) || !algorithm.encrypts();
    let usual = if only_signs { KeyFlags::SIGN } else { KeyFlags::ENCRYPT };
    let flags = flags.unwrap_or(usual);
    let encrypts = flags.contains(KeyFlags::ENCRYPT);
    let possible = match curve {
        _ if only_signs => !encrypts,
        Some(Curve::Curve25519 | Curve::X448) => flags == KeyFlags::ENCRYPT,
        _ => true,
    };
    let plan = Plan::new(algorithm, flags).ok().filter(|_| possible && !flags.contains(KeyFlags::CERTIFY));
    let plan = plan.ok_or(Code::WRONG_KEY_USAGE)?;
    let seconds = interval::validity(end, now).ok_or(Code::INVALID_VALUE)?;
    Ok((plan, notes, (seconds != 0).then(|| Timestamp(now.0.wrapping_add(seconds)))))
}

/// Reads the name of an algorithm that gpg does not know: one of RFC 9980.
fn unknown_to_gnupg(name: &str) -> Result<Algorithm, Code> {
    match Algorithm::parse(name) {
        Err(_)
        | Ok(Algorithm::Curve25519 | Algorithm::Curve448 | Algorithm::Weierstrass(_) | Algorithm::Rsa(_)) => {
            Err(Code::UNKNOWN_CURVE)
        }
        Ok(algorithm) => Ok(algorithm),
    }
}

/// Reads the uses of the subkey; `None` for the default of the algorithm.
fn flags(usage: &[u8]) -> Result<Option<KeyFlags>, Code> {
    if matches!(usage, b"" | b"-") || usage.eq_ignore_ascii_case(b"default") {
        return Ok(None);
    }
    let usage = usage_list(&String::from_utf8_lossy(usage)).ok_or(Code::INVALID_VALUE)?;
    Ok(Some(key_flags(usage)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp(1_767_225_600);

    fn read(algorithm: &str, usage: &str) -> Result<(String, KeyFlags), Code> {
        read_by(Compat::V2_2, algorithm, usage)
    }

    fn read_by(compat: Compat, algorithm: &str, usage: &str) -> Result<(String, KeyFlags), Code> {
        let settings = Settings { compat, ..Settings::default() };
        let (plan, _, _) = wanted(algorithm.as_bytes(), usage.as_bytes(), b"", NOW, &settings)?;
        Ok((plan.algorithm().expect("a new key").to_string(), plan.flags()))
    }

    #[test]
    fn a_subkey_encrypts_unless_something_else_is_said() {
        assert_eq!(read("", ""), Ok(("rsa3072".to_owned(), KeyFlags::ENCRYPT)));
        assert_eq!(read("default", "auth"), Ok(("rsa3072".to_owned(), KeyFlags::AUTHENTICATE)));
        assert_eq!(read("future-default", "-"), Ok(("curve25519".to_owned(), KeyFlags::ENCRYPT)));
        assert_eq!(read("future-default", "auth"), Ok(("curve25519".to_owned(), KeyFlags::AUTHENTICATE)));
        assert_eq!(read("ed25519", "default"), Ok(("curve25519".to_owned(), KeyFlags::SIGN)));
        assert_eq!(read("dsa1024", "-"), Ok(("dsa1024".to_owned(), KeyFlags::SIGN)));
        assert_eq!(read("elg", ""), Ok(("elg3072".to_owned(), KeyFlags::ENCRYPT)));
    }

    #[test]
    fn the_default_curve_follows_the_use() {
        let curve = |flags| Ok(("curve25519".to_owned(), flags));
        assert_eq!(read_by(Compat::V2_4, "", ""), curve(KeyFlags::ENCRYPT));
        assert_eq!(read_by(Compat::V2_4, "default", "sign"), curve(KeyFlags::SIGN));
        assert_eq!(read_by(Compat::V2_4, "-", "auth"), curve(KeyFlags::AUTHENTICATE));
        assert_eq!(read_by(Compat::V2_4, "default", "encr,auth"), Err(Code::WRONG_KEY_USAGE));
        assert_eq!(read_by(Compat::V2_4, "default", "cert"), Err(Code::WRONG_KEY_USAGE));
    }

    #[test]
    fn what_cannot_be_is_refused_with_gpgs_code() {
        assert_eq!(read("bla", ""), Err(Code::UNKNOWN_CURVE));
        assert_eq!(read("rsa2048", "bla"), Err(Code::INVALID_VALUE));
        assert_eq!(read("ed25519", "encr"), Err(Code::WRONG_KEY_USAGE));
        assert_eq!(read("cv25519", "sign"), Err(Code::WRONG_KEY_USAGE));
        assert_eq!(read("rsa2048", "cert"), Err(Code::WRONG_KEY_USAGE));
        assert_eq!(read("dsa2048", "encr"), Err(Code::WRONG_KEY_USAGE));
        assert_eq!(read("elg2048", "sign"), Err(Code::WRONG_KEY_USAGE));
    }

    #[test]
    fn an_end_is_read_as_everywhere() {
        let settings = Settings { compat: Compat::V2_2, ..Settings::default() };
        let (_, _, end) = wanted(b"", b"", b"1d", NOW, &settings).expect("a plan");
        assert_eq!(end, Some(Timestamp(NOW.0 + 86_400)));
        assert_eq!(wanted(b"", b"", b"xx", NOW, &settings).err(), Some(Code::INVALID_VALUE));
    }
}
