//! The columns of `signature`, and one certificate's rows as JSON, from which SQLite makes them.

use std::fmt::{self, Write};

use cert::facts::SignatureFacts;
use cert::{Facts, Timestamp};
use verify::Verdict;

/// The columns after `cert` and before `user_id`, in the order of [`row`].
const COLUMNS: [&str; 17] = [
    "component",
    "position",
    "type",
    "version",
    "algorithm",
    "digest",
    "created",
    "expires",
    "issuer",
    "issuer_fingerprint",
    "exportable",
    "revocable",
    "superseded",
    "trust_depth",
    "trust_amount",
    "own",
    "verdict",
];

/// Returns the statement that makes the view.
pub(super) fn view() -> String {
    let mut sql = String::from("CREATE TEMP VIEW signature AS SELECT own.cert AS cert");
    for (index, column) in COLUMNS.iter().enumerate() {
        // Writing to a string cannot fail.
        let _ = write!(sql, ", signature.value ->> {index} AS {column}");
    }
    sql.push_str(
        ", CAST(user_id.value AS TEXT) AS user_id
        FROM self_facts AS own LEFT JOIN third_party AS others ON others.cert = own.cert,
        json_each(signatures_of(own.facts, others.facts)) AS signature
        LEFT JOIN user_id ON user_id.cert = own.cert AND user_id.component = signature.value ->> 0",
    );
    sql
}

/// Returns an array of rows, each an array of values.
pub(super) fn json(facts: &Facts) -> String {
    let mut json = String::from("[");
    for (number, component) in facts.components.iter().enumerate() {
        for signature in &component.signatures {
            if json.len() > 1 {
                json.push(',');
            }
            let _ = row(&mut json, number, signature);
        }
    }
    json.push(']');
    json
}

fn row(json: &mut String, component: usize, signature: &SignatureFacts) -> fmt::Result {
    let SignatureFacts { span, version, kind, key_algorithm, hash_algorithm, created, issuer, flags, .. } =
        signature;
    write!(json, "[{component},{},{},{version}", span.start, kind.0)?;
    write!(json, ",{},{},{}", key_algorithm.0, hash_algorithm.0, created.0)?;
    number(json, signature.expires.map(|Timestamp(time)| time))?;
    write!(json, ",\"{}\"", issuer.key_id)?;
    match issuer.fingerprint {
        Some(fingerprint) => write!(json, ",\"{fingerprint}\"")?,
        None => json.push_str(",null"),
    }
    for flag in [flags.exportable, flags.revocable, flags.superseded] {
        number(json, Some(u8::from(flag)))?;
    }
    number(json, signature.trust.map(|trust| trust.depth))?;
    number(json, signature.trust.map(|trust| trust.amount))?;
    number(json, Some(u8::from(signature.own.is_some())))?;
    json.push_str(match signature.own.as_deref().and_then(|own| own.verdict) {
        Some(Verdict::Good) => ",\"good\"",
        Some(Verdict::Bad) => ",\"bad\"",
        Some(Verdict::Unsupported) => ",\"unsupported\"",
        None => ",null",
    });
    json.push(']');
    Ok(())
}

fn number(json: &mut String, value: Option<impl fmt::Display>) -> fmt::Result {
    match value {
        Some(value) => write!(json, ",{value}"),
        None => json.write_str(",null"),
    }
}
