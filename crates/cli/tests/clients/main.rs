//! The verbs that change configurations of clients, as a user runs them: each in a new home, on real files.

mod adding;
mod bench;
mod defects;
mod golden;
mod home;
#[path = "../shared/printed.rs"]
mod printed;
mod restricting;
mod showing;
mod unset;
