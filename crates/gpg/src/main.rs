//! The program `gpg-keyhoard`.

use std::process::ExitCode;

fn main() -> ExitCode {
    process::protect_memory();
    engine::descriptor::keep_from_children();
    engine::message::use_batch_scheduling();
    keyhoard_gpg::run(std::env::args_os().skip(1))
}
