//! Fuzz targets: what reads foreign bytes, each with an oracle that judges what becomes of them.
//!
//! - Targets with structure take their input as a script: `certificate`, `clear_text`, `armor`, `keybox` and
//!   `messages` build packets with real signatures, damage them, and know what may come of it; `verdicts` compares with
//!   the model of `tests/model`.
//! - Targets on raw bytes: the reader, the merge, secret keys, messages.
//!
//! `TARGETS` lists them. libFuzzer runs them (`scripts/fuzz`, the program is `src/main.rs`), and `tests/seeds.rs` runs
//! the inputs that are kept in `seeds`.

// The files of `tests/model` know the crate by the name that it has in the workspace.
extern crate keyhoard_cert as cert;

mod armor;
mod certificate;
mod clear_text;
mod keybox;
mod memory;
mod messages;
mod pieces;
mod raw;
mod script;
mod verdicts;

// The model's own files: its cases, and what they mean.
#[allow(dead_code, reason = "the comparison through a database uses the rest")]
#[path = "../../tests/model/certificates.rs"]
mod certificates;
#[allow(dead_code, reason = "the comparison through a database uses the rest")]
#[path = "../../tests/model/damage.rs"]
mod damage;
#[path = "../../tests/model/meaning.rs"]
mod meaning;
#[allow(dead_code, reason = "the comparison through a database uses the rest")]
#[path = "../../tests/model/model.rs"]
mod model;
#[allow(dead_code, reason = "the comparison through a database uses the rest")]
#[path = "../../tests/model/orders.rs"]
mod orders;
#[allow(dead_code, reason = "the comparison through a database uses the rest")]
#[path = "../../tests/model/signature.rs"]
mod signature;
#[allow(dead_code, reason = "the comparison through a database uses the rest")]
#[path = "../../tests/model/wire.rs"]
mod wire;

/// Something that is fuzzed.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Its name, and that of the directory with its seeds.
    pub name: &'static str,
    judge: fn(&[u8]),
}

/// Everything that is fuzzed.
pub const TARGETS: [Target; 10] = [
    Target { name: "certificate", judge: certificate::judge },
    Target { name: "message", judge: messages::judge },
    Target { name: "clear_text", judge: clear_text::judge },
    Target { name: "armor", judge: armor::judge },
    Target { name: "keybox", judge: keybox::judge },
    Target { name: "verdict", judge: verdicts::judge },
    Target { name: "read", judge: raw::read },
    Target { name: "merge", judge: raw::merge },
    Target { name: "secret", judge: raw::secret },
    Target { name: "raw_message", judge: raw::message },
];

impl Target {
    /// Returns the target with a name.
    pub fn named(name: &str) -> Option<Self> {
        TARGETS.into_iter().find(|target| target.name == name)
    }

    /// Judges what becomes of an input.
    ///
    /// # Panics
    ///
    /// If that breaks a rule.
    pub fn run(&self, input: &[u8]) {
        memory::bounded(|| (self.judge)(input));
    }
}
