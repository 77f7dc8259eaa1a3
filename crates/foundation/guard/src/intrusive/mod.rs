//! What `proof scan --intrusive` sends, and what counts as proof. Makes no traffic, plants no file and opens no socket.

mod arguments;
mod attacks;
mod drift;
mod evidence;
mod states;

pub use arguments::{Argument, Step, arguments, is_destructive, spoken_examples};
pub use attacks::{Attack, LINK, PLAIN, Proof, Supplies, attacks, on_resources};
pub use drift::{Change, changes};
pub use evidence::{Observed, is_like, texts};
pub use states::{Altered, altered};

#[cfg(test)]
mod tests;
