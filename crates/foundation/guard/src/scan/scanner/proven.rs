//! Findings that calls proved, in place of texts that were read.

use super::super::model::{Kind, Place};
use super::super::rule::{Rule, Severity};
use super::{Observation, Scanner, finding};

/// A finding that a call proved.
#[derive(Clone, Debug)]
pub struct Proven {
    /// The rule.
    pub rule: &'static Rule,
    /// How bad it is.
    pub severity: Severity,
    /// The kind of the item.
    pub kind: Kind,
    /// The item's name.
    pub item: String,
    /// JSON pointer within the item.
    pub pointer: String,
    /// What was sent, with names in place of what differs from run to run; or the text that the finding is about.
    pub text: String,
    /// The proof, in one sentence.
    pub message: String,
}

impl Scanner {
    /// Notes how often a rule that calls the server tried to prove its subject. A rule that was never tried has no verdict.
    pub fn note_tried(&mut self, rule: &'static Rule, times: usize) {
        if times > 0 {
            *self.scan.tried.entry(rule.id).or_default() += times;
        }
    }

    /// Adds a finding that a call proved.
    pub fn proven(&mut self, server: &str, proven: &Proven) {
        self.server(server);
        let Proven { rule, severity, kind, item, pointer, text, message } = proven;
        let place =
            Place { server: server.to_owned(), kind: *kind, item: item.clone(), pointer: pointer.clone(), span: 0..0 };
        let observed = Observation {
            span: 0..text.len(),
            severity: *severity,
            weight: rule.weight,
            message: message.clone(),
            decoded: None,
        };
        let mut found = finding(rule, place, text, observed);
        // What was sent stands nowhere in the item.
        found.place.span = 0..0;
        self.push(found);
    }
}
