//! What a person sees while a check runs: one line that changes on a terminal, a line every five seconds elsewhere.

use std::io::IsTerminal as _;
use std::sync::mpsc::{RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use judge::check::{Progress, RunId, Watch};
use report::baseline::Seen;
use report::render::text::{WIDTH, count, wrap};

use crate::exit::tell;

/// How a finding begins.
const FAIL: &str = "FAIL  ";

/// How often a line is printed where there is no terminal.
const BEAT: Duration = Duration::from_secs(5);

/// Whether the baseline knows all that was seen of a broken rule.
pub(crate) type Knows = Arc<dyn Fn(&Seen<'_>) -> bool + Send + Sync>;

/// A line on stderr that comes and goes, or one every five seconds where stderr is no terminal; and a line for each finding.
pub(crate) struct Ticker {
    bar: Option<ProgressBar>,
    /// Which findings are printed as they are confirmed: those that it does not know. `None` for none.
    known: Option<Knows>,
    state: Arc<Mutex<State>>,
    /// Ends the lines without a terminal.
    beat: Option<Sender<()>>,
}

/// How far it is.
struct State {
    begun: Instant,
    done: usize,
    total: usize,
    current: String,
}

impl State {
    /// `34 of 120: http 2025-11-25: tools-call`
    fn line(&self) -> String {
        let Self { done, total, current, .. } = self;
        if *total == 0 { current.clone() } else { format!("{done} of {}: {current}", total.max(done)) }
    }
}

impl Ticker {
    /// Starts the line.
    pub(crate) fn start(doing: &str) -> Self {
        let state = State { begun: Instant::now(), done: 0, total: 0, current: doing.to_owned() };
        let state = Arc::new(Mutex::new(state));
        if !std::io::stderr().is_terminal() || std::env::var_os("CI").is_some() {
            let beat = Some(beat(state.clone()));
            return Self { bar: None, known: None, state, beat };
        }
        let bar = ProgressBar::new_spinner();
        if let Ok(style) = ProgressStyle::with_template("{spinner} {elapsed} {wide_msg}") {
            bar.set_style(style);
        }
        bar.set_message(doing.to_owned());
        bar.enable_steady_tick(Duration::from_millis(120));
        Self { bar: Some(bar), known: None, state, beat: None }
    }

    /// Prints each finding as it is confirmed, but for those that are known: the report has them.
    pub(crate) fn printing(self, known: Option<Knows>) -> Self {
        Self { known, ..self }
    }

    /// An observer that keeps the line up to date. An estimate is printed with or without a terminal.
    pub(crate) fn watch(&self) -> Watch {
        let (bar, known, state) = (self.bar.clone(), self.known.clone(), self.state.clone());
        Watch::new(move |progress| {
            let line = match progress {
                Progress::Confirmed { run, rule, level, message, defects, more_defects: more } => {
                    let defects = defects.iter().map(|(method, place)| (method.as_deref(), place.as_str())).collect();
                    let RunId { revision, transport } = run;
                    let seen = Seen { rule, revision, transport, defects, more };
                    if known.as_ref().is_some_and(|knows| !knows(&seen)) {
                        let place = format!("{}  {transport} {revision}", level.as_str());
                        let line = confirmed(rule, &place, &message);
                        bar.as_ref().map_or_else(|| tell(&line), |bar| bar.suspend(|| tell(&line)));
                    }
                    return;
                }
                Progress::Estimate { runs, quick_runs, run, longest, jobs } => {
                    locked(&state).total += runs;
                    let all = run * u32::try_from(runs.div_ceil(jobs)).unwrap_or(u32::MAX);
                    let line = estimated((runs, quick_runs), (all, longest));
                    return bar.as_ref().map_or_else(|| tell(&line), |bar| bar.println(&line));
                }
                other => locked(&state).after(other),
            };
            if let Some(bar) = &bar {
                bar.set_message(line);
            }
        })
    }

    /// Clears the line.
    pub(crate) fn stop(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
        if let Some(beat) = &self.beat {
            // Fails where it has ended.
            let _ = beat.send(());
        }
    }
}

impl State {
    /// What is shown after an event.
    fn after(&mut self, progress: Progress) -> String {
        match progress {
            Progress::Found { transport, revisions } => {
                let list: Vec<_> = revisions.iter().map(|r| r.as_str()).collect();
                self.current = format!("{transport}: speaks {}", list.join(", "));
            }
            Progress::Planned { probes, .. } => self.total += probes,
            Progress::Probe { run, probe } => {
                self.done += 1;
                self.current = format!("{} {}: {probe}", run.transport, run.revision);
            }
            Progress::Done(run) => self.current = format!("{} {}: done", run.transport, run.revision),
            Progress::Confirmed { .. } | Progress::Estimate { .. } => {}
        }
        self.line()
    }
}

fn locked(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Prints how far it is every five seconds, until the sender says so or is gone.
fn beat(state: Arc<Mutex<State>>) -> Sender<()> {
    let (stop, stopped) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        while stopped.recv_timeout(BEAT) == Err(RecvTimeoutError::Timeout) {
            let line = {
                let state = locked(&state);
                format!("{} s: {}", state.begun.elapsed().as_secs(), state.line())
            };
            tell(wire::escape::line(&line));
        }
    });
    stop
}

/// A finding, in one line where it fits; else with its reason below.
fn confirmed(rule: &str, place: &str, message: &str) -> String {
    let (head, message) = (format!("{FAIL}{rule}  {place}"), wire::escape::line(message));
    let line = format!("{head}  {message}");
    if line.chars().count() <= WIDTH {
        return line;
    }
    let mut out = format!("{head}\n");
    wrap(&mut out, FAIL.len(), &message);
    out.trim_end().to_owned()
}

/// How often a client will run, and how long that takes: `all` where it never waits. How often it does is not known before.
fn estimated((runs, quick_runs): (usize, usize), (all, longest): (Duration, Duration)) -> String {
    let (runs, quick_runs) = (count(runs, "run"), count(quick_runs, "run"));
    let all = format!("the client: {runs}, at least {}; each in which it hangs takes {}", span(all), span(longest));
    format!("{all}\n  (--timeout shortens that; --quick: {quick_runs}, a minute at most)")
}

fn span(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..120 => format!("{} s", seconds.max(1)),
        seconds => format!("{} min", seconds.div_ceil(60)),
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use judge::check::{Progress, RunId};
    use wire::{Revision, Transport};

    use super::{State, confirmed, estimated};

    #[test]
    fn a_finding_fits_80_columns() {
        let short = confirmed("ping.answered", "MUST  stdio 2025-06-18", "none came");
        assert_eq!(short, "FAIL  ping.answered  MUST  stdio 2025-06-18  none came");
        let long = confirmed("ping.answered", "MUST  stdio 2025-06-18", &"word ".repeat(30));
        let is_narrow =
            |line: &str| line.len() <= 80 && (line.starts_with("FAIL  ping") || line.starts_with("      w"));
        assert!(long.lines().count() > 2 && long.lines().all(is_narrow), "{long}");
    }

    #[test]
    fn an_estimate_promises_no_end() {
        let said = estimated((364, 60), (Duration::from_secs(14), Duration::from_secs(30)));
        assert_eq!(
            said,
            "the client: 364 runs, at least 14 s; each in which it hangs takes 30 s\n  \
             (--timeout shortens that; --quick: 60 runs, a minute at most)"
        );
        assert!(said.lines().all(|line| line.len() <= 80), "{said}");
    }

    #[test]
    fn the_line_says_how_far_it_is() {
        let mut state = State { begun: Instant::now(), done: 0, total: 0, current: "connecting".to_owned() };
        assert_eq!(state.line(), "connecting");
        let run = RunId { transport: Transport::Stdio, revision: Revision::R2025_11_25 };
        state.after(Progress::Planned { run, probes: 2 });
        state.after(Progress::Probe { run, probe: "ping" });
        assert_eq!(state.line(), "1 of 2: stdio 2025-11-25: ping");
        for _ in 0..2 {
            state.after(Progress::Probe { run, probe: "again" });
        }
        assert_eq!(state.line(), "3 of 3: stdio 2025-11-25: again", "never more than all");
    }
}
