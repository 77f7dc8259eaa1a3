//! Elicitation in full: a form with every kind of field the revision has, with defaults, and a page to visit
//! (client/elicitation).

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Map, Value, json};
use wire::revision::{R2025_06_18, R2025_11_25};
use wire::serf::Category;
use wire::{Era, Revision};

use crate::Server;
use crate::catalogue::{Hints, Invocation, Outcome, Question, Tool, ask};

/// A page that says that it is an example.
const PAGE: &str = "https://example.com/";

pub(super) fn tools() -> Vec<Tool> {
    vec![
        Tool::later("ask_form", "Asks the user to fill in a form with a field of every kind", form)
            .titled("Ask with a form")
            .since(R2025_06_18)
            .hints(Hints::ASKS),
        Tool::later("ask_url", "Asks the user to visit a page", url)
            .titled("Ask to visit a page")
            .since(R2025_11_25)
            .hints(Hints::ASKS),
    ]
}

async fn form(server: Server, invocation: Invocation) -> Outcome {
    let schema = schema(invocation.call.context.revision);
    let question = Question::form("form", "Please tell us about yourself", schema);
    match ask(&server, &invocation, vec![question]).await {
        Ok(answers) if answers[0]["action"] == "accept" => {
            Outcome::text(format!("You filled in: {}", answers[0]["content"]))
        }
        Ok(_) => Outcome::text("You filled in nothing."),
        Err(unanswered) => unanswered.into(),
    }
}

/// A form of every kind of field that `revision` has.
fn schema(revision: Revision) -> Value {
    let mut fields = plain_fields();
    if revision.at_least(R2025_11_25) {
        fields.extend(choices());
        add_defaults(&mut fields);
    }
    json!({ "type": "object", "properties": fields, "required": ["name"] })
}

fn object(value: Value) -> Map<String, Value> {
    if let Value::Object(members) = value { members } else { Map::new() }
}

fn plain_fields() -> Map<String, Value> {
    object(json!({
        "name": { "type": "string", "title": "Name", "description": "What we call you", "minLength": 1, "maxLength": 80 },
        "email": { "type": "string", "title": "E-mail", "format": "email" },
        "homepage": { "type": "string", "title": "Home page", "format": "uri" },
        "birthday": { "type": "string", "title": "Birthday", "format": "date" },
        "appointment": { "type": "string", "title": "Appointment", "format": "date-time" },
        "age": { "type": "integer", "title": "Age", "minimum": 0, "maximum": 150 },
        "height": { "type": "number", "title": "Height", "description": "In metres", "minimum": 0, "maximum": 3 },
        "newsletter": { "type": "boolean", "title": "Newsletter", "default": false },
        "plan": {
            "type": "string", "title": "Plan", "enum": ["free", "team"], "enumNames": ["For one", "For many"],
        },
        "language": { "type": "string", "title": "Language", "enum": ["en", "de", "fr"] },
    }))
}

/// The kinds of choice that came with 2025-11-25.
fn choices() -> Map<String, Value> {
    object(json!({
        "size": {
            "type": "string", "title": "Size",
            "oneOf": [{ "const": "s", "title": "Small" }, { "const": "l", "title": "Large" }],
        },
        "colours": {
            "type": "array", "title": "Colours", "minItems": 0, "maxItems": 3,
            "items": { "type": "string", "enum": ["red", "green", "blue"] },
        },
        "days": {
            "type": "array", "title": "Days", "minItems": 1, "maxItems": 2,
            "items": { "anyOf": [{ "const": "sat", "title": "Saturday" }, { "const": "sun", "title": "Sunday" }] },
        },
    }))
}

/// Every kind of field may have one since 2025-11-25.
fn add_defaults(fields: &mut Map<String, Value>) {
    for (name, default) in [
        ("name", json!("Ada")),
        ("email", json!("ada@example.com")),
        ("homepage", json!("https://example.com/ada")),
        ("birthday", json!("1815-12-10")),
        ("appointment", json!("2026-07-28T12:00:00Z")),
        ("age", json!(36)),
        ("height", json!(1.65)),
        ("plan", json!("free")),
        ("language", json!("en")),
        ("size", json!("s")),
        ("colours", json!(["green"])),
        ("days", json!(["sat", "sun"])),
    ] {
        fields[name]["default"] = default;
    }
}

async fn url(server: Server, invocation: Invocation) -> Outcome {
    let mut bytes = [0; 12];
    if getrandom::fill(&mut bytes).is_err() {
        return Outcome::failure(Category::InternalError, "The system gives no randomness to name the visit with");
    }
    let id = URL_SAFE_NO_PAD.encode(bytes);
    let question = Question::url("page", "Please visit this page, and come back", PAGE, id.clone());
    match ask(&server, &invocation, vec![question]).await {
        Ok(answers) if answers[0]["action"] == "accept" => {
            // Nobody tells us of the visit, so it is over once the user agreed to it. Modern servers do not tell.
            if invocation.call.context.era() == Era::Legacy {
                let done = json!({ "elicitationId": id });
                invocation.notify("notifications/elicitation/complete", done);
            }
            Outcome::text("Thank you for the visit.")
        }
        Ok(_) => Outcome::text("You would rather not go there."),
        Err(unanswered) => unanswered.into(),
    }
}
