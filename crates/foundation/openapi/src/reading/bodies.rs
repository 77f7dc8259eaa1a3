//! The body of a request: which media type, and how the arguments hold it.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::members::{Flat, flat};
use super::parameters::{collection, style_of};
use super::{Dialect, Reader, Site, Source};
use crate::choice::Head;
use crate::model::{Arguments, Body, Encoding, Kind, Member, Place, Skipped, Style};
use crate::schemas::Schemas;

/// Of several media types the one that arguments suit best: JSON, a form, multipart, else the first.
pub(super) fn choose(content: &Map<String, Value>) -> Option<(&str, &Value)> {
    let rank = |media: &str| match Kind::of(media) {
        Kind::Json if media.starts_with("application/json") => 0,
        Kind::Json => 1,
        Kind::Form => 2,
        Kind::Multipart => 3,
        Kind::Text | Kind::Bytes => 4,
    };
    content.iter().min_by_key(|(media, _)| rank(media)).map(|(media, one)| (media.as_str(), one))
}

/// The body of an operation, except a form of Swagger 2.
pub(super) fn read<'v>(
    source: &Source<'v>,
    schemas: &mut Schemas<'_, 'v>,
    raw: &'v Map<String, Value>,
    head: &Head,
) -> Result<Option<Body>, Skipped> {
    if source.dialect == Dialect::Swagger2 {
        return swagger(source, schemas, raw, head);
    }
    let Some(body) = raw.get("requestBody") else { return Ok(None) };
    let at = format!("{}/requestBody", head.at);
    let (body, at) = source.resolve(body, &at).map_err(|why| Skipped { at: at.clone(), why })?;
    let Some(body) = body.as_object() else {
        return Err(Skipped { at, why: "`requestBody` is no object".to_owned() });
    };
    let Some((media, one)) = body.get("content").and_then(Value::as_object).and_then(choose) else { return Ok(None) };
    let schema_at = format!("{at}/content/{}/schema", wire::pointer::escape(media));
    let mut made = made(source, schemas, media, one.get("schema"), &schema_at);
    made.required = body.get("required").and_then(Value::as_bool).unwrap_or(false);
    made.description = body.get("description").and_then(Value::as_str).map(str::to_owned);
    if let Some(Value::Object(encoding)) = one.get("encoding") {
        made.encoding = encoding.iter().filter_map(|(name, raw)| Some((name.clone(), encoded(raw)?))).collect();
    }
    Ok(Some(made))
}

/// A body of one media type.
fn made<'v>(
    source: &Source<'v>,
    schemas: &mut Schemas<'_, 'v>,
    media: &str,
    schema: Option<&'v Value>,
    at: &str,
) -> Body {
    let kind = Kind::of(media);
    let media = if media.contains('*') { "application/json" } else { media };
    let (arguments, schema) = match (kind, schema) {
        (Kind::Text, _) => (whole(), json!({"type": "string"})),
        (Kind::Bytes, _) => (whole(), json!({"type": "string", "contentEncoding": "base64"})),
        (_, None) => (whole(), json!({})),
        (_, Some(schema)) => match source.resolve(schema, at) {
            Ok((resolved, at)) => structured(source, schemas, resolved, &at),
            // Anything; the reference is noted when it is converted.
            Err(_) => (whole(), schemas.input(schema, at)),
        },
    };
    Body {
        media: media.to_owned(),
        kind,
        required: false,
        description: None,
        arguments,
        schema,
        encoding: BTreeMap::new(),
    }
}

fn whole() -> Arguments {
    Arguments::Whole("body".to_owned())
}

fn structured<'v>(
    source: &Source<'v>,
    schemas: &mut Schemas<'_, 'v>,
    resolved: &'v Value,
    at: &str,
) -> (Arguments, Value) {
    let Some(Flat { members, required, description }) = flat(source, resolved, at) else {
        return (whole(), schemas.input(resolved, at));
    };
    let mut properties = Map::new();
    let mut listed = Vec::new();
    for (name, parts) in members {
        let mut parts: Vec<Value> = parts.into_iter().map(|(schema, at)| schemas.input(schema, &at)).collect();
        parts.dedup();
        let schema = if parts.len() == 1 { parts.remove(0) } else { json!({ "allOf": parts }) };
        listed.push(Member { argument: String::new(), name: name.to_owned() });
        properties.insert(name.to_owned(), schema);
    }
    let mut schema = json!({"type": "object", "properties": properties});
    let required: Vec<_> = required.into_iter().filter(|name| listed.iter().any(|one| one.name == *name)).collect();
    if !required.is_empty() {
        schema["required"] = required.into();
    }
    if let Some(description) = description {
        schema["description"] = description.into();
    }
    (Arguments::Members(listed), schema)
}

fn encoded(raw: &Value) -> Option<Encoding> {
    let raw = raw.as_object()?;
    let style = raw.get("style").and_then(Value::as_str).and_then(style_of).unwrap_or(Style::Form);
    let flag = |name: &str| raw.get(name).and_then(Value::as_bool);
    Some(Encoding {
        media: raw.get("contentType").and_then(Value::as_str).map(str::to_owned),
        style,
        explode: flag("explode").unwrap_or(style == Style::Form),
        allow_reserved: flag("allowReserved").unwrap_or(false),
    })
}

/// A body of Swagger 2: the parameter in `body`.
fn swagger<'v>(
    source: &Source<'v>,
    schemas: &mut Schemas<'_, 'v>,
    raw: &'v Map<String, Value>,
    head: &Head,
) -> Result<Option<Body>, Skipped> {
    let list = raw.get("parameters").and_then(Value::as_array);
    for (index, one) in list.into_iter().flatten().enumerate() {
        let at = format!("{}/parameters/{index}", head.at);
        let (one, at) = source.resolve(one, &at).map_err(|why| Skipped { at: at.clone(), why })?;
        if one.get("in").and_then(Value::as_str) != Some("body") {
            continue;
        }
        let consumes = consumes(source, raw);
        let json = consumes.iter().find(|media| Kind::of(media) == Kind::Json);
        let media = json.or(consumes.first()).copied().unwrap_or("application/json");
        let mut body = made(source, schemas, media, one.get("schema"), &format!("{at}/schema"));
        body.required = one.get("required").and_then(Value::as_bool).unwrap_or(false);
        body.description = one.get("description").and_then(Value::as_str).map(str::to_owned);
        return Ok(Some(body));
    }
    Ok(None)
}

fn consumes<'v>(source: &Source<'v>, raw: &'v Map<String, Value>) -> Vec<&'v str> {
    let list = raw.get("consumes").or_else(|| source.root.get("consumes")).and_then(Value::as_array);
    list.into_iter().flatten().filter_map(Value::as_str).collect()
}

impl<'v> Reader<'_, 'v> {
    /// A form of Swagger 2: the parameters in `formData`.
    pub(super) fn form(&mut self, site: &Site<'v>, head: &Head) -> Result<Option<Body>, Skipped> {
        if self.source.dialect != Dialect::Swagger2 {
            return Ok(None);
        }
        let mut form = FormBuilder::default();
        for (owner, at) in [(site.item, site.item_at.as_str()), (site.raw, head.at.as_str())] {
            let list = owner.get("parameters").and_then(Value::as_array);
            for (index, one) in list.into_iter().flatten().enumerate() {
                let at = format!("{at}/parameters/{index}");
                let (one, at) = self.source.resolve(one, &at).map_err(|why| Skipped { at: at.clone(), why })?;
                let Some(one) = one.as_object() else { continue };
                let name = one.get("name").and_then(Value::as_str);
                let (Some("formData"), Some(name)) = (one.get("in").and_then(Value::as_str), name) else { continue };
                let mut schema = self.schemas.input_members(one, &at);
                if let (Some(text), Value::Object(schema)) =
                    (one.get("description").and_then(Value::as_str), &mut schema)
                {
                    let text = crate::prose::shortened(&crate::prose::plain(text), self.limits.text);
                    schema.insert("description".to_owned(), text.into());
                }
                form.add(name, one, schema);
            }
        }
        Ok(form.finish(&consumes(self.source, site.raw)))
    }
}

#[derive(Default)]
struct FormBuilder {
    properties: Map<String, Value>,
    required: Vec<String>,
    encoding: BTreeMap<String, Encoding>,
    has_file: bool,
}

impl FormBuilder {
    fn add(&mut self, name: &str, raw: &Map<String, Value>, schema: Value) {
        let text = |member: &str| raw.get(member).and_then(Value::as_str);
        self.has_file |= text("type") == Some("file");
        if text("type") == Some("array") {
            let (style, explode) = collection(text("collectionFormat"), Place::Query);
            let encoding = Encoding { media: None, style, explode, allow_reserved: false };
            self.encoding.insert(name.to_owned(), encoding);
        }
        if raw.get("required").and_then(Value::as_bool) == Some(true) && !self.required.iter().any(|one| one == name) {
            self.required.push(name.to_owned());
        }
        self.properties.insert(name.to_owned(), schema);
    }

    fn finish(self, consumes: &[&str]) -> Option<Body> {
        if self.properties.is_empty() {
            return None;
        }
        let multipart = self.has_file || consumes.first().is_some_and(|media| Kind::of(media) == Kind::Multipart);
        let (kind, media) = if multipart {
            (Kind::Multipart, "multipart/form-data")
        } else {
            (Kind::Form, "application/x-www-form-urlencoded")
        };
        let names = self.properties.keys();
        let members = names.map(|name| Member { argument: String::new(), name: name.clone() }).collect();
        let required = !self.required.is_empty();
        let mut schema = json!({"type": "object", "properties": self.properties});
        if required {
            schema["required"] = self.required.into();
        }
        Some(Body {
            media: media.to_owned(),
            kind,
            required,
            description: None,
            arguments: Arguments::Members(members),
            schema,
            encoding: self.encoding,
        })
    }
}
