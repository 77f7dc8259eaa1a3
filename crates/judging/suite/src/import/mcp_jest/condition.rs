//! Converts the conditions of an expectation.

use serde_json::{Value, json};

use super::expression::{self, Condition, Literal, Method, Operator, Predicate};
use super::loosely;
use crate::import::expected::{PathCondition, matcher};
use crate::import::file::Case;
use crate::import::paths;

/// The result that an expectation is about.
pub(super) struct Subject {
    /// The list that `length` and `count` refer to without a path.
    pub(super) items: &'static str,
    /// The path of the text of an item.
    pub(super) text: &'static str,
    /// Whether it is the result of a call.
    pub(super) calls: bool,
}

/// The meaning of a condition.
enum Meaning {
    PathCondition(String, PathCondition),
    Outcome(&'static str),
}

/// Adds an expectation to a case.
pub(super) fn expect(case: &mut Case, text: &str, subject: &Subject) {
    let conditions = expression::read(text);
    // Outcomes come first, because an error has no result.
    let (outcomes, others): (Vec<_>, Vec<_>) = conditions
        .into_iter()
        .map(|condition| (meaning(&condition.predicate, subject), condition))
        .partition(|(meaning, _)| matches!(meaning, Ok(Meaning::Outcome(_))));
    for (meaning, condition) in outcomes.into_iter().chain(others) {
        let done = meaning.and_then(|meaning| match meaning {
            Meaning::PathCondition(path, path_condition) => case.expected.add_condition(&path, path_condition),
            Meaning::Outcome(outcome) if case.expected.outcome.is_some_and(|other| other != outcome) => {
                Err("it contradicts another condition")
            }
            Meaning::Outcome(outcome) => {
                case.expected.expect_outcome(outcome);
                Ok(())
            }
        });
        if let Err(why) = done {
            case.mark_not_imported("expect", format!("{}: {why}", condition.text));
        }
    }
}

/// The count in a condition; `None` if any number above 0 is accepted.
pub(super) fn counted(condition: &Condition) -> Result<Option<PathCondition>, &'static str> {
    let condition = match &condition.predicate {
        Predicate::Exists => return Ok(None),
        Predicate::Compares(path, operator, literal) if matches!(path.as_str(), "count" | "length") => {
            let (least, most) = bounds(*operator, literal)?.ok_or("`!=` has no counterpart for counts")?;
            PathCondition::Count(least, most)
        }
        Predicate::Unknown(why) => return Err(why),
        _ => return Err("a case cannot choose the first matching resource"),
    };
    Ok(Some(condition))
}

fn meaning(predicate: &Predicate, subject: &Subject) -> Result<Meaning, &'static str> {
    Ok(match predicate {
        Predicate::Exists => Meaning::Outcome("ok"),
        Predicate::Unknown(why) => return Err(why),
        Predicate::Contains(part) => {
            let has = paths::search(subject.text, &regex::escape(part)).ok_or("the text is too long")?;
            Meaning::PathCondition(format!("{}[?{has}]", subject.items), PathCondition::Exists)
        }
        Predicate::Truth(path, truth) if is_error(path, subject) => {
            Meaning::Outcome(if *truth { "tool-error" } else { "ok" })
        }
        Predicate::Truth(path, truth) => match length_of(path, subject)? {
            Some(list) if *truth => Meaning::PathCondition(list, PathCondition::Is("length", json!({ "min": 1 }))),
            Some(list) => Meaning::PathCondition(list, PathCondition::Is("length", json!(0))),
            None => Meaning::PathCondition(at(path)?, self::truth(*truth)),
        },
        Predicate::TextMatches(path, method, part) => Meaning::PathCondition(at(path)?, text_condition(*method, part)),
        Predicate::Compares(path, operator, literal) if is_error(path, subject) => error(*operator, literal)?,
        Predicate::Compares(path, operator, literal) => match length_of(path, subject)? {
            Some(list) => Meaning::PathCondition(list, length(*operator, literal)?),
            None => Meaning::PathCondition(at(path)?, compared(*operator, literal)?),
        },
    })
}

fn is_error(path: &str, subject: &Subject) -> bool {
    subject.calls && path == "isError"
}

/// Whether the call failed. A result without `isError` did not.
fn error(operator: Operator, literal: &Literal) -> Result<Meaning, &'static str> {
    let same = match operator {
        Operator::Same | Operator::Equal => true,
        Operator::NotSame | Operator::Unequal => false,
        _ => return Err("booleans have no order"),
    };
    match literal {
        Literal::Value(Value::Bool(wanted)) => Ok(Meaning::Outcome(if *wanted == same { "tool-error" } else { "ok" })),
        Literal::Undefined if same => Ok(Meaning::Outcome("ok")),
        _ => Err("`isError` is true or false"),
    }
}

/// The JSONPath of a dotted path.
fn at(path: &str) -> Result<String, &'static str> {
    if path.starts_with(|c: char| c.is_ascii_digit()) {
        return Err("invalid expression");
    }
    paths::steps(path).map(|steps| format!("${steps}")).ok_or("invalid expression")
}

/// The JSONPath of the list whose length a path refers to.
fn length_of(path: &str, subject: &Subject) -> Result<Option<String>, &'static str> {
    match path {
        "length" | "count" => Ok(Some(subject.items.to_owned())),
        path => path.strip_suffix(".length").map(at).transpose(),
    }
}

/// Whether a value is truthy in JavaScript. A missing one is not.
fn truth(truth: bool) -> PathCondition {
    let falsy = json!({ "anyOf": [null, false, 0, ""] });
    if truth { PathCondition::Is("not", falsy) } else { PathCondition::IfThere("anyOf", falsy["anyOf"].clone()) }
}

fn text_condition(method: Method, part: &str) -> PathCondition {
    match method {
        Method::Includes => PathCondition::Is("contains", matcher(&json!(part))),
        Method::Begins => PathCondition::Is("matches", json!(format!("\\A{}", regex::escape(part)))),
        Method::Ends => PathCondition::Is("matches", json!(format!("{}\\z", regex::escape(part)))),
    }
}

fn compared(operator: Operator, literal: &Literal) -> Result<PathCondition, &'static str> {
    use Operator::{Above, AtLeast, AtMost, Below, Equal, NotSame, Same, Unequal};
    let value = match (operator, literal) {
        (Same | Equal, Literal::Undefined) => return Ok(PathCondition::Absent),
        (NotSame | Unequal, Literal::Undefined) => return Ok(PathCondition::Exists),
        (_, Literal::Undefined) => return Err("`undefined` has no order"),
        (_, Literal::Value(value)) => value,
    };
    let one_of = || match loosely(value).as_slice() {
        [_] => matcher(value),
        several => json!({ "anyOf": several }),
    };
    Ok(match operator {
        Equal if value.is_null() => PathCondition::IfThere("equals", Value::Null),
        Same => PathCondition::Is("equals", document::unfilled(value)),
        Equal => match one_of() {
            Value::Object(several) => PathCondition::Is("anyOf", several["anyOf"].clone()),
            one => PathCondition::Is("equals", one),
        },
        Unequal if value.is_null() => PathCondition::Is("not", json!({ "equals": null })),
        NotSame => PathCondition::IfThere("not", json!({ "equals": document::unfilled(value) })),
        Unequal => {
            PathCondition::IfThere("not", if one_of().is_object() { one_of() } else { json!({ "equals": one_of() }) })
        }
        AtLeast | AtMost | Above | Below if !value.is_number() => return Err("only numbers are compared by size"),
        AtLeast => PathCondition::Is("range", json!({ "min": value })),
        AtMost => PathCondition::Is("range", json!({ "max": value })),
        Above => PathCondition::Beyond("min", value.clone()),
        Below => PathCondition::Beyond("max", value.clone()),
    })
}

/// Minimum and maximum.
type Bounds = (Option<u64>, Option<u64>);

/// The bounds of a whole number; `None` for any number but one.
fn bounds(operator: Operator, literal: &Literal) -> Result<Option<Bounds>, &'static str> {
    const NONE: &str = "impossible size";
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

fn length(operator: Operator, literal: &Literal) -> Result<PathCondition, &'static str> {
    Ok(match (bounds(operator, literal)?, literal) {
        (Some((Some(least), Some(most))), _) if least == most => PathCondition::Is("length", json!(least)),
        (Some((Some(least), _)), _) => PathCondition::Is("length", json!({ "min": least })),
        (Some((None, most)), _) => PathCondition::Is("length", json!({ "max": most })),
        (None, Literal::Value(value)) => PathCondition::IfThere("not", json!({ "length": value })),
        (None, Literal::Undefined) => return Err("a size is a number"),
    })
}
