//! An OpenPGP card for tests: the application `opcard` of the Nitrokey 3, as the device runs it, with storage in memory
//! and random numbers from a fixed seed, so that every new card makes the same keys. Debian's `vsmartcard-vpcd` is the
//! reader that it is put into.
//!
//! usage: `keyhoard-test-card PORT SERIAL`: the port of the reader's slot and eight hexadecimal digits. The card is
//! removed by ending the process.

mod backends;
mod card;

use std::process::ExitCode;

use opcard::Options;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [port, serial] = arguments.as_slice() else {
        eprintln!("usage: keyhoard-test-card PORT SERIAL");
        return ExitCode::FAILURE;
    };
    let mut options = Options::default();
    // The number for cards of tests.
    options.manufacturer = [0xff, 0xfe];
    options.serial = u32::from_str_radix(serial, 16).expect("hexadecimal digits").to_be_bytes();
    let reader = vpicc::connect_socket(format!("127.0.0.1:{port}")).expect("the reader listens");
    let outcome = backends::with_client(|client| reader.run(&mut card::InReader::new(client, options)));
    eprintln!("the reader is gone: {outcome:?}");
    ExitCode::SUCCESS
}
