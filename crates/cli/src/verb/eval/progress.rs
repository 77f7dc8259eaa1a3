//! How far a run is: one line on a terminal, nothing elsewhere.

use std::io::IsTerminal as _;
use std::sync::Mutex;
use std::time::Duration;

use agent::Progress;
use indicatif::{ProgressBar, ProgressStyle};

/// A line on stderr that comes and goes.
pub(super) struct Bar {
    bar: Option<ProgressBar>,
    /// What is counted.
    what: &'static str,
}

impl Bar {
    pub(super) fn start(what: &'static str) -> Self {
        if !std::io::stderr().is_terminal() || std::env::var_os("CI").is_some() {
            return Self { bar: None, what };
        }
        let bar = ProgressBar::new_spinner();
        if let Ok(style) = ProgressStyle::with_template("{spinner} {elapsed} {wide_msg}") {
            bar.set_style(style);
        }
        bar.enable_steady_tick(Duration::from_millis(120));
        Self { bar: Some(bar), what }
    }

    /// Keeps the line up to date.
    pub(super) fn watch(&self) -> impl Fn(Progress<'_>) + Send + Sync + 'static {
        let (bar, what) = (self.bar.clone(), self.what);
        // Attempts that are over, all of them, answers.
        let counts = Mutex::new((0, 0, 0));
        move |progress| {
            let (Some(bar), Ok(mut counts)) = (&bar, counts.lock()) else { return };
            let mut waits = String::new();
            match progress {
                Progress::Attempts { done, total } => (counts.0, counts.1) = (done, total),
                Progress::Answered => counts.2 += 1,
                Progress::Waits { why, wait } => {
                    waits = format!("; waiting {:.0} s: {}", wait.as_secs_f64().ceil(), wire::escape::snippet(why, 60));
                }
            }
            let (done, total, answers) = *counts;
            bar.set_message(format!("{done} of {total} {what}, {answers} answers{waits}"));
        }
    }

    /// Clears the line.
    pub(super) fn stop(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
