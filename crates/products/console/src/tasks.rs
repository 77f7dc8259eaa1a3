//! The tasks of a session, as its traffic shows them: who runs each, how it stands, in which rows it was seen. Both kinds, those of
//! 2025-11-25 and those of the extension, are read alike. Pure: asks nobody, no clock.

use std::collections::VecDeque;

use serde_json::{Value, json};
use wire::Message;

use crate::naming::shortened;
use crate::rows::{Direction, Row};

/// How many tasks of one session are known; the oldest go first.
const MOST: usize = 500;
/// The longest id, in bytes: a task with a longer one is not listed.
const LONGEST_ID: usize = 512;
/// The longest time and status, in bytes.
const LONGEST_WORD: usize = 64;

/// A task.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Task {
    id: String,
    /// The request that became a task: its row, method and name; 0 where only later traffic shows the task.
    row: u64,
    method: Box<str>,
    name: Box<str>,
    /// Who asked for it: we, or the server.
    asked: Direction,
    /// The row that showed it last, and the one with its result, or 0.
    seen: u64,
    result: u64,
    status: Box<str>,
    message: Box<str>,
    created: Option<String>,
    updated: Option<String>,
    ttl: Option<u64>,
    poll: Option<u64>,
}

/// The tasks of one session, oldest first.
#[derive(Debug, Default)]
pub(crate) struct TaskBook {
    tasks: VecDeque<Task>,
    changes: u64,
}

impl TaskBook {
    /// Grows with every change.
    pub(crate) const fn changes(&self) -> u64 {
        self.changes
    }

    /// Takes in what the answer in row `n` shows.
    pub(crate) fn answered(&mut self, n: u64, row: &Row, message: &Message) {
        match &*row.method {
            "tools/call" | "sampling/createMessage" | "elicitation/create" => self.began(n, row, message),
            "tasks/get" | "tasks/cancel" => {
                let Some(shown) = message.result() else { return };
                let has_outcome = shown.get("result").is_some() || shown.get("error").is_some();
                self.shown(n, row.direction, shown, has_outcome);
            }
            "tasks/list" => {
                let tasks = message.result().and_then(|result| result.get("tasks")?.as_array());
                tasks.into_iter().flatten().take(MOST).for_each(|task| self.shown(n, row.direction, task, false));
            }
            "tasks/result" => {
                let named = |task: &&mut Task| task.asked == row.direction && shortened(&task.id) == row.name;
                if let Some(task) = self.tasks.iter_mut().rev().find(named) {
                    (task.result, task.seen) = (n, n);
                    self.changes += 1;
                }
            }
            _ => {}
        }
    }

    /// Takes in a notification: its sender runs the task.
    pub(crate) fn notified(&mut self, n: u64, from: Direction, message: &Message) {
        if !message.method().is_some_and(|method| method.starts_with("notifications/tasks")) {
            return;
        }
        let asked = if from == Direction::In { Direction::Out } else { Direction::In };
        if let Some(task) = message.params() {
            let has_outcome = task.get("result").is_some() || task.get("error").is_some();
            self.shown(n, asked, task, has_outcome);
        }
    }

    fn began(&mut self, n: u64, row: &Row, message: &Message) {
        // Most results are no tasks, and need not be read for it.
        let task = match message.string_member("resultType").as_deref() {
            Some("task") => message.result().cloned(),
            _ => message.body_value("task").filter(Value::is_object),
        };
        let Some(task) = task else { return };
        self.shown(n, row.direction, &task, false);
        let id = task.get("taskId").and_then(Value::as_str);
        if let Some(task) = self.tasks.iter_mut().rev().find(|known| Some(known.id.as_str()) == id) {
            (task.row, task.method, task.name) = (n, row.method.clone(), row.name.clone());
        }
    }

    fn shown(&mut self, n: u64, asked: Direction, shown: &Value, has_outcome: bool) {
        let word = |name: &str| shown.get(name).and_then(Value::as_str).filter(|text| text.len() <= LONGEST_WORD);
        let span = |names: [&str; 2]| names.iter().find_map(|name| shown.get(*name)?.as_u64());
        let id = shown.get("taskId").and_then(Value::as_str).filter(|id| id.len() <= LONGEST_ID);
        let (Some(id), Some(status)) = (id, word("status")) else { return };
        let at = self.tasks.iter().rposition(|task| task.id == id && task.asked == asked);
        let before = at.and_then(|at| self.tasks.get(at)).cloned();
        let earlier = |read: fn(&Task) -> Option<String>| before.as_ref().and_then(read);
        let task = Task {
            id: id.to_owned(),
            row: before.as_ref().map_or(0, |task| task.row),
            method: before.as_ref().map_or_else(Box::default, |task| task.method.clone()),
            name: before.as_ref().map_or_else(Box::default, |task| task.name.clone()),
            asked,
            seen: n,
            result: if has_outcome { n } else { before.as_ref().map_or(0, |task| task.result) },
            status: status.into(),
            message: shortened(shown.get("statusMessage").and_then(Value::as_str).unwrap_or_default()),
            created: word("createdAt").map(str::to_owned).or_else(|| earlier(|task| task.created.clone())),
            updated: word("lastUpdatedAt").map(str::to_owned).or_else(|| earlier(|task| task.updated.clone())),
            ttl: span(["ttl", "ttlMs"]).or(before.as_ref().and_then(|task| task.ttl)),
            poll: span(["pollInterval", "pollIntervalMs"]).or(before.as_ref().and_then(|task| task.poll)),
        };
        self.changes += 1;
        if let Some(known) = at.and_then(|at| self.tasks.get_mut(at)) {
            *known = task;
            return;
        }
        if self.tasks.len() >= MOST {
            self.tasks.pop_front();
        }
        self.tasks.push_back(task);
    }

    /// The tasks as the page gets them, newest first.
    pub(crate) fn to_json(&self, session: u32) -> impl Iterator<Item = Value> {
        self.tasks.iter().rev().map(move |task| {
            json!({
                "task": task.id, "session": session, "row": task.row, "method": task.method, "name": task.name,
                "asked": task.asked.as_str(), "seen": task.seen, "result": task.result, "status": task.status,
                "message": task.message, "created": task.created, "updated": task.updated, "ttl": task.ttl,
                "poll": task.poll,
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use wire::message::{Packet, parse};

    use super::*;
    use crate::rows::RowKind;

    fn message(value: &Value) -> Message {
        match parse(value.to_string().as_bytes()) {
            Ok(Packet::Message(message)) => message,
            other => panic!("{other:?}"),
        }
    }

    fn answer(book: &mut TaskBook, n: u64, method: &str, name: &str, result: &Value) {
        let mut row = Row::new(1, 1, RowKind::Call, Direction::Out, 0);
        (row.method, row.name) = (method.into(), name.into());
        book.answered(n, &row, &message(&json!({ "jsonrpc": "2.0", "id": 1, "result": result })));
    }

    fn all(book: &TaskBook) -> Vec<Value> {
        book.to_json(1).collect()
    }

    #[test]
    fn a_task_of_either_kind_is_known_from_its_call_to_its_result() {
        let mut book = TaskBook::default();
        let legacy = json!({ "taskId": "a", "status": "working", "ttl": 5, "pollInterval": 7, "createdAt": "then" });
        answer(&mut book, 1, "tools/call", "slow", &json!({ "task": legacy }));
        answer(&mut book, 2, "tasks/get", "a", &json!({ "taskId": "a", "status": "completed" }));
        answer(&mut book, 3, "tasks/result", "a", &json!({ "content": [] }));
        let modern = json!({ "resultType": "task", "taskId": "b", "status": "working", "ttlMs": 9 });
        answer(&mut book, 4, "tools/call", "buy", &modern);
        let failed = json!({ "taskId": "b", "status": "failed", "error": { "code": -1 }, "statusMessage": "no" });
        answer(&mut book, 5, "tasks/get", "b", &failed);
        let [b, a] = &all(&book)[..] else { panic!("{book:?}") };
        assert_eq!(
            (&a["status"], &a["row"], &a["seen"], &a["result"]),
            (&"completed".into(), &1.into(), &3.into(), &3.into())
        );
        assert_eq!(
            (&a["name"], &a["ttl"], &a["poll"], &a["created"]),
            (&"slow".into(), &5.into(), &7.into(), &"then".into())
        );
        assert_eq!(
            (&b["status"], &b["result"], &b["message"], &b["ttl"]),
            (&"failed".into(), &5.into(), &"no".into(), &9.into())
        );
    }

    #[test]
    fn a_notification_of_the_server_changes_what_we_asked_for() {
        let mut book = TaskBook::default();
        answer(&mut book, 1, "tools/call", "slow", &json!({ "task": { "taskId": "a", "status": "working" } }));
        let notified = |method: &str| json!({ "jsonrpc": "2.0", "method": method, "params": { "taskId": "a", "status": "cancelled" } });
        book.notified(2, Direction::In, &message(&notified("notifications/message")));
        assert_eq!(all(&book)[0]["status"], "working");
        book.notified(3, Direction::In, &message(&notified("notifications/tasks/status")));
        assert_eq!((all(&book).len(), &all(&book)[0]["status"]), (1, &"cancelled".into()));
    }

    #[test]
    fn what_is_no_task_is_not_listed_and_their_number_is_bounded() {
        let mut book = TaskBook::default();
        for result in
            [json!({ "task": "a" }), json!({ "content": [] }), json!({ "task": { "taskId": 1, "status": "working" } })]
        {
            answer(&mut book, 1, "tools/call", "x", &result);
        }
        let long = "x".repeat(LONGEST_ID + 1);
        answer(&mut book, 1, "tools/call", "x", &json!({ "task": { "taskId": long, "status": "working" } }));
        assert_eq!((all(&book).len(), book.changes()), (0, 0));
        for n in 0..MOST + 10 {
            answer(
                &mut book,
                1,
                "tools/call",
                "x",
                &json!({ "task": { "taskId": n.to_string(), "status": "working" } }),
            );
        }
        assert_eq!((all(&book).len(), &all(&book)[MOST - 1]["task"]), (MOST, &"10".into()));
    }
}
