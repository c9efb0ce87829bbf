//! Which file of a crate names what of which other file.

use std::collections::BTreeMap;

use syn::visit::{Visit, visit_item_mod, visit_item_use, visit_path};

use crate::crate_files::{CrateFiles, leaves};

/// For each file the files that it imports, each with one of the names that it takes from there.
pub(crate) type Imports = Vec<BTreeMap<usize, String>>;

/// Finds the imports of each file; a name that is re-exported counts for the file that defines it.
pub(crate) fn imports(files: &CrateFiles) -> Imports {
    let all = 0..files.modules.len();
    let found = all.map(|module| {
        let mut paths = Paths::default();
        files.modules[module].syntax.iter().for_each(|item| paths.visit_item(item));
        let targets =
            paths.0.iter().filter_map(|path| Some((resolve(files, module, path, 0)?, path.join("::"))));
        targets.filter(|(target, _)| *target != module).collect()
    });
    found.collect()
}

/// Every path that a file writes.
#[derive(Default)]
struct Paths(Vec<Vec<String>>);

impl<'ast> Visit<'ast> for Paths {
    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        let mut found = Vec::new();
        leaves(&item.tree, &mut Vec::new(), &mut found);
        self.0.extend(found.into_iter().map(|(_, path)| path));
        visit_item_use(self, item);
    }

    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if item.content.as_ref().is_none_or(|_| item.ident != "tests") {
            visit_item_mod(self, item);
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        if path.segments.len() > 1 {
            self.0.push(path.segments.iter().map(|segment| segment.ident.to_string()).collect());
        }
        visit_path(self, path);
    }
}

/// Returns the file that defines what a path in some module names; `None` if that is another crate.
fn resolve(files: &CrateFiles, from: usize, path: &[String], depth: usize) -> Option<usize> {
    let (first, rest) = path.split_first()?;
    match first.as_str() {
        _ if depth > 16 => None,
        "crate" => resolve_in(files, 0, rest, depth),
        "self" => resolve_in(files, from, rest, depth),
        "super" => resolve(files, files.modules[from].parent?, &[&["self".into()], rest].concat(), depth),
        _ => {
            let module = &files.modules[from];
            let is_known =
                module.children.contains_key(first) || module.uses.iter().any(|(alias, _)| alias == first);
            if is_known { resolve_in(files, from, path, depth) } else { None }
        }
    }
}

fn resolve_in(files: &CrateFiles, module: usize, path: &[String], depth: usize) -> Option<usize> {
    let Some((first, rest)) = path.split_first() else { return Some(module) };
    let here = &files.modules[module];
    if first == "super" {
        return resolve_in(files, here.parent?, rest, depth);
    }
    if let Some(child) = here.children.get(first) {
        return resolve_in(files, *child, rest, depth);
    }
    if here.items.contains(first) {
        return Some(module);
    }
    let named = here.uses.iter().find(|(alias, _)| alias == first);
    if let Some((_, target)) = named {
        // `use name;` of another crate names itself.
        return if target.first() == Some(first) && target.len() == 1 {
            None
        } else {
            resolve(files, module, &[target, rest].concat(), depth + 1)
        };
    }
    let globs = here.uses.iter().filter(|(alias, _)| alias == "*");
    let mut behind =
        globs.filter_map(|(_, target)| resolve(files, module, &[&target[..], path].concat(), depth + 1));
    behind.next()
}
