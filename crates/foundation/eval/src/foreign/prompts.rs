//! promptfoo's `prompts`: texts, files of texts, and conversations of one message.

use document::quoted;
use serde_json::Value;

use super::reader::{Part, Place, Reader};

const CODE: [&str; 9] = [".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".py", ".sh", ".rb"];
const TEXTS: [&str; 3] = [".txt", ".md", ".j2"];

/// A prompt before its variables are filled in.
#[derive(Clone, Debug)]
pub(super) struct Prompt {
    pub(super) place: Place,
    pub(super) text: String,
    pub(super) label: Option<String>,
}

/// Reads all prompts. What cannot be a prompt of a case is remarked.
pub(super) fn read(reader: &mut Reader<'_>, prompts: &Part) -> Vec<Prompt> {
    if prompts.is_map() {
        reader.left_out(&prompts.place(), "`prompts`: a mapping of files to names");
        return Vec::new();
    }
    prompts.items().iter().flat_map(|part| one(reader, part)).collect()
}

fn one(reader: &mut Reader<'_>, part: &Part) -> Vec<Prompt> {
    let raw = part.get("raw").or_else(|| part.get("id")).filter(|raw| raw.text().is_some());
    let label = part.get("label").and_then(|label| label.text().map(str::to_owned));
    let source = raw.as_ref().unwrap_or(part);
    let Some(text) = source.text() else {
        reader.left_out(&part.place(), "a prompt without text");
        return Vec::new();
    };
    let path = text.strip_prefix("file://");
    let is_path = |text: &str| !text.contains(char::is_whitespace) && has_ending(text);
    match path.or_else(|| Some(text).filter(|text| is_path(text))) {
        Some(path) => of_file(reader, source, path, label.as_deref()),
        None if text.starts_with("exec:") => {
            reader.left_out(&part.place(), "a prompt of a command: code is never run");
            Vec::new()
        }
        None => message(reader, &source.place(), text)
            .map(|text| Prompt { place: source.place(), text, label })
            .into_iter()
            .collect(),
    }
}

fn has_ending(text: &str) -> bool {
    let all = CODE.iter().chain(&TEXTS).chain(&[".json", ".yaml", ".yml", ".csv", ".jsonl"]);
    all.into_iter().any(|end| text.ends_with(end))
}

fn of_file(reader: &mut Reader<'_>, part: &Part, path: &str, label: Option<&str>) -> Vec<Prompt> {
    let place = part.place();
    let prompt = |text: String| Prompt { place: place.clone(), text, label: label.map(str::to_owned) };
    if TEXTS.iter().any(|end| path.ends_with(end)) {
        let Some((_, text)) = reader.text_of(&place, "", path) else { return Vec::new() };
        // A line of dashes separates the prompts of a file.
        return text.replace("\r\n", "\n").split("\n---\n").map(|one| prompt(one.trim().to_owned())).collect();
    }
    if super::assertion::is_yaml(path) {
        let Some((_, loaded)) = reader.load(&place, "", path) else { return Vec::new() };
        let value = loaded.value();
        if is_conversation(&value) {
            return only_message(reader, &place, &value).map(prompt).into_iter().collect();
        }
        return reader.deeper(|reader| read(reader, &loaded));
    }
    let is_code = CODE.iter().any(|end| path.ends_with(end) || path.contains(&format!("{end}:")));
    let why = if is_code { "code is never run" } else { "neither a text nor YAML nor JSON" };
    reader.left_out(&place, format!("the prompt {}: {why}", quoted(path)));
    Vec::new()
}

/// A prompt that is written as a conversation in JSON or YAML has its one message as text.
fn message(reader: &mut Reader<'_>, place: &Place, text: &str) -> Option<String> {
    if !text.trim_start().starts_with(['[', '-']) {
        return Some(text.to_owned());
    }
    let parsed = Part::parse(text, &place.file).ok().map(|part| part.value()).filter(is_conversation);
    match parsed {
        None => Some(text.to_owned()),
        Some(conversation) => only_message(reader, place, &conversation),
    }
}

fn is_conversation(value: &Value) -> bool {
    value.as_array().is_some_and(|all| !all.is_empty() && all.iter().all(|one| one.get("role").is_some()))
}

fn only_message(reader: &mut Reader<'_>, place: &Place, conversation: &Value) -> Option<String> {
    let only = conversation.as_array().filter(|all| all.len() == 1).and_then(|all| all.first());
    let only = only.filter(|message| message["role"] == "user").and_then(|message| message["content"].as_str());
    if only.is_none() {
        reader.left_out(place, "a prompt of several messages: the prompt of a case is one text");
    }
    only.map(str::to_owned)
}
