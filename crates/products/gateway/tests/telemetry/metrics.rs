//! `/metrics`: well formed, and right.

use gateway::settings::Settings;
use serde_json::json;
use wire::Revision;

use crate::exposition::{Exposition, read};
use crate::scene::Scene;

const UP: &str = "up\"1";

async fn page(scene: &Scene) -> Exposition {
    let text = scene.metrics().await;
    read(&text).unwrap_or_else(|why| panic!("{why}\n{text}"))
}

#[tokio::test]
async fn calls_of_a_tool_are_a_histogram_and_made_up_names_are_not() {
    for revision in [Revision::R2026_07_28, Revision::R2025_06_18] {
        let scene = Scene::new(revision, false, Settings::default()).await;
        page(&scene).await;
        for _ in 0..3 {
            assert_eq!(scene.call("echo", &json!({}), "").await.status, 200);
        }
        for number in 0..20 {
            scene.call(&format!("made-up-{number}"), &json!({}), "").await;
        }
        scene.call("fails", &json!({}), "").await;
        let page = page(&scene).await;
        let name = "proof_gateway_tool_duration_seconds";
        let of = |tool: &'static str| [("upstream", UP), ("tool", tool)];
        let bucket = |bound| page.value(&format!("{name}_bucket"), &[("tool", "echo"), ("le", bound)]);
        assert_eq!(page.value(&format!("{name}_count"), &of("echo")), Some(3.0));
        for bound in ["0.5", "2", "5", "+Inf"] {
            assert_eq!(bucket(bound), Some(3.0), "{bound}");
        }
        // `fails` has not succeeded yet: it may be made up, too.
        assert_eq!(page.value(&format!("{name}_count"), &[("tool", "…")]), Some(21.0));
        assert_eq!(page.value("proof_gateway_tool_failures_total", &[("tool", "…")]), Some(21.0));
        assert_eq!(page.value("proof_gateway_tool_failures_total", &of("echo")), Some(0.0));
        let tools = page.samples.iter().filter(|sample| sample.name == format!("{name}_count")).count();
        assert_eq!(tools, 2, "{page:?}");
        scene.end().await;
    }
}

#[tokio::test]
async fn refused_tokens_are_counted_by_what_is_wrong() {
    let scene = Scene::new(Revision::R2026_07_28, true, Settings::default()).await;
    let bearer = |token: String| format!("authorization: Bearer {token}\r\n");
    assert_eq!(scene.call("echo", &json!({}), &bearer(scene.token(|_| ()))).await.status, 200);
    let before = page(&scene).await;
    for reason in ["no_token", "invalid_token", "insufficient_scope"] {
        assert_eq!(before.value("proof_gateway_auth_failures_total", &[("reason", reason)]), Some(0.0));
    }
    assert_eq!(scene.call("echo", &json!({}), "").await.status, 401);
    for (change, status) in [
        (json!({ "aud": "another" }), 401),
        (json!({ "exp": 1 }), 401),
        (json!({ "iss": "https://evil.example" }), 401),
        (json!({ "scope": "other" }), 403),
    ] {
        let token = scene.token(|claims| {
            for (name, value) in change.as_object().into_iter().flatten() {
                claims[name] = value.clone();
            }
        });
        assert_eq!(scene.call("echo", &json!({}), &bearer(token)).await.status, status, "{change}");
    }
    let page = page(&scene).await;
    let count = |name: &str, label: (&str, &str)| page.value(&format!("proof_gateway_{name}_total"), &[label]);
    assert_eq!(count("auth_failures", ("reason", "no_token")), Some(1.0));
    assert_eq!(count("auth_failures", ("reason", "invalid_token")), Some(3.0));
    assert_eq!(count("auth_failures", ("reason", "insufficient_scope")), Some(1.0));
    for flaw in ["audience", "time", "issuer"] {
        assert_eq!(count("token_validation_failures", ("flaw", flaw)), Some(1.0), "{flaw}");
    }
    assert_eq!(count("token_validation_failures", ("flaw", "form")), Some(0.0));
    scene.end().await;
}

#[tokio::test]
async fn a_session_of_another_client_is_a_cross_tenant_attempt() {
    let scene = Scene::new(Revision::R2025_06_18, true, Settings::default()).await;
    let bearer = |token: String| format!("authorization: Bearer {token}\r\n");
    let (me, other) = (bearer(scene.token(|_| ())), bearer(scene.token(|claims| claims["sub"] = json!("other"))));
    let session = scene.open(&me).await;
    let ping = json!({ "jsonrpc": "2.0", "id": 2, "method": "ping" }).to_string();
    let asked = async |token: &str, session: &str| {
        let headers = format!("mcp-protocol-version: 2025-06-18\r\nmcp-session-id: {session}\r\n{token}");
        scene.ask("POST /mcp", &headers, &ping).await.status
    };
    assert_eq!(asked(&me, &session).await, 200);
    // A session that nobody has is no attempt.
    assert_eq!(asked(&me, "none").await, 404);
    let name = "proof_gateway_cross_tenant_attempts_total";
    assert!(scene.metrics().await.contains(&format!("\n{name} 0\n")));
    assert_eq!(asked(&other, &session).await, 404);
    assert_eq!(page(&scene).await.value(name, &[]), Some(1.0));
    scene.end().await;
}
