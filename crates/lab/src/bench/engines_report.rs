//! The comparison of the engines as Markdown.

use super::engines::{DatabaseLocation, Measured};
use super::markdown::{Columns, line, table};
use crate::series::seconds;

/// The numbers of certificates for which the costs are extrapolated.
const EXTRAPOLATED_SIZES: [f64; 2] = [1e7, 1e8];

impl Measured {
    fn head(&self) -> String {
        let place = match self.place {
            DatabaseLocation::File => "SQLite",
            DatabaseLocation::Server => "PostgreSQL",
            DatabaseLocation::Partitions => "PostgreSQL, partitions",
        };
        format!("{}: {place}", self.keyring)
    }

    fn lookup(&self, kind: &str) -> String {
        let name = format!("one key by {kind}");
        let [median, most, hits] = [0, 1, 2].map(|place| self.figure(&name, place));
        format!("{} ({}), up to {hits} found", seconds(median), seconds(most))
    }
}

/// Returns the table of measurements, and the extrapolation.
pub(super) fn markdown(measured: &[Measured]) -> String {
    if measured.is_empty() {
        return String::new();
    }
    let mut columns = Columns::new(measured, Measured::head);
    let of_server = |one: &Measured, value: String| {
        if one.place == DatabaseLocation::File { "-".to_owned() } else { value }
    };
    let mebibytes = |bytes: f64| format!("{:.1} MiB", bytes / f64::from(1 << 20));
    columns.row("import", |one| seconds(one.figure("import", 0)));
    columns.row("certificates a second", |one| format!("{:.0}", 1.0 / one.each()));
    columns.row("import again, unchanged", |one| seconds(one.figure("import again, unchanged", 0)));
    columns.row("all facts read, signatures too", |one| seconds(one.figure("read all facts", 0)));
    for kind in ["key ID", "mail address", "substring"] {
        columns.row(&format!("one key by {kind}: median (95 %)"), |one| one.lookup(kind));
    }
    columns.row("client: peak memory", |one| mebibytes(one.peak_memory as f64));
    columns.row("client: processor time", |one| seconds(one.client));
    columns.row("server: processor time", |one| of_server(one, seconds(one.server)));
    columns.row("rows", |one| of_server(one, format!("{:.0}", one.rows)));
    columns.row("size", |one| mebibytes(one.bytes));
    columns.text + &extrapolation(measured)
}

/// Extrapolates the costs of more certificates: the time per certificate grows with every factor of ten as it did
/// between the last two sizes.
fn extrapolation(measured: &[Measured]) -> String {
    let mut text = String::new();
    for place in [DatabaseLocation::File, DatabaseLocation::Server] {
        let mut measured_sizes =
            measured.iter().filter(|one| one.place == place && one.keyring.ends_with(" made")).rev();
        let (Some(last), Some(before)) = (measured_sizes.next(), measured_sizes.next()) else { continue };
        let decades = (last.certificates() / before.certificates()).log10();
        let growth = (last.each() / before.each()).powf(1.0 / decades);
        let name = if place == DatabaseLocation::File { "SQLite" } else { "PostgreSQL" };
        text.push_str(&format!("\n{name}, worked out (the time for each certificate grows {growth:.2}-fold with every tenfold):\n\n"));
        text.push_str(&table(&["certificates", "rows", "bytes", "hours to import"]));
        for certificates in EXTRAPOLATED_SIZES {
            let times = certificates / last.certificates();
            let hours = last.each() * growth.powf(times.log10()) * certificates / 3600.0;
            let rows = if place == DatabaseLocation::File {
                "-".to_owned()
            } else {
                format!("{:.2e}", last.rows * times)
            };
            text.push_str(&line(&[
                format!("{certificates:.0}"),
                rows,
                format!("{:.1} GB", last.bytes * times / 1e9),
                format!("{hours:.2}"),
            ]));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    fn measured_sizes(certificates: f64, seconds: f64) -> Measured {
        let figures = [("certificates", certificates), ("import", seconds)];
        let figures: HashMap<_, _> = figures.map(|(name, number)| (name.to_owned(), vec![number])).into();
        let keyring = format!("{certificates} made");
        let bytes = certificates * 3000.0;
        let (peak_memory, client, server, rows) = (0, 0.0, 0.0, certificates * 20.0);
        Measured {
            keyring,
            place: DatabaseLocation::Server,
            figures,
            peak_memory,
            client,
            server,
            rows,
            bytes,
        }
    }

    #[test]
    fn what_more_would_take_follows_the_last_tenfold() {
        // 100 microseconds each, then 200: at ten millions 400.
        let text = extrapolation(&[measured_sizes(1e5, 10.0), measured_sizes(1e6, 200.0)]);
        assert!(text.contains("2.00-fold"), "{text}");
        assert!(text.contains("| 10000000 | 2.00e8 | 30.0 GB | 1.11 |"), "{text}");
        assert!(text.contains("| 100000000 | 2.00e9 | 300.0 GB | 22.22 |"), "{text}");
    }
}
