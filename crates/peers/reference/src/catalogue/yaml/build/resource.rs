//! Resources and their templates.

use std::sync::Arc;

use net::service::RpcError;
use serde_json::{Value, json};
use wire::revision::R2025_06_18;

use super::super::folder::mime_type;
use super::super::model;
use super::{Builder, Scope, Shelved, uri};
use crate::catalogue::{Body, Completer, Contents, Resource, Template, Variables};
use document::quoted;

impl Builder<'_> {
    pub(super) fn resource(&mut self, one: model::Resource, pointer: &str) -> Option<Resource> {
        if !uri::is_uri(&one.uri) {
            let what = format!("{} is no URI", quoted(&one.uri));
            self.error(&format!("{pointer}/uri"), what, "percent-encode what may not stand in one, such as `%20`");
        }
        let delay = self.delay(one.delay.as_deref(), pointer);
        let refusal = one.error.map(refusal);
        let empty = one.text.is_none() && one.blob.is_none() && one.file.is_none();
        let (body, guess) = if refusal.is_some() && empty {
            (Body::Text("".into()), one.file.as_deref().and_then(mime_type).unwrap_or("text/plain"))
        } else if refusal.is_some() || empty {
            let there = [one.text.is_some(), one.blob.is_some(), one.file.is_some(), refusal.is_some()];
            let keys = ["text", "blob", "file", "error"];
            self.one_of(pointer, &keys.into_iter().zip(there).collect::<Vec<_>>());
            return None;
        } else {
            self.body(one.text.as_deref(), one.blob.as_deref(), one.file.as_deref(), pointer)?
        };
        let resource = Resource {
            uri: one.uri.into(),
            name: one.name.into(),
            title: one.title.map(Into::into),
            description: one.description.map(Into::into),
            mime_type: one.mime_type.unwrap_or_else(|| guess.to_owned()).into(),
            annotations: one.annotations,
            is_unlisted: false,
            comes_and_goes: false,
            contents: Contents::Fixed(body),
            delay,
            refusal,
        };
        if let Contents::Fixed(body) = &resource.contents {
            let contents = body.describe(&resource.uri, &resource.mime_type);
            let mut link = resource.describe(R2025_06_18);
            link["type"] = json!("resource_link");
            let embedded = Arc::new(json!({ "type": "resource", "resource": contents }));
            self.touch_counts.insert(resource.uri.to_string(), Shelved { embedded, link: Arc::new(link) });
        }
        Some(resource)
    }

    pub(super) fn template(&mut self, one: model::Template, pointer: &str) -> Option<Template> {
        let variables = match uri::variables(&one.uri) {
            Ok(variables) => Some(variables),
            Err((what, remedy)) => {
                self.error(&format!("{pointer}/uriTemplate"), what, remedy);
                None
            }
        };
        let scope = Scope::new("variables", variables);
        let delay = self.delay(one.delay.as_deref(), pointer);
        self.one_of(pointer, &[("text", one.text.is_some()), ("error", one.error.is_some())]);
        let text = match &one.text {
            Some(text) => Some(self.pattern(text, &format!("{pointer}/text"), &scope)?),
            None => None,
        };
        let read = move |values: &Variables| {
            let values = values.iter().map(|(name, value)| (name.clone(), Value::String(uri::decoded(value))));
            let filled = text.as_ref()?.fill(&Value::Object(values.collect())).ok()?;
            Some(Body::Text(filled.into()))
        };
        let mime_type = one.mime_type.unwrap_or_else(|| "text/plain".to_owned());
        let mut template = Template::new(one.uri, one.name, mime_type, read);
        template.title = one.title.map(Into::into);
        template.description = one.description.map(Into::into);
        template.delay = delay;
        template.refusal = one.error.map(refusal);
        for (variable, values) in one.completions {
            let pointer = format!("{pointer}/completions/{variable}");
            self.declared(&variable, &pointer, &scope);
            let values: Vec<String> = serde_json::from_value(values).unwrap_or_default();
            template = template.completed(variable, Completer::of(values));
        }
        Some(template)
    }
}

fn refusal(error: model::Error) -> RpcError {
    let refusal = RpcError::new(error.code as i64, error.message);
    match error.data {
        Some(data) => refusal.with_data(data),
        None => refusal,
    }
}
