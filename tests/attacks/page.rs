//! Writes docs/attacks.md: what our programs and others make of every attack (`make attacks`).
//!
//! usage: attacks_page PAGE [ROOT_OF_OTHER_PROGRAMS]

mod adoption;
mod armor;
mod back_signatures;
mod clear_text;
mod clear_text_headers;
mod digests;
mod encryption;
mod file_names;
mod key_flags;
mod names;
mod people;
mod plaintexts;
mod revocations;
mod revokers;
mod signatures_as_data;
mod status_lines;
mod truncation;
mod trust_packets;

use std::path::PathBuf;
use std::{env, fs};

use harness::attack::page;

const BEGIN: &str = "\
# Attacks

Each line is an input that tries to break a rule. `tests/attacks` makes it, and runs it through every program that takes
such input: `gpg-keyhoard`, `gpgv-keyhoard`, `keyhoard` and `keyhoard sop` (the column Keyhoard: `make test` fails if
one of them breaks a rule, with either database engine), gpg with gpgv, and other programs by the Stateless OpenPGP
interface. `make attacks` writes this page anew; gpg 2.2.40 is Debian 12's, the other programs are Debian sid's
(`scripts/peers`).

Bold results break the rule: the program *says good* of data that is not signed, *writes other bytes* than the signed
ones, *writes what was not checked*, or *crashes* (or takes more than two minutes). *Refused* is an error or a bad
signature; a dash means that the program has no such command. Lines that begin with \"(no attack)\" show that the input
is otherwise right; *refuses* there means that the program cannot read such input at all. gpg writes while it reads, so
it only has to report the failure. Where gpg's rules differ from RFC 9580 (SHA-1 over data, signatures from the future),
gpg and `gpg-keyhoard` only have to end without a crash.
";

const END: &str = "
## Rules that only our own programs are tested with

| rule | test |
|---|---|
| Foreign text in listings and reports begins no status line | `tests/attacks/names.rs` |
| An encrypted message does not choose which file is written | `tests/attacks/file_names.rs` |
| Files with secrets are for their owner only, and no file is replaced without consent | `tests/attacks/files.rs` |
| A name is never a part of an SQL statement | `tests/attacks/sql.rs` |
| Small inputs cost little: compression bombs, wrong lengths, many signatures | `tests/attacks/bombs.rs` |
| No forged or misplaced certification makes a user ID valid or a key an introducer | `tests/attacks/web_of_trust.rs` |
| Revoked user IDs stay revoked, also after a rebuild | `tests/attacks/revocations.rs` |
";

fn main() {
    let mut arguments = env::args_os().skip(1).map(PathBuf::from);
    let place = arguments.next().expect("usage: attacks_page PAGE [ROOT_OF_OTHER_PROGRAMS]");
    let rules = [
        plaintexts::rule(),
        signatures_as_data::rule(),
        clear_text::rule(),
        clear_text_headers::rule(),
        armor::rule(),
        status_lines::rule(),
        names::rule(),
        file_names::rule(),
        digests::rule(),
        key_flags::rule(),
        back_signatures::rule(),
        adoption::rule(),
        trust_packets::rule(),
        revocations::rule(),
        revokers::rule(),
        truncation::rule(),
        encryption::rule(),
        encryption::signed_rule(),
    ];
    let tables = page::tables(&rules, arguments.next().as_deref());
    fs::write(&place, [BEGIN, &tables, END].concat()).expect("the page can be written");
}
