//! The files of a crate, and what each of its modules defines and re-exports.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use syn::{Item, ItemMod, UseTree};

/// A crate's modules; the first one is its root.
pub(crate) struct CrateFiles {
    pub(crate) modules: Vec<Module>,
}

/// A module that is a file of its own.
pub(crate) struct Module {
    pub(crate) path: PathBuf,
    pub(crate) parent: Option<usize>,
    pub(crate) children: HashMap<String, usize>,
    /// Names of items that this file defines.
    pub(crate) items: Vec<String>,
    /// Names that `use` brings in, each with the path behind it.
    pub(crate) uses: Vec<(String, Vec<String>)>,
    /// The syntax tree, without tests.
    pub(crate) syntax: Vec<Item>,
}

impl CrateFiles {
    /// Reads a crate from its root file.
    pub(crate) fn read(root: &Path) -> Self {
        let mut files = Self { modules: Vec::new() };
        let directory = root.parent().expect("a directory");
        files.add(root, directory, None);
        files
    }

    /// Returns a line for each file of a cycle.
    pub(crate) fn describe(&self, cycle: &[(usize, String)]) -> String {
        let line = |(module, name): &(usize, String)| {
            format!("  {} uses {name} of", self.modules[*module].path.display())
        };
        cycle.iter().map(line).collect::<Vec<_>>().join("\n") + "\n  the first\n"
    }

    fn add(&mut self, path: &Path, directory: &Path, parent: Option<usize>) -> usize {
        let text =
            std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let syntax =
            syn::parse_file(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display())).items;
        let syntax: Vec<Item> = syntax.into_iter().filter(|item| !is_test(attributes(item))).collect();
        let number = self.modules.len();
        let (mut items, mut uses) = (Vec::new(), Vec::new());
        for item in &syntax {
            items.extend(name(item));
            if let Item::Use(item) = item {
                leaves(&item.tree, &mut Vec::new(), &mut uses);
            }
        }
        let own = path.to_owned();
        self.modules.push(Module {
            path: own,
            parent,
            children: HashMap::new(),
            items,
            uses,
            syntax: Vec::new(),
        });
        for item in &syntax {
            if let Item::Mod(ItemMod { ident, content: None, .. }) = item {
                let name = ident.to_string();
                let child =
                    self.add(&directory.join(format!("{name}.rs")), &directory.join(&name), Some(number));
                self.modules[number].children.insert(name, child);
            }
        }
        self.modules[number].syntax = syntax;
        number
    }
}

/// Lists the names that a `use` brings in; `*` stands for all of a module.
pub(crate) fn leaves(tree: &UseTree, before: &mut Vec<String>, found: &mut Vec<(String, Vec<String>)>) {
    match tree {
        UseTree::Path(path) => {
            before.push(path.ident.to_string());
            leaves(&path.tree, before, found);
            before.pop();
        }
        UseTree::Group(group) => group.items.iter().for_each(|tree| leaves(tree, before, found)),
        UseTree::Name(name) if name.ident == "self" => {
            found.push((before.last().cloned().unwrap_or_default(), before.clone()));
        }
        UseTree::Name(name) => leaf(name.ident.to_string(), name.ident.to_string(), before, found),
        UseTree::Rename(rename) => leaf(rename.rename.to_string(), rename.ident.to_string(), before, found),
        UseTree::Glob(_) => found.push(("*".into(), before.clone())),
    }
}

fn leaf(alias: String, name: String, before: &[String], found: &mut Vec<(String, Vec<String>)>) {
    found.push((alias, [before, &[name]].concat()));
}

fn is_test(attributes: &[syn::Attribute]) -> bool {
    let is_cfg_test = |attribute: &syn::Attribute| {
        attribute.path().is_ident("cfg")
            && attribute.parse_args::<syn::Path>().is_ok_and(|condition| condition.is_ident("test"))
    };
    attributes.iter().any(is_cfg_test)
}

fn attributes(item: &Item) -> &[syn::Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

fn name(item: &Item) -> Option<String> {
    let ident = match item {
        Item::Const(item) => &item.ident,
        Item::Enum(item) => &item.ident,
        Item::Fn(item) => &item.sig.ident,
        Item::Macro(item) => item.ident.as_ref()?,
        Item::Mod(item) if item.content.is_some() => &item.ident,
        Item::Static(item) => &item.ident,
        Item::Struct(item) => &item.ident,
        Item::Trait(item) => &item.ident,
        Item::Type(item) => &item.ident,
        _ => return None,
    };
    Some(ident.to_string())
}
