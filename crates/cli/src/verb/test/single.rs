//! `proof test --call`: a test file of one case, made from the command line.

use std::path::Path;

use ::suite::test::{self, Suite};
use client::Given;
use serde_json::{Map, Value, json};
use wire::escape::snippet;
use wire::redact::Secrets;

use crate::args::address;
use crate::args::reach::{headers_of, variables};
use crate::args::test::TestArgs;
use crate::exit::{Exit, tell, usage};
use crate::verb::client::parse_argument;

/// How the file is named in messages and reports.
const NAME: &str = "--call";
/// How much of a word is shown.
const SHOWN: usize = 60;

/// The suite of `--call`, if it is given.
pub(super) fn suite(args: &TestArgs) -> Option<Result<Suite, Exit>> {
    args.single.call.as_deref().map(|tool| of_call(args, tool))
}

/// The secrets on the command line of `--call`.
pub(super) fn add_secrets(args: &TestArgs, secrets: &mut Secrets) {
    for (name, value) in args.single.env.iter().filter_map(|pair| pair.split_once('=')) {
        secrets.handed_variable(name, value);
    }
    secrets.arguments(args.single.command.iter().map(String::as_str));
}

fn of_call(args: &TestArgs, tool: &str) -> Result<Suite, Exit> {
    let words: Vec<String> = args.paths.iter().map(|path| path.to_string_lossy().into_owned()).collect();
    let (server, words) = server(args, &words)?;
    let mut arguments = Map::new();
    for word in words {
        let (name, given) = parse_argument(word).map_err(|why| usage(&why, "NAME=VALUE, or NAME:=JSON for each"))?;
        arguments.insert(name, value(given));
    }
    let mut expect = Map::new();
    for text in &args.single.expect {
        let (path, expected) = expectation(text)?;
        expect.insert(path, expected);
    }
    test::of_call(Path::new(NAME), server, tool, arguments, expect).map_err(|errors| {
        tell(errors);
        Exit::Usage
    })
}

/// The server at the end of the command line, and the words before it.
fn server<'w>(args: &TestArgs, words: &'w [String]) -> Result<(Value, &'w [String]), Exit> {
    let single = &args.single;
    let env: Map<String, Value> =
        variables(&single.env)?.into_iter().map(|(name, value)| (name, json!(value))).collect();
    if !single.command.is_empty() {
        return Ok((json!({ "command": single.command, "env": env }), words));
    }
    let url =
        words.last().and_then(|last| address::server(last).or_else(|| last.contains("://").then(|| last.clone())));
    let (Some(url), Some((_, words))) = (url, words.split_last()) else {
        let remedy = "add its URL at the end, or its command after `--`: proof test --call echo a=1 -- ./my-server";
        return Err(usage("--call: no server given", remedy));
    };
    let headers: Map<String, Value> =
        headers_of(&single.header)?.into_iter().map(|(name, value)| (name, json!(value))).collect();
    let mut server = json!({ "url": url, "headers": headers });
    if let Some(variable) = &single.bearer_env {
        server["bearerEnv"] = json!(variable);
    }
    Ok((server, words))
}

/// `$.content[0].text=hi`: the value is JSON, or else a text.
fn expectation(text: &str) -> Result<(String, Value), Exit> {
    // A path may hold `=` only within brackets.
    let mut depth = 0;
    let at = text.char_indices().find(|(_, c)| {
        depth += match c {
            '[' => 1,
            ']' => -1,
            _ => 0,
        };
        *c == '=' && depth == 0
    });
    let Some((path, expected)) =
        at.map(|(at, _)| (&text[..at], &text[at + 1..])).filter(|(path, _)| path.starts_with('$'))
    else {
        let what = format!("--expect: `{}` is not PATH=VALUE", snippet(text, SHOWN));
        return Err(usage(&what, "--expect '$.content[0].text=hi'"));
    };
    let expected = serde_json::from_str(expected).unwrap_or_else(|_| json!(expected));
    Ok((path.to_owned(), expected))
}

/// As in a test file: numbers, `true`, `false` and `null` are what they look like.
fn value(given: Given) -> Value {
    match given {
        Given::Json(value) => value,
        Given::Text(text) => {
            let plain = serde_json::from_str::<Value>(&text).ok();
            plain.filter(|value| !value.is_object() && !value.is_array() && !value.is_string()).unwrap_or(json!(text))
        }
    }
}

#[cfg(test)]
mod tests {
    use client::Given;
    use serde_json::json;

    use super::{expectation, value};

    #[test]
    fn words_are_values_as_in_a_test_file() {
        let text = |text: &str| value(Given::Text(text.to_owned()));
        assert_eq!(text("2"), json!(2));
        assert_eq!(text("true"), json!(true));
        assert_eq!(text("hi"), json!("hi"));
        assert_eq!(text("\"2\""), json!("\"2\""));
        assert_eq!(text("[1]"), json!("[1]"));
        assert_eq!(value(Given::Json(json!([1]))), json!([1]));
    }

    #[test]
    fn a_path_ends_at_the_first_equals_sign_outside_brackets() {
        let read = |text: &str| expectation(text).map_err(|_| ());
        assert_eq!(read("$.a[0].text=x=y"), Ok(("$.a[0].text".to_owned(), json!("x=y"))));
        assert_eq!(read("$['a=b']=1"), Ok(("$['a=b']".to_owned(), json!(1))));
        assert_eq!(read("$.a"), Err(()));
        assert_eq!(read("a=1"), Err(()));
    }
}
