//! The model that a verb asks: where it is, what every request has, what it costs, and what to do if it does not answer.

use std::path::{Path, PathBuf};

use agent::{Advice, Dialect, EndpointError, Limits, Options, Price, RESERVED, Stop};
use serde_json::{Map, Value};
use url::Position;
use wire::escape::{line, snippet};
use wire::redact::Secrets;

use super::files::unreadable;
use super::tell_error;
use crate::args::eval::endpoint::{BudgetArgs, DialectArg, EndpointArgs};
use crate::exit::{Exit, usage};
use crate::verb::{given_file, output};

/// How large a file of prices may be, in bytes.
const LIMIT: u64 = 4 << 20;

/// Parameters of endpoints' URLs that hold no key: dates and names that also occur in answers.
const PLAIN: [&str; 6] = ["api-version", "version", "model", "deployment", "region", "project"];

/// The model, and how it is asked.
pub(in crate::verb) struct Model {
    pub(in crate::verb) dialect: Dialect,
    pub(in crate::verb) endpoint: Options,
    pub(in crate::verb) price: Option<Price>,
    pub(in crate::verb) limits: Limits,
    pub(in crate::verb) name: String,
    pub(in crate::verb) parameters: Map<String, Value>,
}

impl Model {
    /// Reads the options; asks nothing yet. `set` is the option for members of every request.
    pub(in crate::verb) fn new(
        of: &EndpointArgs,
        budget: &BudgetArgs,
        ca: Option<PathBuf>,
        set: &str,
    ) -> Result<Self, Exit> {
        let (Some(url), Some(api), Some(name)) = (&of.endpoint, of.api, &of.model) else {
            return Err(usage("no endpoint", "--endpoint URL --api API --model NAME"));
        };
        let dialect = match api {
            DialectArg::Responses => Dialect::Responses,
            DialectArg::Chat => Dialect::Chat,
            DialectArg::Messages => Dialect::Messages,
        };
        let key = of.key_env.as_deref().map(key).transpose()?;
        let price = price(budget, name)?;
        if budget.max_cost.is_some() && price.is_none() {
            return Err(usage(
                "--max-cost needs prices",
                "--price IN,OUT in dollars per million tokens, or --prices FILE",
            ));
        }
        let endpoint = Options {
            url: url.clone(),
            dialect,
            key,
            ca,
            allows_plain_http: of.allow_plain_http,
            timeout: of.answer_timeout,
            retries: of.retries,
        };
        let limits = Limits { cost: budget.max_cost, tokens: budget.max_tokens };
        Ok(Self { dialect, endpoint, price, limits, name: name.clone(), parameters: parameters(&of.set, set)? })
    }

    /// Where the endpoint is, for a message: without what may hold a key.
    pub(in crate::verb) fn place(&self) -> String {
        line(&self.endpoint.url[..Position::AfterPath]).into_owned()
    }

    /// Adds the key, and what stands in the query of the endpoint's URL: its names are those of the endpoint.
    pub(in crate::verb) fn add_secrets(&self, secrets: &mut Secrets) {
        if let Some(key) = &self.endpoint.key {
            secrets.add(key);
        }
        let url = &self.endpoint.url;
        secrets.address(url.as_str());
        for (name, value) in url.query_pairs() {
            if !PLAIN.contains(&name.as_ref()) {
                secrets.add(if value.is_empty() { &name } else { &value });
            }
        }
    }
}

fn key(variable: &str) -> Result<String, Exit> {
    let key = std::env::var(variable).unwrap_or_default();
    let key = key.trim();
    if key.is_empty() {
        let what = format!("environment variable {} is not set", line(variable));
        return Err(usage(&what, "export it, then run the command again"));
    }
    if key.chars().any(|c| c.is_control() || !c.is_ascii()) {
        return Err(usage(&format!("the value of {} is not valid in a header", line(variable)), "a key of one line"));
    }
    Ok(key.to_owned())
}

/// Members for every request: JSON, or else a text.
fn parameters(pairs: &[String], option: &str) -> Result<Map<String, Value>, Exit> {
    let mut parameters = Map::new();
    for pair in pairs {
        let Some((name, value)) = pair.split_once('=').filter(|(name, _)| !name.is_empty()) else {
            let what = format!("invalid {option}: expected NAME=JSON");
            return Err(usage(&what, &format!("{option} temperature=0")));
        };
        if RESERVED.contains(&name) {
            let what = format!("{option} {}: proof sets this member itself", line(name));
            return Err(usage(&what, "the option for it: --model, --system, --stream, --tool-choice, --no-parallel"));
        }
        let value = serde_json::from_str(value).unwrap_or_else(|_| Value::String(value.to_owned()));
        parameters.insert(name.to_owned(), value);
    }
    Ok(parameters)
}

/// Prices of the command line, or of the model in a file.
fn price(args: &BudgetArgs, model: &str) -> Result<Option<Price>, Exit> {
    if let Some(text) = &args.price {
        let numbers: Option<Vec<f64>> = text.split(',').map(|one| amount(one.trim().parse().ok()?)).collect();
        return match numbers.as_deref() {
            Some(&[input, output]) => Ok(Some(Price { input, cached: input, output })),
            Some(&[input, output, cached]) => Ok(Some(Price { input, cached, output })),
            _ => Err(usage("invalid --price: expected IN,OUT or IN,OUT,CACHED", "--price 3,15")),
        };
    }
    let Some(path) = &args.prices else { return Ok(None) };
    let text = given_file::text(path, LIMIT).map_err(|error| unreadable(path, &error.to_string()))?;
    let remedy = "{\"MODEL\": {\"input\": 3, \"output\": 15, \"cached\": 0.3}}, in dollars per million tokens";
    let bad = |what: &str| usage(&format!("{what} – {}", output::shown(path)), remedy);
    let file: Value = serde_json::from_str(&text).map_err(|error| bad(&line(&error.to_string())))?;
    let of = file.get(model).ok_or_else(|| bad(&format!("no prices of `{}`", snippet(model, 60))))?;
    let number = |name: &str| of.get(name).and_then(Value::as_f64).and_then(amount);
    let (Some(input), Some(output)) = (number("input"), number("output")) else {
        return Err(bad(&format!("no `input` or no `output` of `{}`", snippet(model, 60))));
    };
    Ok(Some(Price { input, output, cached: number("cached").unwrap_or(input) }))
}

fn amount(number: f64) -> Option<f64> {
    (number.is_finite() && number >= 0.0).then_some(number)
}

/// Reports an endpoint that cannot be asked.
pub(super) fn refused(error: &EndpointError) -> Exit {
    tell_error(&error.what, advice(error.advice));
    Exit::Usage
}

/// What ended a run early, in words: what, the exit code, what to try. `place` is the endpoint, `resume` how to go on, `path` the
/// recording.
pub(super) fn stopped(stop: &Stop, place: &str, resume: &str, path: &Path) -> (String, Exit, String) {
    match stop {
        Stop::Budget => ("the budget is used up".to_owned(), Exit::Finding, format!("a larger budget and {resume}")),
        Stop::Uncounted => (
            "the endpoint does not say how many tokens an answer took, so the budget cannot be kept".to_owned(),
            Exit::Finding,
            format!("{resume} without a budget"),
        ),
        Stop::Endpoint(error) => (format!("{} – {place}", error.what), Exit::NoAnswer, advice(error.advice).to_owned()),
        Stop::Unwritable(why) => {
            let what = format!("cannot write {}: {}", output::shown(path), line(why));
            (what, Exit::Usage, format!("room on the disk, then {resume}"))
        }
    }
}

/// What a person can do, in the words of this command line.
pub(in crate::verb) const fn advice(advice: Advice) -> &'static str {
    match advice {
        Advice::Url => "--endpoint with a URL such as https://api.example.com/v1",
        Advice::HideKey => "put the key into a variable: --key-env VAR",
        Advice::Tls => "https://, or --allow-plain-http in a network that you trust",
        Advice::Reach => "check --endpoint, and whether the endpoint is up",
        Advice::Key => "the right key in the variable of --key-env",
        Advice::Redirect => "the URL that it redirects to as --endpoint, if you trust it with the key",
        Advice::Names => "check --endpoint, --api and --model",
        Advice::Parameters => "check --model and --set",
        Advice::Api => "see whether the endpoint speaks the API of --api",
        Advice::WaitLonger => "a longer --answer-timeout",
        Advice::Later => "go on later with --resume",
    }
}
