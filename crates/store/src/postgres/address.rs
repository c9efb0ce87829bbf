//! Where a PostgreSQL database is: the URL, and what libpq's environment, service file and password file add to it.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio_postgres::Config;
use zeroize::Zeroizing;

use super::tls::Security;
use super::{libpq_files, url};
use crate::server_url::{split_user, without_password};
use crate::{Error, Result};

/// The schema of a database's tables, unless the URL names another one (`?schema=`).
const SCHEMA: &str = "keyhoard";

/// How long to wait for a connection, unless the URL says so.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);

/// How often a silent connection is asked whether it still lives.
const KEEPALIVE: Duration = Duration::from_secs(30);

/// Where a database is and how it is reached. Its text never holds a password.
#[derive(Clone)]
pub struct Address {
    pub(super) config: Config,
    pub(super) security: Security,
    pub(super) schema: String,
    shown: String,
}

impl Address {
    /// Reads a URL as libpq does (PostgreSQL 15's manual, 34.1.1.2), with `schema` as a parameter more. What it leaves
    /// out comes from the service file, the `PG*` variables and the password file, in this order.
    ///
    /// # Errors
    ///
    /// [`Error::Address`] if it is none; the text of the error holds no password.
    pub fn parse(url: &str) -> Result<Self> {
        Self::with(url, &|name| std::env::var(name).ok().filter(|value| !value.is_empty()))
    }

    /// Reads such a URL for a program whose environment is none of the database's business: nothing that it leaves out is
    /// looked for elsewhere.
    ///
    /// # Errors
    ///
    /// Those of [`Address::parse`].
    pub fn parse_alone(url: &str) -> Result<Self> {
        Self::with(url, &|_| None)
    }

    fn with(url: &str, environment: &dyn Fn(&str) -> Option<String>) -> Result<Self> {
        let wrong = |reason: String| {
            // What was taken for something else may be a part of the password.
            let reason = if url::may_hide_user(url) { url::HIDDEN_USER.to_owned() } else { reason };
            Error::Address { url: without_password(url), reason }
        };
        let mut settings = Settings::of_url(url).map_err(wrong)?;
        settings.add_service(environment).map_err(wrong)?;
        settings.add_environment(environment);
        let shown = settings.shown();
        let security = settings.security(environment).map_err(wrong)?;
        let schema = settings.take("schema").map_or_else(|| SCHEMA.to_owned(), |schema| schema.to_string());
        if !is_plain_name(&schema) {
            return Err(wrong(format!("'{schema}' is no name for a schema: letters, digits and _ only")));
        }
        let config = settings.config(environment).map_err(wrong)?;
        Ok(Self { config, security, schema, shown })
    }

    /// Returns the place for messages, as errors carry it.
    pub(super) fn path(&self) -> PathBuf {
        PathBuf::from(&self.shown)
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Address({})", self.shown)
    }
}

/// libpq's settings by their names, the first to say something having the word.
struct Settings(BTreeMap<String, Zeroizing<String>>);

/// The settings that are understood, with the variable that gives each where the URL does not.
const KNOWN: [(&str, &str); 17] = [
    ("host", "PGHOST"),
    ("hostaddr", "PGHOSTADDR"),
    ("port", "PGPORT"),
    ("user", "PGUSER"),
    ("dbname", "PGDATABASE"),
    ("password", "PGPASSWORD"),
    ("passfile", "PGPASSFILE"),
    ("service", "PGSERVICE"),
    ("sslmode", "PGSSLMODE"),
    ("sslrootcert", "PGSSLROOTCERT"),
    ("sslcert", "PGSSLCERT"),
    ("sslkey", "PGSSLKEY"),
    ("connect_timeout", "PGCONNECT_TIMEOUT"),
    ("application_name", "PGAPPNAME"),
    ("options", "PGOPTIONS"),
    ("target_session_attrs", "PGTARGETSESSIONATTRS"),
    ("schema", "KEYHOARD_SCHEMA"),
];

/// Refuses other settings: one that protects the connection must not be passed over.
fn check_known(name: &str) -> std::result::Result<(), String> {
    let is_known = KNOWN.iter().any(|(known, _)| *known == name);
    if is_known { Ok(()) } else { Err(format!("the parameter '{name}' is not known here")) }
}

impl Settings {
    fn of_url(url: &str) -> std::result::Result<Self, String> {
        let rest = url.split_once("://").map(|(_, rest)| rest).ok_or("no URL")?;
        let (user, rest) = split_user(rest);
        let (place, parameters) = rest.split_once('?').unwrap_or((rest, ""));
        let (hosts, database) = place.split_once('/').unwrap_or((place, ""));
        let mut settings = Self(BTreeMap::new());
        let (user, password) = user.map_or((None, None), |user| match user.split_once(':') {
            Some((user, password)) => (Some(user), Some(password)),
            None => (Some(user), None),
        });
        settings.add("user", user)?;
        settings.add("password", password)?;
        settings.add("dbname", Some(database))?;
        let (names, ports) = url::split_hosts(hosts);
        settings.add("host", Some(&names))?;
        settings.add("port", Some(&ports))?;
        for pair in parameters.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').ok_or_else(|| format!("'{pair}' has no value"))?;
            check_known(name)?;
            settings.add(name, Some(value))?;
        }
        Ok(settings)
    }

    /// Notes a part of the URL, decoded, unless it is empty.
    fn add(&mut self, name: &str, value: Option<&str>) -> std::result::Result<(), String> {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            self.0.insert(name.to_owned(), Zeroizing::new(url::decoded(value)?));
        }
        Ok(())
    }

    fn add_service(
        &mut self,
        environment: &dyn Fn(&str) -> Option<String>,
    ) -> std::result::Result<(), String> {
        let service = self.take("service").map(|service| service.to_string());
        let Some(service) = service.or_else(|| environment("PGSERVICE")) else { return Ok(()) };
        let own =
            environment("PGSERVICEFILE").map(PathBuf::from).or_else(|| home(environment, ".pg_service.conf"));
        let system = environment("PGSYSCONFDIR").unwrap_or_else(|| "/etc/postgresql-common".to_owned());
        let system = Path::new(&system).join("pg_service.conf");
        for file in own.into_iter().chain([system]) {
            let Ok(text) = std::fs::read_to_string(&file).map(Zeroizing::new) else { continue };
            if let Some(section) = libpq_files::section(&text, &service) {
                for (name, value) in section {
                    check_known(name)?;
                    self.0.entry(name.to_owned()).or_insert_with(|| Zeroizing::new(value.to_owned()));
                }
                return Ok(());
            }
        }
        Err(format!("no service file has a section [{service}]"))
    }

    fn add_environment(&mut self, environment: &dyn Fn(&str) -> Option<String>) {
        for (name, variable) in KNOWN {
            if !self.0.contains_key(name)
                && let Some(value) = environment(variable)
            {
                self.0.insert(name.to_owned(), Zeroizing::new(value));
            }
        }
        if !self.0.contains_key("user") {
            let user = environment("USER").or_else(|| environment("LOGNAME"));
            let user = user.unwrap_or_else(|| "postgres".to_owned());
            self.0.insert("user".to_owned(), Zeroizing::new(user));
        }
        if !self.0.contains_key("dbname") {
            let user = self.0["user"].clone();
            self.0.insert("dbname".to_owned(), user);
        }
    }

    fn take(&mut self, name: &str) -> Option<Zeroizing<String>> {
        self.0.remove(name)
    }

    fn text(&self, name: &str) -> &str {
        self.0.get(name).map_or("", |value| value.as_str())
    }

    /// Returns what names the database in messages.
    fn shown(&self) -> String {
        let (host, port) = (self.text("host"), self.text("port"));
        let host = if host.is_empty() { self.text("hostaddr") } else { host };
        let place = if port.is_empty() || host.contains(',') || host.starts_with('/') {
            host.to_owned()
        } else {
            format!("{host}:{port}")
        };
        let mut shown = format!("postgres://{}@{place}/{}", self.text("user"), self.text("dbname"));
        let schema = self.text("schema");
        if !schema.is_empty() && schema != SCHEMA {
            shown.push_str("?schema=");
            shown.push_str(schema);
        }
        shown
    }

    fn security(
        &mut self,
        environment: &dyn Fn(&str) -> Option<String>,
    ) -> std::result::Result<Security, String> {
        let mode = self.take("sslmode");
        let file = |settings: &mut Self, name: &str, usual: &str| {
            let named = settings.take(name).map(|path| PathBuf::from(path.as_str()));
            named.or_else(|| home(environment, usual).filter(|path| path.exists()))
        };
        Security::new(
            mode.as_deref().map_or("prefer", String::as_str),
            file(self, "sslrootcert", ".postgresql/root.crt"),
            file(self, "sslcert", ".postgresql/postgresql.crt"),
            file(self, "sslkey", ".postgresql/postgresql.key"),
        )
    }

    fn config(mut self, environment: &dyn Fn(&str) -> Option<String>) -> std::result::Result<Config, String> {
        let mut config = Config::new();
        let user = self.take("user").unwrap_or_default();
        let database = self.take("dbname").unwrap_or_default();
        config.user(user.as_str()).dbname(database.as_str());
        config.keepalives_idle(KEEPALIVE);
        // Whoever waits for an answer that does not come is told so by the system.
        config.tcp_user_timeout(KEEPALIVE * 2);
        let timeout = self.take("connect_timeout").map(|seconds| seconds.trim().parse::<u64>());
        let timeout = timeout.transpose().map_err(|_| "connect_timeout is no number")?;
        config.connect_timeout(timeout.filter(|&it| it > 0).map_or(CONNECT_TIMEOUT, Duration::from_secs));
        let name = self.take("application_name");
        config.application_name(name.as_deref().map_or("keyhoard", String::as_str));
        if let Some(options) = self.take("options") {
            config.options(options.as_str());
        }
        match self.take("target_session_attrs").as_deref().map(String::as_str) {
            None | Some("any") => {}
            Some("read-write" | "primary") => {
                config.target_session_attrs(tokio_postgres::config::TargetSessionAttrs::ReadWrite);
            }
            Some(other) => return Err(format!("target_session_attrs={other} is not known here")),
        }
        self.add_hosts(&mut config)?;
        let file = self.take("passfile").map(|path| PathBuf::from(path.as_str()));
        let file = file.or_else(|| home(environment, ".pgpass"));
        let password = self.take("password");
        let password = password.or_else(|| libpq_files::password(&file?, &config, &user, &database));
        if let Some(password) = password {
            config.password(password.as_bytes());
        }
        Ok(config)
    }

    fn add_hosts(&mut self, config: &mut Config) -> std::result::Result<(), String> {
        let host = self.take("host").unwrap_or_default();
        let address = self.take("hostaddr").unwrap_or_default();
        let names: Vec<&str> = match (host.as_str(), address.as_str()) {
            ("", "") => vec![default_host()],
            ("", address) => address.split(',').collect(),
            (host, _) => host.split(',').collect(),
        };
        names.iter().for_each(|name| {
            config.host(*name);
        });
        if !host.is_empty() && !address.is_empty() {
            for address in address.split(',') {
                config.hostaddr(address.trim().parse().map_err(|_| "hostaddr is no address")?);
            }
        }
        let ports = self.take("port").unwrap_or_default();
        let ports: Vec<&str> = ports.split(',').collect();
        for index in 0..names.len() {
            let port = ports.get(index).or(ports.last()).copied().unwrap_or_default().trim();
            let port = if port.is_empty() { "5432" } else { port };
            config.port(port.parse().map_err(|_| format!("'{port}' is no port"))?);
        }
        Ok(())
    }
}

/// Where Debian's packages put the server's socket, else this machine.
fn default_host() -> &'static str {
    const DIRECTORY: &str = "/var/run/postgresql";
    if Path::new(DIRECTORY).is_dir() { DIRECTORY } else { "localhost" }
}

fn home(environment: &dyn Fn(&str) -> Option<String>, file: &str) -> Option<PathBuf> {
    environment("HOME").map(|home| Path::new(&home).join(file))
}

fn is_plain_name(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    !name.is_empty() && name.len() < 64 && name.bytes().all(plain) && !name.as_bytes()[0].is_ascii_digit()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use tokio_postgres::config::Host;

    use super::*;

    fn address(url: &str, variables: &[(&str, &str)]) -> Result<Address> {
        let find = |name: &str| {
            let found = variables.iter().find(|(variable, _)| *variable == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        Address::with(url, &find)
    }

    fn password(address: &Address) -> Option<&str> {
        address.config.get_password().map(|password| std::str::from_utf8(password).expect("text"))
    }

    #[test]
    fn a_url_says_everything_and_its_text_has_no_password() {
        let url = "postgresql://ann:p%40ss:word@db.example.org:6543/keys?sslmode=disable&schema=team";
        let address = address(url, &[("PGPASSWORD", "other")]).expect("a URL");
        assert_eq!(address.config.get_user(), Some("ann"));
        assert_eq!(address.config.get_dbname(), Some("keys"));
        assert_eq!(address.config.get_hosts(), [Host::Tcp("db.example.org".to_owned())]);
        assert_eq!(address.config.get_ports(), [6543]);
        assert_eq!(password(&address), Some("p@ss:word"));
        assert_eq!(address.schema, "team");
        let shown = "postgres://ann@db.example.org:6543/keys?schema=team";
        assert_eq!(address.to_string(), shown);
        assert_eq!(format!("{address:?}"), format!("Address({shown})"));
    }

    #[test]
    fn what_a_url_leaves_out_comes_from_the_environment() {
        let variables = [("PGHOST", "/run/pg"), ("PGUSER", "bob"), ("PGPASSWORD", "secret"), ("PGPORT", "7")];
        let address = address("postgres:///", &variables).expect("a URL");
        assert_eq!(address.config.get_hosts(), [Host::Unix("/run/pg".into())]);
        assert_eq!((address.config.get_ports(), address.config.get_dbname()), (&[7][..], Some("bob")));
        assert_eq!(password(&address), Some("secret"));
    }

    #[test]
    fn a_service_file_speaks_before_the_environment_and_after_the_url() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let file = directory.path().join("services");
        let text = "[other]\nuser=nobody\n[keys]\n# a comment\nhost = db.example.org\nuser=carl\ndbname=k\n[more]\nport=1\n";
        std::fs::write(&file, text).expect("write");
        let file = file.to_str().expect("text");
        let variables = [("PGSERVICEFILE", file), ("PGUSER", "dora"), ("PGDATABASE", "d")];
        let known = address("postgres:///mine?service=keys", &variables).expect("a service");
        assert_eq!(known.to_string(), "postgres://carl@db.example.org/mine");
        let unknown = address("postgres:///?service=none", &variables).expect_err("no such service");
        assert!(unknown.to_string().contains("[none]"), "{unknown}");
        for setting in ["channel_binding=require", "sslcrl=/etc/crl.pem", "requirepeer=postgres"] {
            std::fs::write(file, format!("[keys]\n{setting}\n")).expect("write");
            let refused = address("postgres:///?service=keys", &variables).expect_err(setting).to_string();
            assert!(refused.contains(setting.split('=').next().expect("a name")), "{refused}");
        }
    }

    #[test]
    fn a_password_file_is_believed_only_if_nobody_else_can_read_it() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let file = directory.path().join("pass");
        std::fs::write(&file, "# comment\nother:*:*:*:no\n*:5432:a\\:b:ann:o\\:pen\\\\sesame\n")
            .expect("write");
        let mode =
            |mode| std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).expect("mode");
        let variables = [("PGPASSFILE", file.to_str().expect("text"))];
        mode(0o600);
        let found = address("postgres://ann@host/a%3Ab", &variables).expect("a URL");
        assert_eq!(password(&found), Some("o:pen\\sesame"));
        assert_eq!(password(&address("postgres://bob@host/a%3Ab", &variables).expect("a URL")), None);
        mode(0o640);
        assert_eq!(password(&address("postgres://ann@host/a%3Ab", &variables).expect("a URL")), None);
    }

    #[test]
    fn no_error_and_no_text_shows_a_password() {
        for (url, shown) in [
            ("postgres://u:se@cret@h/d?nonsense=1", "postgres://u:***@h/d?nonsense=1"),
            ("postgres://u@h/d?password=secret&port=x", "postgres://u@h/d?password=***&port=x"),
            ("postgres://u:secret@h/d?sslmode=maybe", "postgres://u:***@h/d?sslmode=maybe"),
            ("postgres://u:sec/ret@h:x/d", "postgres://u:***@h:x/d"),
            ("postgres://u:sec?ret@h:x/d", "postgres://u:***@h:x/d"),
            ("postgres://u:se/c?ret@h/d", "postgres://u:***@h/d"),
            ("postgres://u:1/c?ret@h/d", "postgres://u:***@h/d"),
            ("postgres://u:1/c?ret@secret=@h/d", "postgres://u:***@h/d"),
        ] {
            assert_eq!(without_password(url), shown);
            let error = address(url, &[]).expect_err(url).to_string();
            assert!(!error.contains("secret") && !error.contains("ret@") && error.contains("***"), "{error}");
        }
        assert_eq!(without_password("/home/ann/keyhoard.db"), "/home/ann/keyhoard.db");
        assert!(address("postgres://h:5432/d?application_name=a@b", &[("USER", "u")]).is_ok());
    }
}
