//! The tests of whole programs: one binary, one file per command. [`harness`] is what they share.

mod gpg_delete;
mod gpg_export;
mod gpg_import;
mod gpg_keyrings;
mod gpg_options;
mod harness_itself;
mod import_faults;
mod import_hostile;
mod import_killed;
mod import_processes;
mod keyhoard_delete;
mod keyhoard_doctor;
mod keyhoard_export;
mod keyhoard_import;
mod keyhoard_list;
mod keyhoard_log;
mod keyhoard_migrate;
mod keyhoard_search;
mod keyhoard_sql;
mod keyhoard_undo;
mod memory;
mod messages;
mod oracle_export;
mod oracle_import;
mod oracle_listing;
mod oracle_query;
