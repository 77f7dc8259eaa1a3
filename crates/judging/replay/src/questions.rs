//! Repeats the questions that a recorded server asked its client: as requests in the legacy era, as results in the modern one.
//! The client's answers do not matter, because what followed is recorded.

use net::service::{Call, RpcError, code};
use serde_json::{Map, Value, json};
use wire::revision::R2025_11_25;
use wire::{Era, Kind, Message, translate};

/// The requests that a server may send to a client.
const ASKABLE: [&str; 3] = ["elicitation/create", "sampling/createMessage", "roots/list"];

/// A question to the client.
pub(super) struct Question {
    key: String,
    method: String,
    params: Option<Value>,
}

/// The questions in a recorded message, a request of the server or a result; only those that exist in both eras.
pub(super) fn questions(message: &Message) -> Vec<Question> {
    let question = |key: &str, request: &Value| {
        let method = request.get("method")?.as_str().filter(|method| ASKABLE.contains(method))?.to_owned();
        Some(Question { key: key.to_owned(), method, params: request.get("params").cloned() })
    };
    match message.kind() {
        Kind::Request => question("question", message.value()).into_iter().collect(),
        Kind::Result => {
            let requests = message.result().and_then(|result| result.get("inputRequests")).and_then(Value::as_object);
            requests.into_iter().flatten().filter_map(|(key, request)| question(key, request)).collect()
        }
        _ => Vec::new(),
    }
}

impl Question {
    fn mode(&self) -> &str {
        self.params.as_ref().and_then(|params| params.get("mode")).and_then(Value::as_str).unwrap_or("form")
    }

    /// The capabilities that a client must declare for this question.
    fn required_capabilities(&self) -> Value {
        let params = self.params.as_ref();
        match self.method.as_str() {
            "elicitation/create" => json!({ "elicitation": { self.mode(): {} } }),
            "sampling/createMessage" if params.is_some_and(|params| params.get("tools").is_some()) => {
                json!({ "sampling": { "tools": {} } })
            }
            "sampling/createMessage" => json!({ "sampling": {} }),
            _ => json!({ "roots": {} }),
        }
    }

    fn can_be_asked(&self, call: &Call) -> bool {
        let Some(declared) = call.client_capabilities() else { return false };
        let revision = call.context.revision;
        if revision.era() == Era::Legacy && wire::method::find(&self.method, revision).is_none() {
            return false;
        }
        let mode = |name: &str| declared.get("elicitation").is_some_and(|modes| modes.get(name).is_some());
        match self.method.as_str() {
            "elicitation/create" if self.mode() == "url" => mode("url") && revision.at_least(R2025_11_25),
            "elicitation/create" => declared.get("elicitation").is_some() && (mode("form") || !mode("url")),
            "sampling/createMessage" if self.required_capabilities().pointer("/sampling/tools").is_some() => {
                declared.pointer("/sampling/tools").is_some()
            }
            "sampling/createMessage" => declared.get("sampling").is_some(),
            _ => declared.get("roots").is_some(),
        }
    }

    /// The parameters in the form of the client's revision.
    fn params(&self, call: &Call) -> Option<Value> {
        let params = self.params.as_ref()?;
        Some(translate::input_request_params(&self.method, params, call.context.revision, &self.key))
    }
}

/// The error for a client that lacks the capability for one of the questions.
pub(super) fn refusal(call: &Call, questions: &[Question]) -> Option<RpcError> {
    let missing: Vec<Value> =
        questions.iter().filter(|q| !q.can_be_asked(call)).map(Question::required_capabilities).collect();
    let first = missing.first()?;
    if call.context.era() == Era::Legacy {
        return Some(RpcError::internal(format!(
            "The recorded server asked its client for input: the client must declare {first}"
        )));
    }
    let mut required = Map::new();
    for capabilities in missing.iter().filter_map(Value::as_object) {
        for (name, parts) in capabilities {
            let known = required.entry(name.clone()).or_insert_with(|| json!({}));
            if let (Some(known), Some(parts)) = (known.as_object_mut(), parts.as_object()) {
                known.extend(parts.clone());
            }
        }
    }
    let error = RpcError::new(code::MISSING_CLIENT_CAPABILITY, "Missing required client capability");
    Some(error.with_data(json!({ "requiredCapabilities": required })))
}

/// Asks the questions as requests, one after the other.
pub(super) async fn ask(call: &Call, questions: &[Question]) -> Result<(), RpcError> {
    for question in questions {
        let params = question.params(call).unwrap_or_else(|| json!({}));
        call.link.request(&question.method, params).await.map_err(|why| RpcError::internal(why.to_string()))?;
    }
    Ok(())
}

/// The body of a result that asks the questions; the client returns `state` with the answers.
pub(super) fn input_required(call: &Call, questions: &[Question], state: &str) -> Value {
    let mut requests = Map::new();
    for question in questions {
        let mut request = json!({ "method": question.method });
        if let Some(params) = question.params(call) {
            request["params"] = params;
        }
        requests.insert(question.key.clone(), request);
    }
    let mut body = json!({ "resultType": "input_required", "requestState": state });
    if !requests.is_empty() {
        body["inputRequests"] = Value::Object(requests);
    }
    body
}
