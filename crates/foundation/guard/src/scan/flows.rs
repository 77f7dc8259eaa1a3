//! What tools could do together: foreign text in, private data, a way out.

use serde_json::Value;

use super::text::parts;

/// A part of the path.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Label {
    /// Brings text in that strangers wrote.
    Untrusted,
    /// Reads what is private.
    Private,
    /// Sends something out.
    Egress,
}

const READS: [&str; 9] = ["get", "read", "list", "search", "find", "query", "fetch", "load", "export"];
const FOREIGN: [&str; 16] = [
    "url", "web", "webpage", "page", "website", "html", "rss", "feed", "tweet", "tweets", "news", "issue", "issues",
    "email", "emails", "browser",
];
const OWN: [&str; 20] = [
    "file",
    "files",
    "directory",
    "database",
    "table",
    "sql",
    "email",
    "emails",
    "mail",
    "note",
    "notes",
    "contact",
    "contacts",
    "calendar",
    "secret",
    "secrets",
    "env",
    "document",
    "documents",
    "credentials",
];
const SENDS: [&str; 7] = ["send", "post", "upload", "publish", "forward", "share", "reply"];
const OUT: [&str; 12] =
    ["email", "mail", "message", "tweet", "webhook", "http", "request", "slack", "comment", "sms", "post", "gist"];

/// The labels of a tool.
pub(super) fn labels(tool: &Value) -> Vec<Label> {
    let words = parts(tool["name"].as_str().unwrap_or_default());
    let any = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
    let mut labels = Vec::new();
    if any(&["scrape", "crawl", "browse", "navigate"]) || (any(&READS) && any(&FOREIGN)) {
        labels.push(Label::Untrusted);
    }
    if any(&READS) && any(&OWN) {
        labels.push(Label::Private);
    }
    if any(&SENDS) && (any(&OUT) || words.len() == 1) || (any(&["create"]) && any(&["gist", "webhook", "comment"])) {
        labels.push(Label::Egress);
    }
    labels
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Label, labels};

    #[test]
    fn labels_of_names() {
        let is = |name: &str, label| labels(&json!({ "name": name })).contains(&label);
        assert!(
            is("fetch_webpage", Label::Untrusted) && is("readFile", Label::Private) && is("send_email", Label::Egress)
        );
        assert!(labels(&json!({ "name": "add_numbers" })).is_empty());
        assert!(labels(&json!({ "name": "file_size" })).is_empty());
    }
}
