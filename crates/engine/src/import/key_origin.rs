//! GnuPG's numbers for where a key came from (its `g10/keydb.h`, KEYORG).

/// From a keyserver.
pub const KEYSERVER: u8 = 1;
/// From the DNS.
pub const DANE: u8 = 3;
/// From a Web Key Directory.
pub const WKD: u8 = 4;
/// From a URL.
pub const URL: u8 = 5;
/// From a file.
pub const FILE: u8 = 6;
