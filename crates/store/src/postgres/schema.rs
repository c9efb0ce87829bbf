//! The tables, which `docs/schema.md` describes; made plain, or split over partitions.
//!
//! Every unique key of a split table begins with the column that it is split by, and no constraint looks from one table
//! into another, so that the parts could stand on several machines.

use std::fmt::Write;
use std::path::Path;

use super::connect::{Connection, Server};
use crate::{Error, Result};

const DOING: &str = "creating the tables";

/// The version of the tables and of the blobs in them. In version 1 owner trust and trust on first use were everybody's;
/// versions 1 and 2 do not say of owner trust whether an option gave it.
pub(super) const VERSION: i64 = 3;

/// The most partitions: each costs planning time and files.
const MOST_PARTITIONS: u32 = 256;

/// The advisory lock that is taken while tables are created ("Khrd").
const LOCK: i64 = 0x4b68_7264;

/// A table that may be split.
struct Table {
    name: &'static str,
    columns: &'static str,
    /// The columns of its primary key, the first of which it is split by.
    key: &'static str,
}

/// Tables that grow with the certificates and can be derived from `cert` and `packets`.
const DERIVED: [Table; 7] = [
    Table { name: "self_facts", columns: "cert bigint, facts bytea NOT NULL", key: "cert" },
    Table { name: "third_party", columns: "cert bigint, facts bytea NOT NULL", key: "cert" },
    Table {
        name: "user_id",
        columns: "cert bigint, component integer, value bytea NOT NULL, email bytea NOT NULL, search text NOT NULL",
        key: "cert, component",
    },
    Table {
        name: "key_id",
        columns: "short integer, high integer, cert bigint, component integer",
        key: "short, high, cert, component",
    },
    Table { name: "keygrip", columns: "hash bigint, cert bigint", key: "hash, cert" },
    Table { name: "mail", columns: "hash bigint, cert bigint", key: "hash, cert" },
    Table { name: "certification", columns: "issuer bigint, cert bigint", key: "issuer, cert" },
];

/// Tables that grow with the certificates and cannot be derived.
const KEPT: [Table; 5] = [
    Table { name: "primary_key", columns: "fingerprint bytea, cert bigint NOT NULL", key: "fingerprint" },
    Table {
        name: "cert",
        columns: "id bigint, fingerprint bytea NOT NULL, first_seen bigint NOT NULL, changed bigint NOT NULL,
            generation bigint NOT NULL, superseded bytea, origin_kind smallint NOT NULL, origin_updated bigint,
            origin_url bytea",
        key: "id",
    },
    Table { name: "packets", columns: "cert bigint, bytes bytea NOT NULL", key: "cert" },
    Table { name: "verdicts", columns: "cert bigint, verdicts bytea NOT NULL", key: "cert" },
    Table {
        name: "input",
        columns: "digest bytea, cert bigint NOT NULL, first bigint NOT NULL, last bigint NOT NULL",
        key: "digest",
    },
];

/// Tables that are never split. Long values are told apart by their digests: an index takes 2,700 bytes at most.
const WHOLE: &str = "
CREATE TABLE user_id_origin (
  cert bigint, digest bytea, value bytea NOT NULL, kind smallint NOT NULL, updated bigint, url bytea,
  PRIMARY KEY (cert, digest));
CREATE TABLE migration (
  digest bytea PRIMARY KEY, path bytea NOT NULL, modified bigint NOT NULL, size bigint NOT NULL, time bigint);
CREATE TABLE owner_trust (
  fingerprint bytea, value smallint NOT NULL, role text DEFAULT current_user, by_option boolean NOT NULL DEFAULT false,
  PRIMARY KEY (fingerprint, role));
CREATE TABLE tofu_binding (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, fingerprint bytea NOT NULL, digest bytea NOT NULL,
  email bytea NOT NULL, hash bigint NOT NULL, user_id bytea NOT NULL, time bigint NOT NULL,
  policy smallint NOT NULL CHECK (policy BETWEEN 1 AND 5), role text NOT NULL DEFAULT current_user,
  UNIQUE (digest, fingerprint, role));
CREATE TABLE tofu_signature (
  binding bigint, sig_digest bytea, origin bytea, sig_time bigint NOT NULL, time bigint NOT NULL,
  PRIMARY KEY (binding, sig_digest, origin));
CREATE TABLE tofu_encryption (binding bigint NOT NULL, time bigint NOT NULL);
CREATE INDEX tofu_encrypted ON tofu_encryption (binding);
CREATE TABLE journal (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, time bigint NOT NULL, command text NOT NULL,
  added bigint NOT NULL DEFAULT 0, merged bigint NOT NULL DEFAULT 0, removed bigint NOT NULL DEFAULT 0,
  undone_by bigint, undoes bigint, complete boolean NOT NULL DEFAULT false, batches bigint NOT NULL DEFAULT 0);
CREATE TABLE change (
  journal bigint, number bigint, kind smallint NOT NULL, fingerprint bytea NOT NULL, added bytea,
  PRIMARY KEY (journal, number));
CREATE TABLE former (
  journal bigint, number bigint, cert bigint NOT NULL, first_seen bigint NOT NULL, superseded bytea,
  origin_kind smallint NOT NULL, origin_updated bigint, origin_url bytea, bytes bytea NOT NULL,
  PRIMARY KEY (journal, number));
";

/// What version 2 has more than version 1: rows of roles. Those that are there become everybody's, whose role is empty.
const UPGRADE_TO_2: &str = "
ALTER TABLE owner_trust ADD COLUMN role text NOT NULL DEFAULT '';
ALTER TABLE owner_trust DROP CONSTRAINT owner_trust_pkey, ADD PRIMARY KEY (fingerprint, role);
ALTER TABLE owner_trust ALTER COLUMN role SET DEFAULT current_user;
ALTER TABLE tofu_binding ADD COLUMN role text NOT NULL DEFAULT '';
ALTER TABLE tofu_binding DROP CONSTRAINT tofu_binding_digest_fingerprint_key,
  ADD UNIQUE (digest, fingerprint, role);
ALTER TABLE tofu_binding ALTER COLUMN role SET DEFAULT current_user;
";

/// What version 3 has more than version 2.
const UPGRADE_TO_3: &str = "ALTER TABLE owner_trust ADD COLUMN by_option boolean NOT NULL DEFAULT false;";

/// Returns what copies the tables that an upgrade from this version changes, all roles' rows of them, and notes that in
/// the journal at the server's time. While policies are not forced they do not hold for the owner; without a policy
/// nobody else reads a copy.
fn back_up(version: i64) -> String {
    let changed: &[&str] = if version == 1 { &["owner_trust", "tofu_binding"] } else { &["owner_trust"] };
    let mut sql = String::new();
    let mut copies = Vec::new();
    for table in changed {
        let copy = format!("{table}_version_{version}");
        sql += &format!(
            "ALTER TABLE {table} NO FORCE ROW LEVEL SECURITY;
            CREATE TABLE {copy} AS TABLE {table};
            ALTER TABLE {table} FORCE ROW LEVEL SECURITY;
            ALTER TABLE {copy} ENABLE ROW LEVEL SECURITY;"
        );
        copies.push(copy);
    }
    let told = format!("tables brought to version {VERSION}; as they were: {}", copies.join(", "));
    sql + &format!(
        "INSERT INTO journal (time, command, complete)
        VALUES (floor(extract(epoch FROM now()))::bigint, '{told}', true);"
    )
}

/// Deletes the copies that an upgrade made, which have what is purged. That is left to their owner.
pub(super) fn delete_copies(connection: &Connection) -> Result<()> {
    const DOING: &str = "deleting the copies of an upgrade";
    const COPIES: &str = "SELECT relname::text FROM pg_catalog.pg_class
        WHERE relnamespace = (SELECT relnamespace FROM pg_catalog.pg_class WHERE oid = 'meta'::regclass)
            AND relname ~ '^(owner_trust|tofu_binding)_version_[0-9]+$' AND pg_has_role(relowner, 'USAGE')";
    let copies = connection.rows(COPIES, &[], DOING)?;
    let sql: String = copies.iter().map(|row| format!("DROP TABLE {};", row.get::<_, &str>(0))).collect();
    connection.batch(&sql, DOING)
}

/// Who reads and writes which rows of roles: one's own, and everybody's; those are written by who may execute
/// `trust_for_everybody`. What an import notes of user IDs, without anybody's decision, is everybody's and may be written
/// by every importer.
const ROLES: &str = "
CREATE FUNCTION trust_for_everybody() RETURNS boolean LANGUAGE sql RETURN true;
REVOKE EXECUTE ON FUNCTION trust_for_everybody() FROM PUBLIC;
ALTER TABLE owner_trust ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY reading ON owner_trust FOR SELECT USING (role IN ('', current_user::text));
CREATE POLICY own ON owner_trust USING (role = current_user::text);
CREATE POLICY everybody ON owner_trust USING
  (role = '' AND has_function_privilege('trust_for_everybody()'::regprocedure, 'EXECUTE'));
ALTER TABLE tofu_binding ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY reading ON tofu_binding FOR SELECT USING (role IN ('', current_user::text));
CREATE POLICY own ON tofu_binding USING (role = current_user::text);
CREATE POLICY everybody ON tofu_binding USING
  (role = '' AND has_function_privilege('trust_for_everybody()'::regprocedure, 'EXECUTE'));
CREATE POLICY imported ON tofu_binding FOR INSERT WITH CHECK (role = '' AND policy = 1);
CREATE POLICY idle ON tofu_binding FOR DELETE USING (role = '' AND policy = 1);
ALTER TABLE tofu_signature ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY bound ON tofu_signature USING (binding IN (SELECT id FROM tofu_binding));
ALTER TABLE tofu_encryption ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY bound ON tofu_encryption USING (binding IN (SELECT id FROM tofu_binding));
";

/// Packets are signatures and keys: nothing in them can be compressed, and trying takes longer than writing them.
const STORAGE: &str = "
ALTER TABLE packets ALTER COLUMN bytes SET STORAGE EXTERNAL;
ALTER TABLE former ALTER COLUMN bytes SET STORAGE EXTERNAL;
ALTER TABLE self_facts ALTER COLUMN facts SET STORAGE EXTERNAL;
ALTER TABLE third_party ALTER COLUMN facts SET STORAGE EXTERNAL;
";

/// Views for people: numbers as GnuPG writes them, times as text.
const VIEWS: &str = "
CREATE VIEW certificate AS SELECT id, upper(substr(encode(fingerprint, 'hex'), 3)) AS fingerprint,
  to_timestamp(first_seen) AS first_seen, to_timestamp(changed) AS changed, origin_kind,
  length(bytes) AS size FROM cert LEFT JOIN packets ON packets.cert = id;
CREATE VIEW name AS SELECT cert, component, search AS folded_user_id FROM user_id;
CREATE VIEW key AS SELECT cert, component,
  upper(lpad(to_hex(high), 8, '0') || lpad(to_hex(short), 8, '0')) AS key_id FROM key_id;
CREATE VIEW certifier AS SELECT cert, upper(lpad(to_hex(issuer), 16, '0')) AS key_id FROM certification;
CREATE VIEW history AS SELECT journal.id, to_timestamp(time) AS time, command,
  CASE kind WHEN 0 THEN 'added' WHEN 1 THEN 'merged' WHEN 2 THEN 'shrunk' WHEN 3 THEN 'removed'
    WHEN 4 THEN 'owner trust' ELSE 'trust on first use' END AS change,
  upper(substr(encode(fingerprint, 'hex'), 3)) AS fingerprint, undone_by, undoes, complete
  FROM journal LEFT JOIN change ON change.journal = journal.id;
";

/// What a database says about itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// How many partitions its tables have; 0 if they are plain.
    pub partitions: u32,
    /// Whether parts of user IDs are found by an index (pg_trgm's).
    pub search_index: bool,
}

/// Reads what the database says about itself.
///
/// # Errors
///
/// [`Error::Missing`] if the schema is not there or empty, [`Error::Foreign`] if it is something else,
/// [`Error::Older`], [`Error::Newer`].
pub(super) fn shape(connection: &Connection, server: &Server) -> Result<Shape> {
    const DOING: &str = "opening";
    const TABLES: &str = "SELECT count(*), count(*) FILTER (WHERE relname = 'meta') FROM pg_catalog.pg_class
        WHERE relnamespace = (SELECT oid FROM pg_catalog.pg_namespace WHERE nspname = $1) AND relkind IN ('r', 'p')";
    let path = server.path().to_owned();
    let tables = connection.row(TABLES, &[&server.address.schema], DOING)?;
    match tables.map(|row| (row.get::<_, i64>(0), row.get::<_, i64>(1))) {
        None | Some((0, _)) => return Err(Error::Missing { path }),
        Some((_, 0)) => return Err(Error::Foreign { path }),
        Some(_) => {}
    }
    let mut found = Shape { partitions: 0, search_index: false };
    let mut version = None;
    for row in connection.rows("SELECT name, value FROM meta", &[], DOING)? {
        let value: i64 = row.get(1);
        match row.get::<_, &str>(0) {
            "version" => version = Some(value),
            "partitions" => found.partitions = u32::try_from(value).unwrap_or(0),
            "search_index" => found.search_index = value != 0,
            _ => {}
        }
    }
    match version {
        Some(VERSION) => Ok(found),
        Some(found) if found < VERSION => Err(Error::Older { path, found }),
        Some(version) => Err(Error::Newer { path, found: version, known: VERSION }),
        None => Err(Error::Foreign { path }),
    }
}

/// Reads what the database says about itself, after bringing tables of an earlier version to this program's, in one
/// transaction that first copies those it changes.
///
/// # Errors
///
/// Those of [`shape`]; [`Error::Older`] if the tables are not this user's.
pub(super) fn upgraded(connection: &Connection, server: &Server) -> Result<Shape> {
    const DOING: &str = "bringing the tables to this program's version";
    const OWNED: &str = "SELECT 1 FROM pg_catalog.pg_class WHERE oid = 'meta'::regclass
        AND pg_has_role(relowner, 'USAGE')";
    let found = shape(connection, server);
    if !matches!(found, Err(Error::Older { .. })) || connection.row(OWNED, &[], DOING)?.is_none() {
        return found;
    }
    // Writers of earlier programs come to their end before.
    connection.batch(
        &format!(
            "BEGIN; SELECT pg_advisory_xact_lock({LOCK});
            SELECT pg_advisory_xact_lock({LOCK}, hashtext(current_schema()))"
        ),
        DOING,
    )?;
    let steps = match shape(connection, server) {
        Err(Error::Older { found: 1, .. }) => [&back_up(1), UPGRADE_TO_2, ROLES, UPGRADE_TO_3].concat(),
        Err(Error::Older { found, .. }) => back_up(found) + UPGRADE_TO_3,
        found => {
            connection.batch("COMMIT", DOING)?;
            return found;
        }
    };
    let version = format!("UPDATE meta SET value = {VERSION} WHERE name = 'version'");
    connection.batch(&[&steps, &version, "; COMMIT"].concat(), DOING)?;
    shape(connection, server)
}

/// Makes the schema and its tables, unless somebody else has.
pub(super) fn create(connection: &Connection, server: &Server, partitions: u32) -> Result<()> {
    let refuse = |reason: String| Error::Address { url: server.path().display().to_string(), reason };
    if partitions > MOST_PARTITIONS {
        return Err(refuse(format!("at most {MOST_PARTITIONS} partitions")));
    }
    let encoding = connection.row("SELECT current_setting('server_encoding')", &[], DOING)?;
    let encoding: String = encoding.map(|row| row.get(0)).unwrap_or_default();
    if encoding != "UTF8" {
        return Err(refuse(format!("the database's encoding is {encoding}; Keyhoard needs UTF8")));
    }
    let schema = &server.address.schema;
    connection.batch(&format!("BEGIN; SELECT pg_advisory_xact_lock({LOCK});"), DOING)?;
    match shape(connection, server) {
        Ok(_) => return connection.batch("COMMIT", DOING),
        Err(Error::Missing { .. }) => {}
        Err(error) => return Err(error),
    }
    const THERE: &str = "SELECT 1 FROM pg_catalog.pg_namespace WHERE nspname = $1";
    if connection.row(THERE, &[schema], DOING)?.is_none() {
        connection.batch(&format!("CREATE SCHEMA \"{schema}\""), DOING)?;
    }
    let mut sql = String::from("CREATE TABLE meta (name text PRIMARY KEY, value bigint NOT NULL);");
    sql.push_str(WHOLE);
    KEPT.iter().chain(&DERIVED).for_each(|table| push_table(&mut sql, table, partitions));
    sql.push_str(STORAGE);
    sql.push_str(VIEWS);
    sql.push_str(ROLES);
    connection.batch(&sql, DOING)?;
    let indexed = create_search_index(connection)?;
    let meta =
        "INSERT INTO meta (name, value) VALUES ('version', $1), ('partitions', $2), ('search_index', $3)";
    connection.execute(meta, &[&VERSION, &i64::from(partitions), &i64::from(indexed)], DOING)?;
    connection.batch("COMMIT", DOING)
}

/// Brings the tables to the version of this program, and makes what could not be made before. Returns what there is now.
pub(super) fn migrate(connection: &Connection, server: &Server) -> Result<Shape> {
    let found = upgraded(connection, server)?;
    if found.search_index {
        return Ok(found);
    }
    connection.batch(&format!("BEGIN; SELECT pg_advisory_xact_lock({LOCK});"), DOING)?;
    let indexed = create_search_index(connection)?;
    let meta = "UPDATE meta SET value = $1 WHERE name = 'search_index'";
    connection.execute(meta, &[&i64::from(indexed)], DOING)?;
    connection.batch("COMMIT", DOING)?;
    shape(connection, server)
}

/// Moves what the search index was only noted for into it, in the name of the index's owner: until then every search
/// reads the notes.
const CLEAN_SEARCH: &str = "
CREATE FUNCTION clean_search() RETURNS numeric LANGUAGE sql SECURITY DEFINER
  SET search_path = pg_catalog SET maintenance_work_mem = '64MB'
  BEGIN ATOMIC
    SELECT sum(gin_clean_pending_list(index.oid)) FROM pg_class index JOIN pg_am ON pg_am.oid = index.relam
      WHERE index.relkind = 'i' AND amname = 'gin'
        AND index.relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = 'user_id'::regclass);
  END;
";

/// KiB that may be noted for the search index before they are moved into it at once: writing each user ID's trigrams for
/// itself takes ten times as long.
const PENDING: u32 = 64 << 10;

/// Deletes the rows of what is derived. After `TRUNCATE` readers that began before would find the tables empty.
///
/// Who may import may delete rows too; deriving all of them again is left to the owner, who alone may truncate.
pub(super) fn delete_derived(connection: &Connection, path: &Path) -> Result<()> {
    const OWNER: &str = "SELECT 1 WHERE has_table_privilege('self_facts', 'TRUNCATE')";
    const DOING: &str = "deriving the rows again";
    if connection.row(OWNER, &[], DOING)?.is_none() {
        let source = "permission denied: the tables are not this user's".into();
        return Err(Error::Server { path: path.to_owned(), doing: DOING, source, transient: false });
    }
    let sql: String = DERIVED.iter().map(|table| format!("DELETE FROM {};", table.name)).collect();
    connection.batch(&sql, DOING)
}

/// Creates the index for parts of user IDs if the server has the extension `pg_trgm`; returns whether it has.
///
/// A user who may create objects in the database may add this extension.
fn create_search_index(connection: &Connection) -> Result<bool> {
    const EXTENSION: &str = "SELECT nspname FROM pg_catalog.pg_extension JOIN pg_catalog.pg_namespace n
        ON n.oid = extnamespace WHERE extname = 'pg_trgm' AND has_schema_privilege(n.oid, 'USAGE')";
    if connection.row(EXTENSION, &[], DOING)?.is_none() {
        const WHERE: &str = "SELECT 1 FROM pg_catalog.pg_available_extensions WHERE name = 'pg_trgm'";
        if connection.row(WHERE, &[], DOING)?.is_none() {
            return Ok(false);
        }
        connection.batch("SAVEPOINT extension", DOING)?;
        // An extension is there once for all schemas, whose users may all use what is in this one.
        match connection.batch("CREATE EXTENSION IF NOT EXISTS pg_trgm SCHEMA public", DOING) {
            Ok(()) => connection.batch("RELEASE extension", DOING)?,
            Err(error) if error.is_transient() => return Err(error),
            Err(_) => {
                connection.batch("ROLLBACK TO extension", DOING)?;
                return Ok(false);
            }
        }
    }
    let Some(row) = connection.row(EXTENSION, &[], DOING)? else { return Ok(false) };
    let extension: String = row.get(0);
    let sql = format!(
        "CREATE INDEX user_id_search ON user_id USING gin (search \"{}\".gin_trgm_ops)
         WITH (gin_pending_list_limit = {PENDING}); {CLEAN_SEARCH}",
        extension.replace('"', "\"\"")
    );
    connection.batch(&sql, DOING)?;
    Ok(true)
}

fn push_table(sql: &mut String, table: &Table, partitions: u32) {
    let Table { name, columns, key } = table;
    // Writing to a string cannot fail.
    let _ = write!(sql, "CREATE TABLE {name} ({columns}, PRIMARY KEY ({key}))");
    if partitions > 0 {
        let first = key.split(',').next().unwrap_or(key);
        let _ = write!(sql, " PARTITION BY HASH ({first})");
    }
    sql.push_str(";\n");
    for part in 0..partitions {
        let _ = writeln!(
            sql,
            "CREATE TABLE {name}_{part} PARTITION OF {name}
             FOR VALUES WITH (MODULUS {partitions}, REMAINDER {part});"
        );
    }
}
