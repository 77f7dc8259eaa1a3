//! Quirks of lists: uneven pages, and results of odd types.

use std::sync::{Mutex, PoisonError};

use net::service::Reply;
use serde_json::{Value, json};
use wire::revision::{R2025_06_18, R2025_11_25};

use super::calls::answer;
use super::quirk;
use crate::server::{Fault, Kind, ServiceRequest, drop_member};

/// The tool on the page that does not say of which type it is.
const UNTYPED: &str = "untyped_100003";

pub(super) const LISTS: &[&Fault] = &[
    UNTYPED_LISTS,
    ICONS_OF_ALL_KINDS,
    EMPTY_PAGE,
    EMPTY_CURSOR,
    UNTYPED_PAGE,
    UNKNOWN_LIST_TYPE,
    ODD_CURSORS,
    RICH_RESULTS,
];

/// The quirk `untyped-lists`.
pub const UNTYPED_LISTS: &Fault = &quirk(
    "untyped-lists",
    Kind::Answers(|asked, answer| {
        if asked.message["method"].as_str().is_some_and(|method| method.ends_with("/list")) {
            drop_member(&mut answer["result"], "resultType");
        }
    }),
)
.modern();

/// The quirk `icons-of-all-kinds`.
pub const ICONS_OF_ALL_KINDS: &Fault = &quirk(
    "icons-of-all-kinds",
    Kind::Results("tools/list", |answer| {
        let icons =
            ["javascript:alert(1)", "file:///etc/passwd", "data:text/html,<script>1</script>", "ftp://127.0.0.1/i.png"];
        for tool in answer["result"]["tools"].as_array_mut().into_iter().flatten() {
            tool["icons"] = icons.iter().map(|src| json!({ "src": src, "mimeType": "image/png" })).collect();
        }
    }),
)
.since(R2025_11_25);

/// The quirk `empty-page`.
pub const EMPTY_PAGE: &Fault = &quirk(
    "empty-page",
    Kind::Handles(|asked, _, reply| match asked.param("cursor").as_str() {
        _ if !asked.is("tools/list") => reply,
        None => page(asked, &["alpha_100001"], Some("to-nothing")),
        Some("to-nothing") => page(asked, &[], Some("to-the-end")),
        Some(_) => page(asked, &["omega_100002"], None),
    }),
);

/// The quirk `empty-cursor`.
pub const EMPTY_CURSOR: &Fault = &quirk(
    "empty-cursor",
    Kind::Handles(|asked, _, reply| match asked.param("cursor").as_str() {
        _ if !asked.is("tools/list") => reply,
        None => page(asked, &["alpha_100001"], Some("to-the-second")),
        Some("") => page(asked, &["omega_100003"], None),
        Some(_) => page(asked, &["middle_100002"], Some("")),
    }),
)
.modern();

/// The quirk `untyped-page`.
pub const UNTYPED_PAGE: &Fault = &quirk(
    "untyped-page",
    Kind::Several(&[
        Kind::Handles(|asked, _, reply| match asked.param("cursor").as_str() {
            _ if !asked.is("tools/list") => reply,
            None => page(asked, &["alpha_100001"], Some("to-the-second")),
            Some("to-the-second") => page(asked, &["beta_100002"], Some("to-the-third")),
            Some("to-the-third") => page(asked, &[UNTYPED], Some("to-the-end")),
            Some(_) => page(asked, &["omega_100004"], None),
        }),
        Kind::Sends(|answer| {
            if answer.pointer("/result/tools/0/name") == Some(&json!(UNTYPED)) {
                drop_member(&mut answer["result"], "resultType");
            }
        }),
    ]),
)
.modern();

/// The quirk `unknown-list-type`.
pub const UNKNOWN_LIST_TYPE: &Fault = &quirk(
    "unknown-list-type",
    Kind::Handles(|asked, _, reply| match asked.param("cursor").as_str() {
        _ if !asked.is("tools/list") => reply,
        None => {
            let mut first = listed(asked, &["mystery_100001"], Some("to-a-mystery"));
            first["result"]["resultType"] = json!("mystery");
            answer(&first).into()
        }
        Some(_) => page(asked, &["omega_100002"], None),
    }),
)
.modern();

/// A list of tools under names that nobody knows from elsewhere.
fn listed(asked: &ServiceRequest, names: &[&str], next: Option<&str>) -> Value {
    let tool =
        |name: &&str| json!({ "name": name, "description": "Does nothing", "inputSchema": { "type": "object" } });
    let tools: Vec<Value> = names.iter().map(tool).collect();
    let mut result = json!({ "tools": tools });
    if let Some(next) = next {
        result["nextCursor"] = json!(next);
    }
    if asked.is_modern() {
        result["resultType"] = json!("complete");
        result["ttlMs"] = json!(0);
        result["cacheScope"] = json!("private");
    }
    json!({ "jsonrpc": "2.0", "id": asked.message["id"], "result": result })
}

pub(super) fn page(asked: &ServiceRequest, names: &[&str], next: Option<&str>) -> Reply {
    answer(&listed(asked, names, next)).into()
}

/// The quirk `odd-cursors`.
pub const ODD_CURSORS: &Fault = &quirk(
    "odd-cursors",
    Kind::Several(&[
        Kind::Receives(|heard| {
            let cursor = heard.message["params"]["cursor"].as_str();
            let own = cursor.and_then(|cursor| heard.state.of::<Cursors>().own(cursor));
            if let Some(own) = own {
                heard.message["params"]["cursor"] = json!(own);
            }
        }),
        Kind::Answers(|asked, answer| {
            let next = answer.pointer("/result/nextCursor").and_then(Value::as_str).map(str::to_owned);
            if let Some(next) = next {
                let method = asked.message["method"].as_str().unwrap_or_default();
                answer["result"]["nextCursor"] = json!(asked.state.of::<Cursors>().odd(method, next));
            }
        }),
    ]),
);

/// The cursors that were given, and what they stand for.
#[derive(Default)]
struct Cursors(Mutex<Vec<(String, String)>>);

impl Cursors {
    fn own(&self, odd: &str) -> Option<String> {
        let given = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        given.iter().find(|(cursor, _)| cursor == odd).map(|(_, own)| own.clone())
    }

    /// What a careless client trims, decodes, normalizes, or takes for a number.
    fn odd(&self, method: &str, own: String) -> String {
        let mut given = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let number = given.len();
        let odd = match method {
            "prompts/list" => format!("00{number}"),
            "resources/list" => format!("b2Zmc2V0+/{number}=="),
            _ => format!(" {{\"after\": \"%41+{number}\"}}e\u{301}世界== "),
        };
        given.push((odd.clone(), own));
        odd
    }
}

/// The quirk `rich-results`.
pub const RICH_RESULTS: &Fault = &quirk("rich-results", Kind::Answers(enrich));

/// How many levels of a schema are deep.
const DEEP: usize = 120;

/// More than most servers give: two contents of a resource, a link in a prompt, an optional argument with a deep schema.
fn enrich(asked: &ServiceRequest, answer: &mut Value) {
    let links = asked.context.revision.at_least(R2025_06_18);
    match asked.message["method"].as_str() {
        Some("resources/read") => {
            if let Some(contents) = answer.pointer_mut("/result/contents").and_then(Value::as_array_mut) {
                contents.push(json!({ "uri": "scenario://second", "mimeType": "text/plain", "text": "The second" }));
            }
        }
        Some("prompts/get") if links => {
            let link = json!({ "type": "resource_link", "uri": "scenario://linked", "name": "linked" });
            if let Some(messages) = answer.pointer_mut("/result/messages").and_then(Value::as_array_mut) {
                messages.push(json!({ "role": "user", "content": link }));
            }
        }
        Some("tools/list") => {
            let leaf = json!({ "type": "string" });
            let deep = (0..DEEP).fold(leaf, |inner, _| json!({ "type": "array", "items": inner }));
            if let Some(properties) = answer.pointer_mut("/result/tools/0/inputSchema/properties") {
                properties["deep"] = deep;
            }
        }
        _ => {}
    }
}
