//! What is secret in entries of clients.

use std::sync::LazyLock;

use clients::findings::entries;
use clients::reference::has_variable;
use clients::text::{Format, read};
use serde_json::Value;
use wire::redact::{Redactor, Secrets};

/// Adds the values of an entry that are secret or may be; references to variables are not.
pub(in crate::verb) fn add(entry: &Value, secrets: &mut Secrets) {
    for (name, value) in texts(entry, &["env", "envs", "environment"]) {
        secrets.handed_variable(&name, &value);
    }
    for entry in [entry, &entry["requestOptions"]] {
        for (name, value) in texts(entry, &["headers", "http_headers"]) {
            secrets.header(&name, &value);
        }
    }
    for member in ["command", "cmd", "args"] {
        // Some files have a whole line for a command.
        secrets.arguments(entry[member].as_str().into_iter().flat_map(str::split_whitespace));
        secrets.arguments(entry[member].as_array().into_iter().flatten().filter_map(Value::as_str));
    }
    for member in ["url", "serverUrl", "httpUrl", "uri"] {
        secrets.address(entry[member].as_str().unwrap_or_default());
    }
}

/// The texts of some members of an entry that refer to nothing.
fn texts(entry: &Value, members: &[&str]) -> Vec<(String, String)> {
    let members = members.iter().filter_map(|member| entry[*member].as_object()).flatten();
    let texts = members.filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned())));
    texts.filter(|(_, value)| !has_variable(value) && !value.contains("${input:")).collect()
}

/// Adds those of all entries in a file.
pub(super) fn add_all(text: &str, format: Format, secrets: &mut Secrets) {
    if let Ok(value) = read(text, format) {
        for (_, entry) in entries(&value) {
            add(&entry, secrets);
        }
    }
}

/// Adds those of a file as a change leaves it: what stands in clear on purpose is shown.
pub(super) fn add_written(text: &str, format: Format, secrets: &mut Secrets) {
    for (_, entry) in read(text, format).map(|value| entries(&value)).unwrap_or_default() {
        for (name, value) in texts(&entry, &["env", "envs", "environment"]) {
            add_variable(&name, &value, secrets);
        }
        for (name, value) in texts(&entry, &["headers", "http_headers"]) {
            add_header(&name, &value, secrets);
        }
    }
}

/// Adds a variable that a change writes, where it is secret: what is hidden is what is kept out of files.
pub(super) fn add_variable(name: &str, value: &str, secrets: &mut Secrets) {
    if is_secret(name, value) {
        secrets.add(value);
        secrets.variable(name, value);
    }
}

/// The same of a header.
pub(super) fn add_header(name: &str, value: &str, secrets: &mut Secrets) {
    if is_secret(name, value) {
        secrets.header(name, value);
    }
}

/// Whether a value is secret, by its name and its look. The one answer for what is written, shown and reported.
pub(super) fn is_secret(name: &str, value: &str) -> bool {
    static REDACTOR: LazyLock<Redactor> = LazyLock::new(Redactor::masking);
    let value = value.trim();
    if name.is_empty() {
        return REDACTOR.redact_text(value) != value;
    }
    if is_setting(value) || is_path(value) {
        return false;
    }
    let mut known = Secrets::default();
    known.variable(name, value);
    if name.eq_ignore_ascii_case("authorization") {
        known.header(name, value);
    }
    Redactor::masking().knowing(&known).redact_known(value) != value || is_drawn(value)
}

/// Words that switch something under any name: `AUTH=off`.
fn is_setting(value: &str) -> bool {
    const SETTINGS: [&str; 14] = [
        "always", "auto", "default", "disabled", "enabled", "false", "never", "none", "null", "oauth", "oauth2",
        "optional", "required", "true",
    ];
    SETTINGS.iter().any(|word| word.eq_ignore_ascii_case(value))
}

/// Whether a value is the path of a file: the secret is in the file.
fn is_path(value: &str) -> bool {
    let begins = ["/", "./", "../", "~/", "~\\", "file:///"].iter().any(|start| value.starts_with(start));
    let drive = value.as_bytes().get(1..3).is_some_and(|rest| rest == b":\\" || rest == b":/");
    let name = value.rsplit(['/', '\\']).next().unwrap_or(value);
    let has_folder = value.contains('/') && !value.contains("://");
    let has_ending = name.rsplit_once('.').is_some_and(|(stem, end)| !stem.is_empty() && (2..=5).contains(&end.len()));
    let plain = !value.contains(['+', '=', '@', ' ']) && !value.split(['/', '\\']).any(is_drawn_word);
    plain && (begins || drive || (has_folder && has_ending))
}

/// Whether a value looks drawn by lot: one word, a long part of it of letters and digits mixed.
fn is_drawn(value: &str) -> bool {
    let is_word = !value.contains(|c: char| c.is_whitespace() || ",;/\\@".contains(c));
    let hex = value.len() >= 32 && value.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-');
    is_word && (hex || value.split(['-', '_', '.', ':', '=']).any(is_drawn_word))
}

fn is_drawn_word(word: &str) -> bool {
    let digits = word.bytes().filter(u8::is_ascii_digit).count();
    let changes =
        word.as_bytes().windows(2).filter(|pair| pair[0].is_ascii_digit() != pair[1].is_ascii_digit()).count();
    word.len() >= 10 && word.bytes().all(|b| b.is_ascii_alphanumeric()) && digits >= 2 && changes >= 3
        || word.len() >= 24 && digits > 0 && digits < word.len()
}

#[cfg(test)]
mod tests {
    use super::is_secret;

    #[test]
    fn a_secret_is_known_by_its_name_or_its_look() {
        for (name, value) in [
            ("PGPASS", "hunter22xyz"),
            ("NOTION", "ntn_4829a7c1e5b36d08f2"),
            ("X-Key", "9f8e7d6c5b4a"),
            ("API_KEY", "correct horse"),
            ("PASSWORD", "swordfish"),
            ("Authorization", "Bearer abcdefgh"),
            ("AWS_SECRET_ACCESS_KEY", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"),
            ("ANY", "0123456789abcdef0123456789abcdef"),
            ("DATABASE_URL", "postgres://user:hunter22@db.example/x"),
        ] {
            assert!(is_secret(name, value), "{name}={value}");
        }
        for (name, value) in [
            ("GOOGLE_APPLICATION_CREDENTIALS", "/home/u/key.json"),
            ("PASSWORD_FILE", "secrets/password.txt"),
            ("CREDENTIALS_PATH", "~/credentials"),
            ("SSH_KEY", "C:\\Users\\u\\id_rsa"),
            ("AUTH", "off"),
            ("AUTH", "required"),
            ("REGION", "eu-central-1"),
            ("MODEL", "gpt-4o-2024-08-06"),
            ("X-Mode", "streaming"),
            ("LOG", "2026-11-26T20:00:00"),
            ("KEY", "value"),
        ] {
            assert!(!is_secret(name, value), "{name}={value}");
        }
    }
}
