//! Completion of prompt and template arguments over any catalogue (server/utilities/completion).

use std::collections::BTreeMap;

use net::service::{Call, RpcError};
use serde::Deserialize;
use serde_json::json;

use crate::answer::Handled;
use crate::catalogue::Text;
use crate::{Server, folder, params, prompts};

/// The most values one answer may have.
const MOST: usize = 100;

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

/// What is known of the other arguments (2025-06-18).
#[derive(Default, Deserialize)]
struct Known {
    #[serde(default)]
    arguments: BTreeMap<String, String>,
}

#[derive(Deserialize)]
struct Params {
    #[serde(rename = "ref")]
    reference: Reference,
    argument: Argument,
    #[serde(default)]
    context: Known,
}

/// `completion/complete`
pub(crate) fn complete(server: &Server, call: &Call) -> Handled {
    params::meta(call)?;
    let params: Params = params::read(call)?;
    let mut values = match files(server, &params) {
        Some(values) => values?,
        None => matching(candidates(server, call, &params)?, &params.argument.value),
    };
    let total = values.len();
    values.truncate(MOST);
    Ok(json!({ "completion": { "total": total, "hasMore": total > MOST, "values": values } }))
}

fn matching(mut candidates: Vec<Text>, typed: &str) -> Vec<Text> {
    let typed = typed.to_lowercase();
    candidates.retain(|value| value.to_lowercase().starts_with(&typed));
    candidates
}

fn unknown(what: &str) -> RpcError {
    RpcError::invalid_params(format!("Invalid params: {what}"))
}

/// The paths of the served directory, where it is its template that is asked for.
fn files(server: &Server, params: &Params) -> Option<Result<Vec<Text>, RpcError>> {
    let folder = server.folder()?;
    if !matches!(&params.reference, Reference::Resource { uri } if uri == folder::TEMPLATE) {
        return None;
    }
    Some(if params.argument.name == folder::VARIABLE {
        Ok(folder.completions(&params.argument.value).into_iter().map(Text::from).collect())
    } else {
        Err(unknown(NO_VARIABLE))
    })
}

const NO_VARIABLE: &str = "the template has no such variable";

fn candidates(server: &Server, call: &Call, params: &Params) -> Result<Vec<Text>, RpcError> {
    let wanted = params.argument.name.as_str();
    let known = &params.context.arguments;
    match &params.reference {
        Reference::Prompt { name } => {
            let prompt = prompts::available(server, call.context.revision).find(|prompt| prompt.name == *name);
            let prompt = prompt.ok_or_else(|| unknown("`ref` names no prompt"))?;
            let argument = prompt.arguments.iter().find(|argument| argument.name == wanted);
            Ok(argument.ok_or_else(|| unknown("the prompt has no such argument"))?.completer.candidates(known))
        }
        Reference::Resource { uri } => {
            let template = server.catalogue().templates.iter().find(|template| template.uri_template == *uri);
            let template = template.ok_or_else(|| unknown("`ref` names no resource template"))?;
            if !template.variables().any(|variable| variable == wanted) {
                return Err(unknown(NO_VARIABLE));
            }
            let completer = template.completers.get(wanted);
            Ok(completer.map(|completer| completer.candidates(known)).unwrap_or_default())
        }
    }
}
