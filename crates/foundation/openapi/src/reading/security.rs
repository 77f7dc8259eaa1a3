//! How requests are authorized: schemes by name, and which of them an operation needs.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::{Dialect, Source};
use crate::model::{Place, Requirement, Scheme};

/// How many sets of schemes, and schemes in a set, an operation may need, with how many scopes.
const SETS: usize = 20;
const SCOPES: usize = 50;
/// How long a name may be, in bytes.
const LONGEST: usize = 300;

/// The schemes of the description.
pub(super) fn schemes(source: &Source<'_>) -> BTreeMap<String, Scheme> {
    let at = match source.dialect {
        Dialect::Swagger2 => "/securityDefinitions",
        _ => "/components/securitySchemes",
    };
    let Some(Value::Object(all)) = source.root.pointer(at) else { return BTreeMap::new() };
    all.iter()
        .filter_map(|(name, raw)| {
            let (raw, _) = source.resolve(raw, at).ok()?;
            Some((name.clone(), scheme(raw)))
        })
        .collect()
}

fn scheme(raw: &Value) -> Scheme {
    let text = |name: &str| raw.get(name).and_then(Value::as_str);
    let kind = text("type").unwrap_or_default();
    match kind {
        "apiKey" => key(text("in"), text("name")).unwrap_or_else(|| Scheme::Other("apiKey".to_owned())),
        "basic" => Scheme::Basic,
        "http" => match text("scheme").unwrap_or_default().to_ascii_lowercase().as_str() {
            "basic" => Scheme::Basic,
            "bearer" => Scheme::Bearer,
            other => Scheme::Other(other.to_owned()),
        },
        "oauth2" => oauth(raw),
        "openIdConnect" => Scheme::OpenId(text("openIdConnectUrl").unwrap_or_default().to_owned()),
        other => Scheme::Other(other.to_owned()),
    }
}

fn key(place: Option<&str>, name: Option<&str>) -> Option<Scheme> {
    let name = name.filter(|name| !name.is_empty())?.to_owned();
    let place = match place? {
        "header" => Place::Header,
        "query" => Place::Query,
        "cookie" => Place::Cookie,
        _ => return None,
    };
    Some(Scheme::Key { place, name })
}

fn oauth(raw: &Value) -> Scheme {
    let (client, code) = if let Some(flow) = raw.get("flow").and_then(Value::as_str) {
        (Some(raw).filter(|_| flow == "application"), Some(raw).filter(|_| flow == "accessCode"))
    } else {
        let flow = |name: &str| raw.get("flows").and_then(|flows| flows.get(name));
        (flow("clientCredentials"), flow("authorizationCode"))
    };
    let url = |flow: &Value, name: &str| flow.get(name).and_then(Value::as_str).map(str::to_owned);
    Scheme::OAuth {
        client_credentials: client.and_then(|flow| url(flow, "tokenUrl")),
        authorization_code: code.and_then(|flow| Some((url(flow, "authorizationUrl")?, url(flow, "tokenUrl")?))),
    }
}

/// The sets of schemes, one of which an operation needs. An empty set stands for no authorization.
pub(super) fn requirements(source: &Source<'_>, raw: &Map<String, Value>) -> Vec<Vec<Requirement>> {
    let sets = raw.get("security").or_else(|| source.root.get("security")).and_then(Value::as_array);
    sets.into_iter().flatten().filter_map(Value::as_object).take(SETS).map(set).collect()
}

fn set(members: &Map<String, Value>) -> Vec<Requirement> {
    let scopes = |value: &Value| -> Vec<String> {
        let list = value.as_array().into_iter().flatten().filter_map(Value::as_str);
        list.filter(|scope| scope.len() <= LONGEST).take(SCOPES).map(str::to_owned).collect()
    };
    // What is cut is the name of no scheme: no credentials fit it.
    let name = |name: &str| name[..name.floor_char_boundary(LONGEST)].to_owned();
    members.iter().take(SETS).map(|(key, value)| Requirement { scheme: name(key), scopes: scopes(value) }).collect()
}
