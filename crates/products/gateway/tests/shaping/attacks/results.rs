//! `sanitize` under attack: records of other tenants, personal data and secrets in every place and spelling that a server can
//! choose, or the author of its records.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use gateway::settings::{Personal, SanitizeSettings, Settings, TenantRecords};
use serde_json::{Value, json};
use wire::Revision;

use crate::scene::{Raw, Scene};

const MODERN: Revision = Revision::NEWEST;

fn settings() -> Settings {
    let tenants = Some(TenantRecords { fields: vec!["tenant_id".to_owned()], claim: "tenant_id".to_owned() });
    let sanitize = SanitizeSettings { personal: Personal::ALL.to_vec(), tenants, ..SanitizeSettings::default() };
    Settings { sanitize: Some(sanitize), ..Settings::default() }
}

/// A server that answers each call with what the test put in its mouth, and a client of the tenant `acme`.
struct Attack {
    scene: Scene,
    client: Raw,
    result: Arc<Mutex<Value>>,
}

impl Attack {
    async fn begin() -> Self {
        let result = Arc::new(Mutex::new(json!({})));
        let said = Arc::clone(&result);
        let scene = Scene::open(MODERN, settings(), move |call, _| match call.message.method() {
            Some("tools/call") => said.lock().unwrap_or_else(PoisonError::into_inner).clone(),
            _ => json!({ "tools": [] }),
        });
        let scene = scene.await;
        let client = scene.client(MODERN, json!({ "tenant_id": "acme" }));
        Self { scene, client, result }
    }

    /// What the client gets of a result.
    async fn got(&self, result: Value) -> Value {
        *self.result.lock().unwrap_or_else(PoisonError::into_inner) = result;
        self.client.ask("tools/call", json!({ "name": "x", "arguments": {} })).await
    }

    /// Fails if the client gets one of these texts.
    async fn hides(&self, what: &str, result: Value, secrets: &[&str]) {
        let got = self.got(result).await.to_string();
        for secret in secrets {
            assert!(!got.contains(secret), "{what}: {got}");
        }
    }
}

fn text(text: &str) -> Value {
    json!({ "content": [{ "type": "text", "text": text }] })
}

/// Two records, of which the client may see the first; what it says may be chosen by who filled it.
fn rows(filled: &str) -> String {
    format!(r#"[{{"tenant_id":"acme","n":{filled}}},{{"tenant_id":"other","n":"FOREIGN"}}]"#)
}

#[tokio::test]
async fn a_record_that_spoils_its_list_hides_no_record_of_another() {
    let attack = Attack::begin().await;
    let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
    for (what, list) in [
        ("nested too deep", rows(&deep)),
        ("no number of JSON", rows("NaN")),
        ("a comma too many", rows("1").replace("},{", ",},{")),
        ("in a fence", format!("Here:\n```json\n{}\n```", rows("1"))),
        ("one record a line", rows("1").replace("},{", "}\n{").replace(['[', ']'], "")),
        ("as Python prints it", rows("1").replace('"', "'")),
        ("as a text of JSON in prose", format!("log: {}", json!(rows("1")))),
        ("with an escaped name", format!("x {}", rows("1").replace("tenant_id", r"tenant\u005fid"))),
    ] {
        attack.hides(what, text(&list), &["FOREIGN"]).await;
    }
    // What names the client's own tenant alone passes.
    let own = "```json\n{\"tenant_id\": \"acme\", \"n\": 1}\n```";
    assert_eq!(attack.got(text(own)).await["result"]["content"][0]["text"], own);
    attack.scene.end().await;
}

#[tokio::test]
async fn a_record_cannot_lose_the_name_of_its_tenant() {
    let attack = Attack::begin().await;
    for (what, list) in [
        ("in a control string", "[{\"t\":\"x\u{9d}\",\"tenant_id\":\"other\",\"d\":\"\u{9c}y\",\"s\":\"FOREIGN\"}]"),
        ("by case", r#"[{"Tenant_ID":"other","s":"FOREIGN"}]"#),
        ("by another separator", r#"[{"tenant-id":"other","s":"FOREIGN"},{"tenantId":"other","s":"FOREIGN"}]"#),
        ("by hidden characters", "[{\"tenant\u{200b}_id\":\"other\",\"s\":\"FOREIGN\"}]"),
        ("by wide letters", "[{\"\u{ff54}enant_id\":\"other\",\"s\":\"FOREIGN\"}]"),
    ] {
        attack.hides(what, text(list), &["FOREIGN"]).await;
        let data: Value = serde_json::from_str(list).expect("JSON");
        attack.hides(what, json!({ "content": [], "structuredContent": { "rows": data } }), &["FOREIGN"]).await;
    }
    attack.scene.end().await;
}

#[tokio::test]
async fn records_are_found_wherever_a_result_has_them() {
    let attack = Attack::begin().await;
    let foreign = || json!([{ "tenant_id": "other", "s": "FOREIGN" }]);
    let blob = STANDARD.encode(rows("1"));
    let held = |resource: Value| json!({ "content": [{ "type": "resource", "resource": resource }] });
    for (what, result, secret) in [
        ("_meta", json!({ "content": [], "_meta": { "x/rows": foreign() } }), "FOREIGN"),
        ("a member that the protocol does not have", json!({ "content": [], "rows": foreign() }), "FOREIGN"),
        (
            "a content block",
            json!({ "content": [{ "type": "text", "text": "FOREIGN", "tenant_id": "other" }] }),
            "FOREIGN",
        ),
        ("a blob", held(json!({ "uri": "x:y", "blob": blob })), &blob[blob.len() - 24..]),
    ] {
        attack.hides(what, result, &[secret]).await;
    }
    // Bytes that are no text stay as they are.
    let image = STANDARD.encode([0xff, 0xd8, 0xff, 0xe0, b'{', b'"']);
    let got = attack.got(held(json!({ "uri": "x:y", "blob": image }))).await;
    assert_eq!(got["result"]["content"][0]["resource"]["blob"], image, "{got}");
    attack.scene.end().await;
}

#[tokio::test]
async fn personal_data_is_found_in_every_spelling() {
    let attack = Attack::begin().await;
    for (spelling, mask) in [
        ("4111  1111  1111  1111", "[card]"),
        ("4111_1111_1111_1111", "[card]"),
        ("4111 - 1111 - 1111 - 1111", "[card]"),
        ("4111 1111-1111.1111", "[card]"),
        ("4111\t1111\t1111\t1111", "[card]"),
        ("٤١١١١١١١١١١١١١١١", "[card]"),
        ("𝟒𝟏𝟏𝟏 𝟏𝟏𝟏𝟏 𝟏𝟏𝟏𝟏 𝟏𝟏𝟏𝟏", "[card]"),
        ("⁴¹¹¹¹¹¹¹¹¹¹¹¹¹¹¹", "[card]"),
        ("④①①①①①①①①①①①①①①①", "[card]"),
        ("4\u{301}111111111111111", "[card]"),
        ("%34111111111111111", "[card]"),
        ("&#52;111111111111111", "[card]"),
        (r"\u0034111111111111111", "[card]"),
        ("4111111111111111²", "[card]²"),
        ("IBANDE89370400440532013000", "IBAN[iban]"),
        ("DE89  3704  0044  0532  0130  00", "[iban]"),
        ("\"ann lee\"@example.org", "[email]"),
        ("ann%40example.org", "[email]"),
        ("ann&#64;example.org", "[email]"),
        ("ann&#x40;example.org", "[email]"),
        ("ann&commat;example.org", "[email]"),
        ("ann@example。org", "[email]"),
        ("ann\u{301}@example.org", "[email]"),
        ("+49  30   12345678", "[phone]"),
    ] {
        let got = attack.got(text(&format!("is {spelling}."))).await;
        assert_eq!(got["result"]["content"][0]["text"], format!("is {mask}."), "{spelling}");
    }
    attack.scene.end().await;
}

#[tokio::test]
async fn no_place_of_a_result_hides_personal_data_or_secrets() {
    let attack = Attack::begin().await;
    for (what, result, secret) in [
        ("a number of _meta", json!({ "content": [], "_meta": { "x/c": 4_111_111_111_111_111_u64 } }), "4111"),
        ("a number of an unknown member", json!({ "content": [], "card": 4_111_111_111_111_111_u64 }), "4111"),
        ("a `name` of _meta", json!({ "content": [], "_meta": { "x/c": { "name": "ann@example.org" } } }), "example"),
        ("a name in _meta", json!({ "content": [], "_meta": { "x/c": { "ann@example.org": 1 } } }), "example"),
        ("the name of a member", json!({ "content": [], "ann@example.org": 1 }), "example"),
        (
            "a secret of _meta",
            json!({ "content": [], "_meta": { "x/c": { "password": "hunter2-and-more" } } }),
            "hunter2",
        ),
        (
            "an error",
            json!({ "isError": true, "content": [{ "type": "text", "text": "no ann@example.org" }] }),
            "example",
        ),
        (
            "a blob",
            json!({ "content": [{ "type": "resource",
            "resource": { "uri": "x:y", "blob": STANDARD.encode("mail ann@example.org") } }] }),
            &STANDARD.encode("mail ann@example.org")[8..20],
        ),
    ] {
        attack.hides(what, result, &[secret]).await;
    }
    attack.scene.end().await;
}

/// Each text took many seconds once, in proportion to the square of its length.
#[tokio::test]
async fn no_text_takes_long_to_look_through() {
    let attack = Attack::begin().await;
    for part in ["\u{9d}", "\u{90}a", "x-token: a ", "eyJ", "eyJ-", "+1 ", "\"a", "a@", "\"tenant_id\":", "&#", "%4"] {
        let began = Instant::now();
        attack.got(text(&part.repeat(120_000))).await;
        assert!(began.elapsed() < Duration::from_secs(4), "{}: {:?}", part.escape_debug(), began.elapsed());
    }
    attack.scene.end().await;
}
