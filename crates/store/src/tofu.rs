//! What trust on first use remembers: which keys came with which addresses, and the messages seen with them.
//!
//! A certificate that comes in brings its bindings with it, so that whoever lists certificates has nothing to write, unless
//! bindings begin with their first use. One that the user decided about, or that messages were seen with, belongs to the
//! user's memory and outlives it.

use cert::{BoundAddress, Fingerprint, Timestamp};

use crate::Result;

/// The number of a binding about which more is kept than its certificate says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BindingId(pub i64);

/// The policy of a binding that nobody decided about.
pub const AUTO: u8 = 1;

/// An address that came with a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binding {
    /// Its number; `None` of one that nobody decided about, that no message was seen with, and whose use was not noted.
    pub id: Option<BindingId>,
    /// The primary key.
    pub fingerprint: Fingerprint,
    /// The address.
    pub address: BoundAddress,
    /// The user ID that the address was first seen in.
    pub user_id: Vec<u8>,
    /// When it was first seen, or last decided about.
    pub since: Timestamp,
    /// What the user decided, as GnuPG numbers it (1 [`AUTO`], 2 good, 3 unknown, 4 bad, 5 ask).
    pub policy: u8,
}

impl Binding {
    fn sort_key(&self) -> (&BoundAddress, &Fingerprint) {
        (&self.address, &self.fingerprint)
    }

    /// Returns what is kept of it beyond what its certificate says.
    pub fn into_kept(self) -> Option<KeptBinding> {
        self.id.map(|_| KeptBinding { user_id: self.user_id, since: self.since, policy: self.policy })
    }
}

/// Sorts bindings by address, then by fingerprint; of those with the same ones the first stays.
pub fn sort_bindings(bindings: &mut Vec<Binding>) {
    bindings.sort_by(|a, b| a.sort_key().cmp(&b.sort_key()));
    bindings.dedup_by(|later, first| later.sort_key() == first.sort_key());
}

/// Which bindings to read.
#[derive(Clone, Copy, Debug)]
pub enum BindingSelection<'a> {
    /// Every binding.
    All,
    /// Those of addresses that came with several keys, or that the user decided about.
    Contested,
    /// Those that messages were seen with.
    Used,
    /// Those that have no number, since nothing more is kept of them than their certificates say.
    Unnumbered,
    /// Those of these addresses.
    Addresses(&'a [BoundAddress]),
}

/// The messages of one kind that were seen with a binding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MessageStatistics {
    /// How many.
    pub count: u64,
    /// When the first one was.
    pub first: Option<Timestamp>,
    /// When the last one was.
    pub last: Option<Timestamp>,
    /// On how many days (UTC) there was one.
    pub days: u64,
}

/// The messages that were seen with a binding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Messages {
    /// Signed messages that were verified, by the time they were verified.
    pub verified: MessageStatistics,
    /// Messages that were encrypted.
    pub encrypted: MessageStatistics,
}

/// A signed message that was verified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifiedMessage {
    /// The digest that was signed, which tells messages apart.
    pub digest: Vec<u8>,
    /// Who handed the message in, for example `email:claws`.
    pub origin: String,
    /// When it was signed, by its signature.
    pub signed: Timestamp,
    /// When it was verified.
    pub verified: Timestamp,
}

/// The messages themselves that were seen with a binding.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SeenMessages {
    /// Signed messages that were verified.
    pub verified: Vec<VerifiedMessage>,
    /// When messages were encrypted.
    pub encrypted: Vec<Timestamp>,
}

impl SeenMessages {
    /// Returns how many there are.
    pub fn count(&self) -> usize {
        self.verified.len() + self.encrypted.len()
    }
}

/// What is kept of a binding beyond what its certificate says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptBinding {
    /// The user ID that the address was first seen in.
    pub user_id: Vec<u8>,
    /// When it was first seen, or last decided about.
    pub since: Timestamp,
    /// What the user decided, as GnuPG numbers it.
    pub policy: u8,
}

/// A change to what is remembered of a key with an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BindingChange {
    /// The address.
    pub address: BoundAddress,
    /// What was kept; `None` if nothing was.
    pub before: Option<KeptBinding>,
    /// What is kept from then on.
    pub after: Option<KeptBinding>,
    /// Messages that came.
    pub added: SeenMessages,
    /// Messages that went.
    pub removed: SeenMessages,
}

impl BindingChange {
    /// Says whether nothing changed.
    pub fn is_none(&self) -> bool {
        self.before == self.after && self.added.count() + self.removed.count() == 0
    }
}

/// Returns the policy of what is kept, or of what is not.
pub fn policy_of(kept: Option<&KeptBinding>) -> u8 {
    kept.map_or(AUTO, |kept| kept.policy)
}

/// Writing bindings. Those of a certificate that comes in are there without being asked for.
///
/// What the user decides, has forgotten or takes over from another program is a change in the journal; the messages that
/// are seen from day to day are not.
pub trait WriteBindings {
    /// Notes what the user decided, as of now; the binding is made if it is not there.
    fn decide(
        &mut self,
        fingerprint: &Fingerprint,
        address: &BoundAddress,
        user_id: &[u8],
        policy: u8,
    ) -> Result<()>;

    /// Keeps a binding that another program kept, with the messages that it saw, unless they were taken over before: the
    /// older time stays, and so does a decision that was made here.
    fn take_over_binding(&mut self, binding: &Binding, messages: &SeenMessages) -> Result<()>;

    /// Makes a binding as another database kept it, with its messages.
    fn restore_binding(&mut self, binding: &Binding, messages: &SeenMessages) -> Result<()>;

    /// Forgets what was decided about a binding and every message seen with it; the binding itself goes too unless its
    /// certificate is there.
    fn forget_binding(&mut self, fingerprint: &Fingerprint, address: &BoundAddress) -> Result<()>;

    /// Makes a change that takes back another one: what is kept becomes what it says, messages come and go. While
    /// messages are left a binding stays, without a decision.
    fn change_binding(&mut self, fingerprint: &Fingerprint, change: &BindingChange) -> Result<()>;

    /// Keeps a binding that messages are to be noted with: the older time stays, and so does a decision.
    fn note_binding(&mut self, binding: &Binding) -> Result<BindingId>;

    /// Keeps a binding about which nothing more is known than that it is used; one that is kept stays as it is.
    fn note_use(&mut self, binding: &Binding) -> Result<()>;

    /// Notes a signed message; says whether it is a new one.
    fn add_verified(&mut self, binding: BindingId, message: &VerifiedMessage) -> Result<bool>;

    /// Notes a message that was encrypted at `time`.
    fn add_encrypted(&mut self, binding: BindingId, time: Timestamp) -> Result<()>;
}
