//! Comparing JSON with a JSON Schema, as far as the schemas in docs/json use the language.

use serde_json::Value;

/// Returns what of a document is not as the schema says. A name that the schema does not list is a fault, too.
///
/// # Panics
///
/// If the schema has a keyword that is not known here.
pub fn faults(schema: &Value, document: &Value) -> Vec<String> {
    let mut found = Vec::new();
    compare(schema, document, "", &mut found);
    found
}

fn compare(schema: &Value, document: &Value, at: &str, found: &mut Vec<String>) {
    let empty = serde_json::Map::new();
    let properties = schema["properties"].as_object().unwrap_or(&empty);
    for (keyword, value) in schema.as_object().expect("a schema is an object") {
        match keyword.as_str() {
            "$schema" | "title" | "description" | "properties" | "additionalProperties" => {}
            "type" => {
                let types = value.as_array().map_or_else(|| vec![value], |types| types.iter().collect());
                if !types.iter().any(|name| is_of_type(document, name.as_str().expect("a type"))) {
                    found.push(format!("{at}: {document} is not {value}"));
                }
            }
            "const" if value != document => found.push(format!("{at}: {document} is not {value}")),
            "enum" if !value.as_array().expect("values").contains(document) => {
                found.push(format!("{at}: {document} is none of {value}"));
            }
            "const" | "enum" => {}
            "required" => {
                let Some(object) = document.as_object() else { continue };
                let names = value.as_array().expect("names").iter().filter_map(Value::as_str);
                found.extend(
                    names
                        .filter(|name| !object.contains_key(*name))
                        .map(|name| format!("{at}.{name}: missing")),
                );
            }
            "items" => {
                let items = document.as_array().into_iter().flatten();
                items.for_each(|item| compare(value, item, &format!("{at}[]"), found));
            }
            "anyOf" => {
                let alternatives = value.as_array().expect("schemas").iter();
                let all: Vec<Vec<String>> = alternatives.map(|schema| faults(schema, document)).collect();
                if !all.iter().any(Vec::is_empty) {
                    found.push(format!("{at}: no alternative fits: {all:?}"));
                }
            }
            other => panic!("{at}: the keyword {other} is not known"),
        }
    }
    let others = &schema["additionalProperties"];
    for (name, value) in document.as_object().into_iter().flatten() {
        match properties.get(name) {
            Some(schema) => compare(schema, value, &format!("{at}.{name}"), found),
            None if others.is_object() => compare(others, value, &format!("{at}.{name}"), found),
            None if schema.get("anyOf").is_some() || schema.get("properties").is_none() => {}
            None => found.push(format!("{at}.{name}: not in the schema")),
        }
    }
}

fn is_of_type(document: &Value, name: &str) -> bool {
    match name {
        "null" => document.is_null(),
        "boolean" => document.is_boolean(),
        "integer" => document.is_i64() || document.is_u64(),
        "number" => document.is_number(),
        "string" => document.is_string(),
        "array" => document.is_array(),
        "object" => document.is_object(),
        other => panic!("{other} is no type"),
    }
}
