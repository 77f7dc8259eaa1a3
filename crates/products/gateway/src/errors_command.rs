//! `proof-gateway errors`: prints the failures of the gateway, and what a client does about each kind. Needs no running
//! gateway.

use std::fmt::Write as _;

use clap::Args;
use gateway::failure::{Category, Failure, failures};
use serde_json::{Value, json};

#[derive(Args, Debug)]
pub(crate) struct ErrorsArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[expect(clippy::print_stdout, reason = "the result of the command")]
pub(crate) fn run(args: &ErrorsArgs) {
    if args.json {
        println!("{:#}", as_json());
    } else {
        print!("{}", as_text());
    }
}

fn as_json() -> Value {
    let row = |failure: &Failure| {
        json!({
            "failure": failure.name,
            "when": failure.when,
            "code": failure.code,
            "http_status": failure.status,
            "category": failure.category.as_str(),
            "outcome": failure.outcome,
            "retryable": failure.retryable,
            "retry_after_ms": failure.retry_after_ms,
            "suggested_actions": [failure.suggested_action()],
        })
    };
    let recovery = |category: &Category| {
        let name = category.as_str().to_owned();
        (name, json!({ "action": category.recovery(), "advice": category.advice() }))
    };
    let recovery: Value = Category::ALL.iter().map(recovery).collect();
    json!({ "failures": failures().iter().map(row).collect::<Vec<_>>(), "recovery": recovery })
}

fn as_text() -> String {
    let mut out = String::new();
    for category in Category::ALL {
        let rows: Vec<_> = failures().iter().filter(|failure| failure.category == category).collect();
        let _ = writeln!(out, "{} – {}: {}", category.as_str(), category.recovery(), category.advice());
        for failure in rows {
            let code = failure.code.map(|code| code.to_string());
            let code = code.or_else(|| Some(format!("HTTP {}", failure.status?))).unwrap_or_default();
            let retry = match failure.retry_after_ms {
                Some(after) => format!("retry after {after} ms"),
                None => "no retry".to_owned(),
            };
            let outcome = failure.outcome.unwrap_or("-");
            let _ = writeln!(out, "  {:<24} {code:<9} {outcome:<8} {retry:<21} {}", failure.name, failure.when);
        }
        out.push('\n');
    }
    out.push_str("The members are in `data` of the error: failure, category, outcome, retryable, retry_after_ms,\n");
    out.push_str("suggested_actions. `--json` prints all of them.\n");
    out
}

#[cfg(test)]
mod tests {
    use gateway::failure::{Category, failures};

    use super::{as_json, as_text};

    #[test]
    fn every_failure_and_every_category_is_shown() {
        let (text, json) = (as_text(), as_json());
        for failure in failures() {
            assert!(text.contains(&format!("  {} ", failure.name)), "{text}");
        }
        for category in Category::ALL {
            assert!(text.contains(category.as_str()), "{text}");
            assert_eq!(json["recovery"][category.as_str()]["action"], category.recovery());
        }
        assert_eq!(json["failures"].as_array().map(Vec::len), Some(failures().len()));
        assert!(text.lines().all(|line| line.chars().count() <= 180), "{text}");
    }
}
