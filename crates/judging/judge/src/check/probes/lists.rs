//! Lists, pages and what they name: resources; and logging.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use wire::Era;
use wire::meta::LOG_LEVEL;
use wire::trace::Stimulus;

use super::prompts::{Likely, likely};
use crate::check::context::{Abort, ProbeContext};
use crate::check::lock::ChangeGuard;
use crate::check::probe::{Probe, Script};
use crate::check::survey::{PAGES, Survey};

/// How many items of a list are read.
const ITEMS: usize = 6;

/// A kind of list.
pub(super) struct ListKind {
    /// The method that lists it.
    pub method: &'static str,
    /// The result's member that holds it.
    pub member: &'static str,
    /// The item's member that identifies it.
    pub key: &'static str,
    /// The capability of servers that have it.
    pub capability: &'static str,
}

/// Every list.
pub(super) const LISTS: [ListKind; 4] = [
    ListKind { method: "tools/list", member: "tools", key: "name", capability: "tools" },
    ListKind { method: "resources/list", member: "resources", key: "uri", capability: "resources" },
    ListKind {
        method: "resources/templates/list",
        member: "resourceTemplates",
        key: "uriTemplate",
        capability: "resources",
    },
    ListKind { method: "prompts/list", member: "prompts", key: "name", capability: "prompts" },
];

impl ListKind {
    /// The list as the survey had it.
    pub(super) fn surveyed<'s>(&self, survey: &'s Survey) -> &'s [Value] {
        match self.member {
            "tools" => &survey.tools,
            "resources" => &survey.resources,
            "resourceTemplates" => &survey.templates,
            _ => &survey.prompts,
        }
    }
}

/// Makes sure that the whole list is known as it is now, and that no other case changes it until the turn is dropped: what is
/// on no list can only then be told to be unknown.
pub(super) async fn settled(case: &ProbeContext, method: &str, member: &str) -> Result<ChangeGuard, Abort> {
    let turn = case.lock().await?;
    let changed = format!("notifications/{member}/list_changed");
    if case.connection().received().iter().any(|message| message.method() == Some(&changed)) {
        case.list(method, member, PAGES).await?;
    }
    Ok(turn)
}

pub(super) const AGAIN: Probe = Probe::shared("lists-again", again);

/// Every list once more: none should have changed by itself. A cursor is used several times: what comes in between from other
/// probes must not be what decides whether one that fades is seen.
fn again(case: &ProbeContext) -> Script<'_> {
    Box::pin(async move {
        for ListKind { method, member, capability, .. } in LISTS {
            if !case.survey().has(capability) {
                continue;
            }
            case.list(method, member, PAGES).await?;
            let reply = case.request(method, json!({})).await?;
            if let Some(cursor) = reply.result().and_then(|result| result.get("nextCursor")) {
                for _ in 0..4 {
                    case.request(method, json!({ "cursor": cursor })).await?;
                }
            }
        }
        Ok(())
    })
}

pub(super) const CURSORS: Probe = Probe::shared("invalid-cursors", cursors);

/// Cursors that nobody gave out, one that is no text, and one that another list gave; each list is asked for properly
/// afterwards.
fn cursors(case: &ProbeContext) -> Script<'_> {
    Box::pin(async move {
        let mut foreign = None::<Value>;
        for ListKind { method, capability, .. } in LISTS {
            if !case.survey().has(capability) {
                continue;
            }
            // What we sent is no cursor of theirs; only we can know that.
            case.stimulus(Stimulus::InvalidCursor);
            for cursor in [json!("proof-no-such-cursor"), json!(7)] {
                case.request(method, json!({ "cursor": cursor })).await?;
            }
            if let Some(cursor) = foreign.take() {
                case.request(method, json!({ "cursor": cursor })).await?;
            }
            let reply = case.request(method, json!({})).await?;
            foreign = reply.result().and_then(|result| result.get("nextCursor")).cloned();
        }
        Ok(())
    })
}

fn text<'v>(value: &'v Value, member: &str) -> Option<&'v str> {
    value.get(member)?.as_str()
}

pub(super) const RESOURCES: Probe = Probe::shared("resources-read", resources).needs("resources");

/// Reads some of what is listed, one thing that a template makes, and what cannot be: an unknown URI of a known scheme, a
/// text that is no URI, none at all, and a path that climbs out of what is served.
fn resources(case: &ProbeContext) -> Script<'_> {
    Box::pin(async move {
        let listed = by_kind(&case.survey().resources);
        for uri in listed.iter().take(ITEMS) {
            case.request("resources/read", json!({ "uri": uri })).await?;
        }
        for template in case.survey().templates.iter().filter_map(|t| text(t, "uriTemplate")).take(ITEMS / 2) {
            if let Some(uri) = made(template) {
                case.request("resources/read", json!({ "uri": uri })).await?;
            }
        }
        let known = listed.first().and_then(|uri| uri.split_once(':')).map_or("proof", |(scheme, _)| scheme);
        let mut unknown = vec!["proofhouse://no-such-resource".to_owned(), "not a uri".to_owned()];
        // What is served must not depend on the end of a URI alone.
        unknown
            .extend(listed.first().and_then(|uri| Some(format!("proofhouse-no-such://{}", uri.split_once("://")?.1))));
        if !["http", "https"].contains(&known) {
            unknown.push(format!("{known}://proofhouse/no-such-resource"));
        }
        let templates = case.survey().templates.iter().filter_map(|t| text(t, "uriTemplate"));
        if listed.iter().copied().chain(templates).any(|uri| uri.starts_with("file:")) {
            unknown.push(climbing(&listed));
        }
        let templates = case.survey().templates.iter().filter_map(|t| text(t, "uriTemplate"));
        unknown.extend(templates.filter_map(climbing_out_of).flatten().take(CLIMBING));
        // In the place of one variable at a time: what a template makes is not there for every value.
        let made = case.setting().learnt.made_uris();
        for uri in made.iter().take(ITEMS) {
            // That one succeeds tells what another's failure means.
            case.request("resources/read", json!({ "uri": uri })).await?;
            unknown.extend(naming_nothing(uri));
        }
        for uri in &unknown {
            case.request("resources/read", json!({ "uri": uri })).await?;
        }
        if case.era() == Era::Legacy && case.survey().has("resources.subscribe") {
            // A server may accept it until the resource exists: then the subscription is ended again.
            let uri = json!({ "uri": unknown.iter().find(|uri| uri.ends_with("/no-such-resource")) });
            if case.request("resources/subscribe", uri.clone()).await?.result().is_some() {
                case.request("resources/unsubscribe", uri).await?;
            }
        }
        case.request("resources/read", json!({})).await?;
        Ok(())
    })
}

/// The URI of a template with the last of its segments, and with the one before, replaced by what names nothing.
fn naming_nothing(uri: &str) -> Vec<String> {
    // Said nowhere else: an answer that repeats it would make it known.
    const NOTHING: &str = "proof-no-such-item";
    let Some((scheme, path)) = uri.split_once("://") else { return Vec::new() };
    let segments: Vec<&str> = path.split('/').collect();
    let replaced = |place: usize| {
        let mut segments = segments.clone();
        segments[place] = NOTHING;
        format!("{scheme}://{}", segments.join("/"))
    };
    (1..segments.len()).rev().take(2).map(replaced).collect()
}

/// The URIs of resources, one of each media type first: each may be served in its own way.
fn by_kind(resources: &[Value]) -> Vec<&str> {
    let mut kinds = BTreeSet::new();
    let (first, others): (Vec<_>, Vec<_>) = resources.iter().partition(|r| kinds.insert(text(r, "mimeType")));
    first.into_iter().chain(others).filter_map(|r| text(r, "uri")).collect()
}

/// A URI by a template of plain variables only.
fn made(template: &str) -> Option<String> {
    let (mut uri, mut rest) = (String::new(), template);
    while let Some((before, after)) = rest.split_once('{') {
        let (variable, after) = after.split_once('}')?;
        let plain = variable.chars().all(|c| c.is_alphanumeric() || c == '_');
        uri.push_str(before);
        uri.push_str(if matches!(likely(variable), Likely::Number) { "1" } else { "proof" });
        rest = Some(after).filter(|_| plain)?;
    }
    uri.push_str(rest);
    Some(uri)
}

/// A path from where files are served up to the root of the file system and down again.
fn climbing(listed: &[&str]) -> String {
    let folder = listed.iter().find(|uri| uri.starts_with("file:///")).and_then(|uri| uri.rsplit_once('/'));
    let folder = folder.map_or("file:///tmp", |(folder, _)| folder);
    format!("{folder}/../../../../../../../../../../etc/passwd")
}

/// How many URIs that climb, and what they come to, are read.
const CLIMBING: usize = 4;

/// A URI of a template that ends with a variable whose path climbs to the top and down again, and what that comes to by RFC
/// 3986: only if neither this nor a made-up name is served, the climbing itself led somewhere.
fn climbing_out_of(template: &str) -> Option<[String; 2]> {
    const DOWN: &str = "etc/passwd";
    let (before, variable) = template.split_once('{')?;
    let (scheme, path) = before.split_once("://").filter(|(scheme, _)| !["file", "http", "https"].contains(scheme))?;
    let (authority, _) = path.split_once('/')?;
    let ends = variable.strip_suffix('}').is_some_and(|name| name.chars().all(|c| c.is_alphanumeric() || c == '_'));
    let up = "../".repeat(8);
    ends.then(|| [format!("{before}{up}{DOWN}"), format!("{scheme}://{authority}/{DOWN}")])
}

pub(super) const LOGGING: Probe = Probe::shared("logging", logging).needs("logging");

/// What logs, at the strictest level, at the mildest, and at one that does not exist.
fn logging(case: &ProbeContext) -> Script<'_> {
    Box::pin(async move {
        if case.era() == Era::Modern {
            let level = |level: &str| json!({ LOG_LEVEL: level });
            for meta in [json!({}), level("warning"), level("debug"), level("proof-no-such-level")] {
                log(case, meta).await?;
            }
            let odd = level("proof-no-such-level");
            case.request("server/discover", json!({ "_meta": odd })).await?;
            return Ok(());
        }
        for level in ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"] {
            case.request("logging/setLevel", json!({ "level": level })).await?;
        }
        log(case, json!({})).await?;
        case.request("logging/setLevel", json!({ "level": "proof-no-such-level" })).await?;
        case.request("logging/setLevel", json!({ "level": "debug" })).await?;
        for _ in 0..2 {
            log(case, json!({})).await?;
        }
        Ok(())
    })
}

/// The hinted call that logs.
async fn log(case: &ProbeContext, meta: Value) -> Result<(), Abort> {
    let Some(hint) = &case.setting().hints.logging else { return Ok(()) };
    super::tools::call(case, &hint.tool, &hint.arguments, meta).await.map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::climbing_out_of;

    #[test]
    fn a_template_that_ends_with_a_variable_can_be_climbed_out_of() {
        let up = "../".repeat(8);
        let expected = [format!("recipe://cards/{up}etc/passwd"), "recipe://cards/etc/passwd".to_owned()];
        assert_eq!(climbing_out_of("recipe://cards/{id}"), Some(expected));
        for other in ["file:///a/{path}", "https://x/{y}", "a://b/{c}/d", "a://{b}", "a:{b}", "a://b/{?c}"] {
            assert_eq!(climbing_out_of(other), None, "{other}");
        }
    }
}
