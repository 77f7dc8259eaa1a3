//! How a task runs: beside all requests, until it is done, cancelled, too old, or without anyone who could ask for it.

use std::future::pending;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use net::service::{Context, Link, RpcError};
use tokio::task::JoinSet;
use wire::Transport;

use super::Task;
use super::task::Ending;
use crate::Server;
use crate::catalogue::{Finished, Invocation, Outcome, Output, Run, Running};

/// Begins a task that runs `run`. It can be asked for as soon as this returns.
pub(crate) fn begin(
    server: &Server,
    run: &Run<Output>,
    mut invocation: Invocation,
    ttl: Duration,
) -> Result<Arc<Task>, RpcError> {
    let context = invocation.call.context.clone();
    let task = server.state().tasks.create(super::owner(&context), ttl)?;
    let deserted = deserted(&context, invocation.call.link.clone());
    invocation.task = Some(Arc::clone(&task));
    let running = start(run, server.clone(), invocation);
    let keeping = Keeping { server: server.clone(), task: Arc::clone(&task) };
    tokio::spawn(async move {
        let work = keeping.work(running, &context);
        tokio::select! {
            () = work => false,
            () = tokio::time::sleep(ttl) => keeping.end("The task has expired"),
            () = deserted => keeping.end("Nobody is left who could ask for the task"),
        }
    });
    Ok(task)
}

fn start(run: &Run<Output>, server: Server, mut invocation: Invocation) -> Running<Output> {
    match run {
        Run::Now(run) => {
            let run = Arc::clone(run);
            Box::pin(async move { run(&server, &mut invocation) })
        }
        Run::Later(run) => run(server, invocation),
    }
}

/// Done when nobody can ask for the task any more.
fn deserted(context: &Context, link: Link) -> Pin<Box<dyn Future<Output = ()> + Send>> {
    match &context.session {
        Some(session) => {
            let ending = session.ending();
            Box::pin(async move { ending.wait().await })
        }
        // A socket may break, and its client come back on another.
        None if context.transport == Transport::WebSocket => Box::pin(pending()),
        None => Box::pin(async move { link.closing().await }),
    }
}

/// A task while it is kept. Dropped, however that comes, it is no longer.
struct Keeping {
    server: Server,
    task: Arc<Task>,
}

impl Keeping {
    /// Runs the task, and then keeps what came of it for as long as nobody drops this.
    async fn work(&self, running: Running<Output>, context: &Context) {
        // In a set of its own, which ends with this and gives back a panic as an error.
        let mut work = JoinSet::new();
        work.spawn(running);
        let outcome = tokio::select! {
            biased;
            () = self.task.over() => None,
            outcome = work.join_next() => outcome,
        };
        drop(work);
        match outcome {
            Some(Ok(outcome)) => self.task.end(&self.server, ending(outcome, context)),
            Some(Err(_)) => self.end("Internal error"),
            None => false,
        };
        pending::<()>().await;
    }

    fn end(&self, why: &'static str) -> bool {
        self.task.end(&self.server, Ending::Error(RpcError::internal(why)))
    }
}

impl Drop for Keeping {
    fn drop(&mut self) {
        self.server.state().tasks.remove(self.task.id());
    }
}

fn ending(outcome: Outcome, context: &Context) -> Ending {
    match outcome {
        Outcome::Done(mut output) => {
            output.fit(context.revision);
            Ending::Done(output)
        }
        // What a task needs to know it asks as a task: no tool does this.
        Outcome::InputRequired(_) => Ending::Error(RpcError::internal("The task asked as if it were none")),
        Outcome::Refused(error) => Ending::Error(error),
    }
}
