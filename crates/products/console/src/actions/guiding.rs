//! Guided authorization on the page: begins it, takes its steps, and makes the call with the token that came of them.

use std::sync::Arc;
use std::time::Duration;

use net::client::{Address, Authorizer, HttpAddress};
use oauth::GuidedToken;
use serde_json::Value;

use crate::Console;
use crate::guides::{Guided, Taken};
use crate::targets::{Connecting, Phase, Target};
use page::Body;
use page::Failure;

/// How long the call with the token may take, and how often it is looked for its end.
const CALL: Duration = Duration::from_secs(30);
const LOOK: Duration = Duration::from_millis(50);

impl Console {
    /// What the page asks of a guide: `begin`, `step`, `answer`, `stop` or `state`.
    pub(super) fn guide(&self, body: &Body) -> Result<Value, Failure> {
        let target = self.named(body)?;
        let act = body.text("act")?;
        if act == "begin" {
            let (http, words) = (address(&target)?, self.doctor.authorizing);
            let guided = Guided::begin(&self.hub, target.number, http, &self.authorization, words)?;
            self.guides.put(target.number, guided);
        }
        let guided = self.guides.of(target.number);
        let guided = guided.ok_or_else(|| Failure::not_now("no authorization was begun", "begin it first"))?;
        match act {
            "begin" | "state" => {}
            "step" => {
                let connecting = self.connecting.clone();
                let named = body.get("step").and_then(Value::as_str);
                guided.take(named, |token| call(connecting, target.clone(), token))?;
            }
            "answer" => guided.answer(body.text("url")?),
            "stop" => guided.stop(),
            other => {
                return Err(Failure::wrong(format!("unknown act `{other}`"), "begin, step, answer, stop or state"));
            }
        }
        Ok(guided.to_json())
    }
}

/// Where a token would go.
fn address(target: &Target) -> Result<&HttpAddress, Failure> {
    match target.options().map(|options| &options.address) {
        Some(Address::Http(http)) => Ok(http),
        Some(Address::Stdio(_)) => {
            let what = "a command needs no token: it has its credentials in its environment";
            Err(Failure::not_now(what, "give it variables with --env"))
        }
        Some(_) => Err(Failure::not_now("only Streamable HTTP is guided", "use --oauth=browser")),
        None => Err(Failure::not_now("there is no server to connect to", "open the server itself with proof inspect")),
    }
}

/// Connects with the token; all later connections of the target use it, too.
async fn call(connecting: Connecting, target: Arc<Target>, token: GuidedToken) -> Taken {
    target.authorize(Arc::new(token) as Arc<dyn Authorizer>);
    let before = connecting.hub.inner().table.next();
    connecting.connect(&target, None);
    let ended = tokio::time::timeout(CALL, async {
        loop {
            tokio::time::sleep(LOOK).await;
            if target.state().phase != Phase::Connecting {
                return;
            }
        }
    });
    let in_time = ended.await.is_ok();
    let state = target.state();
    let (session, phase, error) = (state.session, state.phase, state.error().cloned());
    let greeted = state.greeting.as_ref().map(|greeting| {
        let name = greeting.server_info().and_then(|info| info["name"].as_str()).unwrap_or("a server without a name");
        format!("{name} answers at revision {}", greeting.revision.as_str())
    });
    drop(state);
    let taken = match (phase, greeted, error) {
        (Phase::Open, Some(greeted), _) => Taken::ok(vec![greeted, "the connection is open".to_owned()]),
        (_, _, Some(error)) => Taken::failed(error.what, error.remedy),
        _ if !in_time => Taken::failed("no answer in time", "look at the log of the server"),
        _ => Taken::failed("the connection was closed", "connect again"),
    };
    taken.with_rows(connecting.hub.rows_since(before, session))
}
