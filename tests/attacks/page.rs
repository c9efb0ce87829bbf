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
mod key_flags;
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

Each line is an input that tries to break a rule, made by `tests/attacks` and run through every program that takes such
input: `gpg-keyhoard`, `gpgv-keyhoard`, `keyhoard` and `keyhoard sop` (the column Keyhoard: `make test` fails if one of
them breaks a rule, with either database), gpg with gpgv, and others by the Stateless OpenPGP interface. `make attacks`
writes this page anew; the other programs are Debian's.

Bold is what breaks the rule: *says good* of what nobody signed, *writes other bytes* than those signed, *writes what was
not checked*, *crashes* (or takes more than two minutes). *Refused* is an error or a bad signature; a dash means that the
program has no such command. Lines that begin with \"(no attack)\" show that the input is what it should be; *refuses* there
means that the program cannot read such input at all. gpg writes while it reads, so it is asked only to say that it
failed; and where gpg's rules differ from RFC 9580 (SHA-1 over data, signatures from the future) the rule for gpg, and for
`gpg-keyhoard`, is that it ends orderly.
";

const END: &str = "
## What only our own programs are asked

| rule | test |
|---|---|
| Foreign text is obeyed by no terminal and begins no status line | `tests/attacks/names.rs` |
| A message never chooses what is written where | `tests/attacks/file_names.rs` |
| Secrets are written for their owner only, and nothing is replaced unasked | `tests/attacks/files.rs` |
| A name is never a part of an SQL statement | `tests/attacks/sql.rs` |
| What is small stays cheap: compression bombs, lengths that lie, many signatures | `tests/attacks/bombs.rs` |
| Nobody becomes an introducer by a trick | `tests/attacks/web_of_trust.rs` |
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
