//! A reusable buffer for streams.

use std::fmt;
use std::io::{self, ErrorKind, Read};
use std::ops::{Deref, DerefMut};

use zeroize::Zeroize;

/// A byte queue in contiguous memory, which dereferences to the bytes that were filled and not consumed.
///
/// Memory is wiped before it is freed, since it may have contained secret keys or plaintext.
#[derive(Default)]
pub struct Buffer {
    /// `start..end` is filled; the other bytes cannot be accessed.
    memory: Vec<u8>,
    start: usize,
    end: usize,
    /// The end of the bytes that were written since the memory was last wiped.
    used: usize,
}

impl Buffer {
    /// Removes all bytes.
    pub fn clear(&mut self) {
        (self.start, self.end) = (0, 0);
    }

    /// Removes `count` bytes from the front.
    ///
    /// # Panics
    ///
    /// If there are fewer bytes.
    pub fn consume(&mut self, count: usize) {
        assert!(count <= self.len(), "only what is filled can be consumed");
        self.start += count;
    }

    /// Removes and returns the bytes from index `at` on.
    ///
    /// # Panics
    ///
    /// If there are fewer than `at` bytes.
    pub fn split_off(&mut self, at: usize) -> Vec<u8> {
        let tail = self[at..].to_vec();
        self.end = self.start + at;
        tail
    }

    /// Removes the bytes after the first `length` ones, if there are more.
    pub fn truncate(&mut self, length: usize) {
        self.end = self.end.min(self.start + length);
    }

    /// Appends bytes.
    pub fn extend_from_slice(&mut self, bytes: &[u8]) {
        if self.memory.len() - self.end < bytes.len() {
            // Doubles the size, so that many small writes take linear time.
            self.reserve(bytes.len().max(self.len()));
        }
        self.memory[self.end..][..bytes.len()].copy_from_slice(bytes);
        self.advance(bytes.len());
    }

    fn advance(&mut self, count: usize) {
        self.end += count;
        self.used = self.used.max(self.end);
    }

    /// Inserts bytes at the front; if they were consumed last, this only copies them.
    pub(crate) fn prepend(&mut self, bytes: &[u8]) {
        if let Some(start) = self.start.checked_sub(bytes.len()) {
            self.memory[start..self.start].copy_from_slice(bytes);
            self.start = start;
            return;
        }
        let mut longer = Self::default();
        longer.reserve(self.memory.len().max(bytes.len() + self.len()));
        longer.extend_from_slice(bytes);
        longer.extend_from_slice(self);
        *self = longer;
    }

    /// Reserves memory for `room` more bytes.
    pub fn reserve(&mut self, room: usize) {
        if self.memory.len() - self.end >= room {
            return;
        }
        if self.memory.len() - self.len() >= room {
            self.memory.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.len());
        } else {
            self.resize(self.len() + room);
        }
    }

    /// Reallocates with this size, at least that of the filled bytes.
    pub(crate) fn resize(&mut self, size: usize) {
        let length = self.len();
        let mut memory = vec![0; size.max(length)];
        memory[..length].copy_from_slice(self);
        *self = Self { memory, start: 0, end: length, used: length };
    }

    /// Returns the size of the memory in bytes.
    pub(crate) fn size(&self) -> usize {
        self.memory.len()
    }

    /// Appends the bytes that `write` writes to a slice of `most` bytes; it returns their number.
    ///
    /// # Errors
    ///
    /// Those of `write`; nothing is appended then.
    ///
    /// # Panics
    ///
    /// If `write` returns a number greater than `most`.
    pub fn write_with<E>(
        &mut self,
        most: usize,
        write: impl FnOnce(&mut [u8]) -> Result<usize, E>,
    ) -> Result<usize, E> {
        self.reserve(most);
        let written = write(&mut self.memory[self.end..][..most]);
        if written.is_err() {
            // `write` may have written more than it says.
            self.used = self.used.max(self.end + most);
        }
        let count = written?;
        assert!(count <= most, "nobody writes more than there is room for");
        self.advance(count);
        Ok(count)
    }

    /// Reads until `length` bytes are filled, or to the end of the input. Bytes read before an error stay filled. If
    /// there are fewer than `length`, older content of the memory is wiped.
    ///
    /// # Errors
    ///
    /// Those of the input.
    pub fn fill(&mut self, length: usize, input: &mut (impl Read + ?Sized)) -> io::Result<()> {
        let filled = self.try_fill(length, input);
        if self.len() < length {
            self.memory[self.end..self.used].zeroize();
            self.used = self.end;
        }
        filled
    }

    fn try_fill(&mut self, length: usize, input: &mut (impl Read + ?Sized)) -> io::Result<()> {
        while self.len() < length {
            match self.write_with(length - self.len(), |room| input.read(room)) {
                Ok(0) => break,
                Err(error) if error.kind() != ErrorKind::Interrupted => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }

    /// Removes all bytes and wipes the memory.
    pub fn wipe(&mut self) {
        self.clear();
        self.memory[..self.used].zeroize();
        self.used = 0;
    }
}

impl Deref for Buffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.memory[self.start..self.end]
    }
}

impl DerefMut for Buffer {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.memory[self.start..self.end]
    }
}

impl fmt::Debug for Buffer {
    /// Shows the length, not the content.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Buffer({} bytes)", self.len())
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        self.wipe();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Gives its bytes in pieces, then fails.
    struct Failing<'a>(&'a [u8]);

    impl Read for Failing<'_> {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            // What is written beyond the count that is returned was not read.
            out.fill(b'#');
            let count = self.0.len().min(out.len()).min(3);
            out[..count].copy_from_slice(&self.0[..count]);
            self.0 = &self.0[count..];
            if count == 0 { Err(io::Error::other("as a test")) } else { Ok(count) }
        }
    }

    #[test]
    fn nothing_is_read_but_what_was_filled_though_the_memory_held_more() {
        let mut buffer = Buffer::default();
        buffer.fill(8, &mut &b"a secret"[..]).expect("a slice can be read");
        assert_eq!(&*buffer, b"a secret");
        buffer.clear();
        assert!(buffer.is_empty());
        buffer.fill(8, &mut &b"two"[..]).expect("a slice can be read");
        assert_eq!((&*buffer, &buffer.memory[..]), (&b"two"[..], &b"two\0\0\0\0\0"[..]));
        buffer.clear();
        buffer.fill(8, &mut Failing(b"three")).expect_err("it fails");
        assert_eq!((&*buffer, &buffer.memory[..]), (&b"three"[..], &b"three\0\0\0"[..]));
        assert!(buffer.write_with(100, |_| Err(())).is_err());
        assert_eq!(&*buffer, b"three");
    }

    #[test]
    #[should_panic(expected = "only what is filled")]
    fn no_more_is_consumed_than_was_filled() {
        let mut buffer = Buffer::default();
        buffer.extend_from_slice(b"ab");
        buffer.consume(3);
    }

    #[derive(Clone, Debug)]
    enum Step {
        Extend(Vec<u8>),
        Prepend(Vec<u8>),
        Write(usize, Vec<u8>),
        Consume(usize),
        Truncate(usize),
        SplitOff(usize),
        Reserve(usize),
        Resize(usize),
        Clear,
    }

    fn step() -> impl Strategy<Value = Step> {
        let bytes = || proptest::collection::vec(any::<u8>(), 0..20);
        prop_oneof![
            bytes().prop_map(Step::Extend),
            bytes().prop_map(Step::Prepend),
            (0usize..20, bytes()).prop_map(|(more, bytes)| Step::Write(more, bytes)),
            (0usize..20).prop_map(Step::Consume),
            (0usize..20).prop_map(Step::Truncate),
            (0usize..20).prop_map(Step::SplitOff),
            (0usize..40).prop_map(Step::Reserve),
            (0usize..40).prop_map(Step::Resize),
            Just(Step::Clear),
        ]
    }

    proptest! {
        #[test]
        fn whatever_is_done_it_reads_as_a_queue_of_bytes(steps in proptest::collection::vec(step(), 0..40)) {
            let (mut buffer, mut queue) = (Buffer::default(), Vec::new());
            for step in steps {
                match step {
                    Step::Extend(bytes) => {
                        buffer.extend_from_slice(&bytes);
                        queue.extend(bytes);
                    }
                    Step::Prepend(bytes) => {
                        buffer.prepend(&bytes);
                        queue.splice(..0, bytes);
                    }
                    Step::Write(more, bytes) => {
                        let written = buffer.write_with(bytes.len() + more, |room| {
                            room.fill(b'#');
                            room[..bytes.len()].copy_from_slice(&bytes);
                            Ok::<_, ()>(bytes.len())
                        });
                        prop_assert_eq!(written, Ok(bytes.len()));
                        queue.extend(bytes);
                    }
                    Step::Consume(count) => {
                        let count = count.min(queue.len());
                        buffer.consume(count);
                        queue.drain(..count);
                    }
                    Step::Truncate(length) => {
                        buffer.truncate(length);
                        queue.truncate(length);
                    }
                    Step::SplitOff(at) => {
                        let at = at.min(queue.len());
                        prop_assert_eq!(buffer.split_off(at), queue.split_off(at));
                    }
                    Step::Reserve(room) => buffer.reserve(room),
                    Step::Resize(size) => buffer.resize(size),
                    Step::Clear => {
                        buffer.clear();
                        queue.clear();
                    }
                }
                prop_assert_eq!(&*buffer, &queue[..]);
            }
        }
    }
}
