//! Requests of the server that run as tasks (2025-11-25 basic/utilities/tasks, the receiver's side): each is answered at once
//! with the task, the work continues in the background, and `tasks/…` report its state. Knows no transport.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Map, Value, json};
use tokio::sync::watch;
use tokio::task::AbortHandle;
use wire::error_code::INTERNAL_ERROR;
use wire::meta::RELATED_TASK;
use wire::timestamp::rfc3339;

use super::abilities::{Answer, Refused};
use super::link::Link;
use super::respond::question;

/// How many tasks one server may have at a time.
const MOST: usize = 32;
/// How many of them one page lists.
const PER_PAGE: usize = 10;
/// How long a task is kept by default, and at most.
const TTL: Duration = Duration::from_mins(5);
const LONGEST: Duration = Duration::from_hours(1);
/// How long a server should wait between two polls.
const POLL: Duration = Duration::from_millis(100);

/// The tasks of one server. They end with the connection.
#[derive(Default)]
pub(super) struct Tasks(Mutex<Vec<Arc<Task>>>);

struct Task {
    id: String,
    begun: Instant,
    created: String,
    ttl: Duration,
    state: watch::Sender<TaskState>,
    work: Mutex<Option<AbortHandle>>,
}

/// The state of a task, and since when it has it.
#[derive(Clone)]
struct TaskState {
    phase: Phase,
    updated: String,
}

#[derive(Clone)]
enum Phase {
    Working,
    Over(Answer),
    Cancelled,
}

impl Tasks {
    /// Answers requests about tasks, and requests that become tasks; `None` for others.
    pub(super) async fn answer(&self, link: &Link, method: &str, params: &Value) -> Option<Answer> {
        Some(match method {
            "sampling/createMessage" | "elicitation/create" if params.get("task").is_some() => {
                self.begin(link, method, params)
            }
            "tasks/get" => self.named(params).map(|task| task.shown()),
            "tasks/list" => self.list(params),
            "tasks/cancel" => self.named(params).and_then(|task| task.cancel()),
            "tasks/result" => match self.named(params) {
                Ok(task) => task.result().await,
                Err(refused) => Err(refused),
            },
            _ => return None,
        })
    }

    fn begin(&self, link: &Link, method: &str, params: &Value) -> Answer {
        let respondent = &link.inner().respondent;
        let question = question(respondent.abilities(), method, params)?;
        let task = Arc::new(Task::new(params.pointer("/task/ttl").and_then(Value::as_u64))?);
        {
            let mut kept = self.kept();
            if kept.len() >= MOST {
                return Err(Refused {
                    code: INTERNAL_ERROR,
                    message: "There are as many tasks as this client keeps".to_owned(),
                });
            }
            kept.push(task.clone());
        }
        let (answer, worked_on) = (respondent.answer(question), task.clone());
        let (link, token) = (link.clone(), params.pointer("/_meta/progressToken").cloned());
        let work = tokio::spawn(async move {
            link.progress(token.as_ref(), 1).await;
            let answer = answer.await;
            link.progress(token.as_ref(), 2).await;
            worked_on.end(Phase::Over(answer));
        });
        *task.work.lock().unwrap_or_else(PoisonError::into_inner) = Some(work.abort_handle());
        Ok(json!({ "task": task.shown() }))
    }

    /// The tasks that are still kept.
    fn kept(&self) -> MutexGuard<'_, Vec<Arc<Task>>> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|task| task.begun.elapsed() < task.ttl);
        kept
    }

    /// The task that the parameters name, whatever `_meta` names.
    fn named(&self, params: &Value) -> Result<Arc<Task>, Refused> {
        let id = params.get("taskId").and_then(Value::as_str);
        let id = id.ok_or_else(|| Refused::invalid_params("`taskId` must be a text"))?;
        let found = self.kept().iter().find(|task| task.id == id).cloned();
        found.ok_or_else(|| Refused::invalid_params("There is no such task"))
    }

    /// A page of them, oldest first. A cursor is the last id of the page before.
    fn list(&self, params: &Value) -> Answer {
        let kept = self.kept();
        let start = match params.get("cursor").filter(|cursor| !cursor.is_null()) {
            None => 0,
            Some(cursor) => {
                let last = kept.iter().position(|task| *cursor == task.id);
                1 + last.ok_or_else(|| Refused::invalid_params("There is no such cursor"))?
            }
        };
        let page: Vec<_> = kept.iter().skip(start).take(PER_PAGE).collect();
        let mut result = json!({ "tasks": page.iter().map(|task| task.shown()).collect::<Vec<_>>() });
        if let Some(last) = page.last().filter(|_| kept.len() > start + PER_PAGE) {
            result["nextCursor"] = json!(last.id);
        }
        Ok(result)
    }
}

impl Drop for Tasks {
    fn drop(&mut self) {
        self.kept().iter().for_each(|task| task.stop());
    }
}

impl Task {
    fn new(ttl: Option<u64>) -> Result<Self, Refused> {
        let mut bytes = [0; 18];
        let unnamed =
            |_| Refused { code: INTERNAL_ERROR, message: "There is no randomness to name a task with".to_owned() };
        getrandom::fill(&mut bytes).map_err(unnamed)?;
        let created = now();
        Ok(Self {
            id: URL_SAFE_NO_PAD.encode(bytes),
            begun: Instant::now(),
            ttl: ttl.map_or(TTL, |wanted| Duration::from_millis(wanted).min(LONGEST)),
            state: watch::Sender::new(TaskState { phase: Phase::Working, updated: created.clone() }),
            created,
            work: Mutex::new(None),
        })
    }

    /// The task as `tasks/get` shows it.
    fn shown(&self) -> Value {
        let TaskState { phase, updated } = self.state.borrow().clone();
        let (status, why) = match phase {
            Phase::Working => ("working", None),
            Phase::Over(Ok(_)) => ("completed", None),
            Phase::Over(Err(refused)) => ("failed", Some(refused.message)),
            Phase::Cancelled => ("cancelled", Some("Cancelled by the server".to_owned())),
        };
        let mut shown = Map::from_iter([
            ("taskId".to_owned(), json!(self.id)),
            ("status".to_owned(), json!(status)),
            ("createdAt".to_owned(), json!(self.created)),
            ("lastUpdatedAt".to_owned(), json!(updated)),
            ("ttl".to_owned(), json!(millis(self.ttl))),
            ("pollInterval".to_owned(), json!(millis(POLL))),
        ]);
        shown.extend(why.map(|why| ("statusMessage".to_owned(), json!(why))));
        Value::Object(shown)
    }

    /// Ends it; whether it was still working.
    fn end(&self, phase: Phase) -> bool {
        self.state.send_if_modified(|state| {
            let working = matches!(state.phase, Phase::Working);
            if working {
                *state = TaskState { phase, updated: now() };
            }
            working
        })
    }

    fn cancel(&self) -> Answer {
        if !self.end(Phase::Cancelled) {
            return Err(Refused::invalid_params("The task is over: it cannot be cancelled"));
        }
        self.stop();
        Ok(self.shown())
    }

    fn stop(&self) {
        if let Some(work) = self.work.lock().unwrap_or_else(PoisonError::into_inner).take() {
            work.abort();
        }
    }

    /// Waits for the result of the request.
    async fn result(&self) -> Answer {
        let mut watching = self.state.subscribe();
        let over = watching.wait_for(|state| !matches!(state.phase, Phase::Working)).await;
        let phase = over.map_or(Phase::Cancelled, |state| state.phase.clone());
        match phase {
            Phase::Over(Ok(mut result)) => {
                result["_meta"] = json!({ RELATED_TASK: { "taskId": self.id } });
                Ok(result)
            }
            Phase::Over(Err(refused)) => Err(refused),
            Phase::Working | Phase::Cancelled => {
                Err(Refused::invalid_params("The task was cancelled: it has no result"))
            }
        }
    }
}

fn millis(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}

/// The current time, as tasks show it.
fn now() -> String {
    rfc3339(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default())
}
