//! `proof rules`: all rules as a list.

use judge::check::options::matches;
use rules::{Role, Rule};

use crate::args::saved_reports::{RoleArg, RulesArgs};
use crate::args::unknown_rule;
use crate::exit::{Exit, usage};
use crate::format::rule_list;

/// Lists the selected rules.
pub(crate) fn run(args: &RulesArgs) -> Exit {
    listed(args).map_or_else(|exit| exit, |()| Exit::Clean)
}

fn listed(args: &RulesArgs) -> Result<(), Exit> {
    args.to.check(&[])?;
    let unknown = |pattern: &&String| !rules::all_rules().any(|rule| matches(pattern, rule.id));
    if let Some(pattern) = args.only.iter().find(unknown) {
        return Err(unknown_rule(pattern));
    }
    let found: Vec<_> = rules::all_rules().filter(|rule| takes(args, rule)).collect();
    if found.is_empty() {
        return Err(usage("no rule matches all options", "remove one of the options"));
    }
    args.to.publish(&if args.json {
        rule_list::json(&found, args.revision)
    } else {
        rule_list::human(&found, args.revision, args.to.paint())
    })
}

fn takes(args: &RulesArgs, rule: &Rule) -> bool {
    let named = args.only.is_empty() || args.only.iter().any(|pattern| matches(pattern, rule.id));
    let bound = match args.role {
        None => true,
        Some(RoleArg::Server) => matches!(rule.role, Role::Server | Role::Both),
        Some(RoleArg::Client) => matches!(rule.role, Role::Client | Role::Both),
        Some(RoleArg::Both) => rule.role == Role::Both,
    };
    named && bound && args.revision.is_none_or(|revision| rule.sentence_at(revision).is_some())
}
