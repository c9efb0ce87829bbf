//! Encrypted session keys as the agent takes them, and what it returns.

use cert::key::Key;
use secret::{Ciphertext, curve448, unwrap_agreed};
use zeroize::Zeroizing;

use crate::sexp::Sexp;

/// Returns the s-expression of a session key that is encrypted to a key; `None` for one that the agent has no keys for.
pub(crate) fn expression(key: &Key<'_>, ciphertext: &Ciphertext<'_>) -> Option<Sexp> {
    let value = |name: &str, value: Sexp| Sexp::named(name, [value]);
    let inner = match *ciphertext {
        Ciphertext::Rsa { c } => Sexp::named("rsa", [value("a", Sexp::number(c))]),
        Ciphertext::Elgamal { e, c } => {
            Sexp::named("elg", [value("a", Sexp::number(e)), value("b", Sexp::number(c))])
        }
        Ciphertext::Ecdh { e, key: wrapped } => {
            let wrapped = [&[u8::try_from(wrapped.len()).ok()?], wrapped].concat();
            let e = match curve448::is_x448(key) {
                true => Sexp::atom(&curve448::ephemeral(e)?),
                false => Sexp::atom(e),
            };
            Sexp::named("ecdh", [value("s", Sexp::atom(&wrapped)), value("e", e)])
        }
        Ciphertext::X25519 { .. } | Ciphertext::X448 { .. } | Ciphertext::MlKem { .. } => return None,
    };
    Some(Sexp::named("enc-val", [inner]))
}

/// Whether the agent removed the padding of what it decrypted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Padding {
    Removed,
    Present,
}

/// Returns the session key with the bytes around it from the agent's answer; `None` if it was not encrypted to this key.
pub(crate) fn session_key(
    key: &Key<'_>,
    ciphertext: &Ciphertext<'_>,
    answer: &[u8],
    padding: Padding,
) -> secret::Result<Option<Zeroizing<Vec<u8>>>> {
    let value = Sexp::read(answer).and_then(|answer| match answer.elements()? {
        [name, value] if name.bytes() == Some(b"value") => Some(Zeroizing::new(value.bytes()?.to_vec())),
        _ => None,
    });
    let Some(value) = value else { return Ok(None) };
    match *ciphertext {
        Ciphertext::Ecdh { key: wrapped, .. } => match abscissa(key, &value) {
            Some(shared) => unwrap_agreed(key, shared, wrapped),
            None => Ok(None),
        },
        _ if padding == Padding::Removed => Ok(Some(value)),
        _ => Ok(without_padding(&value).map(|content| Zeroizing::new(content.to_vec()))),
    }
}

/// Returns the shared secret from a shared point: the coordinate x. Cards may return it alone.
fn abscissa<'v>(key: &Key<'_>, point: &'v [u8]) -> Option<&'v [u8]> {
    let size = key.bits().div_ceil(8) as usize;
    match point {
        [4, coordinates @ ..] if coordinates.len() == 2 * size => Some(&coordinates[..size]),
        [0x40, x @ ..] if x.len() == size => Some(x),
        x if x.len() == size => Some(x),
        _ => None,
    }
}

/// Removes the padding of PKCS #1 v1.5, whose first zero byte may be missing since the agent returns a number.
fn without_padding(value: &[u8]) -> Option<&[u8]> {
    let value = value.strip_prefix(&[0]).unwrap_or(value);
    let padded = value.strip_prefix(&[2])?;
    let end = padded.iter().position(|&byte| byte == 0)?;
    Some(&padded[end + 1..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn padding_is_removed_with_or_without_its_first_byte() {
        assert_eq!(without_padding(b"\x00\x02abc\x00key"), Some(&b"key"[..]));
        assert_eq!(without_padding(b"\x02abc\x00key"), Some(&b"key"[..]));
        for wrong in [&b"\x01abc\x00key"[..], b"\x02abc", b"", b"\x00\x00\x02a\x00k"] {
            assert_eq!(without_padding(wrong), None);
        }
    }
}
