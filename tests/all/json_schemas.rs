//! The JSON Schemas in docs/json: what each command writes is as its schema says.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use harness::web::Keyserver;
use harness::{Home, Output, OwnKey, Run, json_faults};
use serde_json::Value;

use crate::agent_home::AgentHome;
use crate::network_user::{User, ann};

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/json")
}

/// Returns the schemas by their names.
fn schemas() -> BTreeMap<String, Value> {
    let entries = fs::read_dir(directory()).expect("schemas");
    let read = |path: PathBuf| {
        let name = path.file_name().expect("a file").to_string_lossy().into_owned();
        let name = name.strip_suffix(".schema.json").expect("a schema").to_owned();
        (name, serde_json::from_str(&fs::read_to_string(path).expect("a schema")).expect("JSON"))
    };
    entries.map(|entry| read(entry.expect("an entry").path())).collect()
}

/// The commands, each with the schema of its documents. They are run one after the other; `$` stands for Ann's key.
const COMMANDS: &[(&str, &str)] = &[
    ("generate", "generate --no-passphrase Ann_<ann@example.org>"),
    ("import", "import ben.pgp letter"),
    ("import", "import --verbose ben.pgp"),
    ("certificate", "list"),
    ("certificate", "list --signatures --secret"),
    ("certificate", "show ben@example.org"),
    ("certificate", "search example"),
    ("key-list", "key list"),
    ("export", "export -o ann.asc ann@example.org"),
    ("export-to-gnupg", "export --to-gnupg gnupg"),
    ("key-export", "key export -o secret.asc ann@example.org"),
    ("edited", "key add-user-id $ Ann_<ann@new.example>"),
    ("edited", "key set-expiry $ 2y"),
    ("edited", "key add-subkey $ --for sign"),
    ("certify", "key certify --yes ben@example.org"),
    ("key-approvals", "key approvals list ben@example.org"),
    ("trust-set", "trust set full ben@example.org"),
    ("trust-set", "trust list"),
    ("trust-explain", "trust explain ben@example.org"),
    ("trust-check", "trust check"),
    ("tofu-list", "tofu list --all"),
    ("tofu-explain", "tofu explain ben@example.org"),
    ("tofu-policy", "tofu policy good ben@example.org"),
    ("tofu-forget", "tofu forget ben@example.org"),
    ("encrypt", "encrypt -r ben@example.org --to-self --sign -o message letter"),
    ("decrypt", "decrypt -o content message"),
    ("sign", "sign --detached -o letter.sig letter"),
    ("verify", "verify letter.sig"),
    ("verify", "verify letter.sig ben.pgp"),
    ("verify-batch", "verify --batch pairs"),
    ("verify-objects", "verify --tags repository"),
    ("policy", "policy"),
    ("status", "status"),
    ("db-status", "db status"),
    ("check", "check"),
    ("who-signed", "who-signed ben@example.org"),
    ("signed-by", "signed-by $"),
    ("doctor", "doctor"),
    ("copy", "copy --from keyhoard.db --to copy.db"),
    ("migrate", "migrate --dry-run ann.asc"),
    ("migrate", "migrate ann.asc"),
    ("export", "export --force -o ann.asc ben@example.org"),
    ("migrate-check", "migrate --check"),
    ("sql", "sql SELECT_*_FROM_certificate"),
    ("key-passphrase", "key passphrase --new-passphrase-file letter $"),
    ("delete", "delete --yes ben@example.org"),
    ("undo", "undo --dry-run"),
    ("undo", "undo"),
    ("log", "log"),
    ("log-entry", "log 1"),
    ("log-entry", "log 2"),
    ("key-delete", "key delete --yes --secret-only ann@example.org"),
];

/// Schemas of commands that use the network or gpg-agent.
const ELSEWHERE: [&str; 5] = ["fetch", "key-move", "publish", "refresh", "search-on"];

/// Commands that fail, so that standard error has something.
const FAILING: [&str; 7] = [
    "list nobody@example.org",
    "no-such-command",
    "export -o letter ben@example.org",
    "--db none.db list",
    "import missing",
    "key certify --yes example",
    "show",
];

#[test]
fn what_every_command_writes_is_as_its_schema_says() {
    let schemas = schemas();
    let home = Home::new();
    home.write("ben.pgp", OwnKey::new("Ben <ben@example.org>").certificate());
    home.write("letter", "Dear Ben\n");
    home.write("pairs", "letter.sig\tletter\nno pair\n");
    let run = |line: &str, key: &str| {
        let words = line.split(' ').map(|word| word.replace('$', key).replace('_', " "));
        Run::keyhoard(&home).current_dir(home.path()).arg("--json").args(words).output()
    };
    let mut seen: BTreeSet<&str> = ELSEWHERE.into_iter().chain(["error"]).collect();
    let mut key = String::new();
    for (name, line) in COMMANDS {
        if *name == "verify-objects" {
            make_repository(&home, &key);
        }
        let done = run(line, &key);
        assert!(!done.json_lines().is_empty(), "{line}: {}", done.errors());
        for document in done.json_lines() {
            let faults = json_faults(&schemas[*name], &document);
            assert!(faults.is_empty(), "{line}: {faults:#?}");
        }
        if *name == "generate" {
            key = done.json_lines()[0]["fingerprint"].as_str().expect("a fingerprint").to_owned();
        }
        seen.insert(name);
    }
    for line in FAILING {
        let done = run(line, &key);
        let told = done.errors();
        assert!(done.code != Some(0) && !told.is_empty(), "{line}");
        for error in told.lines() {
            let error: Value = serde_json::from_str(error).unwrap_or_else(|_| panic!("{line}: {error}"));
            let faults = json_faults(&schemas["error"], &error);
            assert!(faults.is_empty(), "{line}: {faults:#?}");
        }
    }
    let all: BTreeSet<&str> = schemas.keys().map(String::as_str).collect();
    assert_eq!(seen, all, "each schema is compared with something");
}

#[test]
fn what_commands_write_that_use_the_network_or_the_agent_is_as_its_schema_says() {
    let (schemas, key) = (schemas(), ann());
    let mut seen = BTreeSet::new();
    let mut compare = |name: &'static str, done: Output| {
        assert!(!done.json_lines().is_empty(), "{name}: {}", done.errors());
        for document in done.json_lines() {
            let faults = json_faults(&schemas[name], &document);
            assert!(faults.is_empty(), "{name}: {faults:#?}");
        }
        seen.insert(name);
    };
    let server = Keyserver::with(&key.certificate());
    let user = User::new().with_network(&format!("keyservers = [\"{}\"]", server.hkp()));
    let unknown = "0123456789ABCDEF0123456789ABCDEF01234567";
    compare("fetch", user.run(&["--json", "fetch", key.fingerprint(), unknown]).output());
    compare("search-on", user.run(&["--json", "search", "--on", &server.hkp(), "ann"]).output());
    key.add_user_id("20240301T000000!", "Ann <ann@new.example>");
    server.add(&key.certificate());
    compare("refresh", user.run(&["--json", "refresh", "--again"]).output());
    let publish = ["--json", "publish", "--yes", key.fingerprint()];
    for server in [server.hkp(), server.vks()] {
        compare("publish", user.run(&[&publish[..], &["--to", &server]].concat()).output());
    }
    let directory = user.home.path().join("directory");
    let wkd = ["--wkd", directory.to_str().expect("a path in UTF-8")];
    compare("publish", user.run(&[&publish[..], &wkd].concat()).output());
    let agent = AgentHome::with_keys("", &[("ed25519", "cv25519")]);
    let name = ["ed25519@example.org"];
    for to in ["file", "file", "agent"] {
        let line = [&["--json", "key", "move", "--to", to][..], &name].concat();
        compare("key-move", Run::keyhoard(&agent.home).args(line).output());
    }
    assert_eq!(seen, BTreeSet::from(ELSEWHERE));
}

#[test]
fn every_schema_is_listed_with_its_commands() {
    let page = fs::read_to_string(directory().join("../json.md")).expect("the page");
    for name in schemas().keys() {
        let row = format!("| [{name}](json/{name}.schema.json) | ");
        assert!(page.lines().any(|line| line.starts_with(&row)), "docs/json.md does not list {name}");
    }
}

/// Makes a repository with a signed tag.
fn make_repository(home: &Home, key: &str) {
    let repository = home.path().join("repository");
    let git = |arguments: &[&str]| {
        let mut command = Command::new("git");
        command.current_dir(home.path()).env("GIT_CONFIG_GLOBAL", "/dev/null").env("GNUPGHOME", home.path());
        command.env("KEYHOARD_DB", home.database());
        let program = format!("gpg.program={}", Run::program_path("gpg-keyhoard").display());
        let signer = format!("user.signingKey={key}");
        for setting in ["user.name=Ann", "user.email=ann@example.org", &program, &signer] {
            command.args(["-c", setting]);
        }
        let done = command.args(arguments).output().expect("git is installed");
        assert!(done.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
    };
    let place = repository.to_str().expect("ASCII");
    git(&["init", "-q", place]);
    git(&["-C", place, "commit", "-q", "--allow-empty", "-m", "One"]);
    git(&["-C", place, "tag", "-s", "-m", "One", "v1"]);
}

#[test]
fn a_name_or_a_type_that_the_schema_does_not_have_is_a_fault() {
    let schema =
        serde_json::json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]});
    let faults = |document: Value| json_faults(&schema, &document).len();
    assert_eq!(faults(serde_json::json!({"a": "x"})), 0);
    assert_eq!(faults(serde_json::json!({"a": 1})), 1);
    assert_eq!(faults(serde_json::json!({"a": "x", "b": 1})), 1);
    assert_eq!(faults(serde_json::json!({})), 1);
}
