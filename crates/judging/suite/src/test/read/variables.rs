//! Reads variables and the texts that use them.

use document::{Filled, Pattern, Wrong, nearest, quoted, size};
use serde_json::{Map, Value, json};
use wire::pointer;

use super::{MAX_BYTES, Reader, Step};
use crate::test::model;

impl Reader<'_> {
    /// Fills in the variables, each from the ones before it.
    pub(super) fn vars(&mut self, vars: Map<String, Value>) -> Value {
        let mut filled = json!({});
        let mut room = MAX_BYTES;
        for (at, (name, value)) in vars.into_iter().enumerate() {
            let pointer = pointer::member("/vars", &name);
            let value = self.filled(&value, &pointer, Step::Var(at)).fill(&filled).ok().filter(|value| {
                let left = room.checked_sub(size(value));
                room = left.unwrap_or_default();
                left.is_some()
            });
            match value {
                Some(value) => filled[name] = value,
                None => self.error(&pointer, "the variables are too long when filled in", "use shorter values"),
            }
        }
        filled
    }

    /// Records which case captures which variable.
    pub(super) fn add_captures(&mut self, cases: &[Option<model::CaseEntry>], list: &str, before: usize) {
        for (at, case) in cases.iter().enumerate() {
            for name in case.iter().flat_map(|case| case.capture.keys()) {
                if self.known.insert(name.clone(), Step::Case(before + at)).is_some() {
                    let pointer = format!("{list}/{at}/capture/{name}");
                    let what = format!("the variable {} is already set", quoted(name));
                    self.error(&pointer, what, "another name");
                }
            }
        }
    }

    pub(super) fn pattern(&mut self, text: &str, pointer: &str, here: Step) -> Option<Pattern> {
        match Pattern::parse(text, "vars") {
            Ok(pattern) => {
                self.check_variables(pattern.names().map(str::to_owned).collect(), pointer, here);
                Some(pattern)
            }
            Err(Wrong { what, remedy }) => {
                self.error(pointer, what, remedy);
                None
            }
        }
    }

    pub(super) fn filled(&mut self, value: &Value, pointer: &str, here: Step) -> Filled {
        let mut wrongs = Vec::new();
        let filled = Filled::parse(value, "vars", &mut |below, wrong| wrongs.push((below.to_owned(), wrong)));
        self.wrongs(pointer, wrongs);
        let names = filled.patterns().into_iter().flat_map(|pattern| pattern.names().map(str::to_owned)).collect();
        self.check_variables(names, pointer, here);
        filled
    }

    pub(super) fn wrongs(&mut self, pointer: &str, wrongs: Vec<(String, Wrong)>) {
        for (below, Wrong { what, remedy }) in wrongs {
            self.error(&format!("{pointer}{below}"), what, remedy);
        }
    }

    /// Reports variables that are not set at `here`.
    pub(super) fn check_variables(&mut self, names: Vec<String>, pointer: &str, here: Step) {
        for name in names {
            self.uses.insert(name.clone());
            match self.known.get(&name) {
                Some(step) if *step < here => {}
                Some(step) => {
                    let (what, remedy) = match (here, step) {
                        (Step::Var(_), Step::Case(_)) => ("is captured by a case, after `vars`", "a fixed value"),
                        (Step::Var(_), _) if *step == here => ("uses itself", "another value"),
                        (Step::Var(_), _) => ("is defined below", "move it up: a variable uses those above it"),
                        (Step::Case(_), _) if *step == here => {
                            ("is captured by this same case", "an earlier case, or `vars`")
                        }
                        (Step::Case(_), _) => ("is captured by a later case", "an earlier case, or `vars`"),
                    };
                    self.error(pointer, format!("{} {what}", quoted(&name)), remedy);
                }
                // Its capture did not fit, which is reported.
                None if self.captured.contains(&name) => {}
                None => {
                    let mut known: Vec<&str> = self.known.keys().map(String::as_str).collect();
                    known.sort_unstable();
                    let what = format!("unknown variable {}", quoted(&name));
                    let remedy = if known.is_empty() {
                        "`vars`, or `capture` in an earlier case".to_owned()
                    } else {
                        nearest(&name, known.into_iter())
                    };
                    self.error(pointer, what, remedy);
                }
            }
        }
    }
}
