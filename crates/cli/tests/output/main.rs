//! What the binary prints, as a person and as a program read it: help, explanations, and reports on small recordings that
//! lie beside this folder. Snapshots show the words; the rest holds what must be true of any report.
//!
//! Snapshots name the rules they judge by, so that a new rule does not change them.

mod action;
mod baseline;
mod colours;
mod environment;
mod formats;
mod harness;
mod html;
mod human;
mod json;
mod learned;
mod options;
#[path = "../shared/printed.rs"]
mod printed;
mod saved;
mod scan;
mod scan_clients;
mod scan_formats;
mod scan_intrusive;
mod secrets;
#[path = "../shared/serving.rs"]
mod serving;
mod traces;
mod verdicts;
mod words;
mod written;
