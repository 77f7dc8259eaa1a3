//! Actions of apps: one is opened, what crosses is taken down, one is closed. Messages are the page's business: it talks with the app.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use client::Params;
use serde_json::{Value, json};
use url::Url;
use wire::meta::APP_MEDIA;

use super::leveled;
use crate::Console;
use crate::apps::Page;
use crate::apps::policy::{Domains, policy};
use crate::sending::{Sent, noting};
use page::{Body, Failure};

/// The longest page of an app, in bytes.
const LONGEST: usize = 8 << 20;
/// The longest address of one, in bytes.
const LONGEST_URI: usize = 2000;
/// The longest message that is taken down, and how many at once.
const MESSAGE: usize = 1 << 20;
const MESSAGES: usize = 64;

impl Console {
    /// What the page asks of an app: `open`, `note` or `close`.
    pub(super) async fn app(self: &Arc<Self>, body: &Body) -> Result<Value, Failure> {
        match body.text("act")? {
            "open" => self.open_app(body).await,
            "note" => self.note_app(body),
            "close" => {
                self.apps.end(&self.hub, body.text("app")?);
                Ok(json!({}))
            }
            other => Err(Failure::wrong(format!("unknown act `{other}`"), "open, note or close")),
        }
    }

    /// Reads the page of an app from its server and serves it; `allow` permits the domains that it asks for.
    async fn open_app(self: &Arc<Self>, body: &Body) -> Result<Value, Failure> {
        let origin = self.apps.origin()?;
        let target = self.named(body)?;
        let client = target.client()?;
        let (uri, allow) = (body.text("uri")?, body.flag("allow")?);
        if !uri.starts_with("ui://") || uri.len() > LONGEST_URI {
            return Err(Failure::wrong(
                "the address of an app begins with `ui://`",
                "fix `_meta.ui.resourceUri` of the tool",
            ));
        }
        let shown_by = shown_by(body.text("page")?)?;
        let params = leveled(Params::new().with("uri", uri), &target, client.revision().era());
        let sent = Sent::new();
        let read = noting(sent.clone(), client.request("resources/read", &params)).await;
        let read = read.map_err(|error| self.failure(&error))?;
        let content = page_of(read.result().unwrap_or(&Value::Null))?;
        // The server's page as it is, but for secrets that are known: what only looks like one may be code.
        let html = self.hub.redactor().redact_known(&html_of(content)?).into_owned();
        let domains = Domains::read(&content["_meta"]["ui"]);
        let (asks, is_allowed) = (domains.are_asked_for(), allow && domains.are_asked_for());
        let shown = json!({ "connect": domains.connect, "resource": domains.resource, "refused": domains.refused });
        let policy = move |report: &str| policy(Some(&domains).filter(|_| allow), shown_by.as_deref(), report);
        let (id, session) = self.apps.begin(&self.hub, target.number, Page { html, policy: Box::new(policy) })?;
        let row = sent.all().first().and_then(|(session, id)| self.hub.row_of(*session, id));
        let mut answer = self.hub.redactor().redact_value(&json!({ "domains": shown }));
        for (name, value) in [
            ("app", json!(id)),
            ("url", json!(format!("{origin}/app/{id}"))),
            ("session", json!(session)),
            ("row", json!(row)),
            ("asks", json!(asks)),
            ("allowed", json!(is_allowed)),
        ] {
            answer[name] = value;
        }
        Ok(answer)
    }

    /// Takes messages down that crossed between an app and the page, in their order; returns the row of each.
    fn note_app(&self, body: &Body) -> Result<Value, Failure> {
        let session = self.apps.session(body.text("app")?)?;
        let wrong = || Failure::wrong("`messages` is not a list of messages", "each with `from` and `text`");
        let messages = body.get("messages").and_then(Value::as_array).ok_or_else(wrong)?;
        if messages.len() > MESSAGES {
            return Err(Failure::wrong(format!("{} messages", messages.len()), format!("at most {MESSAGES}")));
        }
        let mut rows = Vec::new();
        for message in messages {
            let (from, text) = message["from"].as_str().zip(message["text"].as_str()).ok_or_else(wrong)?;
            if text.len() > MESSAGE || !matches!(from, "app" | "host") {
                return Err(wrong());
            }
            rows.push(self.hub.app_message(session, from == "app", text));
        }
        Ok(json!({ "rows": rows }))
    }
}

/// The origin of the page that asks, as a policy names it; `None` where a policy has no words for it.
fn shown_by(page: &str) -> Result<Option<String>, Failure> {
    let url = Url::parse(page).ok().filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
    let url = url.ok_or_else(|| Failure::wrong("`page` is not an origin", "\"page\": location.origin"))?;
    let origin = url.origin().ascii_serialization();
    Ok(Some(origin).filter(|origin| !origin.contains('[')))
}

/// The first content that is the page of an app.
fn page_of(result: &Value) -> Result<&Value, Failure> {
    let is_page = |content: &&Value| {
        let media = content["mimeType"].as_str().unwrap_or_default();
        media.replace(' ', "").eq_ignore_ascii_case(APP_MEDIA)
    };
    let found = result["contents"].as_array().and_then(|contents| contents.iter().find(is_page));
    found.ok_or_else(|| {
        let what = format!("the resource has no content of the type {APP_MEDIA}");
        Failure::not_now(what, "look at the answer to resources/read in the traffic")
    })
}

fn html_of(content: &Value) -> Result<String, Failure> {
    let unreadable = |why: &str| Failure::not_now(format!("the page of the app {why}"), "look at the resource");
    let html = match (content["text"].as_str(), content["blob"].as_str()) {
        (Some(text), _) => text.to_owned(),
        (None, Some(blob)) => {
            let bytes = BASE64.decode(blob).map_err(|_| unreadable("is not base64"))?;
            String::from_utf8(bytes).map_err(|_| unreadable("is not UTF-8"))?
        }
        (None, None) => return Err(unreadable("has neither `text` nor `blob`")),
    };
    if html.len() > LONGEST {
        return Err(unreadable("is longer than 8 MiB"));
    }
    Ok(html)
}
