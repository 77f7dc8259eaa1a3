//! Process behaviour: what a good stdio server does that no sentence demands.

use wire::revision::{R2024_11_05, R2026_07_28};
use wire::trace::{Content, Frame, Limit, Mark, Signal};
use wire::{Party, Transport};

use super::lasting::failure;
use super::{leak, over_stdio};
use crate::basic::transports::stdio::exits_at_end_of_input;
use crate::rule::{Rule, at, safety};
use crate::verdict::{Breach, Verdict};
use crate::view::View;

/// How much stderr, in bytes, one case may bring forth.
const STDERR: usize = 1 << 20;

/// By how much, in bytes, a server's memory may grow within one case.
const GROWTH: u64 = 256 << 20;

/// The rules, in the order of a process's life.
pub(crate) const RULES: &[Rule] = &[
    over_stdio("safety.stderr-not-flooded", "A good server logs sparingly: less than a mebibyte for one short conversation.")
        .how("Adds up what the server writes to stderr.")
        .fix("Log messages' bodies only on request.")
        .judge(stderr_not_flooded),
    over_stdio("safety.memory-bounded", "A good server's memory does not grow with what is thrown at it.")
        .how("Samples the process's resident memory over the case.")
        .fix("Bound buffers, and drop what belongs to finished requests.")
        .judge(memory_bounded),
    over_stdio("safety.no-leak", "A good server's memory does not grow with every request that it has answered.")
        .timed()
        .how(
            "Samples the process's resident memory over a thousand small requests. Where memory grows by 64 KiB per request throughout, continues to three thousand: a heap that is not yet swept stops growing by then.",
        )
        .fix("Drop what belongs to a request once it is answered: entries in maps, listeners, timers, buffers.")
        .judge(leak::no_leak),
    safety("safety.exits-at-end-of-input")
        .on(&[Transport::Stdio])
        .asks(R2024_11_05, at("basic/lifecycle", "stdio"), "A good server exits once its standard input is closed.")
        .gone(R2026_07_28)
        .timed()
        .how("Closes stdin and waits for the process to end by itself.")
        .fix("Leave the read loop at end of file, stop what runs in the background, and exit.")
        .judge(exits_at_end_of_input),
    over_stdio("safety.clean-exit-code", "A good server whose input was closed exits with code 0.")
        .how("Closes stdin and looks at the exit code.")
        .fix("Treat the end of input as a normal end, not as an error.")
        .judge(clean_exit_code),
    over_stdio("safety.exits-on-term", "A good server ends when it is sent SIGTERM.")
        .timed()
        .how("Sends SIGTERM and waits before sending SIGKILL.")
        .fix("Do not ignore SIGTERM, and do not wait for the client in its handler.")
        .judge(exits_on_term),
    over_stdio("safety.no-survivors", "A good server leaves no processes behind.")
        .timed()
        .how("Counts what is left of the process group after the server ended.")
        .fix("End child processes before exiting; forward signals in wrapper scripts (`exec`).")
        .judge(no_survivors),
];

/// Exits of the server, each with whether we had closed stdin or sent a signal before.
fn exits<'v>(view: &View<'v>) -> Vec<(usize, &'v Frame, bool)> {
    let exits = view.frames().filter(|(_, f)| f.from == Party::Server && matches!(f.content, Content::Exit { .. }));
    exits.map(|(event, frame)| (event, frame, view.was_stopped(event, frame.connection))).collect()
}

fn stderr_not_flooded(view: &View<'_>) -> Verdict {
    let mut total = 0;
    for (event, frame) in view.frames() {
        match &frame.content {
            Content::Stderr(bytes) => total += bytes.len() + 1,
            Content::Mark(Mark::Limit(Limit::Stderr)) => total = STDERR + 1,
            _ => {}
        }
        if total > STDERR {
            return Verdict::Broken(Breach::at(event, "", format!("more than {STDERR} bytes on stderr by now")));
        }
    }
    let answered = view.calls_by(Party::Client).any(|c| c.response.is_some());
    let witnesses = exits(view).into_iter().filter(|_| answered).map(|(event, ..)| event).collect();
    Verdict::witnessed(witnesses, "the server was not watched to its end")
}

fn memory_bounded(view: &View<'_>) -> Verdict {
    let samples: Vec<_> = view.memory_samples().collect();
    let Some(((_, first), rest)) = samples.split_first() else {
        return Verdict::NotSeen("memory was not sampled".to_owned());
    };
    Verdict::every(rest.iter().copied(), "memory was sampled once only", |&(event, bytes)| {
        let growth = bytes.saturating_sub(*first);
        if growth <= GROWTH {
            return Ok(());
        }
        Err(Breach::at(event, "", format!("memory grew by {} MiB", growth >> 20)))
    })
}

fn clean_exit_code(view: &View<'_>) -> Verdict {
    let unforced = exits(view).into_iter().filter(|&(event, frame, _)| {
        let here = |&e: &usize| e < event && view.frame(e).connection == frame.connection;
        let signalled = view.signals().any(|(e, _)| here(&e));
        view.stdin_closings().any(|e| here(&e)) && !signalled
    });
    Verdict::every(
        unforced.map(|(event, frame, _)| (event, frame)),
        "no process ended after its stdin was closed",
        |(event, frame)| {
            failure(frame).map_or(Ok(()), |how| Err(Breach::at(*event, "", format!("{how} after stdin was closed"))))
        },
    )
}

fn exits_on_term(view: &View<'_>) -> Verdict {
    let signals = |expected: Signal| view.signals().filter(move |(_, signal)| *signal == expected);
    let ends = signals(Signal::Term).filter_map(|(term, _)| {
        let here = view.frame(term).connection;
        let later = |&(event, _): &(usize, Signal)| event > term && view.frame(event).connection == here;
        let exit = exits(view)
            .into_iter()
            .map(|(event, frame, _)| (event, frame))
            .find(|&(event, f)| event > term && f.connection == here);
        let kill = signals(Signal::Kill).find(later).map(|(event, _)| event);
        let exit = exit.map(|(event, _)| event);
        let first = exit.into_iter().chain(kill).min()?;
        Some((first, exit == Some(first)))
    });
    Verdict::every(ends.collect::<Vec<_>>(), "no server was sent SIGTERM", |&(event, by_itself)| {
        if by_itself { Ok(()) } else { Err(Breach::at(event, "", "did not end on SIGTERM; it took SIGKILL")) }
    })
}

fn no_survivors(view: &View<'_>) -> Verdict {
    let counts = view
        .marks()
        .filter_map(|(event, mark)| if let Mark::Survivors(left) = mark { Some((event, *left)) } else { None });
    Verdict::every(counts, "what is left of the process group was not counted", |&(event, left)| {
        if left == 0 { Ok(()) } else { Err(Breach::at(event, "", format!("{left} processes were left behind"))) }
    })
}
