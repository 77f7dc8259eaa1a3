//! The worker's end of a coordinator: every request is repeated until it is answered, since a coordinator may be started again.

use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use net::client::HttpAddress;
use net::server::http::{Bytes, HeaderMap, HeaderName, HeaderValue, Method};
use net::upstream::{Failure, HttpUpstream};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::time::{Instant, sleep, timeout};
use url::{Host, Url};

use crate::coordinator::ROOT;
use crate::{ContentHash, Counts, Ended, GateReport, Held, Job, Lease, Retry, StoreError, Token};

/// How long a connection may take.
const CONNECT: Duration = Duration::from_secs(5);
/// How long one answer may take; the coordinator waits for its store.
const ANSWER: Duration = Duration::from_mins(1);
/// The most bytes of an answer.
const ANSWER_BYTES: usize = 1 << 20;
/// The first and the longest pause before another try.
const PAUSE: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(2));

/// The body of a request for a job.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct LeaseFor {
    pub(crate) worker: String,
    pub(crate) time_ms: u64,
}

/// The answer to it. Without a job, with what else there is.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Leased {
    pub(crate) job: Option<Job>,
    pub(crate) open: Option<Counts>,
}

/// The body of a renewal.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Renew {
    pub(crate) lease: Lease,
    pub(crate) time_ms: u64,
}

/// The body of a result.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Finish {
    pub(crate) lease: Lease,
    pub(crate) report: GateReport,
}

/// The body of a failure.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Fail {
    pub(crate) lease: Lease,
    pub(crate) error: String,
    pub(crate) retry: Retry,
}

/// A coordinator, as a worker reaches it. Clones share the connections.
#[derive(Clone, Debug)]
pub struct Remote {
    upstream: Arc<HttpUpstream>,
    place: Arc<str>,
    patience: Duration,
}

impl Remote {
    /// Prepares to ask the coordinator at `url`. One on another machine must have TLS: the token must not be read on its way.
    pub fn new(url: &str, token: &Token, ca: Option<PathBuf>) -> Result<Self, StoreError> {
        let form = "use https://HOST:PORT, or http://127.0.0.1:PORT on the same machine";
        let url =
            Url::parse(url).map_err(|_| StoreError::invalid("the address of the coordinator is not a URL", form))?;
        let is_local = match url.host() {
            Some(Host::Domain(name)) => name == "localhost",
            Some(Host::Ipv4(ip)) => IpAddr::from(ip).is_loopback(),
            Some(Host::Ipv6(ip)) => IpAddr::from(ip).is_loopback(),
            None => false,
        };
        if url.scheme() != "https" && !(url.scheme() == "http" && is_local) {
            return Err(StoreError::invalid("the address of the coordinator has no TLS", form));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(StoreError::invalid("the address of the coordinator has a user or password", form));
        }
        let origin = url.origin().ascii_serialization();
        let plain = Url::parse(&origin).map_err(|_| StoreError::invalid("the address has no host", form))?;
        let headers = vec![("authorization".to_owned(), format!("Bearer {}", token.reveal()))];
        let address = HttpAddress { headers, ca, ..HttpAddress::new(plain) };
        let upstream = HttpUpstream::new(&address, CONNECT);
        let upstream = upstream.map_err(|error| StoreError::invalid(error.what(), form))?;
        Ok(Self { upstream: Arc::new(upstream), place: origin.into(), patience: Duration::from_mins(1) })
    }

    /// The same, which looks for a missing coordinator this long.
    pub(crate) fn patient(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }

    pub(crate) async fn lease(&self, worker: &str, time: Duration) -> Result<Leased, StoreError> {
        let time_ms = time.as_millis() as u64;
        self.post("lease", &LeaseFor { worker: worker.to_owned(), time_ms }).await
    }

    pub(crate) async fn renew(&self, lease: &Lease, time: Duration) -> Result<Held, StoreError> {
        self.post("renew", &Renew { lease: lease.clone(), time_ms: time.as_millis() as u64 }).await
    }

    pub(crate) async fn finish(&self, lease: &Lease, report: &GateReport) -> Result<Ended, StoreError> {
        self.post("finish", &Finish { lease: lease.clone(), report: report.clone() }).await
    }

    pub(crate) async fn fail(&self, lease: &Lease, error: &str, retry: Retry) -> Result<Held, StoreError> {
        self.post("fail", &Fail { lease: lease.clone(), error: error.to_owned(), retry }).await
    }

    pub(crate) async fn put_artefact(&self, kind: &str, bytes: Vec<u8>) -> Result<ContentHash, StoreError> {
        let kind: String = url::form_urlencoded::byte_serialize(kind.as_bytes()).collect();
        let target = format!("{ROOT}artefacts?kind={kind}");
        self.persist(&target, "application/octet-stream", Bytes::from(bytes)).await
    }

    async fn post<T: DeserializeOwned>(&self, route: &str, body: &impl Serialize) -> Result<T, StoreError> {
        let body = serde_json::to_vec(body).map_err(|error| StoreError::invalid(error.to_string(), "send JSON"))?;
        self.persist(&format!("{ROOT}{route}"), "application/json", Bytes::from(body)).await
    }

    /// Sends a request until it is answered. Each does no harm when it arrives twice.
    async fn persist<T: DeserializeOwned>(
        &self,
        target: &str,
        media_type: &'static str,
        body: Bytes,
    ) -> Result<T, StoreError> {
        let deadline = Instant::now() + self.patience;
        let mut pause = PAUSE.0;
        loop {
            let why = match timeout(ANSWER, self.once(target, media_type, body.clone())).await {
                Ok(Ok(answer)) => return answer,
                Ok(Err(why)) => why,
                Err(_) => "no answer in time".to_owned(),
            };
            if Instant::now() + pause >= deadline {
                return Err(StoreError::Unreachable { place: self.place.to_string(), why });
            }
            tracing::debug!(coordinator = &*self.place, "trying again: {why}");
            sleep(pause).await;
            pause = (pause * 2).min(PAUSE.1);
        }
    }

    /// The answer, or why no answer counts.
    async fn once<T: DeserializeOwned>(
        &self,
        target: &str,
        media_type: &'static str,
        body: Bytes,
    ) -> Result<Result<T, StoreError>, String> {
        let mut headers = HeaderMap::new();
        headers.insert(HeaderName::from_static("content-type"), HeaderValue::from_static(media_type));
        let response = self.upstream.send_to(target, Method::POST, headers, body).await;
        let mut response = response.map_err(|failure| match failure {
            Failure::NotSent(why) | Failure::Unknown(why) => why,
            Failure::Forbidden(refusal) => refusal.to_string(),
        })?;
        let answer =
            response.whole(ANSWER_BYTES).await.map_err(|_| "the answer broke off, or is too long".to_owned())?;
        let status = response.status.as_u16();
        match status {
            200 => {
                serde_json::from_slice(&answer).map(Ok).map_err(|_| "it answers what no coordinator does".to_owned())
            }
            // It is starting, or its store is not there yet.
            502..=504 => Err(format!("it answers {status}")),
            _ => Ok(Err(self.refusal(status, &answer))),
        }
    }

    fn refusal(&self, status: u16, answer: &[u8]) -> StoreError {
        let answer: Value = serde_json::from_slice(answer).unwrap_or_default();
        let member = |name: &str| answer["error"][name].as_str().unwrap_or_default().to_owned();
        let place = self.place.to_string();
        match member("kind").as_str() {
            "invalid" => StoreError::Invalid { what: member("what"), remedy: member("remedy") },
            "missing" => StoreError::Missing { what: member("what") },
            "refused" => StoreError::Refused { place, why: member("what"), remedy: member("remedy") },
            _ => StoreError::Refused {
                place,
                why: format!("it answers {status}, as no coordinator does"),
                remedy: "correct the address of the coordinator".to_owned(),
            },
        }
    }
}
