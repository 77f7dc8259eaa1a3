//! `listed`: what a person has to write down.

use crate::config::{Launch, Server};
use crate::gate::{Finding, Judged};

/// By the entry alone.
pub fn judge(server: &Server) -> Judged {
    let missing = |member: &str, what: &str| Finding {
        rule: member.to_owned(),
        level: "missing".to_owned(),
        place: String::new(),
        message: what.to_owned(),
        fix: format!("add `{member}` to the entry of {}", server.name),
        fails: true,
    };
    let mut findings = Vec::new();
    if server.owner.is_none() {
        findings.push(missing("owner", "missing"));
    }
    if server.source.is_none() {
        findings.push(missing("source", "missing"));
    }
    if server.launch == Launch::Unknown {
        findings.push(missing("command", "missing: one of command, url, openapi, catalog"));
    }
    Judged::by_findings(findings, "owner, source and launch are known")
}
