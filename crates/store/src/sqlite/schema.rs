//! The tables.
//!
//! `docs/schema.md` describes every one. What [`CREATE_DERIVED`] makes can be derived from the others again.

use std::path::Path;

use rusqlite::Connection;

use super::error::Context;
use crate::{Error, Result};

/// The mark of a Keyhoard database in the file's header ("Khrd").
pub(super) const APPLICATION_ID: i64 = 0x4b68_7264;

/// The version of the tables and of the blobs in them. Version 1 does not say of owner trust whether an option gave it.
pub(super) const VERSION: i64 = 2;

/// The earliest version, which is read and written as it is.
pub(super) const FIRST_VERSION: i64 = 1;

/// What version 2 has more than version 1.
pub(super) const UPGRADE: &str =
    "ALTER TABLE owner_trust ADD COLUMN by_option INTEGER NOT NULL DEFAULT 0; PRAGMA user_version = 2;";

/// Bytes in a page: certificates are long, and with SQLite's usual 4,096 their bytes take a tenth more time to write.
pub(super) const PAGE_SIZE: i64 = 8192;

/// Creates what cannot be derived.
pub(super) const CREATE_KEPT: &str = "
CREATE TABLE cert (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  fingerprint BLOB NOT NULL,
  first_seen INTEGER NOT NULL,
  changed INTEGER NOT NULL,
  generation INTEGER NOT NULL,
  superseded BLOB,
  origin_kind INTEGER NOT NULL,
  origin_updated INTEGER,
  origin_url TEXT);
CREATE TABLE packets (cert INTEGER PRIMARY KEY, bytes BLOB NOT NULL);
CREATE TABLE verdicts (cert INTEGER PRIMARY KEY, verdicts BLOB NOT NULL);
CREATE TABLE input (
  digest BLOB PRIMARY KEY, cert INTEGER NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE user_id_origin (
  cert INTEGER, value BLOB, kind INTEGER NOT NULL, updated INTEGER, url TEXT, PRIMARY KEY (cert, value)) WITHOUT ROWID;
CREATE TABLE migration (
  path BLOB PRIMARY KEY, modified INTEGER NOT NULL, size INTEGER NOT NULL, time INTEGER) WITHOUT ROWID;
CREATE TABLE owner_trust (
  fingerprint BLOB PRIMARY KEY, value INTEGER NOT NULL, by_option INTEGER NOT NULL DEFAULT 0) WITHOUT ROWID;
CREATE TABLE tofu_binding (
  id INTEGER PRIMARY KEY,
  fingerprint BLOB NOT NULL,
  email BLOB NOT NULL,
  user_id BLOB NOT NULL,
  time INTEGER NOT NULL,
  policy INTEGER NOT NULL CHECK (policy BETWEEN 1 AND 5),
  UNIQUE (email, fingerprint));
CREATE INDEX tofu_decided ON tofu_binding (policy) WHERE policy <> 1;
CREATE TABLE tofu_signature (
  binding INTEGER, sig_digest BLOB, origin TEXT, sig_time INTEGER NOT NULL, time INTEGER NOT NULL,
  PRIMARY KEY (binding, sig_digest, origin)) WITHOUT ROWID;
CREATE TABLE tofu_encryption (binding INTEGER NOT NULL, time INTEGER NOT NULL);
CREATE INDEX tofu_encrypted ON tofu_encryption (binding);
CREATE TABLE journal (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  time INTEGER NOT NULL,
  command TEXT NOT NULL,
  added INTEGER NOT NULL DEFAULT 0,
  merged INTEGER NOT NULL DEFAULT 0,
  removed INTEGER NOT NULL DEFAULT 0,
  undone_by INTEGER,
  undoes INTEGER,
  complete INTEGER NOT NULL DEFAULT 0);
CREATE TABLE change (
  journal INTEGER, number INTEGER, kind INTEGER NOT NULL, fingerprint BLOB NOT NULL, added BLOB,
  PRIMARY KEY (journal, number)) WITHOUT ROWID;
CREATE TABLE former (
  journal INTEGER, number INTEGER, cert INTEGER NOT NULL, first_seen INTEGER NOT NULL, superseded BLOB,
  origin_kind INTEGER NOT NULL, origin_updated INTEGER, origin_url TEXT, bytes BLOB NOT NULL,
  PRIMARY KEY (journal, number));
";

/// Creates what can be derived from `cert`, `packets` and, of `certification`, `verdicts`.
pub(super) const CREATE_DERIVED: &str = "
CREATE TABLE self_facts (cert INTEGER PRIMARY KEY, facts BLOB NOT NULL);
CREATE TABLE third_party (cert INTEGER PRIMARY KEY, facts BLOB NOT NULL);
CREATE TABLE user_id (
  cert INTEGER, component INTEGER, value BLOB NOT NULL, PRIMARY KEY (cert, component)) WITHOUT ROWID;
CREATE VIRTUAL TABLE user_id_search USING fts5(
  octets, content='', contentless_delete=1, detail=none, tokenize='trigram');
CREATE TABLE key_id (
  key_id INTEGER, cert INTEGER, component INTEGER, PRIMARY KEY (key_id, cert, component)) WITHOUT ROWID;
CREATE TABLE keygrip (hash INTEGER, cert INTEGER, PRIMARY KEY (hash, cert)) WITHOUT ROWID;
CREATE TABLE mail (hash INTEGER, cert INTEGER, PRIMARY KEY (hash, cert)) WITHOUT ROWID;
CREATE TABLE certification (
  issuer INTEGER, cert INTEGER, proven BLOB, PRIMARY KEY (issuer, cert)) WITHOUT ROWID;
";

/// Takes away what [`CREATE_DERIVED`] creates.
pub(super) const DROP_DERIVED: &str = "
DROP TABLE self_facts; DROP TABLE third_party; DROP TABLE user_id; DROP TABLE user_id_search; DROP TABLE key_id;
DROP TABLE keygrip; DROP TABLE mail; DROP TABLE certification;
";

/// Creates the views for people: numbers as GnuPG writes them, times as text.
pub(super) const CREATE_VIEWS: &str = "
CREATE VIEW certificate AS SELECT id, substr(hex(fingerprint), 3) AS fingerprint,
  datetime(first_seen, 'unixepoch') AS first_seen, datetime(changed, 'unixepoch') AS changed,
  origin_kind, origin_url, length(bytes) AS size FROM cert LEFT JOIN packets ON packets.cert = id;
CREATE VIEW name AS SELECT cert, component, CAST(value AS TEXT) AS user_id FROM user_id;
CREATE VIEW key AS SELECT cert, component,
  printf('%08X%08X', key_id & 4294967295, key_id >> 32 & 4294967295) AS key_id FROM key_id;
CREATE VIEW certifier AS SELECT cert, printf('%016X', issuer) AS key_id FROM certification;
CREATE VIEW history AS SELECT journal.id, datetime(time, 'unixepoch') AS time, command,
  CASE kind WHEN 0 THEN 'added' WHEN 1 THEN 'merged' WHEN 2 THEN 'shrunk' WHEN 3 THEN 'removed'
    WHEN 4 THEN 'owner trust' ELSE 'trust on first use' END AS change,
  substr(hex(fingerprint), 3) AS fingerprint, undone_by, undoes, complete
  FROM journal LEFT JOIN change ON change.journal = journal.id;
";

/// Returns the version of the tables, if it is known.
pub(super) fn check_version(connection: &Connection, path: &Path) -> Result<i64> {
    let mut statement = connection.prepare_cached("PRAGMA user_version").context(path, "opening")?;
    match statement.query_row([], |row| row.get(0)).context(path, "opening")? {
        found @ FIRST_VERSION..=VERSION => Ok(found),
        found => Err(Error::Newer { path: path.to_owned(), found, known: VERSION }),
    }
}
