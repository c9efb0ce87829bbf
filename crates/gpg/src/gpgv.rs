//! The program `gpgv-keyhoard`.

use std::process::ExitCode;

fn main() -> ExitCode {
    process::protect_memory();
    engine::message::use_batch_scheduling();
    keyhoard_gpg::run_gpgv(std::env::args_os().skip(1))
}
