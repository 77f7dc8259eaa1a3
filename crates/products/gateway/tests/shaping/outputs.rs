//! `outputs`: results that break the schema of their tool, whatever carries them.

use std::fs;

use gateway::settings::{
    AccessRule, AnswerSettings, AuditSettings, CacheRule, CacheSettings, Effect, ErrorForm, OutputSettings, SchemaMode,
    Settings,
};
use serde_json::{Value, json};
use wire::Revision;

use super::scene::Scene;

const LEGACY: Revision = Revision::R2025_11_25;
const MODERN: Revision = Revision::NEWEST;
const PAIRS: [(Revision, Revision); 4] = [(MODERN, MODERN), (LEGACY, LEGACY), (LEGACY, MODERN), (MODERN, LEGACY)];

fn settings(schema: SchemaMode) -> Settings {
    let tools = vec![("marked".to_owned(), SchemaMode::Mark), ("off".to_owned(), SchemaMode::Off)];
    Settings { outputs: Some(OutputSettings { schema, tools }), ..Settings::default() }
}

fn tool(name: &str, schema: Option<Value>) -> Value {
    let mut tool = json!({ "name": name, "inputSchema": { "type": "object" },
        "annotations": { "readOnlyHint": true } });
    if let Some(schema) = schema {
        tool["outputSchema"] = schema;
    }
    tool
}

fn answer(method: &str, name: &str) -> Value {
    let counted = json!({ "type": "object", "required": ["n"], "properties": { "n": { "type": "integer" } } });
    let bad = json!({ "content": [], "structuredContent": { "n": "a-value" } });
    match (method, name) {
        ("tools/list", _) => {
            let counted =
                ["good", "bad", "missing", "failed", "marked", "off"].map(|name| tool(name, Some(counted.clone())));
            let mut tools = counted.to_vec();
            tools.push(tool("free", None));
            tools.push(tool("remote", Some(json!({ "$ref": "http://127.0.0.1:9/schema.json" }))));
            json!({ "tools": tools })
        }
        (_, "good") => json!({ "content": [], "structuredContent": { "n": 1 } }),
        (_, "missing") => json!({ "content": [{ "type": "text", "text": "a-value" }] }),
        (_, "failed") => json!({ "content": [], "isError": true }),
        _ => bad,
    }
}

async fn scene(back: Revision, settings: Settings) -> Scene {
    Scene::open(back, settings, |call, _| {
        let name = call.message.string_member("name").unwrap_or_default();
        answer(call.message.method().unwrap_or_default(), &name)
    })
    .await
}

async fn outcome(scene: &Scene, front: Revision, tool: &str) -> Value {
    let client = scene.client(front, json!({}));
    if front == LEGACY {
        client.initialize().await;
    }
    client.ask("tools/call", json!({ "name": tool, "arguments": {} })).await
}

#[tokio::test]
async fn a_result_that_breaks_its_schema_is_an_error_without_its_values() {
    for (front, back) in PAIRS {
        let scene = scene(back, settings(SchemaMode::Enforce)).await;
        for tool in ["good", "failed", "free", "off"] {
            let answer = outcome(&scene, front, tool).await;
            assert!(answer["error"].is_null() && answer["result"].is_object(), "{front:?} {back:?} {tool}: {answer}");
        }
        for (tool, why) in [("bad", "`structuredContent/n` breaks `type`"), ("missing", "no `structuredContent`")] {
            let answer = outcome(&scene, front, tool).await;
            let data = &answer["error"]["data"];
            assert_eq!((&data["failure"], &data["outcome"]), (&json!("output-invalid"), &json!("unknown")), "{answer}");
            assert_eq!((&data["category"], &data["retryable"]), (&json!("UPSTREAM_FAILURE"), &json!(false)));
            assert!(answer.to_string().contains(why) && !answer.to_string().contains("a-value"), "{answer}");
        }
        let marked = outcome(&scene, front, "marked").await;
        let mark = &marked["result"]["_meta"]["dev.proofhouse/output-schema"];
        assert_eq!((&mark["conforms"], &mark["pointer"]), (&json!(false), &json!("/n")), "{front:?} {back:?} {marked}");
        assert_eq!(marked["result"]["structuredContent"], json!({ "n": "a-value" }));
        scene.end().await;
    }
}

#[tokio::test]
async fn a_call_whose_result_could_not_be_judged_does_not_run() {
    for (front, back) in PAIRS {
        let scene = scene(back, settings(SchemaMode::Enforce)).await;
        let answer = outcome(&scene, front, "remote").await;
        let data = &answer["error"]["data"];
        assert_eq!((&data["failure"], &data["outcome"]), (&json!("output-schema-unusable"), &json!("not run")));
        assert!(scene.seen.of("tools/call").is_empty());
        scene.end().await;
    }
}

#[tokio::test]
async fn without_the_section_every_result_passes() {
    for settings in [Settings::default(), settings(SchemaMode::Off)] {
        let scene = scene(MODERN, settings).await;
        for tool in ["bad", "missing", "remote"] {
            let answer = outcome(&scene, MODERN, tool).await;
            assert!(answer["result"].is_object() && !answer.to_string().contains("output-schema"), "{tool}: {answer}");
        }
        scene.end().await;
    }
}

/// Neither rules nor the cache nor errors as results lead around the check.
#[tokio::test]
async fn no_other_stage_leads_around_it() {
    let rule = CacheRule {
        tools: vec!["*".to_owned()],
        resources: Vec::new(),
        lists: Vec::new(),
        ttl: std::time::Duration::from_mins(1),
        shared: false,
        invalidated_by: Vec::new(),
    };
    let allow = AccessRule {
        effect: Effect::Allow,
        tools: None,
        prompts: None,
        resources: None,
        scopes: Vec::new(),
        condition: None,
    };
    let cache = CacheSettings { rules: vec![rule], ..CacheSettings::default() };
    let answers = AnswerSettings { cache: Some(cache), errors: ErrorForm::Result, ..AnswerSettings::default() };
    let settings = Settings { answers, access: Some(vec![allow]), ..settings(SchemaMode::Enforce) };
    let scene = scene(MODERN, settings).await;
    for _ in 0..2 {
        let bad = outcome(&scene, MODERN, "bad").await;
        assert_eq!(bad["result"]["isError"], true, "{bad}");
        assert!(bad.to_string().contains("output-invalid") && !bad.to_string().contains("a-value"), "{bad}");
        let good = outcome(&scene, MODERN, "good").await;
        assert_eq!(good["result"]["structuredContent"], json!({ "n": 1 }), "{good}");
    }
    // The good one was kept, the bad one was not.
    let calls =
        |tool: &str| scene.seen.of("tools/call").iter().filter(|got| got.message["params"]["name"] == tool).count();
    assert_eq!((calls("good"), calls("bad")), (1, 2));
    scene.end().await;
}

#[tokio::test]
async fn the_record_says_what_was_found() {
    let folder = tempfile::tempdir().expect("a folder");
    let log = folder.path().join("log");
    let settings = Settings { audit: Some(AuditSettings::new(log.clone())), ..settings(SchemaMode::Enforce) };
    let scene = scene(LEGACY, settings).await;
    for tool in ["good", "bad", "marked", "free"] {
        outcome(&scene, LEGACY, tool).await;
    }
    scene.end().await;
    let texts = fs::read_dir(&log).expect("a folder").filter_map(|entry| fs::read_to_string(entry.ok()?.path()).ok());
    let lines: Vec<Value> =
        texts.collect::<String>().lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    for (tool, found) in
        [("good", json!("conforms")), ("bad", json!("withheld")), ("marked", json!("marked")), ("free", Value::Null)]
    {
        let record =
            lines.iter().find(|line| line["tool_name"] == tool && line["kind"] == "request").expect("a record");
        assert_eq!(record["output_schema"], found, "{record}");
    }
}
