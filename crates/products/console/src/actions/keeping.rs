//! Exchanges of the list that become a test file.

use serde_json::{Value, json};

use crate::Console;
use crate::detail;
use crate::judging::KeptServer;
use crate::rows::{Direction, RowKind};
use page::Body;
use page::Failure;

/// The most rows of one file.
const MOST: usize = 1000;

impl Console {
    /// A test file of the rows that are named.
    pub(super) fn tests(&self, body: &Body) -> Result<Value, Failure> {
        let mut wanted = body.numbers("rows")?;
        wanted.dedup();
        if wanted.is_empty() || wanted.len() > MOST {
            return Err(Failure::wrong(format!("{} rows", wanted.len()), format!("mark 1 to {MOST} rows")));
        }
        let mut left_out = Vec::new();
        let mut kept = Vec::new();
        let mut sessions: Vec<u32> = Vec::new();
        for n in wanted {
            let row = self.hub.inner().table.get(n).cloned();
            match row {
                None => left_out.push((n, "it was dropped".to_owned())),
                Some(row) if row.kind != RowKind::Call || row.direction != Direction::Out => {
                    left_out.push((n, "it is no request of the client".to_owned()));
                }
                Some(row) => match detail::exchange(&self.hub, n, &row) {
                    Err(why) => left_out.push((n, why.to_owned())),
                    Ok(exchange) => {
                        sessions.push(row.session);
                        kept.push(exchange);
                    }
                },
            }
        }
        if let (true, Some((_, why))) = (kept.is_empty(), left_out.first()) {
            return Err(Failure::not_now(format!("no row can become a test: {why}"), "mark other rows"));
        }
        let server = self.kept_server(&sessions)?;
        let mut file =
            self.case_writer.test_file(&server, kept).map_err(|why| Failure::not_now(why, "mark other rows"))?;
        left_out.append(&mut file.left_out);
        let left_out: Vec<Value> = left_out.into_iter().map(|(row, why)| json!({ "row": row, "why": why })).collect();
        Ok(json!({ "text": file.text, "cases": file.cases, "left_out": left_out }))
    }

    /// The one server that all of the sessions were with.
    fn kept_server(&self, sessions: &[u32]) -> Result<KeptServer, Failure> {
        let inner = self.hub.inner();
        let found = sessions.last().and_then(|last| inner.session(*last));
        let found = found.ok_or_else(|| Failure::not_now("no row can become a test", "mark answered requests"))?;
        let targets = sessions.iter().filter_map(|session| Some(inner.session(*session)?.target));
        if targets.into_iter().any(|target| target != found.target) {
            return Err(Failure::not_now("the rows are of several servers", "mark rows of one server"));
        }
        let revision = found.header.revision.or(found.assembler.revision());
        let revision = revision.ok_or_else(|| Failure::not_now("no revision was agreed on", "mark other rows"))?;
        let (number, transport) = (found.target, found.header.transport);
        drop(inner);
        let target = self.target(number.into())?;
        let state = target.state();
        let server = state.greeting.as_ref().and_then(|greeting| greeting.server_info()).cloned();
        Ok(KeptServer { target: number, revision, transport, server })
    }
}
