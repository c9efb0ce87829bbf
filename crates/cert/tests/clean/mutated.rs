//! Real certificates, mutated packet by packet.

use keyhoard_cert::packet::{Packets, Tag};
use keyhoard_cert::split::{Piece, RawCertificate, Splitter};
use std::fs::File;

use crate::made::packet;

/// A generator of numbers that are always the same (xorshift64).
pub(crate) struct Numbers(u64);

impl Numbers {
    pub(crate) fn new(seed: u64) -> Self {
        let mut numbers = Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        for _ in 0..8 {
            numbers.next();
        }
        numbers
    }

    fn next(&mut self) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) as usize
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.next() % limit.max(1)
    }

    pub(crate) fn pick<'a, T>(&mut self, choices: &'a [T]) -> &'a T {
        &choices[self.below(choices.len())]
    }
}

/// The certificates of a keyring of Debian's package `debian-keyring`.
pub(crate) fn keyring(name: &str) -> Vec<RawCertificate> {
    let path = format!("/usr/share/keyrings/{name}.gpg");
    let file = File::open(path).expect("the Debian package debian-keyring is installed");
    let certificates = Splitter::new(file).filter_map(|piece| match piece.expect("a sound keyring") {
        Piece::Certificate(raw) => Some(raw),
        _ => None,
    });
    certificates.collect()
}

/// A certificate's packets: type and body.
#[derive(Clone)]
pub(crate) struct Parts(Vec<(Tag, Vec<u8>)>);

impl Parts {
    pub(crate) fn of(bytes: &[u8]) -> Self {
        let packets = Packets::new(bytes).map(|packet| packet.expect("a packet"));
        Self(packets.map(|packet| (packet.tag, packet.body.to_vec())).collect())
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.0.iter().flat_map(|(tag, body)| packet(*tag, body)).collect()
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Leaves every packet but the first with a chance of `some` in `all`.
    pub(crate) fn thin(&mut self, numbers: &mut Numbers, some: usize, all: usize) {
        let mut index = 0;
        self.0.retain(|_| {
            index += 1;
            index == 1 || numbers.below(all) < some
        });
    }

    /// Changes one thing or another; the primary key stays what and where it is.
    pub(crate) fn mutate(&mut self, numbers: &mut Numbers, strangers: &[RawCertificate]) {
        if self.len() < 3 {
            return;
        }
        match numbers.below(13) {
            0 => self.shuffle(numbers),
            1 => self.copy_somewhere(numbers, |_| true, |_| {}),
            2 => self.move_somewhere(numbers, |_| true),
            3 => drop(self.take(numbers, |_| true)),
            4 => self.change_signature(numbers, |body, numbers| {
                let at = body.len() - 1 - numbers.below(10);
                body[at] ^= 1 << numbers.below(8);
            }),
            5 => self.0.extend_from_within(1..),
            6 => {
                let count = numbers.below(self.len() - 1);
                self.0[1..].rotate_left(count);
            }
            7 => {
                let stranger = Self::of(&numbers.pick(strangers).bytes);
                let packet = numbers.pick(&stranger.0[1..]).clone();
                self.insert(numbers, packet);
            }
            8 => self.move_somewhere(numbers, |tag| tag != Tag::SIGNATURE),
            9 => self.change_signature(numbers, |body, _| {
                let at = digest_prefix(body);
                body[at] ^= 1;
            }),
            10 => self.change_signature(numbers, |body, numbers| {
                body[1] = *numbers.pick(&[0x10, 0x13, 0x18, 0x1f, 0x20, 0x28, 0x30, 0x19, 0x00]);
            }),
            11 => self.insert(numbers, (Tag::TRUST, vec![0, 0])),
            _ => self.copy_somewhere(numbers, |tag| tag == Tag::SIGNATURE, add_unhashed_subpacket),
        }
    }

    /// Spoils a signature, or drops a packet.
    pub(crate) fn spoil(&mut self, numbers: &mut Numbers) {
        match numbers.below(3) {
            0 => drop(self.take(numbers, |tag| tag == Tag::SIGNATURE)),
            1 => self
                .change_signature(numbers, |body, _| *body.last_mut().expect("a signature has bytes") ^= 1),
            _ => self.change_signature(numbers, |body, _| {
                let at = digest_prefix(body);
                body[at] ^= 1;
            }),
        }
    }

    fn shuffle(&mut self, numbers: &mut Numbers) {
        for last in (2..self.len()).rev() {
            self.0.swap(last, 1 + numbers.below(last));
        }
    }

    fn insert(&mut self, numbers: &mut Numbers, packet: (Tag, Vec<u8>)) {
        self.0.insert(1 + numbers.below(self.len()), packet);
    }

    fn choose(&self, numbers: &mut Numbers, suits: impl Fn(Tag) -> bool) -> Option<usize> {
        let suited: Vec<usize> = (1..self.len()).filter(|&index| suits(self.0[index].0)).collect();
        (!suited.is_empty()).then(|| *numbers.pick(&suited))
    }

    fn take(&mut self, numbers: &mut Numbers, suits: impl Fn(Tag) -> bool) -> Option<(Tag, Vec<u8>)> {
        let index = self.choose(numbers, suits)?;
        Some(self.0.remove(index))
    }

    fn move_somewhere(&mut self, numbers: &mut Numbers, suits: impl Fn(Tag) -> bool) {
        if let Some(packet) = self.take(numbers, suits) {
            self.insert(numbers, packet);
        }
    }

    fn copy_somewhere(
        &mut self,
        numbers: &mut Numbers,
        suits: impl Fn(Tag) -> bool,
        change: impl Fn(&mut Vec<u8>),
    ) {
        if let Some(index) = self.choose(numbers, suits) {
            let mut copy = self.0[index].clone();
            change(&mut copy.1);
            self.insert(numbers, copy);
        }
    }

    fn change_signature(&mut self, numbers: &mut Numbers, change: impl Fn(&mut Vec<u8>, &mut Numbers)) {
        let index = self.choose(numbers, |tag| tag == Tag::SIGNATURE);
        if let Some(index) = index.filter(|&index| self.0[index].1[0] == 4) {
            change(&mut self.0[index].1, numbers);
        }
    }
}

/// Where the unhashed subpackets of a version 4 signature begin, with the two bytes of their length.
pub(crate) fn unhashed(body: &[u8]) -> usize {
    6 + usize::from(u16::from_be_bytes([body[4], body[5]]))
}

pub(crate) fn digest_prefix(body: &[u8]) -> usize {
    let unhashed = unhashed(body);
    unhashed + 2 + usize::from(u16::from_be_bytes([body[unhashed], body[unhashed + 1]]))
}

/// Makes another copy of a version 4 signature.
fn add_unhashed_subpacket(body: &mut Vec<u8>) {
    if body[0] == 4 {
        let (unhashed, end) = (unhashed(body), digest_prefix(body));
        let length = (end - unhashed - 2 + 3) as u16;
        body[unhashed..unhashed + 2].copy_from_slice(&length.to_be_bytes());
        body.splice(end..end, [2, 101, 7]);
    }
}
