//! Wrong command lines and wrong arguments, told before anything is sent.

use crate::harness::{Serving, client, legacy, on};

#[test]
fn a_missing_argument_is_named_with_its_schema() {
    let serving = Serving::start();
    let url = serving.mcp();
    let call = |arguments: &[&str]| client(&[&["call"], arguments, &["--url", &url]].concat());
    call(&["sum", "a=1"]).ends_with(2).says(&["`b` is missing: number"]);
    call(&["sum", "a=one", "b=2"]).ends_with(2).says(&["`a`: `one` is not number"]);
    call(&["sum", "a:={}", "b=2"]).ends_with(2).says(&["`a`", "number"]);
    call(&["slow", "steps=1000"]).ends_with(2).says(&["`steps`", "100"]);
    call(&["get_weather", "location=a", "units=kelvin"]).ends_with(2).says(&["`units`", "celsius"]);
    call(&["sum", "a=1", "b"]).ends_with(2).says(&["`b` is not NAME=VALUE"]);
    call(&["sum", "a=1", "b:=x"]).ends_with(2).says(&["the value of `b:=` is not JSON"]);
    call(&["sum", "--args", "[1]"]).ends_with(2).says(&["--args"]);
    call(&["ecko", "message=hi"]).ends_with(2).says(&["no tool `ecko`", "`echo`"]);
    call(&["sum", "--args", r#"{"a":1}"#, "b=2"]).ends_with(0);
}

#[test]
fn similar_names_are_suggested() {
    let serving = Serving::start();
    let url = serving.mcp();
    let asked = |words: &[&str]| client(&[words, &["--url", &url]].concat());
    asked(&["get", "code_reveiw", "code=x"]).ends_with(1).says(&[
        "no prompt `code_reveiw`",
        "-32602",
        "  try: `code_review`",
    ]);
    asked(&["read", "proof://docs/wellcome"]).ends_with(1).says(&["no resource", "try: `proof://docs/welcome`"]);
    asked(&["read", "other:thing"]).ends_with(1).says(&["the server answers with error", "at resources/read"]);
    // It is on the list: something else is wrong.
    asked(&["get", "code_review"]).ends_with(1).says(&["the server answers with error", "at prompts/get"]);
}

#[test]
fn an_echoing_command_is_reported_soon() {
    let begun = std::time::Instant::now();
    client(&["tools", "--", "cat"]).ends_with(3).says(&["our own request came back", "at cat"]);
    assert!(begun.elapsed().as_secs() < 12, "{:?}", begun.elapsed());
}

#[test]
fn an_unknown_verb_is_reported_before_anything_starts() {
    client(&["frobnicate"]).ends_with(2).says(&["unknown verb `frobnicate`", "try: one of discover, tools, call, "]);
    client(&["tool", "--url", "http://127.0.0.1:1/"])
        .ends_with(2)
        .says(&["unknown verb `tool`", "`proof client tools`"]);
    client(&["--url", "http://127.0.0.1:1/", "raed", "a:b"]).ends_with(2).says(&["`proof client read`"]);
    client(&["ask", "this", "that", "--", "no-such-program-here"]).ends_with(2).says(&["unknown verb `ask`"]);
}

#[test]
fn unchecked_arguments_are_sent() {
    let serving = Serving::start();
    let ran = client(&["call", "sum", "a=1", "--unchecked", "--url", &serving.mcp()]).ends_with(1);
    assert!(ran.stdout.contains("Invalid arguments"), "{ran:?}");
}

#[test]
fn nothing_is_sent_to_a_tool_whose_schema_cannot_be_read() {
    let tools = r#"*tools/list*) answer '{"tools":[{"name":"t","inputSchema":{"type":"object","properties":{"a":{"$ref":"http://127.0.0.1:1/x"}}}}]}' ;;
        *tools/call*) answer '{"content":[]}' ;;"#;
    on(&["call", "t", "a=1"], &legacy(tools)).ends_with(2).says(&["the input schema cannot be read"]);
}

#[test]
fn undeclared_features_are_not_requested() {
    on(&["prompts"], &legacy("*prompts*) exit 9 ;;")).ends_with(2).says(&["does not declare `prompts`"]);
    on(&["watch", "a:b"], &legacy("")).ends_with(2).says(&["subscribed"]);
}

#[test]
fn a_missing_server_is_an_error() {
    client(&["tools"]).ends_with(2).says(&["no server given", "add its URL at the end"]);
    client(&["tools", "--url", "nowhere"]).ends_with(2).says(&["http(s)://"]);
    client(&["tools", "nowhere"]).ends_with(2).says(&["`nowhere` needs `--` before it", "tools -- nowhere"]);
    client(&["read", "http://127.0.0.1:1/x"]).ends_with(2).says(&["no server given"]);
    client(&["tools", "http://127.0.0.1:1", "--url", "http://127.0.0.1:1"]).ends_with(2).says(&["several servers"]);
    client(&["tools", "http://127.0.0.1:1", "--", "sh"]).ends_with(2).says(&["several servers"]);
    client(&["tools", "--revision", "2020-01-01", "--url", "http://127.0.0.1:1"]).ends_with(2).says(&["2020-01-01"]);
    let ran = client(&["raw", "notifications/x", "--", "sh", "-c", "exit"]);
    assert!(ran.code == Some(2) || ran.code == Some(3), "{ran:?}");
}

#[test]
fn an_unreachable_server_has_its_own_exit_code() {
    let begun = std::time::Instant::now();
    client(&["tools", "--url", "http://127.0.0.1:1/mcp"]).ends_with(3).says(&["at http://127.0.0.1:1/mcp"]);
    client(&["tools", "--", "no-such-program-here"]).ends_with(3).says(&["was not found"]);
    client(&["tools", "--", "sh", "-c", "echo oops >&2; exit 3"]).ends_with(3).says(&["code 3", "oops"]);
    assert!(begun.elapsed().as_secs() < 10);
}

#[test]
fn a_server_is_waited_for_where_it_has_a_url() {
    let begun = std::time::Instant::now();
    let ran = client(&["ping", "--wait", "0.3", "http://127.0.0.1:1/mcp"]).ends_with(3);
    ran.says(&["nothing answered within 0.3 s", "at http://127.0.0.1:1/mcp", "a longer --wait"]);
    assert!(begun.elapsed().as_millis() >= 300, "{:?}", begun.elapsed());
    let serving = Serving::start();
    client(&["ping", "--wait", "5", &serving.mcp()]).ends_with(0);
    client(&["ping", "--wait", "5", "--", "true"]).ends_with(2).says(&["--wait needs a URL", "--timeout"]);
}

/// The server has the tool: what keeps it from being called is said.
#[test]
fn a_tool_that_is_left_out_is_explained() {
    let serving = Serving::with(&["--fault", "param-header-no-token"]);
    let listed = client(&["tools", "--revision", "2026-07-28", &serving.mcp()]).ends_with(0);
    let name = listed.stderr.split('`').nth(1).unwrap_or_else(|| panic!("{listed:?}")).to_owned();
    let ran = client(&["call", &name, "--revision", "2026-07-28", &serving.mcp()]).ends_with(2);
    ran.says(&[&format!("the tool `{name}` must not be called over HTTP: "), "or reach the server over stdio"]);
}
