//! Messages as programs write and read them: every cipher, compression and protection, and what attackers do to them.

mod damaged;
mod made;
mod rfc9580;
mod round_trip;
mod sequoia;
mod signed;
