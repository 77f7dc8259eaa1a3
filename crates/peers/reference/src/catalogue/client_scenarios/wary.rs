//! Tools that name places which a client must not go to unasked.

use serde_json::{Value, json};

use wire::Era;
use wire::revision::R2025_11_25;

use crate::catalogue::{Hints, Outcome, Question, Tool, ask};

pub(super) fn tools(origin: &str) -> Vec<Tool> {
    let remote =
        json!({ "type": "object", "properties": { "v": { "$ref": format!("{origin}/schemas/remote.json") } } });
    let dynamic = json!({ "type": "object", "allOf": [{ "$ref": format!("{origin}/schemas/all.json#/$defs/any") }] });
    vec![
        tool("remote_ref", remote.clone()),
        tool("remote_ref_in_all_of", dynamic),
        tool("remote_output", json!({ "type": "object" })).output(remote),
        tool("icon_elsewhere", json!({ "type": "object" })).icon_at(format!("{origin}/icons/one.png")),
        visit(format!("{origin}/pages/visit")),
        visit_anyway(format!("{origin}/pages/anyway")),
        tool("plain", json!({ "type": "object", "additionalProperties": false })),
    ]
}

/// Asks the user to visit a page there.
fn visit(page: String) -> Tool {
    Tool::later("visit_elsewhere", "Asks the user to visit a page", move |server, invocation| {
        let question = Question::url("page", "Please visit this page", page.clone(), "scenario-visit");
        async move {
            match ask(&server, &invocation, vec![question]).await {
                Ok(answers) => Outcome::text(format!("The client answered: {}", answers[0])),
                Err(unanswered) => unanswered.into(),
            }
        }
    })
    .since(R2025_11_25)
    .hints(Hints::ASKS)
}

/// The same, whatever the client declared.
fn visit_anyway(page: String) -> Tool {
    Tool::later("visit_anyway", "Asks every client to visit a page", move |_, invocation| {
        let mut params = json!({ "mode": "url", "message": "Please visit this page", "url": page });
        async move {
            if invocation.call.context.era() == Era::Modern {
                let request = json!({ "method": "elicitation/create", "params": params });
                return if invocation.request_state.is_some() {
                    Outcome::text("You came back")
                } else {
                    Outcome::InputRequired(json!({ "inputRequests": { "page": request }, "requestState": "anyway" }))
                };
            }
            params["elicitationId"] = json!("scenario-anyway");
            // Whatever it answers.
            let _ = invocation.call.link.request("elicitation/create", params).await;
            Outcome::text("Whether you went there is your affair")
        }
    })
    .since(R2025_11_25)
    .hints(Hints::ASKS)
}

fn tool(name: &'static str, schema: Value) -> Tool {
    Tool::now(name, "Names a place in its schema", |_, _| Outcome::text("Called")).input(schema)
}
