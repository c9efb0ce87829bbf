//! The key that is being edited: the draft, what is selected, and how the user is asked.

use engine::cert::effective::{
    ComponentState, Effective, EvaluationContext, KeyState, PacketView, UserIdState,
};
use engine::cert::facts::{Component, ComponentKind, KeyFacts, SelfSignature, SignatureFacts};
use engine::cert::{KeyId, Origin};
use engine::certifications::{CertificationRules, CertificationStatuses, Checker, IssuerRule};
use engine::designated_revocation::evaluate_certificate;
use engine::edit::{CertifiedIdentity, Draft, Editor, Target};
use engine::listing::{self, IssuerName, KeyListing, ListOptions, Lister, UserTrust};
use engine::store::Fingerprint;
use engine::validity::ValidityResult;
use secret::SecretKeys;
use sign::Subpacket;

use super::moved_keys::OnCard;
use crate::commands::card::access::CardAccess;
use crate::commands::edit::EditKeys;
use crate::failure::{CodedFailure, Failure};
use crate::prompt::{self, Question};
use crate::render::edit_view::{self, EditView, Names};
use crate::render::text::for_people;
use crate::settings::Settings;
use crate::terminal;
use crate::trust;

/// The key that is being edited.
pub(super) struct Session<'a> {
    pub(super) keys: EditKeys<'a>,
    pub(super) draft: Draft,
    /// The user IDs and attributes in the order of their numbers.
    order: Vec<CertifiedIdentity>,
    /// What was known of their validity at the beginning; as in gpg it is not computed again.
    validity: UserTrust,
    validities: Vec<(CertifiedIdentity, listing::Validity)>,
    pub(super) selected: Vec<CertifiedIdentity>,
    pub(super) selected_subkeys: Vec<Fingerprint>,
    /// Whether the secret part of the primary key is here.
    pub(super) has_primary_secret: bool,
    /// Whether that of any key is.
    pub(super) has_any_secret: bool,
    /// The preferences of new self-signatures, once `setpref` has set them.
    pub(super) preferences: Option<keygen::Preferences>,
    pub(super) modified: bool,
    pub(super) on_card: OnCard,
    /// The key is shown before the next question.
    pub(super) redisplay: bool,
}

/// A user ID or attribute of the key, and its state.
#[derive(Clone, Debug)]
pub(super) struct Identity {
    pub(super) identity: CertifiedIdentity,
    pub(super) state: UserIdState,
    /// Its index among the components.
    pub(super) index: usize,
    /// Its number for the user.
    pub(super) number: usize,
}

impl Identity {
    pub(super) fn is_text(&self) -> bool {
        matches!(self.identity, CertifiedIdentity::UserId(_))
    }

    /// Returns the text that stands for it, with control characters escaped.
    pub(super) fn text(&self) -> String {
        text(&self.identity)
    }
}

/// Returns the text that stands for a user ID or attribute, with control characters escaped.
pub(super) fn text(identity: &CertifiedIdentity) -> String {
    let mut text = Vec::new();
    edit_view::name(identity, &mut text);
    String::from_utf8_lossy(&text).into_owned()
}

/// A subkey and its state.
#[derive(Clone, Debug)]
pub(super) struct SubkeyState {
    pub(super) facts: KeyFacts,
    pub(super) state: KeyState,
    /// The binding in force has a back-signature.
    pub(super) is_cross_certified: bool,
}

impl<'a> Session<'a> {
    /// Begins with a certificate of the database; without `with_secrets`, as if no secret key were here.
    pub(super) fn new(keys: EditKeys<'a>, draft: Draft, with_secrets: bool) -> anyhow::Result<Self> {
        let mut session = Self {
            keys,
            draft,
            order: Vec::new(),
            validity: UserTrust::default(),
            validities: Vec::new(),
            selected: Vec::new(),
            selected_subkeys: Vec::new(),
            has_primary_secret: false,
            has_any_secret: false,
            preferences: None,
            modified: false,
            on_card: OnCard::default(),
            redisplay: true,
        };
        if with_secrets {
            let secret = session.secret_keys()?;
            session.has_primary_secret = secret.contains(&session.key());
            session.has_any_secret = !secret.is_empty();
        }
        session.order = session.first_order()?;
        (session.validity, session.validities) = session.validity_now()?;
        Ok(session)
    }

    pub(super) fn settings(&self) -> &'a Settings {
        self.keys.settings
    }

    /// Returns the card in the reader.
    pub(super) fn card(&mut self) -> CardAccess<'_> {
        CardAccess::new(self.keys.settings, self.keys.streams)
    }

    /// Returns the fingerprint of the primary key.
    pub(super) fn key(&self) -> Fingerprint {
        self.draft.fingerprint()
    }

    /// Returns the self-signature in force of a user ID; a revoked one has none.
    pub(super) fn self_signature(&self, found: &Identity) -> Option<&SelfSignature> {
        let binding = found.state.binding.filter(|_| !found.state.revoked)?;
        self.components()[found.index].signatures[binding].own.as_deref()
    }

    /// Returns the selected subkey, or the primary key if the user agrees. `None` if not, or, which is told, if several are
    /// selected.
    pub(super) fn key_to_move(&mut self) -> anyhow::Result<Option<Fingerprint>> {
        match *self.selected_subkeys.as_slice() {
            [] => {
                let question = "Really move the primary key? (y/N) ";
                let is_meant = self.confirm("keyedit.keytocard.use_primary", question)?;
                Ok(is_meant.then(|| self.key()))
            }
            [subkey] => Ok(Some(subkey)),
            _ => {
                self.tell("You must select exactly one key.\n");
                Ok(None)
            }
        }
    }

    /// Returns a key ID as the settings want it.
    pub(super) fn key_id(&self, key_id: KeyId) -> String {
        let mut text = Vec::new();
        self.settings().list.key_id_format.issuer(key_id, &mut text);
        String::from_utf8_lossy(&text).into_owned()
    }

    /// Returns the state of the certificate as gpg sees it.
    pub(super) fn effective(&self) -> anyhow::Result<Effective> {
        let context = EvaluationContext::new(self.settings().now, PacketView::Gnupg)
            .with_digests(self.settings().self_signature_digests());
        let Some(store) = self.keys.keyrings.working_database() else {
            anyhow::bail!("the database is gone")
        };
        let snapshot = store.snapshot()?;
        Ok(evaluate_certificate(self.draft.certificate(), context, &[snapshot.as_ref()])?)
    }

    /// Returns the user IDs and attributes in the order of their numbers.
    pub(super) fn identities(&self) -> anyhow::Result<Vec<Identity>> {
        let effective = self.effective()?;
        let mut found: Vec<Identity> = self
            .components()
            .iter()
            .zip(&effective.components)
            .enumerate()
            .filter_map(|(index, (component, state))| {
                let ComponentState::User(state) = state else { return None };
                let identity = CertifiedIdentity::of(&component.kind)?;
                Some(Identity { identity, state: *state, index, number: 0 })
            })
            .collect();
        let place = |found: &Identity| self.order.iter().position(|known| *known == found.identity);
        found.sort_by_key(|found| place(found).unwrap_or(usize::MAX));
        for (number, found) in (1..).zip(&mut found) {
            found.number = number;
        }
        Ok(found)
    }

    /// Returns the selected ones of the user IDs and attributes, or all if none is selected.
    pub(super) fn selected_or_all(&self) -> anyhow::Result<Vec<Identity>> {
        let all = self.identities()?;
        let is_selected = |found: &Identity| self.selected.is_empty() || self.is_selected(found);
        Ok(all.into_iter().filter(is_selected).collect())
    }

    pub(super) fn is_selected(&self, found: &Identity) -> bool {
        self.selected.contains(&found.identity)
    }

    /// Returns the subkeys in the order of their numbers.
    pub(super) fn subkeys(&self) -> anyhow::Result<Vec<SubkeyState>> {
        let effective = self.effective()?;
        let states = self.components().iter().zip(&effective.components).skip(1);
        Ok(states
            .filter_map(|(component, state)| match (&component.kind, state) {
                (ComponentKind::Key(facts), ComponentState::Key(state)) => {
                    let binding = state.binding.and_then(|index| component.signatures[index].own.as_deref());
                    let is_cross_certified = binding.is_some_and(|binding| binding.embedded_signature);
                    Some(SubkeyState { facts: facts.clone(), state: *state, is_cross_certified })
                }
                _ => None,
            })
            .collect())
    }

    pub(super) fn components(&self) -> &[Component] {
        &self.draft.certificate().facts.components
    }

    /// Returns the signatures of a component that gpg would have.
    pub(super) fn signatures(&self, component: usize) -> impl Iterator<Item = (usize, &SignatureFacts)> {
        let signatures = self.components()[component].signatures.iter().enumerate();
        signatures.filter(|(_, signature)| PacketView::Gnupg.shows(signature))
    }

    /// Returns the keys whose secret part is here.
    pub(super) fn secret_keys(&self) -> anyhow::Result<Vec<Fingerprint>> {
        let mut found = Vec::new();
        for key in self.draft.certificate().facts.keys() {
            if self.keys.has_secret(&key.fingerprint)? {
                found.push(key.fingerprint);
            }
        }
        Ok(found)
    }

    /// Returns the primary keys whose secret part is here and that have this key ID.
    pub(super) fn secret_with_id(&self, key_id: KeyId) -> anyhow::Result<Option<Fingerprint>> {
        let listed = self.keys.secrets.list()?;
        let found = listed.into_iter().filter(|stored| stored.protection.has_secret());
        Ok(found.map(|stored| stored.fingerprint).find(|key| key.key_id() == key_id))
    }

    /// Returns the status of every signature of the certificate.
    pub(super) fn statuses(&self) -> anyhow::Result<CertificationStatuses> {
        let settings = self.settings();
        let rules = CertificationRules {
            now: settings.now,
            view: PacketView::Gnupg,
            digests: settings.digests,
            issuers: IssuerRule::Certifies,
        };
        let snapshots = self.keys.keyrings.snapshots()?;
        let sources: Vec<_> = snapshots.iter().map(|(_, snapshot)| snapshot.as_ref()).collect();
        let Some(first) = sources.first().copied() else { anyhow::bail!("the database is gone") };
        Ok(Checker::new(first, sources, rules).certificate(self.draft.certificate())?)
    }

    /// Returns the primary user ID of the key behind a key ID, escaped.
    pub(super) fn name_of(&self, key_id: KeyId) -> anyhow::Result<String> {
        let snapshots = self.keys.keyrings.snapshots()?;
        let sources: Vec<_> = snapshots.iter().map(|(_, snapshot)| snapshot.as_ref()).collect();
        let mut names = listing::Names::new(sources, self.settings().now, PacketView::Gnupg);
        names.prepare_issuers(std::iter::once(key_id))?;
        let mut text = Vec::new();
        match names.issuer(key_id) {
            IssuerName::UserId(name) => for_people(name, &mut text),
            _ => text.extend(b"[User ID not found]"),
        }
        Ok(String::from_utf8_lossy(&text).into_owned())
    }

    /// Writes text to the terminal.
    pub(super) fn tell(&self, text: impl AsRef<[u8]>) {
        terminal::tell(self.settings(), text.as_ref());
    }

    /// Asks a question that is answered with yes or no.
    pub(super) fn confirm(&mut self, keyword: &'static str, text: &str) -> anyhow::Result<bool> {
        prompt::ask(&Question { keyword, context: b"", text }, self.settings(), self.keys.streams)
    }

    /// Asks for a line, and returns it without white space around it.
    pub(super) fn line(&mut self, keyword: &'static str, text: &str) -> anyhow::Result<Vec<u8>> {
        let question = Question { keyword, context: b"", text };
        let line = prompt::line(&question, self.settings(), self.keys.streams)?;
        Ok(line.trim_ascii().to_vec())
    }

    /// Runs an edit of the draft that the primary key `by` signs.
    pub(super) fn edit<T>(
        &mut self,
        by: &Fingerprint,
        edit: impl FnOnce(&mut Editor<'_>) -> engine::Result<T>,
    ) -> Result<T, Failure> {
        self.keys.edit_draft(&mut self.draft, by, edit)
    }

    /// Runs an edit of the draft that its own primary key signs.
    pub(super) fn edit_own<T>(
        &mut self,
        edit: impl FnOnce(&mut Editor<'_>, &Fingerprint) -> engine::Result<T>,
    ) -> Result<T, Failure> {
        let key = self.key();
        self.edit(&key, |editor| edit(editor, &key))
    }

    /// Reports that a signature was not made.
    pub(super) fn signing_failed(&mut self, failure: Failure) -> anyhow::Result<()> {
        let CodedFailure { code, value } = failure.coded()?;
        self.keys.streams.status_error("keysig", value);
        self.keys.streams.error(format_args!("signing failed: {code}"));
        Ok(())
    }

    /// Reports that a self-signature was not renewed.
    pub(super) fn update_failed(&mut self, what: &str, failure: Failure) -> anyhow::Result<()> {
        let code = failure.coded()?.code;
        self.keys.streams.error(format_args!("{what} failed: {code}"));
        Ok(())
    }

    /// Returns the certificate as the library's edits see it.
    pub(super) fn target(&self) -> anyhow::Result<Target> {
        let Some(store) = self.keys.keyrings.working_database() else {
            anyhow::bail!("the database is gone")
        };
        let snapshot = store.snapshot()?;
        Ok(Target::new(self.draft.certificate().clone(), snapshot.as_ref(), self.settings().now)?)
    }

    /// Returns the preferences of new self-signatures.
    pub(super) fn preferences(&self) -> Vec<Subpacket> {
        let settings = self.settings();
        match &self.preferences {
            None => crate::commands::edit::user_ids::preferences(settings),
            Some(preferences) => {
                let mut subpackets = preferences.subpackets(keygen::Version::V4);
                let keyserver = settings.default_keyserver_url.clone();
                subpackets.extend(keyserver.map(Subpacket::PreferredKeyserver));
                subpackets
            }
        }
    }

    /// Warns if no user ID of several is marked as the primary one.
    pub(super) fn warn_without_primary(&mut self) -> anyhow::Result<()> {
        let texts: Vec<Identity> = self.identities()?.into_iter().filter(Identity::is_text).collect();
        if texts.len() > 1 && !texts.iter().any(|found| self.is_marked_primary(found)) {
            self.keys.streams.info(
                "WARNING: no user ID has been marked as primary.  This command may\n              cause a different \
                 user ID to become the assumed primary.",
            );
        }
        Ok(())
    }

    /// Says whether the self-signature in force marks a user ID or attribute as the primary one.
    pub(super) fn is_marked_primary(&self, found: &Identity) -> bool {
        let binding = found.state.binding.map(|index| &self.components()[found.index].signatures[index]);
        binding.and_then(|signature| signature.own.as_deref()).is_some_and(|own| own.primary_user_id)
    }

    /// Makes text of the key: that of `names`, with subkeys and designated revokers if they are asked for.
    pub(super) fn view(
        &self,
        names: Names<'_>,
        with_subkeys: bool,
        with_revokers: bool,
    ) -> anyhow::Result<Vec<u8>> {
        let secret = self.secret_keys()?;
        let notes = self.notes(with_revokers)?;
        let settings = self.settings();
        let mut text = Vec::new();
        self.with_listing(|listing| {
            let view = EditView {
                listing,
                settings: &settings.list,
                model: settings.trust_model,
                secret: &secret,
                names,
                order: &self.order,
                subkeys: with_subkeys.then_some(&self.selected_subkeys),
                notes: &notes,
            };
            view.write(&mut text);
        })?;
        Ok(text)
    }

    fn notes(&self, with_revokers: bool) -> anyhow::Result<Vec<String>> {
        let effective = self.effective()?;
        let mut notes = Vec::new();
        if let Some(revoked) = effective.primary().revoked {
            let key = self.draft.certificate().facts.primary();
            let name = self.name_of(key.fingerprint.key_id())?;
            let day = crate::clock::day_string(revoked.date);
            let algorithm = crate::algorithms::public_key_name(key.algorithm.0);
            let key_id = self.key_id(key.fingerprint.key_id());
            notes
                .push(format!("The following key was revoked on {day} by {algorithm} key {key_id} {name}\n"));
        }
        for revoker in effective.revokers.iter().filter(|_| with_revokers) {
            let key_id = revoker.fingerprint.key_id();
            let name = self.name_of(key_id)?;
            let algorithm = crate::algorithms::public_key_name(revoker.algorithm.0);
            let sensitive = if revoker.is_sensitive() { " (sensitive)" } else { "" };
            let key_id = self.key_id(key_id);
            notes.push(format!("This key may be revoked by {algorithm} key {key_id} {name}{sensitive}\n"));
        }
        Ok(notes)
    }

    /// Makes a listing of the draft, with the validity of the beginning and the owner trust of now.
    pub(super) fn with_listing<T>(&self, each: impl FnOnce(&KeyListing<'_>) -> T) -> anyhow::Result<T> {
        let settings = self.settings();
        let facts = &self.draft.certificate().facts;
        let effective = self.effective()?;
        let options = ListOptions::as_gnupg(settings.now, settings.self_signature_digests());
        let names = listing::Names::new(Vec::new(), options.now, options.view);
        let (owner, disabled) = self.owner_trust()?;
        let of = |component: &Component| {
            let identity = CertifiedIdentity::of(&component.kind)?;
            self.validities.iter().find(|(known, _)| *known == identity).map(|(_, validity)| *validity)
        };
        let user_ids = facts.components.iter().map(|component| of(component).unwrap_or_default()).collect();
        let trust = UserTrust { user_ids, owner, disabled, ..self.validity.clone() };
        let source = listing::ListingSource {
            facts,
            effective: &effective,
            bytes: None,
            trust: &trust,
            origin: &Origin::default(),
            user_id_origins: &[],
            stored: None,
            statuses: None,
        };
        Ok(each(&Lister { options, names: &names }.listing(source)))
    }

    /// Returns how far the owner is trusted, and whether the key is disabled.
    pub(super) fn owner_trust(&self) -> anyhow::Result<(listing::OwnerTrust, bool)> {
        let settings = self.settings();
        let snapshots = self.keys.keyrings.snapshots()?;
        let nothing = ValidityResult::nothing(&snapshots.sources()?, &trust::settings(settings))?;
        Ok(nothing.anchors().given(&self.key()))
    }

    fn validity_now(&self) -> anyhow::Result<(UserTrust, Vec<(CertifiedIdentity, listing::Validity)>)> {
        let snapshots = self.keys.keyrings.snapshots()?;
        let sources = snapshots.sources()?;
        let result = ValidityResult::of(&[self.key()], &sources, &trust::settings(self.settings()))?;
        let facts = &self.draft.certificate().facts;
        let trust = result.trust_of_copy(facts, &self.effective()?)?;
        let each = facts.components.iter().enumerate().filter_map(|(index, component)| {
            Some((CertifiedIdentity::of(&component.kind)?, trust.of_component(index)))
        });
        Ok((trust.clone(), each.collect()))
    }

    /// Returns the user IDs and attributes as a listing orders them: the primary ones first.
    fn first_order(&self) -> anyhow::Result<Vec<CertifiedIdentity>> {
        self.with_listing(|listing| {
            let components = self.components();
            let indexes = listing.components.iter().map(|listed| listed.index);
            indexes.filter_map(|index| CertifiedIdentity::of(&components[index].kind)).collect()
        })
    }
}
