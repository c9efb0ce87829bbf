//! A real INN, of its own: its programs, configuration and spool in a temporary directory, listening on the loopback
//! interface only.
//!
//! INN runs as the user `news` only. Root can become that user; others are that user in a user namespace of their own,
//! where their files are `news`'s files.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use crate::certificate::Certificate;
use crate::program::{Ran, path, run};

pub(crate) const GROUP: &str = "news.ycombinator";
/// Who may log in where a password is wanted.
pub(crate) const USER: (&str, &str) = ("reader", "secret");
/// The same for the server, with the hash of the password (crypt(3)).
const USERS: &str = "reader:$6$keyhoard$mIbbZ2tTBOYK2j2GNSEvvFwcQVn.y3kgBWn25rjsmi0zSGwspH.16kv6nIewgFNLrlcRUJCtU8NvlXNOEfzli0\n";

/// A news server that can be started and stopped; its articles stay.
pub(crate) struct Inn {
    directory: tempfile::TempDir,
    owner: Owner,
    port: u16,
    server: Option<Child>,
}

/// The user `news`, and how to become it.
#[derive(Clone, Copy)]
struct Owner {
    user: u32,
    group: u32,
    tests_are_root: bool,
}

impl Inn {
    /// Prepares a server that feeds may send to, and starts it.
    pub(crate) fn started() -> Self {
        let mut inn = Self::new();
        inn.start();
        inn
    }

    /// Prepares a server, without starting it.
    pub(crate) fn new() -> Self {
        let (directory, owner) = (tempfile::tempdir().unwrap(), Owner::news());
        let inn = Self { directory, owner, port: free_port(), server: None };
        inn.install();
        inn.configure();
        inn.give_away();
        let history = inn.command("makedbz", &["-i", "-o", "-s", "10000"]);
        run(history, b"").ok();
        inn
    }

    fn root(&self) -> &Path {
        self.directory.path()
    }

    /// Copies the programs and libraries: the owner may not be allowed where they are.
    fn install(&self) {
        for directory in [
            "bin",
            "lib",
            "db",
            "etc",
            "run",
            "log",
            "tmp",
            "archive",
            "spool/overview",
            "spool/articles",
            "spool/incoming/bad",
            "spool/incoming/tmp",
            "spool/outgoing",
        ] {
            fs::create_dir_all(self.root().join(directory)).unwrap();
        }
        let news = package().join("usr/lib/news");
        for program in ["innd", "nnrpd", "ctlinnd", "makedbz", "rnews", "auth/passwd/ckpasswd"] {
            let copy = self.root().join("bin").join(program);
            fs::create_dir_all(copy.parent().unwrap()).unwrap();
            fs::copy(news.join("bin").join(program), &copy).unwrap();
            fs::set_permissions(&copy, fs::Permissions::from_mode(0o755)).unwrap();
        }
        for entry in fs::read_dir(news).unwrap() {
            let entry = entry.unwrap();
            if entry.file_name().to_string_lossy().starts_with("lib") {
                fs::copy(entry.path(), self.root().join("lib").join(entry.file_name())).unwrap();
            }
        }
    }

    fn configure(&self) {
        let (root, port) = (path(self.root()), self.port);
        let inn_conf = format!(
            "organization: test\npathhost: inn.example.org\nfromhost: example.org\ndomain: example.org\n\
             pathnews: {root}\npathbin: {root}/bin\npathdb: {root}/db\npathetc: {root}/etc\npathrun: {root}/run\n\
             pathlog: {root}/log\npathspool: {root}/spool\npatharticles: {root}/spool/articles\n\
             pathoverview: {root}/spool/overview\npathincoming: {root}/spool/incoming\n\
             pathoutgoing: {root}/spool/outgoing\npatharchive: {root}/archive\npathtmp: {root}/tmp\n\
             pathfilter: {root}/etc\npathhttp: {root}/log\nmta: \"/bin/true %s\"\nmailcmd: /bin/true\n\
             hismethod: hisv6\novmethod: tradindexed\nenableoverview: true\nport: {port}\nnnrpdpostport: {port}\n\
             bindaddress: 127.0.0.1\nbindaddress6: \"::1\"\ndoinnwatch: false\nnnrpdloadlimit: 0\n"
        );
        let groups =
            ["control", "control.cancel", "junk"].map(|name| format!("{name} 0000000000 0000000001 n\n"));
        for (file, text) in [
            ("etc/inn.conf", inn_conf.as_str()),
            (
                "etc/incoming.conf",
                "streaming: true\nmax-connections: 8\npeer ME { hostname: \"127.0.0.1\" }\n",
            ),
            (
                "etc/readers.conf",
                "auth a { hosts: \"127.0.0.1, stdin\" default: \"<localhost>\" }\n\
                                  access a { users: \"*\" newsgroups: \"*\" access: RPA }\n",
            ),
            ("etc/storage.conf", "method tradspool { newsgroups: * class: 0 }\n"),
            ("etc/newsfeeds", "ME:*::\n"),
            ("etc/expire.ctl", "/remember/:10\n*:A:1:10:never\n"),
            ("db/active", &(groups.concat() + &format!("{GROUP} 0000000000 0000000001 y\n"))),
            ("db/newsgroups", &format!("{GROUP}\tHacker News\n")),
        ] {
            fs::write(self.root().join(file), text).unwrap();
        }
        for file in [
            "etc/control.ctl",
            "etc/distrib.pats",
            "etc/subscriptions",
            "etc/passwd.nntp",
            "etc/moderators",
            "etc/localgroups",
            "db/active.times",
            "db/history",
        ] {
            fs::write(self.root().join(file), "").unwrap();
        }
    }

    /// Gives everything to the owner.
    fn give_away(&self) {
        let Owner { user, group, tests_are_root: true } = self.owner else { return };
        let mut left = vec![self.root().to_owned()];
        while let Some(path) = left.pop() {
            chown(&path, Some(user), Some(group)).unwrap();
            if path.is_dir() {
                left.extend(fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
            }
        }
    }

    /// Returns a command that runs one of INN's programs as the owner.
    fn command(&self, program: &str, arguments: &[&str]) -> Command {
        let mut command = self.owner.command(&self.root().join("bin").join(program));
        command
            .args(arguments)
            .current_dir(self.root().join("db"))
            .env("LD_LIBRARY_PATH", self.root().join("lib"))
            .env("INNCONF", self.root().join("etc/inn.conf"));
        command
    }

    pub(crate) fn start(&mut self) {
        let log = fs::File::create(self.root().join("log/stderr")).unwrap();
        let mut command = self.command("innd", &["-f", "-u"]);
        command.stdin(Stdio::null()).stdout(log.try_clone().unwrap()).stderr(log);
        self.server = Some(command.spawn().unwrap());
        self.wait_for(self.port);
    }

    fn wait_for(&self, port: u16) {
        let begin = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            let log = || {
                ["errlog", "stderr"]
                    .map(|log| fs::read_to_string(self.root().join("log").join(log)).unwrap_or_default())
            };
            assert!(begin.elapsed() < Duration::from_secs(30), "innd does not start: {:?}", log());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    pub(crate) fn stop(&mut self) {
        if let Some(mut server) = self.server.take() {
            let told = run(self.command("ctlinnd", &["-s", "-t", "10", "shutdown", "test"]), b"");
            if told.code != Some(0) {
                let _ = server.kill();
            }
            let _ = server.wait();
        }
    }

    /// Returns what `--server` takes.
    pub(crate) fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// Runs `rnews -N` with this batch.
    pub(crate) fn rnews(&self, batch: &[u8]) -> Ran {
        run(self.command("rnews", &["-N"]), batch)
    }

    /// Returns all articles of the group.
    pub(crate) fn articles(&self) -> Vec<Read> {
        let mut reader = Reader::connect(self.port);
        let group = reader.ask(&format!("GROUP {GROUP}"));
        let numbers: Vec<u64> =
            group.split(' ').skip(1).take(3).map(|number| number.parse().unwrap()).collect();
        if numbers[0] == 0 {
            return Vec::new();
        }
        (numbers[1]..=numbers[2])
            .map(|number| {
                assert!(reader.ask(&format!("ARTICLE {number}")).starts_with("220"));
                Read(reader.lines())
            })
            .collect()
    }

    /// Returns what the server tells newsreaders of its articles: one line of overview for each.
    pub(crate) fn overview(&self) -> Vec<String> {
        let mut reader = Reader::connect(self.port);
        reader.ask(&format!("GROUP {GROUP}"));
        assert!(reader.ask("OVER 1-").starts_with("224"));
        reader.lines()
    }

    /// Starts a second server for newsreaders only, that talks TLS and wants a password.
    pub(crate) fn secured(&mut self, certificate: &Certificate) -> Secured {
        let (root, port) = (path(self.root()).to_owned(), free_port());
        for (name, from) in [("certificate.pem", &certificate.certificate), ("key.pem", &certificate.key)] {
            fs::copy(from, self.root().join("etc").join(name)).unwrap();
        }
        fs::set_permissions(self.root().join("etc/key.pem"), fs::Permissions::from_mode(0o600)).unwrap();
        let conf = fs::read_to_string(self.root().join("etc/inn.conf")).unwrap();
        let tls = format!("tlscertfile: {root}/etc/certificate.pem\ntlskeyfile: {root}/etc/key.pem\n");
        fs::write(self.root().join("etc/inn.conf"), conf + &tls).unwrap();
        fs::write(self.root().join("etc/users"), USERS).unwrap();
        let readers = format!(
            "auth a {{ hosts: \"127.0.0.1\" auth: \"ckpasswd -f {root}/etc/users\" }}\n\
             access a {{ users: \"reader\" newsgroups: \"*\" access: RPA }}\n"
        );
        fs::write(self.root().join("etc/readers-secured.conf"), readers).unwrap();
        self.give_away();
        let config = format!("{root}/etc/readers-secured.conf");
        let arguments = ["-D", "-f", "-S", "-p", &port.to_string(), "-b", "127.0.0.1", "-c", &config];
        let log = fs::File::create(self.root().join("log/nnrpd")).unwrap();
        let mut command = self.command("nnrpd", &arguments);
        command.stdin(Stdio::null()).stdout(log.try_clone().unwrap()).stderr(log);
        let server = command.spawn().unwrap();
        self.wait_for(port);
        Secured { server, port }
    }
}

impl Drop for Inn {
    fn drop(&mut self) {
        self.stop();
    }
}

/// A server for newsreaders that talks TLS and wants a password.
pub(crate) struct Secured {
    server: Child,
    pub(crate) port: u16,
}

impl Drop for Secured {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

impl Owner {
    fn news() -> Self {
        let id = |arguments: &[&str]| {
            let mut command = Command::new("id");
            command.args(arguments);
            run(command, b"").ok().text().trim().parse().unwrap()
        };
        Self { user: id(&["-u", "news"]), group: id(&["-g", "news"]), tests_are_root: id(&["-u"]) == 0 }
    }

    fn command(self, program: &Path) -> Command {
        let Self { user, group, tests_are_root } = self;
        if tests_are_root {
            let mut command = Command::new(program);
            command.uid(user).gid(group);
            command
        } else {
            let mut command = Command::new("unshare");
            command
                .args(["--user", &format!("--map-user={user}"), &format!("--map-group={group}")])
                .arg(program);
            command
        }
    }
}

/// An article as the server sent it, without line ends and the dots of the wire.
pub(crate) struct Read(pub(crate) Vec<String>);

impl Read {
    /// Returns a header, unfolded.
    pub(crate) fn header(&self, name: &str) -> Option<String> {
        let start = self.0.iter().position(|line| line.starts_with(&format!("{name}: ")))?;
        let mut value = self.0[start][name.len() + 2..].to_owned();
        for line in self.0[start + 1..].iter().take_while(|line| line.starts_with([' ', '\t'])) {
            value.push_str(line);
        }
        Some(value)
    }

    /// Returns the article without what every server adds or changes.
    pub(crate) fn as_posted(&self) -> String {
        let changed = ["Path: ", "Xref: ", "Injection-", "Cancel-Lock: "];
        let mut in_changed = false;
        let mut in_head = true;
        let mut text = String::new();
        for line in &self.0 {
            in_head &= !line.is_empty();
            let goes_on = line.starts_with([' ', '\t']);
            in_changed = in_head
                && if goes_on { in_changed } else { changed.iter().any(|name| line.starts_with(name)) };
            if !in_changed {
                text.push_str(line);
                text.push('\n');
            }
        }
        text
    }
}

/// A newsreader's connection.
struct Reader(BufReader<TcpStream>);

impl Reader {
    fn connect(port: u16) -> Self {
        let mut reader = Self(BufReader::new(TcpStream::connect(("127.0.0.1", port)).unwrap()));
        assert!(reader.line().starts_with("200"));
        assert!(reader.ask("MODE READER").starts_with("200"));
        reader
    }

    fn ask(&mut self, command: &str) -> String {
        self.0.get_mut().write_all(format!("{command}\r\n").as_bytes()).unwrap();
        self.line()
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.0.read_line(&mut line).unwrap();
        line.strip_suffix("\r\n").expect("lines end with CR LF").to_owned()
    }

    fn lines(&mut self) -> Vec<String> {
        let lines = std::iter::from_fn(|| Some(self.line()).filter(|line| line != "."));
        lines.map(|line| line.strip_prefix('.').unwrap_or(&line).to_owned()).collect()
    }
}

/// Returns where Debian's package is unpacked or installed.
fn package() -> &'static Path {
    static PACKAGE: OnceLock<PathBuf> = OnceLock::new();
    PACKAGE.get_or_init(|| {
        let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
        let mut command = Command::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/inn"));
        command.arg(target);
        PathBuf::from(run(command, b"").ok().text().trim())
    })
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}
