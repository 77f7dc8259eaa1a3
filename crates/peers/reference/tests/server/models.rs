//! Models and metadata: conventions that no revision has, kept apart from what revisions have.

use std::sync::Arc;

use net::server::stdio::Limits;
use reference::catalogue::Catalogue;
use reference::{Options, Server};
use serde_json::{Value, json};
use wire::revision::R2026_07_28;
use wire::{Era, Revision};

use crate::line_client::{LineClient, modern_meta};

const MODELS: &str = "io.github.proofhouse/models";
const METADATA: &str = "io.github.proofhouse/metadata";

/// Parameters of a client that knows both extensions.
fn knowing(mut params: Value) -> Value {
    let mut meta = modern_meta();
    meta["io.modelcontextprotocol/clientCapabilities"]["extensions"] = json!({ MODELS: {}, METADATA: {} });
    params["_meta"] = meta;
    params
}

#[tokio::test]
async fn they_are_declared_as_the_era_does() {
    for revision in Revision::ALL {
        let mut talk = LineClient::fresh(revision);
        let capabilities = if revision.era() == Era::Modern {
            talk.result("server/discover", json!({})).await["capabilities"].take()
        } else {
            talk.shake_hands(json!({})).await["result"]["capabilities"].take()
        };
        if revision.era() == Era::Modern {
            let extensions = &capabilities["extensions"];
            assert_eq!((&extensions[MODELS], &extensions[METADATA]), (&json!({}), &json!({})));
            assert!(capabilities.get("models").is_none() && capabilities.get("metadata").is_none());
        } else {
            assert_eq!((&capabilities["models"], &capabilities["metadata"]), (&json!({}), &json!({})));
            assert!(capabilities.get("extensions").is_none());
        }
    }
}

#[tokio::test]
async fn a_session_keeps_its_model() {
    for revision in Revision::ALL.into_iter().filter(|r| r.era() == Era::Legacy) {
        let server = Server::new(Options::default());
        let mut one = LineClient::with(server.clone(), revision, Limits::default());
        let mut other = LineClient::with(server, revision, Limits::default());
        one.shake_hands(json!({})).await;
        other.shake_hands(json!({})).await;
        let listed = one.result("models/list", json!({})).await;
        let models = listed["models"].as_array().unwrap();
        assert!(models.len() > 1);
        for model in models {
            assert!(model["name"].is_string() && model["description"].is_string(), "{model}");
            assert!(model["contextLength"].as_u64().is_some_and(|length| length > 0), "{model}");
        }
        assert_eq!(listed["active"], models[0]["name"]);
        let last = &models[models.len() - 1]["name"];
        assert_eq!(one.result("models/select", json!({ "name": last })).await, json!({ "active": last }));
        assert_eq!(one.error("models/select", json!({ "name": "no-such-model" })).await["code"], -32602);
        assert_eq!(one.error("models/select", json!({})).await["code"], -32602);
        assert_eq!(&one.result("models/list", json!({})).await["active"], last);
        assert_eq!(other.result("models/list", json!({})).await["active"], models[0]["name"]);
    }
}

#[tokio::test]
async fn a_modern_client_declares_the_extension_and_nothing_is_kept() {
    let mut talk = LineClient::start(R2026_07_28).await;
    for (method, extension) in [("models/list", MODELS), ("models/select", MODELS), ("metadata/get", METADATA)] {
        let error = talk.error(method, json!({ "name": "proof-small" })).await;
        assert_eq!(error["code"], -32021, "{method}");
        assert_eq!(error["data"]["requiredCapabilities"], json!({ "extensions": { extension: {} } }));
    }
    let before = talk.result("models/list", knowing(json!({}))).await;
    assert_eq!(before["resultType"], "complete");
    let selected = talk.result("models/select", knowing(json!({ "name": "proof-large" }))).await;
    assert_eq!(selected["active"], "proof-large");
    assert_eq!(talk.error("models/select", knowing(json!({ "name": "x" }))).await["code"], -32602);
    assert_eq!(talk.result("models/list", knowing(json!({}))).await, before);
}

#[tokio::test]
async fn metadata_says_what_the_handshake_says() {
    for revision in Revision::ALL {
        let mut talk = LineClient::fresh(revision);
        let welcome = if revision.era() == Era::Modern {
            talk.result("server/discover", json!({})).await
        } else {
            talk.shake_hands(json!({})).await["result"].take()
        };
        let params = if revision.era() == Era::Modern { knowing(json!({})) } else { json!({}) };
        let metadata = talk.result("metadata/get", params).await;
        assert_eq!(metadata["name"], "proof-reference");
        assert!(metadata["version"].is_string());
        assert_eq!(metadata["authRequired"], false);
        assert_eq!(metadata["capabilities"], welcome["capabilities"]);
    }
}

#[tokio::test]
async fn who_has_none_has_no_such_methods() {
    for revision in Revision::ALL {
        let options = Options { catalogue: Arc::new(Catalogue::official()), ..Options::default() };
        let mut talk = LineClient::with(Server::new(options), revision, Limits::default());
        if revision.era() == Era::Legacy {
            let capabilities = talk.shake_hands(json!({})).await["result"]["capabilities"].take();
            assert!(capabilities.get("models").is_none() && capabilities.get("metadata").is_none());
        }
        for method in ["models/list", "models/select", "metadata/get"] {
            let params = if revision.era() == Era::Modern { knowing(json!({})) } else { json!({}) };
            assert_eq!(talk.error(method, params).await["code"], -32601, "{method}");
        }
    }
}
