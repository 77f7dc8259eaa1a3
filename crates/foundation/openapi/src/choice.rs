//! Which operations become tools: by tag, path, method or name. What the description itself refuses (`x-mcp: false`) is never one.

mod glob;
pub mod overlay;

use std::fmt::{self, Display, Formatter};

use serde_json::{Map, Value};

use crate::model::Method;

/// What a choice looks at.
#[derive(Clone, Debug)]
pub struct Head {
    /// Where the operation is: a JSON pointer into the description.
    pub at: String,
    /// How it is requested.
    pub method: Method,
    /// The template of its path.
    pub path: String,
    /// `operationId`, or the name that `x-mcp` or `x-speakeasy-mcp` gives it.
    pub id: Option<String>,
    /// Its tags.
    pub tags: Vec<String>,
    /// Whether it should not be used any more.
    pub deprecated: bool,
    /// What `x-mcp` or `x-speakeasy-mcp` says: of the operation, else of its path, else of the whole.
    pub opinion: Option<bool>,
}

/// Which operations become tools. Lists that are empty choose everything; an operation must be in all the others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Choice {
    /// Tags, of which it has one.
    pub tags: Vec<String>,
    /// Patterns, of which its path fits one: `*` is part of a segment, `**` any number of segments.
    pub paths: Vec<String>,
    /// Methods, of which it has one.
    pub methods: Vec<Method>,
    /// Operations by `operationId` or as `GET /pets`. They are chosen whatever the lists before say, and deprecated ones too.
    pub operations: Vec<String>,
    /// Tags of which it has none.
    pub without_tags: Vec<String>,
    /// Patterns of which its path fits none.
    pub without_paths: Vec<String>,
    /// Whether deprecated operations are chosen.
    pub deprecated: bool,
}

/// A part of a choice that fits nothing in the description: a slip.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unmatched {
    /// What kind of part: `tag`, `path`, `operation`.
    pub kind: &'static str,
    /// What was given.
    pub given: String,
    /// What comes nearest.
    pub nearest: Option<String>,
}

impl Display for Unmatched {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self { kind, given, nearest } = self;
        write!(f, "no operation has the {kind} `{}` – the choice of operations – try ", wire::escape::line(given))?;
        match nearest {
            Some(nearest) => f.write_str(&wire::escape::line(nearest)),
            None => f.write_str("another one, or leave it out"),
        }
    }
}

impl Choice {
    /// Every operation that the description does not refuse, deprecated ones too.
    pub fn everything() -> Self {
        Self { deprecated: true, ..Self::default() }
    }

    /// Whether an operation is chosen. `Err` says why it is not.
    pub fn picks(&self, head: &Head) -> Result<(), String> {
        if head.opinion == Some(false) {
            return Err("the description says so (`x-mcp`)".to_owned());
        }
        if let Some(tag) = self.without_tags.iter().find(|tag| head.tags.contains(*tag)) {
            return Err(format!("its tag `{}` is left out", wire::escape::line(tag)));
        }
        if let Some(pattern) = self.without_paths.iter().find(|pattern| glob::fits(pattern, &head.path)) {
            return Err(format!("its path fits `{}`, which is left out", wire::escape::line(pattern)));
        }
        if self.operations.iter().any(|one| is_named(head, one)) {
            return Ok(());
        }
        let only_listed = self.tags.is_empty() && self.paths.is_empty() && self.methods.is_empty();
        if only_listed && !self.operations.is_empty() {
            return Err("it is not in the list of operations".to_owned());
        }
        self.filters(head)
    }

    fn filters(&self, head: &Head) -> Result<(), String> {
        let refused = |why: &str| Err(why.to_owned());
        if !self.tags.is_empty() && !self.tags.iter().any(|tag| head.tags.contains(tag)) {
            return refused("it has none of the chosen tags");
        }
        if !self.paths.is_empty() && !self.paths.iter().any(|pattern| glob::fits(pattern, &head.path)) {
            return refused("its path fits none of the chosen patterns");
        }
        if !self.methods.is_empty() && !self.methods.contains(&head.method) {
            return refused("its method is not chosen");
        }
        // An operation that the description itself puts forward is chosen in any case.
        if head.deprecated && !self.deprecated && head.opinion != Some(true) {
            return refused("it is deprecated");
        }
        Ok(())
    }

    /// What of the choice fits no operation.
    pub fn unmatched(&self, heads: &[&Head]) -> Vec<Unmatched> {
        let mut unmatched = Vec::new();
        let tags = || heads.iter().flat_map(|head| head.tags.iter().map(String::as_str));
        for tag in self.tags.iter().chain(&self.without_tags).filter(|tag| !tags().any(|known| known == **tag)) {
            unmatched.push(Unmatched { kind: "tag", given: tag.clone(), nearest: nearest(tag, tags()) });
        }
        for path in self.paths.iter().chain(&self.without_paths) {
            if !heads.iter().any(|head| glob::fits(path, &head.path)) {
                let nearest = nearest(path, heads.iter().map(|head| head.path.as_str()));
                unmatched.push(Unmatched { kind: "path", given: path.clone(), nearest });
            }
        }
        for one in self.operations.iter().filter(|one| !heads.iter().any(|head| is_named(head, one))) {
            let ids = heads.iter().filter_map(|head| head.id.as_deref());
            unmatched.push(Unmatched { kind: "operation", given: one.clone(), nearest: nearest(one, ids) });
        }
        unmatched
    }

    /// What `x-mcp` or `x-speakeasy-mcp` says: a flag, or an object with `disabled` or `enabled`.
    pub(crate) fn opinion(members: &Map<String, Value>) -> Option<bool> {
        ["x-mcp", "x-speakeasy-mcp"].iter().find_map(|name| match members.get(*name)? {
            Value::Bool(flag) => Some(*flag),
            Value::Object(more) => {
                let flag = |name: &str| more.get(name).and_then(Value::as_bool);
                flag("enabled").or_else(|| flag("disabled").map(|disabled| !disabled))
            }
            _ => None,
        })
    }
}

fn is_named(head: &Head, name: &str) -> bool {
    if head.id.as_deref() == Some(name) {
        return true;
    }
    let Some((method, path)) = name.split_once(' ') else { return false };
    method.eq_ignore_ascii_case(head.method.as_str()) && path.trim() == head.path
}

fn nearest<'n>(given: &str, known: impl Iterator<Item = &'n str>) -> Option<String> {
    let mut distinct: Vec<&str> = known.take(20_000).collect();
    distinct.sort_unstable();
    distinct.dedup();
    // Without one that is near, all are listed: of many that is no help.
    Some(document::nearest(given, distinct.into_iter())).filter(|text| text.len() <= 200)
}

#[cfg(test)]
#[path = "choice_tests.rs"]
mod tests;
