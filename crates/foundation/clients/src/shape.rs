//! A server as the entry of one client: its members, its references, and no secret in clear where the client can refer to one.

use serde_json::{Map, Value, json};

use crate::catalogue::Client;
use crate::reference::{self, expanded, has_variable, only_variable, written};
use crate::scope::Scope;
use crate::server::{Launch, Server, Transport};

/// What is known of values.
pub struct Knowledge<'k> {
    /// Whether a value is secret, by its name and its look.
    pub is_secret: &'k dyn Fn(&str, &str) -> bool,
    /// The value of a variable, for clients that cannot refer to one.
    pub variable: &'k dyn Fn(&str) -> Option<String>,
}

/// An entry.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Its value.
    pub value: Value,
    /// Variables that must be set where the client runs.
    pub needs: Vec<String>,
    /// Questions that the client asks, for its list `inputs`.
    pub inputs: Vec<Value>,
    /// Places of secrets that stand in clear.
    pub clear: Vec<String>,
    /// What it was made from: which members are the server's, and which are only proposals.
    pub template: &'static Value,
}

/// Why a client cannot have a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// It does not speak the transport.
    Transport(&'static str),
    /// It is not developed any more.
    Discontinued,
    /// It cannot refer to a variable, which has no value here either.
    Variable(String),
}

/// The entry of a server.
pub fn entry(
    server: &Server,
    client: &Client,
    scope: Scope,
    is_also: bool,
    known: &Knowledge<'_>,
) -> Result<Entry, Refusal> {
    if client.discontinued {
        return Err(Refusal::Discontinued);
    }
    let shape = client.shape(scope, is_also);
    let template = match &server.launch {
        Launch::Stdio { .. } => Some(&shape.stdio),
        Launch::Remote { transport: Transport::Http, .. } => shape.http.as_ref(),
        Launch::Remote { transport: Transport::Sse, .. } => shape.sse.as_ref(),
    };
    let template = template.ok_or(Refusal::Transport(match &server.launch {
        Launch::Remote { transport: Transport::Sse, .. } => "HTTP+SSE",
        _ => "servers by URL",
    }))?;
    let marks = template.to_string();
    let mut writer = Writer { server: &server.name, client, known, marks: &marks, out: Parts::default() };
    writer.launch(&server.launch)?;
    let Parts { needs, inputs, clear, .. } = &mut writer.out;
    let (mut needs, inputs, clear) = (std::mem::take(needs), std::mem::take(inputs), std::mem::take(clear));
    needs.sort();
    needs.dedup();
    let value = writer.out.filled(template, &server.name).unwrap_or_default();
    Ok(Entry { value, needs, inputs, clear, template })
}

/// What the marks of a template stand for.
#[derive(Default)]
struct Parts {
    line: Vec<String>,
    env: Map<String, Value>,
    forwarded: Vec<String>,
    url: String,
    headers: Map<String, Value>,
    header_variables: Map<String, Value>,
    bearer: Option<String>,
    needs: Vec<String>,
    inputs: Vec<Value>,
    clear: Vec<String>,
}

struct Writer<'w> {
    server: &'w str,
    client: &'w Client,
    known: &'w Knowledge<'w>,
    marks: &'w str,
    out: Parts,
}

impl Writer<'_> {
    fn launch(&mut self, launch: &Launch) -> Result<(), Refusal> {
        match launch {
            Launch::Stdio { command, args, env } => {
                let command = self.text("command", "", command)?;
                self.out.line.push(command);
                for (index, text) in args.iter().enumerate() {
                    let option =
                        index.checked_sub(1).and_then(|before| args[before].strip_prefix("--")).unwrap_or_default();
                    let text = self.text(&format!("args[{index}]"), option, text)?;
                    self.out.line.push(text);
                }
                env.iter().try_for_each(|(name, text)| self.env(name, text))
            }
            Launch::Remote { url, headers, .. } => {
                self.out.url = self.text("url", "", url)?;
                headers.iter().try_for_each(|(name, text)| self.header(name, text))
            }
        }
    }

    fn env(&mut self, name: &str, text: &str) -> Result<(), Refusal> {
        let mut text = text.to_owned();
        let can_forward = self.marks.contains("$forwarded");
        if !has_variable(&text) && (self.known.is_secret)(name, &text) {
            if let Some(asked) = self.asked(name) {
                self.out.env.insert(name.to_owned(), asked.into());
                return Ok(());
            }
            if (self.client.reference.is_some() || can_forward) && reference::is_name(name) {
                text = format!("${{{name}}}");
            }
        }
        if can_forward && only_variable(&text) == Some(name) {
            self.out.forwarded.push(name.to_owned());
            self.out.needs.push(name.to_owned());
            return Ok(());
        }
        let text = self.text(&format!("env.{name}"), name, &text)?;
        self.out.env.insert(name.to_owned(), text.into());
        Ok(())
    }

    fn header(&mut self, name: &str, text: &str) -> Result<(), Refusal> {
        let mut text = text.to_owned();
        let is_bearer = name.eq_ignore_ascii_case("authorization") && text.starts_with("Bearer ");
        let prefix = if is_bearer { "Bearer " } else { "" };
        let can_name = self.marks.contains("$header-variables") || (is_bearer && self.marks.contains("$bearer"));
        if !has_variable(&text) && (self.known.is_secret)(name, &text) {
            if let Some(asked) = self.asked(name) {
                self.out.headers.insert(name.to_owned(), format!("{prefix}{asked}").into());
                return Ok(());
            }
            if self.client.reference.is_some() || can_name {
                text = format!("{prefix}${{{}}}", variable_of(self.server, name));
            }
        }
        let token = text.strip_prefix("Bearer ").and_then(only_variable).filter(|_| is_bearer);
        if let Some(variable) = token.filter(|_| self.marks.contains("$bearer")) {
            self.out.needs.push(variable.to_owned());
            self.out.bearer = Some(variable.to_owned());
            return Ok(());
        }
        if let Some(variable) = only_variable(&text).filter(|_| self.marks.contains("$header-variables")) {
            self.out.needs.push(variable.to_owned());
            self.out.header_variables.insert(name.to_owned(), variable.into());
            return Ok(());
        }
        let text = self.text(&format!("headers.{name}"), name, &text)?;
        self.out.headers.insert(name.to_owned(), text.into());
        Ok(())
    }

    /// A question of the client for a secret.
    fn asked(&mut self, name: &str) -> Option<String> {
        if !self.client.inputs {
            return None;
        }
        let question = question(self.server, name);
        let reference = format!("${{input:{}}}", question["id"].as_str().unwrap_or_default());
        self.out.inputs.push(question);
        Some(reference)
    }

    /// A text in the client's way. Where it has none, values stand in clear.
    fn text(&mut self, place: &str, name: &str, text: &str) -> Result<String, Refusal> {
        if !has_variable(text) {
            let is_literal = !text.starts_with("${input:");
            if is_literal && (self.known.is_secret)(name, text) {
                self.out.clear.push(place.to_owned());
            }
            return Ok(text.to_owned());
        }
        let written = self.client.reference.as_ref().map(|syntax| written(text, syntax, self.client.defaults));
        if let Some(Ok(written)) = written {
            let names = reference::parts(text).into_iter().filter_map(|part| match part {
                reference::Part::Variable { name, default: None } => Some(name.to_owned()),
                _ => None,
            });
            self.out.needs.extend(names);
            return Ok(written);
        }
        let value = expanded(text, self.known.variable).map_err(Refusal::Variable)?;
        // The user kept it out of files until now.
        self.out.clear.push(place.to_owned());
        Ok(value)
    }
}

impl Parts {
    /// A template with its marks replaced; `None` of what there is nothing of.
    fn filled(&self, template: &Value, name: &str) -> Option<Value> {
        let some = |map: &Map<String, Value>| (!map.is_empty()).then(|| Value::Object(map.clone()));
        match template {
            Value::Object(members) => {
                let filled: Map<_, _> =
                    members.iter().filter_map(|(key, value)| Some((key.clone(), self.filled(value, name)?))).collect();
                (!filled.is_empty()).then_some(Value::Object(filled))
            }
            Value::String(mark) => match mark.as_str() {
                "$name" => Some(name.into()),
                "$command" => self.line.first().map(|word| word.as_str().into()),
                "$args" => Some(self.line.iter().skip(1).map(|word| Value::from(word.as_str())).collect()),
                "$line" => Some(self.line.iter().map(|word| Value::from(word.as_str())).collect()),
                "$env" => some(&self.env),
                "$env!" => Some(Value::Object(self.env.clone())),
                "$forwarded" => (!self.forwarded.is_empty()).then(|| json!(self.forwarded)),
                "$url" => Some(self.url.as_str().into()),
                "$headers" => some(&self.headers),
                "$header-variables" => some(&self.header_variables),
                "$bearer" => self.bearer.as_deref().map(Value::from),
                text => Some(text.into()),
            },
            value => Some(value.clone()),
        }
    }
}

/// The question for a secret of a server, as an item of `inputs`.
fn question(server: &str, name: &str) -> Value {
    let id = variable_of(server, name).to_ascii_lowercase().replace('_', "-");
    json!({ "type": "promptString", "id": id, "description": format!("{name} of {server}"), "password": true })
}

/// Whether an item of `inputs` is a question as it is written for a secret of this server, and not one that the user wrote.
pub(crate) fn is_question(input: &Value, server: &str) -> bool {
    let description = input["description"].as_str().unwrap_or_default();
    description.strip_suffix(&format!(" of {server}")).is_some_and(|name| question(server, name) == *input)
}

/// The variable that holds a value of a server.
pub(crate) fn variable_of(server: &str, name: &str) -> String {
    let word = |text: &str| -> String {
        text.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' }).collect()
    };
    let name = format!("{}_{}", word(server), word(name));
    if name.starts_with(|c: char| c.is_ascii_digit()) { format!("_{name}") } else { name }
}
