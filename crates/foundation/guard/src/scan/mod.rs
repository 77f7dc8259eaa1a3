//! Static examination of every string that a model may see. Bounded in time and memory, whatever the input.

pub(crate) mod active;
mod annotations;
mod bidi;
mod confusable;
mod coverage;
mod encoded;
mod flows;
mod hidden;
mod launch;
mod markup;
mod model;
mod names;
mod parameters;
mod phrasing;
mod rule;
mod rules;
mod scanner;
mod scripts;
mod secrets;
mod terminal;
mod text;
mod walk;

pub use active::ACTIVE;
pub use coverage::{Coverage, coverage};
pub use model::{Finding, Item, Kind, Place, Scan};
pub use rule::{Class, Confidence, Phase, Rule, Severity, Threat};
pub use rules::{OWASP, RULES, find};
pub use scanner::{Proven, Scanner};
pub use walk::{Found, items, listed, search};

#[cfg(test)]
mod evasion_tests;
#[cfg(test)]
mod tests;
