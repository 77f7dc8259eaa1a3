//! What the conditions of an expectation are in a test file.

use serde_json::{Value, json};

use super::expression::{self, Condition, Literal, Method, Operator, Said};
use super::loosely;
use crate::import::expected::{Demand, matcher};
use crate::import::file::Case;
use crate::import::paths;

/// What an expectation is about.
pub(super) struct Whole {
    /// The list in the result: what `length` and `count` count where no path is named.
    pub(super) items: &'static str,
    /// Where the text of one of its items is.
    pub(super) text: &'static str,
    /// Whether it is the result of a call.
    pub(super) calls: bool,
}

/// What a condition comes to.
enum Means {
    Demand(String, Demand),
    Outcome(&'static str),
}

/// Puts an expectation into a case.
pub(super) fn expect(case: &mut Case, text: &str, whole: &Whole) {
    let conditions = expression::read(text);
    // How it ends comes first: an error has no result to look into.
    let (outcomes, others): (Vec<_>, Vec<_>) = conditions
        .into_iter()
        .map(|condition| (means(&condition.said, whole), condition))
        .partition(|(means, _)| matches!(means, Ok(Means::Outcome(_))));
    for (means, condition) in outcomes.into_iter().chain(others) {
        let done = means.and_then(|means| match means {
            Means::Demand(path, demand) => case.expected.demand(&path, demand),
            Means::Outcome(outcome) if case.expected.outcome.is_some_and(|other| other != outcome) => {
                Err("it contradicts another condition")
            }
            Means::Outcome(outcome) => {
                case.expected.ends(outcome);
                Ok(())
            }
        });
        if let Err(why) = done {
            case.leave("expect", format!("{}: {why}", condition.text));
        }
    }
}

/// How many of something a condition admits; `None` where there has to be something at all.
pub(super) fn counted(condition: &Condition) -> Result<Option<Demand>, &'static str> {
    let demand = match &condition.said {
        Said::Exists => return Ok(None),
        Said::Compares(path, operator, literal) if matches!(path.as_str(), "count" | "length") => {
            let (least, most) = bounds(*operator, literal)?.ok_or("a count may not be anything but one number")?;
            Demand::Count(least, most)
        }
        Said::Unknown(why) => return Err(why),
        _ => return Err("it is about the first resource that fits, which a case cannot choose"),
    };
    Ok(Some(demand))
}

fn means(said: &Said, whole: &Whole) -> Result<Means, &'static str> {
    Ok(match said {
        Said::Exists => Means::Outcome("ok"),
        Said::Unknown(why) => return Err(why),
        Said::Contains(part) => {
            let has = paths::search(whole.text, &regex::escape(part)).ok_or("the text is too long")?;
            Means::Demand(format!("{}[?{has}]", whole.items), Demand::Exists)
        }
        Said::Truth(path, truth) if is_error(path, whole) => Means::Outcome(if *truth { "tool-error" } else { "ok" }),
        Said::Truth(path, truth) => match length_of(path, whole)? {
            Some(list) if *truth => Means::Demand(list, Demand::Is("length", json!({ "min": 1 }))),
            Some(list) => Means::Demand(list, Demand::Is("length", json!(0))),
            None => Means::Demand(at(path)?, self::truth(*truth)),
        },
        Said::Asks(path, method, part) => Means::Demand(at(path)?, asked(*method, part)),
        Said::Compares(path, operator, literal) if is_error(path, whole) => error(*operator, literal)?,
        Said::Compares(path, operator, literal) => match length_of(path, whole)? {
            Some(list) => Means::Demand(list, length(*operator, literal)?),
            None => Means::Demand(at(path)?, compared(*operator, literal)?),
        },
    })
}

fn is_error(path: &str, whole: &Whole) -> bool {
    whole.calls && path == "isError"
}

/// Whether the call failed. A result that says nothing of it did not.
fn error(operator: Operator, literal: &Literal) -> Result<Means, &'static str> {
    let same = match operator {
        Operator::Same | Operator::Equal => true,
        Operator::NotSame | Operator::Unequal => false,
        _ => return Err("what is true or false has no order"),
    };
    match literal {
        Literal::Value(Value::Bool(wanted)) => Ok(Means::Outcome(if *wanted == same { "tool-error" } else { "ok" })),
        Literal::Undefined if same => Ok(Means::Outcome("ok")),
        _ => Err("`isError` is true or false"),
    }
}

/// The path to what a dotted path leads to.
fn at(path: &str) -> Result<String, &'static str> {
    if path.starts_with(|c: char| c.is_ascii_digit()) {
        return Err("it cannot be read");
    }
    paths::steps(path).map(|steps| format!("${steps}")).ok_or("it cannot be read")
}

/// The path to that whose length a path is, where it is one.
fn length_of(path: &str, whole: &Whole) -> Result<Option<String>, &'static str> {
    match path {
        "length" | "count" => Ok(Some(whole.items.to_owned())),
        path => path.strip_suffix(".length").map(at).transpose(),
    }
}

/// What counts as true in JavaScript, or not: what is not there does not.
fn truth(truth: bool) -> Demand {
    let falsy = json!({ "anyOf": [null, false, 0, ""] });
    if truth { Demand::Is("not", falsy) } else { Demand::IfThere("anyOf", falsy["anyOf"].clone()) }
}

fn asked(method: Method, part: &str) -> Demand {
    match method {
        Method::Includes => Demand::Is("contains", matcher(&json!(part))),
        Method::Begins => Demand::Is("matches", json!(format!("\\A{}", regex::escape(part)))),
        Method::Ends => Demand::Is("matches", json!(format!("{}\\z", regex::escape(part)))),
    }
}

fn compared(operator: Operator, literal: &Literal) -> Result<Demand, &'static str> {
    use Operator::{Above, AtLeast, AtMost, Below, Equal, NotSame, Same, Unequal};
    let value = match (operator, literal) {
        (Same | Equal, Literal::Undefined) => return Ok(Demand::Absent),
        (NotSame | Unequal, Literal::Undefined) => return Ok(Demand::Exists),
        (_, Literal::Undefined) => return Err("what is not defined has no order"),
        (_, Literal::Value(value)) => value,
    };
    let one_of = || match loosely(value).as_slice() {
        [_] => matcher(value),
        several => json!({ "anyOf": several }),
    };
    Ok(match operator {
        Equal if value.is_null() => Demand::IfThere("equals", Value::Null),
        Same => Demand::Is("equals", document::unfilled(value)),
        Equal => match one_of() {
            Value::Object(several) => Demand::Is("anyOf", several["anyOf"].clone()),
            one => Demand::Is("equals", one),
        },
        Unequal if value.is_null() => Demand::Is("not", json!({ "equals": null })),
        NotSame => Demand::IfThere("not", json!({ "equals": document::unfilled(value) })),
        Unequal => Demand::IfThere("not", if one_of().is_object() { one_of() } else { json!({ "equals": one_of() }) }),
        AtLeast | AtMost | Above | Below if !value.is_number() => return Err("only numbers are compared by size"),
        AtLeast => Demand::Is("range", json!({ "min": value })),
        AtMost => Demand::Is("range", json!({ "max": value })),
        Above => Demand::Beyond("min", value.clone()),
        Below => Demand::Beyond("max", value.clone()),
    })
}

/// At least, at most.
type Bounds = (Option<u64>, Option<u64>);

/// The bounds of a whole number; `None` where it may be any but one.
fn bounds(operator: Operator, literal: &Literal) -> Result<Option<Bounds>, &'static str> {
    const NONE: &str = "nothing is of such a size";
    let Literal::Value(value) = literal else { return Err("a size is a number") };
    let n = value.as_u64().ok_or("a size is a whole number")?;
    Ok(match operator {
        Operator::Same | Operator::Equal => Some((Some(n), Some(n))),
        Operator::NotSame | Operator::Unequal => None,
        Operator::AtLeast => Some((Some(n), None)),
        Operator::Above => Some((Some(n.checked_add(1).ok_or(NONE)?), None)),
        Operator::AtMost => Some((None, Some(n))),
        Operator::Below => Some((None, Some(n.checked_sub(1).ok_or(NONE)?))),
    })
}

fn length(operator: Operator, literal: &Literal) -> Result<Demand, &'static str> {
    Ok(match (bounds(operator, literal)?, literal) {
        (Some((Some(least), Some(most))), _) if least == most => Demand::Is("length", json!(least)),
        (Some((Some(least), _)), _) => Demand::Is("length", json!({ "min": least })),
        (Some((None, most)), _) => Demand::Is("length", json!({ "max": most })),
        (None, Literal::Value(value)) => Demand::IfThere("not", json!({ "length": value })),
        (None, Literal::Undefined) => return Err("a size is a number"),
    })
}
