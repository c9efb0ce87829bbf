//! What the programs do before anything else, so that nobody reads secrets in their memory.
//!
//! It concerns the whole process, so that it is for programs only: a library does not know what else its process does.

use rustix::process::{DumpableBehavior, Resource, Rlimit, getrlimit, set_dumpable_behavior, setrlimit};

/// Keeps the memory of this process from others of the same user, and from disks.
///
/// - No core is dumped, whatever the limit was (`RLIMIT_CORE`). Programs that are started from here may raise it again.
/// - The process is not dumpable (`PR_SET_DUMPABLE`, prctl(2)): debuggers of the same user cannot attach, and what shows
///   its memory in `/proc` belongs to the superuser.
/// - As much memory may be locked as the limit that the system sets allows (`RLIMIT_MEMLOCK`); secrets are.
///
/// None of these fails on Linux for a process that may do less than it could before.
pub fn protect_memory() {
    let maximum = getrlimit(Resource::Core).maximum;
    let _ = setrlimit(Resource::Core, Rlimit { current: Some(0), maximum });
    let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
    let maximum = getrlimit(Resource::Memlock).maximum;
    let _ = setrlimit(Resource::Memlock, Rlimit { current: maximum, maximum });
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::process::dumpable_behavior;

    #[test]
    fn no_core_is_dumped_nobody_attaches_and_all_memory_that_may_be_locked_can_be() {
        protect_memory();
        assert_eq!(getrlimit(Resource::Core).current, Some(0));
        assert_eq!(dumpable_behavior(), Ok(DumpableBehavior::NotDumpable));
        let limit = getrlimit(Resource::Memlock);
        assert_eq!(limit.current, limit.maximum);
    }
}
