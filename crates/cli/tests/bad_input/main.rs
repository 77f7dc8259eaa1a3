//! Bad input gets a clear answer: the real binary against servers that fail in every way we could think of, and against
//! command lines that make no sense. Each time it ends in time, says *what happened – where – try this*, gives the exit
//! code of its documentation, and leaves neither process nor memory behind. Knows the binary from outside only.

mod children;
mod fake_http;
mod harness;
#[path = "../shared/signal.rs"]
mod signal;

mod answering;
mod files;
mod greetings;
mod http;
mod process;
mod signals;
mod text;
mod tls;
mod usage;
