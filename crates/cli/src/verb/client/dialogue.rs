//! Puts a server's request to a person line by line and makes an answer of what the person types. Text of the server is
//! escaped, and no URL is opened. Must not know where lines come from.

use client::{Answer, Given, Question, Refused, fill, read_answer, wants};
use serde_json::{Value, json};
use suite::test::model_message;
use wire::escape::snippet;

/// How many characters of a text are shown.
const SHOWN: usize = 2000;
/// How many invalid inputs end a question.
const TRIES: usize = 5;

/// A person at a terminal.
pub(super) trait Person {
    /// Shows a line.
    fn show(&mut self, line: &str);

    /// Asks for a line; `None` at the end of the input.
    fn ask(&mut self, prompt: &str) -> Option<String>;
}

/// Puts a request to a person. Roots are not typed.
pub(super) fn ask_person(person: &mut dyn Person, question: &Question) -> Answer {
    match question {
        Question::Roots => Err(Refused::by_user()),
        Question::Sampling(params) => sampled(person, params),
        Question::Form { message, schema } => Ok(filled(person, message, schema)),
        Question::Url { message, url } => {
            person.show(&format!("the server asks: {}", snippet(message, SHOWN)));
            person.show("it asks you to visit this URL, which was not opened:");
            person.show(&format!("  {}", snippet(url, SHOWN)));
            Ok(json!({ "action": consent(person, "agree? [y/n] ") }))
        }
    }
}

/// `accept`, `decline` or, at the end of the input, `cancel`.
fn consent(person: &mut dyn Person, prompt: &str) -> &'static str {
    for _ in 0..TRIES {
        match person.ask(prompt).as_deref().map(str::trim) {
            None => return "cancel",
            Some("y" | "yes" | "Y") => return "accept",
            Some("n" | "no" | "N") => return "decline",
            Some(_) => {}
        }
    }
    "cancel"
}

fn filled(person: &mut dyn Person, message: &str, schema: &Value) -> Value {
    person.show(&format!("the server asks: {}", snippet(message, SHOWN)));
    match consent(person, "fill in its form? [y/n] ") {
        "accept" => {}
        action => return json!({ "action": action }),
    }
    let mut given = Vec::new();
    for (name, field) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
        match typed(person, name, field, schema) {
            Typed::Value(value) => given.push((name.clone(), Given::Json(value))),
            Typed::Skipped => {}
            Typed::Ended => return json!({ "action": "cancel" }),
        }
    }
    match fill(schema, &given) {
        Ok(content) => json!({ "action": "accept", "content": content }),
        Err(error) => {
            person.show(&format!("{}; the question is cancelled", snippet(&error.0, SHOWN)));
            json!({ "action": "cancel" })
        }
    }
}

/// The input for one field.
enum Typed {
    Value(Value),
    Skipped,
    /// The input ended, or was invalid too often.
    Ended,
}

/// Asks for one field.
fn typed(person: &mut dyn Person, name: &str, field: &Value, schema: &Value) -> Typed {
    let title = field.get("title").and_then(Value::as_str).unwrap_or(name);
    if let Some(about) = field.get("description").and_then(Value::as_str) {
        person.show(&format!("  {}", snippet(about, SHOWN)));
    }
    let default = field.get("default").map(|default| format!(", else {default}")).unwrap_or_default();
    let wanted = match wants(field, schema) {
        boolean if boolean == "boolean" => "y or n".to_owned(),
        other => other,
    };
    let prompt = snippet(&format!("  {title} ({wanted}{default}): "), SHOWN);
    let required = schema["required"].as_array().is_some_and(|names| names.iter().any(|other| other == name));
    for _ in 0..TRIES {
        let Some(line) = person.ask(&format!("{prompt} ")) else { return Typed::Ended };
        if line.is_empty() && (field.get("default").is_some() || !required) {
            return Typed::Skipped;
        }
        match read_answer(&line, field, schema) {
            Ok(value) => return Typed::Value(value),
            Err(why) => person.show(&format!("  {why}")),
        }
    }
    Typed::Ended
}

fn sampled(person: &mut dyn Person, params: &Value) -> Answer {
    person.show("the server asks for a model's answer:");
    if let Some(system) = params.get("systemPrompt").and_then(Value::as_str) {
        person.show(&format!("  (system) {}", snippet(system, SHOWN)));
    }
    for message in params["messages"].as_array().into_iter().flatten() {
        let role = message["role"].as_str().unwrap_or("unknown role");
        let content = message["content"]["text"].as_str().map_or_else(|| message["content"].to_string(), str::to_owned);
        person.show(&snippet(&format!("  ({role}) {content}"), SHOWN));
    }
    match person.ask("answer of the model (empty to refuse): ") {
        Some(text) if !text.is_empty() => Ok(model_message(&text, params["maxTokens"].as_u64().unwrap_or(u64::MAX))),
        _ => Err(Refused::by_user()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Typing(Vec<&'static str>, String);

    impl Person for Typing {
        fn show(&mut self, line: &str) {
            self.1.push_str(&[line, "\n"].concat());
        }

        fn ask(&mut self, prompt: &str) -> Option<String> {
            self.1.push_str(&[prompt, "\n"].concat());
            if self.0.is_empty() { None } else { Some(self.0.remove(0).to_owned()) }
        }
    }

    fn asked(typed: &[&'static str], question: &Question) -> (Answer, String) {
        let mut person = Typing(typed.to_vec(), String::new());
        let answer = ask_person(&mut person, question);
        (answer, person.1)
    }

    fn form() -> Question {
        let schema = json!({ "type": "object", "required": ["age"], "properties": {
            "age": { "type": "integer", "minimum": 1 }, "name": { "type": "string", "default": "Ada" },
            "colour": { "enum": ["red", "blue"] } } });
        Question::Form { message: "Who\u{1b}[2J are you?".to_owned(), schema }
    }

    #[test]
    fn a_form_is_filled_in_field_by_field() {
        let (answer, shown) = asked(&["y", "old", "7", "", "blue"], &form());
        let content = json!({ "age": 7, "name": "Ada", "colour": "blue" });
        assert_eq!(answer, Ok(json!({ "action": "accept", "content": content })));
        assert!(shown.contains("`old` is not integer from 1"), "{shown}");
        assert!(!shown.contains('\u{1b}'), "{shown:?}");
    }

    #[test]
    fn choices_are_shown_and_booleans_are_answered_with_y_or_n() {
        let schema = json!({ "type": "object", "properties": {
            "agree": { "type": "boolean" },
            "size": { "oneOf": [{ "const": "s", "title": "Small" }, { "const": "l", "title": "Large" }] },
            "days": { "type": "array", "items": { "enum": ["mon", "tue"] } } } });
        let question = Question::Form { message: "?".to_owned(), schema };
        let (answer, shown) = asked(&["y", "y", "m", "Large", "mon, tue"], &question);
        let content = json!({ "agree": true, "size": "l", "days": ["mon", "tue"] });
        assert_eq!(answer, Ok(json!({ "action": "accept", "content": content })));
        for line in
            ["agree (y or n):", "size (one of s (Small), l (Large)):", "days (any of mon, tue;", "`m` is not one of"]
        {
            assert!(shown.contains(line), "{line}\n{shown}");
        }
    }

    #[test]
    fn a_person_may_decline_and_may_leave() {
        assert_eq!(asked(&["n"], &form()).0, Ok(json!({ "action": "decline" })));
        assert_eq!(asked(&[], &form()).0, Ok(json!({ "action": "cancel" })));
        assert_eq!(asked(&["y", "7"], &form()).0, Ok(json!({ "action": "cancel" })));
        assert_eq!(asked(&["y", "0", "", ""], &form()).0, Ok(json!({ "action": "cancel" })), "0 is less than 1");
    }

    #[test]
    fn an_address_is_shown_whole_and_agreed_to() {
        let question = Question::Url { message: "Pay".to_owned(), url: "https://pay.example/\u{202e}x".to_owned() };
        let (answer, shown) = asked(&["y"], &question);
        assert_eq!(answer, Ok(json!({ "action": "accept" })));
        assert!(shown.contains("https://pay.example/\\u{202e}x"), "{shown}");
    }

    #[test]
    fn a_person_speaks_for_the_model_or_refuses() {
        let params =
            json!({ "messages": [{ "role": "user", "content": { "type": "text", "text": "Hi" } }], "maxTokens": 1 });
        let question = Question::Sampling(params);
        let (answer, shown) = asked(&["Hello"], &question);
        assert_eq!(
            answer.map(|a| (a["content"]["text"].clone(), a["stopReason"].clone())),
            Ok((json!("Hell"), json!("maxTokens")))
        );
        assert!(shown.contains("(user) Hi"), "{shown}");
        assert_eq!(asked(&[""], &question).0, Err(Refused::by_user()));
    }
}
