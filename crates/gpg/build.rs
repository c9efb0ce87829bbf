//! Packs the addresses that the dynamic loader adjusts when a program starts.
//!
//! The programs have some 46,000 of them, most in the tables of OpenSSL and aws-lc. Packed (`DT_RELR`) they are some 20 KB
//! instead of a megabyte, which the loader reads at each start (docs/benchmarks.md). The GNU C library can read them since
//! version 2.36.

use std::env;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if env::var("HOST") == env::var("TARGET") && glibc_version().is_some_and(|version| version >= (2, 36)) {
        println!("cargo::rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    }
}

/// Returns the version of the GNU C library of this machine, if that is its C library.
fn glibc_version() -> Option<(u32, u32)> {
    let output = Command::new("getconf").arg("GNU_LIBC_VERSION").output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let (major, minor) = text.trim().strip_prefix("glibc ")?.split_once('.')?;
    Some((major.parse().ok()?, minor.split('.').next()?.parse().ok()?))
}
