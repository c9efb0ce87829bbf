//! Why something is revoked: the menu of gpg.

use engine::cert::facts::RevocationReason;

use crate::prompt::{self, Question};
use crate::settings::Settings;
use crate::streams::Streams;

/// A reason: its number in the menu, its text, and its code.
type Reason = (usize, &'static str, u8);

const NO_REASON: Reason = (0, "No reason specified", RevocationReason::UNSPECIFIED);
const KEY_REASONS: [Reason; 4] = [
    NO_REASON,
    (1, "Key has been compromised", RevocationReason::COMPROMISED),
    (2, "Key is superseded", RevocationReason::SUPERSEDED),
    (3, "Key is no longer used", RevocationReason::RETIRED),
];
const CERTIFICATION_REASONS: [Reason; 2] =
    [NO_REASON, (4, "User ID is no longer valid", RevocationReason::USER_ID_INVALID)];

/// Which reasons are offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Offered {
    /// Those of keys.
    ForKey,
    /// Those of user IDs and certifications.
    ForCertification,
}

impl Offered {
    fn reasons(self) -> &'static [Reason] {
        match self {
            Self::ForKey => &KEY_REASONS,
            Self::ForCertification => &CERTIFICATION_REASONS,
        }
    }
}

/// Asks why; an empty answer stands for the number `usual`. `None` if the user thinks better of it.
pub(crate) fn ask(
    offered: Offered,
    usual: Option<usize>,
    settings: &Settings,
    streams: &mut Streams,
) -> anyhow::Result<Option<RevocationReason>> {
    loop {
        let Some((words, code)) = ask_code(offered, usual, settings, streams)? else { return Ok(None) };
        let comment = ask_comment(settings, streams)?;
        let description = if comment.is_empty() { "(No description given)" } else { comment.as_str() };
        let context = format!("Reason for revocation: {words}\n{description}\n");
        let okay = Question {
            keyword: "ask_revocation_reason.okay",
            context: context.as_bytes(),
            text: "Is this okay? (y/N) ",
        };
        if prompt::ask(&okay, settings, streams)? {
            return Ok(Some(RevocationReason { code, comment: comment.into_bytes() }));
        }
    }
}

fn ask_code(
    offered: Offered,
    usual: Option<usize>,
    settings: &Settings,
    streams: &mut Streams,
) -> anyhow::Result<Option<(&'static str, u8)>> {
    let reasons = offered.reasons();
    let mut menu = String::from("Please select the reason for the revocation:\n");
    for (number, words, _) in reasons {
        menu.push_str(&format!("  {number} = {words}\n"));
    }
    menu.push_str("  Q = Cancel\n");
    if let Some(usual) = usual {
        menu.push_str(&format!("(Probably you want to select {usual} here)\n"));
    }
    let mut context = menu;
    loop {
        let question = Question {
            keyword: "ask_revocation_reason.code",
            context: context.as_bytes(),
            text: "Your decision? ",
        };
        let answer = prompt::line(&question, settings, streams)?;
        let choice = match answer.trim_ascii() {
            [b'q' | b'Q', ..] => return Ok(None),
            [] => usual,
            [digit @ b'0'..=b'9'] => Some(usize::from(digit - b'0')),
            _ => None,
        };
        let chosen = choice.and_then(|number| reasons.iter().find(|reason| reason.0 == number));
        if let Some((_, words, code)) = chosen {
            return Ok(Some((words, *code)));
        }
        context = String::from("Invalid selection.\n");
    }
}

/// Asks for a comment, line by line up to an empty one.
fn ask_comment(settings: &Settings, streams: &mut Streams) -> anyhow::Result<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut context: &[u8] = b"Enter an optional description; end it with an empty line:\n";
    loop {
        let question = Question { keyword: "ask_revocation_reason.text", context, text: "> " };
        let answer = prompt::line(&question, settings, streams)?;
        let line = answer.trim_ascii_end();
        if line.is_empty() {
            return Ok(lines.join("\n"));
        }
        lines.push(String::from_utf8_lossy(line).into_owned());
        context = b"";
    }
}
