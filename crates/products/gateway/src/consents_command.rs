//! The commands `consents list` and `consents revoke`: what users consented to at a running gateway. Shows no token.

use std::time::Duration;

use clap::{Args, Subcommand};
use serde_json::Value;
use wire::timestamp::rfc3339;

use crate::control::REVOKE;
use crate::tell::{Failure, tell};
use crate::watch::{ask, find, show, table, text};

/// What to do with consents.
#[derive(Args, Debug)]
pub(crate) struct ConsentsArgs {
    #[command(subcommand)]
    action: ConsentsAction,
}

#[derive(Subcommand, Debug)]
enum ConsentsAction {
    /// List who consented to what
    List {
        /// Process of the gateway [default: the only one that runs]
        #[arg(long, value_name = "PID")]
        pid: Option<u32>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// End a consent: the gateway forgets its tokens
    Revoke {
        /// Id of the consent, as `consents list` shows it
        id: String,
        /// Process of the gateway [default: the only one that runs]
        #[arg(long, value_name = "PID")]
        pid: Option<u32>,
    },
}

/// Asks a running gateway.
pub(crate) async fn run(args: &ConsentsArgs) -> Result<(), Failure> {
    match &args.action {
        ConsentsAction::List { pid, json } => {
            let value = answer(*pid, "consents").await?;
            let listed = if *json { format!("{value}\n") } else { lines(&value) };
            // A reader that left wants no more.
            let _ = show("", &listed);
            Ok(())
        }
        ConsentsAction::Revoke { id, pid } => {
            let letters =
                !id.is_empty() && id.len() <= 32 && id.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c));
            let remedy = "use an id that `proof gateway consents list` shows";
            if !letters {
                return Err(Failure::usage("this is not the id of a consent".to_owned(), remedy));
            }
            let value = answer(*pid, &format!("{REVOKE}{id}")).await?;
            if value["revoked"] != true {
                return Err(Failure::usage(format!("there is no consent {id}"), remedy));
            }
            tell(&format!("{id} is revoked"));
            Ok(())
        }
    }
}

async fn answer(pid: Option<u32>, word: &str) -> Result<Value, Failure> {
    let mut lines = ask(&find(pid).await?, word).await?;
    let line = lines.next_line().await.ok().flatten().unwrap_or_default();
    let value: Value = serde_json::from_str(&line)
        .map_err(|_| Failure::usage("the gateway gave no answer".to_owned(), "is it still running?"))?;
    match value["error"].as_str() {
        Some(why) => Err(Failure::usage(why.to_owned(), "check that the Redis or Valkey of `store` is running")),
        None => Ok(value),
    }
}

fn lines(value: &Value) -> String {
    let all: Vec<_> = value["consents"].as_array().into_iter().flatten().collect();
    let has_tenants = all.iter().any(|one| one["tenant"].is_string());
    let mut rows = vec![["id", "server", "since", "opens", "issuer", "principal"].map(str::to_owned).to_vec()];
    rows[0].extend(has_tenants.then(|| "tenant".to_owned()));
    for one in all {
        let since = rfc3339(Duration::from_secs(one["since"].as_u64().unwrap_or_default()));
        let is_known = one["since"].is_u64();
        let opens = if one["opens"] == true { "yes" } else { "no key" };
        rows.push(vec![
            text(one, "id").to_owned(),
            text(one, "upstream").to_owned(),
            since.get(..19).filter(|_| is_known).unwrap_or("-").to_owned(),
            opens.to_owned(),
            text(one, "issuer").to_owned(),
            text(one, "principal").to_owned(),
        ]);
        if let Some(row) = rows.last_mut().filter(|_| has_tenants) {
            row.push(text(one, "tenant").to_owned());
        }
    }
    match value["pending"].as_u64() {
        Some(pending) => format!("{}\n{pending} users are asked at this moment\n", table(&rows)),
        None => table(&rows),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::lines;

    #[test]
    fn consents_are_lines() {
        let value = json!({ "pending": 2, "consents": [{ "id": "abc", "principal": "[\"i\",\"sub\",\"ann\"]",
            "upstream": "crm", "issuer": "https://as.example", "since": 1, "opens": true }] });
        let shown = lines(&value);
        assert!(
            shown.contains("abc  crm     1970-01-01T00:00:01  yes    https://as.example  [\"i\",\"sub\",\"ann\"]"),
            "{shown}"
        );
        assert!(shown.ends_with("\n2 users are asked at this moment\n"), "{shown}");
        // Of a shared store: what no key opens, and tenants. Links are not counted.
        let value = json!({ "pending": null, "consents": [
            { "id": "abc", "principal": "ann", "tenant": "acme", "upstream": "crm", "issuer": "i", "since": 1, "opens": true },
            { "id": "def", "principal": null, "tenant": null, "upstream": null, "issuer": null, "since": null, "opens": false },
        ] });
        let shown = lines(&value);
        assert!(shown.contains("ann        acme") && shown.contains("no key"), "{shown}");
        assert!(!shown.contains("asked") && shown.matches("1970").count() == 1, "{shown}");
    }
}
