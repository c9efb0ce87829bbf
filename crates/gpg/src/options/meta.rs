//! Meta commands of configuration files: `[user NAME]`, `[force]`, `[ignore]`, `[echo TEXT]` and the like.

use std::fs;

use rustix::process::getuid;

use super::refusal::Fault;
use super::row::Row;

/// The owner of a configuration file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    /// The administrator's, which may force options or have them ignored.
    System,
    User,
}

/// What the system's file says about options in the user's file and on the command line.
#[derive(Debug, Default)]
pub(crate) struct Rules {
    rules: Vec<(&'static str, Rule)>,
    ignore_all: bool,
    forcing: bool,
    ignoring: bool,
    /// `[ignore]` or `[-ignore]` was seen.
    explicit: bool,
    section: Section,
}

#[derive(Clone, Copy, Debug, Default)]
struct Rule {
    forced: bool,
    ignored: bool,
    explicit: bool,
}

/// The `[user ...]` section of a line.
#[derive(Debug, Default)]
struct Section {
    seen: bool,
    wildcard_seen: bool,
    any_active: bool,
    active: bool,
}

impl Rules {
    /// Executes a meta command and returns its message. Fails with what is wrong with it.
    pub(super) fn command(
        &mut self,
        command: &[u8],
        owner: Owner,
        file: &str,
        line: usize,
    ) -> Result<Option<String>, &'static str> {
        let end = command.iter().position(u8::is_ascii_whitespace).unwrap_or(command.len());
        let (name, argument) = (&command[..end], command[end..].trim_ascii());
        let (on, bare) = match name.split_first() {
            Some((b'-', bare)) => (false, bare),
            Some((b'+', bare)) if !matches!(bare, b"echo" | b"info" | b"user") => (true, bare),
            _ => (true, name),
        };
        let (takes_argument, everywhere) = match bare {
            b"user" if on => (true, false),
            b"force" | b"ignore" => (false, false),
            b"ignore-all" if on => (false, false),
            b"verbose" => (false, true),
            b"echo" | b"info" => (true, true),
            _ => return Err("unknown meta command"),
        };
        match (takes_argument, argument.is_empty()) {
            (true, true) => return Err(Fault::MissingArgument.text()),
            (false, false) => return Err(Fault::UnexpectedArgument.text()),
            _ if owner == Owner::User && !everywhere => return Err("unexpected meta command"),
            _ => {}
        }
        if self.elsewhere(owner) && !matches!(bare, b"user" | b"verbose" | b"echo") {
            return Ok(None);
        }
        match bare {
            b"user" => self.section.enter(argument),
            b"force" => self.forcing = on,
            b"ignore" => (self.ignoring, self.explicit) = (on, true),
            b"ignore-all" => self.ignore_all = true,
            b"verbose" => {}
            _ => return Ok(Some(expanded(argument, on, file, line))),
        }
        Ok(None)
    }

    /// Says whether an option in a file is skipped, and records the marks of options in the system's file.
    pub(super) fn drops(&mut self, row: &'static Row, owner: Owner) -> bool {
        if self.elsewhere(owner) {
            return true;
        }
        if owner == Owner::User {
            let rule = self.rule(row);
            return rule.forced || rule.ignored;
        }
        let (forcing, ignoring, explicit) = (self.forcing, self.ignoring, self.explicit);
        let at = self.rules.iter().position(|(name, _)| *name == row.name()).unwrap_or_else(|| {
            self.rules.push((row.name(), Rule::default()));
            self.rules.len() - 1
        });
        let rule = &mut self.rules[at].1;
        rule.forced |= forcing;
        rule.ignored |= ignoring;
        rule.explicit |= explicit;
        rule.ignored && !rule.forced
    }

    /// Ends the system's file.
    pub(crate) fn end_of_system_file(&mut self) {
        (self.forcing, self.ignoring, self.explicit) = (false, false, false);
        self.section = Section::default();
    }

    /// Says whether an option on the command line is skipped.
    pub(crate) fn drops_on_command_line(&self, row: &Row) -> bool {
        let rule = self.rule(row);
        rule.forced || (rule.ignored && rule.explicit)
    }

    fn rule(&self, row: &Row) -> Rule {
        let known = self.rules.iter().find(|(name, _)| *name == row.name()).map(|(_, rule)| *rule);
        let mut rule = known.unwrap_or_default();
        rule.ignored |= self.ignore_all && !rule.explicit;
        rule
    }

    fn elsewhere(&self, owner: Owner) -> bool {
        owner == Owner::System && self.section.seen && !self.section.active
    }
}

impl Section {
    fn enter(&mut self, name: &[u8]) {
        self.seen = true;
        if name == b"*" {
            self.wildcard_seen = true;
            self.active = !self.any_active;
        } else {
            let own = user_name().is_some_and(|own| own.as_bytes().eq_ignore_ascii_case(name));
            self.active = own && !self.wildcard_seen;
            self.any_active |= self.active;
        }
    }
}

/// Expands `$$`, `${file}`, `${line}` and `${user}`; any other variable is empty.
fn expanded(text: &[u8], with_place: bool, file: &str, line: usize) -> String {
    let text = String::from_utf8_lossy(text);
    let mut rest = text.as_ref();
    let mut out = if with_place { format!("{file}:{line}: ") } else { String::new() };
    while let Some((before, after)) = rest.split_once('$') {
        out.push_str(before);
        rest = after;
        if let Some(after) = rest.strip_prefix('$') {
            out.push('$');
            rest = after;
        } else if let Some((name, after)) = rest.strip_prefix('{').and_then(|rest| rest.split_once('}')) {
            match name {
                "file" => out.push_str(file),
                "line" => out.push_str(&line.to_string()),
                "user" => out.push_str(&user_name().unwrap_or_default()),
                _ => {}
            }
            rest = after;
        } else {
            out.push('$');
        }
    }
    out.push_str(rest);
    out
}

/// Returns the name of the user this process runs for, from `/etc/passwd`.
fn user_name() -> Option<String> {
    let uid = getuid().as_raw().to_string();
    let users = fs::read_to_string("/etc/passwd").ok()?;
    users.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(1)? == uid).then(|| name.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::parse::find_exactly;

    #[test]
    fn a_forced_option_is_taken_from_the_system_only() {
        let mut rules = Rules::default();
        let batch = find_exactly(b"batch").expect("an option");
        let armor = find_exactly(b"armor").expect("an option");
        rules.command(b"force", Owner::System, "x", 1).expect("known");
        assert!(!rules.drops(batch, Owner::System));
        rules.command(b"-force", Owner::System, "x", 2).expect("known");
        assert!(!rules.drops(armor, Owner::System));
        rules.end_of_system_file();
        assert!(rules.drops(batch, Owner::User) && rules.drops_on_command_line(batch));
        assert!(!rules.drops(armor, Owner::User) && !rules.drops_on_command_line(armor));
    }

    #[test]
    fn ignore_all_silences_user_files_but_not_the_command_line() {
        let mut rules = Rules::default();
        let batch = find_exactly(b"batch").expect("an option");
        rules.command(b"ignore-all", Owner::System, "x", 1).expect("known");
        rules.end_of_system_file();
        assert!(rules.drops(batch, Owner::User));
        assert!(!rules.drops_on_command_line(batch));
    }

    #[test]
    fn a_section_holds_for_one_user_and_the_wildcard_for_the_rest() {
        let own = user_name().expect("this process has a user");
        let mut section = Section::default();
        section.enter(own.to_uppercase().as_bytes());
        assert!(section.active);
        section.enter(b"*");
        assert!(!section.active);
        section.enter(own.as_bytes());
        assert!(!section.active, "nothing counts after the wildcard");
    }
}
