//! What a person sees while a check runs: one line on a terminal, nothing elsewhere.

use std::io::IsTerminal as _;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use judge::check::{Progress, Watch};
use report::render::text::count;

use crate::exit::tell;

/// A line on stderr that comes and goes; silent where stderr is no terminal.
pub(crate) struct Ticker(Option<ProgressBar>);

impl Ticker {
    /// Starts the line.
    pub(crate) fn start(doing: &str) -> Self {
        if !std::io::stderr().is_terminal() || std::env::var_os("CI").is_some() {
            return Self(None);
        }
        let bar = ProgressBar::new_spinner();
        if let Ok(style) = ProgressStyle::with_template("{spinner} {elapsed} {wide_msg}") {
            bar.set_style(style);
        }
        bar.set_message(doing.to_owned());
        bar.enable_steady_tick(Duration::from_millis(120));
        Self(Some(bar))
    }

    /// An observer that keeps the line up to date. An estimate is printed with or without a terminal.
    pub(crate) fn watch(&self) -> Watch {
        let bar = self.0.clone();
        Watch::new(move |progress| {
            if let Progress::Estimate { runs, quick_runs, run, jobs } = progress {
                let line =
                    estimated(runs, quick_runs, |runs| run * u32::try_from(runs.div_ceil(jobs)).unwrap_or(u32::MAX));
                return bar.as_ref().map_or_else(|| tell(&line), |bar| bar.println(&line));
            }
            let Some(bar) = &bar else { return };
            bar.set_message(match progress {
                Progress::Estimate { .. } => return,
                Progress::Found { transport, revisions } => {
                    let list: Vec<_> = revisions.iter().map(|r| r.as_str()).collect();
                    format!("{transport}: speaks {}", list.join(", "))
                }
                Progress::Probe { run, probe } => format!("{} {}: {probe}", run.transport, run.revision),
                Progress::Done(run) => format!("{} {}: done", run.transport, run.revision),
            });
        })
    }

    /// Clears the line.
    pub(crate) fn stop(&self) {
        if let Some(bar) = &self.0 {
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
