//! What programs say to a gpg-agent, and answers in its place.

use std::fs;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use crate::Home;

/// What stands for a new connection among the lines.
pub const CONNECTION: &str = "connection";

/// Stands between programs and the agent of a home, until the test ends.
#[derive(Debug)]
pub struct AgentProxy {
    told: Receiver<String>,
}

impl AgentProxy {
    /// Takes the place of the agent that runs. A line for which `answer` has one is not passed on.
    pub fn of(home: &Home, answer: impl Fn(&str) -> Option<&'static str> + Send + Sync + 'static) -> Self {
        let [socket, agent] = ["S.gpg-agent", "S.agent-itself"].map(|name| home.path().join(name));
        fs::rename(&socket, &agent).expect("an agent runs");
        let listener = UnixListener::bind(&socket).expect("the name is free now");
        let (lines, told) = channel();
        let answer = Arc::new(answer);
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let Ok(agent) = UnixStream::connect(&agent) else { return };
                let (lines, answer) = (lines.clone(), answer.clone());
                thread::spawn(move || {
                    let _ = lines.send(CONNECTION.to_owned());
                    connect(&client, &agent, |line| {
                        let _ = lines.send(line.to_owned());
                        answer(line)
                    })
                });
            }
        });
        Self { told }
    }

    /// Returns what was said since the last call: the lines of commands, and [`CONNECTION`] for each connection.
    pub fn told(&self) -> Vec<String> {
        self.told.try_iter().collect()
    }
}

/// Passes on what both say, until the client goes away.
fn connect(
    mut client: &UnixStream,
    mut agent: &UnixStream,
    mut answer: impl FnMut(&str) -> Option<&'static str>,
) -> io::Result<()> {
    let (mut answers, mut back) = (agent.try_clone()?, client.try_clone()?);
    thread::spawn(move || io::copy(&mut answers, &mut back));
    for line in BufReader::new(client.try_clone()?).split(b'\n') {
        let line = line?;
        match answer(&String::from_utf8_lossy(&line)) {
            Some(answer) => client.write_all(format!("{answer}\n").as_bytes())?,
            None => agent.write_all(&[&line[..], b"\n"].concat())?,
        }
    }
    agent.shutdown(Shutdown::Write)
}
