//! Cycles of imports.

use crate::imports::Imports;

/// Returns a shortest cycle for each group of files that import each other: each file with a name that it takes from the
/// next one, the last one's from the first.
pub(crate) fn cycles(imports: &Imports) -> Vec<Vec<(usize, String)>> {
    let mut is_told = vec![false; imports.len()];
    let mut found = Vec::new();
    for start in 0..imports.len() {
        let Some(cycle) = shortest(imports, start).filter(|_| !is_told[start]) else { continue };
        cycle.iter().for_each(|(file, _)| is_told[*file] = true);
        found.push(cycle);
    }
    found
}

/// Searches breadth first for a way from a file back to itself.
fn shortest(imports: &Imports, start: usize) -> Option<Vec<(usize, String)>> {
    let mut came_from = vec![None; imports.len()];
    let mut next = std::collections::VecDeque::from([start]);
    while let Some(file) = next.pop_front() {
        for (target, name) in &imports[file] {
            if came_from[*target].is_none() {
                came_from[*target] = Some((file, name.clone()));
                next.push_back(*target);
            }
        }
        if came_from[start].is_some() {
            break;
        }
    }
    let mut cycle = Vec::new();
    let mut at = start;
    loop {
        let (file, name) = came_from[at].clone()?;
        cycle.push((file, name));
        at = file;
        if at == start {
            cycle.reverse();
            return Some(cycle);
        }
    }
}
