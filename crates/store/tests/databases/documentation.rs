//! `docs/schema.md` says what there is.

use std::ops::ControlFlow;
use std::path::Path;

use keyhoard_store::sqlite::{Rows, SqliteStore, Value};
use rusqlite::Connection;

fn documentation() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schema.md");
    std::fs::read_to_string(path).expect("docs/schema.md")
}

/// Collects the names of columns and the first values of rows.
#[derive(Default)]
struct Collected {
    columns: Vec<String>,
    rows: usize,
}

impl Rows for Collected {
    fn columns(&mut self, names: &[&str]) -> ControlFlow<()> {
        self.columns = names.iter().map(|&name| name.to_owned()).collect();
        ControlFlow::Continue(())
    }

    fn row(&mut self, _values: &[Value<'_>]) -> ControlFlow<()> {
        self.rows += 1;
        ControlFlow::Continue(())
    }
}

#[test]
fn every_table_view_and_column_that_people_can_ask_for_is_described() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let path = directory.path().join("keyhoard.db");
    let store = SqliteStore::create(&path).expect("create");
    let connection = Connection::open(&path).expect("open");
    let documentation = documentation();
    let mut names = vec!["signature".to_owned()];
    let sql = "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view')
        AND name NOT LIKE 'sqlite_%' AND name NOT LIKE 'user_id_search_%'";
    let mut statement = connection.prepare(sql).expect("prepare");
    let found = statement.query_map([], |row| row.get(0)).expect("query");
    names.extend(found.map(|name| name.expect("a name")));
    assert!(names.len() > 20, "{names:?}");
    for name in &names {
        assert!(
            documentation.contains(&format!("| `{name}` |")) || name == "signature",
            "{name} is not described"
        );
        let mut collected = Collected::default();
        store.query(&format!("SELECT * FROM {name}"), &mut collected).expect("it can be asked for");
        assert_eq!(collected.rows, 0);
        for column in collected.columns {
            assert!(documentation.contains(&format!("`{column}`")), "{name}.{column} is not described");
        }
    }
}

#[test]
fn the_marks_of_the_file_are_those_in_the_documentation() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let path = directory.path().join("keyhoard.db");
    drop(SqliteStore::create(&path).expect("create"));
    let connection = Connection::open(&path).expect("open");
    let pragma =
        |name: &str| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0)).expect("pragma");
    let documentation = documentation();
    assert!(documentation.contains(&format!("0x{:X}", pragma("application_id"))));
    assert!(documentation.contains(&format!("now {}.", pragma("user_version"))));
    assert_eq!(pragma("page_size"), 8192);
}
