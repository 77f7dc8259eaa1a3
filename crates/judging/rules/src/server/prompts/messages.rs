//! `server/prompts#promptmessage`: what the messages of a prompt hold.

use serde_json::Value;
use wire::revision::{R2024_11_05, R2025_03_26, R2026_07_28};

use crate::reading::content::{is_base64, is_media_type, uri_fault};
use crate::reading::liveness::client_continues;
use crate::rule::{Anchor, Rule, at, client, server};
use crate::verdict::Verdict;
use crate::view::{MessageAt, View};

const IMAGE: Anchor = at("server/prompts", "image-content");
const AUDIO: Anchor = at("server/prompts", "audio-content");
const EMBEDDED: Anchor = at("server/prompts", "embedded-resources");

/// The rules, in the page's order.
pub(crate) const RULES: &[Rule] = &[
    server("prompts.images-encoded")
        .says(R2024_11_05, IMAGE, "An image in a prompt MUST be Base64 and name a valid media type.")
        .about(&["prompts"])
        .how("Reads `data` and `mimeType` of every image in the messages of prompts.")
        .fix("Encode the bytes as Base64 without a `data:` prefix, and name a media type such as `image/png`.")
        .judge(|view| media(view, "image")),
    server("prompts.audio-encoded")
        .says(R2025_03_26, AUDIO, "Audio in a prompt MUST be Base64 and name a valid media type.")
        .about(&["prompts"])
        .how("Reads `data` and `mimeType` of all audio in the messages of prompts.")
        .fix("Encode the bytes as Base64 without a `data:` prefix, and name a media type such as `audio/wav`.")
        .judge(|view| media(view, "audio")),
    client("prompts.links-taken")
        .says(
            R2026_07_28,
            at("server/prompts", "resource-links"),
            "The messages of a prompt MAY have links to resources: the client takes them and continues.",
        )
        .how("Needs a prompt whose messages hold a `resource_link`, and checks whether the client continues.")
        .fix("Show the link, or pass it to the model; at least skip content of kinds that you do not handle.")
        .judge(links_taken),
    server("prompts.embedded-uri")
        .says(R2024_11_05, EMBEDDED, "A resource embedded in a prompt MUST have a valid URI.")
        .about(&["prompts"])
        .how("Reads the URI of every resource embedded in the messages of prompts.")
        .fix("Give the resource an absolute URI, with a scheme of your own if need be.")
        .judge(embedded_uri),
    server("prompts.embedded-media-type")
        .says(R2024_11_05, EMBEDDED, "A resource embedded in a prompt MUST name its media type.")
        .about(&["prompts"])
        .how("Reads `mimeType` of every resource embedded in the messages of prompts: it must be there and have the form of \
              a media type.")
        .fix("Name the media type: `text/plain` for plain text, `application/octet-stream` where nothing is known.")
        .judge(embedded_media_type),
    server("prompts.embedded-content")
        .says(R2024_11_05, EMBEDDED, "A resource embedded in a prompt MUST have text or a Base64 blob.")
        .about(&["prompts"])
        .how("Looks for `text` or a Base64 `blob` in every resource embedded in the messages of prompts.")
        .fix("Put the contents into `text`, or Base64 of them into `blob`.")
        .judge(embedded_content),
];

/// The content of every prompt message of one type, with its pointer.
fn contents<'v>(view: &View<'v>, kind: &str) -> Vec<(MessageAt<'v>, String, &'v Value)> {
    let mut found = Vec::new();
    for (sent, result) in view.results("prompts/get").filter(|(sent, _)| view.is_current(*sent)) {
        for (index, message) in result.get("messages").and_then(Value::as_array).into_iter().flatten().enumerate() {
            let content = message.get("content").filter(|content| content.get("type").is_some_and(|t| t == kind));
            found.extend(content.map(|content| (sent, format!("/result/messages/{index}/content"), content)));
        }
    }
    found
}

fn media(view: &View<'_>, kind: &str) -> Verdict {
    let judged = contents(view, kind).into_iter().map(|(sent, pointer, content)| {
        let member = |name: &str| content.get(name).and_then(Value::as_str);
        let kept = if !member("data").is_some_and(is_base64) {
            Err(sent.breach(format!("{pointer}/data"), "the data is not Base64"))
        } else if !member("mimeType").is_some_and(is_media_type) {
            Err(sent.breach(format!("{pointer}/mimeType"), "there is no valid media type"))
        } else {
            Ok(())
        };
        (sent.event, kept)
    });
    Verdict::of(judged, format!("no prompt with {kind} content was seen"))
}

fn embedded<'v>(view: &View<'v>) -> Vec<(MessageAt<'v>, String, &'v Value)> {
    let resources = contents(view, "resource").into_iter().filter_map(|(sent, pointer, content)| {
        let resource = content.get("resource").filter(|resource| resource.is_object())?;
        Some((sent, format!("{pointer}/resource"), resource))
    });
    resources.collect()
}

fn embedded_uri(view: &View<'_>) -> Verdict {
    let judged = embedded(view).into_iter().map(|(sent, pointer, resource)| {
        let fault = match resource.get("uri").and_then(Value::as_str) {
            Some(uri) => uri_fault(uri),
            None => Some("there is no URI".to_owned()),
        };
        (sent.event, fault.map_or(Ok(()), |why| Err(sent.breach(format!("{pointer}/uri"), why))))
    });
    Verdict::of(judged, "no prompt with an embedded resource was seen")
}

fn embedded_media_type(view: &View<'_>) -> Verdict {
    let judged = embedded(view).into_iter().map(|(sent, pointer, resource)| {
        let kept = match resource.get("mimeType").map(|named| named.as_str().is_some_and(is_media_type)) {
            Some(true) => Ok(()),
            Some(false) => Err(sent.breach(format!("{pointer}/mimeType"), "there is no valid media type")),
            None => Err(sent.breach(pointer, "the media type is not named")),
        };
        (sent.event, kept)
    });
    Verdict::of(judged, "no prompt with an embedded resource was seen")
}

fn embedded_content(view: &View<'_>) -> Verdict {
    let judged = embedded(view).into_iter().map(|(sent, pointer, resource)| {
        let text = resource.get("text").is_some_and(Value::is_string);
        let blob = resource.get("blob").and_then(Value::as_str);
        let why = if blob.is_some() { "the blob is not Base64" } else { "there is neither text nor a blob" };
        let kept = if text || blob.is_some_and(is_base64) { Ok(()) } else { Err(sent.breach(pointer, why)) };
        (sent.event, kept)
    });
    Verdict::of(judged, "no prompt with an embedded resource was seen")
}

fn links_taken(view: &View<'_>) -> Verdict {
    let is = |message: &Value| message.pointer("/content/type").is_some_and(|kind| kind == "resource_link");
    let linking = view.client_calls("prompts/get").filter(|call| {
        let messages = call.result().and_then(|result| result.get("messages")?.as_array());
        view.is_current(call.request) && messages.is_some_and(|all| all.iter().any(is))
    });
    let events: Vec<_> = linking.filter_map(|call| call.response.map(|sent| sent.event)).collect();
    client_continues(view, events, "links in a prompt", "no prompt held a link, or the client sent nothing afterwards")
}
