//! What those who know the rules do for the page: they are handed in, because nothing here may judge.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use wire::{Level, Revision, Trace, Transport};

use crate::hub::{Hub, Placed};
use crate::rows::level_word;

/// The shortest time between two judgements of what comes.
const INTERVAL: Duration = Duration::from_secs(1);
/// How long frames are waited for before a judgement begins.
const DEBOUNCE: Duration = Duration::from_millis(300);

/// A broken rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The rule.
    pub rule: Arc<str>,
    /// Its level at the revision.
    pub level: Level,
    /// The frame, by its index in the trace.
    pub event: usize,
    /// The place in the message, or a header.
    pub pointer: String,
    /// What is wrong.
    pub why: String,
    /// What the specification demands, in our words.
    pub sentence: String,
    /// How to fix the server.
    pub fix: String,
    /// Where the specification says it.
    pub url: String,
}

/// Knows the rules.
pub trait RuleBook: Send + Sync {
    /// What is broken in a trace. Where it is not over, nothing is found that the rest could mend.
    fn findings(&self, trace: &Trace, is_over: bool) -> Vec<Finding>;

    /// What there is to say of a rule; `None` where there is no such rule.
    fn explain(&self, id: &str) -> Option<String>;
}

/// An exchange that is to become a test case.
#[derive(Clone, Debug)]
pub struct KeptExchange {
    /// Its row.
    pub row: u64,
    /// The method.
    pub method: String,
    /// The parameters, without what the client adds by itself.
    pub params: Value,
    /// The result, or code and message of the error.
    pub answer: Result<Value, (i64, String)>,
}

/// The server that exchanges were with.
#[derive(Clone, Debug)]
pub struct KeptServer {
    /// The target's number.
    pub target: u32,
    /// The revision that was spoken.
    pub revision: Revision,
    /// The transport.
    pub transport: Transport,
    /// Its name and version.
    pub server: Option<Value>,
}

/// A test file.
#[derive(Clone, Debug)]
pub struct TestFile {
    /// The text.
    pub text: String,
    /// How many cases it has.
    pub cases: usize,
    /// Rows that became no case, and why.
    pub left_out: Vec<(u64, String)>,
}

/// Writes test files.
pub trait CaseWriter: Send + Sync {
    /// A test file of these exchanges, or why it cannot be made.
    fn test_file(&self, server: &KeptServer, exchanges: Vec<KeptExchange>) -> Result<TestFile, String>;
}

/// Judges what comes, until the hub is gone.
pub(crate) async fn judge_all(hub: Arc<Hub>, book: Arc<dyn RuleBook>) {
    let mut changes = hub.follow();
    loop {
        let begun = Instant::now();
        for (number, trace, is_over) in hub.to_judge() {
            let book = book.clone();
            let judged = tokio::task::spawn_blocking(move || book.findings(&trace, is_over)).await;
            if let Ok(findings) = judged {
                hub.found(number, findings);
            }
        }
        // Where judging takes long, it is done less often.
        let pause = INTERVAL.max(begun.elapsed() * 3);
        tokio::time::sleep(pause.saturating_sub(begun.elapsed())).await;
        if changes.changed().await.is_err() {
            return;
        }
        tokio::time::sleep(DEBOUNCE).await;
    }
}

/// A finding as the page gets it.
pub(crate) fn to_json(placed: &Placed, session: u32, part: Option<usize>) -> Value {
    let Finding { rule, level, pointer, why, sentence, fix, url, .. } = &placed.finding;
    json!({
        "rule": &**rule, "level": level_word(*level), "session": session, "row": placed.row, "part": part,
        "pointer": pointer, "why": why, "sentence": sentence, "fix": fix, "url": url,
    })
}
