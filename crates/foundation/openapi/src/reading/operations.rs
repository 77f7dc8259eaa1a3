//! One operation: its head, of which a choice is made, and then all of it.

use serde_json::{Map, Value};

use super::{Reader, Site, answers, arguments, bodies, parameters, security, servers};
use crate::choice::{Choice, Head};
use crate::model::{Method, Operation, Parameter, Requirement, Scheme, Skipped};
use crate::schemas::Schemas;

/// How many tags of an operation are read, and how long tags and ids may be: many operations may be one in the description.
const TAGS: usize = 20;
const LONGEST: usize = 300;

/// What a choice looks at.
pub(super) fn head(raw: &Map<String, Value>, at: &str, method: Method, path: &str, open: Option<bool>) -> Head {
    let tags = raw.get("tags").and_then(Value::as_array);
    let tags = tags.into_iter().flatten().filter_map(Value::as_str);
    let tags = tags.filter(|tag| tag.len() <= LONGEST).take(TAGS).map(str::to_owned).collect();
    let named = ["x-mcp", "x-speakeasy-mcp"].iter().find_map(|key| raw.get(*key)?.get("name")?.as_str());
    let id = named.or_else(|| raw.get("operationId").and_then(Value::as_str));
    Head {
        at: at.to_owned(),
        method,
        path: path.to_owned(),
        id: id.filter(|id| !id.trim().is_empty() && id.len() <= LONGEST).map(str::to_owned),
        tags,
        deprecated: raw.get("deprecated").and_then(Value::as_bool).unwrap_or(false),
        opinion: Choice::opinion(raw).or(open),
    }
}

impl<'v> Reader<'_, 'v> {
    /// Reads all of an operation. `Err` says why it cannot be called.
    pub(super) fn operation(&mut self, head: Head, site: &Site<'v>) -> Result<Operation, Skipped> {
        self.schemas.begin();
        let (mut parameters, notes) = self.parameters(&head, site)?;
        for Skipped { at, why } in notes {
            self.note(&at, why);
        }
        let mut security = security::requirements(self.source, site.raw);
        self.take_credentials(&mut parameters, &mut security);
        let mut body = bodies::read(self.source, &mut self.schemas, site.raw, &head)?;
        if let Some(form) = self.form(site, &head)? {
            body = Some(form);
        }
        parameters::complete(&mut parameters, &head.path);
        arguments::assign(&mut parameters, body.as_mut());
        let definitions = self.schemas.definitions(self.limits.input_bytes);
        for parameter in &mut parameters {
            Schemas::bind(&mut parameter.schema, &definitions);
        }
        if let Some(body) = &mut body {
            Schemas::bind(&mut body.schema, &definitions);
        }
        let bytes = self.limits.answer_bytes;
        let answer = answers::read(self.source, &mut self.schemas, site.raw, &head.at, bytes);
        let most = self.limits.prose;
        let text = |name: &str| texts(site.raw, name, most).or_else(|| texts(site.item, name, most));
        let own = |key: &&str| texts(site.raw.get(*key)?.as_object()?, "description", most);
        let described = ["x-mcp", "x-speakeasy-mcp"].iter().find_map(own);
        Ok(Operation {
            at: head.at,
            method: head.method,
            path: head.path,
            id: head.id,
            tags: head.tags,
            summary: text("summary"),
            description: described.or_else(|| text("description")),
            deprecated: head.deprecated,
            servers: servers::of_operation(self.source, site.raw, site.item),
            parameters,
            body,
            answer,
            security,
            definitions,
        })
    }
}

impl Reader<'_, '_> {
    /// Takes out the parameters that are keys of schemes which the operation names: these come from the configuration, and no
    /// model may have to know them. Every way of authorization needs those that are required.
    fn take_credentials(&self, parameters: &mut Vec<Parameter>, security: &mut [Vec<Requirement>]) {
        let mut required = Vec::new();
        parameters.retain(|parameter| {
            let Some(scheme) = self.credential(parameter, security) else { return true };
            required.extend(parameter.required.then_some(scheme));
            false
        });
        for scheme in required {
            for way in &mut *security {
                if !way.iter().any(|needed| needed.scheme == scheme) {
                    way.push(Requirement { scheme: scheme.clone(), scopes: Vec::new() });
                }
            }
        }
    }

    /// The scheme whose key a parameter is.
    fn credential(&self, parameter: &Parameter, security: &[Vec<Requirement>]) -> Option<String> {
        let is_key = |needed: &&Requirement| {
            matches!(self.api.schemes.get(&needed.scheme), Some(Scheme::Key { place, name })
                if *place == parameter.place && name.eq_ignore_ascii_case(&parameter.name))
        };
        security.iter().flatten().find(is_key).map(|needed| needed.scheme.clone())
    }
}

fn texts(from: &Map<String, Value>, name: &str, most: usize) -> Option<String> {
    let text = from.get(name).and_then(Value::as_str).filter(|text| !text.trim().is_empty())?;
    let end = text.char_indices().nth(most).map_or(text.len(), |(end, _)| end);
    Some(text[..end].to_owned())
}
