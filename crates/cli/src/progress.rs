//! What a person sees while a check runs: one line on a terminal, nothing elsewhere.

use std::io::IsTerminal as _;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use judge::check::{Progress, Watch};

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

    /// An observer that keeps the line up to date.
    pub(crate) fn watch(&self) -> Watch {
        let Some(bar) = self.0.clone() else { return Watch::nobody() };
        Watch::new(move |progress| {
            bar.set_message(match progress {
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
