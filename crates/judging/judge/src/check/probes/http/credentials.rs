//! A credential that only we know: whoever repeats it has it from us.

use net::client::Address;
use serde_json::{Value, json};
use wire::Era;
use wire::meta::LOG_LEVEL;

use super::super::tools::callable;
use super::{HTTP, request};
use crate::check::context::{ProbeContext, Setting};
use crate::check::probe::{Probe, Script};

/// How many tools are called where no hint names one that logs.
const TOOLS: usize = 3;

/// What no issuer gave out.
const MADE_UP: &str = "Bearer proof-made-up-credential";

pub(in super::super) const LOGGED: Probe =
    Probe::fresh("http-credential-logged", logged).on(HTTP).needs("logging").when(|setting, _| !has_own(setting));

/// Whether the user sends a credential. Then every log message comes after one, and a made-up one would only be refused.
fn has_own(setting: &Setting) -> bool {
    let Address::Http(address) = &setting.address else { return false };
    address.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("authorization"))
}

/// Calls that log, with a credential.
fn logged(case: &ProbeContext) -> Script<'_> {
    Box::pin(async move {
        let hinted = case.setting().hints.logging.as_ref().map(|hint| (hint.tool.clone(), hint.arguments.clone()));
        let calls = hinted.map_or_else(|| callable(case).into_iter().take(TOOLS).collect(), |call| vec![call]);
        let mut meta = json!({});
        match case.era() {
            Era::Legacy => _ = case.request("logging/setLevel", json!({ "level": "debug" })).await?,
            Era::Modern => meta[LOG_LEVEL] = Value::from("debug"),
        }
        for (name, arguments) in calls {
            let params = json!({ "name": name, "arguments": arguments, "_meta": meta });
            request(case, "tools/call", params, |outgoing| outgoing.header("Authorization", MADE_UP)).await?;
        }
        Ok(())
    })
}
