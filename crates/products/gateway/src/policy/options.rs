//! A request that options give.

use std::path::PathBuf;

use clap::Args;
use gateway::access::PolicyRequest;
use serde_json::Value;

use super::Rules;
use super::cases::Asked;
use crate::tell::Failure;

#[derive(Args, Debug)]
pub(super) struct RequestArgs {
    /// gateway.yaml with the rules [default: `config` of CASES]
    #[arg(long, value_name = "FILE", required_unless_present = "cases")]
    pub(super) config: Option<PathBuf>,
    /// Method of the request: tools/call, resources/read, prompts/get, tools/list…
    #[arg(long, value_name = "METHOD", requires = "config", required_unless_present = "cases")]
    #[arg(conflicts_with = "cases")]
    action: Option<String>,
    /// Name of the tool or prompt, as clients see it
    #[arg(long, value_name = "NAME", requires = "action")]
    name: Option<String>,
    /// URI of the resource, or URI template
    #[arg(long, value_name = "URI", requires = "action")]
    uri: Option<String>,
    /// Claims of the token, a JSON object [default: no token]
    #[arg(long, value_name = "JSON", requires = "action", value_parser = object)]
    claims: Option<Value>,
    /// Certificate of the client, a JSON object: uris, dns, sha256 [default: no certificate]
    #[arg(long, value_name = "JSON", requires = "action", value_parser = object)]
    certificate: Option<Value>,
    /// Arguments of the call, a JSON object
    #[arg(long, value_name = "JSON", requires = "action", value_parser = object)]
    arguments: Option<Value>,
    /// Annotations of the tool, a JSON object
    #[arg(long, value_name = "JSON", requires = "action", value_parser = object)]
    annotations: Option<Value>,
    /// What the client says of itself, a JSON object
    #[arg(long, value_name = "JSON", requires = "action", value_parser = object)]
    client: Option<Value>,
    /// Server that clients see [default: default]
    #[arg(long, value_name = "NAME", requires = "action")]
    server: Option<String>,
}

/// A JSON object; a name that stands twice would be read in two ways.
fn object(text: &str) -> Result<Value, String> {
    let value: Value = serde_json::from_str(text).map_err(|error| format!("not JSON: {error}"))?;
    if let Some(twice) = wire::json::duplicate_name(text) {
        return Err(format!("the name {:?} stands twice", twice.name));
    }
    if value.is_object() { Ok(value) } else { Err("expected an object, such as {\"team\": \"data\"}".to_owned()) }
}

impl RequestArgs {
    pub(super) fn request(&self, rules: &Rules) -> Result<PolicyRequest, Failure> {
        let asked = Asked {
            action: self.action.as_deref().unwrap_or_default(),
            name: self.name.clone(),
            uri: self.uri.clone(),
            claims: self.claims.clone(),
            certificate: self.certificate.clone(),
            arguments: self.arguments.clone(),
            annotations: self.annotations.clone(),
            client: self.client.clone(),
            server: self.server.clone(),
        };
        asked.request(rules).map_err(|(option, what, remedy)| Failure::usage(format!("{what} – --{option}"), &remedy))
    }
}
