//! What the page reads: rows of a filtered list, one row, findings, rules, traces, completions.

use std::collections::BTreeSet;
use std::io;
use std::pin::Pin;
use std::sync::{Mutex, PoisonError};
use std::task::{Context, Poll};

use net::server::http::{Body, Bytes, Frame, HttpBody, Response};
use serde_json::{Value, json};
use wire::Revision;

use crate::Console;
use crate::detail;
use crate::hub::Frames;
use crate::judging;
use crate::query::{Query, complete};
use crate::ring::Piece;
use crate::view::View;
use page::Failure;
use page::Parameters;
use page::reply;

/// The most rows of one answer.
const COUNT: usize = 2000;
/// How many filters are remembered with their lists.
const VIEWS: usize = 8;
/// The most tasks of one answer.
const TASKS: usize = 1000;
/// How many of the newest rows are looked at for values of completions, and how many values are taken.
const SAMPLE: usize = 20_000;
const VALUES: usize = 500;

/// The lists of the last filters, newest last.
#[derive(Default)]
pub(crate) struct Views(Mutex<Vec<(String, View)>>);

impl Views {
    /// Removes the list of a filter, to be used alone.
    fn take(&self, filter: &str) -> Option<View> {
        let mut views = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let index = views.iter().position(|(known, _)| known == filter)?;
        Some(views.remove(index).1)
    }

    fn put(&self, filter: &str, view: View) {
        let mut views = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        views.retain(|(known, _)| known != filter);
        if views.len() >= VIEWS {
            views.remove(0);
        }
        views.push((filter.to_owned(), view));
    }
}

/// Reads the filter of a request.
pub(crate) fn query(parameters: &Parameters) -> Result<Query, Failure> {
    let filter = parameters.text("filter").unwrap_or_default();
    Query::parse(filter).map_err(|error| {
        let position = filter.get(..error.at).map(|before| before.encode_utf16().count());
        Failure { position, ..Failure::wrong(error.what, error.remedy) }
    })
}

impl Console {
    /// A part of a filtered list.
    pub(crate) async fn rows(&self, parameters: &Parameters) -> Result<Value, Failure> {
        let filter = parameters.text("filter").unwrap_or_default();
        let query = query(parameters)?;
        let part = Part {
            from: parameters.number("from")?.unwrap_or(0),
            at: parameters.number("at")?,
            count: parameters.number("count")?.unwrap_or(COUNT).min(COUNT),
        };
        let mut view = self.views.take(filter).unwrap_or_else(|| View::new(query));
        let answer = loop {
            if let Some(answer) = self.part(&mut view, part) {
                break answer;
            }
            // A heavy filter must not keep anything else waiting.
            tokio::task::yield_now().await;
        };
        self.views.put(filter, view);
        Ok(answer)
    }

    /// Takes some changes in; the part of the list, if these were all.
    fn part(&self, view: &mut View, part: Part) -> Option<Value> {
        let inner = self.hub.inner();
        let most = view.turn();
        view.update(&inner.table, &Frames::new(&inner), most);
        if !view.is_current(&inner.table) {
            return None;
        }
        let matches = view.matches();
        let from = part.begins(matches);
        let shown = matches[from..].iter().take(part.count);
        let rows: Vec<Value> = shown.filter_map(|n| Some(inner.table.get(*n)?.to_json(*n))).collect();
        Some(json!({
            "seq": inner.table.seq(), "total": inner.table.len(), "first": inner.table.first(),
            "matched": matches.len(), "from": from, "rows": rows,
        }))
    }

    /// One row, or the bytes of one of its parts: what follows `/api/row/`.
    pub(crate) fn row(&self, path: &str) -> Result<Response, Failure> {
        let wrong = || Failure::missing("there is no such row");
        let gone = || Failure::missing("the row was dropped to make room for newer ones");
        let Some((n, part)) = path.split_once("/part/") else {
            let n = path.parse().map_err(|_| wrong())?;
            return Ok(reply::answer(&detail::row(&self.hub, n).ok_or_else(gone)?));
        };
        let (n, part) = n.parse().ok().zip(part.parse().ok()).ok_or_else(wrong)?;
        let bytes = detail::bytes(&self.hub, n, part).ok_or_else(gone)?;
        Ok(reply::attachment(
            Body::Whole(Some(bytes.into())),
            "application/octet-stream",
            "attachment; filename=\"part\"",
        ))
    }

    /// The tasks of one target's sessions, newest first.
    pub(crate) fn tasks(&self, parameters: &Parameters) -> Result<Value, Failure> {
        let target = parameters.number::<u32>("target")?;
        let inner = self.hub.inner();
        let sessions = (1..).zip(&inner.sessions).collect::<Vec<(u32, _)>>().into_iter().rev();
        let ours = sessions.filter(|(_, session)| target.is_none_or(|target| session.target == target));
        let tasks = ours.flat_map(|(number, session)| session.assembler.tasks().to_json(number)).take(TASKS);
        Ok(json!({ "tasks": tasks.collect::<Vec<_>>() }))
    }

    /// The findings of one session, or of all.
    pub(crate) fn findings(&self, parameters: &Parameters) -> Result<Value, Failure> {
        let wanted = parameters.number::<u32>("session")?;
        let inner = self.hub.inner();
        let mut findings = Vec::new();
        for (index, session) in inner.sessions.iter().enumerate() {
            let number = u32::try_from(index + 1).unwrap_or(u32::MAX);
            if wanted.is_some_and(|wanted| wanted != number) {
                continue;
            }
            for one in &session.findings {
                let row = inner.table.get(one.row);
                let part = row.and_then(|row| row.parts.iter().position(|frame| frame == one.frame));
                findings.push(judging::to_json(one, number, part));
            }
        }
        Ok(json!({ "findings": findings }))
    }

    /// What there is to say of a rule.
    pub(crate) fn rule(&self, id: &str) -> Result<Value, Failure> {
        let text = self.rule_book.explain(id);
        let text = text.ok_or_else(|| {
            Failure::new(Failure::missing("").status, format!("unknown rule `{id}`"), "`proof rules` lists all rules")
        })?;
        Ok(json!({ "id": id, "text": text }))
    }

    /// The trace of a session as a file; of the newest where none is named.
    pub(crate) fn trace(&self, parameters: &Parameters) -> Result<Response, Failure> {
        let session = parameters.number::<u32>("session")?;
        let newest = u32::try_from(self.hub.inner().sessions.len()).unwrap_or(u32::MAX);
        let session = session.unwrap_or(newest);
        let found = self.hub.trace_file(session);
        let file = found.ok_or_else(|| Failure::missing(format!("there is no session {session}")))?;
        let before = file.before.into_iter().map(Line::Text);
        let lines = before.chain(file.pieces.into_iter().map(Line::Kept)).chain(file.after.map(Line::Text));
        let file = Lines(Box::new(lines));
        let name = "attachment; filename=\"trace.jsonl\"";
        Ok(reply::attachment(Body::boxed(file), "application/jsonl", name))
    }

    /// What may stand at a place of a filter.
    pub(crate) fn complete(&self, parameters: &Parameters) -> Result<Value, Failure> {
        let filter = parameters.text("filter").unwrap_or_default();
        let at = parameters.number::<usize>("at")?.unwrap_or(usize::MAX);
        let completion = complete(filter, page::byte_at(filter, at), |column| self.values(column));
        let position = |at: usize| filter.get(..at).map_or(0, |before| before.encode_utf16().count());
        let item = |item: &crate::query::Suggestion| json!({ "text": item.text, "what": item.what });
        Ok(json!({
            "from": position(completion.from), "to": position(completion.to),
            "items": completion.items.iter().map(item).collect::<Vec<_>>(),
        }))
    }

    /// The values that the newest rows have in a column.
    fn values(&self, column: &str) -> Vec<String> {
        let inner = self.hub.inner();
        let mut values = BTreeSet::new();
        for (_, row) in inner.table.iter().rev().take(SAMPLE) {
            match column {
                "method" => values.extend(Some(row.method.to_string())),
                "tool" if &*row.method == "tools/call" => values.extend(Some(row.name.to_string())),
                "name" => values.extend(Some(row.name.to_string())),
                "rev" => values.extend(row.revision.map(Revision::as_str).map(str::to_owned)),
                "finding" => values.extend(row.rules.iter().map(ToString::to_string)),
                _ => {}
            }
            if values.len() >= VALUES {
                break;
            }
        }
        values.into_iter().filter(|value| !value.is_empty()).collect()
    }
}

/// Which part of a list is asked for.
#[derive(Clone, Copy)]
struct Part {
    /// The place in the list; from its end where it is negative.
    from: i64,
    /// The row to begin with, instead.
    at: Option<u64>,
    count: usize,
}

impl Part {
    /// The place in `matches` at which it begins.
    fn begins(self, matches: &[u64]) -> usize {
        match self.at {
            Some(at) => matches.partition_point(|n| *n < at),
            None if self.from < 0 => {
                matches.len().saturating_sub(usize::try_from(self.from.unsigned_abs()).unwrap_or(usize::MAX))
            }
            None => usize::try_from(self.from).unwrap_or(usize::MAX).min(matches.len()),
        }
    }
}

/// A line of a trace.
enum Line {
    Text(String),
    /// Read from the ring when it is sent.
    Kept(Piece),
}

/// A trace that is read while it is sent.
struct Lines(Box<dyn Iterator<Item = Line> + Send>);

impl HttpBody for Lines {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        let line = self.0.next().map(|line| match line {
            Line::Text(text) => Ok(text.into_bytes()),
            Line::Kept(piece) => piece.read(),
        });
        Poll::Ready(line.map(|line| {
            let mut line = line?;
            line.push(b'\n');
            Ok(Frame::data(line.into()))
        }))
    }
}
