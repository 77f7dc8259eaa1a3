//! The user of attacks: fills in forms, and confirms nothing that asks for no more than a yes.

use client::{Abilities, Answering, Question, Respondent};
use serde_json::{Map, Value, json};

use crate::test::{Consent, Scripted};

/// Accepts forms with fields, with invented values. A form without fields asks whether something may be done: it may not.
#[derive(Debug)]
pub(super) struct User(Scripted);

impl Default for User {
    fn default() -> Self {
        Self(Scripted { consent: Some(Consent::Accept), makes_up: true, ..Scripted::default() })
    }
}

impl Respondent for User {
    fn abilities(&self) -> Abilities {
        self.0.abilities()
    }

    fn answer(&self, question: Question) -> Answering {
        let asks_only = match &question {
            Question::Form { schema, .. } => schema["properties"].as_object().is_none_or(Map::is_empty),
            _ => false,
        };
        if asks_only {
            return Box::pin(async { Ok::<Value, _>(json!({ "action": "decline" })) });
        }
        self.0.answer(question)
    }
}

#[cfg(test)]
mod tests {
    use client::{Question, Respondent as _};
    use serde_json::json;

    use super::User;

    #[tokio::test]
    async fn a_confirmation_without_fields_is_declined() {
        let boolean = json!({ "type": "boolean" });
        for (schema, action) in [
            (json!({ "type": "object", "properties": {} }), "decline"),
            (json!({ "type": "object" }), "decline"),
            (json!({ "type": "object", "properties": { "sure": boolean }, "required": ["sure"] }), "accept"),
        ] {
            let answer = User::default().answer(Question::Form { message: "Sure?".to_owned(), schema }).await;
            assert_eq!(answer.expect("an answer")["action"], action);
        }
    }
}
