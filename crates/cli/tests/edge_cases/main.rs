//! Servers that are in order and yet unlike most: with little to offer, slow to start, behind a path or a token, with more
//! tools than anybody reads. The real binary has to judge each of them, fault none, and say what a person can act on. How
//! much was judged is held too: a check of nothing would be as clean.

mod catalogue;
#[path = "../bad_input/harness.rs"]
#[expect(dead_code, reason = "bad input needs more of it")]
mod harness;
#[path = "../shared/serving.rs"]
mod serving;
#[path = "../shared/signal.rs"]
mod signal;
mod verdicts;

mod offers;
mod places;
mod sizes;
