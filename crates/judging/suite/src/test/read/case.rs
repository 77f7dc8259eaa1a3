//! Reads cases and their requests.

use std::time::Duration;

use document::{Pattern, quoted};
use serde_json::{Value, json};

use super::{Reader, Step};
use crate::test::model;
use crate::test::plan::{Case, RequestTemplate};

/// The keys of requests. A case has one of them.
const REQUESTS: [&str; 6] = ["call", "read", "get", "complete", "list", "raw"];

impl Reader<'_> {
    pub(super) fn cases(
        &mut self,
        cases: Vec<Option<model::CaseEntry>>,
        list: &str,
        before: usize,
        timeout: Option<Duration>,
    ) -> Vec<Case> {
        let cases = cases.into_iter().enumerate();
        cases
            .filter_map(|(at, case)| {
                let mut case = self.case(case?, &format!("{list}/{at}"), Step::Case(before + at))?;
                case.timeout = case.timeout.or(timeout);
                Some(case)
            })
            .collect()
    }

    fn case(&mut self, case: model::CaseEntry, pointer: &str, here: Step) -> Option<Case> {
        self.uses.clear();
        let request = self.request(&case, pointer, here);
        let at = |member: &str| format!("{pointer}/{member}");
        let may_call = request.as_ref().is_none_or(|request| matches!(request, RequestTemplate::Call { .. }));
        let expect = self.expect(case.expect, &at("expect"), here, may_call);
        let mut capture = Vec::new();
        for (name, path) in case.capture {
            capture.extend(self.path(&path, &at(&format!("capture/{name}"))).map(|path| (name, path)));
        }
        let mut volatile = Vec::new();
        for (index, path) in case.volatile.iter().enumerate() {
            volatile.extend(self.path(path, &at(&format!("volatile/{index}"))));
        }
        let answers = case.answers.map(|answers| self.answers(answers, &at("answers")));
        if case.independent && (!capture.is_empty() || answers.is_some()) {
            self.error(
                &at("independent"),
                "a case with `capture` or `answers` is not independent",
                "remove `independent`",
            );
        }
        if case.skip.is_some() && !capture.is_empty() {
            self.error(&at("skip"), "a skipped case captures a variable", "skip the cases that use it instead");
        }
        // Last, so that the rest of a case without a valid request is checked, too.
        let request = request?;
        Some(Case {
            name: case.name.unwrap_or_else(|| self.title(&request)),
            at: self.tree.place(pointer),
            request,
            expect,
            capture,
            volatile,
            answers,
            revisions: case.revisions.iter().filter_map(|name| name.parse().ok()).collect(),
            timeout: case.timeout.map(|text| self.time(&text, &at("timeout"))),
            tags: case.tags,
            skip: case.skip,
            only: case.only,
            xfail: case.xfail,
            repeat: case.repeat.unwrap_or(1),
            independent: case.independent,
            must_be_listed: false,
            uses: std::mem::take(&mut self.uses),
        })
    }

    fn request(&mut self, case: &model::CaseEntry, pointer: &str, here: Step) -> Option<RequestTemplate> {
        let there = [
            case.call.is_some(),
            case.read.is_some(),
            case.get.is_some(),
            case.complete.is_some(),
            case.list.is_some(),
            case.raw.is_some(),
        ];
        let named: Vec<&str> =
            REQUESTS.into_iter().zip(there).filter_map(|(name, there)| there.then_some(name)).collect();
        let [named] = named.as_slice() else {
            if named.is_empty() && self.lost.contains(pointer) {
                return None;
            }
            let all = REQUESTS.map(|name| format!("`{name}`")).join(", ");
            let what = match named.as_slice() {
                [] => "this case has no request".to_owned(),
                several => format!("this case has several requests: {}", several.join(", ")),
            };
            self.error(pointer, what, format!("one of {all}"));
            return None;
        };
        if case.arguments.is_some() && !matches!(*named, "call" | "get") {
            self.error(&format!("{pointer}/arguments"), format!("`{named}` has no `arguments`"), "`params` with `raw`");
        }
        if case.params.is_some() && *named != "raw" {
            self.error(&format!("{pointer}/params"), format!("`{named}` has no `params`"), "`arguments`");
        }
        let at = format!("{pointer}/{named}");
        let arguments = case.arguments.clone().unwrap_or_else(|| json!({}));
        let arguments = self.filled(&arguments, &format!("{pointer}/arguments"), here);
        let text =
            |reader: &mut Self, text: &Option<String>| reader.pattern(text.as_deref().unwrap_or_default(), &at, here);
        Some(match *named {
            "call" => RequestTemplate::Call { tool: text(self, &case.call)?, arguments },
            "read" => RequestTemplate::Read(text(self, &case.read)?),
            "get" => RequestTemplate::Get { prompt: text(self, &case.get)?, arguments },
            "complete" => self.complete(case.complete.as_ref()?, &at, here)?,
            "list" => RequestTemplate::List(case.list?),
            _ => {
                let method = case.raw.clone().unwrap_or_default();
                if method.starts_with("notifications/") || method == "initialize" {
                    self.error(&at, format!("{} cannot be sent by a case", quoted(&method)), "the method of a request");
                }
                let params = case.params.clone().unwrap_or_else(|| json!({}));
                RequestTemplate::Raw { method, params: self.filled(&params, &format!("{pointer}/params"), here) }
            }
        })
    }

    fn complete(&mut self, complete: &model::Complete, pointer: &str, here: Step) -> Option<RequestTemplate> {
        let reference = match (&complete.prompt, &complete.template) {
            (Some(prompt), None) => json!({ "type": "ref/prompt", "name": prompt }),
            (None, Some(template)) => json!({ "type": "ref/resource", "uri": template }),
            _ => {
                self.error(pointer, "`complete` needs either a `prompt` or a `template`", "one of them");
                return None;
            }
        };
        Some(RequestTemplate::Complete {
            reference: self.filled(&reference, pointer, here),
            argument: complete.argument.clone(),
            value: self.pattern(&complete.value, &format!("{pointer}/value"), here)?,
            known: self.filled(&Value::Object(complete.known.clone()), &format!("{pointer}/known"), here),
        })
    }

    /// The name of a case without one.
    fn title(&mut self, request: &RequestTemplate) -> String {
        let title = title(request);
        let times = self.titles.entry(title.clone()).or_default();
        *times += 1;
        if *times > 1 { format!("{title} ({times})") } else { title }
    }
}

/// A short description of a request.
fn title(request: &RequestTemplate) -> String {
    let text = |pattern: &Pattern| pattern.fixed().unwrap_or_else(|| "…".to_owned());
    match request {
        RequestTemplate::Call { tool, .. } => format!("call {}", text(tool)),
        RequestTemplate::Read(uri) => format!("read {}", text(uri)),
        RequestTemplate::Get { prompt, .. } => format!("get {}", text(prompt)),
        RequestTemplate::Complete { argument, .. } => format!("complete {argument}"),
        RequestTemplate::List(list) => format!("list {list:?}").to_lowercase(),
        RequestTemplate::Raw { method, .. } => method.clone(),
    }
}
