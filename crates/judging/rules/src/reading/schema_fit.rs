//! Whether values fit the schemas of peers, within a judge's budget.

pub(crate) use schema::Fit;
use serde_json::Value;

use crate::budget::Budget;

/// What applying one schema to one value costs, in the budget's steps.
const COST: u64 = 50;

/// Whether `value` fits `schema`; unsure where the budget does not reach to the end.
pub(crate) fn fit(schema: &Value, value: &Value, budget: &Budget) -> Fit {
    schema::fit(schema, value, &|| budget.spend(COST))
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, json};

    use super::*;

    #[test]
    fn a_schema_takes_no_more_than_the_budget() {
        let itself = json!({ "anyOf": vec![json!({ "$ref": "#" }); 4] });
        let budget = Budget::with(5_000);
        budget.refill();
        assert_eq!(fit(&itself, &json!(1), &budget), Fit::Unsure);
        assert!(!budget.is_spent(), "a reference that leads to itself is followed once");
        // Each schema refers to the next one four times: no circle, and 4^19 ways.
        let next = |n: usize| json!({ "anyOf": vec![json!({ "$ref": format!("#/$defs/{}", n + 1) }); 4] });
        let defs: Map<String, Value> = (0..19).map(|n| (n.to_string(), next(n))).collect();
        let mut wide = json!({ "$ref": "#/$defs/0", "$defs": defs });
        wide["$defs"]["19"] = json!({ "type": "string" });
        let budget = Budget::with(1_000_000);
        budget.refill();
        assert_eq!(fit(&wide, &json!(1), &budget), Fit::Unsure);
        assert!(budget.is_spent());
    }
}
