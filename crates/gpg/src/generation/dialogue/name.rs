//! The parts of the user ID.

use engine::cert::mailbox::mailbox;
use engine::configuration::Compat;

use super::asker::Asker;
use crate::generation::parameters::user_id;

/// The answers so far; missing parts are asked for.
#[derive(Default)]
struct NameParts {
    name: Option<String>,
    mail: Option<String>,
    comment: Option<String>,
}

/// What the user wants to do with the parts.
enum Decision {
    Take,
    Change(fn(&mut NameParts)),
    Quit,
}

/// Asks for name, address and, in a `full` dialogue, a comment; `None` if the user quits, or a program gives one that is
/// `known`.
pub(super) fn ask(asker: &mut Asker<'_>, full: bool, known: &[Vec<u8>]) -> anyhow::Result<Option<Vec<u8>>> {
    let mut parts = NameParts::default();
    loop {
        let name = asker.part(&mut parts.name, "keygen.name", "Real name: ", complaint_about_name)?;
        let mail = asker.part(&mut parts.mail, "keygen.email", "Email address: ", complaint_about_mail)?;
        let comment = match full {
            true => asker.part(&mut parts.comment, "keygen.comment", "Comment: ", complaint_about_comment)?,
            false => String::new(),
        };
        let is_misplaced =
            mail.is_empty() && !asker.takes_any_name() && (name.contains('@') || comment.contains('@'));
        let user_id = user_id(name.as_bytes(), comment.as_bytes(), mail.as_bytes()).unwrap_or_default();
        let complaint = if is_misplaced {
            Some("Please don't put the email address into the real name or the comment\n")
        } else {
            known.contains(&user_id).then_some("Such a user ID already exists on this key!\n")
        };
        match asker.decision(&user_id, full, complaint)? {
            Decision::Take => return Ok(Some(user_id)),
            Decision::Change(forget) => forget(&mut parts),
            Decision::Quit => return Ok(None),
        }
    }
}

impl Asker<'_> {
    /// Asks for a part until it is valid.
    fn part(
        &mut self,
        part: &mut Option<String>,
        keyword: &'static str,
        text: &str,
        complaint: fn(&str) -> Option<&'static str>,
    ) -> anyhow::Result<String> {
        if let Some(known) = part {
            return Ok(known.clone());
        }
        let free = keyword != "keygen.comment" && self.takes_any_name();
        let mut context = String::new();
        loop {
            let answer = self.line(keyword, &context, text)?;
            match complaint(&answer).filter(|_| !free) {
                None => return Ok(part.insert(answer).clone()),
                Some(complaint) => context = format!("{complaint}\n"),
            }
        }
    }

    /// Says whether names and addresses are not checked: since 2.4 those of a program are not.
    fn takes_any_name(&self) -> bool {
        let is_of_program = self.is_program() && self.settings.compat >= Compat::V2_4;
        self.settings.allow_freeform_uid || is_of_program
    }

    /// Asks on a terminal whether the user ID is right; a program is taken at its word.
    fn decision(&mut self, user_id: &[u8], full: bool, complaint: Option<&str>) -> anyhow::Result<Decision> {
        if self.is_program() {
            return Ok(if complaint.is_some() { Decision::Quit } else { Decision::Take });
        }
        let shown = String::from_utf8_lossy(user_id);
        let complained = complaint.unwrap_or_default();
        let context = format!("You selected this USER-ID:\n    \"{}\"\n{complained}\n", shown.escape_debug());
        let comment = if full { ", (C)omment" } else { "" };
        let okay = if complaint.is_some() { " or" } else { " or (O)kay/" };
        let text = format!("Change (N)ame{comment}, (E)mail{okay}(Q)uit? ");
        loop {
            let answer = self.line("keygen.userid.cmd", &context, &text)?;
            return Ok(match answer.to_ascii_lowercase().as_str() {
                "n" => Decision::Change(|parts| parts.name = None),
                "c" => Decision::Change(|parts| parts.comment = None),
                "e" => Decision::Change(|parts| parts.mail = None),
                "o" if complaint.is_none() => Decision::Take,
                "q" => Decision::Quit,
                _ => continue,
            });
        }
    }
}

fn complaint_about_name(name: &str) -> Option<&'static str> {
    if name.contains(['<', '>']) {
        Some("The characters '<' and '>' may not appear in name")
    } else if name.starts_with(|c: char| c.is_ascii_digit()) {
        Some("Name may not start with a digit")
    } else if (1..5).contains(&name.len()) {
        Some("Name must be at least 5 characters long")
    } else {
        None
    }
}

fn complaint_about_mail(mail: &str) -> Option<&'static str> {
    let is_address = !mail.contains(['<', '>']) && mailbox(mail.as_bytes()).is_some();
    (!mail.is_empty() && !is_address).then_some("Not a valid email address")
}

fn complaint_about_comment(comment: &str) -> Option<&'static str> {
    comment.contains(['(', ')']).then_some("Invalid character in comment")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_addresses_and_comments_have_their_rules() {
        assert!(complaint_about_name("Heinrich Heine").is_none());
        assert!(complaint_about_name("").is_none());
        for name in ["Joe", "4 of us", "Joe <x>"] {
            assert!(complaint_about_name(name).is_some(), "{name}");
        }
        assert!(complaint_about_mail("h@example.org").is_none());
        assert!(complaint_about_mail("").is_none());
        for mail in ["bad", "<h@example.org>", "a@b@c"] {
            assert!(complaint_about_mail(mail).is_some(), "{mail}");
        }
        assert!(complaint_about_comment("poet").is_none());
        assert!(complaint_about_comment("(poet").is_some());
    }
}
