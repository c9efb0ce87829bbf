//! Databases of both engines, for tests that hold for each of them, word for word.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use scratch_postgres::{Listen, Server};

use crate::Home;

/// What keeps the database of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// A file in the home.
    Sqlite,
    /// A schema of the PostgreSQL server that all tests of this process share.
    Postgres,
}

impl Engine {
    /// Makes a home with the oracle's `gpg.conf`, for a database of this engine.
    pub fn home(self) -> Home {
        match self {
            Engine::Sqlite => Home::new(),
            Engine::Postgres => Home::new().with_database_at(new_url()),
        }
    }

    /// Makes a home with this `gpg.conf`, for a database of this engine.
    pub fn home_with_conf(self, conf: &str) -> Home {
        let home = self.home();
        home.write("gpg.conf", conf);
        home
    }
}

/// Returns the URL of a place on the shared server where no database is yet.
fn new_url() -> String {
    static SCHEMAS: AtomicU32 = AtomicU32::new(0);
    let number = SCHEMAS.fetch_add(1, Ordering::Relaxed);
    server().url(&format!("schema=test_{number}"))
}

/// Returns the server that all tests of a process share; it ends with the process.
pub fn server() -> &'static Server {
    static SERVER: OnceLock<Server> = OnceLock::new();
    // The system survives, so nothing has to reach the disk.
    SERVER.get_or_init(|| {
        let settings = ["fsync=off", "max_connections=200"];
        Server::start(Listen::Socket, &settings).expect("a PostgreSQL server (make programs)")
    })
}

/// Runs each of the named tests with each engine.
#[macro_export]
macro_rules! on_both_engines {
    ($($test:ident)*) => {
        mod sqlite {
            $(#[test] fn $test() { super::$test($crate::Engine::Sqlite) })*
        }
        mod postgres {
            $(#[test] fn $test() { super::$test($crate::Engine::Postgres) })*
        }
    };
}
