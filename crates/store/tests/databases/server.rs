//! What a server asks for: who may do what, encrypted connections, and what happens where something is missing.

use std::process::{Command, Stdio};

use crate::engines::{new_address, server};
use crate::made::{Made, NOW};
use crate::{engines, made};
use keyhoard_store as store;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use scratch_postgres::{Listen, Server};
use store::postgres::{Address, PostgresStore};
use store::{CertId, Error, Fingerprint, KeptVerdict, Query, SignatureDigest, Store};

fn psql(server: &Server, sql: &str) -> String {
    server.psql(sql).expect("statements that work")
}

/// The address of a schema for a user of the shared server.
fn address_of(user: &str, schema: &str) -> Address {
    let url = server().url(&format!("schema={schema}"));
    Address::parse(&url.replacen("keyhoard@", &format!("{user}@"), 1)).expect("a URL")
}

fn put(store: &dyn Store, made: &[Made]) -> store::Result<()> {
    let mut transaction = store.begin("import", None, NOW)?;
    transaction.put(&made.iter().map(Made::put).collect::<Vec<_>>())?;
    transaction.finish_journal()?;
    transaction.commit()
}

fn find(store: &dyn Store, part: &str) -> usize {
    let query = Query::Substring(part.as_bytes().to_vec());
    store.snapshot().expect("snapshot").find(&query).expect("find").len()
}

#[test]
fn an_ordinary_user_makes_a_database_and_grants_others_to_read_or_to_import() {
    psql(
        server(),
        "CREATE ROLE ann LOGIN; CREATE ROLE reader LOGIN; CREATE ROLE importer LOGIN;
         GRANT CREATE ON DATABASE keyhoard TO ann",
    );
    let own = PostgresStore::create(address_of("ann", "anns"), 0).expect("an ordinary user may");
    assert!(own.shape().search_index, "pg_trgm is there");
    put(&own, &[Made::named(1, "Ann <ann@example.org>")]).expect("put");
    psql(
        server(),
        "SET ROLE ann; GRANT USAGE ON SCHEMA anns TO reader, importer;
         GRANT SELECT ON ALL TABLES IN SCHEMA anns TO reader, importer;
         GRANT INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA anns TO importer;
         REVOKE INSERT, UPDATE, DELETE ON anns.meta FROM importer",
    );
    let reader = PostgresStore::open(address_of("reader", "anns")).expect("open");
    assert_eq!(find(&reader, "ann@ex"), 1);
    let refused = message(&put(&reader, &[Made::named(2, "Bob")]).expect_err("it may not"));
    assert!(refused.contains("permission denied"), "{refused}");
    let id = own.snapshot().expect("snapshot").find(&Query::All).expect("find")[0];
    let verdict =
        KeptVerdict { content: SignatureDigest([1; 16]), issuer: Fingerprint::V4([1; 20]), good: true };
    assert!(!reader.keep_verdicts(&[(id, vec![verdict])]).expect("no error"), "only time is lost");

    let importer = PostgresStore::open(address_of("importer", "anns")).expect("open");
    put(&importer, &[Made::named(2, "Bob <bob@example.org>")]).expect("it may");
    assert!(importer.keep_verdicts(&[(id, vec![verdict])]).expect("no error"));
    assert_eq!((find(&reader, "example.org"), find(&own, "bob@")), (2, 1));
}

#[test]
fn without_the_extension_parts_of_user_ids_are_found_by_reading_all() {
    // Who may not create in the database cannot add the extension; a schema was made for him.
    psql(server(), "CREATE DATABASE bare");
    psql(server(), "CREATE ROLE carl LOGIN");
    let url = server().url("").replacen("/keyhoard?", "/bare?", 1);
    let owner = Address::parse(&url).expect("a URL");
    assert!(matches!(PostgresStore::open(owner).err(), Some(Error::Missing { .. })));
    let made = Command::new("psql")
        .args(["-X", "-q", "-d"])
        .arg(&url)
        .arg("-c")
        .arg("CREATE SCHEMA carls AUTHORIZATION carl")
        .stdout(Stdio::null())
        .status();
    assert!(made.expect("psql").success());
    let url = format!("{}schema=carls", url.replacen("keyhoard@", "carl@", 1));
    let store = PostgresStore::create(Address::parse(&url).expect("a URL"), 0).expect("create");
    assert!(!store.shape().search_index);
    put(&store, &[Made::named(1, "Ann <ann@example.org>"), Made::named(2, "50%_\\ of it")]).expect("put");
    assert_eq!((find(&store, "nn@EX"), find(&store, "%_\\ O"), find(&store, "%%")), (1, 1, 0));
}

#[test]
fn what_is_no_database_of_ours_or_a_newer_one_is_refused_by_name() {
    psql(server(), "CREATE SCHEMA foreign_one; CREATE TABLE foreign_one.t (x integer)");
    let foreign = address_of("keyhoard", "foreign_one");
    assert!(matches!(PostgresStore::open(foreign.clone()).err(), Some(Error::Foreign { .. })));
    assert!(matches!(PostgresStore::create(foreign, 0).err(), Some(Error::Foreign { .. })));
    drop(PostgresStore::create(address_of("keyhoard", "newer"), 0).expect("create"));
    psql(server(), "UPDATE newer.meta SET value = 7 WHERE name = 'version'");
    let newer = PostgresStore::open(address_of("keyhoard", "newer")).err().expect("refused").to_string();
    assert!(newer.contains("schema 7, this program knows 3"), "{newer}");
    assert!(matches!(PostgresStore::open(new_address()).err(), Some(Error::Missing { .. })));
}

#[test]
fn a_password_is_asked_for_and_never_said() {
    let server = Server::start(Listen::Loopback, &["fsync=off"]).expect("a server of its own");
    psql(
        &server,
        "CREATE ROLE dora LOGIN PASSWORD 'xyzzy-secret'; GRANT CREATE ON DATABASE keyhoard TO dora",
    );
    let rules = "printf \"local all all trust\\nhost all all all scram-sha-256\\n\" > pg_hba.conf";
    psql(&server, &format!("COPY (SELECT 1) TO PROGRAM 'cat > /dev/null; {rules}'"));
    psql(&server, "SELECT pg_reload_conf()");
    let url = |password: &str| server.url("").replacen("keyhoard@", &format!("dora:{password}@"), 1);
    let open = |password: &str| PostgresStore::create(Address::parse(&url(password)).expect("a URL"), 0);
    let began = std::time::Instant::now();
    while open("wrong").is_ok() && began.elapsed().as_secs() < 20 {
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    let refused = message(&open("xyzzy-wrong").err().expect("refused"));
    assert!(refused.contains("authentication failed") && !refused.contains("xyzzy"), "{refused}");
    let store = open("xyzzy-secret").expect("the password is right");
    assert!(!store.address().to_string().contains("xyzzy"));
    assert!(!format!("{:?}", store.address()).contains("xyzzy"));
}

/// Returns the text of an error and of its sources.
fn message(error: &dyn std::error::Error) -> String {
    std::iter::successors(error.source(), |source| source.source())
        .fold(error.to_string(), |message, source| format!("{message}: {source}"))
}

/// Gives a server a certificate for 127.0.0.1; returns the files of the right root certificate and of another.
fn secure(server: &Server, directory: &std::path::Path) -> [std::path::PathBuf; 2] {
    let root = |name: &str| {
        let mut params = CertificateParams::new(Vec::new()).expect("parameters");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(rcgen::DnType::CommonName, name);
        let issuer =
            CertifiedIssuer::self_signed(params, KeyPair::generate().expect("a key")).expect("a root");
        let file = directory.join(format!("{name}.crt"));
        std::fs::write(&file, issuer.pem()).expect("write");
        (issuer, file)
    };
    let ((issuer, right), (_, wrong)) = (root("right"), root("wrong"));
    let key = KeyPair::generate().expect("a key");
    let params = CertificateParams::new(vec!["127.0.0.1".to_owned()]).expect("parameters");
    let certificate = params.signed_by(&key, &issuer).expect("a certificate");
    for (name, text) in [("server.crt", certificate.pem()), ("server.key", key.serialize_pem())] {
        let rows = text.replace('\n', "|");
        let write = format!("umask 077; tr \"|\" \"\\n\" > {name}");
        psql(server, &format!("COPY (SELECT $${rows}$$) TO PROGRAM '{write}'"));
    }
    psql(server, "ALTER SYSTEM SET ssl = on");
    psql(server, "SELECT pg_reload_conf()");
    [right, wrong]
}

#[test]
fn connections_are_encrypted_and_servers_verified_as_libpq_does() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let server = Server::start(Listen::Loopback, &["fsync=off"]).expect("a server of its own");
    let refused = PostgresStore::create(Address::parse(&server.url("sslmode=require")).expect("a URL"), 0);
    assert!(message(&refused.err().expect("not offered")).contains("TLS"), "it is not offered yet");
    let [right, wrong] = secure(&server, directory.path());
    let number = std::cell::Cell::new(0);
    let open = |parameters: &str| {
        let name = format!("connection_{}", number.replace(number.get() + 1));
        let url = server.url(&format!("application_name={name}&{parameters}"));
        let store = PostgresStore::create(Address::parse(&url).expect("a URL"), 0)?;
        let _held = store.snapshot()?;
        let encrypted = "SELECT count(*) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE ssl";
        Ok::<bool, Error>(psql(&server, &format!("{encrypted} AND application_name = '{name}'")) != "0")
    };
    let began = std::time::Instant::now();
    while open("sslmode=require").is_err() && began.elapsed().as_secs() < 20 {
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    let with = |mode: &str, root: &std::path::Path| {
        open(&format!("sslmode={mode}&sslrootcert={}", root.display().to_string().replace('/', "%2F")))
    };
    assert!(open("sslmode=require").expect("whoever it is"));
    assert!(open("sslmode=prefer").expect("whoever it is"));
    assert!(open("sslmode=allow").is_ok_and(|encrypted| !encrypted), "as the server lets everybody in");
    assert!(open("sslmode=disable").is_ok_and(|encrypted| !encrypted));
    for mode in ["require", "verify-ca", "verify-full"] {
        assert!(with(mode, &right).expect(mode), "{mode}");
        let refused = message(&with(mode, &wrong).expect_err(mode));
        assert!(refused.contains("certificate"), "{mode}: {refused}");
    }
    let other_name = server.url("").replacen("127.0.0.1", "localhost", 1);
    let other = |mode: &str| {
        let root = right.display().to_string().replace('/', "%2F");
        let url = format!("{other_name}sslmode={mode}&sslrootcert={root}");
        PostgresStore::create(Address::parse(&url).expect("a URL"), 0)
    };
    assert!(other("verify-ca").is_ok(), "the name does not count");
    assert!(other("verify-full").is_err(), "the name counts");
}

#[test]
fn verdicts_do_not_wait_for_a_server_that_is_away() {
    let server = Server::start(Listen::Socket, &["fsync=off"]).expect("a server of its own");
    let store = PostgresStore::create(Address::parse(&server.url("")).expect("a URL"), 0).expect("create");
    drop(server);
    let verdict =
        KeptVerdict { content: SignatureDigest([1; 16]), issuer: Fingerprint::V4([1; 20]), good: true };
    let began = std::time::Instant::now();
    assert!(!store.keep_verdicts(&[(CertId(1), vec![verdict])]).expect("no error"));
    assert!(began.elapsed().as_secs() < 30, "{:?}", began.elapsed());
}

#[test]
fn certificates_whose_numbers_are_the_same_get_different_ones() {
    // The first 31 bits of the fingerprints are the same.
    let database = engines::postgres();
    let twin = |last: u8| {
        let mut made = Made::named(1, &format!("Twin {last}"));
        let mut facts = made.facts.clone();
        if let cert::facts::ComponentKind::Key(key) = &mut facts.components[0].kind {
            let mut bytes = <[u8; 20]>::try_from(key.fingerprint.as_bytes()).expect("version 4");
            bytes[19] = last;
            key.fingerprint = Fingerprint::V4(bytes);
        }
        made = Made::of(made.bytes, facts, made::digest(u32::from(last), 1));
        made
    };
    let twins = [twin(1), twin(2), twin(3)];
    put(&*database.store, &twins[..2]).expect("put");
    put(&*database.store, &twins[2..]).expect("put");
    let fingerprints = twins.each_ref().map(Made::fingerprint);
    let ids = database.store.snapshot().expect("snapshot").by_fingerprint(&fingerprints).expect("answers");
    let mut ids: Vec<CertId> = ids.into_iter().map(|id| id.expect("it is there")).collect();
    ids.sort_unstable();
    assert_eq!((ids[1].0 - ids[0].0, ids[2].0 - ids[0].0), (1, 2));
    for twin in &twins {
        let found =
            database.store.snapshot().expect("snapshot").find(&Query::Fingerprint(twin.fingerprint()));
        assert_eq!(found.expect("find").len(), 1);
    }
}
