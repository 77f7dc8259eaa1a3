//! Servers that need a signed manifest in addition to the lock.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use gateway::settings::AnswerSettings;
use serde_json::{Value, json};
use wire::timestamp::rfc3339;

use super::shop::{Locked, Publisher, Says, demand};
use super::{listed, refusal, until};
use crate::scene::text;

const ISSUED: &str = "2026-01-01T00:00:00Z";

/// A time so many milliseconds from now.
fn after(millis: u64) -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("a time");
    rfc3339(now + Duration::from_millis(millis))
}

/// A gateway that demands this manifest, verified by the keys of `publisher`.
async fn demanding(publisher: &Publisher, manifest: &Value) -> Locked {
    Locked::with(AnswerSettings::default(), false, |folder, settings| {
        demand(folder, settings, manifest, Some(publisher.publish(folder)));
    })
    .await
}

#[tokio::test]
async fn a_verified_manifest_passes_what_it_states_and_nothing_else() {
    let publisher = Publisher::new("shop");
    let fewer = Says { tools: json!([Says::default().tools[1]]), ..Says::default() };
    let scene = demanding(&publisher, &publisher.manifest(&fewer, ISSUED, None)).await;
    let client = scene.client().await;
    assert_eq!(listed(&client, "tools/list").await.0, ["look"]);
    assert_eq!(text(&client.call("look", json!({})).await), "ran look");
    let refused = client.call("buy", json!({})).await;
    assert!(refusal(&refused).1.contains("the signed manifest does not state it"), "{refused}");
    let said = client.ask("server/discover", json!({}), &[]).await;
    assert_eq!(said["result"]["instructions"], "Be kind.");
    assert_eq!(scene.status()["manifests"], json!([{ "upstream": "a", "refused": null }]));
    scene.scene.end().await;
}

#[tokio::test]
async fn a_manifest_in_any_other_state_withholds_its_server_whole() {
    let (publisher, stranger) = (Publisher::new("shop"), Publisher::new("stranger"));
    let good = publisher.manifest(&Says::default(), ISSUED, None);
    let changed = |change: fn(&mut Value)| {
        let mut manifest = good.clone();
        change(&mut manifest);
        manifest
    };
    for (manifest, why) in [
        (changed(|all| all["tools"][0]["name"] = json!("sell")), "tampered"),
        (changed(|all| all["provider"] = json!({ "name": "Other" })), "tampered"),
        (changed(|all| all["signatures"] = json!([])), "unsigned"),
        (stranger.manifest(&Says::default(), ISSUED, None), "unknown-key"),
        (publisher.manifest(&Says::default(), ISSUED, Some("2026-01-02T00:00:00Z".to_owned())), "expired"),
        (publisher.manifest(&Says::default(), &after(3_600_000), None), "in the future"),
        (json!({}), "not readable"),
    ] {
        let scene = demanding(&publisher, &manifest).await;
        let client = scene.client().await;
        let (names, note) = listed(&client, "tools/list").await;
        assert_eq!((names.len(), &note[0]["reason"]), (0, &json!("manifest refused")), "{why}: {note}");
        let answer = client.call("look", json!({})).await;
        let (row, message) = refusal(&answer);
        assert!(row == "manifest-refused" && message.contains(why), "{why}: {message}");
        assert_eq!(refusal(&client.ask("prompts/get", json!({ "name": "greet" }), &[]).await).0, "manifest-refused");
        let read = client.ask("resources/read", json!({ "uri": "shop://orders/1" }), &[]).await;
        assert_eq!(refusal(&read).0, "manifest-refused", "{read}");
        let said = client.ask("server/discover", json!({}), &[]).await;
        assert!(said["result"]["instructions"].is_null(), "{said}");
        assert!(scene.seen.of("tools/call", "").is_empty() && scene.seen.of("resources/read", "").is_empty());
        assert!(scene.status()["manifests"][0]["refused"].as_str().is_some_and(|said| said.contains(why)));
        scene.scene.end().await;
    }
}

#[tokio::test]
async fn a_manifest_that_expires_while_the_gateway_runs_counts_no_longer() {
    for each_call in [false, true] {
        let publisher = Publisher::new("shop");
        let manifest = publisher.manifest(&Says::default(), ISSUED, Some(after(1500)));
        let scene = Locked::with(AnswerSettings::default(), false, |folder, settings| {
            demand(folder, settings, &manifest, Some(publisher.publish(folder)));
            settings.lock.as_mut().expect("a lock").each_call = each_call;
        })
        .await;
        let client = scene.client().await;
        assert_eq!(listed(&client, "tools/list").await.0.len(), 3);
        assert_eq!(text(&client.call("buy", json!({})).await), "ran buy");
        tokio::time::sleep(Duration::from_millis(1600)).await;
        assert_eq!(refusal(&client.call("buy", json!({})).await).0, "manifest-refused");
        assert_eq!(listed(&client, "tools/list").await.0.len(), 0);
        assert_eq!(scene.seen.calls("buy"), 1);
        scene.scene.end().await;
    }
}

#[tokio::test]
async fn keys_that_the_lock_pins_are_enough_and_others_do_not_count() {
    let (publisher, stranger) = (Publisher::new("shop"), Publisher::new("stranger"));
    for (signer, passes) in [(&publisher, true), (&stranger, false)] {
        let manifest = signer.manifest(&Says::default(), ISSUED, None);
        let scene = Locked::with(AnswerSettings::default(), false, |folder, settings| {
            publisher.pin(folder);
            demand(folder, settings, &manifest, None);
        })
        .await;
        let client = scene.client().await;
        assert_eq!(listed(&client, "tools/list").await.0.len(), if passes { 3 } else { 0 });
        scene.scene.end().await;
    }
}

#[tokio::test]
async fn another_manifest_is_taken_over_and_a_bad_lock_is_not() {
    let publisher = Publisher::new("shop");
    let scene = demanding(&publisher, &publisher.manifest(&Says::default(), ISSUED, None)).await;
    let client = scene.client().await;
    let reload = || scene.scene.gateway.reload(&scene.scene.settings).map_err(|error| error.to_string());
    assert_eq!(listed(&client, "tools/list").await.0.len(), 3);
    // A lock that was edited by hand, is no lock, or is missing: the old one holds.
    scene.shop.says().tools[0]["description"] = json!("Other.");
    let file = scene.folder().join("mcp.lock");
    let good = std::fs::read_to_string(&file).expect("a lock");
    for bad in [&good.replace("Buys.", "Other."), "{}", ""] {
        std::fs::write(&file, bad).expect("a file");
        let error = reload().expect_err("a bad lock");
        assert!(error.contains("mcp.lock` cannot be used"), "{error}");
        assert_eq!(refusal(&client.call("buy", json!({})).await).0, "lock-changed");
        assert_eq!(text(&client.call("look", json!({})).await), "ran look");
    }
    std::fs::remove_file(&file).expect("it was there");
    assert!(reload().is_err());
    assert_eq!(text(&client.call("look", json!({})).await), "ran look");
    std::fs::write(&file, good).expect("a file");
    // A manifest that was tampered with is not: what it signs is withheld.
    let manifest = scene.folder().join("manifest.json");
    let text = std::fs::read_to_string(&manifest).expect("a manifest");
    std::fs::write(&manifest, text.replace("\"version\":\"1.0.0\"", "\"version\":\"2.0.0\"")).expect("a file");
    reload().expect("settings");
    let shown = until(async || listed(&client, "tools/list").await, |(names, _)| names.is_empty()).await;
    assert_eq!(shown.1[0]["reason"], "manifest refused");
    scene.scene.end().await;
}
