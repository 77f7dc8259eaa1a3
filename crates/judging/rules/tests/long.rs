//! Judges recordings of many thousand frames: a judge that walks the whole trace for each of its messages shows here.

use std::fmt::Write as _;
use std::fs;
use std::time::Instant;

use rules::judge::judge;
use rules::{View, all_rules};
use serde_json::{Value, json};
use wire::trace::{Trace, file};
use wire::{Era, Party, Revision, Transport};

/// A recording under construction, as the lines of its file.
struct Recording {
    subject: Party,
    revision: Revision,
    text: String,
    frames: usize,
    exchange: u32,
    id: u64,
}

/// How many frames the longer recordings have.
const FRAMES: usize = 12_000;

const MS: u128 = 1_000_000;

/// Work below this is too little to compare.
const TELLING: u128 = 60 * MS;

const SESSION: &str = "5f0e2c1a9b7d4e6f8a1b2c3d4e5f6a7b";

impl Recording {
    fn new(subject: Party, transport: Transport, revision: Revision) -> Self {
        let name = if transport == Transport::Stdio { "stdio" } else { "http" };
        let text = format!(
            "{{\"trace\":\"proof.trace/1\",\"subject\":\"{}\",\"transport\":\"{name}\",\"revision\":\"{revision}\",\"case\":\"long\"}}\n",
            subject.as_str()
        );
        Self { subject, revision, text, frames: 0, exchange: u32::from(name == "http"), id: 0 }
    }

    fn frame(&mut self, from: &str, exchange: u32, content: (&str, Value)) {
        self.frames += 1;
        let mut frame = json!({ "at": self.frames * 400, "from": from, "conn": 1 });
        if exchange != 0 {
            frame["xch"] = json!(exchange);
        }
        frame[content.0] = content.1;
        writeln!(self.text, "{frame}").expect("a string takes it");
    }

    fn is_modern(&self) -> bool {
        self.revision.era() == Era::Modern
    }

    /// A client's message with the answer to it: over HTTP an exchange, the answer in a stream with what came before it.
    fn say(&mut self, message: Value, told: &[Value]) {
        if self.exchange == 0 {
            self.frame("client", 0, ("line", message));
            for m in told {
                self.frame("server", 0, ("line", m.clone()));
            }
            return;
        }
        self.exchange += 1;
        let x = self.exchange;
        let mut headers = vec!["Host: 127.0.0.1:3000".to_owned(), "Content-Type: application/json".to_owned()];
        headers.push("Accept: application/json, text/event-stream".to_owned());
        let opens = message["method"] == "initialize";
        if !opens {
            headers.push(format!("MCP-Protocol-Version: {}", self.revision));
        }
        if self.is_modern() {
            headers.push(format!("Mcp-Method: {}", message["method"].as_str().unwrap_or_default()));
        } else if !opens {
            headers.push(format!("Mcp-Session-Id: {SESSION}"));
        }
        let named = message["params"]["name"].as_str().or_else(|| message["params"]["uri"].as_str());
        if let Some(name) = named.filter(|_| self.is_modern()) {
            headers.push(format!("Mcp-Name: {name}"));
        }
        self.frame("client", x, ("request", json!({ "method": "POST", "target": "/mcp", "headers": headers })));
        self.frame("client", x, ("body", message));
        let kind = if told.len() == 1 { "application/json" } else { "text/event-stream" };
        let mut headers = vec![format!("Content-Type: {kind}"), "X-Accel-Buffering: no".to_owned()];
        if opens {
            headers.push(format!("Mcp-Session-Id: {SESSION}"));
        }
        let status = if told.is_empty() { 202 } else { 200 };
        self.frame("server", x, ("response", json!({ "status": status, "headers": headers })));
        match told {
            [] => {}
            [one] => self.frame("server", x, ("body", one.clone())),
            many => {
                for (n, m) in many.iter().enumerate() {
                    self.frame("server", x, ("sse", json!({ "id": format!("{x}-{n}"), "data": m })));
                }
            }
        }
        self.frame("server", x, ("closed", json!("end")));
    }

    /// A `GET` stream that is answered 405, as a server without one does.
    fn get(&mut self) {
        if self.exchange == 0 {
            return;
        }
        self.exchange += 1;
        let x = self.exchange;
        let version = format!("MCP-Protocol-Version: {}", self.revision);
        let mut headers = vec!["Host: 127.0.0.1:3000".to_owned(), "Accept: text/event-stream".to_owned(), version];
        if !self.is_modern() {
            headers.push(format!("Mcp-Session-Id: {SESSION}"));
        }
        self.frame("client", x, ("request", json!({ "method": "GET", "target": "/mcp", "headers": headers })));
        self.frame("server", x, ("response", json!({ "status": 405, "headers": [] })));
        self.frame("server", x, ("closed", json!("end")));
    }

    /// A request of `method`, told `notes` on the way, and answered.
    fn call(&mut self, method: &str, mut params: Value, notes: &[Value], outcome: Value) {
        self.id += 1;
        if self.is_modern() {
            let meta = params.as_object_mut().expect("params").entry("_meta").or_insert(json!({}));
            meta["io.modelcontextprotocol/protocolVersion"] = json!(self.revision.as_str());
            meta["io.modelcontextprotocol/clientInfo"] = json!({ "name": format!("n{}", self.id), "version": "1" });
            meta["io.modelcontextprotocol/clientCapabilities"] = json!({});
        }
        let mut answer = outcome;
        answer["jsonrpc"] = json!("2.0");
        answer["id"] = json!(self.id);
        if let Some(result) = answer.get_mut("result").filter(|_| self.revision.era() == Era::Modern) {
            result["resultType"] = json!("complete");
            result["_meta"] = json!({ "io.modelcontextprotocol/serverInfo": { "name": "long", "version": "1" } });
        }
        let mut told = notes.to_vec();
        told.push(answer);
        self.say(json!({ "jsonrpc": "2.0", "id": self.id, "method": method, "params": params }), &told);
    }

    fn note(&mut self, method: &str, mut params: Value) {
        if self.is_modern() {
            params["_meta"] = json!({ "io.modelcontextprotocol/protocolVersion": self.revision.as_str() });
        }
        self.say(json!({ "jsonrpc": "2.0", "method": method, "params": params }), &[]);
    }

    fn greet(&mut self) {
        let capabilities = json!({ "tools": { "listChanged": true }, "prompts": {}, "resources": {}, "logging": {} });
        let info = json!({ "name": "long", "version": "1" });
        if self.is_modern() {
            let versions = json!([self.revision.as_str()]);
            let told = json!({ "supportedVersions": versions, "capabilities": capabilities, "ttlMs": 0, "cacheScope": "private" });
            return self.call("server/discover", json!({}), &[], json!({ "result": told }));
        }
        let version = self.revision.as_str();
        let asked = json!({ "protocolVersion": version, "capabilities": {}, "clientInfo": info });
        let told = json!({ "protocolVersion": version, "capabilities": capabilities, "serverInfo": info });
        self.call("initialize", asked, &[], json!({ "result": told }));
        self.note("notifications/initialized", json!({}));
    }

    /// A bit of everything, of a server that does it well.
    fn round(&mut self, n: usize) {
        let tools = json!([{ "name": "add", "inputSchema": { "type": "object" } }]);
        let prompts = json!([{ "name": "greet", "arguments": [{ "name": "who", "required": true }] }]);
        let refused = |code: i64| json!({ "error": { "code": code, "message": "no" } });
        let list = |name: &str, items: Value| json!({ "result": { name: items, "ttlMs": 0, "cacheScope": "private" } });
        self.call("tools/list", json!({}), &[], list("tools", tools));
        self.call("prompts/list", json!({}), &[], list("prompts", prompts));
        self.call("resources/list", json!({}), &[], list("resources", json!([])));
        let notes: Vec<_> = (1..=3)
            .map(|p| json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": { "progressToken": n, "progress": p } }))
            .collect();
        let given = json!({ "name": "add", "arguments": {}, "_meta": { "progressToken": n } });
        let content = json!([{ "type": "text", "text": format!("é{n}") }]);
        self.call("tools/call", given, &notes, json!({ "result": { "content": content } }));
        self.call("tools/call", json!({ "name": "no-such-tool" }), &[], refused(-32602));
        self.call("prompts/get", json!({ "name": "no-such-prompt" }), &[], refused(-32602));
        self.call("prompts/get", json!({ "name": "greet" }), &[], refused(-32602));
        self.call("resources/read", json!({ "uri": "test://none" }), &[], refused(-32602));
        self.call("no-such/method", json!({}), &[], refused(-32601));
        self.note("notifications/cancelled", json!({ "requestId": self.id }));
        // A probe does so on purpose, a client by mistake.
        if self.subject == Party::Server {
            self.note("notifications/cancelled", json!({ "requestId": format!("never-{n}") }));
        }
        self.frame("client", 0, ("mark", json!("window-opened")));
        self.frame("client", 0, ("mark", json!("window-closed")));
        self.get();
    }
}

/// A sound recording of about so many frames.
fn recording(subject: Party, transport: Transport, revision: Revision, frames: usize) -> Trace {
    let mut recording = Recording::new(subject, transport, revision);
    recording.greet();
    let mut round = 0;
    while recording.frames < frames {
        round += 1;
        recording.round(round);
    }
    file::read(&recording.text).expect("the recording is a trace")
}

/// What this thread has worked, in nanoseconds, where the system tells; else the time that went by.
fn worked(since: Instant) -> u128 {
    let told = fs::read_to_string("/proc/thread-self/schedstat").ok();
    let own = told.and_then(|line| line.split(' ').next()?.parse().ok());
    own.unwrap_or_else(|| since.elapsed().as_nanos())
}

fn cost(work: impl FnOnce()) -> u128 {
    let since = Instant::now();
    let before = worked(since);
    work();
    worked(since) - before
}

/// The work of judging a recording by each rule, in nanoseconds; last, that of making a view of it.
fn judging(subject: Party, transport: Transport, revision: Revision, frames: usize) -> Vec<(&'static str, u128)> {
    let trace = recording(subject, transport, revision, frames);
    let events = trace.events();
    let view = View::new(&trace, &events, revision);
    let mut kept = 0;
    let mut costs: Vec<_> =
        all_rules().map(|rule| (rule.id, cost(|| kept += usize::from(judge(rule, &view).weight() == 2)))).collect();
    // Who looks at nothing is quick.
    assert!(kept > 20, "only {kept} rules found anything to judge");
    costs.push(("the view", cost(|| drop(View::new(&trace, &events, revision)))));
    costs
}

/// What takes more than thrice the work for twice the frames, and enough of it to tell.
fn offenders(subject: Party, transport: Transport, revision: Revision) -> Vec<String> {
    let (half, whole) =
        (judging(subject, transport, revision, FRAMES / 2), judging(subject, transport, revision, FRAMES));
    let grown = half.iter().zip(&whole).filter(|((_, half), (_, whole))| *whole > TELLING && *whole > half * 16 / 5);
    let tell = |(id, before): &(&str, u128), after: u128| format!("{id}: {} ms, {} ms", before / MS, after / MS);
    grown.map(|(half, (_, whole))| tell(half, *whole)).collect()
}

/// Twice the frames are about twice the work for every judge, and nowhere near four times as much, in long recordings of
/// everyday traffic. What is rare in them (streams that are resumed, say) may still be walked more than once.
#[test]
fn judging_grows_with_the_recording_and_not_with_its_square() {
    for (transport, revision) in [
        (Transport::Stdio, Revision::R2025_11_25),
        (Transport::Stdio, Revision::R2026_07_28),
        (Transport::StreamableHttp, Revision::R2025_11_25),
        (Transport::StreamableHttp, Revision::R2026_07_28),
    ] {
        // Another program may have had the processor's caches once or twice, hardly three times.
        for subject in [Party::Server, Party::Client] {
            let mut found = offenders(subject, transport, revision);
            for _ in 0..2 {
                if !found.is_empty() {
                    found = offenders(subject, transport, revision);
                }
            }
            let why = "twice the frames, and much more than twice the work";
            assert!(found.is_empty(), "{} over {transport} at {revision}: {why}: {found:#?}", subject.as_str());
        }
    }
}

/// What a client does every day breaks nothing, whatever its server answers.
#[test]
fn an_everyday_client_breaks_no_rule() {
    for transport in [Transport::Stdio, Transport::StreamableHttp] {
        for revision in Revision::ALL.into_iter().filter(|revision| transport.carries(*revision)) {
            let trace = recording(Party::Client, transport, revision, 400);
            let events = trace.events();
            let view = View::new(&trace, &events, revision);
            for rule in all_rules() {
                let verdict = judge(rule, &view);
                assert!(!verdict.is_broken(), "{} over {transport} at {revision}: {verdict:?}", rule.id);
            }
        }
    }
}
