//! Where the agent of a GnuPG home directory listens, as `gpgconf --list-dirs agent-socket` says.

use std::fs::{self, DirBuilder, File};
use std::io::Read as _;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use rustix::process::getuid;
use verify::naming::sha1;

/// The name of the socket.
const NAME: &str = "S.gpg-agent";

/// Where directories of logged-in users are, in GnuPG's order; Debian's GnuPG uses only these two.
const BASES: [&str; 2] = ["/run", "/var/run"];

/// Returns the path of the agent's socket for a home directory; `is_default` says that it is `~/.gnupg`.
///
/// As GnuPG does, it makes the directory of the socket below the user's directory in `/run` where that exists. Without
/// one the socket is in the home directory.
pub fn agent_socket(home: &Path, is_default: bool) -> PathBuf {
    let user = BASES.iter().map(|base| Path::new(base).join(format!("user/{}", getuid().as_raw())));
    let directory =
        user.into_iter().find(|path| path.is_dir()).and_then(|user| below(&user, home, is_default));
    redirected(&directory.unwrap_or_else(|| home.to_owned()).join(NAME))
}

/// Returns the directory of sockets below a user's directory; `None` if it cannot be used.
fn below(user: &Path, home: &Path, is_default: bool) -> Option<PathBuf> {
    if fs::metadata(user).ok()?.uid() != getuid().as_raw() {
        return None;
    }
    let directory = user.join("gnupg");
    make(&directory)?;
    let found = fs::metadata(&directory).ok()?;
    if !found.is_dir() || found.uid() != getuid().as_raw() || found.mode() & 0o077 != 0 {
        return None;
    }
    if is_default {
        return Some(directory);
    }
    let directory = directory.join(format!("d.{}", hashed(home)));
    make(&directory)?;
    Some(directory)
}

fn make(directory: &Path) -> Option<()> {
    (directory.exists() || DirBuilder::new().mode(0o700).create(directory).is_ok() || directory.exists())
        .then_some(())
}

/// Returns the first 120 bits of the SHA-1 of a path, as z-base-32 digits.
fn hashed(path: &Path) -> String {
    const DIGITS: &[u8; 32] = b"ybndrfg8ejkmcpqxot1uwisza345h769";
    let digest = sha1(&[path.as_os_str().as_encoded_bytes()]);
    let digit = |number: usize| {
        let bits = (0..5).map(|bit| number * 5 + bit);
        bits.fold(0, |value, bit| value << 1 | usize::from(digest[bit / 8] >> (7 - bit % 8) & 1))
    };
    (0..24).map(|number| char::from(DIGITS[digit(number)])).collect()
}

/// Follows a file that stands in a socket's place and names another one (the manual of libassuan, "Socket wrappers").
fn redirected(path: &Path) -> PathBuf {
    const MOST_BYTES: u64 = 511;
    let content = fs::symlink_metadata(path).ok().filter(fs::Metadata::is_file).and_then(|_| {
        let mut text = String::new();
        File::open(path).ok()?.take(MOST_BYTES).read_to_string(&mut text).ok()?;
        Some(text)
    });
    let named = content.as_deref().and_then(|text| text.strip_prefix("%Assuan%\n")).and_then(|rest| {
        let line = rest.lines().find_map(|line| line.strip_prefix("socket="))?;
        Some(expanded(line))
    });
    named.map_or_else(|| path.to_owned(), PathBuf::from)
}

/// Replaces `${NAME}` by a variable of the environment.
fn expanded(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        let Some((name, after)) = after.split_once('}') else { break };
        out.push_str(before);
        out.push_str(&std::env::var(name).unwrap_or_default());
        rest = after;
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As `gpgconf --list-dirs agent-socket` of GnuPG 2.2.40 wrote them.
    #[test]
    fn a_home_of_another_name_has_a_directory_named_by_its_digest() {
        assert_eq!(hashed(Path::new("/run/hh")), "i8ax7oip1xt9z78onxxdubsm");
        assert_eq!(hashed(Path::new("/tmp/agent-x")), "f4opku6fuybtyyrm76kxzpnp");
    }

    #[test]
    fn the_directory_below_the_users_is_made_and_must_be_closed_to_others() {
        let user = tempfile::tempdir().expect("a directory");
        let home = Path::new("/run/hh");
        assert_eq!(below(user.path(), home, true), Some(user.path().join("gnupg")));
        let own = below(user.path(), home, false).expect("a directory");
        assert!(own.ends_with("gnupg/d.i8ax7oip1xt9z78onxxdubsm") && own.is_dir());
        let open = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs::set_permissions(user.path().join("gnupg"), open).expect("it is this user's");
        assert_eq!(below(user.path(), home, true), None);
    }

    #[test]
    fn a_file_in_the_sockets_place_names_another() {
        let home = tempfile::tempdir().expect("a directory");
        let path = home.path().join(NAME);
        assert_eq!(redirected(&path), path);
        fs::write(&path, "%Assuan%\nsocket=/x/${KEYHOARD_NOT_SET}y\n").expect("room");
        assert_eq!(redirected(&path), Path::new("/x/y"));
        fs::write(&path, "socket=/x").expect("room");
        assert_eq!(redirected(&path), path);
    }
}
