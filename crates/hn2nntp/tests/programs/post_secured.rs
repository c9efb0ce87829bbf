//! `hn2nntp post` to a server that talks TLS and wants a password.

use std::fs;

use crate::certificate::Certificate;
use crate::inn::{GROUP, Inn, USER};
use crate::program::{command, path, run};

const ARTICLE: &str = "Path: x\nFrom: a <a@example.org>\nNewsgroups: news.ycombinator\nSubject: t\n\
                       Date: DATE\nMessage-ID: <1@example.org>\n\nhello\n";

fn batch() -> Vec<u8> {
    let mut date = std::process::Command::new("date");
    date.args(["-u", "-R"]).env("LC_ALL", "C");
    let article = ARTICLE.replace("DATE", run(date, b"").ok().text().trim());
    format!("#! rnews {}\n{article}", article.len()).into_bytes()
}

#[test]
fn tls_and_a_password_from_a_file_open_the_door_and_nothing_else_does() {
    let mut inn = Inn::started();
    let certificate = Certificate::new();
    let secured = inn.secured(&certificate);
    let directory = tempfile::tempdir().unwrap();
    let (server, spool, file) = (
        format!("127.0.0.1:{}", secured.port),
        directory.path().join("spool"),
        directory.path().join("password"),
    );
    let post = |trusted: bool, password: &str| {
        fs::write(&file, password).unwrap();
        let mut command = command(&[
            "post",
            "--tls",
            "--server",
            &server,
            "--spool",
            path(&spool),
            "-v",
            "--user",
            USER.0,
            "--password-file",
            path(&file),
        ]);
        if trusted {
            command.env("SSL_CERT_FILE", &certificate.certificate);
        }
        run(command, &batch())
    };
    let untrusted = post(false, USER.1);
    assert!(
        untrusted.code == Some(1) && untrusted.stderr.contains("cannot talk TLS"),
        "{}",
        untrusted.stderr
    );
    let wrong = post(true, "wrong\n");
    assert!(
        wrong.code == Some(1) && wrong.stderr.contains("AUTHINFO: it answers \"481 "),
        "{}",
        wrong.stderr
    );
    let right = post(true, "secret\n").ok();
    assert_eq!(right.stderr, "hn2nntp: 1 articles posted, 0 were there, 0 refused, 0 waiting\n");
    assert_eq!(inn.articles()[0].header("Newsgroups").unwrap(), GROUP);
    assert!(right.stdout.is_empty() && !spool.join("refused").exists());
}
