//! A PostgreSQL server in a temporary directory, for tests and measurements.
//!
//! It listens on a socket in that directory, or on loopback as well, and goes away with the process that started it,
//! whatever becomes of that one, and the directory with it: the server's guard reads from a pipe that ends with its
//! starter. PostgreSQL refuses to run as root; started by root, it runs as the user `postgres` or `nobody`.

use std::fs::{self, File};
use std::io::{self, Error, Write};
use std::net::TcpListener;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// The database and the superuser in it.
const NAME: &str = "keyhoard";

/// How long a server may take to start, recovery included.
const START: Duration = Duration::from_secs(60);

/// Starts the server and reads standard input, a pipe. At the end of the pipe, when the starting program has ended, it
/// stops the server and removes the directory; after a line from the pipe it only stops the server. A server that was
/// just started does not handle QUIT yet, but TERM.
const GUARD: &str =
    "directory=$1; shift; \"$@\" & server=$!; read word; kill -TERM $server; kill -QUIT $server;
    wait $server; test -n \"$word\" || rm -rf \"$directory\"";

/// Where a server listens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listen {
    /// On a socket in its directory.
    Socket,
    /// On a port of 127.0.0.1, too.
    Loopback,
}

/// A running server.
#[derive(Debug)]
pub struct Server {
    directory: tempfile::TempDir,
    user: Option<(u32, u32)>,
    port: Option<u16>,
    settings: Vec<String>,
    guard: Child,
}

impl Server {
    /// Makes a database cluster and starts a server for it, with these settings (`name=value`) besides.
    ///
    /// # Errors
    ///
    /// The system's, and what `initdb` or the server said.
    pub fn start(listen: Listen, settings: &[&str]) -> io::Result<Self> {
        let directory = tempfile::Builder::new().prefix("pg").tempdir_in("/tmp")?;
        let user = unprivileged()?;
        if let Some((uid, gid)) = user {
            chown(directory.path(), Some(uid), Some(gid))?;
        }
        // Others may reach the socket in it.
        fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o755))?;
        let data = directory.path().join("data");
        let mut init = as_user(&program("initdb")?, user);
        init.args(["--auth=trust", "--encoding=UTF8", "--locale=C.UTF-8", "--no-sync", "-U", NAME, "-D"])
            .arg(&data);
        run(&mut init)?;
        let port = match listen {
            Listen::Socket => None,
            Listen::Loopback => Some(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port()),
        };
        let settings: Vec<String> = settings.iter().map(|setting| (*setting).to_owned()).collect();
        let guard = start(directory.path(), user, port, &settings)?;
        let server = Self { directory, user, port, settings, guard };
        let mut create = as_user(&program("createdb")?, user);
        run(create.arg("-h").arg(server.directory.path()).args(["-p", &server.port(), "-U", NAME, NAME]))?;
        Ok(server)
    }

    /// Returns the database's URL, with these parameters; over loopback where the server listens there.
    pub fn url(&self, parameters: &str) -> String {
        let host = match self.port {
            Some(port) => format!("127.0.0.1:{port}"),
            None => self.directory.path().display().to_string().replace('/', "%2F"),
        };
        format!("postgres://{NAME}@{host}/{NAME}?{parameters}")
    }

    /// Returns the server's data directory.
    pub fn data(&self) -> PathBuf {
        self.directory.path().join("data")
    }

    /// Runs statements with `psql`, and returns what it wrote: values without frills.
    ///
    /// # Errors
    ///
    /// The server's words.
    pub fn psql(&self, sql: &str) -> io::Result<String> {
        let mut psql = Command::new(program("psql")?);
        psql.args(["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-U", NAME, "-d", NAME, "-c", sql]);
        run(psql.arg("-h").arg(self.directory.path()).args(["-p", &self.port()]))
    }

    /// Returns the processor time that the server's processes have used, those that have ended too.
    ///
    /// # Errors
    ///
    /// The system's.
    pub fn processor_time(&self) -> io::Result<Duration> {
        let server = self.pid()?;
        let mut ticks = 0;
        for entry in fs::read_dir("/proc")?.flatten() {
            // A process may end between the two.
            let Ok(stat) = fs::read_to_string(entry.path().join("stat")) else { continue };
            // The name, in parentheses, may hold anything (proc_pid_stat(5)).
            let Some((pid, rest)) =
                stat.split_once(" (").zip(stat.rsplit_once(") ")).map(|(a, b)| (a.0, b.1))
            else {
                continue;
            };
            let fields: Vec<&str> = rest.split(' ').collect();
            let ticks_in = |places: std::ops::RangeInclusive<usize>| -> u64 {
                fields.get(places).into_iter().flatten().filter_map(|field| field.parse::<u64>().ok()).sum()
            };
            // User and system time; of the first process also its children's that have ended.
            match fields.get(1) {
                _ if pid == server => ticks += ticks_in(11..=14),
                Some(parent) if *parent == server => ticks += ticks_in(11..=12),
                _ => {}
            }
        }
        // Linux tells programs a hundred ticks to the second, whatever the kernel's own are.
        Ok(Duration::from_millis(ticks * 10))
    }

    fn pid(&self) -> io::Result<String> {
        let file = fs::read_to_string(self.data().join("postmaster.pid"))?;
        Ok(file.lines().next().unwrap_or_default().to_owned())
    }

    /// Kills the server without warning (`SIGKILL`), and starts it again, which recovers what was committed.
    ///
    /// # Errors
    ///
    /// The system's, and what the server said.
    pub fn kill_and_restart(&mut self) -> io::Result<()> {
        run(Command::new("sh").args(["-c", "kill -9 $0", &self.pid()?]))?;
        // The guard takes note of the end; without it the dead process would count as a running one.
        end(&mut self.guard)?;
        // The server's other processes notice before long that it is gone; until then none can be started.
        let began = Instant::now();
        loop {
            match start(self.directory.path(), self.user, self.port, &self.settings) {
                Err(_) if began.elapsed() < START => sleep(Duration::from_millis(100)),
                started => {
                    self.guard = started?;
                    return Ok(());
                }
            }
        }
    }

    fn port(&self) -> String {
        self.port.unwrap_or(5432).to_string()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.guard.stdin.take());
        let _ = self.guard.wait();
    }
}

/// Starts the server and waits until it answers.
fn start(
    directory: &Path,
    user: Option<(u32, u32)>,
    port: Option<u16>,
    settings: &[String],
) -> io::Result<Child> {
    let log = directory.join("log");
    // What an earlier server said must not be taken for this one's words.
    File::create(&log)?;
    let output = File::options().append(true).open(&log)?;
    let mut guard = as_user(Path::new("sh"), user);
    guard.args(["-c", GUARD, "sh"]).arg(directory);
    guard.arg(program("postgres")?).arg("-D").arg(directory.join("data"));
    // What interrupts the tests from the keyboard must not end the guard before the server.
    guard.process_group(0);
    guard.arg("-k").arg(directory).arg("-c").arg("max_connections=60");
    match port {
        Some(port) => guard.args(["-c", "listen_addresses=127.0.0.1", "-p", &port.to_string()]),
        None => guard.args(["-c", "listen_addresses="]),
    };
    settings.iter().for_each(|setting| {
        guard.args(["-c", setting]);
    });
    guard.stdin(Stdio::piped()).stdout(output.try_clone()?).stderr(output).current_dir("/");
    let mut guard = guard.spawn()?;
    let began = Instant::now();
    let ready = program("pg_isready")?;
    loop {
        let mut ask = Command::new(&ready);
        ask.arg("-q").arg("-h").arg(directory).args(["-p", &port.unwrap_or(5432).to_string()]);
        if ask.status()?.success() {
            return Ok(guard);
        }
        // The server ends at once where it cannot start; its guard then waits for the pipe only.
        let said = fs::read_to_string(&log).unwrap_or_default();
        // Processes of a server that was killed before say their last words into the same file.
        let others = ["the database system is", "terminating connection"];
        let is_fatal =
            |line: &str| line.contains("FATAL:") && !others.iter().any(|words| line.contains(words));
        let failed = said.lines().any(is_fatal);
        if failed || began.elapsed() > START {
            end(&mut guard)?;
            return Err(Error::other(format!("PostgreSQL does not start: {said}")));
        }
        sleep(Duration::from_millis(20));
    }
}

/// Ends a server and leaves its directory.
fn end(guard: &mut Child) -> io::Result<()> {
    if let Some(mut pipe) = guard.stdin.take() {
        pipe.write_all(b"only\n")?;
    }
    guard.wait().map(drop)
}

/// Returns whom the server is to run as, if this is root.
fn unprivileged() -> io::Result<Option<(u32, u32)>> {
    if fs::metadata("/proc/self")?.uid() != 0 {
        return Ok(None);
    }
    let users = fs::read_to_string("/etc/passwd")?;
    for name in ["postgres", "nobody"] {
        let fields = users.lines().map(|line| line.split(':').collect::<Vec<_>>());
        if let Some(fields) = fields.into_iter().find(|fields| fields.first() == Some(&name))
            && let [_, _, uid, gid, ..] = fields[..]
            && let (Ok(uid), Ok(gid)) = (uid.parse(), gid.parse())
        {
            return Ok(Some((uid, gid)));
        }
    }
    Err(Error::other("PostgreSQL does not run as root, and there is no user postgres or nobody"))
}

fn as_user(program: &Path, user: Option<(u32, u32)>) -> Command {
    let mut command = Command::new(program);
    if let Some((uid, gid)) = user {
        command.uid(uid).gid(gid);
    }
    command.current_dir("/").stdin(Stdio::null());
    command
}

/// Finds one of PostgreSQL's programs: where Debian's packages put those of the newest version, else on the path.
fn program(name: &str) -> io::Result<PathBuf> {
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut versions: Vec<(u32, PathBuf)> = versions
        .filter_map(|entry| Some((entry.file_name().to_str()?.parse().ok()?, entry.path())))
        .collect();
    versions.sort_unstable();
    let found = versions.into_iter().rev().map(|(_, path)| path.join("bin").join(name));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let on_path = std::env::split_paths(&path).map(|directory| directory.join(name)).collect::<Vec<_>>();
    let mut all = found.chain(on_path);
    all.find(|path| path.exists())
        .ok_or_else(|| Error::other(format!("there is no {name}: install postgresql")))
}

fn run(command: &mut Command) -> io::Result<String> {
    let output = command.output()?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(Error::other(format!("{}: {said}", command.get_program().display())));
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim_end().to_owned())
}
