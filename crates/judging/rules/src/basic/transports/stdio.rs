//! The stdio transport: `basic/transports/stdio`, and `basic/transports#stdio` before it was a page.

use wire::message::{Fault, parse};
use wire::revision::{R2024_11_05, R2025_06_18, R2026_07_28};
use wire::trace::{Content, Mark};
use wire::{Kind, Party, Transport};

use crate::reading::batches::{Batches, arrays};
use crate::rule::{Rule, at, server};
use crate::verdict::{Breach, Verdict};
use crate::view::View;

mod cancelled;
pub(crate) mod clients;

const STDIO: &[Transport] = &[Transport::Stdio];

/// How long, in microseconds, a server must have been left alone before "does not exit" is said of it.
const GRACE: u64 = 1_000_000;

/// The page's rules, in its own order.
pub(crate) const RULES: &[Rule] = &[
    server("stdio.no-embedded-newlines")
        .on(STDIO)
        .says(R2024_11_05, at("basic/transports", "stdio"), "A message on stdout MUST NOT contain a newline.")
        .says(R2026_07_28, at("basic/transports/stdio", ""), "A message on stdout MUST NOT contain a newline.")
        .how("Looks for lines of stdout that are not messages one by one, but are one message when joined.")
        .fix("Serialize each message on one line: no pretty-printing, and line feeds within strings escaped.")
        .judge(no_embedded_newlines),
    server("stdio.only-messages-on-stdout")
        .on(STDIO)
        .says(
            R2024_11_05,
            at("basic/transports", "stdio"),
            "A server MUST NOT write anything but MCP messages to stdout.",
        )
        .says(
            R2026_07_28,
            at("basic/transports/stdio", ""),
            "A server MUST NOT write anything but MCP messages to stdout.",
        )
        .how("Reads every line of stdout as a JSON-RPC message.")
        .fix("Send logs, banners and the output of libraries to stderr.")
        .judge(only_messages),
    server("stdio.no-batches")
        .on(STDIO)
        .says(
            R2025_06_18,
            at("basic/transports", "stdio"),
            "What a server writes to stdout MUST be single messages, never batches.",
        )
        .says(
            R2026_07_28,
            at("basic/transports/stdio", ""),
            "What a server writes to stdout MUST be single messages, never batches.",
        )
        .how("Looks for arrays on stdout. One that comes after a batch that we sent may answer it and is not blamed: JSON-RPC answers a batch so.")
        .fix("Answer each request with a message of its own; revision 2025-06-18 removed batches.")
        .judge(no_batches),
    server("stdio.no-requests")
        .on(STDIO)
        .says(
            R2026_07_28,
            at("basic/transports/stdio", "receiving-messages"),
            "A server MUST NOT write JSON-RPC requests to stdout.",
        )
        .how("Calls tools, reads resources and gets prompts, and looks for requests by the server.")
        .fix("Ask for what is needed from the client in an `input_required` result instead.")
        .judge(no_requests),
    server("stdio.cancelled-request-silent")
        .on(STDIO)
        .says(
            R2026_07_28,
            at("basic/transports/stdio", "cancellation"),
            "For a request that was cancelled, a server MUST NOT send anything more.",
        )
        .timed()
        .how(
            "Cancels a call that usually succeeds, and listens for longer than it usually takes: for an error in place of the result, for another result than usual in less than half the time, or for progress of a call that never ends. A call that succeeds as usual was not cancelled.",
        )
        .fix("Drop what a cancelled request still says: its progress, and also the error by which the work ends.")
        .judge(cancelled::silent),
    server("stdio.exits-at-end-of-input")
        .on(STDIO)
        .says(
            R2026_07_28,
            at("basic/transports/stdio", "shutdown"),
            "A server SHOULD exit promptly once its standard input is closed.",
        )
        .timed()
        .how("Closes stdin and waits for the process to end by itself.")
        .fix("Leave the read loop at end of file, stop what runs in the background, and exit.")
        .judge(exits_at_end_of_input),
];

/// A line of the judged party's, on stdout or stdin: its event, its bytes without the line feed, whether that came.
type Line<'v> = (usize, &'v [u8], bool);

fn lines<'v>(view: &View<'v>) -> Vec<Line<'v>> {
    let frames = view.frames().filter(|(_, frame)| frame.from == view.subject());
    let line = |(event, frame): (usize, &'v wire::trace::Frame)| match &frame.content {
        Content::Line { bytes, terminated } => Some((event, bytes.as_slice(), *terminated)),
        _ => None,
    };
    frames.filter_map(line).collect()
}

/// The events of whole messages among them.
fn messages(view: &View<'_>) -> Vec<usize> {
    let carries = |event: usize| view.events().nth(event).is_some_and(|(_, e)| e.packet().is_some());
    lines(view).into_iter().map(|(event, ..)| event).filter(|&event| carries(event)).collect()
}

/// Runs of lines that are not messages one by one, but are one message when joined: the events of the first and the last line.
fn split_messages(view: &View<'_>) -> Vec<(usize, usize)> {
    const LONGEST: usize = 512;
    let lines = lines(view);
    let mut found = Vec::new();
    let mut start = 0;
    while start < lines.len() {
        let (first, bytes, _) = lines[start];
        let opens = bytes.trim_ascii_start().starts_with(b"{") && parse(bytes).is_err();
        let end = if opens { joins(view, &lines[start..lines.len().min(start + LONGEST)]) } else { None };
        if let Some(count) = end {
            found.push((first, lines[start + count - 1].0));
            start += count;
        } else {
            start += 1;
        }
    }
    found
}

/// Where a JSON text stands after some of its bytes: what it needs to end.
#[derive(Default)]
struct Scan {
    depth: usize,
    in_text: bool,
    escaped: bool,
    /// Its last bracket was closed.
    whole: bool,
}

impl Scan {
    /// Reads on. Whether this may still become one JSON value.
    fn read(&mut self, bytes: &[u8]) -> bool {
        bytes.iter().all(|&byte| self.step(byte))
    }

    fn step(&mut self, byte: u8) -> bool {
        if self.in_text {
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' => self.escaped = true,
                b'"' => self.in_text = false,
                _ => {}
            }
            return true;
        }
        match byte {
            _ if byte.is_ascii_whitespace() => {}
            _ if self.whole => return false,
            b'"' => self.in_text = true,
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' => {
                self.depth = self.depth.saturating_sub(1);
                self.whole = self.depth == 0;
            }
            _ => {}
        }
        true
    }
}

/// How many of `lines` make one message together: with the line feed between them as white space, or within a string. Each
/// line is read once: what is whole without the next line, as a log's objects are, is not a part of a message.
fn joins(view: &View<'_>, lines: &[Line<'_>]) -> Option<usize> {
    let (mut scan, mut text) = (Scan::default(), lines[0].1.to_vec());
    if !scan.read(&text) || scan.whole {
        return None;
    }
    let between: &[u8] = if scan.in_text { b"\\n" } else { b"\n" };
    for (index, (_, bytes, _)) in lines.iter().enumerate().skip(1) {
        let in_text = between.len() > 1;
        if scan.in_text != in_text || !view.budget().spend(1 + bytes.len() as u64) {
            return None;
        }
        text.extend_from_slice(between);
        text.extend_from_slice(bytes);
        if !scan.read(between) || !scan.read(bytes) {
            return None;
        }
        if scan.whole {
            return parse(&text).is_ok().then_some(index + 1);
        }
    }
    None
}

fn no_embedded_newlines(view: &View<'_>) -> Verdict {
    let why = |last| format!("one message stands on several lines, the last of them in event {last}");
    let offenders = split_messages(view).into_iter().map(|(first, last)| Breach::at(first, "", why(last)));
    Verdict::never(offenders, messages(view), "no message was written")
}

fn only_messages(view: &View<'_>) -> Verdict {
    let split_messages = split_messages(view);
    let within = |event: usize| split_messages.iter().any(|&(first, last)| (first..=last).contains(&event));
    let cut = |event: usize| matches!(view.frame(event).content, Content::Line { terminated: false, .. });
    let stray = view.invalid_by_subject().filter(|g| {
        // A blank line is judged apart; a line that never ended may have been cut by us.
        let judged = g.malformed.fault != Fault::Empty && !g.malformed.fault.is_ours();
        judged && !within(g.event) && !cut(g.event) && !view.echoes_impossible_id(g)
    });
    let why = |g: crate::view::InvalidMessage<'_>| {
        Breach::at(g.event, "", format!("this line is not a message: {}", g.malformed.fault))
    };
    Verdict::never(stray.map(why), messages(view), "nothing was written")
}

fn no_batches(view: &View<'_>) -> Verdict {
    let batches = Batches::of(view);
    let (provoked, others): (Vec<_>, Vec<_>) = arrays(view).partition(|event| batches.provoked(view, *event));
    let offenders = others.into_iter().map(|event| Breach::at(event, "", "an array on stdout"));
    let witnesses = messages(view).into_iter().filter(|&event| {
        let connection = view.frame(event).connection;
        let in_kind = provoked.iter().any(|&array| view.frame(array).connection == connection);
        !in_kind && batches.first_on(connection).is_some_and(|sent| event > sent)
    });
    Verdict::never(offenders, witnesses.collect::<Vec<_>>(), "no batch was sent, or it was answered by an array")
}

fn no_requests(view: &View<'_>) -> Verdict {
    if view.initialized().is_some() {
        return Verdict::NotApplicable("the process was opened with the legacy handshake".to_owned());
    }
    let asks = view.by(Party::Server).filter(|s| s.message.kind() == Kind::Request);
    let offenders = asks.map(|s| s.breach("/method", "a request by the server"));
    let wants = |method: Option<&str>| matches!(method, Some("tools/call" | "resources/read" | "prompts/get"));
    let calls = view.calls_by(Party::Client).filter(|c| wants(c.request.message.method()));
    let witnesses = calls.filter_map(|c| c.response.map(|r| r.event));
    Verdict::never(offenders, witnesses, "nothing was asked that the server might want input for")
}

/// Ends by itself once stdin is closed; also a safety rule, where no sentence demands it.
pub(crate) fn exits_at_end_of_input(view: &View<'_>) -> Verdict {
    let mut witnesses = Vec::new();
    for closed in view.stdin_closings() {
        let here = view.frame(closed);
        let later = || view.frames().skip(closed + 1).filter(|(_, f)| f.connection == here.connection);
        let ends = |f: &wire::trace::Frame| matches!(&f.content, Content::Exit { .. } | Content::Mark(Mark::Signal(_)));
        let signalled = view.signals().any(|(e, _)| e < closed && view.frame(e).connection == here.connection);
        if signalled {
            continue;
        }
        // One that has not said a word may still be starting: it cannot see yet that its input has ended.
        let has_started = || view.by(Party::Server).any(|s| s.connection == here.connection && s.event < closed);
        match later().find(|(_, f)| ends(f)) {
            Some((event, frame)) if matches!(frame.content, Content::Exit { .. }) => witnesses.push(event),
            Some((event, frame)) if frame.at.saturating_sub(here.at) >= GRACE && has_started() => {
                let waited = (frame.at - here.at) / 1000;
                let why = format!("still running {waited} ms after stdin was closed; it took a signal");
                return Verdict::Broken(Breach::at(event, "", why));
            }
            _ => {}
        }
    }
    Verdict::witnessed(witnesses, "stdin was not closed, or the process not waited for")
}
