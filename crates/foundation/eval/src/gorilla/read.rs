//! The files of APIBench: APIs, questions, responses. One JSON object a line.

use serde_json::Value;

use super::{Api, Apis, Hub, call};
use crate::import::Unreadable;
use crate::jsonl;

/// What a model answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Response {
    /// The number of the question, counted from 1.
    pub question: usize,
    /// The answer; responses without one count as errors.
    pub text: Option<String>,
}

/// Reads `data/api/…_api.jsonl`.
pub fn apis(text: &str) -> Result<Apis, Unreadable> {
    let mut read = Vec::new();
    for (line, value) in jsonl::values(text)? {
        let member = |name: &str| {
            let refuse = || Unreadable::new(format!("no `{name}`"), "a file of data/api of APIBench").at(line);
            value.get(name).and_then(Value::as_str).ok_or_else(refuse).map(str::to_owned)
        };
        read.push((member("api_call")?, member("domain")?));
    }
    let all = read.len();
    let begins = |text: &str| read.iter().filter(|(call, _)| call.contains(text)).count() * 2 > all;
    let hub = if begins("torch.hub.load(") {
        Hub::Torch
    } else if begins("hub.") {
        Hub::TensorFlow
    } else {
        Hub::HuggingFace
    };
    let matchable: Vec<Api> = read.into_iter().filter_map(|(call, domain)| api(hub, &call, domain)).collect();
    Ok(Apis { hub, unmatchable: all - matchable.len(), matchable })
}

fn api(hub: Hub, text: &str, domain: String) -> Option<Api> {
    let (callee, arguments) = call::parts(text.trim())?;
    let identifying = |argument: &&str| {
        let named = call::value(argument);
        match hub {
            Hub::Torch => {
                let (_, value) = named.filter(|_| argument.contains("repo_or_dir") || argument.contains("model"))?;
                Some(value.to_owned())
            }
            Hub::TensorFlow => {
                Some(named.filter(|(name, _)| name.ends_with("model")).map_or(*argument, |(_, value)| value).to_owned())
            }
            Hub::HuggingFace => Some(named.map_or(*argument, |(_, value)| value).to_owned()),
        }
    };
    let arguments: Vec<String> =
        arguments.iter().filter_map(identifying).map(|argument| argument.trim_matches('\'').to_owned()).collect();
    (!arguments.is_empty()).then(|| Api { callee: callee.to_owned(), arguments, domain })
}

/// Reads the domains of the questions in `data/apibench/…_eval.json`, in order.
pub fn questions(text: &str) -> Result<Vec<String>, Unreadable> {
    let domain = |(line, value): (usize, Value)| {
        let refuse =
            || Unreadable::new("no `domain` in `api_data`", "a file …_eval.json of data/apibench of APIBench").at(line);
        value.pointer("/api_data/domain").and_then(Value::as_str).map(str::to_owned).ok_or_else(refuse)
    };
    jsonl::values(text)?.into_iter().map(domain).collect()
}

/// Reads responses to a number of questions.
pub fn responses(text: &str, questions: usize) -> Result<Vec<Response>, Unreadable> {
    let response = |(line, value): (usize, Value)| {
        let refuse = |what: String, remedy: &str| Unreadable::new(what, remedy).at(line);
        let number = value.get("question_id").and_then(Value::as_u64).and_then(|number| usize::try_from(number).ok());
        let question =
            number.ok_or_else(|| refuse("no `question_id`".to_owned(), "a file of responses of APIBench"))?;
        if !(1..=questions).contains(&question) {
            let what = format!("question {question} does not exist: there are {questions}");
            return Err(refuse(what, "the questions of the same hub"));
        }
        Ok(Response { question, text: value.get("text").and_then(Value::as_str).map(str::to_owned) })
    };
    jsonl::values(text)?.into_iter().map(response).collect()
}
