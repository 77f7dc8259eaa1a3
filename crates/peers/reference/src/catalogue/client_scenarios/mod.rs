//! What clients are tried out with: tools and the like under the names that the official suite's client scenarios use, and
//! tools that a client is to be wary of.

mod forms;
mod headers;
mod names;
mod rounds;
mod schemas;
mod wary;

use std::time::Duration;

use serde_json::{Value, json};
use wire::revision::R2025_06_18;

use super::prompt::Prompt;
use super::resource::{Body, Contents, Resource};
use super::{Catalogue, Hints, Invocation, Outcome, Question, TaskSupport, Tool, ask};
use crate::Server;

/// How long a task runs that is to be cancelled.
const MINUTE: Duration = Duration::from_mins(1);

/// Before a stream is given back, and before its answer is there.
const STEP: Duration = Duration::from_millis(50);

pub(super) fn catalogue() -> Catalogue {
    let own = vec![add(), defaults(), reconnection()];
    offer([own, rounds::tools(), headers::tools(), schemas::tools()].concat())
}

/// The same, with tools whose headers are not to be used.
pub(super) fn invalid_headers() -> Catalogue {
    offer(headers::invalid())
}

/// Names, URIs and arguments at the edges of what is allowed.
pub(super) fn odd_names() -> Catalogue {
    names::catalogue()
}

/// Forms that leave little room.
pub(super) fn strict_forms() -> Catalogue {
    forms::catalogue()
}

/// A tool, and neither resources nor prompts.
pub(super) fn one_tool() -> Catalogue {
    Catalogue { tools: vec![add()], ..Catalogue::new("proof-scenarios", env!("CARGO_PKG_VERSION")) }
}

/// A tool that only runs as a task, and for longer than clients wait.
pub(super) fn long_task() -> Catalogue {
    let tool = Tool::later("outlasts_patience", "Takes a minute", |_, _| async {
        tokio::time::sleep(MINUTE).await;
        Outcome::text("Done after a minute")
    });
    Catalogue {
        tools: vec![tool.tasks(TaskSupport::Required)],
        ..Catalogue::new("proof-scenarios", env!("CARGO_PKG_VERSION"))
    }
}

/// A tool that is not declared read-only.
pub(super) fn writing_tool() -> Catalogue {
    offer(vec![Tool { hints: None, ..add() }])
}

pub(super) use self::headers::calls;

/// Tools whose schemas and icons name places at `origin`, which nobody has any business with.
pub(super) fn places(origin: &str) -> Catalogue {
    offer(wary::tools(origin))
}

fn offer(tools: Vec<Tool>) -> Catalogue {
    Catalogue {
        title: Some("Proofhouse, to try clients out with".into()),
        tools,
        resources: resources(),
        prompts: vec![Prompt::now("test_prompt", "A prompt without arguments", |_, _| {
            Outcome::messages(vec![json!({ "role": "user", "content": { "type": "text", "text": "Say hello." } })])
        })],
        ..Catalogue::new("proof-scenarios", env!("CARGO_PKG_VERSION"))
    }
}

fn resources() -> Vec<Resource> {
    let resource = |uri: &'static str, name: &'static str| Resource {
        uri: uri.into(),
        name: name.into(),
        title: None,
        description: None,
        mime_type: "text/plain".into(),
        annotations: None,
        is_unlisted: false,
        comes_and_goes: false,
        contents: Contents::Fixed(Body::Text("A text.".into())),
        delay: Duration::ZERO,
        refusal: None,
    };
    vec![
        resource("file:///path/to/file%20name.txt", "escaped"),
        resource("https://example.com/resource?id=123", "with-query"),
        resource("scenario://plain", "plain"),
    ]
}

fn add() -> Tool {
    let properties = json!({ "a": { "type": "number" }, "b": { "type": "number" } });
    Tool::now("add_numbers", "Adds two numbers", |_, invocation| {
        let number = |name: &str| invocation.arguments.get(name).and_then(Value::as_f64).unwrap_or_default();
        Outcome::text(format!("The sum is {}", number("a") + number("b")))
    })
    .takes(properties, &["a", "b"])
}

fn defaults() -> Tool {
    let fields = json!({
        "name": { "type": "string", "default": "John Doe" },
        "age": { "type": "integer", "default": 30 },
        "score": { "type": "number", "default": 95.5 },
        "status": { "type": "string", "enum": ["active", "inactive", "pending"], "default": "active" },
        "verified": { "type": "boolean", "default": true },
    });
    Tool::later("test_client_elicitation_defaults", "Asks with a default for every field", move |server, invocation| {
        let schema = json!({ "type": "object", "properties": fields });
        asked(server, invocation, Question::form("defaults", "Please look this over", schema))
    })
    .since(R2025_06_18)
    .hints(Hints::ASKS)
}

async fn asked(server: Server, invocation: Invocation, question: Question) -> Outcome {
    match ask(&server, &invocation, vec![question]).await {
        Ok(answers) => Outcome::text(format!("The client answered: {}", answers[0])),
        Err(unanswered) => unanswered.into(),
    }
}

fn reconnection() -> Tool {
    Tool::later(
        "test_reconnection",
        "Gives its stream back, and answers whoever comes for it",
        |_, invocation| async move {
            tokio::time::sleep(STEP).await;
            invocation.call.link.release_stream();
            tokio::time::sleep(STEP * 2).await;
            Outcome::text("You came back")
        },
    )
}
