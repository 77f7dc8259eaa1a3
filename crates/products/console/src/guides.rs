//! Guided authorization: the steps to a token, each taken when the page asks for it. Its requests are rows of a session of its
//! own, so that the page shows them as it shows all traffic. Must not know what a step says.

use std::collections::BTreeMap;
use std::future::pending;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use net::client::HttpAddress;
use oauth::{Agent, Browser, Guide, GuideStep, GuidedToken, OAuthError};
use serde_json::{Value, json};
use tokio::sync::watch;
use wire::trace::{Closed, Content, Frame, Header};
use wire::{Party, Transport};

use crate::hub::Hub;
use page::Failure;

/// How long the user may take in the browser.
const CONSENT: Duration = Duration::from_mins(10);
/// How many rows are named for one step.
const ROWS: usize = 20;

/// The steps in order; `None` is the call that uses the token.
const STEPS: [(&str, Option<GuideStep>); 8] = [
    ("challenge", Some(GuideStep::Challenge)),
    ("resource-metadata", Some(GuideStep::Resource)),
    ("issuer-metadata", Some(GuideStep::Issuer)),
    ("registration", Some(GuideStep::Registration)),
    ("authorization", Some(GuideStep::Authorization)),
    ("token", Some(GuideStep::Token)),
    (CALL, None),
    (REFRESH, Some(GuideStep::Refresh)),
];
/// The steps that take something from outside, or may be left out.
pub(crate) const CALL: &str = "call";
const REFRESH: &str = "refresh";

/// What became of a step.
#[derive(Clone, Debug, Default)]
pub(crate) struct Taken {
    /// `ok`, `failed` or `skipped`; `None` where it was not taken.
    outcome: Option<&'static str>,
    seen: Vec<String>,
    fix: Option<String>,
    took: Duration,
    rows: Vec<u64>,
}

impl Taken {
    /// A step that went well.
    pub(crate) fn ok(seen: Vec<String>) -> Self {
        Self { outcome: Some("ok"), seen, ..Self::default() }
    }

    /// A step that failed, and what fixes it.
    pub(crate) fn failed(what: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { outcome: Some("failed"), seen: vec![what.into()], fix: Some(fix.into()), ..Self::default() }
    }

    fn skipped(why: &str) -> Self {
        Self { outcome: Some("skipped"), seen: vec![why.to_owned()], ..Self::default() }
    }

    /// The same with the rows that it made.
    pub(crate) fn with_rows(self, rows: Vec<u64>) -> Self {
        Self { rows, ..self }
    }

    fn of(seen: Result<Vec<String>, OAuthError>, words: fn(oauth::Advice) -> String) -> Self {
        match seen {
            Ok(seen) => Self::ok(seen),
            Err(error) => {
                let mut taken = Self::failed(error.what(), words(error.advice()));
                taken.seen.push(format!("at {}", error.place()));
                taken
            }
        }
    }
}

/// The way to a token for one target.
pub(crate) struct Guided {
    hub: Arc<Hub>,
    session: u32,
    words: fn(oauth::Advice) -> String,
    guide: tokio::sync::Mutex<Guide>,
    progress: Mutex<Progress>,
    /// Where the browser was sent, as the user pasted it.
    answer: watch::Sender<Option<String>>,
    stopped: watch::Sender<bool>,
}

#[derive(Default)]
struct Progress {
    steps: [Taken; STEPS.len()],
    busy: Option<usize>,
    /// Where the user consents.
    open: Option<String>,
}

impl Guided {
    /// For the server at `http`; `base` has what the command line says of authorization.
    pub(crate) fn begin(
        hub: &Arc<Hub>,
        target: u32,
        http: &HttpAddress,
        base: &oauth::Options,
        words: fn(oauth::Advice) -> String,
    ) -> Result<Arc<Self>, Failure> {
        let (session, tap) = tap(hub, target);
        let shown: Arc<Mutex<Option<std::sync::Weak<Self>>>> = Arc::default();
        let shows = shown.clone();
        let show_url = move |url: &url::Url| {
            let guided = shows.lock().unwrap_or_else(PoisonError::into_inner).clone();
            if let Some(guided) = guided.and_then(|guided| guided.upgrade()) {
                guided.progress().open = Some(url.to_string());
            }
        };
        let port = match &base.agent {
            Agent::Browser(browser) => browser.port,
            Agent::Headless => None,
        };
        let agent = Agent::Browser(Browser { show_url: Arc::new(show_url), timeout: CONSENT, port });
        let options = oauth::Options { agent, tap: Some(tap), ca: http.ca.clone(), ..base.clone() };
        let guide = Guide::new(http.url.clone(), options).map_err(|error| {
            let mut failure = Failure::not_now(error.what(), words(error.advice()));
            failure.at = error.place();
            failure
        })?;
        let guided = Arc::new(Self {
            hub: hub.clone(),
            session,
            words,
            guide: tokio::sync::Mutex::new(guide),
            progress: Mutex::default(),
            answer: watch::Sender::new(None),
            stopped: watch::Sender::new(false),
        });
        *shown.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::downgrade(&guided));
        Ok(guided)
    }

    fn progress(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the named step, or else the first that did not go well, in the background. What came of later steps is forgotten.
    /// `call` makes the call with the token.
    pub(crate) fn take<C>(
        self: &Arc<Self>,
        named: Option<&str>,
        call: impl FnOnce(GuidedToken) -> C,
    ) -> Result<(), Failure>
    where
        C: Future<Output = Taken> + Send + 'static,
    {
        let at = self.place(named)?;
        let (name, step) = STEPS[at];
        let token = match (step, self.guide.try_lock()) {
            (None, Ok(guide)) => guide.guided_token(),
            _ => None,
        };
        let call = token.map(call);
        let here = self.clone();
        tokio::spawn(async move {
            let mut stopped = here.stopped.subscribe();
            let (begun, before) = (Instant::now(), here.hub.inner().table.next());
            let work = async {
                match (step, call) {
                    (Some(step), _) => here.guided(name, step).await,
                    (None, Some(call)) => call.await,
                    (None, None) => Taken::failed("there is no token yet", "take the steps before it first"),
                }
            };
            let taken = tokio::select! {
                taken = work => taken,
                _ = stopped.wait_for(|stopped| *stopped) => Taken::failed("stopped on the page", "take the step again"),
            };
            here.hub.end(here.session);
            let rows =
                if taken.rows.is_empty() { here.hub.rows_since(before, here.session) } else { taken.rows.clone() };
            let mut progress = here.progress();
            progress.steps[at] = Taken { took: begun.elapsed(), rows, ..taken };
            (progress.busy, progress.open) = (None, None);
        });
        Ok(())
    }

    /// Makes room for the result of a step.
    fn place(&self, named: Option<&str>) -> Result<usize, Failure> {
        let mut progress = self.progress();
        if progress.busy.is_some() {
            return Err(Failure::not_now("a step is under way", "wait for it, or stop it"));
        }
        let next = progress.steps.iter().position(|taken| !matches!(taken.outcome, Some("ok" | "skipped")));
        let at = match named {
            None => next.ok_or_else(|| Failure::not_now("every step was taken", "choose one, or begin again"))?,
            Some(named) => {
                let at = STEPS.iter().position(|(name, _)| *name == named);
                at.filter(|at| next.is_none_or(|next| *at <= next))
                    .ok_or_else(|| Failure::wrong("this step cannot be taken yet", "take the steps before it first"))?
            }
        };
        for later in &mut progress.steps[at..] {
            *later = Taken::default();
        }
        progress.busy = Some(at);
        drop(progress);
        self.answer.send_replace(None);
        self.stopped.send_replace(false);
        Ok(at)
    }

    async fn guided(&self, name: &str, step: GuideStep) -> Taken {
        let mut guide = self.guide.lock().await;
        if name == REFRESH && !guide.has_refresh_token() {
            return Taken::skipped("no refresh token was issued: when the token expires, the user authorizes again");
        }
        let mut answers = self.answer.subscribe();
        let answer = async move {
            let given = answers.wait_for(Option::is_some).await.ok().and_then(|given| given.clone());
            match given {
                Some(given) => given,
                None => pending().await,
            }
        };
        Taken::of(guide.take(step, answer).await, self.words)
    }

    /// The address that the browser was sent to.
    pub(crate) fn answer(&self, address: &str) {
        self.answer.send_replace(Some(address.to_owned()));
    }

    /// Ends the step that is under way.
    pub(crate) fn stop(&self) {
        self.stopped.send_replace(true);
    }

    /// As the page gets it: without secrets, but for the address that the user opens.
    pub(crate) fn to_json(&self) -> Value {
        let progress = self.progress();
        let steps = STEPS.iter().zip(&progress.steps).map(|((name, _), taken)| {
            let took = u64::try_from(taken.took.as_millis()).unwrap_or(u64::MAX);
            json!({
                "step": name, "outcome": taken.outcome, "ms": took, "seen": taken.seen, "fix": taken.fix,
                "rows": taken.rows,
            })
        });
        let (open, busy) = (progress.open.clone(), progress.busy.map(|at| STEPS[at].0));
        let shown = json!({ "session": self.session, "steps": steps.collect::<Vec<_>>(), "busy": busy });
        drop(progress);
        let mut shown = self.hub.redactor().redact_value(&shown);
        shown["open"] = json!(open);
        shown
    }
}

/// The guides of all targets, by number.
#[derive(Default)]
pub(crate) struct Guides(Mutex<BTreeMap<u32, Arc<Guided>>>);

impl Guides {
    pub(crate) fn of(&self, target: u32) -> Option<Arc<Guided>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&target).cloned()
    }

    /// Puts a guide in the place of an earlier one, which stops.
    pub(crate) fn put(&self, target: u32, guided: Arc<Guided>) {
        let before = self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(target, guided);
        if let Some(before) = before {
            before.stop();
        }
    }
}

/// A session for the requests of a guide, and the tap that fills it. A response is the end of its exchange.
fn tap(hub: &Arc<Hub>, target: u32) -> (u32, net::Tap) {
    let header = Header {
        subject: Party::Server,
        transport: Transport::StreamableHttp,
        revision: None,
        case: "oauth".to_owned(),
    };
    let session = hub.begin(target, header.clone());
    hub.leave_unjudged(session, "it is authorization alone");
    let hub = hub.clone();
    let tap = net::Tap::streaming(header, move |frame| {
        hub.take(session, frame);
        if frame.from != Party::Client && matches!(frame.content, Content::Body { .. }) {
            hub.take(session, &Frame { content: Content::Closed(Closed::End), cause: None, ..frame.clone() });
        }
    });
    (session, tap)
}

impl Hub {
    /// The first rows from `before` on that are of this session.
    pub(crate) fn rows_since(&self, before: u64, session: u32) -> Vec<u64> {
        let inner = self.inner();
        let ours = |n: &u64| inner.table.get(*n).is_some_and(|row| row.session == session);
        (before.max(inner.table.first())..inner.table.next()).filter(ours).take(ROWS).collect()
    }
}
