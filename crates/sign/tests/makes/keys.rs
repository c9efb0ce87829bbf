//! Keys of a file of secret keys, each with what can sign and with the packets behind it.

use cert::key::{self, Key};
use cert::packet::{Packets, Tag};
use cert::split::{Piece, Splitter};
use secret::{Role, SecretKey, Signer, Unlocked};
use std::num::NonZeroU32;

/// The keys in order, primary keys and subkeys.
pub(crate) struct Keys(pub(crate) Vec<Owned>);

/// A key with its secret.
pub(crate) struct Owned {
    pub(crate) signer: Unlocked,
    public: Vec<u8>,
    /// The signature packets right behind it.
    pub(crate) signatures: Vec<Vec<u8>>,
    /// The user IDs with the signature packets behind them.
    user_ids: Vec<(Vec<u8>, Vec<Vec<u8>>)>,
}

/// The body of a public key packet.
pub(crate) struct Public(Vec<u8>);

impl Public {
    pub(crate) fn key(&self) -> Key<'_> {
        key::parse_public(&self.0).expect("a public key")
    }
}

impl Keys {
    /// Reads plain secret keys, armored or not.
    pub(crate) fn read(mut file: &[u8]) -> Self {
        let mut keys = Self(Vec::new());
        for piece in Splitter::new(&mut file) {
            if let Piece::Certificate(raw) = piece.expect("a sound file") {
                keys.add(&raw);
            }
        }
        keys
    }
}

impl Keys {
    fn add(&mut self, raw: &cert::split::RawCertificate) {
        let mut secrets = raw.secrets.iter();
        for packet in Packets::new(&raw.bytes) {
            let packet = packet.expect("a packet");
            let whole = packet.span.of(&raw.bytes).to_vec();
            match packet.tag {
                Tag::PUBLIC_KEY | Tag::PUBLIC_SUBKEY => {
                    let role = Role::of(packet.tag).expect("a key");
                    let secret = &secrets.next().expect("a secret key").body;
                    self.0.push(Owned::new(role, packet.body, secret));
                }
                Tag::USER_ID => self.primary().user_ids.push((packet.body.to_vec(), Vec::new())),
                Tag::SIGNATURE => self.last_component().push(whole),
                other => panic!("no packet of type {other:?} in these files"),
            }
        }
    }

    /// The last primary key.
    fn primary(&mut self) -> &mut Owned {
        let index = self.0.iter().rposition(|key| key.signer.role() == Role::Primary);
        &mut self.0[index.expect("a certificate begins with its primary key")]
    }

    fn last_component(&mut self) -> &mut Vec<Vec<u8>> {
        let last = self.0.last_mut().expect("a certificate begins with its primary key");
        match last.user_ids.last_mut() {
            Some((_, signatures)) => signatures,
            None => &mut last.signatures,
        }
    }

    /// Where the primary key with this user ID stands.
    pub(crate) fn index_of(&self, user_id: &[u8]) -> usize {
        let has = |key: &Owned| key.user_ids.iter().any(|(name, _)| name == user_id);
        self.0.iter().position(has).expect("the file has this user ID")
    }
}

impl Owned {
    fn new(role: Role, public: &[u8], secret: &[u8]) -> Self {
        let secret = SecretKey::parse(role, secret).expect("a secret key");
        let signer = secret.unlock_plain().expect("a plain secret key");
        Self { signer, public: public.to_vec(), signatures: Vec::new(), user_ids: Vec::new() }
    }

    pub(crate) fn key(&self) -> Key<'_> {
        Signer::key(&self.signer)
    }

    /// Its public half, which the secret one does not borrow.
    pub(crate) fn public(&self) -> Public {
        Public(self.public.clone())
    }

    /// A signature packet behind a user ID.
    pub(crate) fn signature_of(&self, user_id: &[u8], index: usize) -> Vec<u8> {
        let (_, signatures) =
            self.user_ids.iter().find(|(name, _)| name == user_id).expect("the key has this user ID");
        signatures[index].clone()
    }
}

/// A span of time.
pub(crate) fn seconds(count: u32) -> NonZeroU32 {
    NonZeroU32::new(count).expect("some time")
}
