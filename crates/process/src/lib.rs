//! Protects the secrets in the memory of a process; the programs do that before anything else.
//!
//! This changes the whole process, so that only programs may do it: a library does not know what else its process does.

use rustix::process::{DumpableBehavior, Resource, Rlimit, getrlimit, set_dumpable_behavior, setrlimit};

/// Keeps the memory of this process from other processes of the user, and from disks.
///
/// - No core is dumped, whatever the limit was (`RLIMIT_CORE`). Child processes may raise the limit again.
/// - The process is not dumpable (`PR_SET_DUMPABLE`, prctl(2)): debuggers of the same user cannot attach, and the files
///   of `/proc` that show its memory belong to the superuser.
/// - The limit of locked memory is raised as far as the system allows (`RLIMIT_MEMLOCK`); memory with secrets is
///   locked.
///
/// None of these calls fails on Linux, since each only takes rights away or stays below the hard limit.
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
