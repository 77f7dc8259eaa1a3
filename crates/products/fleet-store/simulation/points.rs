//! Stops this process at a named point (`stop=POINT:N`, the Nth time): says so on stdout, and goes on when a line comes in.

use std::io::{Write as _, stdin, stdout};
use std::sync::atomic::{AtomicU64, Ordering};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

use super::Failed;
use super::arguments::Arguments;

/// What points are traced as.
const TARGET: &str = "fleet_store::point";

struct Stop {
    point: String,
    nth: u64,
    seen: AtomicU64,
}

/// Stops where the arguments say.
pub(crate) fn stop_at(arguments: &Arguments) -> Result<(), Failed> {
    let Some(stop) = arguments.find("stop") else { return Ok(()) };
    let (point, nth) = stop.split_once(':').ok_or("stop=POINT:N is meant")?;
    let stop = Stop { point: point.to_owned(), nth: nth.parse()?, seen: AtomicU64::new(0) };
    Ok(tracing::subscriber::set_global_default(stop)?)
}

/// A point of the simulation itself.
pub(crate) fn reached(point: &'static str) {
    tracing::trace!(target: "fleet_store::point", point);
}

impl Subscriber for Stop {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == TARGET
    }

    fn event(&self, event: &Event<'_>) {
        let mut is_it = Is { point: &self.point, is_it: false };
        event.record(&mut is_it);
        if is_it.is_it && self.seen.fetch_add(1, Ordering::SeqCst) + 1 == self.nth {
            println!("at {}", self.point);
            let _ = stdout().flush();
            let _ = stdin().read_line(&mut String::new());
        }
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

struct Is<'a> {
    point: &'a str,
    is_it: bool,
}

impl Visit for Is<'_> {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.is_it |= field.name() == "point" && value == self.point;
    }

    fn record_debug(&mut self, _: &Field, _: &dyn std::fmt::Debug) {}
}
