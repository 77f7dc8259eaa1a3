//! The successful answer of an operation.

use serde_json::{Map, Value};

use super::bodies::choose;
use super::{Dialect, Source};
use crate::model::{Answer, Kind};
use crate::schemas::Schemas;

/// The answer of the lowest successful status; `default` only where it is the only one.
pub(super) fn read<'v>(
    source: &Source<'v>,
    schemas: &mut Schemas<'_, 'v>,
    raw: &'v Map<String, Value>,
    at: &str,
    bytes: usize,
) -> Option<Answer> {
    let responses = raw.get("responses")?.as_object()?;
    let successful = responses.iter().filter(|(status, _)| status.len() == 3 && status.starts_with('2'));
    let lowest = successful.min_by(|(one, _), (other, _)| one.to_ascii_lowercase().cmp(&other.to_ascii_lowercase()));
    let only = responses.iter().find(|(status, _)| *status == "default").filter(|_| responses.len() == 1);
    let (status, response) = lowest.or(only)?;
    let at = format!("{at}/responses/{status}");
    let (response, at) = source.resolve(response, &at).ok()?;
    let response = response.as_object()?;
    if source.dialect == Dialect::Swagger2 {
        return Some(swagger(source, schemas, raw, response, &at, bytes));
    }
    let content = response.get("content").and_then(Value::as_object);
    let Some((media, one)) = content.and_then(choose) else {
        return Some(Answer { media: None, schema: None, is_described: false });
    };
    let at = format!("{at}/content/{}/schema", wire::pointer::escape(media));
    let schema = one.get("schema").filter(|_| Kind::of(media) == Kind::Json);
    let is_described = schema.is_some();
    let schema = schema.and_then(|schema| schemas.output(schema, &at, bytes));
    Some(Answer { media: Some(media.to_owned()), schema, is_described })
}

fn swagger<'v>(
    source: &Source<'v>,
    schemas: &mut Schemas<'_, 'v>,
    raw: &'v Map<String, Value>,
    response: &'v Map<String, Value>,
    at: &str,
    bytes: usize,
) -> Answer {
    let Some(schema) = response.get("schema") else {
        return Answer { media: None, schema: None, is_described: false };
    };
    let produces = raw.get("produces").or_else(|| source.root.get("produces")).and_then(Value::as_array);
    let produces: Vec<_> = produces.into_iter().flatten().filter_map(Value::as_str).collect();
    let is_file = schema.get("type").and_then(Value::as_str) == Some("file");
    let json = produces.iter().find(|media| Kind::of(media) == Kind::Json);
    let usual = if is_file { "application/octet-stream" } else { "application/json" };
    let media = json.filter(|_| !is_file).or(produces.first()).copied().unwrap_or(usual);
    let is_described = Kind::of(media) == Kind::Json && !is_file;
    let schema = is_described.then(|| schemas.output(schema, &format!("{at}/schema"), bytes)).flatten();
    Answer { media: Some(media.to_owned()), schema, is_described }
}
