//! Runs that the page starts, one at a time: what they do now, how they ended, and how they are cancelled.

use std::collections::VecDeque;
use std::sync::{Arc, MutexGuard, PoisonError};
use std::time::Duration;

use fleet_store::{Millis, StoreError, Which};
use page::{Body, Failure};
use serde_json::{Value, json};
use tokio::sync::watch;

use super::Ui;
use super::reading::filter_of;
use crate::gate::{GateKind, Judged};
use crate::run::{self, Context, Ran, Request, Say};
use crate::words::counted;

/// How many of the last outcomes are shown.
const LAST: usize = 100;
/// How long a cancelled run may take to end its workers.
const GRACE: Duration = Duration::from_secs(6);

/// The run that the page started last.
#[derive(Default)]
pub(super) struct Running {
    /// Stops it; `None` where none runs.
    stop: Option<watch::Sender<bool>>,
    /// What was asked for, in words.
    what: String,
    began: Millis,
    ended: Option<Millis>,
    /// How many gates have an outcome.
    done: u64,
    is_cancelled: bool,
    /// How it ended.
    text: String,
    has_failed: bool,
    /// The newest outcomes last: server, gate, outcome, summary.
    last: VecDeque<[String; 4]>,
}

impl Ui {
    fn running(&self) -> MutexGuard<'_, Running> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The run as the page gets it; null before the first.
    pub(super) fn run_shown(&self) -> Value {
        let running = self.running();
        if running.began == 0 {
            return Value::Null;
        }
        json!({
            "what": running.what, "running": running.stop.is_some(), "began": running.began, "ended": running.ended,
            "done": running.done, "cancelled": running.is_cancelled, "text": running.text, "failed": running.has_failed,
            "last": running.last,
        })
    }

    /// Starts what the page asks for.
    pub(super) fn start_run(self: &Arc<Self>, body: &Body) -> Result<Value, Failure> {
        let (request, what) = self.requested(body)?;
        let (stop, stopped) = watch::channel(false);
        {
            let mut running = self.running();
            if running.stop.is_some() {
                return Err(Failure::not_now("a run is going on", "wait for its end, or cancel it"));
            }
            *running = Running { stop: Some(stop), what: what.clone(), began: (self.clock)(), ..Running::default() };
        }
        self.changed(&mut self.board());
        tokio::spawn(self.clone().run(request, stopped));
        Ok(json!({ "started": what }))
    }

    fn requested(&self, body: &Body) -> Result<(Request, String), Failure> {
        let mut request = Request { actor: self.actor.clone(), ..Request::default() };
        if let Some(gate) = body.get("gate").and_then(Value::as_str) {
            let gate = gate.parse().map_err(|why: String| Failure::wrong(why, "a gate of the fleet"))?;
            request.gates = vec![gate];
        }
        let what = match body.text("kind")? {
            "server" => {
                let name = self.known(body.text("server")?)?;
                request.only = vec![name.to_owned()];
                request.again = body.get("again").is_some_and(|again| *again == json!(true));
                wire::escape::snippet(name, 80)
            }
            "changed" => "what changed".to_owned(),
            "due" => {
                request.changed = true;
                "what is due".to_owned()
            }
            "shown" => {
                let text = body.text("filter")?;
                request.filter = filter_of(text)?;
                format!("servers that fit {}", wire::escape::snippet(text, 80))
            }
            other => {
                let what = format!("`kind` is {}", document::quoted(other));
                return Err(Failure::wrong(what, "server, changed, due or shown"));
            }
        };
        Ok((request, what))
    }

    async fn run(self: Arc<Self>, request: Request, stopped: watch::Receiver<bool>) {
        let ui = Arc::clone(&self);
        let say: Say =
            Arc::new(move |server: &str, gate: GateKind, judged: &Judged| ui.one_ended(server, gate, judged));
        let context = Context {
            fleet: self.fleet,
            keeping: &self.keeping,
            runner: &self.runner,
            clock: self.clock,
            say,
            tell: self.tell,
        };
        let given_up = async {
            let mut stopped = stopped.clone();
            super::stopped(&mut stopped).await;
            tokio::time::sleep(GRACE).await;
        };
        let ended = tokio::select! {
            ran = run::run(&context, &request, stopped.clone()) => Some(ran),
            () = given_up => None,
        };
        let is_stopped = *stopped.borrow();
        if let (true, Some(Ok(ran))) = (is_stopped, &ended) {
            // Nobody waits for what is left of it. A program that ends leaves it to the next run.
            if self.running().is_cancelled {
                let _ = self.keeping.store.cancel(Which::Run(ran.id), (self.clock)()).await;
            }
        }
        let _ = self.reread().await;
        self.run_ended(ended.as_ref(), is_stopped);
    }

    fn run_ended(&self, ended: Option<&Result<Ran<'_>, StoreError>>, is_stopped: bool) {
        let (text, has_failed) = match ended {
            Some(Err(error)) => (self.redactor.redact_text(&error.to_string()).into_owned(), true),
            _ if is_stopped => ("cancelled; results that are there are kept".to_owned(), false),
            Some(Ok(ran)) => (said(ran), ran.looked > 0 && ran.answered == 0),
            None => (String::new(), false),
        };
        {
            let mut running = self.running();
            running.stop = None;
            running.ended = Some((self.clock)());
            (running.text, running.has_failed) = (text, has_failed);
        }
        self.changed(&mut self.board());
    }

    /// Takes down the outcome of a gate.
    fn one_ended(&self, server: &str, gate: GateKind, judged: &Judged) {
        {
            let mut running = self.running();
            running.done += 1;
            if running.last.len() >= LAST {
                running.last.pop_front();
            }
            let summary = wire::escape::snippet(&judged.summary, 300);
            running.last.push_back([server.to_owned(), gate.to_string(), judged.outcome.as_str().to_owned(), summary]);
        }
        self.changed(&mut self.board());
        self.news.notify_one();
    }

    /// Cancels the run; whether one was going on.
    pub(super) fn cancel_run(&self) -> bool {
        let was_running = {
            let mut running = self.running();
            running.is_cancelled |= running.stop.is_some();
            running.stop.as_ref().is_some_and(|stop| !stop.send_replace(true))
        };
        self.changed(&mut self.board());
        was_running
    }

    pub(super) fn is_running(&self) -> bool {
        self.running().stop.is_some()
    }

    /// Stops the run; the next one goes on with it.
    pub(super) fn stop_run(&self) {
        if let Some(stop) = &self.running().stop {
            stop.send_replace(true);
        }
    }
}

/// What a run did, in one line.
fn said(ran: &Ran<'_>) -> String {
    if ran.looked == 0 {
        return "nothing is due".to_owned();
    }
    format!(
        "{} of {} answered; {} computed, {} unchanged",
        ran.answered,
        counted(ran.looked, "server"),
        counted(ran.computed, "gate"),
        ran.unchanged
    )
}
