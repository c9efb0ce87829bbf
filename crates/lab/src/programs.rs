//! Descriptions of programs, read from TOML: the commands with which they import, list, encrypt, ...
//!
//! `programs.toml` describes the known programs; the user can describe further ones in a file of the same form.

use std::collections::BTreeMap;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

/// The descriptions of the known programs.
const KNOWN: &str = include_str!("programs.toml");

/// The description of a program.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub(crate) struct Description {
    /// Its name in reports.
    pub(crate) name: String,
    /// The description from which missing fields are taken.
    pub(crate) like: Option<String>,
    /// The executable, searched for beside this program, then in the `PATH`.
    pub(crate) program: String,
    /// The arguments that print its version.
    pub(crate) version: Vec<String>,
    /// The version is in the first line that contains this, in lower case.
    pub(crate) version_line: String,
    /// A condition for its presence.
    pub(crate) needs: Option<Needs>,
    /// The command that stops its servers.
    pub(crate) stop: Vec<String>,
    /// Files that are left out of copies of its home.
    pub(crate) derived: Vec<String>,
    /// Files of each new home.
    pub(crate) files: BTreeMap<String, String>,
    pub(crate) environment: BTreeMap<String, String>,
    /// Its arguments for ciphers, compressions and algorithms, by the lab's names.
    pub(crate) words: BTreeMap<String, Vec<String>>,
    pub(crate) actions: BTreeMap<String, Action>,
}

/// A command and what its output must contain.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct Needs {
    pub(crate) run: Vec<String>,
    pub(crate) says: String,
}

/// An action of a program.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct Action {
    pub(crate) run: Vec<String>,
    /// Alternative commands, for versions that refuse `run`.
    #[serde(default)]
    pub(crate) or: Vec<Vec<String>>,
    #[serde(default)]
    pub(crate) stdin: String,
    /// The file on stdin, instead of that text.
    pub(crate) from: Option<String>,
    /// The file that stdout goes to.
    pub(crate) to: Option<String>,
    /// The exit codes of success.
    #[serde(default = "only_zero")]
    pub(crate) accept: Vec<i32>,
    /// The regular expression of output lines that are keys.
    pub(crate) keys: Option<String>,
    /// The regular expression of output lines that are signatures.
    pub(crate) signatures: Option<String>,
    /// A note for the report.
    #[serde(default)]
    pub(crate) note: String,
}

impl Action {
    /// Returns the command at an index: 0 is `run`, the others are `or`.
    pub(crate) fn alternative(&self, choice: usize) -> &[String] {
        if choice == 0 { &self.run } else { &self.or[choice - 1] }
    }
}

fn only_zero() -> Vec<i32> {
    vec![0]
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    program: Vec<Description>,
}

/// Returns the known descriptions, then those of further TOML.
///
/// # Errors
///
/// What is wrong with the TOML.
pub(crate) fn descriptions(further: Option<&str>) -> Result<Vec<Description>> {
    let mut all: Vec<Description> = Vec::new();
    for text in [Some(KNOWN), further].into_iter().flatten() {
        let file: File = toml::from_str(text)?;
        for description in file.program {
            let description = complete(description, &all)?;
            ensure!(
                all.iter().all(|other| other.name != description.name),
                "two programs are called {}",
                description.name
            );
            all.push(description);
        }
    }
    Ok(all)
}

/// Fills the missing fields of a description from the one that it is like.
fn complete(mut description: Description, earlier: &[Description]) -> Result<Description> {
    if let Some(like) = &description.like {
        let base = earlier.iter().find(|other| other.name == *like);
        let base =
            base.with_context(|| format!("{} is like {like}, which is not there", description.name))?;
        let base = base.clone();
        let or = |own: String, other: String| if own.is_empty() { other } else { own };
        let or_list = |own: Vec<String>, other: Vec<String>| if own.is_empty() { other } else { own };
        description = Description {
            program: or(description.program, base.program),
            version: or_list(description.version, base.version),
            version_line: or(description.version_line, base.version_line),
            stop: or_list(description.stop, base.stop),
            derived: or_list(description.derived, base.derived),
            files: base.files.into_iter().chain(description.files).collect(),
            environment: base.environment.into_iter().chain(description.environment).collect(),
            words: base.words.into_iter().chain(description.words).collect(),
            actions: base.actions.into_iter().chain(description.actions).collect(),
            ..description
        };
    }
    ensure!(!description.name.is_empty(), "a program has no name");
    ensure!(!description.program.is_empty(), "{}: no program is named", description.name);
    if description.version.is_empty() {
        description.version.push("--version".to_owned());
    }
    Ok(description)
}

impl Description {
    /// Replaces `{names}` in arguments by their values. A value that is a whole argument may become none or several, as
    /// the program's words say.
    ///
    /// # Errors
    ///
    /// If a name has no value.
    pub(crate) fn fill(&self, arguments: &[String], values: &Values) -> Result<Vec<String>> {
        let mut filled = Vec::new();
        for argument in arguments {
            let alone = argument.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
            match alone.and_then(|name| values.get(name)).and_then(|value| self.words.get(value)) {
                Some(words) => filled.extend(words.iter().cloned()),
                None => filled.push(self.fill_text(argument, values)?),
            }
        }
        Ok(filled)
    }

    /// Replaces `{names}` in a text by their values.
    ///
    /// # Errors
    ///
    /// If a name has no value.
    pub(crate) fn fill_text(&self, text: &str, values: &Values) -> Result<String> {
        let mut filled = String::new();
        let mut rest = text;
        while let Some((before, behind)) = rest.split_once('{') {
            let (name, behind) =
                behind.split_once('}').with_context(|| format!("{}: {text}: a }} is missing", self.name))?;
            let value = values.get(name);
            let value =
                value.with_context(|| format!("{}: {text}: nothing is known of {name}", self.name))?;
            filled.push_str(before);
            match self.words.get(value) {
                Some(words) => filled.push_str(&words.join(" ")),
                None => filled.push_str(value),
            }
            rest = behind;
        }
        filled.push_str(rest);
        Ok(filled)
    }
}

/// The values for the names in a command line.
pub(crate) type Values = BTreeMap<String, String>;

/// Returns the values for these names.
pub(crate) fn values<const N: usize>(values: [(&str, String); N]) -> Values {
    values.map(|(name, value)| (name.to_owned(), value)).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(name: &str) -> Description {
        descriptions(None).unwrap().into_iter().find(|description| description.name == name).unwrap()
    }

    fn filled(name: &str, arguments: &[&str], values: &[(&str, &str)]) -> Vec<String> {
        let arguments: Vec<String> = arguments.iter().map(|&argument| argument.to_owned()).collect();
        let values = values.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect();
        known(name).fill(&arguments, &values).unwrap()
    }

    #[test]
    fn a_program_like_another_differs_in_what_it_says_itself() {
        let gpg1 = known("gpg 1.4");
        assert_eq!((gpg1.program.as_str(), gpg1.derived[0].as_str()), ("gpg1", "trustdb.gpg"));
        assert!(!gpg1.actions["encrypt"].run.contains(&"--pinentry-mode".to_owned()));
        assert_eq!(gpg1.actions["generate"].run[1..3], ["--trust-model", "pgp"]);
        assert_eq!(gpg1.actions["import"].run, known("gpg keybox").actions["import"].run);
    }

    #[test]
    fn a_word_becomes_as_many_arguments_as_the_program_needs() {
        let cipher = ["--cipher", "{cipher}"];
        assert_eq!(filled("rnp", &cipher, &[("cipher", "3DES")]), ["--cipher", "TRIPLEDES"]);
        assert_eq!(filled("rnp", &cipher, &[("cipher", "AES256 OCB")]), ["--cipher", "AES256", "--aead=OCB"]);
        assert_eq!(filled("sq", &["encrypt", "{cipher}"], &[("cipher", "AES256")]), ["encrypt"]);
        assert_eq!(filled("keyhoard", &["--db={home}/k"], &[("home", "/h")]), ["--db=/h/k"]);
    }

    #[test]
    fn a_program_that_cannot_be_told_the_cipher_gets_an_option_that_it_refuses() {
        let encrypt = &known("rsop").actions["encrypt"].run[3..];
        let run = |cipher, compression| {
            let arguments: Vec<&str> = encrypt.iter().map(String::as_str).collect();
            filled("rsop", &arguments, &[("cipher", cipher), ("compression", compression)])
        };
        assert_eq!(run("AES256", "none"), [""; 0]);
        assert_eq!(run("3DES", "zip"), ["--cipher=3DES", "--compress=zip"]);
        assert_eq!(filled("rsop", &["{algorithm}"], &[("algorithm", "rsa4096")]), ["--profile=rfc4880"]);
    }

    #[test]
    fn a_name_without_value_is_an_error() {
        let error = known("rnp").fill(&["{nothing}".to_owned()], &Values::new()).unwrap_err();
        assert_eq!(error.to_string(), "rnp: {nothing}: nothing is known of nothing");
    }

    #[test]
    fn further_programs_come_from_a_file() {
        let text = "[[program]]\nname = 'mine'\nprogram = 'pgp'\n[program.actions]\nimport = { run = ['pgp', '{file}'] }\n";
        let all = descriptions(Some(text)).unwrap();
        assert_eq!(all.last().unwrap().actions["import"].run, ["pgp", "{file}"]);
        assert!(descriptions(Some("[[program]]\nname = 'rnp'\nprogram = 'x'\n")).is_err());
        assert!(descriptions(Some("[[program]]\nname = 'x'\nlike = 'nobody'\n")).is_err());
    }
}
