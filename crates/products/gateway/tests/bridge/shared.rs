//! Two gateways with the same key and a real `redis-server`: a login, a code and a refresh token of one are good at the other,
//! each once, and what has ended has ended at both.

use std::process::{Child, Command, Stdio};
use std::time::Duration;

use gateway::settings::{SharedStoreSettings, StoreLoss, StoreSettings};
use oauth::jose::sha256;
use tokio::time::sleep;
use url::Url;

use crate::browser::{Browser, Page, post};
use crate::scene::{Program, Scene, Tokens, free_address, parameter, serve};

/// It ends with its test.
struct Redis(Child);

impl Drop for Redis {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn redis() -> (Redis, StoreSettings) {
    let port = free_address().port();
    let mut command = Command::new("redis-server");
    command.args(["--port", &port.to_string(), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]);
    let child = command.stdout(Stdio::null()).spawn().expect("redis-server is installed");
    let (host, on_loss) = ("127.0.0.1".to_owned(), StoreLoss::Refuse);
    let shared = SharedStoreSettings { host, port, database: 0, tls: false, user: None, password: None, on_loss };
    (Redis(child), StoreSettings::Shared(shared))
}

/// The same address at another gateway.
fn at(url: &Url, port: u16) -> Url {
    let mut other = url.clone();
    other.set_port(Some(port)).expect("it has one");
    other
}

async fn token(port: u16, scene: &Scene, form: &[(&str, &str)]) -> Page {
    post(&at(&scene.url("/oauth/token"), port), form, "").await
}

fn by_code<'f>(program: &'f Program, code: &'f str) -> Vec<(&'f str, &'f str)> {
    vec![
        ("grant_type", "authorization_code"),
        ("code", code),
        ("client_id", &program.id),
        ("redirect_uri", &program.redirect),
        ("code_verifier", &program.verifier),
    ]
}

fn by_refresh<'f>(program: &'f Program, token: &'f str) -> Vec<(&'f str, &'f str)> {
    vec![("grant_type", "refresh_token"), ("refresh_token", token), ("client_id", &program.id)]
}

#[tokio::test]
async fn any_gateway_goes_on_with_a_login_and_nothing_counts_twice() {
    let (redis, store) = redis();
    let scene = Scene::with(|settings| settings.store = Some(store)).await;
    let address = free_address();
    let (_gateway, _server) = serve(&scene.settings, address).await;
    let other = address.port();
    let program = scene.program().await;
    // Each step at the other gateway.
    let mut browser = Browser::default();
    let page = browser.get(&scene.ask(&program)).await;
    let form = [("request", page.field("request")), ("answer", "allow".to_owned())];
    let form = form.each_ref().map(|(name, value)| (*name, value.as_str()));
    let sent = browser.post(&at(&scene.url("/oauth/authorize"), other), &form).await.location();
    let response = browser.get(&scene.back(&sent).await).await.location();
    let code = parameter(&response, "code").expect("a code");
    assert_eq!(parameter(&sent, "code_challenge").map(|text| text.len()), Some(sha256("").len()));
    let mut got = token(other, &scene, &by_code(&program, &code)).await;
    for _ in 0..100 {
        // The store is connected to in the background.
        if got.status != 503 {
            break;
        }
        sleep(Duration::from_millis(100)).await;
        got = token(other, &scene, &by_code(&program, &code)).await;
    }
    let first = Tokens::of(&got);
    let mut called = scene.call(&first.access).await;
    for _ in 0..100 {
        if called.0 != 503 {
            break;
        }
        sleep(Duration::from_millis(100)).await;
        called = scene.call(&first.access).await;
    }
    assert_eq!(called, (200, true), "a token of the other gateway");
    let second = Tokens::of(&scene.refresh(&program, &first.refresh, &[]).await);
    assert_eq!(token(other, &scene, &by_refresh(&program, &first.refresh)).await.status, 400, "used at the first one");
    assert_eq!(scene.refresh(&program, &second.refresh, &[]).await.status, 400, "the session has ended");
    assert_eq!(token(other, &scene, &by_code(&program, &code)).await.status, 400, "a code counts once");
    sleep(Duration::from_millis(5500)).await;
    assert_eq!(scene.call(&second.access).await, (401, false), "at both, within 5 s");
    // A code that comes to both ends the session that it began.
    let code = scene.code(&program).await;
    let tokens = Tokens::of(&scene.redeem(&program, &code).await);
    assert_eq!(token(other, &scene, &by_code(&program, &code)).await.status, 400, "used at the first one");
    assert_eq!(scene.refresh(&program, &tokens.refresh, &[]).await.status, 400, "its session has ended");
    drop(redis);
    sleep(Duration::from_secs(1)).await;
    let code = scene.code(&program).await;
    assert_eq!(scene.redeem(&program, &code).await.status, 503, "without the store, nothing is issued");
    assert_eq!(scene.call(&first.access).await, (401, false), "and nothing that has ended comes back");
}
