//! `proof replay FILE --prune OUT`: a copy of a recording without the calls that failed, so that no replay gives their answers.
//! Knows no server.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Seek as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use serde_json::Value;
use wire::Message;
use wire::trace::Frame;
use wire::trace::file::{write_frame, write_header};

use super::BadRecording;
use super::index::{Entry, Index};
use super::request_key::KeyedRequest;
use super::scan::{Location, messages, scan};

/// What pruning came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pruned {
    /// How many answers stay.
    pub kept: usize,
    /// How many failed, by method and name.
    pub dropped: BTreeMap<String, usize>,
    /// How many failed calls stay, because a batch or an exchange has them together with what did not fail.
    pub inseparable: usize,
}

/// Writes the recording at `path` without its failed calls to the new file `out`.
pub fn prune(path: &Path, out: &Path) -> Result<Pruned, BadRecording> {
    let file = File::open(path)?;
    let (index, header, _) = Index::read(&file, &[])?;
    let mut marks = Marks::default();
    let mut pruned = Pruned::default();
    let mut failures = Vec::new();
    for entry in index.all().iter() {
        let entry = entry?;
        match failed(&file, entry)? {
            Some(name) => {
                marks.add(&index, entry)?;
                failures.push((entry.answer, name));
            }
            None => pruned.kept += 1,
        }
    }
    // Each reading begins where the one before ended.
    (&file).rewind()?;
    scan(&file, |location, frame| {
        marks.look(location, frame);
        Ok(())
    })?;
    for (answer, name) in failures {
        if answer.is_some_and(|answer| marks.lines.contains(&answer.offset)) {
            *pruned.dropped.entry(name).or_default() += 1;
        } else {
            pruned.inseparable += 1;
        }
    }
    let writer = OpenOptions::new().write(true).create_new(true).mode(0o600).open(out)?;
    let mut writer = BufWriter::new(writer);
    writeln!(writer, "{}", write_header(&header))?;
    let (mut number, mut gone) = (0, Vec::new());
    (&file).rewind()?;
    scan(&file, |location, frame| {
        if marks.leave_out(location, frame) {
            gone.push(number);
        } else {
            copy(&mut writer, &file, location, frame, &gone)?;
        }
        number += 1;
        Ok(())
    })?;
    writer.flush()?;
    Ok(pruned)
}

/// The method and name of an exchange whose answer is an error, or the result of a tool that failed.
fn failed(file: &File, entry: Entry) -> io::Result<Option<String>> {
    let Some(answer) = entry.answer else { return Ok(None) };
    let answer = answer.load(file).map_err(io::Error::other)?;
    if !is_failure(&answer) {
        return Ok(None);
    }
    let request = KeyedRequest::of(&entry.request.load(file).map_err(io::Error::other)?, &[]);
    Ok(Some(request.name.map_or_else(|| request.method.clone(), |name| format!("{} {name}", request.method))))
}

/// Whether an answer is an error, or the result of a tool that failed.
pub(super) fn is_failure(answer: &Message) -> bool {
    answer.error().is_some() || answer.result().is_some_and(|result| result.get("isError") == Some(&Value::Bool(true)))
}

/// Copies a line, byte for byte unless it names a frame that has another number now.
fn copy(out: &mut impl io::Write, file: &File, location: Location, frame: &Frame, gone: &[usize]) -> io::Result<()> {
    let Some(cause) = frame.cause.filter(|_| !gone.is_empty()) else {
        let mut line = location.line(file)?;
        if !line.ends_with(b"\n") {
            line.push(b'\n');
        }
        return out.write_all(&line);
    };
    let before = gone.partition_point(|number| *number < cause);
    let cause = (gone.get(before) != Some(&cause)).then(|| cause - before);
    writeln!(out, "{}", write_frame(&Frame { cause, ..frame.clone() }))
}

/// The messages of failed calls, and the lines that have no others.
#[derive(Default)]
struct Marks {
    /// Offset of the line, and the place in its batch.
    messages: BTreeSet<(u64, u32)>,
    /// The offsets of lines to leave out.
    lines: BTreeSet<u64>,
    /// HTTP exchanges, and whether they have such messages, and others.
    exchanges: BTreeMap<u32, (bool, bool)>,
}

impl Marks {
    fn add(&mut self, index: &Index, entry: Entry) -> io::Result<()> {
        let preceding = (0..entry.preceding_len()).filter_map(|number| index.preceding(entry, number).transpose());
        let preceding = preceding.collect::<io::Result<Vec<_>>>()?;
        for location in preceding.into_iter().chain([entry.request]).chain(entry.answer) {
            self.messages.insert((location.offset, location.part));
        }
        Ok(())
    }

    fn look(&mut self, location: Location, frame: &Frame) {
        let (mut has_failed, mut has_others) = (false, false);
        for (part, _) in messages(frame) {
            let is_failed = self.messages.contains(&(location.offset, part));
            has_failed |= is_failed;
            has_others |= !is_failed;
        }
        if has_failed && !has_others {
            self.lines.insert(location.offset);
        }
        if frame.exchange != 0 && (has_failed || has_others) {
            let exchange = self.exchanges.entry(frame.exchange).or_default();
            *exchange = (exchange.0 || has_failed, exchange.1 || has_others);
        }
    }

    /// Whether a line goes: its own messages failed, or all messages of its HTTP exchange.
    fn leave_out(&self, location: Location, frame: &Frame) -> bool {
        let is_whole = self.exchanges.get(&frame.exchange) == Some(&(true, false));
        is_whole || self.lines.contains(&location.offset)
    }
}
