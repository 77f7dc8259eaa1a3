//! `proof serve --openapi` behind a gateway, over stdio and HTTP, alone and two of them: what clients list, call and read.

#[path = "shared/serving.rs"]
mod serving;

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use client::{Client, Options};
use gateway::Gateway;
use net::Children;
use net::client::{Address, HttpAddress, Limits};
use net::server::http::{self, Server};
use serde_json::{Map, Value, json};
use serving::Serving;
use tokio::task::JoinHandle;
use url::Url;
use wire::{Message, Revision};

const PROOF: &str = env!("CARGO_BIN_EXE_proof");
const LOCAL: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 0);
/// How many bytes `/file` has: more than go inline.
const FILE: usize = (1 << 20) + 3;

/// An API whose answers name it.
fn api(name: &'static str) -> String {
    let listener = TcpListener::bind(LOCAL).expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("bound"));
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let mut piece = [0; 4096];
            let count = stream.read(&mut piece).unwrap_or(0);
            let head = String::from_utf8_lossy(&piece[..count]).into_owned();
            let path = head.split(' ').nth(1).unwrap_or_default();
            let (status, media, body) = match path {
                "/small/7" => (200, "application/json", json!({ "from": name, "id": 7 }).to_string().into_bytes()),
                "/long" => {
                    (200, "application/json", json!({ "from": name, "text": "x".repeat(2000) }).to_string().into())
                }
                "/file" => (200, "application/octet-stream", vec![0xFB; FILE]),
                _ => (404, "application/problem+json", br#"{"title":"No such pet"}"#.to_vec()),
            };
            let head = format!("HTTP/1.1 {status} X\r\nContent-Type: {media}\r\nConnection: close\r\n");
            let head = format!("{head}Content-Length: {}\r\n\r\n", body.len());
            let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&body));
        }
    });
    url
}

/// The description, and a configuration for each server.
fn write(folder: &Path) {
    let many: Map<String, Value> = (0..300).map(|at| (format!("member_{at}"), json!({ "type": "string" }))).collect();
    let get = |id: &str, schema: Value| {
        let answer = json!({ "200": { "description": "It", "content": { "application/json": { "schema": schema } } } });
        json!({ "operationId": id, "description": "Get what is there", "responses": answer })
    };
    let id = json!([{ "name": "id", "in": "path", "required": true, "schema": { "type": "integer" } }]);
    let mut small = get("small", json!({ "type": "object", "properties": { "id": { "type": "integer" } } }));
    small["parameters"] = id;
    let description = json!({ "openapi": "3.1.0", "info": { "title": "Pets", "version": "1" }, "paths": {
        "/small/{id}": { "get": small },
        "/long": { "get": get("long", json!({ "type": "object", "properties": many })) },
        "/file": { "get": get("file", json!({})) },
    } });
    std::fs::write(folder.join("api.json"), description.to_string()).expect("written");
    for name in ["pets", "shop"] {
        let settings = format!("name: {name}\nlimits: {{ inline_bytes: 256 }}\n");
        std::fs::write(folder.join(format!("{name}.yaml")), settings).expect("written");
    }
}

/// The words of a server, without the program.
fn words(folder: &Path, name: &str, transport: &[&str], url: &str) -> Vec<String> {
    let path = |file: &str| folder.join(file).display().to_string();
    let (description, config) = (path("api.json"), path(&format!("{name}.yaml")));
    let words = [&["serve"], transport, &["--openapi", &description, "--config", &config, "--base-url", url]].concat();
    words.into_iter().map(str::to_owned).collect()
}

struct Scene {
    gateway: Gateway,
    server: Server,
    maintenance: JoinHandle<()>,
    children: Children,
    _served: Serving,
}

impl Scene {
    /// A gateway in front of `pets` over stdio and `shop` over HTTP, or of one of them.
    async fn of(folder: &Path, names: &[&str]) -> Self {
        let stdio: Vec<_> =
            std::iter::once(PROOF.to_owned()).chain(words(folder, "pets", &["--stdio"], &api("pets"))).collect();
        let mut http = Command::new(PROOF);
        let served = Serving::start(http.args(words(folder, "shop", &["--http", "127.0.0.1:0"], &api("shop"))));
        let upstreams = json!({ "pets": { "command": stdio }, "shop": { "url": served.url } });
        let chosen: Map<_, _> = names.iter().map(|name| ((*name).to_owned(), upstreams[*name].clone())).collect();
        let text = json!({ "upstreams": chosen }).to_string();
        let settings = gateway::config::read(&text, "gateway.yaml").unwrap_or_else(|errors| panic!("{errors}"));
        let children = Children::new();
        let gateway = Gateway::new(&settings, &children).expect("valid addresses");
        let server = http::listen(Arc::new(gateway.clone()), LOCAL, http::Options::default()).await.expect("a port");
        let maintained = gateway.clone();
        let maintenance = tokio::spawn(async move { maintained.maintain().await });
        Self { gateway, server, maintenance, children, _served: served }
    }

    async fn client(&self, revision: Revision) -> Client {
        let url = Url::parse(&format!("http://{}/mcp", self.server.local_addr())).expect("a URL");
        let options = Options::new(Address::Http(HttpAddress::new(url)), &Children::new());
        let limits = Limits { request: Duration::from_mins(1), ..options.limits.clone() };
        Client::connect(Options { revision: Some(revision), limits, ..options }).await.expect("it connects")
    }

    async fn end(self) {
        self.maintenance.abort();
        self.gateway.shutdown().await;
        self.server.shutdown().await;
        self.children.kill_all();
    }
}

/// What a call of a tool gives.
async fn called(client: &Client, tool: &str, arguments: Value) -> Value {
    let arguments = arguments.as_object().cloned().unwrap_or_default();
    result(client.call_unseen(tool, arguments).await.unwrap_or_else(|error| panic!("{tool}: {error}")))
}

/// The contents of a resource.
async fn read(client: &Client, uri: &str) -> Value {
    result(client.read(uri).await.unwrap_or_else(|error| panic!("{uri}: {error}")))["contents"][0].clone()
}

fn result(message: Message) -> Value {
    message.result().cloned().unwrap_or_else(|| panic!("{}", message.text()))
}

fn link(result: &Value) -> &str {
    let blocks = result["content"].as_array().into_iter().flatten();
    let uri = blocks.filter(|block| block["type"] == "resource_link").find_map(|block| block["uri"].as_str());
    uri.unwrap_or_else(|| panic!("no link: {result}"))
}

/// All that one server has, under names that begin with `prefix`.
async fn look(client: &Client, name: &str, prefix: &str) {
    let shown = |tool: &str| format!("{prefix}{tool}");
    let (tools, _) = client.tools().await.expect("a list");
    let names: Vec<_> = tools.iter().map(|tool| tool.name().to_owned()).collect();
    assert!(["small", "long", "file"].iter().all(|tool| names.contains(&shown(tool))), "{names:?}");

    let small = called(client, &shown("small"), json!({ "id": 7 })).await;
    assert_eq!(small["structuredContent"], json!({ "from": name, "id": 7 }), "{small}");
    let failed = called(client, &shown("small"), json!({ "id": 8 })).await;
    let about = &failed["_meta"]["dev.proofhouse/error"];
    assert_eq!((&failed["isError"], &about["category"]), (&json!(true), &json!("RESOURCE_NOT_FOUND")), "{failed}");
    assert!(failed["content"][0]["text"].as_str().is_some_and(|text| text.contains("No such pet")), "{failed}");
    let unfit = client.call_unseen(&shown("small"), Map::new()).await;
    let refused = unfit.is_err() || unfit.as_ref().is_ok_and(|message| message.text().contains("\"isError\":true"));
    assert!(refused, "{unfit:?}");

    let long = called(client, &shown("long"), json!({})).await;
    let whole = read(client, link(&long)).await;
    let text: Value = serde_json::from_str(whole["text"].as_str().expect("a text")).expect("JSON");
    assert_eq!((&text["from"], text["text"].as_str().map(str::len)), (&json!(name), Some(2000)));
    let file = called(client, &shown("file"), json!({})).await;
    let data = read(client, link(&file)).await;
    let data = base64::engine::general_purpose::STANDARD.decode(data["blob"].as_str().expect("bytes"));
    assert!(data.expect("Base64") == vec![0xFB; FILE]);

    let templates = client.templates().await.expect("a list").items;
    let template = format!("answer-schema://{name}/{{tool}}");
    assert!(templates.iter().any(|one| one["uriTemplate"] == template.as_str()), "{templates:?}");
    let schema = read(client, &format!("answer-schema://{name}/long")).await;
    assert!(schema["text"].as_str().is_some_and(|text| text.contains("member_299")), "{schema}");
    assert!(client.read(&format!("answer-schema://{name}/none")).await.is_err());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_api_is_the_same_behind_a_gateway() {
    let folder = tempfile::tempdir().expect("a folder");
    write(folder.path());
    for name in ["pets", "shop"] {
        let scene = Scene::of(folder.path(), &[name]).await;
        for revision in [Revision::R2025_06_18, Revision::NEWEST] {
            let client = scene.client(revision).await;
            look(&client, name, "").await;
            client.close().await;
        }
        scene.end().await;
    }
}

/// Two APIs with the same operations: the answers that one keeps are not looked for at the other.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_apis_behind_one_gateway_keep_their_answers_apart() {
    let folder = tempfile::tempdir().expect("a folder");
    write(folder.path());
    let scene = Scene::of(folder.path(), &["pets", "shop"]).await;
    for revision in [Revision::R2025_06_18, Revision::NEWEST] {
        let client = scene.client(revision).await;
        for (name, prefix) in [("pets", "pets_"), ("shop", "shop_")] {
            look(&client, name, prefix).await;
        }
        client.close().await;
    }
    scene.end().await;
}
