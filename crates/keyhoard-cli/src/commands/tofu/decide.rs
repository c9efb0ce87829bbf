//! `keyhoard tofu policy` and `keyhoard tofu forget`.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;

use engine::cert::BoundAddress;
use engine::tofu::{decide, forget};
use engine::trust::tofu::Policy;
use serde::Serialize;

use crate::commands::named_certificates::NamedCertificates;
use crate::exit::Outcome;
use crate::printable::{counted, printable};
use crate::session::{Session, command_line};

/// The arguments of `keyhoard tofu policy`.
#[derive(Debug, clap::Args)]
pub(super) struct PolicyArguments {
    /// auto, good, unknown, bad or ask.
    #[arg(value_parser = policy_named)]
    policy: Policy,

    /// The keys.
    #[arg(value_name = "NAME", required = true)]
    names: Vec<OsString>,

    /// Decide about this address of theirs only.
    #[arg(long, value_name = "MAIL")]
    address: Option<OsString>,
}

/// The arguments of `keyhoard tofu forget`.
#[derive(Debug, clap::Args)]
pub(super) struct ForgetArguments {
    /// A mail address, or a whole user ID that has none.
    address: OsString,
}

/// Reads the name of a policy.
fn policy_named(name: &str) -> Result<Policy, String> {
    Policy::from_name(name).ok_or_else(|| format!("valid are: {}", Policy::ALL.map(Policy::name).join(", ")))
}

/// Sets the policy of keys for their addresses.
pub(super) fn policy(session: &mut Session, arguments: &PolicyArguments) -> anyhow::Result<Outcome> {
    let store = session.open()?;
    let named = NamedCertificates::find(session, store.snapshot()?.as_ref(), &arguments.names)?;
    let only = arguments.address.as_ref().map(|address| BoundAddress::of_user_id(address.as_bytes()));
    let ids = named.ids.unwrap_or_default();
    let decided =
        decide(store.as_ref(), &ids, only.as_ref(), arguments.policy, &command_line(), session.now)?;
    for decided in &decided {
        let address = String::from_utf8_lossy(decided.address.as_bytes());
        if session.output.is_json() {
            session.output.json(&DecidedJson {
                fingerprint: decided.key.to_string(),
                address: address.into_owned(),
                before: decided.before.unwrap_or_default().name(),
                policy: arguments.policy.name(),
            })?;
        } else if !session.quiet {
            let (key, before) = (decided.key, decided.before.unwrap_or_default().name());
            let address = printable(decided.address.as_bytes());
            session.output.line(format_args!("{key}  {address}: {before} -> {}", arguments.policy.name()))?;
        }
    }
    if named.complete && decided.is_empty() {
        session.warn("none of these keys has a user ID with this address");
    }
    Ok(Outcome::done_if(named.complete && !decided.is_empty()))
}

/// Forgets the policies of an address, and the messages seen with it.
pub(super) fn forget_address(session: &mut Session, arguments: &ForgetArguments) -> anyhow::Result<Outcome> {
    let address = BoundAddress::of_user_id(arguments.address.as_bytes());
    let store = session.open()?;
    let forgotten = forget(store.as_ref(), &address, None, &command_line(), session.now)?;
    if session.output.is_json() {
        let keys = forgotten.iter().map(|binding| binding.fingerprint.to_string()).collect();
        let address = String::from_utf8_lossy(address.as_bytes()).into_owned();
        session.output.json(&ForgottenJson { address, keys })?;
    } else if forgotten.is_empty() {
        session.warn(format_args!("{}: no key has this address", printable(address.as_bytes())));
    } else if !session.quiet {
        let keys = counted(forgotten.len() as u64, "key");
        session.output.line(format_args!("{}: forgotten with {keys}", printable(address.as_bytes())))?;
    }
    Ok(Outcome::done_if(!forgotten.is_empty()))
}

/// A decision, as `docs/json.md` describes it.
#[derive(Serialize)]
struct DecidedJson {
    fingerprint: String,
    address: String,
    before: &'static str,
    policy: &'static str,
}

/// What was forgotten, as `docs/json.md` describes it.
#[derive(Serialize)]
struct ForgottenJson {
    address: String,
    keys: Vec<String>,
}
