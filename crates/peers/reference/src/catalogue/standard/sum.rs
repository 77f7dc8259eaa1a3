//! `sum`: structured output.

use serde_json::{Value, json};
use wire::serf::Category;

use crate::catalogue::{Invocation, Outcome, Tool};

pub(super) fn tool() -> Tool {
    let numbers = json!({ "a": { "type": "number" }, "b": { "type": "number" } });
    let output = json!({ "type": "object", "properties": { "sum": { "type": "number" } }, "required": ["sum"] });
    Tool::now("sum", "Adds two numbers", |_, invocation| run(invocation))
        .titled("Sum")
        .takes(numbers, &["a", "b"])
        .output(output)
}

fn run(invocation: &Invocation) -> Outcome {
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
        Outcome::failure(Category::InvalidInput, "The sum is too large to be told")
    }
}
