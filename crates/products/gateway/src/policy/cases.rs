//! The file of cases: its shape, then its meaning. Reports all mistakes at once, with their places.

use std::path::Path;
use std::sync::Arc;

use document::{FileError, FileErrors, Node, Position, Shape, nearest, quoted};
use gateway::access::{Action, PolicyRequest};
use gateway::settings::DEFAULT_SERVER;
use net::server::tls::Certificate;
use serde::Deserialize;
use serde_json::{Value, json};

use super::Rules;
use crate::args::text_of;
use crate::tell::Failure;

/// The shape of a file.
static SHAPE: Shape = Shape::new(
    include_str!("../../../../../docs/gateway-policy.schema.json"),
    "https://github.com/proofhouse/proofhouse/blob/main/docs/gateway-policy.md",
    &["cases"],
);

#[derive(Deserialize)]
struct File {
    config: Option<String>,
    cases: Vec<Written>,
}

/// A case as it is written.
#[derive(Deserialize)]
struct Written {
    case: Option<String>,
    action: String,
    name: Option<String>,
    uri: Option<String>,
    claims: Option<Value>,
    certificate: Option<Value>,
    arguments: Option<Value>,
    annotations: Option<Value>,
    client: Option<Value>,
    server: Option<String>,
    expect: Expected,
    rule: Option<Value>,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum Expected {
    Allow,
    Deny,
}

/// A request and what must become of it.
pub(super) struct Case {
    /// What it is called.
    pub(super) title: String,
    pub(super) at: Position,
    pub(super) request: PolicyRequest,
    pub(super) allowed: bool,
    /// What must decide: the number of a rule, `token` or `none`.
    pub(super) decider: Option<Value>,
}

/// The cases of a file, and the rules that they are about.
pub(super) struct Cases {
    pub(super) file: String,
    pub(super) rules: Rules,
    pub(super) list: Vec<Case>,
}

impl Cases {
    /// Reads the cases, and the rules from `config` or else from the file that the cases name.
    pub(super) fn read(path: &Path, config: Option<&Path>) -> Result<Self, Failure> {
        let file = path.display().to_string();
        let failed = |errors| Failure::file(FileErrors::new(&file, errors).to_string());
        let text = text_of(path)?;
        let (tree, mut errors) = document::read(&text).map_err(|error| failed(vec![error]))?;
        let mut value = tree.to_value();
        errors.extend(SHAPE.check(&tree, &mut value).errors);
        if !errors.is_empty() {
            return Err(failed(errors));
        }
        let read = serde_json::from_value::<File>(value);
        let read =
            read.map_err(|error| Failure::bug(format!("the schema of cases and their reader differ: {error}")))?;
        let config = match (config, &read.config) {
            (Some(config), _) => config.to_owned(),
            (None, Some(named)) => path.parent().unwrap_or(Path::new("")).join(named),
            (None, None) => {
                let what = "no gateway.yaml is named, neither by `config` nor by --config";
                return Err(failed(vec![FileError::new(None, what, "add `config: gateway.yaml`")]));
            }
        };
        let rules = Rules::read(&config)?;
        let mut list = Vec::new();
        for (index, written) in read.cases.into_iter().enumerate() {
            match case(written, index, (&tree, &rules)) {
                Ok(case) => list.push(case),
                Err(error) => errors.push(error),
            }
        }
        if errors.is_empty() { Ok(Self { file, rules, list }) } else { Err(failed(errors)) }
    }
}

/// What is written, as a request; the mistake where it cannot be one.
fn case(written: Written, index: usize, (tree, rules): (&Node, &Rules)) -> Result<Case, FileError> {
    let at = |member: &str| tree.place(&format!("/cases/{index}/{member}"));
    let wrong = |member: &str, (what, remedy): (String, String)| Err(FileError::new(at(member), what, remedy));
    let title = written.case.unwrap_or_else(|| {
        let item = written.name.as_deref().or(written.uri.as_deref()).unwrap_or_default();
        format!("{} {item}", written.action)
    });
    let asked = Asked {
        action: &written.action,
        name: written.name,
        uri: written.uri,
        claims: written.claims,
        certificate: written.certificate,
        arguments: written.arguments,
        annotations: written.annotations,
        client: written.client,
        server: written.server,
    };
    let request = match asked.request(rules) {
        Ok(request) => request,
        Err((member, what, remedy)) => return wrong(member, (what, remedy)),
    };
    let number = written.rule.as_ref().and_then(Value::as_u64);
    if number.is_some_and(|number| number > rules.count() as u64) {
        let what = format!("there is no rule {}: {} has {}", number.unwrap_or_default(), rules.file, rules.count());
        return wrong("rule", (what, "the number of a rule under `access`, from 1".to_owned()));
    }
    let allowed = written.expect == Expected::Allow;
    if allowed && written.rule.as_ref().is_some_and(|rule| rule == "token") {
        let what = "a token that is missing or lacks a scope allows nothing".to_owned();
        return wrong("rule", (what, "expect: deny, or another `rule`".to_owned()));
    }
    Ok(Case { title, at: tree.place(&format!("/cases/{index}")), request, allowed, decider: written.rule })
}

/// A request in the words of a person.
#[derive(Default)]
pub(super) struct Asked<'a> {
    pub(super) action: &'a str,
    pub(super) name: Option<String>,
    pub(super) uri: Option<String>,
    pub(super) claims: Option<Value>,
    pub(super) certificate: Option<Value>,
    pub(super) arguments: Option<Value>,
    pub(super) annotations: Option<Value>,
    pub(super) client: Option<Value>,
    pub(super) server: Option<String>,
}

/// A certificate in the words of a person: it is valid, and has the names that are given.
fn certificate(written: &Value) -> Arc<Certificate> {
    let texts = |name: &str| {
        let list = written.get(name).and_then(Value::as_array).into_iter().flatten();
        list.filter_map(Value::as_str).map(str::to_owned).collect()
    };
    let sha256 = written.get("sha256").and_then(Value::as_str).unwrap_or_default().to_owned();
    Arc::new(Certificate { sha256, uris: texts("uris"), dns: texts("dns"), not_before: 0, not_after: u64::MAX })
}

/// The member that is wrong, what is wrong with it, and what to try.
type Mistake = (&'static str, String, String);

impl Asked<'_> {
    /// The request; a member that would have no meaning in it is a mistake.
    pub(super) fn request(self, rules: &Rules) -> Result<PolicyRequest, Mistake> {
        let method = self.action;
        let Some(action) = Action::of(method, self.uri.is_some()) else {
            let known = nearest(method, Action::methods());
            return Err(("action", format!("{} is not an action", quoted(method)), known));
        };
        let (right, wrong) = if action.is_of_resource() { ("uri", "name") } else { ("name", "uri") };
        let (wanted, other) = if action.is_of_resource() { (self.uri, self.name) } else { (self.name, self.uri) };
        if other.is_some() {
            let what = format!("{method} has a `{right}` and no `{wrong}`");
            return Err((wrong, what, format!("remove `{wrong}`")));
        }
        let Some(name) = wanted else {
            return Err(("action", format!("{method} needs a `{right}`"), format!("add `{right}`")));
        };
        if self.arguments.is_some() && !action.has_arguments() {
            let what = format!("{method} has no arguments that rules look at");
            return Err(("arguments", what, "remove `arguments`, or use tools/call or prompts/get".to_owned()));
        }
        if self.annotations.is_some() && !action.is_of_tool() {
            let what = format!("{method} is about no tool, and only tools have annotations");
            return Err(("annotations", what, "remove `annotations`".to_owned()));
        }
        let server = self.server.unwrap_or_else(|| DEFAULT_SERVER.to_owned());
        if !rules.policy.has_server(&server) {
            let what = format!("{} has no server {}", rules.file, quoted(&server));
            return Err(("server", what, "a name under `servers`, or `default`".to_owned()));
        }
        Ok(PolicyRequest {
            action,
            name,
            claims: self.claims,
            certificate: self.certificate.as_ref().map(certificate),
            arguments: self.arguments,
            annotations: self.annotations,
            client: self.client.unwrap_or_else(|| json!({ "name": "client", "version": "1" })),
            server,
        })
    }
}
