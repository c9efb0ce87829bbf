//! `--chuid`: the program goes on as another user, before it reads anything.

#![allow(unsafe_code, reason = "the standard library does not change users")]

use std::env;
use std::ffi::{CStr, CString, OsStr};
use std::io;
use std::os::unix::ffi::OsStrExt;

use engine::foreign_text::shown;
use rustix::io::Errno;
use rustix::process::{getegid, geteuid, getgid, getuid};

use crate::system_error::system_words;

/// A user of the system.
struct User {
    name: CString,
    uid: libc::uid_t,
    gid: libc::gid_t,
    home: CString,
}

/// Says whether a variable is about this terminal, the time zone or the language; all others belong to the user before.
fn is_kept(variable: &OsStr) -> bool {
    let name = variable.as_bytes();
    matches!(name, b"TERM" | b"TZ" | b"LANG" | b"LANGUAGE" | b"GPG_TTY") || name.starts_with(b"LC_")
}

/// Becomes the user with a name or number, with the groups, the home directory and the search path of that user.
///
/// Only the superuser becomes another user. Must be called while the program has one thread.
///
/// # Errors
///
/// What gpg says: there is no such user, or the system does not allow it. Then the program must end.
pub(super) fn change_user(name: &[u8]) -> Result<(), String> {
    let user = find(name).ok_or_else(|| format!("user '{}' not found", shown(name)))?;
    let failed = |what: &str, error: io::Error| {
        format!("error {what} '{}': {}", shown(user.name.to_bytes()), system_words(&error))
    };
    // The rights of a set-user-ID program, or capabilities, would not be given up.
    let has_own_rights = getuid() == geteuid() && getgid() == getegid();
    if !has_own_rights {
        return Err(failed("switching to user", Errno::PERM.into()));
    }
    if getuid().as_raw() != user.uid {
        if !getuid().is_root() {
            return Err(failed("setting supplementary groups for", Errno::PERM.into()));
        }
        set_ids(&user).map_err(|(what, error)| failed(what, error))?;
        let others = env::vars_os().filter(|(name, _)| !is_kept(name));
        others.for_each(|(name, _)| set_variable(&name, None));
        set_variable("PATH".as_ref(), Some(OsStr::new("/usr/local/bin:/usr/bin:/bin")));
    }
    set_variable("HOME".as_ref(), Some(OsStr::from_bytes(user.home.to_bytes())));
    let own_name = OsStr::from_bytes(user.name.to_bytes());
    set_variable("USER".as_ref(), Some(own_name));
    set_variable("LOGNAME".as_ref(), Some(own_name));
    Ok(())
}

/// Takes the groups of a user, while it may, and then the user; all that was before is given up for ever.
fn set_ids(user: &User) -> Result<(), (&'static str, io::Error)> {
    // SAFETY: The name ends with a NUL; the calls change nothing but the process.
    unsafe {
        if libc::initgroups(user.name.as_ptr(), user.gid as _) != 0 {
            return Err(("setting supplementary groups for", io::Error::last_os_error()));
        }
        if libc::setgid(user.gid) != 0 || libc::setuid(user.uid) != 0 {
            return Err(("switching to user", io::Error::last_os_error()));
        }
    }
    let users = [getuid(), geteuid()].map(|id| id.as_raw());
    let groups = [getgid(), getegid()].map(|id| id.as_raw());
    // SAFETY: As above; it must fail.
    let returns = user.uid != 0 && unsafe { libc::setuid(0) == 0 };
    if users != [user.uid; 2] || groups != [user.gid; 2] || returns {
        return Err(("switching to user", Errno::PERM.into()));
    }
    Ok(())
}

fn set_variable(name: &OsStr, value: Option<&OsStr>) {
    // SAFETY: There is one thread, as `change_user` demands.
    unsafe {
        match value {
            Some(value) => env::set_var(name, value),
            None => env::remove_var(name),
        }
    }
}

/// Finds a user by number, else by name.
fn find(name: &[u8]) -> Option<User> {
    let number = std::str::from_utf8(name).ok().and_then(|text| text.parse().ok());
    let name = CString::new(name).ok()?;
    // SAFETY: The name ends with a NUL. The record, if there is one, and its strings are valid until the next such call;
    // they are copied before that.
    unsafe {
        let record = match number {
            Some(number) => libc::getpwuid(number),
            None => libc::getpwnam(name.as_ptr()),
        };
        let record = record.as_ref()?;
        let copied = |text: *const libc::c_char| (!text.is_null()).then(|| CStr::from_ptr(text).to_owned());
        Some(User {
            name: copied(record.pw_name)?,
            uid: record.pw_uid,
            gid: record.pw_gid,
            home: copied(record.pw_dir)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_variable_of_the_user_before_is_kept_that_names_a_file_a_server_or_a_password() {
        let others =
            "GNUPGHOME HOME HTTPS_PROXY KEYHOARD_DB LANGUAGES PGPASSWORD PGOPTIONS TMPDIR XDG_CONFIG_HOME";
        assert_eq!(others.split(' ').find(|name| is_kept(name.as_ref())), None);
        assert!(["TERM", "TZ", "LANG", "LC_ALL"].iter().all(|name| is_kept(name.as_ref())));
    }

    #[test]
    fn a_user_is_found_by_name_and_by_number() {
        let [by_name, by_number] =
            [&b"root"[..], b"0"].map(|name| find(name).expect("every system has root"));
        assert_eq!((by_name.uid, by_number.name.as_bytes()), (0, &b"root"[..]));
        assert!(find(b"no such user").is_none() && find(b"root\0").is_none());
        assert_eq!(change_user(b"no such user"), Err("user 'no such user' not found".to_owned()));
    }
}
