//! The verbs that change configurations of clients, as a user runs them: in a home of their own, against real files.

mod adding;
mod bench;
mod defects;
mod golden;
mod home;
#[path = "../shared/printed.rs"]
mod printed;
mod showing;
