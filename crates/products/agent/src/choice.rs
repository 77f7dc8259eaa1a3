//! Which tools the model may or must call: `tool_choice` in the form of each API, and whether an answer keeps it.

use eval::ToolCall;
use serde_json::{Value, json};

use crate::dialect::Dialect;

/// Whether a call is demanded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// The model decides.
    Auto,
    /// At least one call.
    Required,
}

/// Which tools the model may or must call. Tools go by their names in the API.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Choice {
    /// The model decides.
    Auto,
    /// At least one call of any tool.
    Required,
    /// No call.
    None,
    /// A call of this tool.
    Tool(String),
    /// Only these tools.
    Allowed(Mode, Vec<String>),
}

impl Choice {
    /// The choice for a turn, from 0. Calls are demanded in the first turn alone: otherwise no conversation would end.
    pub fn at(&self, turn: usize) -> Self {
        match self {
            _ if turn == 0 => self.clone(),
            Self::Required | Self::Tool(_) => Self::Auto,
            Self::Allowed(_, names) => Self::Allowed(Mode::Auto, names.clone()),
            Self::Auto | Self::None => self.clone(),
        }
    }

    /// The value of `tool_choice`.
    pub fn to_value(&self, dialect: Dialect, is_parallel: bool) -> Value {
        match dialect {
            Dialect::Responses => self.responses(),
            Dialect::Chat => self.chat(),
            Dialect::Messages => self.messages(is_parallel),
        }
    }

    fn responses(&self) -> Value {
        let tool = |name: &String| json!({ "type": "function", "name": name });
        match self {
            Self::Auto => json!("auto"),
            Self::Required => json!("required"),
            Self::None => json!("none"),
            Self::Tool(name) => tool(name),
            Self::Allowed(mode, names) => {
                let tools: Vec<Value> = names.iter().map(tool).collect();
                json!({ "type": "allowed_tools", "mode": mode.as_str(), "tools": tools })
            }
        }
    }

    fn chat(&self) -> Value {
        let tool = |name: &String| json!({ "type": "function", "function": { "name": name } });
        match self {
            Self::Tool(name) => tool(name),
            Self::Allowed(mode, names) => {
                let tools: Vec<Value> = names.iter().map(tool).collect();
                json!({ "type": "allowed_tools", "allowed_tools": { "mode": mode.as_str(), "tools": tools } })
            }
            other => other.responses(),
        }
    }

    /// This API has no list of allowed tools: the others are left out of the request ([`Self::offers`]).
    fn messages(&self, is_parallel: bool) -> Value {
        let mut value = match self {
            Self::Auto | Self::Allowed(Mode::Auto, _) => json!({ "type": "auto" }),
            Self::Required | Self::Allowed(Mode::Required, _) => json!({ "type": "any" }),
            Self::None => return json!({ "type": "none" }),
            Self::Tool(name) => json!({ "type": "tool", "name": name }),
        };
        if !is_parallel {
            value["disable_parallel_tool_use"] = json!(true);
        }
        value
    }

    /// Whether a tool is in the request.
    pub fn offers(&self, dialect: Dialect, name: &str) -> bool {
        match self {
            Self::Allowed(_, names) if dialect == Dialect::Messages => names.iter().any(|other| other == name),
            _ => true,
        }
    }

    /// How an answer breaks the choice, if it does.
    pub fn breach(&self, is_parallel: bool, is_partial: bool, calls: &[ToolCall]) -> Option<String> {
        let other = |is_known: &dyn Fn(&str) -> bool| calls.iter().find(|call| !is_known(&call.name));
        let shown = |call: &ToolCall| wire::escape::snippet(&call.name, 60);
        let is_demanded = matches!(self, Self::Required | Self::Tool(_) | Self::Allowed(Mode::Required, _));
        if is_demanded && calls.is_empty() && !is_partial {
            return Some("no call, though one was demanded".to_owned());
        }
        if !is_parallel && calls.len() > 1 {
            return Some(format!("{} calls at once, though parallel calls were off", calls.len()));
        }
        match self {
            Self::None => calls.first().map(|call| format!("a call of `{}`, though none was allowed", shown(call))),
            Self::Tool(name) => other(&|called| called == name)
                .map(|call| format!("a call of `{}` instead of the demanded tool", shown(call))),
            Self::Allowed(_, names) => other(&|called| names.iter().any(|name| name == called))
                .map(|call| format!("a call of `{}`, which was not allowed", shown(call))),
            Self::Auto | Self::Required => None,
        }
    }
}

impl Mode {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Required => "required",
        }
    }
}
