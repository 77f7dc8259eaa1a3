//! Simulated jobs.
fn main() {}
