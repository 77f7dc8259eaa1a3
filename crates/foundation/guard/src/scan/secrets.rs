//! Secrets of known forms, and literal values where a reference belongs.

use std::ops::Range;

use serde_json::Value;

use super::launch;
use super::text::runs;

/// The prefix of a secret, how many characters follow at least, and whose it is.
const FORMS: [(&str, usize, &str); 15] = [
    ("sk-ant-", 30, "an Anthropic key"),
    ("sk-proj-", 30, "an OpenAI key"),
    ("sk-", 32, "an API key"),
    ("ghp_", 36, "a GitHub token"),
    ("gho_", 36, "a GitHub token"),
    ("ghs_", 36, "a GitHub token"),
    ("github_pat_", 40, "a GitHub token"),
    ("glpat-", 20, "a GitLab token"),
    ("xoxb-", 24, "a Slack token"),
    ("xoxp-", 24, "a Slack token"),
    ("AKIA", 16, "an AWS access key"),
    ("AIza", 35, "a Google API key"),
    ("hf_", 34, "a Hugging Face token"),
    ("npm_", 36, "an npm token"),
    ("sk_live_", 20, "a Stripe key"),
];

const PRIVATE: &str = " PRIVATE KEY-----";

/// The first secret in a text, and what it is.
pub(super) fn find(text: &str) -> Option<(Range<usize>, &'static str)> {
    if let Some(at) = text.find(PRIVATE) {
        let body = text[at + PRIVATE.len()..].chars().filter(|c| c.is_ascii_alphanumeric()).take(100).count();
        if text[..at].contains("-----BEGIN") && body == 100 {
            return Some((at..at + PRIVATE.len(), "a private key"));
        }
    }
    runs(text, |c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_')).filter(|run| run.text.len() >= 20).find_map(
        |run| {
            let (prefix, _, what) = FORMS
                .iter()
                .find(|(prefix, least, _)| run.text.strip_prefix(prefix).is_some_and(|rest| rest.len() >= *least))?;
            is_random(&run.text[prefix.len()..]).then_some((run.span, *what))
        },
    )
}

/// Whether a text is no example: many characters, none of the usual fillings.
fn is_random(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    let filling = ["xxxx", "example", "your", "12345", "abcdef", "token", "secret", "0000", "placeholder", "test"];
    let mut distinct: Vec<char> = lower.chars().collect();
    distinct.sort_unstable();
    distinct.dedup();
    distinct.len() >= 10
        && text.contains(|c: char| c.is_ascii_digit())
        && !filling.iter().any(|one| lower.contains(one))
}

/// Literal secrets in an entry of a client's configuration: pointer and what it is.
pub(super) fn configured(entry: &Value) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for member in ["env", "envs", "environment", "headers", "http_headers"] {
        for (name, value) in entry[member].as_object().into_iter().flatten() {
            if is_secret_name(name) && value.as_str().is_some_and(is_literal) {
                let pointer = format!("/{member}/{}", name.replace('~', "~0").replace('/', "~1"));
                found.push((pointer, format!("the value of `{name}` stands in plain text")));
            }
        }
    }
    let mut flag = String::new();
    for (pointer, text) in launch::words(entry) {
        let follows = flag.starts_with('-') && !flag.contains('=') && is_secret_name(&flag);
        let assigned = text.split_once('=').filter(|(name, _)| is_secret_name(name)).map(|(_, value)| value);
        let given = assigned.or(follows.then_some(text.as_str())).is_some_and(is_literal);
        if given || find(&text).is_some() || holds_password(&text) {
            found.push((pointer, "an argument holds a secret in plain text".to_owned()));
        }
        flag = text;
    }
    for member in ["url", "serverUrl", "httpUrl", "uri"] {
        let Some(url) = entry[member].as_str() else { continue };
        let query =
            url.split_once('?').map_or("", |(_, query)| query).split('&').filter_map(|pair| pair.split_once('='));
        let in_query = query.into_iter().any(|(name, value)| is_secret_name(name) && is_literal(value));
        if in_query || holds_password(url) {
            found.push((format!("/{member}"), "the URL holds a secret in plain text".to_owned()));
        }
    }
    found
}

/// Whether a URL has a password before its host.
fn holds_password(url: &str) -> bool {
    let user = url.split_once("://").and_then(|(_, rest)| rest.split(['/', '?']).next()?.rsplit_once('@'));
    user.is_some_and(|(user, _)| user.split_once(':').is_some_and(|(_, word)| is_literal(word)))
}

fn is_secret_name(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let ends = ["key", "token", "secret", "password", "passwd", "authorization", "apikey", "pat", "credentials"];
    ends.iter().any(|end| name.ends_with(end))
        && !["public_key", "max_token", "publickey"].iter().any(|one| name.ends_with(one))
}

/// Whether a value is a secret itself, not a reference to one, a path or a filling.
fn is_literal(value: &str) -> bool {
    let value = value.trim().trim_start_matches("Bearer ").trim_start_matches("Basic ").trim();
    let lower = value.to_ascii_lowercase();
    let is_reference = value.contains(['$', '{', '<', '>', '[', ' ', '/', '*', '%']) || lower.contains("...");
    let filling =
        ["your", "xxx", "example", "placeholder", "changeme", "replace", "todo", "insert", "enter", "dummy", "test"];
    // A word in capitals is a name to be filled in.
    let is_word = value.chars().all(|c| c.is_ascii_uppercase() || matches!(c, '_' | '-'))
        || value.chars().all(|c| c.is_ascii_lowercase() || matches!(c, '_' | '-'));
    value.len() >= 8 && !is_reference && !is_word && !filling.iter().any(|one| lower.contains(one))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{configured, find};

    /// Put together here, so that no scanner of sources finds a secret in this file.
    fn key(prefix: &str) -> String {
        format!("{prefix}{}", "q7Zk2mVx9RbT4wLc8NdY3fHs6JgP1uEa5Bo")
    }

    #[test]
    fn secrets_are_found_and_examples_are_not() {
        for prefix in ["sk-ant-", "ghp_q", "glpat-", "AIza", "xoxb-", "sk-"] {
            assert!(find(&format!("use {} here", key(prefix))).is_some(), "{prefix}");
        }
        let pem = format!("-----BEGIN{} {}", super::PRIVATE, "A1b2C3d4E5".repeat(12));
        assert!(find(&pem).is_some());
        for fine in [
            "sk-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
            "ghp_your_token_here_your_token_here_your_tok",
            "risk-free",
            "AKIAIOSFODNN7EXAMPLE",
            "-----BEGIN PRIVATE KEY-----\n...",
        ] {
            assert!(find(fine).is_none(), "{fine}");
        }
    }

    #[test]
    fn literal_values_of_a_configuration() {
        let entry = json!({
            "env": { "API_KEY": key("k"), "B_TOKEN": "${B_TOKEN}", "C_TOKEN": "YOUR_TOKEN", "LOG": "debug12345" },
            "headers": { "Authorization": format!("Bearer {}", key("")), "X-Api-Key": "<key>" },
            "args": ["--token", key("t"), "--api-key=$KEY", "--name=abc12345678"],
            "url": format!("https://x.example/mcp?api_key={}", key("")),
        });
        let found: Vec<_> = configured(&entry).into_iter().map(|(pointer, _)| pointer).collect();
        assert_eq!(found, ["/env/API_KEY", "/headers/Authorization", "/args/1", "/url"]);
        for entry in [
            json!({ "command": format!("npx -y srv --api-key {}", key("k")) }),
            json!({ "command": format!("API_KEY='{}' npx -y srv", key("k")) }),
            json!({ "command": format!("srv {}", key("glpat-")) }),
            json!({ "command": format!("uvx --from git+https://oauth2:{}@x.example/o/r", key("k")) }),
        ] {
            let found: Vec<_> = configured(&entry).into_iter().map(|(pointer, _)| pointer).collect();
            assert_eq!(found, ["/command"], "{entry}");
        }
        assert!(configured(&json!({ "command": "npx -y srv --token $TOKEN" })).is_empty());
    }
}
