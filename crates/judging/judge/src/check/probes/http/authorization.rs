//! Requests without a token, with ones that we made up, and the documents that tell where one is to be had. Only the
//! server's own origin is asked, and the user's token goes nowhere but where it goes anyway.

use net::client::{Address, Outgoing};
use serde_json::{Value, json};
use wire::trace::{Headers, Stimulus};
use wire::{Era, Revision};

use super::{HTTP, put};
use crate::check::context::{Abort, ProbeContext, Setting};
use crate::check::probe::{Probe, Script};
use crate::check::survey::Survey;

/// A token that nobody issued. It is nobody's secret, and says so.
const MADE_UP: &str = "proofhouse-made-this-token-up";

/// One for another server: header `RS256`, claims `iss` and `aud` under example names, far from expired; the signature is
/// none.
const FOREIGN: &str = concat!(
    "eyJhbGciOiJSUzI1NiIsInR5cCI6ImF0K2p3dCIsImtpZCI6InByb29maG91c2UifQ.",
    "eyJpc3MiOiJodHRwczovL2lzc3Vlci5leGFtcGxlIiwic3ViIjoicHJvb2Zob3VzZSIsImF1ZCI6Imh0dHBzOi8vZWxzZXdoZXJlLmV4YW1wbGUvbWNwIiwi",
    "aWF0IjoxNzAwMDAwMDAwLCJleHAiOjQxMDI0NDQ4MDB9.",
    "bm8tc2lnbmF0dXJlLWF0LWFsbC1qdXN0LXNvbWUtbGV0dGVycw"
);

const RESOURCE: &str = "/.well-known/oauth-protected-resource";
const SERVER: &str = "/.well-known/oauth-authorization-server";
/// Where authorization begins on a server of 2025-03-26 that has no metadata. Without parameters nothing begins.
const AUTHORIZE: &str = "/authorize";
const JSON: &str = "application/json";

pub(in super::super) const TOKENS: Probe =
    Probe::bare("authorization", tokens).on(HTTP).since(Revision::R2025_03_26).when(wants_token);

/// Whether the user gave a token, or the server asked for one.
fn wants_token(setting: &Setting, survey: &Survey) -> bool {
    setting.is_authorized() || survey.refused.is_some()
}

/// What is asked with and without a token: the greeting, unless that needs none and something else does.
struct Question<'q>(Option<&'q str>);

impl Question<'_> {
    fn of(case: &ProbeContext) -> Question<'_> {
        let refused = case.survey().refused.as_deref();
        Question(refused.filter(|method| !matches!(*method, "initialize" | "server/discover")))
    }

    /// A list, for servers that greet everybody and show what they have to some.
    fn list(case: &ProbeContext) -> Option<Question<'_>> {
        let lists = [("tools", "tools/list"), ("resources", "resources/list"), ("prompts", "prompts/list")];
        lists
            .into_iter()
            .find(|(capability, _)| case.survey().has(capability))
            .map(|(_, method)| Question(Some(method)))
    }

    /// Asks on a connection of its own, changed by `change`: status and headers of the answer.
    async fn ask(
        &self,
        case: &ProbeContext,
        stimulus: Option<Stimulus>,
        change: impl Fn(Outgoing) -> Outgoing,
    ) -> Result<Option<(u16, Headers)>, Abort> {
        case.on_another_connection(async |other| {
            if self.0.is_some() {
                other.handshake().await?;
            }
            if let Some(stimulus) = &stimulus {
                other.stimulus(stimulus.clone());
            }
            let (method, params) = self.text(other);
            let text = other.request_text(&json!(other.next_id()), method, params);
            let exchange = other.connection().send_with(change(Outgoing::message(text))).await?;
            let head = exchange.head(other.patience()).await;
            exchange.finished(other.short()).await;
            Ok(head)
        })
        .await
    }

    fn text(&self, case: &ProbeContext) -> (&str, Value) {
        match (self.0, case.era()) {
            (Some(method), _) => (method, json!({})),
            (None, Era::Legacy) => ("initialize", case.initialize_params()),
            (None, Era::Modern) => ("server/discover", json!({})),
        }
    }
}

/// Without a token twice, then with what is none; and what the server says about itself to whoever has none.
fn tokens(case: &ProbeContext) -> Script<'_> {
    Box::pin(async move {
        let welcome = case.handshake().await.is_ok();
        let mut question = Question::of(case);
        let mut answer = question.ask(case, None, bare).await?;
        if let (Some((200..=299, _)), Some(list)) = (&answer, Question::list(case)) {
            question = list;
            answer = question.ask(case, None, bare).await?;
        }
        let Some((401, headers)) = answer else {
            // Was it refused for want of the token? Then this is not.
            question.ask(case, None, |o| o).await?;
            return Ok(());
        };
        documents(case, &headers).await?;
        for (stimulus, token) in [(Stimulus::MadeUpToken, MADE_UP), (Stimulus::ForeignToken, FOREIGN)] {
            let with = |o: Outgoing| o.header("Authorization", format!("Bearer {token}"));
            question.ask(case, Some(stimulus), with).await?;
        }
        question.ask(case, None, bare).await?;
        if welcome && case.connection().session_id().is_some() {
            put(case, bare).await?;
        }
        Ok(())
    })
}

fn bare(outgoing: Outgoing) -> Outgoing {
    outgoing.without("Authorization")
}

/// Fetches what a client would: the document that the challenge names, else the well-known ones.
async fn documents(case: &ProbeContext, headers: &Headers) -> Result<(), Abort> {
    let Address::Http(home) = &case.setting().address else { return Ok(()) };
    let path = home.url.path().trim_end_matches('/');
    let challenges = wire::http::challenges(headers);
    match challenges.iter().find_map(|challenge| challenge.parameter("resource_metadata")) {
        Some(named) => {
            // Nobody else is asked anything.
            if let Some(target) = home.own_target(named) {
                fetch(case, &target, JSON).await?;
            }
        }
        None => {
            first_of(case, [format!("{RESOURCE}{path}"), RESOURCE.to_owned()]).await?;
        }
    }
    if case.revision() == Revision::R2025_03_26 {
        let places = [SERVER.to_owned(), format!("{SERVER}{path}"), format!("{path}{SERVER}")];
        if !first_of(case, places).await? {
            fetch(case, AUTHORIZE, "*/*").await?;
        }
    }
    Ok(())
}

/// Fetches one after the other until one is there, and says whether one is. Where the endpoint is at the root, all are one.
async fn first_of<const N: usize>(case: &ProbeContext, targets: [String; N]) -> Result<bool, Abort> {
    for (at, target) in targets.iter().enumerate() {
        if !targets[..at].contains(target) && fetch(case, target, JSON).await? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether a JSON object came.
async fn fetch(case: &ProbeContext, target: &str, accept: &str) -> Result<bool, Abort> {
    let get = Outgoing::bare("GET").target(target).header("Accept", accept);
    let exchange = case.connection().send_with(bare(get).without_session()).await?;
    exchange.finished(case.patience()).await;
    let object = |body: Vec<u8>| serde_json::from_slice::<Value>(&body).is_ok_and(|found| found.is_object());
    Ok(exchange.status() == Some(200) && exchange.body().is_some_and(object))
}

pub(in super::super) const IN_QUERY: Probe = Probe::bare("authorization-query", in_query)
    .on(HTTP)
    .since(Revision::R2025_03_26)
    .when(|setting, _| setting.is_authorized())
    .safety()
    .intrusive();

/// The valid token where it must not be. Addresses end up in logs, so this stays on our own machine unless told otherwise.
fn in_query(case: &ProbeContext) -> Script<'_> {
    Box::pin(async move {
        let Address::Http(home) = &case.setting().address else { return Ok(()) };
        let token =
            home.bearer().filter(|token| is_plain(token)).ok_or(Abort::Lacks("a token that an address can carry"))?;
        let question = Question(None);
        case.handshake().await?;
        let Some((401, _)) = question.ask(case, None, bare).await? else { return Ok(()) };
        let query = home.url.query().map_or(String::new(), |query| format!("{query}&"));
        let target = format!("{}?{query}access_token={token}", home.url.path());
        question.ask(case, None, |o| bare(o).target(target.clone())).await?;
        Ok(())
    })
}

/// Whether a URL carries it as it is: what had to be encoded would not be known for a secret afterwards.
fn is_plain(token: &str) -> bool {
    token.bytes().all(|b| b.is_ascii_alphanumeric() || b"-._~".contains(&b))
}
