//! Cases made from answers: each expects what was called then. A person checks and loosens them.

use std::fmt::Write as _;

use document::{flow, scalar};
use serde_json::{Map, Value, json};

use crate::call::Sample;

/// An answer, and what it is called as a case.
#[derive(Clone, Debug, PartialEq)]
pub struct Draft<'s> {
    /// The name of the case.
    pub name: String,
    /// What was asked, where that is known.
    pub prompt: Option<&'s str>,
    /// What was answered; its calls are usable.
    pub sample: &'s Sample,
}

/// A file of cases that these answers pass. `tools` is the file of tools as the cases name it.
pub fn write(drafts: &[Draft<'_>], tools: Option<&str>) -> String {
    let mut out = String::new();
    if let Some(tools) = tools {
        let _ = writeln!(out, "tools: {}", scalar(tools));
    }
    out.push_str("cases:\n");
    for Draft { name, prompt, sample } in drafts {
        let _ = writeln!(out, "  - name: {}", scalar(name));
        if let Some(prompt) = prompt {
            let _ = writeln!(out, "    prompt: {}", scalar(prompt));
        }
        if sample.calls.is_empty() {
            out.push_str("    abstain: true\n");
            continue;
        }
        out.push_str("    calls:\n");
        for call in &sample.calls {
            let _ = writeln!(out, "      - call: {}", scalar(&call.name));
            if !call.arguments.is_empty() {
                let _ = writeln!(out, "        arguments: {}", flow(&expected(&call.arguments)));
            }
        }
    }
    out
}

/// The arguments as matchers: a mapping would be one itself.
fn expected(arguments: &Map<String, Value>) -> Value {
    let matcher = |value: &Value| if value.is_object() { json!({ "equals": value }) } else { value.clone() };
    arguments.iter().map(|(name, value)| (name.clone(), matcher(value))).collect::<Map<_, _>>().into()
}
