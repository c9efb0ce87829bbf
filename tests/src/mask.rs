//! What may differ between gpg's output and ours.

use crate::Home;

/// Returns `stdout` with what may differ masked: the path of the keyring above a listing for people, with its
/// underline, and the date in the `tru` record of a colon listing.
pub fn mask(stdout: &[u8], home: &Home) -> Vec<u8> {
    let paths = ["pubring.kbx", "pubring.gpg", "keyhoard.db"].map(|name| home.path().join(name));
    let mut masked = Vec::with_capacity(stdout.len());
    let mut underline = None;
    for line in stdout.split_inclusive(|&byte| byte == b'\n') {
        let text = line.strip_suffix(b"\n").unwrap_or(line);
        let is_underline = underline.take() == Some(text.len()) && text.iter().all(|&byte| byte == b'-');
        if paths.iter().any(|path| path.as_os_str().as_encoded_bytes() == text) {
            underline = Some(text.len());
            masked.extend_from_slice(b"[path of the keyring]\n");
        } else if is_underline {
            masked.extend_from_slice(b"[underline]\n");
        } else if line.starts_with(b"tru:") {
            masked.extend_from_slice(&without_field(line, 3));
        } else {
            masked.extend_from_slice(line);
        }
    }
    masked
}

/// Returns a listing without the signatures by others on subkeys, which are certifications that somebody's program has
/// misplaced. Where gpg knows the issuer it puts them where they belong, or drops them if they are there, too; we
/// leave them where they are. With this the rest can be compared.
pub fn without_misplaced(listing: &[u8]) -> Vec<u8> {
    let mut kept = Vec::with_capacity(listing.len());
    let (mut primary, mut on_subkey) = (Vec::new(), false);
    for line in listing.split_inclusive(|&byte| byte == b'\n') {
        let words: Vec<&[u8]> = line.split(|&byte| byte == b':' || byte.is_ascii_whitespace()).collect();
        match words[0] {
            b"pub" | b"uid" | b"uat" => on_subkey = false,
            b"sub" => on_subkey = true,
            b"sig" | b"rev" if on_subkey && !words.contains(&primary.as_slice()) => continue,
            _ => {}
        }
        if let Some(fingerprint) = words.iter().find(|word| word.len() == 40 && !on_subkey) {
            primary = fingerprint[24..].to_vec();
        }
        kept.extend_from_slice(line);
    }
    kept
}

/// Returns a colon record with a field (counted from 0) replaced by `[date]`.
fn without_field(record: &[u8], field: usize) -> Vec<u8> {
    let mut fields: Vec<&[u8]> = record.split(|&byte| byte == b':').collect();
    if let Some(masked) = fields.get_mut(field) {
        *masked = b"[date]";
    }
    fields.join(&b':')
}
