//! A message never chooses what is written where.

use harness::attack::{Attack, Rule};
use packet_builder::Literal;

use crate::people::TEXT;

/// The rule and its inputs.
pub(crate) fn rule() -> Rule {
    let named = |name: Vec<u8>| {
        let shown = name.escape_ascii().to_string();
        let shown = if shown.is_empty() { "(none)".to_owned() } else { shown };
        let shown =
            if shown.len() > 60 { format!("{}... ({} bytes)", &shown[..40], name.len()) } else { shown };
        Attack::named(format!("`{shown}`"), Literal::named(&name, TEXT).packet().bytes())
    };
    Rule {
        title: "The name in a message makes no file but a harmless one in the current directory",
        about: "Names with directories, control characters and special meanings, with gpg's option \
                `--use-embedded-filename` (39C3: \"accepts path separators and path traversals in literal data \
                filename field\").",
        attacks: names().into_iter().map(named).collect(),
    }
}

/// Names of literal data, and what may come of them in the current directory.
fn names() -> Vec<Vec<u8>> {
    let mut names: Vec<Vec<u8>> = [
        &b"plain.txt"[..],
        b"../outside",
        b"../../../../../../../../../../tmp/keyhoard-attack",
        b"/tmp/keyhoard-attack",
        b"sub/../../outside",
        b"..",
        b".",
        b"/",
        b"",
        b"-",
        b"~/.bashrc",
        b"a\nb",
        b"a\x1b[31mb",
        b"a\0b",
        b"a\rb",
        b"\x7f",
        "a\u{202e}b".as_bytes(),
        b"\xff\xfe",
        b"_CONSOLE",
        b"|id",
        b"$(id)",
        b".bashrc",
        b"-rf",
    ]
    .iter()
    .map(|name| name.to_vec())
    .collect();
    names.push(vec![b'x'; 255]);
    names.push([b"../".repeat(80), b"outside".to_vec()].concat());
    names.push(b"\n".repeat(200));
    names
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::ffi::OsStrExt;
    use std::path::{Path, PathBuf};

    use harness::attack::assert_rule;
    use harness::{Engine, Home, Run};
    use packet_builder::{Mdc, Seipd1, SessionKey, password_packet};

    use super::*;

    #[test]
    fn a_name_makes_no_file_but_a_harmless_one_here() {
        assert_rule(Engine::Sqlite, &rule());
    }

    fn messages(name: &[u8]) -> [Vec<u8>; 2] {
        let literal = Literal::named(name, TEXT).packet().bytes();
        let key = SessionKey([3; 32]);
        let sealed = Seipd1::new(key, &literal, Mdc::Right).packet();
        [literal, [password_packet(4, "open sesame", key).bytes(), sealed.bytes()].concat()]
    }

    /// Returns every file below a directory.
    fn files(directory: &Path) -> Vec<PathBuf> {
        let entries = fs::read_dir(directory).expect("the directory is readable");
        let mut found = Vec::new();
        for entry in entries {
            let path = entry.expect("the directory is readable").path();
            if path.is_dir() {
                found.extend(files(&path));
            }
            found.push(path);
        }
        found
    }

    /// Runs a command that writes in a directory, of which only the innermost may get a file.
    fn new_files(message: &[u8], embedded: bool) -> (Vec<PathBuf>, PathBuf) {
        let home = Home::new();
        let middle = home.path().join("middle");
        let inner = middle.join("inner");
        fs::create_dir_all(&inner).expect("a new directory is writable");
        let file = inner.join("message.gpg");
        fs::write(&file, message).expect("a new directory is writable");
        let before = files(home.path());
        let run = Run::gpg_keyhoard(&home).current_dir(&inner);
        let run = if embedded { run.arg("--use-embedded-filename") } else { run };
        let run = run.args(["--pinentry-mode", "loopback", "--passphrase", "open sesame"]).arg("message.gpg");
        let done = run.output();
        assert!(done.code.is_some_and(|code| code < 100), "{}", done.errors());
        let is_new =
            |path: &PathBuf| !before.contains(path) && !path.to_string_lossy().contains("keyhoard.db");
        (files(home.path()).into_iter().filter(is_new).collect(), inner)
    }

    #[test]
    fn an_embedded_name_makes_a_harmless_file_in_the_current_directory_only() {
        let mut made_files = 0;
        for name in names() {
            for message in messages(&name) {
                let (new, inner) = new_files(&message, true);
                for path in &new {
                    let shown = name.escape_ascii();
                    assert_eq!(path.parent(), Some(&*inner), "{shown} makes {}", path.display());
                    let made = path.file_name().expect("a file has a name").as_bytes();
                    let is_control = |byte: &u8| *byte < 0x20 || *byte == 0x7F;
                    assert!(!made.iter().any(is_control), "{shown} makes {:?}", path);
                }
                assert!(new.len() <= 1, "{}: {new:?}", name.escape_ascii());
                assert!(!Path::new("/tmp/keyhoard-attack").exists(), "{}", name.escape_ascii());
                made_files += new.len();
            }
        }
        assert!(made_files > names().len(), "most messages make a file, not {made_files}");
    }

    #[test]
    fn an_embedded_name_is_not_used_without_the_option_for_it() {
        let mut made_files = 0;
        for name in names() {
            for message in messages(&name) {
                let (new, inner) = new_files(&message, false);
                for path in &new {
                    assert_eq!(*path, inner.join("message"), "{}", name.escape_ascii());
                }
                made_files += new.len();
            }
        }
        assert!(made_files > names().len(), "most messages make a file, not {made_files}");
    }

    #[test]
    fn a_message_for_the_console_goes_to_standard_output_and_makes_no_file() {
        let home = Home::new();
        let file = home.write("message.gpg", Literal::named("_CONSOLE", TEXT).packet().bytes());
        let run = Run::gpg_keyhoard(&home).current_dir(home.path());
        let done = run.args(["--use-embedded-filename", "--decrypt"]).arg(file).output();
        assert_eq!(done.stdout, TEXT, "{}", done.errors());
        assert!(!home.path().join("_CONSOLE").exists());
    }
}
