//! Owner trust and trust on first use on a server that a team shares: each role has its own.

use std::sync::atomic::{AtomicU32, Ordering};

use harness::{Gnupg, Home, Run, alice_and_bob, server};

const ALICE: &str = "alice@example.org";
const NOW: &str = "20260201T000000";

/// A schema of the shared server with Alice's and Bob's certificates, and two roles that may import.
struct Team {
    home: Home,
    schema: String,
}

impl Team {
    fn new() -> Self {
        static TEAMS: AtomicU32 = AtomicU32::new(0);
        let schema = format!("team_{}", TEAMS.fetch_add(1, Ordering::Relaxed));
        let team = Self { home: Home::new(), schema };
        team.owner(&["import"]).arg(alice_and_bob()).succeed();
        team.grant();
        team
    }

    /// Gives both roles the rights of importers, as docs/postgresql.md does.
    fn grant(&self) {
        let schema = &self.schema;
        server()
            .psql(&format!(
                "CREATE ROLE {schema}_ann LOGIN; CREATE ROLE {schema}_ben LOGIN;
                GRANT USAGE ON SCHEMA {schema} TO {schema}_ann, {schema}_ben;
                GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {schema} TO {schema}_ann, {schema}_ben;
                REVOKE INSERT, UPDATE, DELETE ON {schema}.meta FROM {schema}_ann, {schema}_ben;"
            ))
            .expect("roles");
    }

    fn url(&self, role: Option<&str>) -> String {
        let url = server().url(&format!("schema={}", self.schema));
        let Some(role) = role else { return url };
        let (_, place) = url.split_once('@').expect("a user and a place");
        format!("postgres://{}_{role}@{place}", self.schema)
    }

    fn run(&self, role: Option<&str>, arguments: &[&str]) -> Run {
        Run::keyhoard(&self.home).at(NOW).args(["--db", &self.url(role)]).args(arguments)
    }

    fn owner(&self, arguments: &[&str]) -> Run {
        self.run(None, arguments)
    }

    /// Returns the owner trust that a role sees.
    fn trusts(&self, role: Option<&str>) -> Vec<String> {
        let listed = self.run(role, &["--json", "trust", "list"]).output().json_lines();
        listed.iter().map(|key| key["owner_trust"].as_str().expect("a word").to_owned()).collect()
    }
}

const ANN: Option<&str> = Some("ann");
const BEN: Option<&str> = Some("ben");

#[test]
fn owner_trust_is_the_roles_own_even_for_the_tables_owner() {
    let team = Team::new();
    team.run(ANN, &["trust", "set", "full", ALICE]).succeed();
    assert_eq!(team.trusts(ANN), ["full"]);
    assert!(team.trusts(BEN).is_empty() && team.trusts(None).is_empty());
    team.run(BEN, &["trust", "set", "never", ALICE]).succeed();
    assert_eq!((team.trusts(ANN), team.trusts(BEN)), (vec!["full".to_owned()], vec!["never".to_owned()]));
    team.run(ANN, &["undo"]).output();
    assert_eq!(team.trusts(BEN), ["never"], "an undo changes nobody else's");
}

#[test]
fn owner_trust_for_everybody_needs_a_privilege_of_its_own_and_gives_way_to_ones_own() {
    let team = Team::new();
    let for_everybody = ["trust", "set", "--for-everybody", "full", ALICE];
    let refused = team.run(ANN, &for_everybody).output();
    assert_eq!(refused.code, Some(2), "{}", refused.errors());
    assert!(refused.errors().contains("GRANT EXECUTE ON FUNCTION trust_for_everybody()"));
    let schema = &team.schema;
    server()
        .psql(&format!("GRANT EXECUTE ON FUNCTION {schema}.trust_for_everybody() TO {schema}_ann"))
        .expect("a grant");
    team.run(ANN, &for_everybody).succeed();
    assert_eq!((team.trusts(ANN), team.trusts(BEN)), (vec!["full".to_owned()], vec!["full".to_owned()]));
    team.run(BEN, &["trust", "set", "unknown", ALICE]).succeed();
    assert!(team.trusts(BEN).is_empty(), "their own decision comes first");
    assert_eq!(team.trusts(ANN), ["full"]);
}

#[test]
fn a_role_writes_no_rows_of_others_or_of_everybody_even_with_sql() {
    let team = Team::new();
    team.run(ANN, &["trust", "set", "full", ALICE]).succeed();
    let schema = &team.schema;
    let as_ben = |sql: &str| server().psql(&format!("SET SESSION AUTHORIZATION {schema}_ben; {sql}"));
    for role in [format!("{schema}_ann"), String::new()] {
        let insert =
            format!("INSERT INTO {schema}.owner_trust (fingerprint, value, role) VALUES ('x', 6, '{role}')");
        assert!(as_ben(&insert).is_err(), "{role:?}");
    }
    as_ben(&format!("UPDATE {schema}.owner_trust SET value = 6; DELETE FROM {schema}.owner_trust"))
        .expect("no row of theirs");
    assert_eq!(team.trusts(ANN), ["full"]);
}

#[test]
fn what_an_option_gave_is_the_roles_own_and_does_not_hide_everybodys() {
    let team = Team::new();
    team.owner(&["trust", "set", "--for-everybody", "never", ALICE]).succeed();
    let gpg = |role, option| {
        let run = Run::with_default_database("gpg-keyhoard", &team.home).env("KEYHOARD_DB", team.url(role));
        let run = run.like(Gnupg::V2_4).at(NOW).arg("--no-autostart");
        run.args(["--trust-model", "pgp", "--trusted-key", option, "--import"]).arg(alice_and_bob()).succeed()
    };
    let alice = "51533D3D0D28361643870CC6356E432296C42478";
    let told = gpg(ANN, alice).errors();
    assert!(told.contains("marked as ultimately trusted"), "{told}");
    assert_eq!([ANN, BEN, None].map(|role| team.trusts(role).concat()), ["ultimate", "never", "never"]);
    gpg(BEN, "none");
    assert_eq!(team.trusts(ANN), ["ultimate"], "another role's option changes nothing");
    gpg(ANN, "none");
    assert_eq!([ANN, BEN].map(|role| team.trusts(role).concat()), ["never", "never"]);
}

#[test]
fn decisions_of_trust_on_first_use_are_the_roles_own() {
    let team = Team::new();
    let policy = |role| {
        let explained = team.run(role, &["--json", "tofu", "explain", ALICE]).succeed().json_lines();
        explained[0]["keys"][0]["decided"].as_str().expect("a word").to_owned()
    };
    team.run(ANN, &["tofu", "policy", "bad", ALICE]).succeed();
    assert_eq!((policy(ANN), policy(BEN), policy(None)), ("bad".into(), "auto".into(), "auto".into()));
    team.run(BEN, &["tofu", "policy", "good", ALICE]).succeed();
    assert_eq!((policy(ANN), policy(BEN)), ("bad".into(), "good".into()));
}

#[test]
fn an_importer_imports_new_user_ids_for_everybody() {
    let team = Team::new();
    team.run(ANN, &["import"]).arg(alice_and_bob()).succeed();
    team.run(BEN, &["doctor"]).succeed();
    let listed = |role| team.run(role, &["--json", "list"]).succeed().json_lines().len();
    assert_eq!(listed(ANN), listed(BEN));
}
