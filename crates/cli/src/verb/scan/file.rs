//! Files with what servers said: traces line by line, everything else whole.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;

use guard::scan::{Item, Kind, Scanner, listed, search};
use serde_json::Value;
use wire::message::{Message, Packet};
use wire::trace::file::{FrameReader, read_header};
use wire::trace::{Event, Party};

use super::{config, stem};
use crate::exit::{Exit, tell, usage};
use crate::verb::{given_file, output};

/// The largest document, and the longest line of a trace.
const LARGEST: u64 = 256 << 20;
const LINE: u64 = 64 << 20;

const FORMS: &str = "use the result of a list, a snapshot, a trace, or a client's configuration (--config)";

/// Scans a file of any known form.
pub(super) fn scan(path: &Path, scanner: &mut Scanner) -> Result<(), Exit> {
    let unreadable = |error: std::io::Error| {
        usage(&format!("cannot read {}: {error}", output::shown(path)), "check the path and its permissions")
    };
    let file = File::open(path).map_err(unreadable)?;
    let is_regular = file.metadata().map_err(unreadable)?.is_file();
    if is_regular {
        let mut lines = Lines { reader: BufReader::new(file), failed: None };
        let first = lines.next();
        if let Some(header) = first.filter(|line| read_header(line).is_ok()) {
            return trace(path, std::iter::once(header).chain(&mut lines), scanner).and_then(|()| match lines.failed {
                Some(why) => Err(usage(&format!("cannot read {}: {why}", output::shown(path)), FORMS)),
                None => Ok(()),
            });
        }
    }
    let text = given_file::text(path, LARGEST).map_err(unreadable)?;
    document(path, &text, scanner)
}

/// The lines of a file, one in memory at a time.
struct Lines {
    reader: BufReader<File>,
    failed: Option<String>,
}

impl Iterator for Lines {
    type Item = String;

    fn next(&mut self) -> Option<String> {
        let mut line = Vec::new();
        match self.reader.by_ref().take(LINE).read_until(b'\n', &mut line) {
            Ok(0) => return None,
            Ok(length) if length as u64 == LINE => {
                self.failed = Some(format!("a line is longer than {} MiB", LINE >> 20));
            }
            Ok(_) => {}
            Err(error) => self.failed = Some(error.to_string()),
        }
        if self.failed.is_some() {
            return None;
        }
        Some(String::from_utf8_lossy(&line).trim_end_matches(['\n', '\r']).to_owned())
    }
}

/// Scans what the server said in a trace.
fn trace(path: &Path, lines: impl Iterator<Item = String>, scanner: &mut Scanner) -> Result<(), Exit> {
    let shown = output::shown(path);
    let bad = |why: &dyn std::fmt::Display| {
        usage(
            &format!("cannot scan {shown}: {}", wire::escape::line(&why.to_string())),
            "`proof help traces` describes the format",
        )
    };
    let mut frames = FrameReader::new(lines).map_err(|error| bad(&error))?.peekable();
    let (mut server, mut found) = (stem(path), 0);
    while let Some(frame) = frames.next() {
        let frame = match frame {
            Ok(frame) => frame,
            // A writer that was killed leaves half a line.
            Err(error) if frames.peek().is_none() => {
                tell(format_args!("note: {shown}: ignoring the last line: {}", wire::escape::line(&error.to_string())));
                scanner.note_incomplete(format!("{shown}: the last line is no frame"));
                break;
            }
            Err(error) => return Err(bad(&error)),
        };
        if frame.from != Party::Server {
            continue;
        }
        match Event::of(&frame).packet() {
            Some(Packet::Message(message)) => found += one(message, &mut server, scanner),
            Some(Packet::Batch(messages)) => {
                found += messages.iter().flatten().map(|message| one(message, &mut server, scanner)).sum::<usize>();
            }
            None => {}
        }
    }
    if found == 0 {
        return Err(usage(&format!("{shown} holds no message of a server, so there is nothing to scan"), FORMS));
    }
    Ok(())
}

/// Scans one message of a server; returns how many items it holds.
fn one(message: &Message, server: &mut String, scanner: &mut Scanner) -> usize {
    if let Some(name) = message.result().and_then(|result| result["serverInfo"]["name"].as_str()) {
        name.clone_into(server);
    }
    let Some(said) = message.result().or_else(|| message.params()).or_else(|| message.error()) else { return 0 };
    let (mut items, rest) = if message.result().is_some() { listed(said) } else { (Vec::new(), Some(said.clone())) };
    let name = || message.method().unwrap_or("result").to_owned();
    items.extend(rest.map(|value| Item { kind: Kind::Result, name: name(), value }));
    for item in &items {
        scanner.item(server, item);
    }
    items.len()
}

/// Scans one JSON document, or one on each line.
fn document(path: &Path, text: &str, scanner: &mut Scanner) -> Result<(), Exit> {
    let shown = output::shown(path);
    let values: Vec<Value> = match serde_json::from_str(text) {
        Ok(value) => vec![value],
        Err(error) => {
            let lines = text.lines().filter(|line| !line.trim().is_empty());
            lines.map(serde_json::from_str).collect::<Result<_, _>>().map_err(|_| {
                let what = format!("cannot scan {shown}: {}", wire::escape::line(&error.to_string()));
                usage(&what, FORMS)
            })?
        }
    };
    let all = search(&values, &stem(path));
    for (server, item) in &all.items {
        scanner.item(server, item);
    }
    let found = all.items.len();
    if found > 0 {
        for what in all.unread {
            scanner.note_incomplete(format!("{shown}: {what}"));
        }
    }
    let entries = if found == 0 { values.iter().flat_map(config::entries).collect() } else { Vec::new() };
    for entry in &entries {
        scanner.item(&entry.server, &entry.item());
    }
    // A list that is empty was read all the same.
    let has_list = values.iter().any(|value| value["tools"].is_array() || value["result"]["tools"].is_array());
    if found + entries.len() == 0 {
        let what = if has_list { "lists nothing" } else { "holds no tools, prompts, resources or servers" };
        return Err(usage(&format!("{shown} {what}, so there is nothing to scan"), FORMS));
    }
    Ok(())
}
