//! The program `gpg-keyhoard`.

use std::process::ExitCode;

fn main() -> ExitCode {
    keyhoard::secret::forbid_core_dumps();
    keyhoard_gpg::run(std::env::args_os().skip(1))
}
