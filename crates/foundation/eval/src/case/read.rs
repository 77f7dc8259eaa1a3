//! Reads a file of cases: its YAML, its shape, then its meaning. Reports all errors at once, with their places.

use std::collections::HashMap;

use document::{FileError, FileErrors, Node, Shape, quoted};
use serde_json::Value;
use wire::pointer;

use super::model::Entry;
use super::{Case, CaseFile, ExpectedCall, Order};
use crate::matcher::Matcher;

/// The shape of a file.
static SHAPE: Shape = Shape::new(
    include_str!("../../../../../docs/eval-case.schema.json"),
    "https://github.com/proofhouse/proofhouse/blob/main/docs/eval.md",
    &["cases"],
);

/// The JSON Schema of case files.
pub fn schema() -> &'static str {
    SHAPE.schema()
}

/// Reads a file of cases from its text; `name` is for messages.
pub fn parse(text: &str, name: &str) -> Result<CaseFile, FileErrors> {
    read(text).map_err(|errors| FileErrors::new(name, errors))
}

fn read(text: &str) -> Result<CaseFile, Vec<FileError>> {
    let (tree, mut errors) = document::read(text).map_err(|error| vec![error])?;
    let mut value = tree.to_value();
    errors.extend(SHAPE.check(&tree, &mut value).errors);
    let mut reader = Reader { tree: &tree, errors, names: HashMap::new() };
    let root = Entry::of(&value);
    let default = root.as_ref().and_then(|root| order(root.text("match")));
    let cases = root.as_ref().map_or(&[][..], |root| root.list("cases")).iter().enumerate();
    let cases = cases.filter_map(|(at, case)| reader.case(case, &format!("/cases/{at}"), default)).collect();
    let tools = root.and_then(|root| root.text("tools").map(str::to_owned));
    if reader.errors.is_empty() { Ok(CaseFile { tools, cases }) } else { Err(reader.errors) }
}

struct Reader<'t> {
    tree: &'t Node,
    errors: Vec<FileError>,
    /// The line in which each name was used first.
    names: HashMap<String, usize>,
}

fn order(name: Option<&str>) -> Option<Order> {
    Order::ALL.into_iter().find(|order| Some(order.as_str()) == name)
}

impl Reader<'_> {
    fn error(&mut self, pointer: &str, what: impl Into<String>, remedy: impl Into<String>) {
        self.errors.push(FileError::new(self.tree.place(pointer), what, remedy));
    }

    fn case(&mut self, value: &Value, pointer: &str, default: Option<Order>) -> Option<Case> {
        let entry = Entry::of(value)?;
        let name = entry.text("name")?.to_owned();
        let at = self.tree.place(pointer);
        if let Some(first) = self.names.insert(name.clone(), at.line) {
            let what = format!("duplicate case name {}", quoted(&name));
            self.error(pointer, what, format!("another `name`; the first use is in line {first}"));
        }
        let expect = self.calls(&entry, pointer)?;
        let order = order(entry.text("match")).or(default).unwrap_or_default();
        let forbid = entry.texts("forbid");
        if let Some(tool) = forbid.iter().find(|tool| expect.iter().any(|call| call.tool == **tool)) {
            let what = format!("{} is expected and forbidden", quoted(tool));
            self.error(&format!("{pointer}/forbid"), what, "leave one of them out");
        }
        if !expect.is_empty() && expect.iter().all(|call| call.is_optional) {
            let what = "every call is optional: an answer without calls would pass";
            self.error(&format!("{pointer}/calls"), what, "a call without `optional`, or `match: subset`");
        }
        let skip = entry.text("skip").map(str::to_owned);
        let prompt = entry.text("prompt").map(str::to_owned);
        Some(Case { name, at, prompt, tags: entry.texts("tags"), skip, expect, order, forbid })
    }

    /// The expected calls: `call`, `calls`, or none with `abstain`.
    fn calls(&mut self, entry: &Entry<'_>, pointer: &str) -> Option<Vec<ExpectedCall>> {
        let ways = [entry.has("call"), entry.has("calls"), entry.is_true("abstain")];
        match ways {
            [true, false, false] => Some(self.call(entry, pointer).into_iter().collect()),
            [false, true, false] => {
                let calls = entry.list("calls").iter().enumerate();
                Some(
                    calls
                        .filter_map(|(at, call)| self.call(&Entry::of(call)?, &format!("{pointer}/calls/{at}")))
                        .collect(),
                )
            }
            [false, false, true] => Some(Vec::new()),
            [false, false, false] => {
                self.error(pointer, "this case expects nothing", "`call`, `calls`, or `abstain: true`");
                None
            }
            _ => {
                self.error(pointer, "this case expects several things", "one of `call`, `calls` and `abstain`");
                None
            }
        }
    }

    fn call(&mut self, entry: &Entry<'_>, at: &str) -> Option<ExpectedCall> {
        let tool = entry.text("call")?.to_owned();
        let mut arguments = Vec::new();
        for (name, value) in entry.members("arguments").into_iter().flatten() {
            let place = format!("{at}/arguments/{}", pointer::escape(name));
            let matcher = Matcher::read(value, &mut |below, what, remedy| {
                self.error(&format!("{place}{below}"), what, remedy);
            });
            arguments.push((name.clone(), matcher));
        }
        let ignores_others = entry.text("others") == Some("ignore");
        Some(ExpectedCall { tool, arguments, is_optional: entry.is_true("optional"), ignores_others })
    }
}
