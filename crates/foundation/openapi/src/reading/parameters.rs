//! Parameters of path, query, headers and cookies.

use serde_json::{Map, Value, json};

use super::{Dialect, Reader, Site};
use crate::choice::Head;
use crate::model::{Parameter, Place, Skipped, Style};
use crate::prose;

/// The parameters of an operation, and what is loose about them.
type Read = (Vec<Parameter>, Vec<Skipped>);

/// A parameter as it stands in the description.
struct Raw<'v> {
    members: &'v Map<String, Value>,
    at: String,
}

impl<'v> Raw<'v> {
    fn text(&self, name: &str) -> Option<&'v str> {
        self.members.get(name).and_then(Value::as_str)
    }

    fn flag(&self, name: &str) -> Option<bool> {
        self.members.get(name).and_then(Value::as_bool)
    }
}

impl<'v> Reader<'_, 'v> {
    /// Parameters of the path item and of the operation, which replace those of the same name and place.
    pub(super) fn parameters(&mut self, head: &Head, site: &Site<'v>) -> Result<Read, Skipped> {
        let (mut read, mut notes) = Read::default();
        let lists = [(site.item, site.item_at.as_str()), (site.raw, head.at.as_str())];
        for (owner, owner_at) in lists {
            let Some(list) = owner.get("parameters") else { continue };
            let list_at = format!("{owner_at}/parameters");
            let Some(list) = list.as_array() else {
                return Err(Skipped { at: list_at, why: "`parameters` is no list".to_owned() });
            };
            if list.len() > self.limits.parameters {
                let why = format!("it has more than {} parameters", self.limits.parameters);
                return Err(Skipped { at: list_at, why });
            }
            for (index, one) in list.iter().enumerate() {
                let Some(parameter) = self.one(one, &format!("{list_at}/{index}"), head, &mut notes)? else { continue };
                let same = |known: &Parameter| known.name == parameter.name && known.place == parameter.place;
                match read.iter().position(same) {
                    Some(known) => read[known] = parameter,
                    None => read.push(parameter),
                }
            }
        }
        Ok((read, notes))
    }

    /// One parameter, where it goes into the request. What cannot be read and is not required is left out with a note.
    fn one(
        &mut self,
        value: &'v Value,
        at: &str,
        head: &Head,
        notes: &mut Vec<Skipped>,
    ) -> Result<Option<Parameter>, Skipped> {
        let raw = match self.source.resolve(value, at) {
            Ok((Value::Object(members), at)) => Raw { members, at },
            Ok((_, at)) => return Err(Skipped { at, why: "a parameter is no object".to_owned() }),
            Err(why) => return Err(Skipped { at: at.to_owned(), why }),
        };
        if matches!(raw.text("in"), Some("body" | "formData")) && self.source.dialect == Dialect::Swagger2 {
            return Ok(None);
        }
        let (name, place) = match (raw.text("name"), place(raw.text("in"))) {
            (Some(name), Some(place)) if !name.is_empty() && name.len() <= self.limits.name => (name, place),
            _ if raw.flag("required") == Some(true) => {
                return Err(Skipped {
                    at: raw.at,
                    why: "a required parameter has no usable `name` or `in`".to_owned(),
                });
            }
            _ => {
                let why = "a parameter without usable `name` or `in` is left out".to_owned();
                notes.push(Skipped { at: raw.at, why });
                return Ok(None);
            }
        };
        // The specification: such parameters are ignored.
        let ignored = ["accept", "content-type", "authorization"];
        if place == Place::Header && ignored.iter().any(|one| name.eq_ignore_ascii_case(one)) {
            return Ok(None);
        }
        if place == Place::Path && !head.path.contains(&format!("{{{name}}}")) {
            let why = format!("the path has no place for the parameter `{}`", wire::escape::snippet(name, 80));
            notes.push(Skipped { at: raw.at, why });
            return Ok(None);
        }
        Ok(Some(self.parameter(&raw, name, place, notes)))
    }

    fn parameter(&mut self, raw: &Raw<'v>, name: &str, place: Place, notes: &mut Vec<Skipped>) -> Parameter {
        let mut media = None;
        let schema = if self.source.dialect == Dialect::Swagger2 {
            self.schemas.input_members(raw.members, &raw.at)
        } else if let Some(schema) = raw.members.get("schema") {
            self.schemas.input(schema, &format!("{}/schema", raw.at))
        } else if let Some((key, content)) =
            raw.members.get("content").and_then(Value::as_object).and_then(|c| c.iter().next())
        {
            media = Some(key.clone());
            let at = format!("{}/content/{}/schema", raw.at, wire::pointer::escape(key));
            content.get("schema").map_or_else(|| json!({}), |schema| self.schemas.input(schema, &at))
        } else {
            json!({})
        };
        let (style, explode) = self.style(raw, place, notes);
        Parameter {
            argument: String::new(),
            name: name.to_owned(),
            place,
            required: place == Place::Path || raw.flag("required") == Some(true),
            description: raw
                .text("description")
                .filter(|text| !text.trim().is_empty())
                .map(|text| prose::shortened(&prose::plain(text), 1_000)),
            style,
            explode,
            allow_reserved: match place {
                Place::Path => is_address(&schema),
                _ => raw.flag("allowReserved") == Some(true),
            },
            media,
            schema,
        }
    }

    fn style(&self, raw: &Raw<'_>, place: Place, notes: &mut Vec<Skipped>) -> (Style, bool) {
        if self.source.dialect == Dialect::Swagger2 {
            return collection(raw.text("collectionFormat"), place);
        }
        let usual = usual_style(place);
        let style = match raw.text("style") {
            None => usual,
            Some(name) => style_of(name).filter(|style| fits(*style, place)).unwrap_or_else(|| {
                let why = format!("the style `{}` is not for this place", wire::escape::snippet(name, 40));
                notes.push(Skipped { at: raw.at.clone(), why });
                usual
            }),
        };
        (style, raw.flag("explode").unwrap_or(style == Style::Form))
    }
}

/// Whether a value is an address, which has slashes: other values with slashes may lead to other paths.
fn is_address(schema: &Value) -> bool {
    let format = schema.get("format").and_then(Value::as_str);
    format.is_some_and(|format| matches!(format, "uri" | "url" | "uri-reference" | "iri" | "iri-reference"))
}

fn place(name: Option<&str>) -> Option<Place> {
    Some(match name? {
        "path" => Place::Path,
        "query" => Place::Query,
        "header" => Place::Header,
        "cookie" => Place::Cookie,
        _ => return None,
    })
}

fn usual_style(place: Place) -> Style {
    match place {
        Place::Path | Place::Header => Style::Simple,
        Place::Query | Place::Cookie => Style::Form,
    }
}

/// A style by its name.
pub(super) fn style_of(name: &str) -> Option<Style> {
    Some(match name {
        "matrix" => Style::Matrix,
        "label" => Style::Label,
        "simple" => Style::Simple,
        "form" => Style::Form,
        "spaceDelimited" => Style::SpaceDelimited,
        "pipeDelimited" => Style::PipeDelimited,
        "deepObject" => Style::DeepObject,
        _ => return None,
    })
}

/// Which style may stand where, as the specification's table says.
fn fits(style: Style, place: Place) -> bool {
    match style {
        Style::Matrix | Style::Label => place == Place::Path,
        Style::Simple => matches!(place, Place::Path | Place::Header),
        Style::Form => matches!(place, Place::Query | Place::Cookie),
        Style::SpaceDelimited | Style::PipeDelimited | Style::DeepObject | Style::TabDelimited => place == Place::Query,
    }
}

/// `collectionFormat` of Swagger 2.
pub(super) fn collection(name: Option<&str>, place: Place) -> (Style, bool) {
    let usual = usual_style(place);
    match name {
        Some("multi") => (usual, usual == Style::Form),
        Some("ssv") => (Style::SpaceDelimited, false),
        Some("tsv") => (Style::TabDelimited, false),
        Some("pipes") => (Style::PipeDelimited, false),
        _ => (usual, false),
    }
}

/// Adds the path's parameters that the description forgets: without them there is no request.
pub(super) fn complete(parameters: &mut Vec<Parameter>, path: &str) {
    let template = path.split(['#', '?']).next().unwrap_or_default();
    for part in template.split('{').skip(1) {
        let Some((name, _)) = part.split_once('}') else { continue };
        let known = parameters.iter().any(|one| one.place == Place::Path && one.name == name);
        if known || name.is_empty() {
            continue;
        }
        parameters.push(Parameter {
            argument: String::new(),
            name: name.to_owned(),
            place: Place::Path,
            required: true,
            description: None,
            style: Style::Simple,
            explode: false,
            allow_reserved: false,
            media: None,
            schema: json!({"type": "string"}),
        });
    }
}
