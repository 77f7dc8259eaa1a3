//! Users' consents that several gateways share: a link of one works at another, a refresh token is used once, and an end is one at
//! all of them.

use std::process::Command;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use net::server::http::{
    self, Denied, Grant, Guard, GuardRequest, GuardResponse, Head, HeaderMap, HttpFuture, Server, StatusCode,
};
use net::service::Service;
use serde_json::{Value, json};
use tokio::time::sleep;
use url::Url;
use wire::Message;

use crate::browser::{Browser, Page};
use crate::provider::Provider;
use crate::redis::Redis;
use crate::scene::{Outcome, Scene};

const ISSUER: &str = "https://auth.example";
const PATIENCE: Duration = Duration::from_secs(20);

/// Lets tokens `up.ACCOUNT.NUMBER` in, and remembers them. The second list has those that it refuses.
#[derive(Clone, Debug, Default)]
struct Door(Arc<Mutex<(Vec<String>, Vec<String>)>>);

impl Door {
    /// The tokens that came since the last look.
    fn take(&self) -> Vec<String> {
        let mut tokens = std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner).0);
        tokens.sort();
        tokens.dedup();
        tokens
    }

    /// Refuses from now on what it let in since the last look.
    fn refuse(&self) {
        let tokens = self.take();
        self.0.lock().unwrap_or_else(PoisonError::into_inner).1.extend(tokens);
    }
}

impl Guard for Door {
    fn owns(&self, _: &str) -> bool {
        false
    }

    fn serve(&self, _: GuardRequest) -> HttpFuture<'_, GuardResponse> {
        let (status, headers) = (StatusCode::NOT_FOUND, HeaderMap::new());
        Box::pin(async move { GuardResponse { status, headers, body: Vec::new() } })
    }

    fn admit<'g>(&'g self, head: Head<'g>) -> HttpFuture<'g, Result<Grant, Denied>> {
        let token = head.headers.get("authorization").and_then(|value| value.to_str().ok()).unwrap_or_default();
        let token = token.strip_prefix("Bearer ").unwrap_or_default().to_owned();
        let denied =
            Denied { status: StatusCode::UNAUTHORIZED, challenge: "Bearer".to_owned(), nonce: None, error: None };
        let user = token.strip_prefix("up.").and_then(|rest| rest.split('.').next()).map(str::to_owned);
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let user = user.filter(|_| !held.1.contains(&token));
        held.0.push(token);
        drop(held);
        let result = user.map(|subject| Grant { subject, ..Grant::default() }).ok_or(denied);
        Box::pin(async move { result })
    }

    fn permits(&self, _: &Grant, _: Head<'_>, _: &Message) -> Result<(), Denied> {
        Ok(())
    }
}

/// Replicas before a server that users consent to.
struct Consenting {
    scene: Scene,
    provider: Provider,
    door: Door,
    _server: Server,
}

impl Consenting {
    async fn start(replicas: usize) -> Self {
        let (provider, door) = (Provider::start().await, Door::default());
        let options = http::Options { guard: Some(Arc::new(door.clone())), ..http::Options::default() };
        let service: Arc<dyn Service> = Arc::new(reference::Server::new(reference::Options::default()));
        let server = http::listen(service, ([127, 0, 0, 1], 0).into(), options).await.expect("a free port");
        let more = format!(
            "  crm:\n    url: http://{}/mcp\n    credentials: {{ grant: authorization-code, issuer: \"{}\", scopes: [crm.read] }}\n\
             consents: {{ keys: [{{ from_env: CONSENT_KEY }}], login: page, wait: 1m }}\n",
            server.local_addr(),
            provider.url("")
        );
        let scene = Scene::start(replicas, Redis::start().await, "URL", &more).await;
        scene.recovered().await;
        Self { scene, provider, door, _server: server }
    }

    async fn call(&self, replica: usize, user: &str) -> Outcome {
        self.scene.call(replica, user, "echo", json!({ "message": "heard" })).await
    }

    /// Waits until a call runs: what one gateway knows reaches the others in a moment, and a list that failed before the consent
    /// is asked for again within 5 s.
    async fn runs(&self, replica: usize, user: &str) {
        let begun = Instant::now();
        loop {
            let outcome = self.call(replica, user).await;
            if outcome.text() == "heard" {
                return;
            }
            let is_early = match outcome.failure() {
                "consent-needed" => begun.elapsed() < Duration::from_secs(3),
                "list-missing" => begun.elapsed() < PATIENCE,
                _ => false,
            };
            assert!(is_early, "at {replica}: {outcome:?}");
            sleep(Duration::from_millis(50)).await;
        }
    }

    /// Waits until a call fails so.
    async fn fails(&self, replica: usize, user: &str, failure: &str) {
        let begun = Instant::now();
        loop {
            let outcome = self.call(replica, user).await;
            if outcome.failure() == failure {
                assert!(outcome.is_not_run());
                return;
            }
            assert!(begun.elapsed() < Duration::from_secs(5), "at {replica}, not {failure}: {outcome:?}");
            sleep(Duration::from_millis(50)).await;
        }
    }

    /// Waits until a prompt is refused so: for calls, the store decides about more than consents.
    async fn refuses(&self, replica: usize, user: &str, failure: &str) {
        let begun = Instant::now();
        loop {
            let params = json!({ "name": "bug_report", "arguments": { "summary": "it hangs" } });
            let outcome = self.scene.ask((replica, user), "prompts/get", "bug_report", params).await;
            if outcome.failure() == failure {
                assert!(outcome.is_not_run());
                return;
            }
            assert!(begun.elapsed() < Duration::from_secs(5), "{user}: {outcome:?}");
            sleep(Duration::from_millis(50)).await;
        }
    }

    /// The address that a user is to open, as one replica says.
    async fn link(&self, replica: usize, user: &str) -> Url {
        let outcome = self.call(replica, user).await;
        let Outcome::Response { message, .. } = &outcome else { panic!("{outcome:?}") };
        assert_eq!(outcome.failure(), "consent-needed", "{outcome:?}");
        Url::parse(message["error"]["data"]["url"].as_str().expect("an address")).expect("a URL")
    }

    /// The same address as it leads to one replica.
    fn at(&self, replica: usize, url: &Url) -> Url {
        let mut url = url.clone();
        let address = self.scene.replicas[replica].address();
        url.set_host(Some("127.0.0.1")).expect("a host");
        url.set_port(Some(address.port())).expect("a port");
        url
    }

    /// A browser that comes back: the link is of the first replica, opened at the second and agreed to at the third.
    async fn underway(&self, [asked, opened, agreed]: [usize; 3], user: &str) -> (Browser, Url) {
        let (mut browser, link) = (Browser::default(), self.link(asked, user).await);
        let page = browser.get(&self.at(opened, &link)).await;
        let form = [("ticket", page.field("ticket")), ("token", page.field("token"))];
        let form: Vec<_> = form.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let mut post = self.at(agreed, &link);
        post.set_query(None);
        let sent = browser.post(&post, &form).await;
        assert_eq!(sent.status, 303, "{}", sent.body);
        (browser, Browser::default().get(&sent.location()).await.location())
    }

    async fn consent(&self, places: [usize; 4], user: &str) -> Page {
        let [asked, opened, agreed, back] = places;
        let (mut browser, url) = self.underway([asked, opened, agreed], user).await;
        browser.get(&self.at(back, &url)).await
    }

    /// What `proof gateway consents` answers of one replica.
    fn command(&self, replica: usize, words: &[&str]) -> (bool, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_proof-gateway"));
        command.arg("consents").args(words).arg("--pid").arg(self.scene.replicas[replica].process().to_string());
        let output = command.output().expect("it runs");
        let text = [output.stdout, output.stderr].concat();
        (output.status.success(), String::from_utf8_lossy(&text).into_owned())
    }

    fn refreshed(&self) -> usize {
        self.provider.asked("refresh_token")
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_link_of_one_gateway_works_at_all_and_its_response_counts_once() {
    let it = Consenting::start(3).await;
    assert_eq!(it.link(0, "ann").await, it.link(1, "ann").await, "one question at a time, wherever");
    assert_ne!(it.link(0, "ann").await, it.link(0, "bob").await);
    let (mut browser, back) = it.underway([0, 1, 2], "ann").await;
    let foreign = Browser::default().get(&it.at(0, &back)).await;
    assert_eq!(foreign.status, 403, "another browser used it up");
    let (answered, link) = (browser.get(&it.at(1, &back)).await, it.link(2, "ann").await);
    assert_eq!(answered.status, 403, "{}", answered.body);

    let (mut browser, back) = it.underway([2, 0, 1], "ann").await;
    let pages = join_all((0..3).map(|replica| {
        let (mut browser, url) = (browser.clone(), it.at(replica, &back));
        async move { browser.get(&url).await.status }
    }))
    .await;
    assert_eq!(pages.iter().filter(|status| **status == 200).count(), 1, "{pages:?}");
    assert_eq!(pages.iter().filter(|status| **status == 403).count(), 2, "{pages:?}");
    assert_eq!(it.provider.asked("authorization_code"), 1, "the code is sent once");
    assert_eq!(browser.get(&it.at(2, &link)).await.status, 404, "the link is used up, too");
    it.door.take();
    for replica in 0..3 {
        it.runs(replica, "ann").await;
    }
    assert_eq!(it.door.take(), ["up.ann-at-crm.1"]);
    it.link(1, "bob").await;
    assert!(it.door.take().is_empty(), "nothing was sent without bob's consent");

    // The store has nothing that can be read.
    let file = it.scene.redis.file();
    let refresh = it.provider.with(|state| state.refresh.keys().cloned().collect::<Vec<_>>());
    let secrets = ["up.ann-at-crm", "s3cret", "\"sub\"", "ann-at", ISSUER];
    assert!(file.windows(8).any(|part| part == b"consents"), "it is this file");
    for secret in refresh.iter().map(String::as_str).chain(secrets) {
        assert!(!file.windows(secret.len()).any(|part| part == secret.as_bytes()), "{secret}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_end_at_one_gateway_is_one_at_all() {
    let it = Consenting::start(3).await;
    assert_eq!(it.consent([0, 0, 0, 0], "ann").await.status, 200);
    for replica in 0..3 {
        it.runs(replica, "ann").await;
    }
    let (listed, text) = it.command(1, &["list", "--json"]);
    assert!(listed && !text.contains("up."), "{text}");
    let list: Value = serde_json::from_str(&text).expect("JSON");
    let one = &list["consents"][0];
    assert_eq!(
        (&one["upstream"], &one["opens"], list["consents"].as_array().map(Vec::len)),
        (&json!("crm"), &json!(true), Some(1))
    );
    let id = one["id"].as_str().expect("an id");
    assert!(!it.command(1, &["revoke", "another"]).0);
    let (revoked, text) = it.command(1, &["revoke", id]);
    assert!(revoked, "{text}");
    for replica in 0..3 {
        it.fails(replica, "ann", "consent-needed").await;
    }
    let (_, text) = it.command(2, &["list"]);
    assert!(text.starts_with("id") && !text.contains("crm"), "{text}");

    // A gateway that is cut off uses no token, and learns the end when it is back.
    assert_eq!(it.consent([1, 2, 0, 1], "ann").await.status, 200);
    it.runs(0, "ann").await;
    let (mut browser, back) = it.underway([1, 2, 0], "bob").await;
    it.scene.replicas[0].proxy.cut();
    it.refuses(0, "ann", "store-away").await;
    it.door.take();
    it.refuses(0, "bob", "store-away").await;
    assert!(it.call(0, "ann").await.is_not_run() && it.call(0, "bob").await.is_not_run());
    assert_eq!(browser.get(&it.at(0, &back)).await.status, 503);
    assert!(!it.command(0, &["list"]).0);
    let list: Value = serde_json::from_str(&it.command(1, &["list", "--json"]).1).expect("JSON");
    assert!(it.command(1, &["revoke", list["consents"][0]["id"].as_str().expect("an id")]).0);
    assert!(it.door.take().is_empty());
    it.scene.replicas[0].proxy.mend();
    it.scene.replicas[0].uses_store().await;
    it.refuses(0, "ann", "consent-needed").await;
    assert!(it.door.take().is_empty(), "no token of the ended consent was used");
    assert_eq!(browser.get(&it.at(0, &back)).await.status, 200, "a refusal did not use the response up");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refresh_token_is_used_once_by_all_gateways_together() {
    let it = Consenting::start(3).await;
    let users = ["ann", "bob", "cid"];
    // Too old to be used after a second, and not renewed yet.
    it.provider.with(|state| state.life = 11);
    for (place, user) in users.iter().enumerate() {
        assert_eq!(it.consent([place; 4], user).await.status, 200);
    }
    it.provider.with(|state| (state.life, state.delay) = (600, Duration::from_millis(300)));
    sleep(Duration::from_millis(1_500)).await;
    for round in 1..=2 {
        let outcomes = join_all((0..36).map(|number| it.call(number % 3, users[number / 12]))).await;
        let failed = outcomes.iter().find(|outcome| outcome.text() != "heard");
        assert!(failed.is_none(), "{failed:?}");
        assert_eq!(it.refreshed(), users.len() * round, "in round {round}");
        // The server refuses them, and each gateway notices by itself.
        it.door.refuse();
    }
    assert_eq!(it.provider.with(|state| state.refresh.len()), users.len(), "none was lost");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_gateway_that_is_killed_while_it_renews_is_followed_by_another() {
    let it = Consenting::start(2).await;
    it.provider.with(|state| state.life = 11);
    for user in ["ann", "bob"] {
        assert_eq!(it.consent([0; 4], user).await.status, 200);
    }
    sleep(Duration::from_millis(1_500)).await;
    // The authorization server did nothing; or it did, and the next token is lost.
    for (user, is_used_up, outcome) in [("ann", false, "heard"), ("bob", true, "consent-needed")] {
        let before = it.refreshed();
        it.provider.with(|state| state.hang = Some(is_used_up));
        let lost = tokio::time::timeout(Duration::from_millis(1_500), it.call(0, user)).await;
        assert!(lost.is_err(), "it waits for the authorization server");
        assert_eq!(it.refreshed(), before + 1);
        it.scene.replicas[0].kill();
        it.provider.with(|state| state.hang = None);
        let begun = Instant::now();
        loop {
            let got = it.call(1, user).await;
            if [got.text(), got.failure()].contains(&outcome) {
                break;
            }
            // A list waits for 5 s.
            assert!(got.failure() == "list-missing" && begun.elapsed() < PATIENCE, "{user}: {got:?}");
        }
        assert!(begun.elapsed() > Duration::from_secs(2), "a living gateway is not overtaken");
        assert_eq!(it.refreshed(), before + 2, "it was tried once more");
        it.scene.replicas[0].start_again().await;
        it.scene.replicas[0].uses_store().await;
    }
    assert_eq!(it.consent([1, 0, 1, 0], "bob").await.status, 200);
    it.runs(1, "bob").await;
}

/// The next refresh token comes while the store is away: it is written later, and the old one is not used again.
#[tokio::test(flavor = "multi_thread")]
async fn a_renewed_consent_waits_for_the_store() {
    let it = Consenting::start(2).await;
    it.provider.with(|state| state.life = 11);
    assert_eq!(it.consent([0, 0, 0, 0], "ann").await.status, 200);
    it.provider.with(|state| (state.life, state.delay) = (600, Duration::from_millis(700)));
    sleep(Duration::from_millis(1_500)).await;
    let (outcome, ()) = tokio::join!(it.call(0, "ann"), async {
        sleep(Duration::from_millis(300)).await;
        it.scene.replicas[0].proxy.cut();
    });
    assert_eq!(outcome.failure(), "store-away", "{outcome:?}");
    it.provider.with(|state| state.delay = Duration::ZERO);
    it.scene.replicas[0].proxy.mend();
    it.scene.replicas[0].uses_store().await;
    let begun = Instant::now();
    it.door.take();
    while it.call(1, "ann").await.text() != "heard" {
        assert!(begun.elapsed() < PATIENCE);
        sleep(Duration::from_millis(100)).await;
    }
    assert_eq!((it.refreshed(), it.door.take()), (1, vec!["up.ann-at-crm.2".to_owned()]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_that_forgets_has_users_asked_again() {
    let it = Consenting::start(2).await;
    assert_eq!(it.consent([0, 1, 0, 1], "ann").await.status, 200);
    for replica in 0..2 {
        it.runs(replica, "ann").await;
    }
    let (mut browser, back) = it.underway([0, 1, 0], "bob").await;
    assert!(it.scene.redis.ask("FLUSHALL").await.is_some_and(|reply| reply.contains("OK")));
    assert_eq!(browser.get(&it.at(1, &back)).await.status, 403, "its request is forgotten");
    for replica in 0..2 {
        it.fails(replica, "ann", "consent-needed").await;
    }
    assert_eq!(it.consent([1, 0, 1, 0], "ann").await.status, 200);
    for replica in 0..2 {
        it.runs(replica, "ann").await;
    }
}
