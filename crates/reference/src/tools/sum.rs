//! `sum`: structured output.

use serde_json::{Value, json};
use wire::revision::R2024_11_05;

use super::call::{Invocation, Outcome};
use super::{READS, Run, Tool};
use crate::Server;

pub(super) const SUM: Tool = Tool {
    name: "sum",
    title: "Sum",
    description: "Adds two numbers",
    since: R2024_11_05,
    input,
    output: Some(output),
    hints: READS,
    run: Run::Now(run),
};

fn input() -> Value {
    json!({
        "type": "object",
        "properties": { "a": { "type": "number" }, "b": { "type": "number" } },
        "required": ["a", "b"],
        "additionalProperties": false,
    })
}

fn output() -> Value {
    json!({ "type": "object", "properties": { "sum": { "type": "number" } }, "required": ["sum"] })
}

fn run(_: &Server, invocation: &mut Invocation) -> Outcome {
    let number = |name: &str| invocation.arguments.get(name);
    // Whole numbers stay whole as long as they fit.
    let whole = || number("a")?.as_i64()?.checked_add(number("b")?.as_i64()?);
    if let Some(sum) = whole() {
        return Outcome::structured(json!({ "sum": sum }));
    }
    let float = |name: &str| number(name).and_then(Value::as_f64).unwrap_or_default();
    let sum = float("a") + float("b");
    if sum.is_finite() {
        Outcome::structured(json!({ "sum": sum }))
    } else {
        Outcome::failure("The sum is too large to be told")
    }
}
