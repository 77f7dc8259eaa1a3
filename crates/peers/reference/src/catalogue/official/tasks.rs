//! Tools whose calls run as tasks (io.modelcontextprotocol/tasks), where the client can deal with that.

use std::time::Duration;

use net::service::RpcError;
use serde_json::{Value, json};
use wire::revision::R2025_06_18;

use super::form;
use crate::Server;
use crate::catalogue::{Hints, Invocation, Outcome, Question, TaskSupport, Tool, ask};

/// The most seconds that anything here takes.
const LONGEST: u64 = 300;

pub(super) fn tools() -> Vec<Tool> {
    vec![
        Tool::now("greet", "Greets, and never as a task", |_, invocation| {
            Outcome::text(format!("Hello, {}!", invocation.text("name").unwrap_or("whoever you are")))
        })
        .takes(json!({ "name": { "type": "string" } }), &["name"]),
        slow_compute(),
        Tool::later("failing_job", "Works for a second and fails, as a task only", |_, _| async {
            tokio::time::sleep(Duration::from_secs(1)).await;
            Outcome::plain_failure("The job failed, as it always does")
        })
        .tasks(TaskSupport::Required),
        Tool::later("protocol_error_job", "Ends with a JSON-RPC error", |_, _| async {
            Outcome::Refused(RpcError::internal("The job broke, as it always does"))
        })
        .tasks(TaskSupport::Optional),
        Tool::later("confirm_delete", "Asks whether to delete a file, and deletes nothing", confirm_delete)
            .takes(json!({ "filename": { "type": "string" } }), &["filename"])
            .since(R2025_06_18)
            .hints(Hints::ASKS)
            .tasks(TaskSupport::Optional),
        Tool::later("multi_input", "Asks for a name and for a yes, both at once", multi_input)
            .since(R2025_06_18)
            .hints(Hints::ASKS)
            .tasks(TaskSupport::Optional),
        Tool::later("test_tool_with_task", "Asks for a name, and then greets as a task", greet_as_task)
            .hints(Hints::ASKS)
            .asking_first(vec![user_name()])
            .tasks(TaskSupport::Required),
    ]
}

fn slow_compute() -> Tool {
    let properties = json!({
        "seconds": { "type": "number", "minimum": 0, "maximum": LONGEST },
        "label": { "type": "string" },
    });
    Tool::later("slow_compute", "Takes as many seconds as it is told", |_, invocation| async move {
        let seconds = invocation.arguments["seconds"].as_f64().unwrap_or(0.0);
        tokio::time::sleep(Duration::try_from_secs_f64(seconds).unwrap_or_default()).await;
        let label = invocation.text("label").unwrap_or("It");
        Outcome::text(format!("{label} took {seconds} seconds"))
    })
    .takes(properties, &["seconds"])
    .tasks(TaskSupport::Optional)
}

fn user_name() -> Question {
    Question::form("user_name", "What is your name?", form(json!({ "name": { "type": "string" } }), &["name"]))
}

fn confirm(message: String) -> Question {
    Question::form("confirm", message, form(json!({ "confirm": { "type": "boolean" } }), &["confirm"]))
}

fn said_yes(answer: &Value) -> bool {
    answer["action"] == "accept" && answer["content"]["confirm"] == true
}

async fn confirm_delete(server: Server, invocation: Invocation) -> Outcome {
    let name = invocation.text("filename").unwrap_or_default().to_owned();
    match ask(&server, &invocation, vec![confirm(format!("Delete {name}?"))]).await {
        Ok(answers) if answers.first().is_some_and(said_yes) => Outcome::text(format!("{name} would be gone now")),
        Ok(_) => Outcome::text(format!("{name} stays")),
        Err(unanswered) => unanswered.into(),
    }
}

async fn multi_input(server: Server, invocation: Invocation) -> Outcome {
    match ask(&server, &invocation, vec![user_name(), confirm("Is that so?".to_owned())]).await {
        Ok(answers) => {
            let yes = answers.get(1).is_some_and(said_yes);
            Outcome::text(format!("{}: {}", name(&answers), if yes { "yes" } else { "no" }))
        }
        Err(unanswered) => unanswered.into(),
    }
}

async fn greet_as_task(server: Server, invocation: Invocation) -> Outcome {
    let answers = if invocation.answers.is_empty() {
        ask(&server, &invocation, vec![user_name()]).await
    } else {
        Ok(invocation.answers.clone())
    };
    match answers {
        Ok(answers) => Outcome::text(format!("Hello, {}!", name(&answers))),
        Err(unanswered) => unanswered.into(),
    }
}

fn name(answers: &[Value]) -> &str {
    let name = answers.first().and_then(|answer| answer.pointer("/content/name")?.as_str());
    name.unwrap_or("whoever you are")
}
