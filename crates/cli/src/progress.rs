//! What a person sees while a check runs: one line on a terminal, nothing elsewhere.

use std::io::IsTerminal as _;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use judge::check::{Progress, Watch};
use report::render::text::count;

use crate::exit::tell;

/// A line on stderr that comes and goes, and is absent where stderr is no terminal; and a line for each finding.
pub(crate) struct Ticker {
    bar: Option<ProgressBar>,
    /// Whether findings are printed as they are confirmed.
    prints: bool,
}

impl Ticker {
    /// Starts the line.
    pub(crate) fn start(doing: &str) -> Self {
        if !std::io::stderr().is_terminal() || std::env::var_os("CI").is_some() {
            return Self { bar: None, prints: false };
        }
        let bar = ProgressBar::new_spinner();
        if let Ok(style) = ProgressStyle::with_template("{spinner} {elapsed} {wide_msg}") {
            bar.set_style(style);
        }
        bar.set_message(doing.to_owned());
        bar.enable_steady_tick(Duration::from_millis(120));
        Self { bar: Some(bar), prints: false }
    }

    /// Prints each finding as it is confirmed, where `prints`.
    pub(crate) fn printing(self, prints: bool) -> Self {
        Self { prints, ..self }
    }

    /// An observer that keeps the line up to date. An estimate is printed with or without a terminal.
    pub(crate) fn watch(&self) -> Watch {
        let (bar, prints) = (self.bar.clone(), self.prints);
        Watch::new(move |progress| {
            let message = match progress {
                Progress::Confirmed { run, rule, level, message } => {
                    let line =
                        format!("FAIL  {rule}  {}  {} {}  {message}", level.as_str(), run.transport, run.revision);
                    let line = wire::escape::line(&line).into_owned();
                    match &bar {
                        _ if !prints => {}
                        Some(bar) => bar.suspend(|| tell(line)),
                        None => tell(line),
                    }
                    return;
                }
                Progress::Estimate { runs, quick_runs, run, jobs } => {
                    let line = estimated(runs, quick_runs, |runs| {
                        run * u32::try_from(runs.div_ceil(jobs)).unwrap_or(u32::MAX)
                    });
                    return bar.as_ref().map_or_else(|| tell(&line), |bar| bar.println(&line));
                }
                Progress::Found { transport, revisions } => {
                    let list: Vec<_> = revisions.iter().map(|r| r.as_str()).collect();
                    format!("{transport}: speaks {}", list.join(", "))
                }
                Progress::Probe { run, probe } => format!("{} {}: {probe}", run.transport, run.revision),
                Progress::Done(run) => format!("{} {}: done", run.transport, run.revision),
            };
            if let Some(bar) = &bar {
                bar.set_message(message);
            }
        })
    }

    /// Clears the line.
    pub(crate) fn stop(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// How often a client will run, and how long that takes.
fn estimated(runs: usize, quick_runs: usize, lasts: impl Fn(usize) -> Duration) -> String {
    let runs_in = |number: usize| format!("{}, about {}", count(number, "run"), span(lasts(number)));
    format!("the client: {} (--quick: {})", runs_in(runs), runs_in(quick_runs))
}

fn span(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..120 => format!("{} s", seconds.max(1)),
        seconds => format!("{} min", seconds.div_ceil(60)),
    }
}
