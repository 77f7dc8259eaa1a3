//! Models and metadata: what no revision defines, and `proof serve` and some other servers have (docs/serve.md).

use std::fmt::Write as _;
use std::sync::Arc;

use client::{Abilities, Answering, Client, ClientError, Params, Question, Respondent};
use serde_json::{Map, Value, json};
use wire::error_code::METHOD_NOT_FOUND;
use wire::escape::snippet;

use super::{NotPrinted, Printed, show};
use crate::args::client::{ClientVerb, ModelsArgs};
use crate::exit::{Exit, tell};

const MODELS: &str = "io.github.proofhouse/models";
const METADATA: &str = "io.github.proofhouse/metadata";

/// Declares the extension that the verb is about: modern servers serve those methods to clients that know them.
struct Knowing {
    respondent: Arc<dyn Respondent>,
    extensions: &'static [&'static str],
}

impl Respondent for Knowing {
    fn abilities(&self) -> Abilities {
        Abilities { extensions: self.extensions, ..self.respondent.abilities() }
    }

    fn answer(&self, question: Question) -> Answering {
        self.respondent.answer(question)
    }
}

/// The respondent of a verb.
pub(super) fn knowing(verb: Option<&ClientVerb>, respondent: Arc<dyn Respondent>) -> Arc<dyn Respondent> {
    let extensions: &[&str] = match verb {
        Some(ClientVerb::Models(_)) => &[MODELS],
        Some(ClientVerb::Metadata(_)) => &[METADATA],
        _ => return respondent,
    };
    Arc::new(Knowing { respondent, extensions })
}

/// The verb for an extension that a server demands.
pub(crate) fn verb_of(extension: &str) -> Option<&'static str> {
    match extension {
        MODELS => Some("models"),
        METADATA => Some("metadata"),
        _ => None,
    }
}

/// Lists the models, or selects one.
pub(super) async fn models(as_json: bool, client: &Client, args: &ModelsArgs) -> Result<Printed, NotPrinted> {
    let (method, params) = match args.name() {
        None => ("models/list", Map::new()),
        Some(name) => ("models/select", Map::from_iter([("name".to_owned(), json!(name))])),
    };
    let answer = client.request(method, &Params::from(params)).await.map_err(|error| missing(error, method))?;
    if as_json {
        return Ok(Printed::success(show::raw(answer.body_text().unwrap_or_default())));
    }
    let result = answer.result().cloned().unwrap_or_default();
    Ok(Printed::success(if args.name().is_some() { selected(&result) } else { listed(&result) }))
}

/// Most servers do not know these methods, and break nothing with that.
fn missing(error: ClientError, method: &str) -> NotPrinted {
    if !matches!(error, ClientError::Rpc { code: METHOD_NOT_FOUND, .. }) {
        return error.into();
    }
    tell(format_args!("error: the server does not have `{method}`"));
    tell("  try: another verb; MCP does not define this method, and few servers have it");
    Exit::Finding.into()
}

fn selected(result: &Value) -> String {
    format!("{} is selected\n", snippet(result["active"].as_str().unwrap_or("no model"), 60))
}

fn listed(result: &Value) -> String {
    let models = result["models"].as_array().map_or(&[][..], Vec::as_slice);
    if models.is_empty() {
        return "no models\n".to_owned();
    }
    let mut out = String::new();
    for model in models {
        let name = model["name"].as_str().unwrap_or("without a name");
        let mark = if result["active"].as_str() == Some(name) { " (selected)" } else { "" };
        let _ = writeln!(out, "{}{mark}", snippet(name, 60));
        if let Some(description) = model["description"].as_str() {
            let _ = writeln!(out, "  {}", snippet(description, 200));
        }
        if let Some(length) = model["contextLength"].as_u64() {
            let _ = writeln!(out, "  context: {length} tokens");
        }
    }
    out
}

/// Prints what the server says about itself.
pub(super) async fn metadata(as_json: bool, client: &Client) -> Result<Printed, NotPrinted> {
    let method = "metadata/get";
    let answer = client.request(method, &Params::from(Map::new())).await.map_err(|error| missing(error, method))?;
    Ok(Printed::success(if as_json {
        show::raw(answer.body_text().unwrap_or_default())
    } else {
        show::pretty(answer.result().unwrap_or(&Value::Null))
    }))
}
