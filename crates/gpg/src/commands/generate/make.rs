//! Generates a key from a request.

use std::fmt::Display;
use std::num::NonZeroU32;
use std::path::PathBuf;

use agent::PublicKey;
use engine::cert::Fingerprint;
use engine::cert::facts::{KeyFacts, Revoker};
use engine::cert::key::parse_public;
use engine::configuration::Compat;
use engine::database;
use engine::foreign_text::shown;
use engine::generate::{self, KeyDestination, Progress, Step};
use engine::import::NewOwnerTrust;
use engine::owner_trust::{self, Assignment};
use engine::trust::OwnerTrust;
use engine::verify::{HashAlgorithm, PublicKeyAlgorithm};
use keygen::{DecryptionSubkey, KeySource, Plan, Profile, Version};
use secret::{Ask, Passphrase, Role, Signer};

use super::defaults::key_preferences;
use crate::code::Code;
use crate::commands::delete;
use crate::commands::edit::{self, EditKeys, decryption_subkey};
use crate::failure::{CodedFailure, Failure};
use crate::generation::key_algorithm::{key_algorithm, key_flags};
use crate::generation::{Family, Material, Part, Request};
use crate::keyrings::Keyrings;
use crate::passphrases::Passphrases;
use crate::secrets::{self, secret_keys};
use crate::settings::Settings;
use crate::status;
use crate::streams::{StatusLines, Streams};
use crate::terminal::tell;
use crate::trust;

/// A request for a key, and how to carry it out.
pub(crate) struct Order {
    pub(super) request: Request,
    /// The handle at the end of its status lines.
    pub(super) handle: Vec<u8>,
    /// The passphrase, if the request names it.
    pub(super) passphrase: Option<Passphrase>,
    /// The secret keys are locked.
    pub(super) protected: bool,
    /// The only file that the certificate is written to.
    pub(super) pubring: Option<PathBuf>,
    /// The keys, if the agent has them already, in itself or on a card.
    pub(super) agent_keys: Option<AgentKeys>,
}

/// Keys of the agent, in itself or on a card, that become a certificate.
pub(crate) struct AgentKeys {
    /// The bodies of their packets: the primary key, and the subkeys in their order.
    pub(crate) public: Vec<Vec<u8>>,
    /// The place that the status line of a failure names.
    pub(crate) location: &'static str,
}

impl AgentKeys {
    /// Returns keys that were there before.
    pub(super) fn existing(public: Vec<Vec<u8>>) -> Self {
        Self { public, location: "key_generate" }
    }
}

impl Order {
    /// Returns the order for a key whose passphrase is asked for.
    pub(crate) fn of(request: Request) -> Self {
        Self {
            request,
            handle: Vec::new(),
            passphrase: None,
            protected: true,
            pubring: None,
            agent_keys: None,
        }
    }

    /// Returns the order for a certificate of keys that the agent has, in itself or on a card.
    pub(crate) fn of_agent_keys(request: Request, keys: AgentKeys) -> Self {
        Self { agent_keys: Some(keys), ..Self::of(request) }
    }

    fn location(&self) -> &'static str {
        self.agent_keys.as_ref().map_or("key_generate", |keys| keys.location)
    }
}

/// Writes `PROGRESS` lines for the search for primes, with libgcrypt's characters.
struct PrimeSearch {
    lines: Option<StatusLines>,
    composites: u32,
}

impl Progress for PrimeSearch {
    fn step(&mut self, step: Step) {
        const COMPOSITES_A_SIGN: u32 = 10;
        const ROUNDS: usize = 5;
        let Some(lines) = &mut self.lines else { return };
        let mut sign = |sign, done| lines.status(format!("PROGRESS primegen {sign} {done} {done}"));
        match step {
            Step::Composite => {
                self.composites += 1;
                if self.composites.is_multiple_of(COMPOSITES_A_SIGN) {
                    sign('.', 0);
                }
            }
            Step::Prime => {
                // One for each round of the test that the prime passed.
                (0..ROUNDS).for_each(|_| sign('+', 0));
                sign('X', 100);
            }
        }
    }
}

/// Generates a key and reports the result.
pub(crate) fn make(settings: &Settings, streams: &mut Streams, order: &Order) -> anyhow::Result<()> {
    let Some((revokers, decryption_subkeys)) = named_keys(settings, streams)? else { return Ok(()) };
    let profile = match profile(settings, streams, order) {
        Ok(mut profile) => {
            profile.revokers.extend(revokers);
            profile.decryption_subkeys = decryption_subkeys;
            profile
        }
        Err(code) => {
            let failure = CodedFailure { code, value: code.with_gpg() };
            report_not_generated(settings, streams, order.location(), failure, &order.handle);
            return Ok(());
        }
    };
    match generated(settings, streams, order, &profile) {
        Ok(made) => {
            if let Some(revocation) = made.revocation.as_ref().filter(|_| !settings.quiet) {
                streams.info(format_args!("revocation certificate stored as '{}'", revocation.display()));
            }
            if !settings.batch && order.pubring.is_none() {
                show(settings, streams, &made.primary)?;
            }
            let letter = if made.subkeys.is_empty() { 'P' } else { 'B' };
            let created = format!("KEY_CREATED {letter} {}", made.primary);
            streams.status(with_handle(created, &order.handle));
            if !profile.decryption_subkeys.is_empty() && !settings.quiet {
                streams.info("Note: The key has been created with one or more ADSK!");
            }
        }
        Err(failure) => {
            report_not_generated(settings, streams, order.location(), failure.coded()?, &order.handle)
        }
    }
    Ok(())
}

/// Finds the keys that options name for every new key: its designated revokers and additional decryption subkeys. `None`, and
/// reports it, if one cannot be used.
fn named_keys(
    settings: &Settings,
    streams: &mut Streams,
) -> anyhow::Result<Option<(Vec<Revoker>, Vec<DecryptionSubkey>)>> {
    if settings.new_revokers.is_empty() && settings.new_decryption_subkeys.is_empty() {
        return Ok(Some((Vec::new(), Vec::new())));
    }
    let mut keys = EditKeys::open(settings, streams)?;
    let mut revokers = Vec::new();
    for name in &settings.new_revokers {
        let Some(revoker) = designated_revoker(&mut keys, name)? else { return Ok(None) };
        revokers.push(revoker);
    }
    let EditKeys { streams, keyrings, .. } = keys;
    let subkeys = decryption_subkey::of_new_key(settings, streams, &keyrings)?;
    Ok(subkeys.map(|subkeys| (revokers, subkeys)))
}

/// Finds the key of a designated revoker, perhaps named after `sensitive:`.
fn designated_revoker(keys: &mut EditKeys<'_>, name: &[u8]) -> anyhow::Result<Option<Revoker>> {
    const REVOKER: u8 = 0x80;
    const SENSITIVE: u8 = 0x40;
    const WORD: &[u8] = b"sensitive:";
    let is_sensitive = name.get(..WORD.len()).is_some_and(|start| start.eq_ignore_ascii_case(WORD));
    let name = if is_sensitive { &name[WORD.len()..] } else { name };
    let found = match edit::fingerprint(name) {
        Some(_) => keys.primary_key(name)?.ok_or(Code::NO_PUBLIC_KEY),
        None => {
            keys.streams.info(format_args!("\"{}\" is not a fingerprint", shown(name)));
            Err(Code::INVALID_NAME)
        }
    };
    match found {
        Ok(KeyFacts { algorithm, fingerprint, .. }) => {
            let class = if is_sensitive { REVOKER | SENSITIVE } else { REVOKER };
            Ok(Some(Revoker { class, algorithm, fingerprint }))
        }
        Err(code) => {
            keys.streams.error(format_args!("invalid revocation key '{}': {code}", shown(name)));
            Ok(None)
        }
    }
}

/// Generates the key and stores it. A missing passphrase is a failure with a code.
fn generated(
    settings: &Settings,
    streams: &mut Streams,
    order: &Order,
    profile: &Profile,
) -> Result<generate::GeneratedKey, Failure> {
    let secrets = secret_keys(settings)?;
    let revocations = Some(generate::revocations_beside(&database::local(&settings.home.database()?)));
    let mut keyrings = Keyrings::open_for_new_keys(settings, streams)?;
    if !keyrings.has_writable() {
        streams.error(format_args!("no writable public keyring found: {}", Code::NOT_FOUND));
        return Err(Failure::from(Code::NOT_FOUND));
    }
    let changes_file = keyrings.changes_file();
    let store = keyrings.writable(settings, streams)?;
    let is_trusted = !settings.no_auto_trust_new_key;
    let owner_trust = match is_trusted && !changes_file {
        true => NewOwnerTrust::Ultimate,
        false => NewOwnerTrust::None,
    };
    let certificate = order.pubring.clone();
    let destination = KeyDestination { store, secrets: &secrets, revocations, certificate, owner_trust };
    let created = order.request.created.unwrap_or(settings.now);
    let mut primes = PrimeSearch { lines: settings.progress.then(|| streams.status_lines()), composites: 0 };
    let mut passphrases = Passphrases::new(settings, streams).with_given(order.passphrase.as_ref());
    let ask = order.protected.then_some(&mut passphrases as &mut dyn Ask);
    let command = "gpg-keyhoard --generate-key";
    let made = match &order.agent_keys {
        Some(keys) => certify_agent_keys(&destination, profile, keys, command, settings),
        None => generate::generate(&destination, profile, ask, command, created, &mut primes),
    };
    match made {
        Ok(made) => {
            keyrings.commit()?;
            if is_trusted && changes_file && order.pubring.is_none() {
                trust_in_home(settings, streams, &made.primary, command)?;
            }
            Ok(made)
        }
        Err(engine::Error::Secret(error) | engine::Error::Keygen(keygen::Error::Secret(error))) => {
            let failure = failure(&error, profile, &mut passphrases);
            if let (Failure::Coded(CodedFailure { code, .. }), false) = (&failure, holds(profile)) {
                passphrases.streams().error(format_args!("agent_genkey failed: {code}"));
            }
            Err(failure)
        }
        Err(error) => Err(error.into()),
    }
}

/// Trusts a new key that is in a keyring file: owner trust is in the home directory's database.
fn trust_in_home(
    settings: &Settings,
    streams: &mut Streams,
    key: &Fingerprint,
    command: &str,
) -> anyhow::Result<()> {
    let store = trust::database_to_write(settings, streams)?;
    let ultimate = Assignment::new(*key, OwnerTrust::Ultimate, None);
    Ok(owner_trust::assign(store.as_ref(), &[ultimate], command, settings.now)?)
}

/// Makes the certificate of keys that the agent signs with.
fn certify_agent_keys(
    destination: &KeyDestination<'_>,
    profile: &Profile,
    keys: &AgentKeys,
    command: &str,
    settings: &Settings,
) -> engine::Result<generate::GeneratedKey> {
    let agent = secrets::agent(settings);
    let mut fingerprint = None;
    let mut opened = Vec::new();
    for body in &keys.public {
        let own = parse_public(body).map_err(secret::Error::from)?.fingerprint();
        let primary = *fingerprint.get_or_insert(own);
        let role = if own == primary { Role::Primary } else { Role::Subkey };
        let user_id = profile.user_ids.first().cloned().unwrap_or_default();
        let public = PublicKey { role, body: body.clone(), primary, user_id };
        let key = agent.open_without_certificate(public, settings.passphrase.given.clone());
        opened.push(key.ok_or(secret::Error::Missing { key: own.to_string() })?);
    }
    let mut signers = opened.iter_mut().map(|key| key.as_mut() as &mut dyn Signer);
    let Some(primary) = signers.next() else {
        return Err(secret::Error::Missing { key: "on the card".to_owned() }.into());
    };
    let mut subkeys: Vec<&mut dyn Signer> = signers.collect();
    generate::certify(destination, profile, primary, &mut subkeys, command, settings.now)
}

/// Returns gpg's code for a secret key that cannot be used. One named by its keygrip is a missing file to gpg, or one
/// without the expected numbers if it is of another algorithm.
fn failure(error: &secret::Error, profile: &Profile, passphrases: &mut Passphrases<'_>) -> Failure {
    match error {
        secret::Error::Missing { .. } if holds(profile) => Failure::of_agent(Code::NO_SUCH_FILE),
        // gpg finds the wrong algorithm itself.
        secret::Error::Unsupported { .. } if holds(profile) => Failure::from(Code::MISSING_ITEM),
        error => passphrases.failure(error),
    }
}

/// Says whether a certificate is made of keys that exist.
fn holds(profile: &Profile) -> bool {
    let plans = std::iter::once(&profile.primary).chain(&profile.subkeys);
    plans.into_iter().any(|plan| matches!(plan.source(), KeySource::Existing(..)))
}

/// Lists the new key.
fn show(settings: &Settings, streams: &mut Streams, key: &Fingerprint) -> anyhow::Result<()> {
    let mut list = settings.list.clone();
    list.flags.uid_validity = false;
    let keyrings = Keyrings::open(settings, streams)?;
    for (_, snapshot) in keyrings.snapshots()?.iter() {
        if let Some(id) = snapshot.by_fingerprint(&[*key])?[0] {
            let text = delete::show(settings, &list, snapshot.as_ref(), id)?.text;
            streams.out().write_all(&text)?;
            break;
        }
    }
    streams.out().flush()?;
    Ok(())
}

fn profile(settings: &Settings, streams: &mut Streams, order: &Order) -> Result<Profile, Code> {
    let request = &order.request;
    let primary = plan(settings, streams, &request.primary)?;
    let parts = request.subkeys.iter();
    let subkeys = parts.map(|part| plan(settings, streams, part)).collect::<Result<_, Code>>()?;
    let preferences = request.preferences.clone().unwrap_or_else(|| key_preferences(settings));
    Ok(Profile {
        version: Version::in_gnupg(4, primary.algorithm()),
        primary,
        subkeys,
        preferences,
        user_ids: vec![request.user_id.clone()],
        keyserver: request.keyserver.clone().or_else(|| settings.default_keyserver_url.clone()),
        revokers: request.revoker.into_iter().collect(),
        decryption_subkeys: Vec::new(),
        digest: settings
            .cert_digest
            .or_else(|| default_digest(settings.compat, request.primary.kind.material)),
    })
}

/// Returns the hash algorithm of the self-signatures where it is not the one that suits the key: that of gpg 2.4 for
/// Ed25519.
fn default_digest(compat: Compat, material: Material) -> Option<HashAlgorithm> {
    let is_eddsa = matches!(material, Material::Eddsa(_) | Material::Existing(_, Family::Eddsa));
    (is_eddsa && compat >= Compat::V2_4).then_some(HashAlgorithm::SHA512)
}

fn plan(settings: &Settings, streams: &mut Streams, part: &Part) -> Result<Plan, Code> {
    let flags = key_flags(part.kind.usage);
    let plan = match part.kind.material {
        Material::Existing(keygrip, family) => {
            Plan::existing(keygrip, PublicKeyAlgorithm(family as u8), flags)
        }
        material => {
            let (algorithm, notes) = key_algorithm(material, settings)?;
            notes.iter().for_each(|note| streams.info(note));
            Plan::new(algorithm, flags)
        }
    };
    let mut plan = plan.map_err(|_| Code::WRONG_KEY_USAGE)?;
    plan.lifetime = NonZeroU32::new(part.valid_for);
    plan.version = Some(Version::in_gnupg(4, plan.algorithm()));
    Ok(plan)
}

/// Says whether `--forbid-gen-key` was given, and reports it.
pub(super) fn is_forbidden(settings: &Settings, streams: &mut Streams) -> bool {
    if settings.forbid_gen_key {
        streams.status_failure("gen-key", Code::NOT_ENABLED);
        streams.error("This command is not allowed while in forbid-gen-key mode.");
    }
    settings.forbid_gen_key
}

/// Reports that the requested key cannot be generated.
pub(super) fn report_failure(streams: &mut Streams, code: Code) {
    streams.error(format_args!("Key generation failed: {code}"));
}

/// Reports that a key was not generated.
pub(super) fn report_not_generated(
    settings: &Settings,
    streams: &mut Streams,
    location: &str,
    failure: CodedFailure,
    handle: &[u8],
) {
    let CodedFailure { code, value } = failure;
    // To a user, gpg says it on the terminal; what was no error before is one here, so that the exit code tells it.
    match settings.batch || streams.exit_code(false) == 0 {
        true => streams.error(format_args!("key generation failed: {code}")),
        false => tell(settings, format!("Key generation failed: {code}\n").as_bytes()),
    }
    streams.status_error(location, value);
    streams.status(with_handle("KEY_NOT_CREATED ", handle));
}

/// Appends the handle of a parameter file to the arguments of a status line, as one word.
pub(super) fn with_handle(arguments: impl Display, handle: &[u8]) -> Vec<u8> {
    const MAX_HANDLE: usize = 100;
    if handle.is_empty() {
        return arguments.to_string().into_bytes();
    }
    let word =
        handle.iter().take(MAX_HANDLE).map(|&byte| if byte.is_ascii_whitespace() { b'_' } else { byte });
    status::with_text(arguments, &word.collect::<Vec<u8>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handle_is_one_word_after_the_fingerprint_or_a_second_space() {
        assert_eq!(with_handle("KEY_CREATED B AB", b"my handle"), b"KEY_CREATED B AB my_handle");
        assert_eq!(with_handle("KEY_NOT_CREATED ", b"x"), b"KEY_NOT_CREATED  x");
        assert_eq!(with_handle("KEY_NOT_CREATED ", b""), b"KEY_NOT_CREATED ");
    }
}
