//! `keyhoard-demo`: what `make demo` runs, with one key.

use harness::{Gnupg, Home, OwnKey, Run};

#[test]
fn all_times_of_keyhoard_come_before_those_of_gpg() {
    let home = Home::new();
    let keyring = home.write("keyring.pgp", OwnKey::new("Ann <ann@example.org>").certificate());
    let demo = Run::new(&Run::program_path("keyhoard-demo"), home.of_user());
    let text = demo.arg(keyring).arg("<ann@example.org>").succeed().text();
    let title = format!("\ngpg (GnuPG) {}, stopped after 60 s", Gnupg::usual().version());
    let (ours, theirs) = text.split_once(&title).expect(&text);
    let tasks = [
        "import",
        "import again, unchanged",
        "list keys",
        "list signatures with names",
        "one key by mail address",
    ];
    for task in tasks {
        let line = |text: &str| {
            let line = text.lines().find(|line| line.starts_with(&format!("  {task}  ")));
            line.unwrap_or_else(|| panic!("{task}: {text}")).to_owned()
        };
        assert!(line(ours).ends_with("s"), "{text}");
        assert!(line(theirs).ends_with("times as long"), "{text}");
    }
}
