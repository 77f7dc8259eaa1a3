//! The eleven boxes, and what counts as an answer. Asks nobody. Where nothing was seen, the answer is not known.

use gateway::audit::VerifyError;
use gateway::settings::Writes;
use serde_json::Value;
use wire::meta::TASKS_EXTENSION;

use super::facts::{Facts, Page};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Yes,
    No,
    Unknown,
}

impl Verdict {
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Yes => "yes",
            Self::No => "no",
            Self::Unknown => "unknown",
        }
    }
}

use Verdict::{No, Unknown, Yes};

/// A box with its answer.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Answered {
    pub(super) area: &'static str,
    pub(super) name: &'static str,
    pub(super) verdict: Verdict,
    pub(super) evidence: String,
}

type Judged = (Verdict, String);
type Judge = fn(&Facts) -> Judged;

const BOXES: [(&str, &str, Judge); 11] = [
    ("Contract", "Tools have descriptive names and descriptions", descriptions),
    ("Contract", "Arguments have a typed JSON Schema", schemas),
    ("Contract", "Side effects and idempotency are documented", side_effects),
    ("Resilience", "Long operations are tasks", tasks),
    ("Resilience", "Calls can have idempotency keys", idempotency),
    ("Resilience", "Errors are structured", errors),
    ("Resilience", "Failing servers have circuit breakers", breakers),
    ("Operations", "Health and readiness are served", health),
    ("Operations", "Metrics are kept for each tool", metrics),
    ("Operations", "Clients need a token, and rules say what they may use", access),
    ("Operations", "Requests are in an audit log", audit),
];

/// Answers all boxes.
pub(super) fn answer(facts: &Facts) -> Vec<Answered> {
    let answered = |(area, name, judge): &(&'static str, &'static str, Judge)| {
        let (verdict, evidence) = judge(facts);
        Answered { area, name, verdict, evidence }
    };
    BOXES.iter().map(answered).collect()
}

fn text<'v>(value: &'v Value, name: &str) -> &'v str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// The tools that lack something, of all.
fn each_tool(facts: &Facts, what: &str, fits: impl Fn(&Value) -> bool) -> Judged {
    let tools = match &facts.tools {
        Ok(tools) if tools.is_empty() => return (Unknown, "tools/list names no tool".to_owned()),
        Ok(tools) => tools,
        Err(why) => return (Unknown, why.clone()),
    };
    let bad: Vec<_> = tools.iter().filter(|tool| !fits(tool)).map(|tool| text(tool, "name")).collect();
    let (all, good) = (tools.len(), tools.len() - bad.len());
    if bad.is_empty() {
        return (Yes, format!("tools/list: {good} of {all} tools {what}"));
    }
    let more = if bad.len() > 5 { ", …" } else { "" };
    let named = bad.into_iter().take(5).collect::<Vec<_>>().join(", ");
    (No, format!("tools/list: {good} of {all} tools {what}; not {named}{more}"))
}

fn descriptions(facts: &Facts) -> Judged {
    each_tool(facts, "have a name of 3 letters and a description of 3 words or more", |tool| {
        let (name, description) = (text(tool, "name"), text(tool, "description"));
        name.chars().filter(char::is_ascii_alphabetic).count() >= 3 && description.split_whitespace().count() >= 3
    })
}

fn schemas(facts: &Facts) -> Judged {
    const TYPED: [&str; 7] = ["type", "enum", "const", "$ref", "anyOf", "oneOf", "allOf"];
    each_tool(facts, "have a type for each argument", |tool| {
        let Some(schema) = tool.get("inputSchema").filter(|schema| text(schema, "type") == "object") else {
            return false;
        };
        let properties = schema.get("properties").and_then(Value::as_object);
        properties.into_iter().flatten().all(|(_, one)| TYPED.iter().any(|name| one.get(name).is_some()))
    })
}

fn side_effects(facts: &Facts) -> Judged {
    each_tool(facts, "say readOnlyHint, and where they write destructiveHint and idempotentHint", |tool| {
        let hint = |name: &str| tool.get("annotations").and_then(|hints| hints.get(name)?.as_bool());
        let says_how = || hint("destructiveHint").is_some() && hint("idempotentHint").is_some();
        hint("readOnlyHint").is_some_and(|reads| reads || says_how())
    })
}

fn tasks(facts: &Facts) -> Judged {
    let supports = |tool: &&Value| matches!(tool.pointer("/execution/taskSupport"), Some(Value::String(how)) if how != "forbidden");
    if let Some(tool) = facts.tools.as_ref().ok().and_then(|tools| tools.iter().find(supports)) {
        return (Yes, format!("tools/list: {} has execution.taskSupport", text(tool, "name")));
    }
    let pointer = format!("/result/capabilities/extensions/{}", TASKS_EXTENSION.replace('/', "~1"));
    match &facts.discovered {
        Ok(found) if found.pointer(&pointer).is_some() => {
            return (Yes, format!("server/discover: the capability {TASKS_EXTENSION}"));
        }
        Ok(_) => {}
        Err(why) => return (Unknown, why.clone()),
    }
    let Ok((200, page)) = &facts.metrics else {
        return (Unknown, "no tool and no capability names tasks, and no metrics say how long calls take".to_owned());
    };
    let name = "proof_gateway_tool_duration_seconds";
    let sum = |begin: String, part: &str| -> f64 {
        let lines = page.lines().filter(|line| line.starts_with(&begin) && line.contains(part));
        lines.filter_map(|line| line.rsplit(' ').next()?.parse::<f64>().ok()).sum()
    };
    let (all, short) = (sum(format!("{name}_count"), ""), sum(format!("{name}_bucket"), "le=\"10\""));
    if all > short {
        return (No, format!("nothing names tasks, and {} of {all} calls took more than 10 s", all - short));
    }
    (Unknown, format!("nothing names tasks, and none of {all} calls took more than 10 s"))
}

fn idempotency(facts: &Facts) -> Judged {
    let counted = matches!(&facts.metrics, Ok((200, page)) if page.contains("\nidempotency_keys "));
    let counts = if counted { "; /metrics has idempotency_keys" } else { "" };
    match facts.settings.as_ref().map(|settings| settings.answers.idempotency.as_ref()) {
        Some(Some(settings)) => {
            let writes = if settings.writes == Writes::Optional { "optional" } else { "require" };
            if !counted && matches!(facts.metrics, Ok((200, _))) {
                return (No, "`idempotency` is configured, but the running gateway has none".to_owned());
            }
            (Yes, format!("the configuration has `idempotency` with `writes: {writes}`{counts}"))
        }
        Some(None) => (No, "the configuration has no `idempotency`".to_owned()),
        None if counted => (Yes, "/metrics has idempotency_keys".to_owned()),
        None => each_tool(facts, "only read, or take an `idempotency_key`", |tool| {
            let reads = tool.pointer("/annotations/readOnlyHint") == Some(&Value::Bool(true));
            reads || tool.pointer("/inputSchema/properties/idempotency_key").is_some()
        }),
    }
}

fn errors(facts: &Facts) -> Judged {
    let answer = match &facts.unknown_tool {
        Ok(answer) => answer,
        Err(why) => return (Unknown, why.clone()),
    };
    let places = ["/error/data", "/result/structuredContent", "/result/_meta/dev.proofhouse~1error"];
    let whole = |data: &&Value| {
        data.get("category").is_some_and(Value::is_string) && data.get("retryable").is_some_and(Value::is_boolean)
    };
    let asked = "tools/call of an unknown tool";
    if let Some(data) = places.iter().filter_map(|place| answer.pointer(place)).find(whole) {
        let retry = if data["retryable"] == true { "retryable" } else { "not retryable" };
        return (Yes, format!("{asked}: {}, {retry}", text(data, "category")));
    }
    let code = answer.pointer("/error/code").map_or_else(|| "a result".to_owned(), |code| format!("error {code}"));
    (No, format!("{asked}: {code} without `category` and `retryable`"))
}

fn breakers(facts: &Facts) -> Judged {
    match &facts.metrics {
        Ok((200, page)) => match page.lines().find(|line| line.starts_with("# TYPE ") && line.contains("breaker")) {
            Some(line) => (Yes, format!("/metrics: {}", line.trim_start_matches("# TYPE "))),
            None => (No, "/metrics has no series of a circuit breaker".to_owned()),
        },
        other => (Unknown, unseen(other, "/metrics")),
    }
}

/// Why a page says nothing.
fn unseen(page: &Page, path: &str) -> String {
    match page {
        Ok((status, _)) => format!("{path} answers {status}"),
        Err(why) => why.clone(),
    }
}

fn health(facts: &Facts) -> Judged {
    match (&facts.health, &facts.ready) {
        (Ok((200, _)), Ok((200, _))) => (Yes, "/health and /ready answer 200".to_owned()),
        (Ok((200, _)), Ok((503, why))) => (No, format!("/health answers 200, /ready 503: {}", why.trim())),
        (Ok((health, _)), Ok((ready, _))) => (No, format!("/health answers {health}, /ready {ready}")),
        (Err(why), _) | (_, Err(why)) => (Unknown, why.clone()),
    }
}

fn metrics(facts: &Facts) -> Judged {
    match &facts.metrics {
        Ok((200, page)) if page.contains("# TYPE proof_gateway_tool_duration_seconds histogram\n") => {
            let is_count = |line: &&str| line.starts_with("proof_gateway_tool_duration_seconds_count{");
            let tools = page.lines().filter(is_count).filter(|line| !line.contains("tool=\"…\"")).count();
            (Yes, format!("/metrics: proof_gateway_tool_duration_seconds, {tools} tools so far"))
        }
        Ok((200, page)) if page.lines().any(|line| line.contains("tool=\"") || line.contains("tool_name=\"")) => {
            (Yes, "/metrics has series with a label for the tool".to_owned())
        }
        Ok((200, _)) => (No, "/metrics has no series for a tool".to_owned()),
        Ok((status, _)) => (No, format!("/metrics answers {status}")),
        Err(why) => (Unknown, why.clone()),
    }
}

fn access(facts: &Facts) -> Judged {
    if let Some(settings) = &facts.settings {
        let has_rules = settings.access.is_some() || settings.authzen.is_some();
        let certificates = settings.tls.as_ref().is_some_and(|tls| tls.clients.is_some());
        let lacks = [("auth", settings.auth.is_none() && !certificates), ("access", !has_rules)];
        let lacks: Vec<_> = lacks.iter().filter(|(_, lacks)| *lacks).map(|(name, _)| format!("`{name}`")).collect();
        if !lacks.is_empty() {
            return (No, format!("the configuration has no {}", lacks.join(" and no ")));
        }
    }
    match (&facts.anonymous, &facts.settings) {
        (Ok((401, _)), Some(settings)) => {
            let rules = settings.access.as_ref().map_or(0, Vec::len);
            let point = if settings.authzen.is_some() { ", and `authzen` is asked" } else { "" };
            (Yes, format!("initialize without a token is answered by 401; `access` has {rules} rules{point}"))
        }
        (Ok((401, _)), None) => {
            (Unknown, "initialize without a token is answered by 401; rules cannot be seen from outside".to_owned())
        }
        (Ok((status, _)), _) => (No, format!("initialize without a token is answered by {status}")),
        (Err(why), _) => (Unknown, why.clone()),
    }
}

fn audit(facts: &Facts) -> Judged {
    let lost = match &facts.metrics {
        Ok((200, page)) => page.lines().find_map(|line| line.strip_prefix("audit_lost_total ")),
        _ => None,
    };
    match (&facts.settings, &facts.audit) {
        (None, _) => (Unknown, "a log cannot be seen from outside".to_owned()),
        (Some(_), None) => (No, "the configuration has no `audit`".to_owned()),
        (Some(_), Some(Ok(verified))) if lost.is_some_and(|lost| lost != "0") || verified.lost > 0 => {
            (No, "the log lacks records that could not be written".to_owned())
        }
        (Some(_), Some(Ok(verified))) => {
            let signed = if verified.signatures > 0 { "signed" } else { "not signed" };
            (Yes, format!("the log is consistent: {} lines, {signed}", verified.lines))
        }
        (Some(_), Some(Err(error @ VerifyError::Line { .. }))) => (No, error.to_string()),
        (Some(_), Some(Err(error))) => (Unknown, format!("`audit` is configured, but {error}")),
    }
}
