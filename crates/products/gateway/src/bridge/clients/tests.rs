//! What clients may say of themselves, and where documents of clients may lie.

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;

use net::egress::{EgressRules, Resolve, Resolving};
use oauth::{Client, Credential, LoginSource, Secret};

use super::*;

fn settings() -> BridgeSettings {
    let provider = LoginSource {
        issuer: "https://idp.example".to_owned(),
        client: Client::new("gateway", Credential::Secret(Secret::new("s3cret"))),
        scopes: Vec::new(),
        timeout: Duration::from_secs(1),
        egress: None,
    };
    BridgeSettings {
        provider,
        claims: Vec::new(),
        keys: vec![Secret::new("AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=")],
        scopes: Vec::new(),
        registration: true,
        documents: true,
        redirect_schemes: vec!["cursor".to_owned()],
        access_token: Duration::from_mins(10),
        session: Duration::from_hours(1),
        egress: None,
    }
}

fn clients(change: impl FnOnce(&mut BridgeSettings), issuer: &str) -> (Clients, Sealing) {
    let mut settings = settings();
    change(&mut settings);
    let clients = Clients::new(&settings, &Url::parse(issuer).expect("a URL"));
    (clients, Sealing::new(&settings.keys).expect("keys"))
}

const PUBLIC: &str = "https://mcp.example";

#[tokio::test]
async fn a_registration_is_its_own_id_and_takes_no_memory() {
    let (clients, sealing) = clients(|_| (), PUBLIC);
    let body = json!({ "client_name": "x".repeat(500), "redirect_uris": ["http://127.0.0.1/cb", "cursor://cb"],
        "grant_types": ["authorization_code", "refresh_token"], "token_endpoint_auth_method": "client_secret_basic" });
    let registered = clients.register(&sealing, body.to_string().as_bytes()).expect("registered");
    assert_eq!(registered["token_endpoint_auth_method"], "none");
    assert_eq!(registered["grant_types"], json!(["authorization_code", "refresh_token"]));
    assert!(registered.get("client_secret").is_none());
    let id = registered["client_id"].as_str().expect("an id");
    let facts = clients.find(&sealing, id).await.expect("it is known");
    assert_eq!((facts.name.len(), facts.refreshes), (NAME, true));
    assert!(facts.lands_at("http://127.0.0.1:7/cb") && facts.lands_at("cursor://cb"));
    assert!(!facts.lands_at("http://127.0.0.1:7/cb2") && !facts.lands_at("https://evil.example/cb"));
    let other = Sealing::new(&[Secret::new("AgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgI=")]).expect("keys");
    assert!(clients.find(&other, id).await.is_none(), "another gateway's");
    let changed = format!("{}A", &id[..id.len() - 1]);
    assert!(clients.find(&sealing, &changed).await.is_none() || changed == id);
    for _ in 0..2000 {
        clients.register(&sealing, body.to_string().as_bytes()).expect("registered");
    }
    assert!(clients.documents.len() == 0, "nobody fills anything by registering");
}

#[tokio::test]
async fn an_old_registration_is_forgotten() {
    let (clients, sealing) = clients(|_| (), PUBLIC);
    for (age, known) in [(0, true), (LASTS - 60, true), (LASTS, false)] {
        let redirects = vec!["https://app.example/cb".to_owned()];
        let facts = ClientFacts { name: "x".to_owned(), redirects, refreshes: false, since: now() - age };
        let id = format!("{PREFIX}{}", sealing.seal(Purpose::Client, "", &facts).expect("sealed"));
        assert_eq!(clients.find(&sealing, &id).await.is_some(), known, "{age}");
    }
}

#[tokio::test]
async fn what_is_not_allowed_is_not_there() {
    let (open, sealing) = clients(|_| (), PUBLIC);
    let body = json!({ "redirect_uris": ["https://app.example/cb"] }).to_string();
    let registered = open.register(&sealing, body.as_bytes()).expect("registered");
    let program = json!({ "redirect_uris": ["cursor://cb", "https://app.example/cb"] }).to_string();
    let program = open.register(&sealing, program.as_bytes()).expect("registered");
    let id = program["client_id"].as_str().expect("an id");
    let (narrowed, _) = clients(|settings| settings.redirect_schemes.clear(), PUBLIC);
    let facts = narrowed.find(&sealing, id).await.expect("it is known");
    assert!(!facts.lands_at("cursor://cb") && facts.lands_at("https://app.example/cb"), "a scheme that was taken away");
    let (closed, sealing) = clients(|settings| settings.registration = false, PUBLIC);
    assert!(!closed.allows(id) && open.allows(id) && open.allows("https://app.example/c.json"));
    assert!(closed.find(&sealing, registered["client_id"].as_str().expect("an id")).await.is_none());
    let (closed, _) = clients(|settings| settings.documents = false, PUBLIC);
    assert!(open.document_url("https://app.example/c.json").is_some());
    assert!(closed.document_url("https://app.example/c.json").is_none());
}

#[test]
fn a_bad_registration_is_refused() {
    let (clients, sealing) = clients(|_| (), PUBLIC);
    let redirect = json!(["https://app.example/cb"]);
    for (body, error) in [
        (json!([]), "invalid_client_metadata"),
        (json!({}), "invalid_redirect_uri"),
        (json!({ "redirect_uris": [] }), "invalid_redirect_uri"),
        (json!({ "redirect_uris": "https://app.example/cb" }), "invalid_redirect_uri"),
        (json!({ "redirect_uris": [7] }), "invalid_redirect_uri"),
        (json!({ "redirect_uris": ["http://app.example/cb"] }), "invalid_redirect_uri"),
        (json!({ "redirect_uris": ["https://app.example/cb", "javascript:alert(1)"] }), "invalid_redirect_uri"),
        (json!({ "redirect_uris": ["vscode://cb"] }), "invalid_redirect_uri"),
        (json!({ "redirect_uris": vec!["https://app.example/cb"; 17] }), "invalid_redirect_uri"),
        (json!({ "redirect_uris": [format!("https://app.example/{}", "a".repeat(1024))] }), "invalid_redirect_uri"),
        (json!({ "redirect_uris": redirect, "grant_types": ["implicit"] }), "invalid_client_metadata"),
        (json!({ "redirect_uris": redirect, "grant_types": "authorization_code" }), "invalid_client_metadata"),
        (json!({ "redirect_uris": redirect, "response_types": ["token"] }), "invalid_client_metadata"),
    ] {
        let refused = clients.register(&sealing, body.to_string().as_bytes()).expect_err("refused");
        assert_eq!(refused.0, error, "{body}");
    }
    assert!(clients.register(&sealing, b"{").is_err());
}

/// A document of a client is fetched from public addresses by https alone. A gateway that only this machine reaches may also
/// fetch from this machine.
#[tokio::test]
async fn a_document_lies_where_the_gateway_may_look() {
    let (public, sealing) = clients(|_| (), PUBLIC);
    let (local, _) = clients(|_| (), "http://127.0.0.1:3000");
    assert!(local.document_url("http://127.0.0.1:9/c.json").is_some());
    for bad in [
        "http://127.0.0.1:9/c.json",
        "http://app.example/c.json",
        "https://app.example/",
        "https://app.example",
        "https://app.example/c.json#x",
        "https://me@app.example/c.json",
        "https://app.example/x/../c.json",
        "https://APP.example/c.json",
        "file:///etc/passwd",
        "dcr.x",
        "app",
        &format!("https://app.example/{}", "a".repeat(LONGEST_URL)),
    ] {
        assert!(public.document_url(bad).is_none(), "{bad}");
        assert!(public.find(&sealing, bad).await.is_none(), "{bad}");
    }
    assert!(public.documents.len() == 0, "nothing was looked for");
}

/// Leads every name to this machine, as the owner of a name can at any moment (DNS rebinding).
struct ToThisMachine;

impl Resolve for ToThisMachine {
    fn resolve<'a>(&'a self, _: &'a str, port: u16) -> Resolving<'a> {
        Box::pin(async move { Ok(vec![SocketAddr::from(([127, 0, 0, 1], port))]) })
    }
}

#[tokio::test]
async fn a_document_is_not_asked_for_on_this_machine_whatever_its_name() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.set_nonblocking(true).expect("it can be asked");
    let port = listener.local_addr().expect("an address").port();
    let rules = EgressRules { place: "egress".to_owned(), allows_private: true, ..EgressRules::default() };
    let egress = Egress::new(rules).resolving(Arc::new(ToThisMachine));
    let urls = ["app.example", "127.0.0.1", "localhost", "[::ffff:127.0.0.1]"].map(|host| {
        let url = format!("https://{host}:{port}/client.json");
        Url::parse(&url).map_or(url, String::from)
    });
    for (issuer, reached) in [(PUBLIC, 0), ("http://127.0.0.1:3000", 2)] {
        let (clients, sealing) = clients(|settings| settings.egress = Some(egress.clone()), issuer);
        let mut came = 0;
        for url in &urls {
            let (found, accepted) = tokio::join!(clients.find(&sealing, url), async {
                tokio::time::sleep(Duration::from_millis(200)).await;
                // Closed at once: a connection is all that is counted.
                usize::from(listener.accept().is_ok())
            });
            assert!(found.is_none(), "{url}");
            came += accepted;
        }
        assert!(if reached == 0 { came == 0 } else { came >= reached }, "{issuer}: {came}");
    }
}
