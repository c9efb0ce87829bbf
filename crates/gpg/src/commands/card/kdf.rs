//! `kdf-setup`: what the card compares is derived from the PINs, so that no reader sees them (specification 4.3.2).

use engine::verify::HashAlgorithm;
use secret::S2k;
use zeroize::Zeroizing;

use super::access::{CardAccess, Outcome};
use crate::code::Code;

/// The PINs of a card that leaves the factory.
const PIN: &[u8] = b"123456";
const ADMIN_PIN: &[u8] = b"12345678";

/// Has PINs derived: with a salt for each, with one for all if there is an argument, or no longer with `off`.
pub(super) fn run(access: &mut CardAccess<'_>, argument: &[u8]) {
    match access.attribute("EXTCAP") {
        Ok(card) if !card.capabilities.derives_pins => {
            access.streams.error("This command is not supported by this card");
            return;
        }
        Ok(_) => {}
        Err(failure) => {
            access.streams.error(format_args!("error getting card info: {failure}"));
            return;
        }
    }
    let outcome: Outcome<()> = object(argument).map_err(Into::into).and_then(|object| {
        access.set("KDF", &object)?;
        access.attribute("KDF").map(drop)
    });
    if let Err(failure) = outcome {
        access.streams.error(format_args!("error for setup KDF: {failure}"));
    }
}

fn object(argument: &[u8]) -> Result<Vec<u8>, Code> {
    let salt = || {
        let mut salt = [0; 8];
        getrandom::fill(&mut salt).map(|()| salt).map_err(|_| Code::GENERAL)
    };
    match argument {
        b"off" => Ok(vec![0x81, 1, 0]),
        b"" => derivation(salt()?, Some([salt()?, salt()?])),
        _ => derivation(salt()?, None),
    }
}

/// Returns the data object for the salt of the PIN, and for those of Reset Code and Admin PIN, or for one salt.
fn derivation(pin: [u8; 8], others: Option<[[u8; 8]; 2]>) -> Result<Vec<u8>, Code> {
    const ITERATED: u8 = 3;
    const COUNT: u32 = 65_011_712;
    let mut object = vec![0x81, 1, ITERATED, 0x82, 1, HashAlgorithm::SHA256.0, 0x83, 4];
    object.extend(COUNT.to_be_bytes());
    for (tag, salt) in (0x84..).zip([pin].into_iter().chain(others.into_iter().flatten())) {
        object.extend([tag, 8]);
        object.extend_from_slice(&salt);
    }
    let admin = others.map_or(pin, |[_, admin]| admin);
    for (tag, text, salt) in [(0x87, PIN, pin), (0x88, ADMIN_PIN, admin)] {
        let mut derived = Zeroizing::new([0; 32]);
        S2k::fill_iterated(HashAlgorithm::SHA256, &salt, COUNT.into(), text, &mut *derived)
            .map_err(|_| Code::GENERAL)?;
        object.extend([tag, 32]);
        object.extend_from_slice(&*derived);
    }
    Ok(object)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_object_has_the_lengths_that_cards_take() {
        assert_eq!(derivation([1; 8], None).map(|object| object.len()), Ok(90));
        let object = derivation([1; 8], Some([[2; 8], [3; 8]])).expect("it can be derived");
        assert_eq!(object.len(), 110);
        assert_eq!((object[12], object[22], object[32], object[42]), (0x84, 0x85, 0x86, 0x87));
    }
}
