//! Vectors of tools and of cases, which the user's own model made: the nearest tools are those of the smallest angle. It knows no
//! model.

use std::collections::HashMap;

use serde_json::Value;

use crate::Catalogue;
use crate::import::Unreadable;
use crate::jsonl;

/// How many numbers a vector may have.
const MOST_NUMBERS: usize = 16_384;
const FORM: &str = "a line is {\"tool\": NAME, \"vector\": [0.1, …]} or {\"case\": NAME, \"vector\": […]}";

/// Vectors of length 1, by name.
#[derive(Clone, Debug, Default)]
pub struct Vectors {
    tools: HashMap<String, Vec<f32>>,
    cases: HashMap<String, Vec<f32>>,
}

impl Vectors {
    /// Reads JSON Lines.
    pub fn read(text: &str) -> Result<Self, Unreadable> {
        let (mut vectors, mut length) = (Self::default(), None);
        for (line, written) in jsonl::lines(text)? {
            let bad = |what: String| Unreadable::new(what, FORM).at(line);
            let value: Value = serde_json::from_str(written).map_err(|error| jsonl::bad(&error, line))?;
            let name = |member: &str| value.get(member).and_then(Value::as_str).map(str::to_owned);
            let (of, name) = match (name("tool"), name("case")) {
                (Some(tool), None) => (&mut vectors.tools, tool),
                (None, Some(case)) => (&mut vectors.cases, case),
                _ => return Err(bad("neither `tool` nor `case`, or both".to_owned())),
            };
            let vector = value
                .get("vector")
                .and_then(unit)
                .ok_or_else(|| bad(format!("`vector` is no list of 1 to {MOST_NUMBERS} numbers that are not all 0")))?;
            if *length.get_or_insert(vector.len()) != vector.len() {
                return Err(bad(format!("a vector of {} numbers among others of another length", vector.len())));
            }
            if of.insert(name.clone(), vector).is_some() {
                return Err(bad(format!("a second vector of `{}`", crate::shown_name(&name))));
            }
        }
        Ok(vectors)
    }

    /// The tools without a vector: nothing finds them.
    pub fn missing<'c>(&self, catalogue: &'c Catalogue) -> Vec<&'c str> {
        let names = catalogue.tools().iter().map(|tool| tool.name.as_str());
        names.filter(|name| !self.tools.contains_key(*name)).collect()
    }

    /// The tools by their nearness to a case, the nearest first; `None` where the case has no vector.
    pub(super) fn rank(&self, case: &str, catalogue: &Catalogue) -> Option<Vec<usize>> {
        let asked = self.cases.get(case)?;
        let near = |vector: &Vec<f32>| vector.iter().zip(asked).map(|(a, b)| a * b).sum::<f32>();
        let tools = catalogue.tools().iter().enumerate();
        let mut ranked: Vec<(usize, f32)> =
            tools.filter_map(|(number, tool)| Some((number, near(self.tools.get(&tool.name)?)))).collect();
        ranked.sort_by(|(_, a), (_, b)| b.total_cmp(a));
        Some(ranked.into_iter().map(|(number, _)| number).collect())
    }
}

/// A vector of length 1.
fn unit(value: &Value) -> Option<Vec<f32>> {
    let numbers: Vec<f64> = value.as_array()?.iter().map(Value::as_f64).collect::<Option<_>>()?;
    let length = numbers.iter().map(|number| number * number).sum::<f64>().sqrt();
    let is_usable = (1..=MOST_NUMBERS).contains(&numbers.len()) && length.is_finite() && length > 0.0;
    is_usable.then(|| numbers.iter().map(|number| (number / length) as f32).collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn vectors(lines: &[Value]) -> Result<Vectors, Unreadable> {
        Vectors::read(&lines.iter().map(Value::to_string).collect::<Vec<_>>().join("\n"))
    }

    #[test]
    fn the_smallest_angle_comes_first_whatever_the_lengths() {
        let tools = json!([{ "name": "a", "inputSchema": {} }, { "name": "b", "inputSchema": {} }, { "name": "c", "inputSchema": {} }]);
        let catalogue = Catalogue::read(&tools).expect("tools");
        let vectors = vectors(&[
            json!({ "tool": "a", "vector": [9, 9] }),
            json!({ "tool": "b", "vector": [0.1, 0] }),
            json!({ "case": "x", "vector": [2, 0.2] }),
        ])
        .expect("vectors");
        assert_eq!(vectors.rank("x", &catalogue), Some(vec![1, 0]));
        assert_eq!((vectors.rank("y", &catalogue), vectors.missing(&catalogue)), (None, vec!["c"]));
    }

    #[test]
    fn what_is_no_vector_is_refused_with_its_line() {
        let good = json!({ "tool": "a", "vector": [1, 2] });
        for (bad, what) in [
            (json!({ "vector": [1, 2] }), "neither"),
            (json!({ "tool": "b", "case": "c", "vector": [1, 2] }), "both"),
            (json!({ "tool": "b", "vector": [0, 0] }), "no list"),
            (json!({ "tool": "b", "vector": ["1", 2] }), "no list"),
            (json!({ "tool": "b", "vector": [1e300, 1e300] }), "no list"),
            (json!({ "tool": "b", "vector": [1] }), "another length"),
            (good.clone(), "second vector"),
        ] {
            let error = vectors(&[good.clone(), bad.clone()]).expect_err(what);
            assert!(error.what.contains(what) && error.line == Some(2), "{bad}: {error:?}");
        }
    }
}
