//! Test files for the page: the server as the command line names it, and cases of the exchanges that were marked.

use std::path::Path;

use console::judging::{CaseWriter, KeptExchange, KeptServer, TestFile};
use serde_json::{Map, Value};
use suite::generate::{Exchange, MachineFacts, kept};
use wire::redact::Redactor;

use crate::args::reach::ServerArgs;
use crate::verb::generate::server::without_secrets;
use crate::verb::machine;

/// Writes test files for one server.
pub(super) struct Cases {
    server: Map<String, Value>,
    left_out: Vec<String>,
    redactor: Redactor,
    machine: MachineFacts,
}

impl Cases {
    /// For the server of the command line. `masking` replaces what may be a secret in what is written.
    pub(super) fn new(server: &ServerArgs, redactor: &Redactor, masking: Redactor) -> Self {
        let machine = machine::facts(server.named().command);
        let (server, left_out) = without_secrets(server, Path::new(""), redactor);
        Self { server, left_out, redactor: masking, machine }
    }
}

impl CaseWriter for Cases {
    fn test_file(&self, server: &KeptServer, exchanges: Vec<KeptExchange>) -> Result<TestFile, String> {
        let rows: Vec<u64> = exchanges.iter().map(|exchange| exchange.row).collect();
        let exchanges = exchanges.into_iter().map(exchange).collect();
        let at = (server.revision, server.transport);
        let unwritten = (&self.redactor, &self.machine);
        let (made, left_out) = kept(exchanges, at, server.server.clone(), unwritten);
        let cases = made.tally().played;
        let left_out: Vec<(u64, String)> = left_out.into_iter().map(|(index, why)| (rows[index], why)).collect();
        if cases == 0 {
            let why = left_out.first().map_or("nothing is marked", |(_, why)| why.as_str());
            return Err(format!("no row can become a test: {why}"));
        }
        let text = made.text(&self.head(server), &self.server);
        Ok(TestFile { text: self.redactor.redact_known(&text).into_owned(), cases, left_out })
    }
}

impl Cases {
    /// The comment at the top.
    fn head(&self, server: &KeptServer) -> Vec<String> {
        let mut head = vec![
            format!("Kept by proof inspect over {}; run it with `proof test`.", server.transport),
            "Each case expects what one answer said: loosen what changes from call to call.".to_owned(),
        ];
        if self.server.is_empty() {
            head.push("The traffic came from a trace: name the server, by `command` or `url`.".to_owned());
        }
        head.extend(
            self.left_out.iter().map(|name| format!("Needs {name}, which is left out because it may be a secret.")),
        );
        head
    }
}

fn exchange(kept: KeptExchange) -> Exchange {
    let KeptExchange { row, method, params, answer } = kept;
    let subject = ["name", "uri"].iter().find_map(|name| params.get(*name)?.as_str());
    let label = match subject {
        Some(subject) => format!("{subject} (row {row})"),
        None => format!("{method} (row {row})"),
    };
    Exchange { label, method, params, answer }
}
