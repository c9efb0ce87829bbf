//! The public API of a crate, read from its sources: a line for each item, sorted.

use std::collections::HashMap;
use std::path::Path;

use quote::ToTokens;
use syn::{Fields, ImplItem, Item, ItemImpl, Visibility};

/// Where the types are that the crate re-exports from others, below the folder of the crates.
const OF_OTHERS: [(&str, &[&str]); 3] = [
    ("cert/src/identity.rs", &["Fingerprint", "KeyId"]),
    ("trust/src/level.rs", &["OwnerTrust", "Validity"]),
    ("engine/src/verification/status.rs", &["SignatureStatus"]),
];

/// Reads all sources of a crate, whose root re-exports what is public.
pub(crate) fn read(source: &Path) -> String {
    let mut files: Vec<_> =
        source.read_dir().expect("sources").map(|entry| entry.expect("a file").path()).collect();
    files.sort();
    let parse = |path: &Path| {
        let text = std::fs::read_to_string(path).expect("a source");
        syn::parse_file(&text).expect("Rust")
    };
    let exported = exported(&parse(&source.join("lib.rs")).items);
    let mut lines: Vec<String> = exported.iter().map(|(_, line)| line.clone()).collect();
    for path in files.iter().filter(|path| !path.ends_with("lib.rs")) {
        for item in expanded(parse(path).items) {
            add(&item, &|name| exported.iter().any(|(known, _)| known == name), &mut lines);
        }
    }
    for (path, names) in OF_OTHERS {
        for item in parse(&source.join("../..").join(path)).items {
            add(&item, &|name| names.contains(&name), &mut lines);
        }
    }
    lines.sort();
    lines.dedup();
    lines.join("\n") + "\n"
}

/// Replaces the use of a macro that repeats its items for each of some names with these items.
fn expanded(items: Vec<Item>) -> Vec<Item> {
    let mut rules = HashMap::new();
    let mut expanded = Vec::new();
    for item in items {
        let Item::Macro(found) = item else {
            expanded.push(item);
            continue;
        };
        let tokens = text(&found.mac.tokens);
        match (&found.ident, text(&found.mac.path)) {
            (Some(name), _) => drop(rules.insert(name.to_string(), tokens)),
            (None, name) => {
                let body =
                    rules.get(&name).and_then(|rule| rule.split_once("=> { $ (")?.1.rsplit_once(") *"));
                let (body, _) = body.unwrap_or_else(|| panic!("{name}! does not repeat items for names"));
                for name in tokens.split(',') {
                    let items = body.replace("$ builder", name);
                    expanded.extend(syn::parse_file(&items).expect("items of a macro").items);
                }
            }
        }
    }
    expanded
}

/// Returns the names that the root exports, and a line for each.
fn exported(items: &[Item]) -> Vec<(String, String)> {
    let mut names = Vec::new();
    for item in items {
        let Item::Use(item) = item else { continue };
        if matches!(item.vis, Visibility::Public(_)) {
            flatten(&item.tree, "", &mut names);
        }
    }
    names
}

fn flatten(tree: &syn::UseTree, path: &str, names: &mut Vec<(String, String)>) {
    match tree {
        syn::UseTree::Path(step) => flatten(&step.tree, &format!("{path}{}::", step.ident), names),
        syn::UseTree::Group(group) => group.items.iter().for_each(|tree| flatten(tree, path, names)),
        syn::UseTree::Name(name) => names.push((name.ident.to_string(), format!("use {path}{}", name.ident))),
        syn::UseTree::Rename(new) => {
            names.push((new.rename.to_string(), format!("use {path}{} as {}", new.ident, new.rename)));
        }
        syn::UseTree::Glob(_) => names.push(("*".to_owned(), format!("use {path}*"))),
    }
}

fn add(item: &Item, is_exported: &dyn Fn(&str) -> bool, lines: &mut Vec<String>) {
    match item {
        Item::Struct(item) if is_exported(&item.ident.to_string()) => {
            let name = &item.ident;
            lines.push(format!("{}struct {name}{}", attributes(&item.attrs), text(&item.generics)));
            let is_public = |field: &syn::Field| matches!(field.vis, Visibility::Public(_));
            if matches!(item.fields, Fields::Unnamed(_)) && item.fields.iter().all(is_public) {
                lines.push(format!("{name}{}", fields(&item.fields)));
            }
            let Fields::Named(fields) = &item.fields else { return };
            for field in fields.named.iter().filter(|field| is_public(field)) {
                lines.push(format!("{name}.{}: {}", text(&field.ident), text(&field.ty)));
            }
        }
        Item::Enum(item) if is_exported(&item.ident.to_string()) => {
            let name = &item.ident;
            lines.push(format!("{}enum {name}{}", attributes(&item.attrs), text(&item.generics)));
            for variant in &item.variants {
                lines.push(format!("{name}::{}{}", variant.ident, fields(&variant.fields)));
            }
        }
        Item::Type(item) if is_exported(&item.ident.to_string()) => {
            lines.push(format!("type {}{} = {}", item.ident, text(&item.generics), text(&item.ty)));
        }
        Item::Impl(item) => add_impl(item, is_exported, lines),
        _ => {}
    }
}

fn add_impl(item: &ItemImpl, is_exported: &dyn Fn(&str) -> bool, lines: &mut Vec<String>) {
    let syn::Type::Path(of) = &*item.self_ty else { return };
    let Some(name) = of.path.segments.last().map(|segment| segment.ident.to_string()) else { return };
    if !is_exported(&name) {
        return;
    }
    if let Some((implemented, _)) = &item.trait_ {
        lines.push(format!("impl {} for {}", text(implemented), text(&item.self_ty)));
        return;
    }
    for method in &item.items {
        if let ImplItem::Fn(method) = method
            && matches!(method.vis, Visibility::Public(_))
        {
            lines.push(format!("{name}::{}", text(&method.sig)));
        }
    }
}

/// Returns what of the attributes is part of the API: derived traits, and that it may grow.
fn attributes(attributes: &[syn::Attribute]) -> String {
    let counts = |attribute: &&syn::Attribute| {
        ["derive", "non_exhaustive", "must_use"].iter().any(|name| attribute.path().is_ident(name))
    };
    attributes.iter().filter(counts).map(|attribute| text(&attribute.meta) + " ").collect()
}

fn fields(fields: &Fields) -> String {
    let each = |field: &syn::Field| match &field.ident {
        Some(name) => format!("{name}: {}", text(&field.ty)),
        None => text(&field.ty),
    };
    let list: Vec<String> = fields.iter().map(each).collect();
    match fields {
        Fields::Named(_) => format!(" {{ {} }}", list.join(", ")),
        Fields::Unnamed(_) => format!("({})", list.join(", ")),
        Fields::Unit => String::new(),
    }
}

fn text(tokens: &impl ToTokens) -> String {
    tokens.to_token_stream().to_string()
}
