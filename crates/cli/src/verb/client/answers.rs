//! The answers of the command line, and what became of them: a form that they do not fit is an error, not a silent refusal.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use client::{Abilities, Answering, Given, Question, Respondent, fill, wants};
use serde_json::Value;
use suite::test::{Consent, Scripted};
use wire::escape::snippet;

use crate::args::suggestion;
use crate::exit::{Exit, tell, usage};

/// How much of a name, and of all fields, is shown.
const SHOWN: usize = 400;
/// How many fields of forms are remembered.
const MAX_FIELDS: usize = 200;

/// What became of the answers.
#[derive(Default)]
struct Outcome {
    /// Whether the server asked anything that `--answer` answers.
    was_asked: bool,
    /// The fields of all forms, as they are shown.
    fields: BTreeSet<(String, String)>,
    /// Why a form could not be filled in.
    misfit: Option<String>,
}

/// Answers of the command line.
#[derive(Clone)]
pub(super) struct Answers {
    pub(super) scripted: Scripted,
    outcome: Arc<Mutex<Outcome>>,
}

impl Answers {
    pub(super) fn new(scripted: Scripted) -> Self {
        Self { scripted, outcome: Arc::default() }
    }

    /// Reports answers that fitted no question; `exit` is the exit code of the request.
    pub(super) fn settle(&self, exit: Exit) -> Exit {
        let outcome = self.outcome.lock().unwrap_or_else(PoisonError::into_inner);
        if self.scripted.consent.is_some() && !outcome.was_asked && exit == Exit::Clean {
            tell("note: the server asked nothing, so --answer was not used");
        }
        if outcome.fields.is_empty() {
            return exit;
        }
        let shown: Vec<String> = outcome.fields.iter().map(|(name, wanted)| format!("{name} ({wanted})")).collect();
        let fields = format!("the form has {}", snippet(&shown.join(", "), SHOWN));
        if let Some((unknown, _)) = self.scripted.fields.iter().find(|(name, _)| !outcome.has(name)) {
            let what = format!("--answer: no form of the server has the field `{}`", snippet(unknown, SHOWN));
            let similar = suggestion(unknown, outcome.fields.iter().map(|(name, _)| name.as_str()));
            let remedy = similar.map_or_else(|| fields.clone(), |name| format!("`{}`; {fields}", snippet(name, SHOWN)));
            return usage(&what, &remedy);
        }
        match &outcome.misfit {
            Some(why) => usage(&format!("--answer does not fit the form: {}", snippet(why, SHOWN)), &fields),
            None => exit,
        }
    }
}

impl Outcome {
    fn has(&self, field: &str) -> bool {
        self.fields.iter().any(|(name, _)| name == field)
    }

    fn take_form(&mut self, schema: &Value, given: &[(String, Given)]) {
        for (name, field) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
            if self.fields.len() < MAX_FIELDS {
                self.fields.insert((name.clone(), wants(field, schema)));
            }
        }
        if let Err(error) = fill(schema, given) {
            self.misfit.get_or_insert(error.0);
        }
    }
}

impl Respondent for Answers {
    fn abilities(&self) -> Abilities {
        self.scripted.abilities()
    }

    fn answer(&self, question: Question) -> Answering {
        let mut outcome = self.outcome.lock().unwrap_or_else(PoisonError::into_inner);
        match &question {
            Question::Form { schema, .. } => {
                outcome.was_asked = true;
                if self.scripted.consent == Some(Consent::Accept) {
                    outcome.take_form(schema, &self.scripted.fields);
                }
            }
            Question::Url { .. } => outcome.was_asked = true,
            Question::Roots | Question::Sampling(_) => {}
        }
        drop(outcome);
        self.scripted.answer(question)
    }
}

#[cfg(test)]
mod tests {
    use client::{Given, Question, Respondent as _};
    use serde_json::json;
    use suite::test::{Consent, Scripted};

    use super::Answers;
    use crate::exit::Exit;

    fn after(answers: &[(&str, &str)]) -> Exit {
        let fields = answers.iter().map(|(name, text)| ((*name).to_owned(), Given::Text((*text).to_owned()))).collect();
        let answers = Answers::new(Scripted { consent: Some(Consent::Accept), fields, ..Scripted::default() });
        for (name, field) in [("name", json!({ "type": "string" })), ("colour", json!({ "enum": ["red", "blue"] }))] {
            let schema = json!({ "type": "object", "properties": { name: field } });
            drop(answers.answer(Question::Form { message: "?".to_owned(), schema }));
        }
        answers.settle(Exit::Clean)
    }

    #[test]
    fn a_field_may_belong_to_any_form_of_the_call() {
        assert_eq!(after(&[("name", "Ada"), ("colour", "red")]), Exit::Clean);
        assert_eq!(after(&[("naem", "Ada")]), Exit::Usage);
        assert_eq!(after(&[("colour", "mauve")]), Exit::Usage);
        assert_eq!(Answers::new(Scripted::default()).settle(Exit::Finding), Exit::Finding);
    }
}
