//! What `proof eval run` says of the model: where it is, how it is asked, what it costs.

use agent::{Advice, Choice, Dialect, EndpointError, Mode, Options, Price, RESERVED, Request, Tools};
use serde_json::{Map, Value, json};
use wire::escape::{line, snippet};
use wire::redact::Secrets;

use super::super::files::unreadable;
use crate::args::eval::run::{DialectArg, ModelArgs, RunArgs};
use crate::exit::{Exit, tell_redacted, usage};
use crate::verb::given_file;

/// How large a file of instructions or prices may be, in bytes.
const LIMIT: u64 = 4 << 20;

/// Parameters of endpoints' URLs that hold no key: dates and names that also occur in answers.
const PLAIN: [&str; 6] = ["api-version", "version", "model", "deployment", "region", "project"];

/// The model, and how it is asked.
pub(super) struct Model {
    pub(super) dialect: Dialect,
    pub(super) endpoint: Options,
    pub(super) price: Option<Price>,
    name: String,
    system: Option<String>,
    parameters: Map<String, Value>,
}

impl Model {
    pub(super) fn new(args: &RunArgs) -> Result<Self, Exit> {
        let of = &args.model;
        let (Some(url), Some(api), Some(name)) = (&of.endpoint, of.api, &of.model) else {
            return Err(usage("no endpoint", "--endpoint URL --api API --model NAME"));
        };
        let dialect = match api {
            DialectArg::Responses => Dialect::Responses,
            DialectArg::Chat => Dialect::Chat,
            DialectArg::Messages => Dialect::Messages,
        };
        if args.strict && dialect == Dialect::Messages {
            return Err(usage("--strict needs an API with strict tools", "--api responses or --api chat"));
        }
        let key = of.key_env.as_deref().map(key).transpose()?;
        let price = price(args, name)?;
        if args.max_cost.is_some() && price.is_none() {
            return Err(usage(
                "--max-cost needs prices",
                "--price IN,OUT in dollars per million tokens, or --prices FILE",
            ));
        }
        let text = |path: &std::path::PathBuf| {
            given_file::text(path, LIMIT).map_err(|error| unreadable(path, &error.to_string()))
        };
        let endpoint = Options {
            url: url.clone(),
            dialect,
            key,
            ca: args.tools.server.reach.ca_file.clone(),
            allows_plain_http: of.allow_plain_http,
            timeout: of.answer_timeout,
            retries: of.retries,
        };
        let system = of.system.as_ref().map(text).transpose()?;
        Ok(Self { dialect, endpoint, price, name: name.clone(), system, parameters: parameters(of)? })
    }

    /// Adds the key, and what stands in the query of the endpoint's URL: its names are those of the endpoint.
    pub(super) fn add_secrets(&self, secrets: &mut Secrets) {
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

    /// What every request has.
    pub(super) fn request(&self, args: &RunArgs, tools: &Tools) -> Result<Request, Exit> {
        Ok(Request {
            dialect: self.dialect,
            model: self.name.clone(),
            system: self.system.clone(),
            choice: choice(&args.tool_choice, tools)?,
            is_parallel: !args.no_parallel,
            is_streamed: args.model.stream,
            parameters: self.parameters.clone(),
        })
    }

    /// The first line of the recording.
    pub(super) fn header(&self, args: &RunArgs, address: &str, tools: &Tools) -> Map<String, Value> {
        let header = json!({
            "format": eval::recording::FORMAT,
            "api": self.dialect.as_str(),
            "endpoint": address,
            "model": self.name,
            "system": self.system,
            "tool_choice": args.tool_choice,
            "parallel": !args.no_parallel,
            "strict": args.strict,
            "stream": args.model.stream,
            "max_turns": args.max_turns,
            "parameters": self.parameters,
            "tools": tools.listed(),
        });
        header.as_object().cloned().unwrap_or_default()
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
fn parameters(args: &ModelArgs) -> Result<Map<String, Value>, Exit> {
    let mut parameters = Map::new();
    for pair in &args.set {
        let Some((name, value)) = pair.split_once('=').filter(|(name, _)| !name.is_empty()) else {
            return Err(usage("invalid --set: expected NAME=JSON", "--set temperature=0"));
        };
        if RESERVED.contains(&name) {
            let what = format!("--set {}: proof sets this member itself", line(name));
            return Err(usage(&what, "the option for it: --model, --system, --stream, --tool-choice, --no-parallel"));
        }
        let value = serde_json::from_str(value).unwrap_or_else(|_| Value::String(value.to_owned()));
        parameters.insert(name.to_owned(), value);
    }
    Ok(parameters)
}

/// The choice of tools by their names on the server.
fn choice(text: &str, tools: &Tools) -> Result<Choice, Exit> {
    let name = |name: &str| {
        tools.name_in_api(name).map(str::to_owned).ok_or_else(|| {
            usage(&format!("--tool-choice: there is no tool `{}`", snippet(name, 60)), "a tool that the server lists")
        })
    };
    let names = |list: &str| list.split(',').map(|one| name(one.trim())).collect::<Result<Vec<_>, Exit>>();
    let choice = match (text, text.split_once(':')) {
        ("auto", _) => Choice::Auto,
        ("required", _) => Choice::Required,
        ("none", _) => Choice::None,
        (_, Some(("tool", tool))) => Choice::Tool(name(tool)?),
        (_, Some(("allowed", list))) => Choice::Allowed(Mode::Auto, names(list)?),
        (_, Some(("allowed-required", list))) => Choice::Allowed(Mode::Required, names(list)?),
        _ => {
            let what = format!("invalid --tool-choice `{}`", snippet(text, 60));
            return Err(usage(&what, "auto, required, none, tool:NAME, allowed:NAME,NAME or allowed-required:NAME"));
        }
    };
    if tools.listed().is_empty() && !matches!(choice, Choice::Auto | Choice::None) {
        return Err(usage("--tool-choice demands a call, and the server has no tools", "--tool-choice auto"));
    }
    Ok(choice)
}

/// Prices of the command line, or of the model in a file.
fn price(args: &RunArgs, model: &str) -> Result<Option<Price>, Exit> {
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
    let bad = |what: &str| usage(&format!("{what} – {}", crate::verb::output::shown(path)), remedy);
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
    tell_redacted(&format!("error: {}\n  try: {}", error.what, advice(error.advice)));
    Exit::Usage
}

/// What a person can do, in the words of this command line.
pub(super) const fn advice(advice: Advice) -> &'static str {
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
