//! What an import would keep, without a database.

use std::io::Read;
use std::thread;

use cert::ArmorRules;
use cert::clean::{CleanOptions, Cleaned, clean};
use cert::split::{Piece, RawRevocation};
use rayon::prelude::*;
use store::Timestamp;
use verify::cores::on_all_cores;

use super::chunk::read_ahead;
use super::{Filter, ImportRefusal};

/// A piece of an input, as an import would treat it.
#[derive(Debug)]
pub enum Preview {
    /// A certificate as it would be merged or inserted.
    Certificate {
        /// What is kept.
        cleaned: Cleaned,
        /// The input held a secret key.
        secret: bool,
    },
    /// A standalone revocation.
    Revocation(RawRevocation),
    /// A certificate that would not be taken.
    Refused {
        /// Offset in the input.
        position: u64,
        /// Why.
        reason: ImportRefusal,
    },
}

/// Reads an input to its end and hands out what an import would keep of it, in the input's order.
pub fn preview(
    input: impl Read + Send,
    options: &CleanOptions,
    filter: Option<&Filter<'_>>,
    now: Timestamp,
    each: &mut dyn FnMut(Preview),
) {
    let preview = |piece: cert::Result<Piece>| match piece {
        Ok(Piece::Ignored(_)) => None,
        Ok(Piece::Revocation(revocation)) => Some(Preview::Revocation(revocation)),
        Err(error) => Some(Preview::Refused { position: error.position(), reason: error.into() }),
        Ok(Piece::Certificate(raw)) => match clean(&raw, options, now) {
            Ok(mut cleaned) => {
                if let Some(filter) = filter {
                    cleaned.certificate = filter(cleaned.certificate);
                }
                Some(Preview::Certificate { cleaned, secret: !raw.secrets.is_empty() })
            }
            Err(refused) => Some(Preview::Refused { position: raw.position, reason: refused.into() }),
        },
    };
    thread::scope(|scope| {
        for chunk in read_ahead(scope, input, ArmorRules::Gnupg) {
            let previews: Vec<_> = on_all_cores(|| chunk.into_par_iter().filter_map(preview).collect());
            previews.into_iter().for_each(&mut *each);
        }
    });
}
