//! Ids at a server of 2026-07-28 over HTTP. A client's own id passes; no two open requests have the same.

use std::sync::{Arc, Mutex};

use gateway::settings::Target;
use serde_json::{Value, json};
use tokio::sync::watch;
use wire::Revision;

use crate::scene::{Scene, address, call};
use crate::scripted::{self, answer, json_answer, read, write};

#[tokio::test]
async fn clients_that_count_alike_have_different_ids_at_the_server() {
    let ids = Arc::<Mutex<Vec<Value>>>::default();
    let kept = Arc::clone(&ids);
    let (arrived, arrivals) = watch::channel(0);
    let reset = arrived.clone();
    let origin = scripted::http(move |mut stream| {
        let (ids, arrived, mut arrivals) = (Arc::clone(&kept), arrived.clone(), arrivals.clone());
        async move {
            let opening = json!({ "supportedVersions": ["2026-07-28"], "capabilities": { "tools": {} },
                "resultType": "complete", "ttlMs": 0, "cacheScope": "private",
                "_meta": { wire::meta::SERVER_INFO: { "name": "ids", "version": "1" } } });
            while let Some(request) = read(&mut stream).await {
                let text = match request.method().as_str() {
                    "server/discover" => json_answer("", &request.result(&opening)),
                    "tools/call" => {
                        ids.lock().unwrap().push(request.message()["id"].clone());
                        arrived.send_modify(|count| *count += 1);
                        // Both are open now.
                        arrivals.wait_for(|count| *count >= 2).await.unwrap();
                        let name = &request.message()["params"]["name"];
                        let content = json!([{ "type": "text", "text": name }]);
                        json_answer("", &request.result(&json!({ "content": content, "resultType": "complete" })))
                    }
                    _ => answer("400 Bad Request", "", ""),
                };
                write(&mut stream, &text).await;
            }
        }
    });
    let scene = Scene::of(Target::Http(address(&format!("{}/mcp", origin.await)))).await;
    for (one, other) in [(Revision::NEWEST, Revision::NEWEST), (Revision::R2025_11_25, Revision::NEWEST)] {
        ids.lock().unwrap().clear();
        reset.send_replace(0);
        let (one, other) = (scene.client(one).await, scene.client(other).await);
        let (first, second) = tokio::join!(call(&one, "first", json!({})), call(&other, "second", json!({})));
        assert!(first.contains("first") && second.contains("second"), "{first}\n{second}");
        let ids = ids.lock().unwrap().clone();
        assert!(ids.len() >= 2 && ids[0] != ids[1], "{ids:?}");
    }
    scene.end().await;
}
