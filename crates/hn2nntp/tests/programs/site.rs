//! A server that answers as the API does: HTTP/1.1 or, with TLS, HTTP/2.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper::{Request, Response, Version};
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

use crate::certificate::Certificate;
use crate::forum::Forum;

/// How the server misbehaves.
#[derive(Clone, Debug)]
pub(crate) enum Fault {
    /// It answers with this status, and perhaps says after how many seconds to come back.
    Status(u16, Option<u64>),
    /// It closes the connection in the middle of the answer.
    CutOff,
}

/// What the server does and has seen.
#[derive(Default)]
pub(crate) struct State {
    pub(crate) forum: Forum,
    /// How long each answer takes.
    pub(crate) delay: Duration,
    /// For a path: how often the fault happens before the server answers.
    pub(crate) faults: HashMap<String, (u32, Option<Fault>)>,
    /// The server answers so many requests, then refuses all connections.
    pub(crate) dies_after: Option<usize>,
    pub(crate) requests: Vec<(Instant, String, Version)>,
    pub(crate) under_way: usize,
    pub(crate) most_under_way: usize,
}

impl State {
    /// Makes the next requests for an item fail.
    pub(crate) fn fail(&mut self, id: u64, times: u32, fault: Fault) {
        self.faults.insert(format!("/v0/item/{id}.json"), (times, Some(fault)));
    }
}

/// A running server; it ends with the value.
pub(crate) struct Site {
    address: SocketAddr,
    tls: bool,
    state: Arc<Mutex<State>>,
    _stop: oneshot::Sender<()>,
}

impl Site {
    pub(crate) fn new(forum: Forum) -> Self {
        Self::start(forum, None)
    }

    pub(crate) fn with_tls(forum: Forum, certificate: &Certificate) -> Self {
        let chain = CertificateDer::from_pem_file(&certificate.certificate).unwrap();
        let key = PrivateKeyDer::from_pem_file(&certificate.key).unwrap();
        let provider = Arc::new(tokio_rustls::rustls::crypto::aws_lc_rs::default_provider());
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![chain], key)
            .unwrap();
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Self::start(forum, Some(TlsAcceptor::from(Arc::new(config))))
    }

    fn start(forum: Forum, tls: Option<TlsAcceptor>) -> Self {
        let state = Arc::new(Mutex::new(State { forum, ..State::default() }));
        let (stop, stopped) = oneshot::channel();
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let site = Self {
            address: listener.local_addr().unwrap(),
            tls: tls.is_some(),
            state: Arc::clone(&state),
            _stop: stop,
        };
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                tokio::select! {
                    () = serve(listener, tls, state) => {}
                    _ = stopped => {}
                }
            });
        });
        site
    }

    /// Returns the API's base address.
    pub(crate) fn url(&self) -> String {
        format!("{}://{}/v0", if self.tls { "https" } else { "http" }, self.address)
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    /// Returns how often a path was asked for.
    pub(crate) fn asked(&self, path: &str) -> usize {
        self.state().requests.iter().filter(|(_, asked, _)| asked == path).count()
    }
}

async fn serve(listener: std::net::TcpListener, tls: Option<TlsAcceptor>, state: Arc<Mutex<State>>) {
    listener.set_nonblocking(true).unwrap();
    let listener = TcpListener::from_std(listener).unwrap();
    loop {
        let (tcp, _) = listener.accept().await.unwrap();
        if is_dead(&state) {
            continue;
        }
        tokio::spawn(serve_connection(tcp, tls.clone(), Arc::clone(&state)));
    }
}

fn is_dead(state: &Mutex<State>) -> bool {
    let state = state.lock().unwrap();
    state.dies_after.is_some_and(|requests| state.requests.len() >= requests)
}

async fn serve_connection(tcp: TcpStream, tls: Option<TlsAcceptor>, state: Arc<Mutex<State>>) {
    let service = service_fn(move |request| {
        let state = Arc::clone(&state);
        async move { answer(&request, &state).await }
    });
    let server = auto::Builder::new(TokioExecutor::new());
    // A client that goes away in the middle is no concern of the server.
    let _ = match tls {
        None => server.serve_connection(TokioIo::new(tcp), service).await,
        Some(tls) => match tls.accept(tcp).await {
            Ok(tls) => server.serve_connection(TokioIo::new(tls), service).await,
            Err(_) => return,
        },
    };
}

/// Answers a request; an error closes the connection.
async fn answer(
    request: &Request<Incoming>,
    state: &Mutex<State>,
) -> Result<Response<Full<Bytes>>, &'static str> {
    let path = request.uri().path().to_owned();
    let (delay, fault) = {
        let mut state = state.lock().unwrap();
        if state.dies_after.is_some_and(|requests| state.requests.len() >= requests) {
            return Err("dead");
        }
        state.requests.push((Instant::now(), path.clone(), request.version()));
        state.under_way += 1;
        state.most_under_way = state.most_under_way.max(state.under_way);
        (state.delay, state.faults.get_mut(&path).and_then(take_fault))
    };
    tokio::time::sleep(delay).await;
    let mut state = state.lock().unwrap();
    state.under_way -= 1;
    match fault {
        None => Ok(Response::new(Full::from(body(&state.forum, &path)))),
        Some(Fault::CutOff) => Err("cut off"),
        Some(Fault::Status(status, after)) => {
            let mut response = Response::builder().status(status);
            if let Some(after) = after {
                response = response.header("Retry-After", after);
            }
            Ok(response.body(Full::from("no")).unwrap())
        }
    }
}

fn take_fault((times, fault): &mut (u32, Option<Fault>)) -> Option<Fault> {
    *times = times.checked_sub(1)?;
    fault.clone()
}

fn body(forum: &Forum, path: &str) -> String {
    match path {
        "/v0/topstories.json" => serde_json::json!(forum.top).to_string(),
        "/v0/maxitem.json" => forum.items.keys().max().copied().unwrap_or(0).to_string(),
        _ => {
            let id = path.strip_prefix("/v0/item/").and_then(|rest| rest.strip_suffix(".json")?.parse().ok());
            id.and_then(|id: u64| forum.items.get(&id).cloned()).unwrap_or_else(|| "null".to_owned())
        }
    }
}
