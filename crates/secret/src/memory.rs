//! Memory for secrets: wiped, kept out of swap and out of core dumps.
//!
//! The only module of this crate with `unsafe` code. Its invariant: a [`Guarded`] is the only owner of its mapping
//! until it is dropped, and the mapping is at least `length` bytes long.

#![allow(unsafe_code)]

use std::ffi::c_void;
use std::ops::{Deref, DerefMut};
use std::ptr::{self, NonNull};
use std::slice;

use rustix::mm::{MapFlags, ProtFlags, mlock, mmap_anonymous, munmap};
use zeroize::Zeroize;

/// The size of the smallest mapping, since an empty one is an error; the system rounds up to pages.
const MIN_LENGTH: usize = 1;

/// Bytes in pages of their own, which are wiped before they are unmapped.
///
/// The pages are locked into memory where the system allows it, and on Linux excluded from core dumps.
pub(crate) struct Guarded {
    start: NonNull<u8>,
    length: usize,
}

// SAFETY: the mapping belongs to this value alone, and only `&mut self` gives a way to write to it.
unsafe impl Send for Guarded {}
// SAFETY: as above; `&self` only reads.
unsafe impl Sync for Guarded {}

impl Guarded {
    /// Maps `length` zero bytes. Aborts the process without memory, as every allocation does.
    pub(crate) fn zeroed(length: usize) -> Self {
        let size = length.max(MIN_LENGTH);
        let flags = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a new private mapping at an address that the system chooses overlaps no memory in use.
        let mapped = unsafe { mmap_anonymous(ptr::null_mut(), size, flags, MapFlags::PRIVATE) };
        let Some(start) = mapped.ok().and_then(NonNull::new) else {
            panic!("no memory for {length} bytes of a secret");
        };
        // Errors are ignored: the limit of locked memory may be zero in a container.
        // SAFETY: the calls concern only the pages of this mapping and do not change their content.
        unsafe {
            let _ = mlock(start.as_ptr(), size);
            #[cfg(target_os = "linux")]
            let _ = rustix::mm::madvise(start.as_ptr(), size, rustix::mm::Advice::LinuxDontDump);
        }
        Self { start: start.cast(), length }
    }

    /// Maps a copy; the caller wipes the original.
    pub(crate) fn copy_of(bytes: &[u8]) -> Self {
        let mut copy = Self::zeroed(bytes.len());
        copy.copy_from_slice(bytes);
        copy
    }
}

impl Deref for Guarded {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: the mapping is as long, initialised with zeros by the system, and lives as long as `self`.
        unsafe { slice::from_raw_parts(self.start.as_ptr(), self.length) }
    }
}

impl DerefMut for Guarded {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as in `deref`; `&mut self` is exclusive.
        unsafe { slice::from_raw_parts_mut(self.start.as_ptr(), self.length) }
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        self.zeroize();
        let size = self.length.max(MIN_LENGTH);
        // SAFETY: the mapping was created in `zeroed` with this size, and there are no references to it. Unmapped pages
        // are unlocked.
        let _ = unsafe { munmap(self.start.as_ptr().cast::<c_void>(), size) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::process::{Resource, getrlimit};

    #[test]
    fn a_secret_is_kept_as_it_is_until_it_is_dropped() {
        for length in [0, 1, 31, 4096, 4097, 100_000] {
            let bytes: Vec<u8> = (0..length).map(|n| (n % 251) as u8).collect();
            let mut copy = Guarded::copy_of(&bytes);
            assert_eq!(*copy, *bytes);
            copy.fill(7);
            assert!(copy.iter().all(|&byte| byte == 7));
            assert_eq!(copy.len(), length);
        }
    }

    /// Returns what the system says of the mapping that holds an address: the lines of `/proc/self/smaps` after it.
    fn flags_of(address: usize) -> String {
        let maps = std::fs::read_to_string("/proc/self/smaps").expect("the system's map of this process");
        let mut inside = false;
        for line in maps.lines() {
            let range = line.split(' ').next().and_then(|range| range.split_once('-'));
            let ends = range.and_then(|(start, end)| {
                Some((usize::from_str_radix(start, 16).ok()?, usize::from_str_radix(end, 16).ok()?))
            });
            if let Some((start, end)) = ends {
                inside = (start..end).contains(&address);
            }
            if let Some(flags) = line.strip_prefix("VmFlags:").filter(|_| inside) {
                return flags.to_owned();
            }
        }
        panic!("{address:x} is not mapped");
    }

    #[test]
    fn a_secret_is_left_out_of_core_dumps() {
        let secret = Guarded::copy_of(b"secret");
        let flags = flags_of(secret.as_ptr() as usize);
        assert!(flags.split_whitespace().any(|flag| flag == "dd"), "no 'do not dump' in{flags}");
    }

    #[test]
    fn a_secret_stays_out_of_swap_where_the_system_allows_it() {
        let allowed = getrlimit(Resource::Memlock).current.is_none_or(|limit| limit >= 1 << 20);
        let secret = Guarded::copy_of(b"secret");
        let is_locked = flags_of(secret.as_ptr() as usize).split_whitespace().any(|flag| flag == "lo");
        assert!(is_locked || !allowed, "the limit of locked memory allows it");
    }
}
