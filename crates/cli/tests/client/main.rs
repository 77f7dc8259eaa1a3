//! `proof client` as a process: against the reference server over everything that it speaks, and against servers that do
//! less, or other, than they ought to.

mod answers;
mod completion;
mod conventions;
mod faults;
mod harness;
mod misuse;
mod odd;
#[path = "../shared/serving.rs"]
mod serving;
mod shown;
#[path = "../shared/signal.rs"]
mod signal;
mod speed;
mod suite;
mod watch;
mod ways;
