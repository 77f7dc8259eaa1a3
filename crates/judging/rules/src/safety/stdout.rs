//! Standard output: what a good stdio server keeps off it beyond what sentences demand.

use std::collections::{BTreeMap, BTreeSet};

use wire::Party;
use wire::trace::{Closed, Content, Frame, Mark};

use super::over_stdio;
use crate::rule::Rule;
use crate::verdict::{Breach, Verdict};
use crate::view::{MessageAt, View};

/// The rules.
pub(crate) const RULES: &[Rule] = &[
    over_stdio("safety.stdout-quiet-until-asked", "A good server says nothing before the client has spoken.")
        .how("Says nothing for a while after the start, and looks for lines on stdout before the first line that the client sent.")
        .fix("Send notifications only once the client has introduced itself.")
        .judge(quiet_until_asked),
    over_stdio("safety.stdout-no-blank-lines", "A good server writes no blank lines to stdout.")
        .how("Looks for lines that hold only white space.")
        .fix("Write one line feed after each message, and none elsewhere.")
        .judge(no_blank_lines),
    over_stdio("safety.stdout-no-escapes", "A good server writes no terminal control sequences to stdout.")
        .how("Looks for the escape character on stdout; within JSON it may only stand escaped.")
        .fix("Turn colours and progress bars off where stdout is not a terminal, and keep them on stderr.")
        .judge(no_escapes),
    over_stdio("safety.stdout-lines-ended", "A good server ends each message with a line feed at once.")
        .how("Checks whether the last bytes on stdout were ended by a line feed.")
        .fix("Write the line feed with the message and flush.")
        .judge(lines_ended),
];

/// Lines of stdout: event, frame, bytes, whether the line feed came.
fn lines<'v>(view: &View<'v>) -> impl Iterator<Item = (usize, &'v Frame, &'v [u8], bool)> {
    view.frames().filter(|(_, f)| f.from == Party::Server).filter_map(|(event, frame)| match &frame.content {
        Content::Line { bytes, terminated } => Some((event, frame, bytes.as_slice(), *terminated)),
        _ => None,
    })
}

fn events(view: &View<'_>) -> Vec<usize> {
    lines(view).map(|(event, ..)| event).collect()
}

fn quiet_until_asked(view: &View<'_>) -> Verdict {
    let mut spoke: BTreeMap<u32, usize> = BTreeMap::new();
    for (event, f) in view.frames().filter(|(_, f)| f.from == Party::Client) {
        if matches!(f.content, Content::Line { .. } | Content::Raw(_)) {
            spoke.entry(f.connection).or_insert(event);
        }
    }
    // A recording may have begun late: only where the beginning of the connection was seen can anything be early.
    let greets = |s: &MessageAt<'_>| s.is("initialize") || s.is("server/discover");
    let greeted: BTreeSet<u32> = view.by(Party::Client).filter(greets).map(|s| s.connection).collect();
    let from_start = |connection: u32| view.opened(connection).is_some() || greeted.contains(&connection);
    let judged: Vec<_> = lines(view).filter(|(_, f, ..)| from_start(f.connection)).collect();
    let early = judged.iter().filter(|(event, f, ..)| spoke.get(&f.connection).is_none_or(|first| event < first));
    let early = early.map(|(event, ..)| Breach::at(*event, "", "written before the client had sent anything"));
    // A client that sends at once leaves no time to be early.
    let before_all = |event: usize, connection: u32| spoke.get(&connection).is_none_or(|first| event < *first);
    let waited = view.windows().iter().filter(|w| from_start(w.connection) && before_all(w.closed, w.connection));
    let witnesses: Vec<_> = waited.map(|w| w.closed).collect();
    Verdict::never(early.collect::<Vec<_>>(), witnesses, "the start was not observed before the client sent anything")
}

fn no_blank_lines(view: &View<'_>) -> Verdict {
    let blank = lines(view).filter(|(_, _, bytes, _)| bytes.trim_ascii().is_empty());
    Verdict::never(
        blank.map(|(event, ..)| Breach::at(event, "", "a blank line on stdout")),
        events(view),
        "stdout stayed empty",
    )
}

fn no_escapes(view: &View<'_>) -> Verdict {
    let odd = lines(view).filter(|(_, _, bytes, _)| bytes.contains(&0x1b));
    let why = "a terminal control sequence on stdout";
    Verdict::never(odd.map(|(event, ..)| Breach::at(event, "", why)), events(view), "stdout stayed empty")
}

fn lines_ended(view: &View<'_>) -> Verdict {
    let limits = view.marks().filter(|(_, mark)| matches!(mark, Mark::Limit(_)));
    let limited: BTreeSet<u32> = limits.map(|(event, _)| view.frame(event).connection).collect();
    let killed = |connection: u32| {
        view.signals().any(|(event, _)| view.frame(event).connection == connection)
            || view.closings().any(|(_, f, how)| f.connection == connection && *how != Closed::End)
            || limited.contains(&connection)
    };
    let open =
        lines(view).filter(|(_, f, bytes, ended)| !ended && !bytes.trim_ascii().is_empty() && !killed(f.connection));
    let why = "the last bytes on stdout were not ended by a line feed";
    let ended = lines(view).filter(|(.., ended)| *ended).map(|(event, ..)| event);
    Verdict::never(open.map(|(event, ..)| Breach::at(event, "", why)), ended, "stdout stayed empty")
}
