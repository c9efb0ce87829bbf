//! In which parts and in which order certificates are imported, and what happens afterwards.

use proptest::collection::vec;
use proptest::prelude::*;

use crate::certificates::{Branch, Tree};
use crate::wire;

/// How certificates are cut into inputs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cut {
    /// Into so many inputs each certificate is cut.
    pub(crate) parts: usize,
    /// Which of the parts have a packet: a bit for each part, one number for each packet, by turns.
    pub(crate) spread: Vec<u8>,
    /// The order of all inputs: they are sorted by these numbers, by turns.
    pub(crate) order: Vec<u8>,
    /// All are joined into one.
    pub(crate) joined: bool,
}

/// A step after the import.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// `doctor --rebuild`.
    Rebuild,
    /// The last import that is not undone is undone.
    Undo,
    /// All inputs are imported once more, backwards.
    AgainBackwards,
    /// All inputs are imported once more, as one.
    AgainAsOne,
}

/// Random cuts.
pub(crate) fn cut() -> impl Strategy<Value = Cut> {
    (1..=4_usize, vec(any::<u8>(), 1..12), vec(any::<u8>(), 1..8), proptest::bool::weighted(0.2))
        .prop_map(|(parts, spread, order, joined)| Cut { parts, spread, order, joined })
}

/// Random steps.
pub(crate) fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        2 => Just(Step::Rebuild),
        2 => Just(Step::Undo),
        1 => Just(Step::AgainBackwards),
        1 => Just(Step::AgainAsOne)
    ];
    vec(step, 0..=3)
}

impl Cut {
    /// Each certificate as a whole.
    pub(crate) fn whole() -> Self {
        Self { parts: 1, spread: vec![1], order: vec![0], joined: false }
    }

    /// Cuts certificates into inputs, in their order.
    ///
    /// A part that has a signature has all components: without what it is over no signature means anything, and nobody
    /// keeps it.
    pub(crate) fn inputs(&self, trees: &[Tree]) -> Vec<Vec<u8>> {
        let parts = self.parts.clamp(1, 8);
        let mut number = 0;
        let mut inputs: Vec<Vec<u8>> = Vec::new();
        for tree in trees {
            let mut of_parts: Vec<Vec<u8>> = vec![Vec::new(); parts];
            for Branch { tag, body, packets } in &tree.branches {
                let component = wire::packet(*tag, body);
                of_parts.iter_mut().for_each(|part| part.extend_from_slice(&component));
                for (tag, body) in packets {
                    let packet = wire::packet(*tag, body);
                    let mask = self.spread[number % self.spread.len()];
                    number += 1;
                    let has = |part: usize| mask >> part & 1 == 1;
                    let nobody = !(0..parts).any(has);
                    for part in (0..parts).filter(|&part| nobody || has(part)) {
                        of_parts[part].extend_from_slice(&packet);
                    }
                }
            }
            inputs.extend(of_parts);
        }
        let mut numbered: Vec<(u8, Vec<u8>)> = self.order.iter().cycle().copied().zip(inputs).collect();
        numbered.sort_by_key(|(order, _)| *order);
        let inputs: Vec<Vec<u8>> = numbered.into_iter().map(|(_, input)| input).collect();
        if self.joined { vec![inputs.concat()] } else { inputs }
    }
}
