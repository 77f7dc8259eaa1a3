//! The tools that a model was offered: their names and schemas, in the form of MCP or of a model's API.

use std::collections::HashMap;

use schema::Validator;
use serde_json::Value;

/// How many tools a catalogue may have.
const MOST_TOOLS: usize = 20_000;

/// All tools that a model was offered.
#[derive(Debug, Default)]
pub struct Catalogue {
    tools: Vec<Tool>,
    by_name: HashMap<String, usize>,
}

/// One tool.
#[derive(Debug)]
pub struct Tool {
    /// Its name.
    pub name: String,
    /// Its name for people; empty where it has none.
    pub title: String,
    /// What it says of itself.
    pub description: String,
    /// The JSON Schema of its arguments.
    pub schema: Value,
    /// The same compiled; `None` where it cannot be used.
    validator: Option<Validator>,
}

impl Tool {
    /// What is said of an argument; `None` where the schema does not know it.
    pub fn argument(&self, name: &str) -> Option<&Value> {
        self.schema.get("properties")?.get(name)
    }

    /// Whether the schema knows an argument, or takes others than those that it names.
    pub fn knows(&self, name: &str) -> bool {
        let others = self.schema.get("additionalProperties");
        let has_patterns = self.schema.get("patternProperties").is_some_and(Value::is_object);
        let takes_others = match others {
            Some(Value::Bool(flag)) => *flag,
            Some(Value::Object(_)) => true,
            // Nothing is said: what a schema names is what it knows. One without names, or made of others, knows all.
            _ => ["properties", "$ref", "allOf", "anyOf", "oneOf"].iter().all(|word| self.schema.get(word).is_none()),
        };
        let is_composed = ["$ref", "allOf", "anyOf", "oneOf"].iter().any(|word| self.schema.get(word).is_some());
        self.argument(name).is_some() || takes_others || has_patterns || is_composed
    }

    /// The schema compiled, where it can be used.
    pub const fn validator(&self) -> Option<&Validator> {
        self.validator.as_ref()
    }
}

impl Catalogue {
    /// Reads a list of tools: a result of `tools/list` (also within a response or a snapshot), or the `tools` of a request to
    /// OpenAI or Anthropic.
    pub fn read(value: &Value) -> Result<Self, String> {
        let places = ["/tools", "/result/tools", ""];
        let list = places.iter().find_map(|place| value.pointer(place).and_then(Value::as_array));
        let list = list.ok_or("no list of tools: expected `tools` or a list")?;
        if list.len() > MOST_TOOLS {
            return Err(format!("more than {MOST_TOOLS} tools"));
        }
        let mut catalogue = Self::default();
        for (index, one) in list.iter().enumerate() {
            let tool = tool(one).ok_or_else(|| format!("tool {} has no name", index + 1))?;
            if catalogue.by_name.insert(tool.name.clone(), index).is_some() {
                return Err(format!("two tools are called `{}`", wire::escape::snippet(&tool.name, 60)));
            }
            catalogue.tools.push(tool);
        }
        if catalogue.tools.is_empty() { Err("the list of tools is empty".to_owned()) } else { Ok(catalogue) }
    }

    /// The tool of that name.
    pub fn tool(&self, name: &str) -> Option<&Tool> {
        self.by_name.get(name).map(|at| &self.tools[*at])
    }

    /// All tools, in order.
    pub fn tools(&self) -> &[Tool] {
        &self.tools
    }
}

fn tool(value: &Value) -> Option<Tool> {
    let value = value.get("function").filter(|function| function.is_object()).unwrap_or(value);
    let name = value.get("name")?.as_str()?.to_owned();
    let description = value.get("description").and_then(Value::as_str).unwrap_or_default().to_owned();
    let title = value.get("title").and_then(Value::as_str).unwrap_or_default().to_owned();
    let schema = ["inputSchema", "parameters", "input_schema"].iter().find_map(|member| value.get(member)).cloned();
    let schema = schema.unwrap_or(Value::Object(serde_json::Map::new()));
    let validator = Validator::new(&schema).ok();
    Some(Tool { name, title, description, schema, validator })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn tools_are_read_in_every_form() {
        let schema = json!({ "type": "object", "properties": { "a": { "type": "integer" } } });
        for list in [
            json!({ "tools": [{ "name": "t", "inputSchema": schema }] }),
            json!({ "jsonrpc": "2.0", "id": 1, "result": { "tools": [{ "name": "t", "inputSchema": schema }] } }),
            json!([{ "type": "function", "function": { "name": "t", "parameters": schema } }]),
            json!([{ "type": "function", "name": "t", "parameters": schema }]),
            json!([{ "name": "t", "input_schema": schema }]),
        ] {
            let catalogue = Catalogue::read(&list).unwrap();
            let tool = catalogue.tool("t").unwrap();
            assert!(tool.knows("a") && !tool.knows("b") && tool.validator().is_some(), "{list}");
        }
        for list in [json!({}), json!([]), json!([{}]), json!([{ "name": "t" }, { "name": "t" }])] {
            assert!(Catalogue::read(&list).is_err(), "{list}");
        }
    }

    #[test]
    fn open_schemas_know_every_argument() {
        for schema in [
            json!({}),
            json!({ "properties": {}, "additionalProperties": true }),
            json!({ "properties": {}, "additionalProperties": { "type": "string" } }),
            json!({ "properties": {}, "patternProperties": { "^x": {} } }),
            json!({ "$ref": "#/$defs/a", "$defs": { "a": {} } }),
        ] {
            let catalogue = Catalogue::read(&json!([{ "name": "t", "inputSchema": schema }])).unwrap();
            assert!(catalogue.tool("t").unwrap().knows("b"), "{schema}");
        }
    }
}
