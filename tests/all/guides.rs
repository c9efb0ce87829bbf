//! The guides in docs/guides: the commands of each page run as they are printed, in a clean home.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use harness::{Home, OwnKey, Run, server};

/// Returns the commands of a page, in order: the lines of its examples that begin with `$`.
fn commands(page: &str) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/guides").join(page);
    let text = fs::read_to_string(path).expect("a guide");
    let commands: Vec<String> =
        text.lines().filter_map(|line| line.strip_prefix("    $ ")).map(str::to_owned).collect();
    assert!(!commands.is_empty(), "{page}");
    commands
}

/// A user's home with our programs in its `PATH`, and nothing else.
struct User {
    home: Home,
    programs: PathBuf,
}

impl User {
    fn new() -> Self {
        let home = Home::new();
        fs::remove_file(home.path().join("gpg.conf")).expect("it was there");
        let programs = home.path().join("programs");
        fs::create_dir(&programs).expect("a directory");
        for name in ["keyhoard", "gpg-keyhoard"] {
            symlink(Run::program_path(name), programs.join(name)).expect("a link");
        }
        Self { home, programs }
    }

    fn shell(&self, line: &str) -> Run {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let path = format!("{}:{}", self.programs.display(), path.to_string_lossy());
        Run::new(Path::new("sh"), self.home.path())
            .env("PATH", path)
            .current_dir(self.home.path())
            .args(["-c", line])
    }

    /// Runs the commands of a page, each of which must succeed; returns what they wrote.
    fn follow(&self, page: &str, variables: &[(&str, &str)]) -> Vec<String> {
        let run = |line: String| {
            let mut run = self.shell(&line);
            for (name, value) in variables {
                run = run.env(name, value);
            }
            let done = run.output();
            assert_eq!(done.code, Some(0), "{page}: {line}\n{}{}", done.text(), done.errors());
            done.text() + &done.errors()
        };
        commands(page).into_iter().map(run).collect()
    }
}

/// Makes a certificate of Ben's, in a file.
fn with_ben(user: &User, file: &str) {
    user.home.write(file, OwnKey::new("Ben <ben@example.org>").certificate());
}

#[test]
fn from_gpg_to_keyhoard() {
    let user = User::new();
    let make = "gpg --batch --pinentry-mode loopback --passphrase '' --quick-generate-key 'Me <me@example.org>' \
        future-default default never";
    user.shell(make).succeed();
    let written = user.follow("from-gpg.md", &[]);
    user.shell("gpgconf --kill all").output();
    assert!(written[2].contains("own key"), "{}", written[2]);
}

/// What the capitals in a command of the table stand for: the beginning of the command, and its words in capitals with
/// their values. The first that fits counts.
const CAPITALS: [(&str, &[(&str, &str)]); 16] = [
    ("import", &[("FILE", "ben.asc")]),
    ("trust exchange import", &[("FILE", "trust.txt")]),
    ("generate", &[("USER-ID", "'New <new@example.org>'")]),
    ("key add-user-id", &[("NAME", "ann@example.org"), ("USER-ID", "'Ann <ann@new.example>'")]),
    ("key revoke-user-id", &[("NAME", "ann@example.org"), ("USER-ID", "'Ann <ann@new.example>'")]),
    ("key primary-user-id", &[("NAME", "ann@example.org"), ("USER-ID", "'Ann <ann@example.org>'")]),
    ("key delete --secret-only", &[("NAME", "second@example.org")]),
    ("key delete", &[("NAME", "third@example.org")]),
    ("key certify --local", &[("NAME", "eva@example.org")]),
    ("key certify", &[("NAME", "ben@example.org")]),
    ("key revoke-certification", &[("NAME", "cleo@example.org")]),
    ("key", &[("NAME", "ann@example.org"), ("FPR", "ann@example.org")]),
    ("trust disable", &[("NAME", "cleo@example.org")]),
    ("delete", &[("NAME", "dora@example.org")]),
    ("decrypt", &[("OUT", "opened.txt"), ("FILE", "secret.pgp")]),
    ("verify", &[("FILE", "ann.pgp"), ("SIGNATURE", "letter.sig"), ("DATA", "letter.txt")]),
];

/// Options instead of the questions that a command asks on a terminal, and where its output goes.
const ANSWERS: [(&str, &str); 8] = [
    ("generate", "--no-passphrase 'Ann again <again@example.org>'"),
    ("delete", "--yes"),
    ("key delete", "--yes"),
    ("key certify", "--yes"),
    ("key passphrase", "--remove"),
    ("trust exchange export", "> trust.txt"),
    ("encrypt --password", "--password-file letter.txt"),
    ("encrypt -r NAME --to-self", "< letter.txt"),
];

/// Fills in the capitals of a command and answers its questions.
fn filled_in(command: &str) -> String {
    let others: &[(&str, &str)] =
        &[("NAME", "ben@example.org"), ("KEY", "ben@example.org"), ("FILE", "letter.txt")];
    let found = CAPITALS.iter().find(|(beginning, _)| command.starts_with(beginning));
    let values = found.map_or(others, |(_, values)| *values);
    let answer = ANSWERS.iter().find(|(beginning, _)| command.starts_with(beginning));
    let answer = answer.map_or("", |(_, answer)| *answer);
    let value = |word: &str| {
        values
            .iter()
            .find(|(name, _)| *name == word)
            .map_or(word.to_owned(), |(_, value)| (*value).to_owned())
    };
    // A password comes from a file instead of a question.
    let words: Vec<String> = command.split(' ').filter(|word| *word != "--password").map(value).collect();
    format!("keyhoard {} {answer}", words.join(" "))
}

#[test]
fn every_command_in_the_table_for_users_of_gpg_does_what_it_says() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/guides/from-gpg.md");
    let text = fs::read_to_string(path).expect("a guide");
    let cells = text.lines().filter_map(|line| line.strip_prefix("| `gpg")?.split("| `keyhoard ").nth(1));
    let commands: Vec<&str> = cells.map(|cell| cell.trim_end_matches([' ', '|', '`'])).collect();
    assert_eq!(commands.len(), 50);
    let user = User::new();
    for name in ["ben", "cleo", "dora", "eva"] {
        user.home.write(
            &format!("{name}.asc"),
            OwnKey::new(&format!("{name} <{name}@example.org>")).certificate(),
        );
    }
    user.home.write("letter.txt", "Dear Ben\n");
    for line in [
        "keyhoard generate --no-passphrase 'Ann <ann@example.org>'",
        "keyhoard generate --no-passphrase 'Second <second@example.org>'",
        "keyhoard generate --no-passphrase 'Third <third@example.org>'",
        "mkdir -p .config/keyhoard && echo 'default-key = \"ann@example.org\"' > .config/keyhoard/config.toml",
        "keyhoard import ben.asc cleo.asc dora.asc eva.asc && keyhoard key certify --yes cleo@example.org",
        "keyhoard encrypt -r ann@example.org -o secret.pgp letter.txt",
        "keyhoard sign --detached -o letter.sig letter.txt && keyhoard export -o ann.pgp ann@example.org",
    ] {
        user.shell(line).succeed();
    }
    let mut run = 0;
    for command in commands {
        let line = filled_in(command);
        if ["search --on", "fetch", "refresh", "publish"].iter().any(|word| command.starts_with(word)) {
            // The network; the command and its options have to be known.
            user.shell(&format!("keyhoard {command} --help")).succeed();
            continue;
        }
        let done = user.shell(&line).output();
        assert_eq!(done.code, Some(0), "{line}: {}", done.errors());
        run += 1;
    }
    assert_eq!(run, 44);
}

#[test]
fn the_first_friend() {
    let user = User::new();
    with_ben(&user, "ben.asc");
    user.home.write("letter.txt", "Dear Ben\n");
    let written = user.follow("first-friend.md", &[]);
    let decrypted = written.iter().find(|text| text.contains("Dear Ben")).expect("a letter");
    assert!(decrypted.contains("GOOD signature by Ann <ann@example.org>, owner verified"), "{decrypted}");
}

#[test]
fn git_pass_and_mail() {
    let user = User::new();
    let written = user.follow("git-pass-mail.md", &[]);
    let letter = written.iter().find(|text| text.contains("Dear Ann")).expect("a letter that was opened");
    assert!(!letter.contains("BEGIN PGP"), "{letter}");
    let secret = written.iter().find(|text| text.contains("hunter2")).expect("a password that was shown");
    assert!(!secret.contains("BEGIN PGP"), "{secret}");
    let tags = written.iter().find(|text| text.contains("v1")).expect("a tag");
    assert!(tags.starts_with("GOOD "), "{tags}");
}

#[test]
fn back_up_and_restore() {
    let user = User::new();
    user.follow("backup.md", &[]);
    for database in ["other-machine.db", "from-paper.db"] {
        let sign = format!("echo text | keyhoard --db {database} key list");
        let done = user.shell(&sign).output();
        assert!(done.text().contains("Ann <ann@example.org>"), "{database}: {}", done.errors());
    }
}

#[test]
fn a_teams_server() {
    let user = User::new();
    with_ben(&user, "team.asc");
    let schema = "team_of_the_guide";
    let owner = server().url(&format!("schema={schema}"));
    let (_, place) = owner.split_once('@').expect("a user and a place");
    let ann = format!("postgres://ann_of_the_guide@{place}");
    user.shell("keyhoard --db \"$OWNER\" db init").env("OWNER", &owner).succeed();
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/guides/team-server.md");
    let page = fs::read_to_string(page).expect("a guide");
    let is_sql = |line: &&str| ["CREATE", "GRANT", "REVOKE"].iter().any(|word| line.starts_with(word));
    let grants: Vec<&str> =
        page.lines().filter_map(|line| line.strip_prefix("    ")).filter(is_sql).collect();
    let grants = grants.join("\n").replace("SCHEMA keyhoard ", &format!("SCHEMA {schema} "));
    let grants = grants
        .replace("keyhoard.meta", &format!("{schema}.meta"))
        .replace("ROLE ann ", "ROLE ann_of_the_guide ");
    // Roles are of the whole server, which tests share.
    let grants =
        grants.replace("keyhoard_reader", "guide_reader").replace("keyhoard_importer", "guide_importer");
    server().psql(&grants).expect("roles");
    user.follow("team-server.md", &[("OWNER", &owner), ("ANN", &ann)]);
}
