//! Did a model choose the right tools and fill them right? Tool calls from many formats ([`import`]), expected calls
//! ([`case`]), and what the two come to ([`score`], [`summary`]).
//!
//! Pure: it knows no model, runtime, clock, file or socket. Whatever a stranger wrote is bounded here.

pub mod bfcl;
pub mod call;
pub mod case;
pub mod catalogue;
mod date;
pub mod export;
pub mod foreign;
pub mod gorilla;
pub mod import;
mod jsonl;
pub mod judge;
pub mod lint;
pub mod listed;
mod matcher;
pub mod python;
pub mod recording;
pub mod retrieve;
pub mod score;
pub mod stats;
pub mod summary;

/// What reports say of a value that is not there.
pub const NOTHING: &str = "nothing";

/// The name of a tool, for a person.
fn shown_name(name: &str) -> String {
    wire::escape::snippet(name, 60)
}

pub use call::{Parse, Sample, ToolCall};
pub use case::{Case, CaseFile};
pub use catalogue::Catalogue;
pub use matcher::Matcher;
