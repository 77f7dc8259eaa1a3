//! What an entry says apart from its command or URL: references that its client does not fill in, its folder, and whether it is
//! switched off. Starts nothing.

use std::path::{Path, PathBuf};

use clients::Client;
use clients::reference::{has_variable, written};
use serde_json::Value;

/// References that are not those of the client: it would hand them on as they stand. One sentence for each place.
pub(super) fn foreign(client: &Client, entry: &Value) -> Vec<String> {
    let mut found = Vec::new();
    let mut look = |place: String, text: &str| {
        let is_own = |syntax: &String| written(text, syntax, client.defaults).is_ok_and(|own| own == text);
        if has_variable(text) && !client.reference.as_ref().is_some_and(is_own) {
            let how = match &client.reference {
                Some(syntax) => format!("it writes {syntax}"),
                None => "it fills in nothing here".to_owned(),
            };
            found.push(format!("{} does not fill in the reference in {place}; {how}", client.name));
        }
    };
    let options = &entry["requestOptions"];
    for (from, members) in
        [(entry, ["env", "envs", "environment", "headers", "http_headers"].as_slice()), (options, &["headers"])]
    {
        for member in members {
            for (name, value) in from[*member].as_object().into_iter().flatten() {
                look(format!("{member}.{name}"), value.as_str().unwrap_or_default());
            }
        }
    }
    for member in clients::server::URLS {
        look(member.to_owned(), entry[member].as_str().unwrap_or_default());
    }
    found
}

/// The folder that a server is started in: that of the entry, or else that of the project.
pub(super) fn folder(entry: &Value, project: &Path) -> PathBuf {
    let own = ["cwd", "workingDirectory"].iter().find_map(|member| entry[*member].as_str());
    own.map_or_else(|| project.to_owned(), |own| project.join(own))
}

/// Which member of an entry switches it off.
pub(super) fn switched_off(entry: &Value) -> Option<&'static str> {
    if entry["disabled"] == true {
        return Some("disabled");
    }
    (entry["enabled"] == false).then_some("enabled")
}
