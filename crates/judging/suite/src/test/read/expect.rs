//! Reads what a case expects, and how it answers the server's requests.

use client::Given;
use document::{FileError, nearest};
use serde_json::{Map, Value, json};
use wire::pointer;

use super::{Reader, Step};
use crate::test::matcher::{At, Matcher};
use crate::test::model;
use crate::test::plan::{Expect, Outcome, PathExpectation, Snapshot};
use crate::test::scripted::{Consent, Scripted};

/// The outcomes of a case whose expectation `fails` (has an error's code or message) or `has_result`, and which `calls` a tool.
const fn allowed(fails: bool, calls: bool, has_result: bool) -> &'static [&'static str] {
    match (fails, calls, has_result) {
        (true, ..) => &["error"],
        (false, true, true) => &["ok", "tool-error"],
        (false, false, true) => &["ok"],
        (false, true, false) => &["ok", "tool-error", "error", "refused"],
        (false, false, false) => &["ok", "error", "refused"],
    }
}

impl Reader<'_> {
    pub(super) fn expect(&mut self, expect: model::Expect, pointer: &str, here: Step, calls: bool) -> Expect {
        let at = |member: &str| format!("{pointer}/{member}");
        let model::Expect { outcome, code, status, message, latency, progress, notifications, snapshot, at: paths } =
            expect;
        let fails = code.is_some() || message.is_some();
        let snapshot = snapshot.and_then(|value| self.snapshot(&value, &at("snapshot")));
        if outcome.is_none() {
            let has_result = !paths.is_empty() || snapshot.is_some();
            self.advise_outcome(&at("outcome"), allowed(fails, calls, has_result));
        }
        let outcome = match outcome {
            None if fails => Some(Outcome::Error),
            None if status.is_some() && paths.is_empty() && snapshot.is_none() => None,
            None => Some(Outcome::Ok),
            Some(outcome) => {
                if fails && outcome != Outcome::Error {
                    let what = "only a JSON-RPC error has a `code` and a `message`";
                    self.error(&at("outcome"), what, "`outcome: error`, or a path into the result");
                }
                Some(outcome)
            }
        };
        if outcome == Some(Outcome::ToolError) && !calls {
            self.error(&at("outcome"), "only a `call` has a tool error", "`error`");
        }
        let places: Vec<PathExpectation> = paths
            .into_iter()
            .filter_map(|(text, value)| {
                let pointer = pointer::member(pointer, &text);
                let path = self.path(&text, &pointer)?;
                let mut wrongs = Vec::new();
                let matcher = At::read(&value, &mut |below, wrong| wrongs.push((below.to_owned(), wrong)));
                self.wrongs(&pointer, wrongs);
                self.check_variables(matcher.each.names(), &pointer, here);
                Some(PathExpectation { text, path, matcher, at: self.tree.place(&pointer) })
            })
            .collect();
        if matches!(outcome, Some(Outcome::Error | Outcome::Refused)) && (!places.is_empty() || snapshot.is_some()) {
            let what = "an error has no result";
            self.error(pointer, what, "`code` and `message`, or another `outcome`");
        }
        let message = message.map(|value| {
            let mut wrongs = Vec::new();
            let matcher = Matcher::read(&value, &mut |below, wrong| wrongs.push((below.to_owned(), wrong)));
            self.wrongs(&at("message"), wrongs);
            self.check_variables(matcher.names(), &at("message"), here);
            (matcher, self.tree.place(&at("message")))
        });
        let latency = latency.map(|text| self.time(&text, &at("latency")));
        Expect { outcome, code, status, message, latency, progress, notifications, snapshot, at: places }
    }

    /// Where an invalid `outcome` was left out: which of the `allowed` may stand there, so that the next pass accepts it.
    fn advise_outcome(&mut self, pointer: &str, allowed: &[&str]) {
        let place = self.tree.place(pointer);
        let is_its = |error: &&mut FileError| error.at == Some(place) && error.what.starts_with("`outcome` ");
        let Some(error) = self.errors.iter_mut().find(is_its) else { return };
        match allowed {
            ["error"] => "`error`: only a JSON-RPC error has a `code` and a `message`".clone_into(&mut error.remedy),
            allowed if allowed.iter().any(|name| error.remedy == format!("`{name}`")) => {}
            allowed => error.remedy = nearest("", allowed.iter().copied()),
        }
    }

    /// `true`, a name, or a mapping with `name` and `of`.
    fn snapshot(&mut self, value: &Value, pointer: &str) -> Option<Snapshot> {
        match value {
            Value::Bool(false) => None,
            Value::String(name) => Some(Snapshot { name: Some(name.clone()), of: Vec::new() }),
            value => {
                let name = value.get("name").and_then(Value::as_str).map(str::to_owned);
                let mut of = Vec::new();
                for (at, text) in value.get("of").and_then(Value::as_array).into_iter().flatten().enumerate() {
                    let text = text.as_str().unwrap_or_default();
                    of.extend(self.path(text, &format!("{pointer}/of/{at}")).map(|path| (text.to_owned(), path)));
                }
                Some(Snapshot { name, of })
            }
        }
    }

    pub(super) fn answers(&mut self, answers: model::Answers, pointer: &str) -> Scripted {
        let consent = |answer: model::UrlAnswer| match answer {
            model::UrlAnswer::Accept => Consent::Accept,
            model::UrlAnswer::Decline => Consent::Decline,
            model::UrlAnswer::Cancel => Consent::Cancel,
        };
        let mut scripted = Scripted {
            consent: answers.url.map(consent),
            model_text: answers.say,
            roots: answers.roots.map(|roots| roots.into_iter().map(|uri| json!({ "uri": uri })).collect()),
            ..Scripted::default()
        };
        let (form, fields) = match answers.form {
            None => return scripted,
            Some(Value::String(answer)) if answer == "decline" => (Consent::Decline, Map::new()),
            Some(Value::String(answer)) if answer == "cancel" => (Consent::Cancel, Map::new()),
            Some(Value::Object(fields)) => (Consent::Accept, fields),
            Some(_) => {
                self.error(&format!("{pointer}/form"), "invalid `form`", "decline, cancel, or a mapping of fields");
                return scripted;
            }
        };
        if scripted.consent.is_some_and(|consent| consent != form) {
            let what = "a case cannot accept forms and decline URLs, or the other way round";
            self.error(pointer, what, "use two cases");
        }
        scripted.consent = Some(form);
        scripted.fields = fields.into_iter().map(|(name, value)| (name, Given::Json(value))).collect();
        scripted
    }
}
