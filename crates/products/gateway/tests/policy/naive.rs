//! An evaluator of access rules that shares nothing with the gateway's: conditions are trees, written as CEL for the gateway and
//! walked here, with the specification's meaning of errors.

use gateway::access::PolicyRequest;
use gateway::settings::{AccessRule, ConditionText, Effect};
use serde_json::Value;

/// A condition.
#[derive(Clone, Debug)]
pub(crate) enum Expression {
    Literal(bool),
    Not(Box<Expression>),
    And(Box<Expression>, Box<Expression>),
    Or(Box<Expression>, Box<Expression>),
    /// `claims.team == "data"`
    Equals(&'static str, &'static str, &'static str),
    /// `has(claims.team)`
    Has(&'static str, &'static str),
    /// `arguments.depth <= 3`
    AtMost(&'static str, &'static str, i64),
    /// `arguments.path.startsWith("/data/")`
    Begins(&'static str, &'static str, &'static str),
    /// `"admin" in claims.groups`
    Member(&'static str, &'static str, &'static str),
    /// `"files" in scopes`
    Scope(&'static str),
    /// `kind == "tool"`
    Kind(&'static str),
    /// `name.startsWith("read_")`
    NameBegins(&'static str),
    /// `server == "default"`
    Server(&'static str),
}

use Expression::{And, AtMost, Begins, Equals, Has, Kind, Literal, Member, NameBegins, Not, Or, Scope, Server};

impl Expression {
    pub(crate) fn written(&self) -> String {
        match self {
            Literal(value) => value.to_string(),
            Not(inner) => format!("!({})", inner.written()),
            And(left, right) => format!("({} && {})", left.written(), right.written()),
            Or(left, right) => format!("({} || {})", left.written(), right.written()),
            Equals(root, member, text) => format!("{root}.{member} == \"{text}\""),
            Has(root, member) => format!("has({root}.{member})"),
            AtMost(root, member, number) => format!("{root}.{member} <= {number}"),
            Begins(root, member, text) => format!("{root}.{member}.startsWith(\"{text}\")"),
            Member(text, root, member) => format!("\"{text}\" in {root}.{member}"),
            Scope(text) => format!("\"{text}\" in scopes"),
            Kind(text) => format!("kind == \"{text}\""),
            NameBegins(text) => format!("name.startsWith(\"{text}\")"),
            Server(text) => format!("server == \"{text}\""),
        }
    }

    fn mentions_arguments(&self) -> bool {
        match self {
            Not(inner) => inner.mentions_arguments(),
            And(left, right) | Or(left, right) => left.mentions_arguments() || right.mentions_arguments(),
            Equals(root, ..) | Has(root, _) | AtMost(root, ..) | Begins(root, ..) | Member(_, root, _) => {
                *root == "arguments"
            }
            Literal(_) | Scope(_) | Kind(_) | NameBegins(_) | Server(_) => false,
        }
    }

    /// Its value; `None` is an error. One side that settles `&&` or `||` settles it whatever the other one is.
    fn value(&self, request: &PolicyRequest) -> Option<bool> {
        match self {
            Literal(value) => Some(*value),
            Not(inner) => inner.value(request).map(|value| !value),
            And(left, right) => match (left.value(request), right.value(request)) {
                (Some(false), _) | (_, Some(false)) => Some(false),
                (Some(true), Some(true)) => Some(true),
                _ => None,
            },
            Or(left, right) => match (left.value(request), right.value(request)) {
                (Some(true), _) | (_, Some(true)) => Some(true),
                (Some(false), Some(false)) => Some(false),
                _ => None,
            },
            // Values of different types are not equal.
            Equals(root, member, text) => Some(lookup(request, root, member)? == *text),
            Has(root, member) => Some(lookup(request, root, member).is_some()),
            AtMost(root, member, number) => Some(lookup(request, root, member)?.as_i64()? <= *number),
            Begins(root, member, text) => Some(lookup(request, root, member)?.as_str()?.starts_with(text)),
            Member(text, root, member) => {
                Some(lookup(request, root, member)?.as_array()?.iter().any(|item| item == text))
            }
            Scope(text) => Some(scopes(request).iter().any(|scope| scope == text)),
            Kind(text) => Some(kind(request) == *text),
            NameBegins(text) => Some(request.name.starts_with(text)),
            Server(text) => Some(request.server == *text),
        }
    }
}

fn lookup(request: &PolicyRequest, root: &str, member: &str) -> Option<Value> {
    let root = match root {
        "claims" => request.claims.as_ref(),
        "arguments" => request.arguments.as_ref(),
        "annotations" => request.annotations.as_ref().filter(|_| kind(request) == "tool"),
        "client" => Some(&request.client),
        other => panic!("{other}"),
    };
    root?.get(member).cloned()
}

fn scopes(request: &PolicyRequest) -> Vec<String> {
    let text = request.claims.as_ref().and_then(|claims| claims["scope"].as_str()).unwrap_or_default();
    text.split(' ').filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

fn kind(request: &PolicyRequest) -> &'static str {
    match request.action.method() {
        "tools/call" | "tools/list" => "tool",
        "prompts/get" | "prompts/list" => "prompt",
        _ => "resource",
    }
}

/// A rule.
#[derive(Clone, Debug)]
pub(crate) struct Rule {
    pub(crate) allow: bool,
    pub(crate) tools: Option<Vec<&'static str>>,
    pub(crate) prompts: Option<Vec<&'static str>>,
    pub(crate) resources: Option<Vec<&'static str>>,
    pub(crate) scopes: Vec<&'static str>,
    pub(crate) when: Option<Expression>,
}

impl Rule {
    /// The rule as the gateway has it.
    pub(crate) fn written(&self) -> AccessRule {
        let texts = |list: &Vec<&'static str>| list.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        let condition = self.when.as_ref().map(Expression::written);
        AccessRule {
            effect: if self.allow { Effect::Allow } else { Effect::Deny },
            tools: self.tools.as_ref().map(texts),
            prompts: self.prompts.as_ref().map(texts),
            resources: self.resources.as_ref().map(texts),
            scopes: texts(&self.scopes),
            condition: condition.map(|text| ConditionText { text, line: 1, column: 1 }),
        }
    }
}

/// What the evaluator says.
pub(crate) struct Said {
    pub(crate) allowed: bool,
    pub(crate) rule: Option<usize>,
    /// A condition without a value decided.
    pub(crate) by_error: bool,
    /// A condition that waits for arguments decided.
    pub(crate) waited: bool,
}

pub(crate) fn decide(rules: &[Rule], request: &PolicyRequest) -> Said {
    let mut said = Said { allowed: false, rule: None, by_error: false, waited: false };
    if kind(request) == "resource" && leaves_its_folder(&request.name) {
        return said;
    }
    for (index, rule) in rules.iter().enumerate() {
        let lists = [("tool", &rule.tools), ("prompt", &rule.prompts), ("resource", &rule.resources)];
        let mut names = false;
        let mut named = false;
        for (of, list) in lists {
            let Some(list) = list else { continue };
            names = true;
            named |= of == kind(request) && list.iter().any(|pattern| fits(pattern, &request.name));
        }
        if names && !named || rule.scopes.iter().any(|scope| !scopes(request).iter().any(|has| has == scope)) {
            continue;
        }
        let listing = matches!(request.action.method(), "tools/list" | "prompts/list");
        let (holds, by_error, waited) = match &rule.when {
            None => (true, false, false),
            Some(when) if listing && when.mentions_arguments() => (rule.allow, false, true),
            Some(when) => match when.value(request) {
                Some(value) => (value, false, false),
                None => (!rule.allow, true, false),
            },
        };
        if holds {
            said = Said { allowed: rule.allow, rule: Some(index + 1), by_error, waited };
            break;
        }
    }
    said
}

/// Tries every length for each star.
fn fits(pattern: &str, text: &str) -> bool {
    match pattern.chars().next() {
        None => text.is_empty(),
        Some('*') => {
            let rest = &pattern[1..];
            fits(rest, text) || text.chars().next().is_some_and(|first| fits(pattern, &text[first.len_utf8()..]))
        }
        Some(wanted) => text.strip_prefix(wanted).is_some_and(|rest| fits(&pattern[wanted.len_utf8()..], rest)),
    }
}

fn leaves_its_folder(uri: &str) -> bool {
    let plain = uri.to_lowercase().replace("%2e", ".").replace("%2f", "/").replace('\\', "/");
    let padded = format!("/{}/", plain.replace(['?', '#'], "/"));
    padded.contains("/../")
}
