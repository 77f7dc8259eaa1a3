//! Any catalogue is served as it is: what it lacks is neither declared nor answered.

use std::sync::Arc;

use net::server::stdio::Limits;
use reference::catalogue::{Body, Catalogue, Content, Kind, Outcome, Resource, Template, Tool};
use reference::{Options, Server};
use serde_json::{Value, json};
use wire::Revision;
use wire::revision::{R2025_11_25, R2026_07_28};

use crate::line_client::LineClient;

fn server(catalogue: Catalogue) -> Server {
    Server::new(Options { catalogue: Arc::new(catalogue), ..Options::default() })
}

async fn capabilities(catalogue: &Catalogue, revision: Revision) -> (LineClient, Value) {
    let mut talk = LineClient::with(server(catalogue.clone()), revision, Limits::default());
    let mut said = match revision {
        R2026_07_28 => talk.ask("server/discover", json!({})).await,
        _ => talk.shake_hands(json!({})).await,
    };
    let capabilities = said["result"]["capabilities"].take();
    (talk, capabilities)
}

#[tokio::test]
async fn what_is_not_offered_is_not_declared_and_not_served() {
    let bare = Catalogue::new("bare", "1");
    let tools = Catalogue { tools: vec![Tool::now("hi", "Says hi", |_, _| Outcome::text("hi"))], ..bare.clone() };
    let read = |values: &reference::catalogue::Variables| Some(Body::Text(values["b"].clone().into()));
    let templates =
        Catalogue { templates: vec![Template::new("x://{a}/{b}.txt", "x", "text/plain", read)], ..bare.clone() };
    for revision in [R2025_11_25, R2026_07_28] {
        for (catalogue, declared, missing) in [
            (&bare, json!({ "logging": {} }), "tools/list prompts/list resources/list resources/read tools/call"),
            (
                &tools,
                json!({ "logging": {}, "tools": {} }),
                "prompts/list prompts/get completion/complete resources/list",
            ),
            (
                &templates,
                json!({ "logging": {}, "completions": {}, "resources": { "subscribe": true } }),
                "tools/list tools/call prompts/list",
            ),
        ] {
            let (mut talk, capabilities) = capabilities(catalogue, revision).await;
            assert_eq!(capabilities, declared);
            for method in missing.split(' ') {
                assert_eq!(talk.error(method, json!({})).await["code"], -32601, "{method} {declared}");
            }
        }
        let (mut talk, _) = capabilities(&templates, revision).await;
        let read = talk.result("resources/read", json!({ "uri": "x://one/two.txt" })).await;
        assert_eq!(read["contents"][0]["text"], "two");
        for nowhere in ["x://one/two", "x://one/.txt", "x://one/t/wo.txt", "x://one/two.txt.", "y://one/two.txt"] {
            talk.error("resources/read", json!({ "uri": nowhere })).await;
        }
    }
}

#[tokio::test]
async fn a_tool_may_give_several_blocks_and_come_and_go() {
    let tool = Tool::now("two", "Gives two blocks", |_, _| {
        Outcome::contents(vec![Content::text("a"), Content::Whole(json!({ "type": "text", "text": "b" }))])
    });
    let catalogue = Catalogue {
        tools: vec![tool.coming_and_going()],
        resources: vec![Resource::text("x:y", "y", "text/plain", "y").coming_and_going()],
        ..Catalogue::new("changing", "1")
    };
    let server = server(catalogue);
    let mut talk = LineClient::with(server.clone(), R2026_07_28, Limits::default());
    assert_eq!(talk.error("tools/call", json!({ "name": "two" })).await["code"], -32602);
    let filter = json!({ "notifications": { "toolsListChanged": true, "promptsListChanged": true } });
    talk.send("subscriptions/listen", filter).await;
    assert_eq!(
        talk.next().await["params"]["notifications"],
        json!({ "toolsListChanged": true }),
        "no prompts, no news"
    );
    assert!(server.toggle(Kind::Tool, "two"));
    assert_eq!(talk.next().await["method"], "notifications/tools/list_changed");
    assert_eq!(talk.call("two", json!({})).await["content"][1]["text"], "b");
    assert!(!server.touch("x:y"), "what is not there cannot be touched");
    assert!(server.toggle(Kind::Resource, "x:y"));
    assert!(server.touch("x:y"));
    assert!(!server.toggle(Kind::Tool, "two"));
    assert_eq!(talk.next().await["method"], "notifications/tools/list_changed");
    assert_eq!(talk.result("tools/list", json!({})).await["tools"], json!([]));
}
