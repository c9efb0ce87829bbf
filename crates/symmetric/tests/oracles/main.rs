//! The ciphers and modes compared with published answers and with implementations that share no code with them.

mod authenticated;
mod blocks;
mod cfb;
mod wycheproof;
