//! An interceptor that is a child process: a question and an answer are a line each. It is started when it is needed, and
//! again after it has ended.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use net::Children;
use net::process::Command;
use net::upstream::{Child, ChildLimits, Output, Queue};
use serde_json::Value;
use tokio::sync::oneshot;

use super::Fault;

/// Those who wait for an answer, by the number of their question; nothing once the process has ended.
type Waiting = Arc<Mutex<Option<HashMap<u64, oneshot::Sender<Result<Value, Fault>>>>>>;

/// A child process, running or not.
pub(super) struct Process {
    name: String,
    command: Command,
    children: Children,
    limit: usize,
    next: AtomicU64,
    running: Mutex<Option<(Arc<Child>, Waiting)>>,
}

/// Forgets a question whose asker has left.
struct Asked(Waiting, u64);

impl Drop for Asked {
    fn drop(&mut self) {
        if let Some(waiting) = lock(&self.0).as_mut() {
            waiting.remove(&self.1);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Process {
    pub(super) fn new(name: &str, command: Command, children: Children, limit: usize) -> Self {
        let (next, running) = (AtomicU64::new(1), Mutex::default());
        Self { name: name.to_owned(), command, children, limit, next, running }
    }

    /// Asks one question and waits for its answer.
    pub(super) async fn ask(&self, mut question: Value) -> Result<Value, Fault> {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        question["id"] = id.into();
        let (sender, receiver) = oneshot::channel();
        let (child, waiting) = self.running()?;
        match lock(&waiting).as_mut() {
            Some(waiting) => waiting.insert(id, sender),
            None => return Err(Fault::Ended),
        };
        let _asked = Asked(waiting, id);
        child.send(question.to_string().as_bytes()).await.map_err(|_| Fault::Ended)?;
        receiver.await.unwrap_or(Err(Fault::Ended))
    }

    /// The process that runs, or a new one.
    fn running(&self) -> Result<(Arc<Child>, Waiting), Fault> {
        let mut running = lock(&self.running);
        if let Some((child, waiting)) = running.as_ref().filter(|(_, waiting)| lock(waiting).is_some()) {
            return Ok((Arc::clone(child), Arc::clone(waiting)));
        }
        let limits = ChildLimits { message: self.limit, memory: None };
        let started = Child::start(&self.command, &self.children, limits);
        let (child, output) = started.map_err(|error| {
            tracing::warn!(interceptor = self.name, "it does not start: {}", error.what());
            Fault::Ended
        })?;
        let (child, waiting): (_, Waiting) = (Arc::new(child), Arc::new(Mutex::new(Some(HashMap::new()))));
        tokio::spawn(read(output, Arc::clone(&waiting), self.name.clone()));
        *running = Some((Arc::clone(&child), Arc::clone(&waiting)));
        Ok((child, waiting))
    }
}

/// Hands answers out, until the process ends or writes something that answers no question.
async fn read(mut output: Queue<Output>, waiting: Waiting, name: String) {
    let fault = loop {
        match output.recv().await {
            None => break Fault::Ended,
            Some(Output::TooLong) => break Fault::TooLarge,
            Some(Output::Log(line)) => tracing::debug!(interceptor = name, "{line}"),
            Some(Output::Message(line)) => {
                let answer = serde_json::from_slice::<Value>(&line).ok();
                let Some((id, answer)) = answer.and_then(|answer| Some((answer.get("id")?.as_u64()?, answer))) else {
                    break Fault::Invalid("it is no JSON object with the `id` of a question");
                };
                let asked = lock(&waiting).as_mut().and_then(|waiting| waiting.remove(&id));
                // Its asker may have left.
                if let Some(asked) = asked {
                    let _ = asked.send(Ok(answer));
                }
            }
        }
    };
    for (_, asked) in lock(&waiting).take().unwrap_or_default() {
        let _ = asked.send(Err(fault.clone()));
    }
    tracing::warn!(interceptor = name, "it has ended: {fault}");
}
