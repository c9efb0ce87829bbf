//! Requests to the API: concurrent, and repeated after temporary failures.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use reqwest::{Client, Response, StatusCode, Url};
use serde_json::Value;
use thiserror::Error;

use super::pace::Pace;
use crate::arguments::Get;
use crate::item::{Id, Item, ItemError};

/// The longest accepted answer, in bytes; far longer than the longest list of the API.
const MAX_ANSWER: usize = 16 * 1024 * 1024;
/// The wait before the first retry of a request; it doubles each time.
const RETRY_DELAY: Duration = Duration::from_millis(500);
/// The longest wait between two attempts.
const MAX_DELAY: Duration = Duration::from_secs(30);

/// Why there is no answer.
#[derive(Debug, Error)]
pub(crate) enum ApiError {
    #[error("{0}: not a base address such as https://hacker-news.firebaseio.com/v0")]
    Base(String),
    #[error("cannot make an HTTP client: {}", causes(.0))]
    Client(reqwest::Error),
    /// The server does not answer at all.
    #[error("cannot reach {url}: {}; is the network up, is --api right?", causes(.cause))]
    Unreachable { url: String, cause: reqwest::Error },
    #[error("{url}: the server says {status}")]
    Status { url: String, status: StatusCode },
    #[error("{url}: the answer is longer than {MAX_ANSWER} bytes")]
    Long { url: String },
    #[error("{url}: {error}")]
    Form { url: String, error: ItemError },
}

/// Counters of requests and answers.
#[derive(Debug, Default)]
pub(crate) struct Traffic {
    pub(crate) requests: AtomicU64,
    pub(crate) retries: AtomicU64,
    pub(crate) bytes: AtomicU64,
    /// The number of answers over HTTP/2.
    pub(crate) http2: AtomicU64,
}

/// The API.
pub(crate) struct Api {
    client: Client,
    base: Url,
    pace: Pace,
    /// The number of times that a request is repeated.
    retries: u32,
    pub(crate) traffic: Traffic,
}

/// An item as it was received.
pub(crate) struct Received {
    pub(crate) answer: Value,
    pub(crate) item: Item,
}

/// The failure of one attempt.
enum Failure {
    /// A temporary failure, with the delay that the server asks for.
    Passing(ApiError, Option<Duration>),
    Lasting(ApiError),
}

impl Api {
    /// Makes a client of the API, without sending anything.
    pub(crate) fn new(arguments: &Get) -> Result<Self, ApiError> {
        let (base, timeout) = (&arguments.api, Duration::from_secs(arguments.timeout));
        let not_a_base = || ApiError::Base(base.clone());
        let url = Url::parse(&format!("{}/", base.trim_end_matches('/'))).map_err(|_| not_a_base())?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(not_a_base());
        }
        let client = Client::builder()
            .user_agent(concat!("hn2nntp/", env!("CARGO_PKG_VERSION")))
            .timeout(timeout)
            .connect_timeout(timeout)
            .build()
            .map_err(ApiError::Client)?;
        let pace = Pace::new(arguments.rate);
        Ok(Self { client, base: url, pace, retries: arguments.retries, traffic: Traffic::default() })
    }

    /// Returns the highest number of an item.
    pub(crate) async fn max_item(&self) -> Result<Id, ApiError> {
        self.read("maxitem.json").await
    }

    /// Returns the numbers of the stories on the front pages, best first.
    pub(crate) async fn top_stories(&self) -> Result<Vec<Id>, ApiError> {
        self.read("topstories.json").await
    }

    /// Returns an item, or `None` if there is none with this number.
    pub(crate) async fn item(&self, id: Id) -> Result<Option<Received>, ApiError> {
        let (url, bytes) = self.fetch(&format!("item/{id}.json")).await?;
        let form = |error| ApiError::Form { url: url.to_string(), error };
        let Some(item) = Item::parse(&bytes).map_err(form)? else { return Ok(None) };
        if item.id != id {
            let other = serde::de::Error::custom(format_args!("it is item {}", item.id));
            return Err(form(ItemError::Form(other)));
        }
        let answer = serde_json::from_slice(&bytes).map_err(|error| form(error.into()))?;
        Ok(Some(Received { answer, item }))
    }

    async fn read<T: serde::de::DeserializeOwned>(&self, path: &str) -> Result<T, ApiError> {
        let (url, bytes) = self.fetch(path).await?;
        serde_json::from_slice(&bytes)
            .map_err(|error| ApiError::Form { url: url.to_string(), error: error.into() })
    }

    /// Fetches a document, with retries after growing delays.
    async fn fetch(&self, path: &str) -> Result<(Url, Vec<u8>), ApiError> {
        let url = self.base.join(path).map_err(|_| ApiError::Base(self.base.to_string()))?;
        let mut delay = RETRY_DELAY;
        for _ in 0..self.retries {
            match self.attempt(&url).await {
                Ok(bytes) => return Ok((url, bytes)),
                Err(Failure::Lasting(error)) => return Err(error),
                Err(Failure::Passing(_, named)) => {
                    tokio::time::sleep(named.unwrap_or(delay).min(MAX_DELAY)).await;
                    delay *= 2;
                    self.traffic.retries.fetch_add(1, Ordering::Relaxed);
                }
            }
        }
        match self.attempt(&url).await {
            Ok(bytes) => Ok((url, bytes)),
            Err(Failure::Lasting(error) | Failure::Passing(error, _)) => Err(error),
        }
    }

    async fn attempt(&self, url: &Url) -> Result<Vec<u8>, Failure> {
        self.pace.wait().await;
        self.traffic.requests.fetch_add(1, Ordering::Relaxed);
        let unreachable =
            |cause| Failure::Passing(ApiError::Unreachable { url: url.to_string(), cause }, None);
        let mut response = self.client.get(url.clone()).send().await.map_err(unreachable)?;
        check_status(url, &response)?;
        if response.version() == reqwest::Version::HTTP_2 {
            self.traffic.http2.fetch_add(1, Ordering::Relaxed);
        }
        let mut bytes = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(unreachable)? {
            self.traffic.bytes.fetch_add(chunk.len() as u64, Ordering::Relaxed);
            if bytes.len() + chunk.len() > MAX_ANSWER {
                return Err(Failure::Lasting(ApiError::Long { url: url.to_string() }));
            }
            bytes.extend_from_slice(&chunk);
        }
        Ok(bytes)
    }
}

/// Returns whether an error status is temporary (an overloaded server) or final (a refusal).
fn check_status(url: &Url, response: &Response) -> Result<(), Failure> {
    let status = response.status();
    if status.is_success() {
        return Ok(());
    }
    let error = ApiError::Status { url: url.to_string(), status };
    let passing = status.is_server_error()
        || matches!(status, StatusCode::TOO_MANY_REQUESTS | StatusCode::REQUEST_TIMEOUT);
    if !passing {
        return Err(Failure::Lasting(error));
    }
    let named = response.headers().get(reqwest::header::RETRY_AFTER);
    let named = named.and_then(|value| value.to_str().ok()).and_then(|value| value.trim().parse().ok());
    Err(Failure::Passing(error, named.map(Duration::from_secs)))
}

/// Returns the innermost causes of an error: the outer ones only say that a request failed.
fn causes(error: &reqwest::Error) -> String {
    let mut causes: Vec<String> = Vec::new();
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        causes.push(error.to_string());
        cause = error.source();
    }
    causes.dedup_by(|inner, outer| outer.ends_with(inner.as_str()));
    let first = causes.len().saturating_sub(2);
    if causes.is_empty() { error.to_string() } else { causes[first..].join(": ") }
}
