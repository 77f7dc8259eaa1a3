//! Prints what a server sends in addition to its answers: progress, log messages, and warnings of the client.

use client::{ClientEvent, Observer};
use serde_json::Value;
use std::sync::Arc;
use tokio::sync::mpsc::{self, error::TrySendError};
use wire::escape::snippet;

use crate::args::client::ClientArgs;
use crate::exit::{tell, tell_redacted};

/// How many characters of a message are shown.
const SHOWN: usize = 400;

/// How many changes may be queued; more are lost, with a note.
const QUEUED: usize = 4096;

/// The notifications of changes.
pub(super) type Notifications = mpsc::Receiver<(String, Value)>;

/// Prints notifications as they arrive, and queues those of changes.
pub(super) fn observer(args: &ClientArgs) -> (Observer, Notifications) {
    let wants_log = args.log.is_some();
    let (changes, notifications) = mpsc::channel(QUEUED);
    let observer: Observer = Arc::new(move |note| match note {
        ClientEvent::Status(_) => {}
        ClientEvent::Warning(what) => tell(format_args!("note: {what}")),
        ClientEvent::Notification { method, params } => match method.as_str() {
            "notifications/progress" => tell_redacted(&progress(&params)),
            "notifications/message" if wants_log => tell_redacted(&log(&params)),
            _ => {
                if changes.try_send((method, params)).is_err_and(|error| matches!(error, TrySendError::Full(_))) {
                    tell("note: too many changes at once; one is lost");
                }
            }
        },
    });
    (observer, notifications)
}

fn progress(params: &Value) -> String {
    let number = |name: &str| params.get(name).filter(|value| value.is_number()).map(Value::to_string);
    let done = number("progress").unwrap_or_else(|| "?".to_owned());
    let of = number("total").map(|total| format!(" of {total}")).unwrap_or_default();
    let message = params.get("message").and_then(Value::as_str).map(|m| format!(": {}", snippet(m, SHOWN)));
    format!("progress: {done}{of}{}", message.unwrap_or_default())
}

fn log(params: &Value) -> String {
    let text = |name: &str| params.get(name).and_then(Value::as_str).map(|text| snippet(text, 60));
    let data = match &params["data"] {
        Value::String(text) => snippet(text, SHOWN),
        other => snippet(&other.to_string(), SHOWN),
    };
    let logger = text("logger").map(|logger| format!(" {logger}")).unwrap_or_default();
    format!("{}{logger}: {data}", text("level").unwrap_or_else(|| "log".to_owned()))
}
