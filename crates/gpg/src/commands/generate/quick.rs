//! `--quick-generate-key USER-ID [ALGO [USAGE [EXPIRE]]]`.

use std::io::{self, IsTerminal as _};

use engine::cert::effective::Usage;
use engine::foreign_text::shown;
use engine::store::query::Name;

use super::defaults::defaults;
use super::make::{self, AgentKeys, Order, is_forbidden, report_failure};

use crate::code::Code;
use crate::commands::card::existing;
use crate::generation::key_algorithm::{NEEDS_COMPLIANCE, allows_curve448};
use crate::generation::parameters::Defaults;
use crate::generation::{Kind, Part, Request, algorithm};
use crate::interval;
use crate::keyrings::Keyrings;
use crate::prompt::{self, Question};
use crate::settings::Settings;
use crate::streams::Streams;

/// Generates a key without a question, unless the user is at a terminal and gave only the user ID.
pub(crate) fn run(arguments: &[Vec<u8>], settings: &Settings, streams: &mut Streams) -> anyhow::Result<()> {
    if !(1..=4).contains(&arguments.len()) {
        streams.usage("--quick-generate-key USER-ID [ALGO [USAGE [EXPIRE]]]");
        return Ok(());
    }
    if is_forbidden(settings, streams) {
        return Ok(());
    }
    let user_id = arguments[0].trim_ascii().to_vec();
    if user_id.is_empty() {
        report_failure(streams, Code::INVALID_USER_ID);
        return Ok(());
    }
    if !is_wanted(arguments, settings, streams, &user_id)? {
        return Ok(());
    }
    let word = |index: usize| -> String {
        arguments.get(index).map(|word| String::from_utf8_lossy(word).into_owned()).unwrap_or_default()
    };
    let words = Words { algorithm: word(1), usage: word(2), expiry: word(3) };
    let order = match algorithm::usage_on_card(&words.algorithm) {
        Some(usage) => usage.and_then(|usage| words.order_of_card(user_id, usage, settings, streams)),
        None => words.request(user_id, &defaults(settings)).and_then(|request| {
            let parts = std::iter::once(&request.primary).chain(&request.subkeys);
            let is_on_curve448 = parts.into_iter().any(|part| part.kind.material.is_on_curve448());
            if is_on_curve448 {
                allows_curve448(settings)?
            }
            Ok(Order::of(request))
        }),
    };
    match order {
        Ok(order) => make::make(settings, streams, &order),
        Err(code) => {
            if code == Code::INVALID_PUBLIC_KEY_ALGORITHM {
                streams.info(NEEDS_COMPLIANCE);
            }
            report_failure(streams, code);
            Ok(())
        }
    }
}

/// Says whether to generate the key, although there may be one with the same user ID.
fn is_wanted(
    arguments: &[Vec<u8>],
    settings: &Settings,
    streams: &mut Streams,
    user_id: &[u8],
) -> anyhow::Result<bool> {
    let asks = !settings.batch
        && !settings.answer_yes
        && arguments[1..].iter().all(Vec::is_empty)
        && settings.command_input.is_none()
        && is_at_terminal();
    let context = format!("About to create a key for:\n    \"{}\"\n\n", shown(user_id));
    if asks && !agrees(settings, streams, "quick_keygen.okay", &context, "Continue? (Y/n) ", true)? {
        return Ok(false);
    }
    if !is_known(settings, streams, user_id)? {
        return Ok(true);
    }
    streams.info(format_args!("A key for \"{}\" already exists", shown(user_id)));
    let anyway = settings.answer_yes
        || (asks && agrees(settings, streams, "quick_keygen.force", "", "Create anyway? (y/N) ", false)?);
    match anyway {
        true => streams.info("creating anyway"),
        false => {
            streams.status_error("genkey", Code::USER_ID_EXISTS.with_gpg());
            streams.count_error();
        }
    }
    Ok(anyway)
}

fn agrees(
    settings: &Settings,
    streams: &mut Streams,
    keyword: &'static str,
    context: &str,
    text: &str,
    usually: bool,
) -> anyhow::Result<bool> {
    let question = Question { keyword, context: context.as_bytes(), text };
    let answer = prompt::line(&question, settings, streams)?;
    Ok(match answer.trim_ascii().to_ascii_lowercase().as_slice() {
        b"" => usually,
        answer => matches!(answer, b"y" | b"yes"),
    })
}

/// Says whether there is a certificate with exactly this user ID.
fn is_known(settings: &Settings, streams: &mut Streams, user_id: &[u8]) -> anyhow::Result<bool> {
    let Ok(name) = Name::parse(&[b"=", user_id].concat()) else { return Ok(false) };
    let keyrings = Keyrings::open(settings, streams)?;
    for (_, snapshot) in keyrings.snapshots()?.iter() {
        if !snapshot.find(&name.query)?.is_empty() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Says whether standard input, output and error are a terminal.
fn is_at_terminal() -> bool {
    io::stdin().is_terminal() && io::stdout().is_terminal() && io::stderr().is_terminal()
}

/// The arguments after the user ID.
struct Words {
    algorithm: String,
    usage: String,
    expiry: String,
}

impl Words {
    /// Returns the order for a certificate of keys that are on a card.
    fn order_of_card(
        &self,
        user_id: Vec<u8>,
        usage: Usage,
        settings: &Settings,
        streams: &mut Streams,
    ) -> Result<Order, Code> {
        let usage = match self.has_usual_usage() {
            true => usage,
            false => algorithm::usage_list(&self.usage).ok_or(Code::INVALID_VALUE)? | Usage::CERTIFY,
        };
        let primary = existing::read(usage, settings, streams)?;
        let subkey = match self.asks_for_pair() {
            true => Some(existing::read(Usage::ENCRYPT, settings, streams)?),
            false => None,
        };
        let mut public = vec![primary.public];
        let subkey = subkey.map(|subkey| {
            public.push(subkey.public);
            subkey.kind
        });
        let request = self.request_of(user_id, primary.kind, subkey, &defaults(settings))?;
        Ok(Order::of_agent_keys(request, AgentKeys::existing(public)))
    }

    fn request(&self, user_id: Vec<u8>, defaults: &Defaults<'_>) -> Result<Request, Code> {
        let (primary, subkey) = match self.asks_for_pair() {
            true => {
                let pair = algorithm::pair(&self.algorithm, defaults.algorithm, defaults.compat)?;
                (pair.primary, pair.subkey)
            }
            false => (self.primary(defaults)?, None),
        };
        self.request_of(user_id, primary, subkey, defaults)
    }

    fn request_of(
        &self,
        user_id: Vec<u8>,
        primary: Kind,
        subkey: Option<Kind>,
        defaults: &Defaults<'_>,
    ) -> Result<Request, Code> {
        let expiry = match self.expiry.as_bytes() {
            b"" | b"-" => defaults.validity,
            expiry => expiry,
        };
        let valid_for = interval::validity(expiry, defaults.now).ok_or(Code::INVALID_VALUE)?;
        Ok(Request {
            primary: Part { kind: primary, valid_for },
            // The subkey expires with the primary key.
            subkeys: subkey.into_iter().map(|kind| Part { kind, valid_for: 0 }).collect(),
            user_id,
            created: None,
            preferences: None,
            revoker: None,
            keyserver: None,
        })
    }

    /// Only a default algorithm for the default uses brings a subkey.
    fn asks_for_pair(&self) -> bool {
        const PAIRS: [&str; 4] = ["default", "future-default", "futuredefault", "card"];
        let is_pair = |word: &&str| word.eq_ignore_ascii_case(&self.algorithm);
        (self.algorithm.is_empty() || PAIRS.iter().any(is_pair)) && self.has_usual_usage()
    }

    fn has_usual_usage(&self) -> bool {
        matches!(self.usage.as_str(), "" | "-") || self.usage.eq_ignore_ascii_case("default")
    }

    fn primary(&self, defaults: &Defaults<'_>) -> Result<Kind, Code> {
        let kind = algorithm::primary(&self.algorithm, defaults.algorithm, defaults.compat)?;
        if self.has_usual_usage() {
            return Ok(kind);
        }
        let usage = algorithm::usage_list(&self.usage).ok_or(Code::INVALID_VALUE)? | Usage::CERTIFY;
        match kind.material.family().allows(usage) {
            true => Ok(Kind { usage, ..kind }),
            false => Err(Code::WRONG_KEY_USAGE),
        }
    }
}

#[cfg(test)]
mod tests {
    use engine::cert::Timestamp;
    use engine::configuration::Compat;

    use super::*;
    use crate::generation::{Curve, Material, preferences};

    fn request(words: [&str; 3]) -> Result<Request, Code> {
        let [algorithm, usage, expiry] = words.map(str::to_owned);
        let defaults = Defaults {
            compat: Compat::V2_2,
            now: Timestamp(1_767_225_600),
            algorithm: algorithm::DEFAULT,
            preferences: preferences::DEFAULT,
            librepgp: preferences::LibrePgp::NotAnnounced,
            validity: b"2y",
        };
        Words { algorithm, usage, expiry }.request(b"x".to_vec(), &defaults)
    }

    #[test]
    fn the_default_is_a_pair_valid_for_two_years_of_which_the_subkey_has_no_expiry_of_its_own() {
        for words in [["", "", ""], ["default", "-", "-"], ["", "default", "2y"]] {
            let request = request(words).expect("a key");
            assert_eq!(request.primary.valid_for, 730 * 86_400);
            assert_eq!(request.subkeys[0].valid_for, 0);
        }
    }

    #[test]
    fn a_named_algorithm_or_use_makes_a_primary_key_alone() {
        let named = request(["ed25519/sign", "", "0"]).expect("a key");
        assert_eq!(named.primary.kind.material, Material::Eddsa(Curve::Ed25519));
        assert_eq!((named.primary.valid_for, named.subkeys), (0, Vec::new()));
        assert_eq!(request(["-", "", ""]).expect("a key").subkeys, []);
        let cert = request(["default", "cert", ""]).expect("a key");
        assert_eq!((cert.primary.kind.usage, cert.subkeys), (Usage::CERTIFY, Vec::new()));
    }

    #[test]
    fn what_is_wrong_has_the_code_that_gpg_gives() {
        assert_eq!(request(["foo", "", ""]), Err(Code::UNKNOWN_CURVE));
        assert_eq!(request(["ed25519", "foo", ""]), Err(Code::INVALID_VALUE));
        assert_eq!(request(["ed25519", "encr", ""]), Err(Code::WRONG_KEY_USAGE));
        assert_eq!(request(["ed25519", "", "foo"]), Err(Code::INVALID_VALUE));
    }
}
