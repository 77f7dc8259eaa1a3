//! The requests of each verb, and the text of their results.

use std::time::Instant;

use client::{Client, Listed, Params, Tool, argument_errors};
use report::render::text::Paint;
use serde_json::{Map, Value, json};
use wire::{Era, Message};

use super::observer::Notifications;
use super::show::{self, Look};
use super::{NotPrinted, Printed, arguments, conventions, suggestions, watch};
use crate::args::client::{CallArgs, ClientArgs, ClientVerb, CompleteArgs, GetArgs, RawArgs, ReadArgs};
use crate::args::line::quoted;
use crate::exit::{Exit, usage};

/// Sends the verb's request; without a verb shows the server.
pub(super) async fn ask(
    args: &ClientArgs,
    client: &Client,
    notifications: Notifications,
) -> Result<Printed, NotPrinted> {
    let look = Look { json: args.json, save: args.save.as_deref() };
    match &args.verb {
        None | Some(ClientVerb::Discover(_)) => {
            let text = client.discover().await?;
            Ok(Printed::success(if args.json {
                show::raw(&text)
            } else {
                show::server(client, &text, args.to.paint())
            }))
        }
        Some(ClientVerb::Tools(_)) => {
            let (_, listed) = client.tools().await?;
            Ok(list(args, &listed, show::tools))
        }
        Some(ClientVerb::Resources(which)) if which.templates => {
            Ok(list(args, &client.templates().await?, show::resources))
        }
        Some(ClientVerb::Resources(_)) => Ok(list(args, &client.resources().await?, show::resources)),
        Some(ClientVerb::Prompts(_)) => Ok(list(args, &client.prompts().await?, show::prompts)),
        Some(ClientVerb::Call(call)) => call_tool(look, client, call).await,
        Some(ClientVerb::Read(read)) => read_resource(look, client, read).await,
        Some(ClientVerb::Get(get)) => get_prompt(look, client, get).await,
        Some(ClientVerb::Complete(complete)) => complete_argument(look, client, complete).await,
        Some(ClientVerb::Ping(_)) => ping(args, client).await,
        Some(ClientVerb::Raw(raw)) => request(args, client, raw).await,
        Some(ClientVerb::Models(models)) => conventions::models(args.json, client, models).await,
        Some(ClientVerb::Metadata(_)) => conventions::metadata(args.json, client).await,
        Some(ClientVerb::Watch(what)) => watch::watch(args, client, what, notifications).await,
    }
}

fn list(args: &ClientArgs, listed: &Listed, show: fn(&[Value], Paint) -> String) -> Printed {
    Printed::success(if args.json {
        show::raw(&Value::Object(listed.result.clone()).to_string())
    } else {
        show(&listed.items, args.to.paint())
    })
}

fn print_answer(
    look: Look<'_>,
    answer: &Message,
    show: fn(Look<'_>, &Value) -> Result<String, Exit>,
) -> Result<Printed, NotPrinted> {
    let result = answer.result().cloned().unwrap_or_default();
    let raw = || show::raw(answer.body_text().unwrap_or_default());
    Ok(Printed::success(if look.json { raw() } else { show(look, &result)? }))
}

async fn read_resource(look: Look<'_>, client: &Client, read: &ReadArgs) -> Result<Printed, NotPrinted> {
    match client.read(&read.uri).await {
        Ok(answer) => print_answer(look, &answer, show::contents),
        Err(error) => Err(suggestions::request_failed(error, ("resource", &read.uri), client.resources().await, "uri")),
    }
}

async fn get_prompt(look: Look<'_>, client: &Client, get: &GetArgs) -> Result<Printed, NotPrinted> {
    let arguments = arguments::parse_texts(&get.arguments).map_err(|why| usage(&why, "NAME=VALUE"))?;
    match client.prompt(&get.name, arguments).await {
        Ok(answer) => print_answer(look, &answer, show::messages),
        Err(error) => Err(suggestions::request_failed(error, ("prompt", &get.name), client.prompts().await, "name")),
    }
}

async fn call_tool(look: Look<'_>, client: &Client, call: &CallArgs) -> Result<Printed, NotPrinted> {
    let (tools, listed) = client.tools().await?;
    let Some(tool) = tools.iter().find(|tool| tool.name() == call.name) else {
        if let Some(why) = why_left_out(&listed, &call.name) {
            return Err(suggestions::left_out_tool(&call.name, &why).into());
        }
        return Err(suggestions::unknown_tool(&call.name, tools.iter().map(Tool::name)).into());
    };
    let arguments = arguments(tool, call)?;
    let answer = client.call(tool, arguments).await?;
    let result = answer.result().cloned().unwrap_or_default();
    let failed = result.get("isError") == Some(&json!(true));
    if !failed {
        show::warn_about_output(tool, &result);
    }
    let text = if look.json { show::raw(answer.body_text().unwrap_or_default()) } else { show::output(look, &result)? };
    if failed {
        crate::exit::tell("error: the tool reports an error");
    }
    Ok(Printed { text: Some(text), exit: if failed { Exit::Finding } else { Exit::Clean } })
}

/// Why a tool that the server lists must not be called.
fn why_left_out(listed: &Listed, name: &str) -> Option<String> {
    let pages = listed.texts.iter().filter_map(|text| serde_json::from_str::<Value>(text).ok());
    let mut tools = pages.flat_map(|page| page["tools"].as_array().cloned().unwrap_or_default());
    tools.find(|tool| tool["name"] == name).and_then(|tool| Tool::new(&tool)?.annotation_error())
}

/// The arguments of a call, checked before it is sent.
fn arguments(tool: &Tool, call: &CallArgs) -> Result<Map<String, Value>, NotPrinted> {
    let remedy = format!("`proof client tools` shows what `{}` takes", wire::escape::snippet(tool.name(), 60));
    let base = match call.args.as_deref().map(serde_json::from_str) {
        None => Map::new(),
        Some(Ok(Value::Object(base))) => base,
        Some(_) => return Err(usage("--args is not a JSON object", "--args '{\"name\": \"value\"}'").into()),
    };
    let pairs = call.arguments.iter().map(|text| arguments::parse(text)).collect::<Result<Vec<_>, _>>();
    let pairs = pairs.map_err(|why| usage(&why, &arguments::remedy(&call.arguments)))?;
    let arguments =
        arguments::convert(pairs, base, tool.input()).map_err(|errors| usage(&errors.join("\n  "), &remedy))?;
    if call.unchecked {
        return Ok(arguments);
    }
    let errors: Vec<String> = argument_errors(tool.input(), &arguments)
        .into_iter()
        .map(|error| {
            let name = wire::escape::snippet(&error.argument, 60);
            let what = wire::escape::snippet(&error.what, 200);
            if name.is_empty() { what } else { format!("`{name}` {what}") }
        })
        .collect();
    if errors.is_empty() {
        suggestions::warn_of_unknown(tool.input(), &arguments);
        return Ok(arguments);
    }
    Err(usage(&errors.join("\n  "), &format!("{remedy}; --unchecked sends the arguments unchecked")).into())
}

async fn complete_argument(look: Look<'_>, client: &Client, args: &CompleteArgs) -> Result<Printed, NotPrinted> {
    let reference = if args.of.contains("://") {
        json!({ "type": "ref/resource", "uri": args.of })
    } else {
        json!({ "type": "ref/prompt", "name": args.of })
    };
    let Some((name, value)) = args.argument.split_once('=') else {
        return Err(usage("the argument to complete is not NAME=VALUE", "NAME= to complete an empty value").into());
    };
    let known = arguments::parse_texts(&args.known).map_err(|why| usage(&why, "NAME=VALUE"))?;
    let answer = client.complete_value(reference, (name, value), known).await?;
    let result = answer.result().cloned().unwrap_or_default();
    let raw = || show::raw(answer.body_text().unwrap_or_default());
    Ok(Printed::success(if look.json { raw() } else { show::values(&result) }))
}

async fn ping(args: &ClientArgs, client: &Client) -> Result<Printed, NotPrinted> {
    let begun = Instant::now();
    let answer = client.ping().await?;
    let took = begun.elapsed().as_secs_f64() * 1000.0;
    Ok(Printed::success(if args.json {
        show::raw(answer.body_text().unwrap_or_default())
    } else {
        format!("{} answers in {took:.1} ms\n", client.transport())
    }))
}

async fn request(args: &ClientArgs, client: &Client, raw: &RawArgs) -> Result<Printed, NotPrinted> {
    let params = match raw.params.as_slice() {
        [] => Ok(Value::Object(Map::new())),
        [text] => serde_json::from_str(text),
        [_, extra, ..] => {
            let what = format!("unexpected argument `{}`", wire::escape::snippet(extra, 60));
            return Err(usage(&what, "the server's URL as the last argument").into());
        }
    };
    let params = match params {
        Ok(Value::Object(params)) => Params::from(params),
        _ => {
            return Err(
                usage("the parameters are not a JSON object", &format!("raw {} '{{}}'", quoted(&raw.method))).into()
            );
        }
    };
    if raw.method.starts_with("notifications/") {
        return Err(usage("a notification has no answer", "use the method of a request").into());
    }
    if raw.method == "initialize" && client.revision().era() == Era::Legacy {
        return Err(usage(
            "the client has already sent `initialize`",
            "`proof client discover --json` shows the answer",
        )
        .into());
    }
    let answer = client.request(&raw.method, &params).await?;
    let text = answer.body_text().unwrap_or_default();
    Ok(Printed::success(if args.json {
        show::raw(text)
    } else {
        show::pretty(answer.result().unwrap_or(&Value::Null))
    }))
}
