//! What a place in the file system allows, and files that are for their owner only.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::{Access, StatVfsMountFlags, access, statvfs};

/// Says whether other machines may share the file: memory cannot be shared then, so that only a rollback journal works.
/// What cannot be looked at counts as local.
#[cfg(target_os = "linux")]
pub(super) fn is_on_network(path: &Path) -> bool {
    rustix::fs::statfs(path).is_ok_and(|stat| u32::try_from(stat.f_type).is_ok_and(is_network))
}

/// Says the same by the mount flag that macOS and the BSDs have for local file systems (statfs(2)).
#[cfg(not(target_os = "linux"))]
pub(super) fn is_on_network(path: &Path) -> bool {
    const MNT_LOCAL: u32 = 0x1000;
    rustix::fs::statfs(path).is_ok_and(|stat| stat.f_flags & MNT_LOCAL == 0)
}

/// Says whether nobody can write there.
pub(super) fn is_mounted_read_only(path: &Path) -> bool {
    statvfs(path).is_ok_and(|stat| stat.f_flag.contains(StatVfsMountFlags::RDONLY))
}

/// Says whether this user may read a file, without opening it: closing it would take away the locks of this process.
pub(super) fn check_readable(path: &Path) -> io::Result<()> {
    Ok(access(path, Access::READ_OK)?)
}

/// Creates files that were not there, which only their owner may access.
pub(super) fn new_file() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(0o600);
    options
}

/// Creates directories, and those above them, which only their owner may access.
pub(super) fn new_directory() -> DirBuilder {
    let mut builder = DirBuilder::new();
    builder.recursive(true).mode(0o700);
    builder
}

/// Makes the names in a directory durable.
pub(super) fn sync_directory(directory: &Path) -> io::Result<()> {
    File::open(directory)?.sync_all()
}

/// File systems that several machines can have mounted (statfs(2)).
///
/// FUSE is not among them: most of what it mounts is local, and nothing tells `sshfs` from the rest.
#[cfg(target_os = "linux")]
fn is_network(kind: u32) -> bool {
    const NFS: u32 = 0x6969;
    const SMB: u32 = 0x517b;
    const CIFS: u32 = 0xff53_4d42;
    const SMB2: u32 = 0xfe53_4d42;
    const PLAN9: u32 = 0x0102_1997;
    const AFS: u32 = 0x5346_414f;
    const CODA: u32 = 0x7375_7245;
    const NCP: u32 = 0x564c;
    const CEPH: u32 = 0x00c3_6400;
    const LUSTRE: u32 = 0x0bd0_0bd0;
    const OCFS2: u32 = 0x7461_636f;
    const GFS2: u32 = 0x0116_1970;
    matches!(kind, NFS | SMB | CIFS | SMB2 | PLAN9 | AFS | CODA | NCP | CEPH | LUSTRE | OCFS2 | GFS2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn file_systems_that_machines_share_are_recognised() {
        assert!(is_network(0x6969), "nfs");
        assert!(is_network(0xfe53_4d42), "smb2");
        assert!(!is_network(0xef53), "ext4");
        assert!(!is_network(0x0102_1994), "tmpfs");
        assert!(!is_network(0x794c_7630), "overlayfs");
        assert!(!is_network(0x6573_5546), "fuse");
    }

    #[test]
    fn a_temporary_directory_is_local_and_what_is_not_there_counts_as_such() {
        for path in [&std::env::temp_dir(), Path::new("/nowhere/at/all")] {
            assert!(!is_on_network(path) && !is_mounted_read_only(path));
        }
    }
}
