//! `server/resources`: URIs and contents.

use std::collections::BTreeSet;

use serde_json::Value;
use wire::revision::{R2024_11_05, R2025_06_18, R2026_07_28};

use crate::reading::content::{is_base64, scheme, uri_fault};
use crate::reading::liveness::client_continues;
use crate::rule::{Anchor, Rule, at, client, server};
use crate::server::listing::{RESOURCES, TEMPLATES, could_make, items};
use crate::verdict::{Kept, Verdict};
use crate::view::{Call, MessageAt, View};

const SECURITY: Anchor = at("server/resources", "security-considerations");

/// The rules, in the page's order.
pub(crate) const RULES: &[Rule] = &[
    client("resources.several-contents-taken")
        .says(
            R2026_07_28,
            at("server/resources", "reading-resources"),
            "A server MAY answer one read with several contents: the client takes them and continues.",
        )
        .how("Needs a resource that is read as several contents, and checks whether the client continues.")
        .fix("Read `contents` as a list, whatever its length.")
        .judge(several_taken),
    server("resources.custom-schemes-valid")
        .says(
            R2025_06_18,
            at("server/resources", "custom-uri-schemes"),
            "URIs of a scheme of the server's own MUST follow RFC 3986.",
        )
        .about(&["resources"])
        .how(
            "Reads the URI of every listed resource whose scheme is not http, https, file or git. Characters outside \
              ASCII are accepted.",
        )
        .fix("Use letters, digits, `+`, `-` and `.` in the scheme, and percent-encode what is not allowed in a URI.")
        .judge(custom_schemes),
    server("resources.uris-validated")
        .says(R2024_11_05, SECURITY, "A server MUST check the URIs it is asked for.")
        .needs("resources")
        .how("Looks at reads of what is not a URI by any reading and in no list, and of URIs whose scheme is made up: they must not yield contents. Nor must a URI whose path climbs by `..` out of what a template serves, where a made-up name in its place and what the path comes to are refused.")
        .fix("Parse the URI before use, resolve `..` in its path first, and answer with an error where it is invalid.")
        .judge(validated),
    server("resources.access-controlled")
        .says(
            R2024_11_05,
            SECURITY,
            "A server SHOULD control access to what is sensitive, and check permissions first.",
        )
        .unobservable("what is sensitive, and to whom, is the server's own policy"),
    server("resources.binary-encoded")
        .says(R2024_11_05, SECURITY, "Binary contents MUST be properly encoded.")
        .about(&["resources"])
        .how("Reads every `blob` in the contents of read and embedded resources as Base64, padded or not, and looks for a `text` that is an image, a sound or a document in Base64: its media type says so, and so do its first bytes.")
        .fix("Put the bytes into `blob`, encoded as Base64 in its standard alphabet, without a `data:` prefix.")
        .judge(encoded),
    server("resources.traversal-refused")
        .says(
            R2026_07_28,
            SECURITY,
            "A server of `file://` resources MUST keep paths from leading out of what it serves.",
        )
        .needs("resources")
        .how(
            "Looks at reads of `file://` URIs with `..` in their path: they must not yield the system's password file.",
        )
        .fix("Resolve the path, and refuse what is not below the served directory.")
        .judge(traversal),
];

fn custom_schemes(view: &View<'_>) -> Verdict {
    let judged = items(view, &RESOURCES).into_iter().filter_map(|item| {
        let uri = item.text("uri")?;
        // A single letter before the colon is a drive: no scheme of anyone's own.
        let own = scheme(uri).filter(|s| s.len() > 1)?.to_ascii_lowercase();
        let standard = matches!(own.as_str(), "http" | "https" | "file" | "git");
        let kept = uri_fault(uri).map_or(Ok(()), |why| Err(item.breach("/uri", why)));
        (!standard).then_some((item.sent.event, kept))
    });
    Verdict::of(judged, "no resource with a scheme of the server's own was listed")
}

fn uri<'v>(call: &Call<'v>) -> Option<&'v Value> {
    call.request.message.params()?.get("uri")
}

fn has_contents(call: &Call<'_>) -> bool {
    call.result().and_then(|r| r.get("contents")).and_then(Value::as_array).is_some_and(|all| !all.is_empty())
}

/// A made-up scheme: a server that serves something under it looks at the rest of the URI alone.
const NO_SCHEME: &str = "proofhouse-no-such:";

fn validated(view: &View<'_>) -> Verdict {
    let resources: BTreeSet<_> = items(view, &RESOURCES).iter().filter_map(|item| item.text("uri")).collect();
    let templates: BTreeSet<_> = items(view, &TEMPLATES).iter().filter_map(|item| item.text("uriTemplate")).collect();
    let listed = |uri: &str| resources.contains(uri) || templates.iter().any(|template| could_make(template, uri));
    let odd = |call: &Call<'_>| match uri(call).map(Value::as_str) {
        Some(Some(uri)) => (uri_fault(uri).is_some() || uri.starts_with(NO_SCHEME)) && !listed(uri),
        _ => true,
    };
    let judged = view.calls("resources/read").filter(|c| view.judges_content(c) && odd(c)).filter_map(|call| {
        let response = call.response?;
        let breach = || response.breach("/result/contents", "what no URI of the server is was read anyway");
        Some((response.event, if has_contents(&call) { Err(breach()) } else { Ok(()) }))
    });
    let climbing = climbed(view).into_iter().map(|(response, served)| {
        let breach =
            || response.breach("/result/contents", "a path with `..` was read, which leads out of what is served");
        (response.event, if served { Err(breach()) } else { Ok(()) })
    });
    Verdict::of(judged.chain(climbing).collect::<Vec<(usize, Kept)>>(), "nothing was read by what is not a URI")
}

/// Reads of URIs whose path climbs by `..`, of schemes other than `file`, where the same with a made-up name is refused, and
/// what the path comes to as well; whether each was served.
fn climbed<'v>(view: &View<'v>) -> Vec<(MessageAt<'v>, bool)> {
    let reads: Vec<_> = view.calls("resources/read").filter(|call| view.judges_content(call)).collect();
    let named = |call: &Call<'v>| uri(call).and_then(Value::as_str);
    let refused = |wanted: &dyn Fn(&str) -> bool| {
        reads.iter().any(|call| call.error().is_some() && named(call).is_some_and(wanted))
    };
    let judged = reads.iter().filter_map(|call| {
        let (before, after) = named(call).filter(|uri| !uri.starts_with("file:"))?.split_once("/../")?;
        let (scheme, path) = before.split_once("://")?;
        let (authority, down) = (path.split('/').next()?, after.trim_start_matches("../"));
        let beside = |uri: &str| {
            let name = uri.strip_prefix(before).and_then(|rest| rest.strip_prefix('/'));
            name.is_some_and(|name| !name.is_empty() && !name.contains('/') && !name.contains(".."))
        };
        let comes_to = format!("{scheme}://{authority}/{down}");
        let known = refused(&beside) && refused(&|uri| uri == comes_to);
        Some((call.response.filter(|_| known)?, has_contents(call)))
    });
    judged.collect()
}

/// The contents of read resources and of resources embedded in tools' results, with their pointers. Prompts have a rule
/// of their own.
fn contents<'v>(view: &View<'v>) -> Vec<(MessageAt<'v>, String, &'v Value)> {
    let mut found = Vec::new();
    let mut take = |method: &str, member: &str, inner: &[&str]| {
        for (sent, result) in view.results(method).filter(|(sent, _)| view.is_current(*sent)) {
            for (index, item) in result.get(member).and_then(Value::as_array).into_iter().flatten().enumerate() {
                let pointer = format!("/result/{member}/{index}/{}", inner.join("/"));
                let resource = inner.iter().try_fold(item, |value, step| value.get(step));
                found.extend(resource.map(|r| (sent, pointer.trim_end_matches('/').to_owned(), r)));
            }
        }
    };
    take("resources/read", "contents", &[]);
    take("tools/call", "content", &["resource"]);
    found
}

/// What some kinds of binary data begin with in Base64: a part of their media types, how that begins, and a word for it.
const MAGIC: [(&str, &str, &str); 9] = [
    ("image/", "iVBORw0KGgo", "a PNG image"),
    ("image/", "/9j/", "a JPEG image"),
    ("image/", "R0lGOD", "a GIF image"),
    ("image/", "UklGR", "a WebP image"),
    ("audio/", "UklGR", "a WAV sound"),
    ("audio/", "SUQz", "an MP3 sound"),
    ("audio/", "T2dnUw", "an Ogg sound"),
    ("application/pdf", "JVBERi", "a PDF document"),
    ("application/zip", "UEsDB", "a ZIP archive"),
];

/// What binary data a resource has as its text, where both its media type and the text itself say that it is that.
fn bytes_as_text(resource: &Value) -> Option<&'static str> {
    let member = |name: &str| resource.get(name).and_then(Value::as_str);
    let (media, text) = (member("mimeType")?.to_ascii_lowercase(), member("text")?);
    let begins = |(kind, magic, _): &&(&str, &str, &str)| media.starts_with(kind) && text.starts_with(magic);
    MAGIC.iter().find(begins).filter(|_| is_base64(text)).map(|(_, _, word)| *word)
}

fn encoded(view: &View<'_>) -> Verdict {
    let judged = contents(view).into_iter().filter_map(|(sent, pointer, resource)| {
        if let Some(kind) = bytes_as_text(resource) {
            let why = format!("the text is {kind} in Base64, which belongs into `blob`");
            return Some((sent.event, Err(sent.breach(format!("{pointer}/text"), why))));
        }
        let blob = resource.get("blob")?.as_str()?;
        let breach = || sent.breach(format!("{pointer}/blob"), "the blob is not Base64");
        Some((sent.event, if is_base64(blob) { Ok(()) } else { Err(breach()) }))
    });
    Verdict::of(judged, "no binary contents were seen")
}

fn climbs(uri: &str) -> bool {
    let lower = uri.to_ascii_lowercase().replace("%2e", ".").replace("%2f", "/").replace("%5c", "/").replace('\\', "/");
    lower.starts_with("file:") && lower.split(['/', '?', '#']).any(|part| part == "..")
}

/// What the password file of a Unix system begins with. Anything else may be a file below the root after all.
fn is_passwords(call: &Call<'_>) -> bool {
    let texts = call.result().and_then(|r| r.get("contents")).and_then(Value::as_array).into_iter().flatten();
    texts
        .filter_map(|c| c.get("text")?.as_str())
        .any(|text| text.lines().any(|l| l.starts_with("root:") && l.contains(":0:0:")))
}

fn traversal(view: &View<'_>) -> Verdict {
    let climbing = |call: &Call<'_>| uri(call).and_then(Value::as_str).is_some_and(climbs);
    let judged = view.calls("resources/read").filter(|c| view.judges_content(c) && climbing(c)).filter_map(|call| {
        let response = call.response?;
        if is_passwords(&call) {
            let why = "a path with `..` led to the system's password file";
            return Some((response.event, Err(response.breach("/result/contents", why))));
        }
        call.error().map(|_| (response.event, Ok(())))
    });
    Verdict::of(judged, "no `file://` URI with `..` was read and refused")
}

fn several_taken(view: &View<'_>) -> Verdict {
    let several = |call: &Call<'_>| {
        let contents = call.result().and_then(|result| result.get("contents")?.as_array());
        contents.is_some_and(|contents| contents.len() > 1)
    };
    let reads = view.client_calls("resources/read").filter(|call| view.is_current(call.request) && several(call));
    let events: Vec<_> = reads.filter_map(|call| call.response.map(|sent| sent.event)).collect();
    client_continues(
        view,
        events,
        "several contents",
        "no resource was read as several contents, or the client sent nothing afterwards",
    )
}
