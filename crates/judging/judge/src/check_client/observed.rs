//! A client that nobody scripted: everything it did is judged, at each revision and over each transport that it spoke.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use faults::server::FaultyServer;
use net::Tap;
use net::server::http::{self, OtherTransports};
use net::server::recorder::HttpRecorder;
use reference::Server;
use wire::redact::Redactor;
use wire::trace::{Frame, Header, Trace};
use wire::{Party, Revision, Transport};

use super::scenario::Scenario;
use crate::judging::{
    Checked, Judged, RedactedSink, Reproduce, RunId, Selection, Sources, TraceSink, identity, part, spoken,
};
use report::{Report, Subject};

/// What an observation is called as a case.
const CASE: &str = "observed";

/// How it is to be judged.
pub struct By<'b> {
    /// Which rules.
    pub selection: &'b Selection,
    /// The revisions; all that were spoken where empty.
    pub revisions: &'b [Revision],
    /// How the user named the client.
    pub target: &'b str,
    /// Replaces what must not come out.
    pub redactor: Redactor,
    /// Makes the command lines that reproduce findings.
    pub reproduce: Reproduce,
    /// Who keeps the traces, if anybody does.
    pub keep: TraceSink,
}

/// A tap for a client over a transport, whatever revision it speaks.
pub fn tap(transport: Transport) -> Tap {
    Tap::new(Header { subject: Party::Client, transport, revision: None, case: CASE.to_owned() })
}

/// A server that waits for a client that somebody drives by hand.
pub struct Listening {
    server: http::Server,
    recorder: Arc<HttpRecorder>,
    traces: [Tap; 3],
    shown: [usize; 3],
    begun: Instant,
}

impl Listening {
    /// Serves everything at `address`: as one scenario has it, or the standard server.
    pub async fn start(address: SocketAddr, scenario: &Scenario) -> io::Result<Self> {
        let traces = [Transport::StreamableHttp, Transport::HttpSse, Transport::WebSocket].map(tap);
        let recorder = Arc::new(HttpRecorder::apart(&traces[0], &traces[1], &traces[2]));
        let other_transports = OtherTransports { sse: true, websocket: true };
        let http = http::Options { other_transports, recorder: Some(recorder.clone()), ..http::Options::default() };
        let server = Server::new(reference::Options {
            catalogue: Arc::new((scenario.offers)(&format!("http://{address}"))),
            http,
            ..reference::Options::default()
        });
        let server = FaultyServer::new(server, scenario.faults.to_vec()).http(address).await?;
        Ok(Self { server, recorder, traces, shown: [0; 3], begun: Instant::now() })
    }

    /// Where it listens.
    pub const fn local_addr(&self) -> SocketAddr {
        self.server.local_addr()
    }

    /// What crossed since this was last asked.
    pub fn news(&mut self) -> Vec<(Transport, Frame)> {
        let mut news = Vec::new();
        for (tap, shown) in self.traces.iter().zip(&mut self.shown) {
            let frames = tap.since(*shown);
            *shown += frames.len();
            news.extend(frames.into_iter().map(|frame| (tap.transport(), frame)));
        }
        news.sort_by_key(|(_, frame)| frame.at);
        news
    }

    /// Ends the server and judges everything that the client did.
    pub async fn conclude(self, by: &By<'_>) -> Checked {
        let deserted = self.recorder.is_deserted();
        self.server.shutdown().await;
        if deserted {
            self.recorder.finish();
        }
        let traces: Vec<Trace> = self.traces.into_iter().map(Tap::finish).collect();
        judge(&traces, self.begun.elapsed(), by)
    }
}

/// Judges what a client did, over one transport or several.
pub fn judge(traces: &[Trace], elapsed: Duration, by: &By<'_>) -> Checked {
    let redactor = &by.redactor;
    let target = redactor.redact_text(by.target).into_owned();
    let shelf = RedactedSink { keep: by.keep.clone(), redactor: redactor.clone() };
    let (mut results, mut runs, mut who) = (Vec::new(), Vec::new(), (None, None));
    for trace in traces {
        let spoken = spoken(trace);
        if who.0.is_none() {
            who = identity(&redactor.redact_trace(trace));
        }
        for (revision, connections) in
            spoken.into_iter().filter(|(r, _)| by.revisions.is_empty() || by.revisions.contains(r))
        {
            let part = part(trace, revision, &connections);
            let place = RunId { transport: trace.header.transport, revision };
            let mut judged = Judged::new(CASE, vec![CASE], &part, revision, by.selection);
            judged.keep(&shelf, place, &part);
            results.extend(Sources::new(&[judged], place, &by.reproduce, redactor).findings());
            runs.push(report::Run {
                transport: place.transport,
                revision,
                probes: 0,
                elapsed_ms: u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX),
                cut_short: None,
                scenarios: Vec::new(),
            });
        }
    }
    let (name, version) = who;
    let subject = Subject { kind: "client", target: target.clone(), name, version };
    Checked { report: Report::new(subject, runs, results) }
}
