//! Programs and endpoints outside the gateway that look at calls on their way (`interceptors`). Asks them, within their
//! limits, and reads what they say. Must not know how a call goes on.

mod circuit;
mod process;
mod verdict;

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use net::server::http::{HeaderMap, HeaderName, HeaderValue, Method};
use net::upstream::{Failure, HttpUpstream, Lost};
use net::{Children, OpenError};
use serde_json::{Map, Value, json};
use tokio::sync::Semaphore;
use tokio::time::timeout;
use wire::redact::Redactor;

use self::circuit::Circuit;
use self::process::Process;
pub(crate) use self::verdict::{Change, Verdict};
use crate::metrics::Page;
use crate::settings::{InterceptorSettings, InterceptorTarget, Settings};
use crate::view::matches;

/// The version of what is sent.
const VERSION: u32 = 1;

/// When an interceptor is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Before the call runs.
    Before,
    /// Once there is a result or an error.
    After,
}

impl Phase {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Before => "before",
            Self::After => "after",
        }
    }
}

/// Why there is no verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// It cannot be reached, or answered with a status other than 200.
    Unreached(String),
    /// It gave no answer in time.
    Timeout,
    /// The process ended, or did not start.
    Ended,
    /// The answer is longer than `answer_bytes`.
    TooLarge,
    /// The answer is not one.
    Invalid(&'static str),
    /// It has failed too often, and is not asked for a while.
    Open,
}

impl Fault {
    const ALL: [&'static str; 6] = ["unreached", "timeout", "ended", "too_large", "invalid", "circuit_open"];

    /// Its name in records and metrics.
    pub(crate) const fn as_str(&self) -> &'static str {
        Self::ALL[self.index()]
    }

    const fn index(&self) -> usize {
        match self {
            Self::Unreached(_) => 0,
            Self::Timeout => 1,
            Self::Ended => 2,
            Self::TooLarge => 3,
            Self::Invalid(_) => 4,
            Self::Open => 5,
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreached(why) => write!(f, "it was not reached: {why}"),
            Self::Timeout => f.write_str("it gave no answer in time"),
            Self::Ended => f.write_str("its process has ended"),
            Self::TooLarge => f.write_str("its answer is too large"),
            Self::Invalid(why) => write!(f, "its answer is invalid: {why}"),
            Self::Open => f.write_str("it has failed too often and is not asked for a while"),
        }
    }
}

impl From<Failure> for Fault {
    fn from(failure: Failure) -> Self {
        Self::Unreached(match failure {
            Failure::Forbidden(refusal) => refusal.to_string(),
            Failure::NotSent(why) | Failure::Unknown(why) => wire::escape::line(&why).into_owned(),
        })
    }
}

/// What interceptors changed of a request, and what those need to know who carry it.
#[derive(Clone, Debug)]
pub(crate) struct Intercepted {
    /// The number of the request.
    pub(crate) request: u64,
    /// Headers for the server.
    pub(crate) headers: Vec<(HeaderName, HeaderValue)>,
    /// The arguments are no longer what the client sent: its headers say nothing of them.
    pub(crate) rewritten: bool,
    /// The answer has to be read whole.
    pub(crate) reads_answer: bool,
    /// When the request came.
    pub(crate) arrived: Instant,
}

/// All interceptors in their order, and what conceals secrets from them.
pub(crate) struct Interceptors(Vec<Arc<Interceptor>>, Redactor);

/// One of them.
pub(crate) struct Interceptor {
    pub(crate) settings: InterceptorSettings,
    carrier: Carrier,
    places: Semaphore,
    circuit: Mutex<Circuit>,
    verdicts: [AtomicU64; VERDICTS.len()],
    faults: [AtomicU64; Fault::ALL.len()],
}

const VERDICTS: [&str; 6] = ["continue", "modify", "answer", "refuse", "retry", "stop"];

enum Carrier {
    Http(HttpUpstream),
    Process(Process),
}

impl Interceptors {
    /// Those of the settings; starts and connects nothing. Those that did not change stay as they are.
    pub(crate) fn new(settings: &Settings, before: Option<&Self>, children: &Children) -> Result<Self, OpenError> {
        let kept = |wanted: &InterceptorSettings| {
            before?.0.iter().find(|interceptor| interceptor.settings == *wanted).map(Arc::clone)
        };
        let one = |wanted: &InterceptorSettings| match kept(wanted) {
            Some(kept) => Ok(kept),
            None => Interceptor::new(wanted, children).map(Arc::new),
        };
        let all = settings.interceptors.iter().map(one).collect::<Result<_, _>>()?;
        let redactor = net::new_redactor().knowing(&crate::recording::secrets(settings)).masked();
        Ok(Self(all, redactor))
    }

    /// Those that see a request, in their order.
    pub(crate) fn of(&self, method: &str, name: &str) -> Vec<Arc<Interceptor>> {
        self.0.iter().filter(|one| one.sees(method, name)).map(Arc::clone).collect()
    }

    /// What an interceptor is given of a value.
    pub(crate) fn shown(&self, one: &Interceptor, value: &Value) -> Value {
        if one.settings.passes_secrets { value.clone() } else { self.1.redact_value(value) }
    }

    /// Counters for a page.
    pub(crate) fn metrics(&self) -> String {
        let mut page = Page::default();
        let name = "proof_gateway_interceptor_verdicts_total";
        page.family(name, "counter", "Answers of interceptors, by verdict.");
        for one in &self.0 {
            for (verdict, count) in VERDICTS.iter().zip(&one.verdicts) {
                let labels = [("interceptor", one.settings.name.as_str()), ("verdict", verdict)];
                page.sample(name, &labels, count.load(Ordering::Relaxed));
            }
        }
        let name = "proof_gateway_interceptor_failures_total";
        page.family(name, "counter", "Questions that an interceptor did not answer, by reason.");
        for one in &self.0 {
            for (fault, count) in Fault::ALL.iter().zip(&one.faults) {
                let labels = [("interceptor", one.settings.name.as_str()), ("reason", fault)];
                page.sample(name, &labels, count.load(Ordering::Relaxed));
            }
        }
        page.into_text()
    }
}

impl Interceptor {
    fn new(settings: &InterceptorSettings, children: &Children) -> Result<Self, OpenError> {
        let carrier = match &settings.target {
            InterceptorTarget::Http(address) => Carrier::Http(HttpUpstream::new(address, settings.timeout)?),
            InterceptorTarget::Command(command, inherit) => {
                let children = children.inheriting(inherit);
                Carrier::Process(Process::new(&settings.name, command.clone(), children, settings.answer_bytes))
            }
        };
        Ok(Self {
            settings: settings.clone(),
            carrier,
            places: Semaphore::new(settings.at_once),
            circuit: Mutex::default(),
            verdicts: Default::default(),
            faults: Default::default(),
        })
    }

    fn sees(&self, method: &str, name: &str) -> bool {
        let names = &self.settings.names;
        self.settings.methods.iter().any(|known| known == method)
            && (names.is_empty() || names.iter().any(|pattern| matches(pattern, name)))
    }

    /// What it learns of the principal.
    pub(crate) fn principal(&self, claims: Option<&Value>) -> Value {
        let claims = self.settings.claims.iter().filter_map(|name| Some((name.clone(), claims?.get(name)?.clone())));
        Value::Object(claims.collect::<Map<_, _>>())
    }

    /// Asks about a call; `left` is how much time the call has. A failure is logged and counted here.
    pub(crate) async fn ask(
        &self,
        (phase, method): (Phase, &str),
        mut question: Value,
        left: Duration,
    ) -> Result<Verdict, Fault> {
        question["version"] = json!(VERSION);
        question["phase"] = json!(phase.as_str());
        question["method"] = json!(method);
        let answered = self.answered(question, left).await;
        let verdict = answered.and_then(|answer| Verdict::read(answer, phase, method, &self.settings));
        match &verdict {
            Ok(verdict) => {
                let index = VERDICTS.iter().position(|name| *name == verdict.as_str()).unwrap_or_default();
                self.verdicts[index].fetch_add(1, Ordering::Relaxed);
            }
            Err(fault) => {
                self.faults[fault.index()].fetch_add(1, Ordering::Relaxed);
                tracing::warn!(interceptor = self.settings.name, phase = phase.as_str(), "{fault}");
            }
        }
        if !matches!(verdict, Err(Fault::Open)) {
            self.circuit().note(verdict.is_ok(), Instant::now());
        }
        verdict
    }

    async fn answered(&self, question: Value, left: Duration) -> Result<Value, Fault> {
        if !self.circuit().admits(Instant::now()) {
            return Err(Fault::Open);
        }
        let asked = async {
            let _place = self.places.acquire().await.map_err(|_| Fault::Timeout)?;
            match &self.carrier {
                Carrier::Process(process) => process.ask(question).await,
                Carrier::Http(http) => self.posted(http, &question).await,
            }
        };
        timeout(self.settings.timeout.min(left), asked).await.unwrap_or(Err(Fault::Timeout))
    }

    async fn posted(&self, http: &HttpUpstream, question: &Value) -> Result<Value, Fault> {
        let headers = HeaderMap::from_iter([
            (HeaderName::from_static("content-type"), HeaderValue::from_static("application/json")),
            (HeaderName::from_static("accept"), HeaderValue::from_static("application/json")),
        ]);
        let mut response = http.send(Method::POST, headers, question.to_string().into()).await?;
        if response.status.as_u16() != 200 {
            return Err(Fault::Unreached(format!("it answered with HTTP status {}", response.status.as_u16())));
        }
        let body = response.whole(self.settings.answer_bytes).await.map_err(|lost| match lost {
            Lost::TooLarge => Fault::TooLarge,
            Lost::Broken => Fault::Unreached("the answer broke off".to_owned()),
        })?;
        serde_json::from_slice(&body).map_err(|_| Fault::Invalid("it is no JSON"))
    }

    fn circuit(&self) -> std::sync::MutexGuard<'_, Circuit> {
        self.circuit.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
