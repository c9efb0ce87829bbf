//! Comparing the substring index with the user IDs.
//!
//! To look each user ID up would be to read the whole list of a trigram that all of them share, once for each. So the
//! index is read once, from one end to the other, and sums are compared: of a hash of each trigram with its certificate.

use std::collections::{BTreeMap, HashSet};
use std::ops::ControlFlow;

use super::super::error::Context;
use super::super::search;
use super::super::view::View;
use crate::Result;
use crate::engine::Engine;

const DOING: &str = "checking";

/// Certificates share this many sums, so that memory does not grow with the database.
const SUMS: usize = 1 << 16;

/// What the user IDs ask for, less what the index holds.
pub(super) struct Trigrams {
    sums: Vec<u64>,
}

impl Trigrams {
    pub(super) fn new() -> Self {
        Self { sums: vec![0; SUMS] }
    }

    /// Adds what a certificate's user IDs ask for.
    pub(super) fn expect(&mut self, cert: i64, user_ids: &[(i64, Vec<u8>)]) {
        let sum = &mut self.sums[sum_index(cert)];
        *sum = sum.wrapping_add(wanted(cert, user_ids));
    }

    /// Returns the certificates, but for the `damaged` ones, of which the index holds something else.
    pub(super) fn differing(&mut self, view: &View<'_>, damaged: &HashSet<i64>) -> Result<Vec<i64>> {
        each_trigram(view, &mut |cert, trigram| {
            if !damaged.contains(&cert) {
                let sum = &mut self.sums[sum_index(cert)];
                *sum = sum.wrapping_sub(hash(cert, trigram));
            }
        })?;
        if self.sums.iter().all(|&sum| sum == 0) {
            return Ok(Vec::new());
        }
        let is_suspect = |cert: i64| self.sums[sum_index(cert)] != 0 && !damaged.contains(&cert);
        let mut suspects: BTreeMap<i64, u64> = BTreeMap::new();
        view.each_row("SELECT id FROM cert", &[], DOING, |row| {
            let cert = row.get(0)?;
            if is_suspect(cert) {
                suspects.insert(cert, wanted(cert, &view.user_ids(cert)?));
            }
            Ok(ControlFlow::Continue(()))
        })?;
        each_trigram(view, &mut |cert, trigram| {
            if is_suspect(cert) {
                let sum = suspects.entry(cert).or_default();
                *sum = sum.wrapping_sub(hash(cert, trigram));
            }
        })?;
        Ok(suspects.into_iter().filter(|&(_, sum)| sum != 0).map(|(cert, _)| cert).collect())
    }
}

fn sum_index(cert: i64) -> usize {
    cert as usize % SUMS
}

fn wanted(cert: i64, user_ids: &[(i64, Vec<u8>)]) -> u64 {
    let trigrams = search::indexed(&search::text(user_ids)).into_iter();
    trigrams.fold(0, |sum, trigram| sum.wrapping_add(hash(cert, trigram)))
}

/// Hands out every trigram of the index, packed as [`search::pack`] does, with each certificate that has it.
fn each_trigram(view: &View<'_>, each: &mut dyn FnMut(i64, u64)) -> Result<()> {
    const TABLE: &str = "CREATE VIRTUAL TABLE IF NOT EXISTS temp.user_id_trigram
        USING fts5vocab('main', 'user_id_search', 'instance')";
    view.connection().execute_batch(TABLE).context(view.path(), DOING)?;
    view.each_row("SELECT doc, term FROM temp.user_id_trigram", &[], DOING, |row| {
        each(row.get(0)?, search::pack(row.get::<String>(1)?.chars()));
        Ok(ControlFlow::Continue(()))
    })
}

/// Mixes both numbers (the finalizer of SplitMix64), so that sums of different sets differ.
fn hash(cert: i64, trigram: u64) -> u64 {
    let mut bits = (cert as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ trigram;
    bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ bits >> 31
}
