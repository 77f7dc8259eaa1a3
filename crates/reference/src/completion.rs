//! Completion of prompt and template arguments (server/utilities/completion).

use net::service::{Call, RpcError};
use serde::Deserialize;
use serde_json::json;

use crate::answer::Handled;
use crate::resources::TEMPLATE;
use crate::{params, prompts};

const LANGUAGES: &[&str] = &["c", "go", "haskell", "java", "javascript", "python", "ruby", "rust", "typescript"];
const NAMES: &[&str] = &["ada", "alan", "barbara", "donald", "edsger", "grace"];
const URIS: &[&str] = &["proof://counter", "proof://docs/readme", "proof://docs/welcome", "proof://images/pixel"];

#[derive(Deserialize)]
#[serde(tag = "type")]
enum Reference {
    #[serde(rename = "ref/prompt")]
    Prompt { name: String },
    #[serde(rename = "ref/resource")]
    Resource { uri: String },
}

#[derive(Deserialize)]
struct Argument {
    name: String,
    value: String,
}

#[derive(Deserialize)]
struct Params {
    #[serde(rename = "ref")]
    reference: Reference,
    argument: Argument,
}

/// `completion/complete`
pub(crate) fn complete(call: &Call) -> Handled {
    params::meta(call)?;
    let Params { reference, argument } = params::read(call)?;
    let known = candidates(&reference, &argument.name)?;
    let typed = argument.value.to_lowercase();
    let values: Vec<_> = known.iter().filter(|candidate| candidate.starts_with(&typed)).collect();
    Ok(json!({ "completion": { "total": values.len(), "hasMore": false, "values": values } }))
}

fn candidates(reference: &Reference, argument: &str) -> Result<&'static [&'static str], RpcError> {
    let unknown = |what: &str| RpcError::invalid_params(format!("Invalid params: {what}"));
    match reference {
        Reference::Prompt { name } => match (name.as_str(), argument, prompts::has_argument(name, argument)) {
            (_, _, None) => Err(unknown("`ref` names no prompt")),
            (_, _, Some(false)) => Err(unknown("the prompt has no such argument")),
            ("code_review", "language", _) => Ok(LANGUAGES),
            ("summarize_resource", "uri", _) => Ok(URIS),
            _ => Ok(&[]),
        },
        Reference::Resource { uri } if uri != TEMPLATE => Err(unknown("`ref` names no resource template")),
        Reference::Resource { .. } if argument == "name" => Ok(NAMES),
        Reference::Resource { .. } => Err(unknown("the template has no such variable")),
    }
}
