//! A server whose definitions a test changes, and the lock and the manifest that were made of it before.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use gateway::settings::{AnswerSettings, LockSettings, ManifestSettings, Settings, Target};
use lock::jws::{Signing, sign};
use lock::manifest::{Statement, draft};
use lock::{Entry, Identity, Lock, Surface};
use net::client::HttpAddress;
use net::server::http::{self, Server};
use net::service::{Answer, Call, Reply, RpcError, Service};
use oauth::jose::Signer;
use serde_json::{Value, json};
use tempfile::TempDir;
use url::Url;
use wire::{Revision, meta};

use crate::scene::{Raw, Scene, Seen, result};

pub(super) const MODERN: Revision = Revision::R2026_07_28;

/// What the server says.
#[derive(Clone)]
pub(super) struct Says {
    pub(super) tools: Value,
    pub(super) prompts: Value,
    pub(super) resources: Value,
    pub(super) templates: Value,
    pub(super) instructions: Value,
    /// The tools for clients of this name.
    pub(super) to: Option<(&'static str, Value)>,
    /// The result of `tools/list`, as it is written.
    pub(super) text: Option<String>,
    /// Whether every page of the tools says that there is another one.
    pub(super) endless: bool,
    /// Whether the tools are not listed.
    pub(super) refuses: bool,
}

impl Default for Says {
    fn default() -> Self {
        let schema = json!({ "type": "object" });
        let reads = json!({ "readOnlyHint": true });
        Self {
            tools: json!([
                { "name": "buy", "description": "Buys.", "inputSchema": schema, "annotations": reads },
                { "name": "look", "description": "Looks.", "inputSchema": schema, "annotations": reads },
                { "name": "ask", "description": "Asks.", "inputSchema": schema },
            ]),
            prompts: json!([{ "name": "offer", "description": "Offers." }, { "name": "greet" }]),
            resources: json!([{ "uri": "shop://terms", "name": "terms" }, { "uri": "shop://hours", "name": "hours" }]),
            templates: json!([{ "uriTemplate": "shop://{any}", "name": "any" },
                { "uriTemplate": "shop://orders/{id}", "name": "orders" }]),
            instructions: json!("Be kind."),
            to: None,
            text: None,
            endless: false,
            refuses: false,
        }
    }
}

impl Says {
    /// What is locked of it.
    pub(super) fn entry(&self) -> Entry {
        let surface = Surface::from_snapshot(&json!({
            "server": { "name": "shop", "version": "1.0.0" }, "instructions": self.instructions, "tools": self.tools,
            "prompts": self.prompts, "resources": self.resources, "resourceTemplates": self.templates,
        }));
        Entry::new(Identity::default(), None, &surface).expect("an entry")
    }
}

#[derive(Clone, Default)]
pub(super) struct Shop {
    says: Arc<Mutex<Says>>,
    pub(super) seen: Seen,
}

impl Shop {
    pub(super) fn says(&self) -> MutexGuard<'_, Says> {
        self.says.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What it says of a list to a client.
    fn list(&self, call: &Call, member: &str) -> Value {
        let says = self.says();
        match (member, &says.to) {
            ("tools", Some((name, tools)))
                if call.message.value()["params"]["_meta"][meta::CLIENT_INFO]["name"] == *name =>
            {
                tools.clone()
            }
            ("tools", _) => says.tools.clone(),
            ("prompts", _) => says.prompts.clone(),
            ("resources", _) => says.resources.clone(),
            _ => says.templates.clone(),
        }
    }
}

impl Service for Shop {
    fn call(&self, call: Call) -> Reply {
        self.seen.note(&call);
        let listed = |member: &str| {
            let body = json!({ member: self.list(&call, member), "resultType": "complete", "ttlMs": 0,
                "cacheScope": "private" });
            Answer::result(call.id(), &body).into()
        };
        let name = call.message.string_member("name").map(std::borrow::Cow::into_owned).unwrap_or_default();
        let written = self.says().text.clone();
        match call.message.method().unwrap_or_default() {
            "server/discover" => {
                let capabilities = json!({ "tools": { "listChanged": true }, "prompts": {}, "resources": {},
                    "completions": {} });
                let body = json!({ "resultType": "complete", "ttlMs": 0, "cacheScope": "private",
                    "supportedVersions": [MODERN.as_str()], "capabilities": capabilities,
                    "instructions": self.says().instructions,
                    "_meta": { meta::SERVER_INFO: { "name": "shop", "version": "1.0.0" } } });
                Answer::result(call.id(), &body).into()
            }
            // Its first page says that there is another one.
            "tools/list" if self.says().refuses => Answer::error(Some(call.id()), &RpcError::new(-32000, "no")).into(),
            "tools/list" if call.message.body_member("cursor").is_some() && !self.says().endless => {
                Answer::error(Some(call.id()), &RpcError::method_not_found("tools/list")).into()
            }
            "tools/list" if let Some(text) = written => {
                let text = format!(r#"{{"jsonrpc":"2.0","id":{},"result":{text}}}"#, call.id().to_json());
                Answer::raw(text.into_bytes(), None).into()
            }
            "tools/list" => listed("tools"),
            "prompts/list" => listed("prompts"),
            "resources/list" => listed("resources"),
            "resources/templates/list" => listed("resourceTemplates"),
            "subscriptions/listen" => self.seen.follow(call),
            "resources/read" => {
                let contents = json!([{ "uri": call.message.value()["params"]["uri"], "text": "ran" }]);
                result(&call, "ran", json!({ "contents": contents, "ttlMs": 0, "cacheScope": "private" }))
            }
            "prompts/get" => result(&call, "ran", json!({ "messages": [] })),
            "completion/complete" => result(&call, "ran", json!({ "completion": { "values": ["ran"] } })),
            "tools/call" if name == "ask" && call.message.body_member("inputResponses").is_none() => {
                let requests = json!({ "roots": { "method": "roots/list" } });
                let body = json!({ "resultType": "input_required", "inputRequests": requests, "requestState": "more" });
                Answer::result(call.id(), &body).into()
            }
            _ => result(&call, &format!("ran {name}"), json!({})),
        }
    }

    fn revisions(&self) -> &[Revision] {
        &[MODERN]
    }
}

/// A gateway that holds the server against a lock.
pub(super) struct Locked {
    pub(super) scene: Scene,
    pub(super) shop: Shop,
    pub(super) seen: Seen,
    folder: TempDir,
}

impl Locked {
    /// With the lock of the server as it is at first.
    pub(super) async fn open(change: impl FnOnce(&mut Settings)) -> Self {
        Self::with(AnswerSettings::default(), false, |_, settings| change(settings)).await
    }

    /// The same; `change` also gets the folder of the lock.
    pub(super) async fn with(
        answers: AnswerSettings,
        guarded: bool,
        change: impl FnOnce(&Path, &mut Settings),
    ) -> Self {
        let (shop, folder) = (Shop::default(), tempfile::tempdir().expect("a folder"));
        let seen = shop.seen.clone();
        let options = http::Options::default();
        let server = http::listen(Arc::new(shop.clone()), ([127, 0, 0, 1], 0).into(), options).await;
        let server = server.expect("a free port");
        let at = Url::parse(&format!("http://{}/mcp", server.local_addr())).expect("a URL");
        write(folder.path(), &[("a", &shop.says())]);
        let target = Target::Http(HttpAddress::new(at));
        let path = folder.path().to_owned();
        let scene = Scene::changed(target, (Some(server), seen.clone()), answers, guarded, move |settings| {
            settings.lock = Some(LockSettings::new(path.join("mcp.lock")));
            change(&path, settings);
        })
        .await;
        Self { scene, shop, seen, folder }
    }

    /// A client of no principal.
    pub(super) async fn client(&self) -> Raw {
        self.scene.client("/mcp", MODERN, "").await
    }

    pub(super) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Somebody approves all that the server says now, and the gateway reads the lock again.
    pub(super) fn approve(&self) {
        write(self.folder(), &[("a", &self.shop.says())]);
        self.scene.gateway.reload(&self.scene.settings).expect("a lock");
    }

    /// Where the server is.
    pub(super) fn upstream_address(&self) -> String {
        match &self.scene.settings.upstreams[0].target {
            Target::Http(address) => address.url.to_string(),
            target => panic!("{target:?}"),
        }
    }

    /// The server is there again, at the same address.
    pub(super) async fn start_again(&self) -> Server {
        let at = Url::parse(&self.upstream_address()).expect("a URL");
        let at = at.socket_addrs(|| None).expect("an address")[0];
        http::listen(Arc::new(self.shop.clone()), at, http::Options::default()).await.expect("its port is free")
    }

    /// What `status` says of the lock.
    pub(super) fn status(&self) -> Value {
        self.scene.gateway.status()["lock"].clone()
    }
}

/// Writes a lock of servers by their names.
pub(super) fn write(folder: &Path, servers: &[(&str, &Says)]) {
    let servers = servers.iter().map(|(name, says)| ((*name).to_owned(), says.entry())).collect();
    std::fs::write(folder.join("mcp.lock"), Lock { servers }.to_text()).expect("a file");
}

/// A publisher with a key.
pub(super) struct Publisher {
    signer: Signer,
    public: Value,
}

impl Publisher {
    pub(super) fn new(kid: &str) -> Self {
        let signer = Signer::fresh();
        let mut public = serde_json::to_value(signer.public().expect("a public half")).expect("JSON");
        public["kid"] = kid.into();
        Self { signer, public }
    }

    /// Writes the public key.
    pub(super) fn publish(&self, folder: &Path) -> PathBuf {
        let file = folder.join("keys.json");
        std::fs::write(&file, json!({ "keys": [self.public] }).to_string()).expect("a file");
        file
    }

    /// Pins the public key in the lock.
    pub(super) fn pin(&self, folder: &Path) {
        let mut entry = Says::default().entry();
        entry.keys = vec![self.public.clone()];
        let servers = [("a".to_owned(), entry)].into();
        std::fs::write(folder.join("mcp.lock"), Lock { servers }.to_text()).expect("a file");
    }

    /// A signed manifest of what a server says, issued and expiring at these times.
    pub(super) fn manifest(&self, says: &Says, issued_at: &str, expires: Option<String>) -> Value {
        let statement = Statement { issued_at: issued_at.to_owned(), expires, ..Statement::default() };
        let mut document = draft(&says.entry(), &statement);
        let kid = self.public["kid"].as_str().expect("a name");
        let signature = |message: &[u8]| self.signer.signature(message);
        sign(&mut document, &Signing { alg: self.signer.alg(), kid, sign: &signature });
        document
    }
}

/// Writes a manifest for the only upstream, and says so in the settings.
pub(super) fn demand(folder: &Path, settings: &mut Settings, manifest: &Value, keys: Option<PathBuf>) {
    let file = folder.join("manifest.json");
    std::fs::write(&file, manifest.to_string()).expect("a file");
    let lock = settings.lock.as_mut().expect("a lock");
    lock.manifests.insert("a".to_owned(), ManifestSettings { file, keys });
}
