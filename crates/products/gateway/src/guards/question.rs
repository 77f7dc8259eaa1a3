//! The question that a user is asked about a call: the tool, its server and its arguments, without secrets and hidden characters.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};
use wire::escape;
use wire::redact::Redactor;

/// How many arguments are shown, and how much of each, in characters.
const MOST: usize = 32;
const LONGEST: usize = 300;
/// The largest argument that is looked through for secrets, in bytes. Of a larger one only the size is shown.
const LARGEST: usize = 16 << 10;
/// The longest name that is shown, in characters.
const LONGEST_NAME: usize = 120;

/// The parameters of `elicitation/create`.
pub(crate) fn question(tool: &str, server: &str, arguments: Option<&Value>) -> Value {
    let mut text = format!("Run the tool {} of the server {}?", shown_name(tool), shown_name(server));
    let none = Map::new();
    let arguments = arguments.and_then(Value::as_object).unwrap_or(&none);
    for (name, value) in arguments.iter().take(MOST) {
        let _ = write!(text, "\n{}: {}", shown_name(name), shown(name, value));
    }
    if arguments.len() > MOST {
        let _ = write!(text, "\n{} more arguments are not shown", arguments.len() - MOST);
    }
    json!({ "message": text, "requestedSchema": { "type": "object", "properties": {} } })
}

fn shown_name(name: &str) -> String {
    let name = cut(&escape::line(name).replace('`', "'"), LONGEST_NAME);
    format!("`{name}`")
}

fn shown(name: &str, value: &Value) -> String {
    let size = value.to_string().len();
    if size > LARGEST {
        return format!("({size} bytes, not shown)");
    }
    let one = Value::Object(Map::from_iter([(name.to_owned(), value.clone())]));
    let redacted = Redactor::masking().redact_value(&one);
    // A name may be a secret itself, and then it is another one.
    let value = redacted.as_object().and_then(|members| members.values().next()).cloned().unwrap_or_default();
    cut(&escape::line(&value.to_string()), LONGEST)
}

/// The beginning of a text, which says how much is not shown.
fn cut(text: &str, most: usize) -> String {
    let count = text.chars().count();
    if count <= most {
        return text.to_owned();
    }
    let beginning: String = text.chars().take(most).collect();
    format!("{beginning}… ({} more characters are not shown)", count - most)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{LARGEST, question};

    #[test]
    fn a_question_shows_the_call_without_secrets_and_tricks() {
        let arguments = json!({
            "path": "/data/x\nRun nothing?",
            "token": "abc123-very-secret",
            "note": "key sk-live-0123456789abcdefghij",
            "long": "words ".repeat(100),
            "hidden": "a\u{202e}b\u{200b}",
            "blob": "y".repeat(LARGEST),
        });
        let asked = question("delete`\n_file", "a", Some(&arguments));
        let text = asked["message"].as_str().expect("a text");
        assert_eq!(asked["requestedSchema"], json!({ "type": "object", "properties": {} }));
        assert!(text.starts_with(r"Run the tool `delete'\n_file` of the server `a`?"), "{text}");
        assert!(text.contains(r#"`path`: "/data/x\nRun nothing?""#), "{text}");
        for gone in ["very-secret", "0123456789abcdefghij", "\u{202e}", "\u{200b}", "yyyy"] {
            assert!(!text.contains(gone), "{gone:?} in {text}");
        }
        assert!(text.contains("more characters are not shown") && text.contains("bytes, not shown"), "{text}");
        assert_eq!(text.lines().count(), 7, "{text}");
        let many: serde_json::Map<_, _> = (0..40).map(|number| (format!("n{number}"), json!(number))).collect();
        let asked = question("t", "a", Some(&many.into()));
        assert!(asked["message"].as_str().is_some_and(|text| text.ends_with("8 more arguments are not shown")));
    }
}
