//! From a verb to requests, and from results to what is printed.

use std::time::Instant;

use client::{Client, Listed, Params, Tool, argument_errors};
use serde_json::{Map, Value, json};
use wire::{Era, Message};

use super::show::{self, Look};
use super::told::Heard;
use super::{NotPrinted, Printed, meant, pairs, watch};
use crate::args::client::{CallArgs, ClientArgs, ClientVerb, CompleteArgs, GetArgs, RawArgs, ReadArgs};
use crate::args::line::quoted;
use crate::exit::{Exit, usage};

/// Does what the verb says; without one it tells who the server is.
pub(super) async fn ask(args: &ClientArgs, client: &Client, heard: Heard) -> Result<Printed, NotPrinted> {
    let look = Look { json: args.json, save: args.save.as_deref() };
    match &args.verb {
        None | Some(ClientVerb::Discover(_)) => {
            let text = client.discover().await?;
            Ok(Printed::well(if args.json { show::raw(&text) } else { show::server(client, &text) }))
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
        Some(ClientVerb::Call(call)) => called(look, client, call).await,
        Some(ClientVerb::Read(read)) => read_out(look, client, read).await,
        Some(ClientVerb::Get(get)) => filled_in(look, client, get).await,
        Some(ClientVerb::Complete(complete)) => completed(look, client, complete).await,
        Some(ClientVerb::Ping(_)) => ping(args, client).await,
        Some(ClientVerb::Raw(raw)) => request(args, client, raw).await,
        Some(ClientVerb::Watch(what)) => watch::watch(args, client, what, heard).await,
    }
}

fn list(args: &ClientArgs, listed: &Listed, show: fn(&[Value]) -> String) -> Printed {
    Printed::well(if args.json {
        show::raw(&Value::Object(listed.result.clone()).to_string())
    } else {
        show(&listed.items)
    })
}

fn shown(
    look: Look<'_>,
    answer: &Message,
    show: fn(Look<'_>, &Value) -> Result<String, Exit>,
) -> Result<Printed, NotPrinted> {
    let result = answer.result().cloned().unwrap_or_default();
    let raw = || show::raw(answer.body_text().unwrap_or_default());
    Ok(Printed::well(if look.json { raw() } else { show(look, &result)? }))
}

async fn read_out(look: Look<'_>, client: &Client, read: &ReadArgs) -> Result<Printed, NotPrinted> {
    match client.read(&read.uri).await {
        Ok(answer) => shown(look, &answer, show::contents),
        Err(error) => Err(meant::told(error, ("resource", &read.uri), client.resources().await, "uri")),
    }
}

async fn filled_in(look: Look<'_>, client: &Client, get: &GetArgs) -> Result<Printed, NotPrinted> {
    let arguments = pairs::texts(&get.arguments).map_err(|why| usage(&why, "NAME=VALUE"))?;
    match client.prompt(&get.name, arguments).await {
        Ok(answer) => shown(look, &answer, show::messages),
        Err(error) => Err(meant::told(error, ("prompt", &get.name), client.prompts().await, "name")),
    }
}

async fn called(look: Look<'_>, client: &Client, call: &CallArgs) -> Result<Printed, NotPrinted> {
    let (tools, _) = client.tools().await?;
    let Some(tool) = tools.iter().find(|tool| tool.name() == call.name) else {
        return Err(meant::no_tool(&call.name, tools.iter().map(Tool::name)).into());
    };
    let arguments = arguments(tool, call)?;
    let answer = client.call(tool, arguments).await?;
    let result = answer.result().cloned().unwrap_or_default();
    let failed = result.get("isError") == Some(&json!(true));
    if !failed {
        show::complain_of_output(tool, &result);
    }
    let text = if look.json { show::raw(answer.body_text().unwrap_or_default()) } else { show::output(look, &result)? };
    if failed {
        crate::exit::tell("error: the tool says that it failed");
    }
    Ok(Printed { text, exit: if failed { Exit::Finding } else { Exit::Clean } })
}

/// The arguments as typed, checked before anything is sent.
fn arguments(tool: &Tool, call: &CallArgs) -> Result<Map<String, Value>, NotPrinted> {
    let remedy = format!("`proof client tools` shows what `{}` takes", wire::escape::snippet(tool.name(), 60));
    let base = match call.args.as_deref().map(serde_json::from_str) {
        None => Map::new(),
        Some(Ok(Value::Object(base))) => base,
        Some(_) => return Err(usage("what --args has is no JSON object", "--args '{\"name\": \"value\"}'").into()),
    };
    let pairs = call.arguments.iter().map(|text| pairs::pair(text)).collect::<Result<Vec<_>, _>>();
    let pairs = pairs.map_err(|why| usage(&why, "NAME=VALUE, or NAME:=JSON"))?;
    let arguments =
        pairs::arguments(pairs, base, tool.input()).map_err(|faults| usage(&faults.join("\n  "), &remedy))?;
    if call.unchecked {
        return Ok(arguments);
    }
    let faults: Vec<String> = argument_errors(tool.input(), &arguments)
        .into_iter()
        .map(|fault| {
            let name = wire::escape::snippet(&fault.argument, 60);
            let what = wire::escape::snippet(&fault.what, 200);
            if name.is_empty() { what } else { format!("`{name}` {what}") }
        })
        .collect();
    if faults.is_empty() {
        return Ok(arguments);
    }
    Err(usage(&faults.join("\n  "), &format!("{remedy}; --unchecked sends it all the same")).into())
}

async fn completed(look: Look<'_>, client: &Client, args: &CompleteArgs) -> Result<Printed, NotPrinted> {
    let reference = if args.of.contains("://") {
        json!({ "type": "ref/resource", "uri": args.of })
    } else {
        json!({ "type": "ref/prompt", "name": args.of })
    };
    let Some((name, value)) = args.argument.split_once('=') else {
        return Err(usage("the argument to complete is not NAME=VALUE", "NAME= where nothing is typed yet").into());
    };
    let known = pairs::texts(&args.known).map_err(|why| usage(&why, "NAME=VALUE"))?;
    let answer = client.complete_value(reference, (name, value), known).await?;
    let result = answer.result().cloned().unwrap_or_default();
    let raw = || show::raw(answer.body_text().unwrap_or_default());
    Ok(Printed::well(if look.json { raw() } else { show::values(&result) }))
}

async fn ping(args: &ClientArgs, client: &Client) -> Result<Printed, NotPrinted> {
    let begun = Instant::now();
    let answer = client.ping().await?;
    let took = begun.elapsed().as_secs_f64() * 1000.0;
    Ok(Printed::well(if args.json {
        show::raw(answer.body_text().unwrap_or_default())
    } else {
        format!("{} answers in {took:.1} ms\n", client.transport())
    }))
}

async fn request(args: &ClientArgs, client: &Client, raw: &RawArgs) -> Result<Printed, NotPrinted> {
    let params = match raw.params.as_deref().map(serde_json::from_str) {
        None => Params::new(),
        Some(Ok(Value::Object(params))) => Params::from(params),
        Some(_) => {
            return Err(
                usage("the parameters are no JSON object", &format!("raw {} '{{}}'", quoted(&raw.method))).into()
            );
        }
    };
    if raw.method.starts_with("notifications/") {
        return Err(usage("a notification has no answer to show", "the name of a request").into());
    }
    if raw.method == "initialize" && client.revision().era() == Era::Legacy {
        return Err(usage("the greeting is said already", "`proof client discover --json` shows the answer").into());
    }
    let answer = client.request(&raw.method, &params).await?;
    let text = answer.body_text().unwrap_or_default();
    Ok(Printed::well(if args.json { show::raw(text) } else { show::pretty(answer.result().unwrap_or(&Value::Null)) }))
}
