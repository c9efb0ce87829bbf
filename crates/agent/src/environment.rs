//! What the agent is told of the terminal and the desktop, so that its pinentry asks there.

use std::env;

/// The variables that the agent takes as options of their own, with the names of these.
const OPTIONS: [(&str, &str); 5] = [
    ("GPG_TTY", "ttyname"),
    ("TERM", "ttytype"),
    ("DISPLAY", "display"),
    ("XAUTHORITY", "xauthority"),
    ("PINENTRY_USER_DATA", "pinentry-user-data"),
];

/// The variables that it puts into pinentry's environment.
const VARIABLES: [&str; 8] = [
    "XMODIFIERS",
    "WAYLAND_DISPLAY",
    "XDG_SESSION_TYPE",
    "QT_QPA_PLATFORM",
    "GTK_IM_MODULE",
    "DBUS_SESSION_BUS_ADDRESS",
    "QT_IM_MODULE",
    "INSIDE_EMACS",
];

/// Returns the commands that tell the agent of this process's terminal and desktop.
pub(crate) fn commands() -> Vec<String> {
    let option = |(variable, name): (&str, &str)| {
        let value = value(variable).or_else(|| (name == "ttyname").then(terminal).flatten())?;
        Some(format!("OPTION {name}={value}"))
    };
    let variable = |name: &str| Some(format!("OPTION putenv={name}={}", value(name)?));
    let locale = |category: &str, name: &str| {
        let value = ["LC_ALL", category, "LANG"].into_iter().find_map(value)?;
        Some(format!("OPTION {name}={value}"))
    };
    let mut commands: Vec<String> = OPTIONS.into_iter().filter_map(option).collect();
    commands.extend(VARIABLES.into_iter().filter_map(variable));
    commands.extend(locale("LC_CTYPE", "lc-ctype"));
    commands.extend(locale("LC_MESSAGES", "lc-messages"));
    commands
}

/// Returns a variable that is set, is text, and fits into a line.
fn value(name: &str) -> Option<String> {
    const MOST_BYTES: usize = 900;
    let value = env::var(name).ok()?;
    let fits = !value.is_empty() && value.len() <= MOST_BYTES && !value.contains(char::is_control);
    fits.then_some(value)
}

/// Returns the path of the terminal that standard input is.
fn terminal() -> Option<String> {
    let name = rustix::termios::ttyname(std::io::stdin(), Vec::new()).ok()?;
    name.into_string().ok()
}
