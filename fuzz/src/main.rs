//! One target under libFuzzer: the one that the environment variable `FUZZ_TARGET` names.

#![no_main]

use std::sync::LazyLock;

use fuzz::Target;

/// The target that is fuzzed.
static TARGET: LazyLock<Target> = LazyLock::new(|| {
    let name = std::env::var("FUZZ_TARGET").expect("FUZZ_TARGET names the target (scripts/fuzz sets it)");
    Target::named(&name).expect("FUZZ_TARGET names a target")
});

libfuzzer_sys::fuzz_target!(|input: &[u8]| TARGET.run(input));
