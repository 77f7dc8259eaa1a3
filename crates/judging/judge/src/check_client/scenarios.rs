//! The scenarios, as data: what docs/check-client.md tells in a table is made from this.

use faults::server::{self as faulty, quirks};
use reference::catalogue::Catalogue;
use wire::Era::{Legacy, Modern};
use wire::Transport;
use wire::revision::{R2025_03_26, R2025_06_18, R2025_11_25};

use super::edges::EDGES;
use super::evidence::{client, ended_by_signal, foreign_session, is_empty_array, names_twice, server};
use super::scenario::{Scenario, scenario};
use super::tokens::AUTHORIZED;

const HTTP: &[Transport] = &[Transport::StreamableHttp];

/// The shortest one, by which is found out what a client speaks.
pub static FIRST: Scenario = scenario("initialize", "Connect and list the tools.").shows(&[client(&["tools/list"])]);

/// Names that the official suite has, for the same.
const OFFICIAL: &[&Scenario] = &[
    &FIRST,
    &official("tools_call", "List the tools and call `add_numbers` with two numbers, `a` and `b`.").shows(&[client(&["tools/call", "add_numbers"])]),
    &official(
        "elicitation-sep1034-client-defaults",
        "Declare elicitation, call `test_client_elicitation_defaults`, and accept the form with its defaults.",
    )
    .since(R2025_06_18).shows(&[server(&["elicitation/create"])]),
    &official(
        "sse-retry",
        "Call `test_reconnection`. Its stream ends early: resume it after the time that it names, with `Last-Event-ID`.",
    )
    .on(HTTP)
    .since(R2025_11_25)
    .era(Legacy).shows(&[client(&["GET", "last-event-id: "])]),
    &official("request-metadata", "List the tools. The first request is refused because of its version: retry.")
        .tries(&[quirks::FIRST_REQUEST_REFUSED_FOR_VERSION])
        .era(Modern).shows(&[server(&[r#""code":-32022"#])]),
    &official(
        "sep-2322-client-request-state",
        "Call `test_mrtr_echo_state`; before you answer its question, call `test_mrtr_unrelated`. Then call `test_mrtr_no_state` and `test_mrtr_no_result_type`.",
    )
    .tries(&[quirks::NO_RESULT_TYPE])
    .era(Modern).shows(&[server(&["requestState"]), server(&[r#""result":"#, r#""content""#]).without(&["resultType"])]),
    &official(
        "http-standard-headers",
        "Call `test_headers` and `my-hyphenated-tool`, read every resource that is listed, and get the prompt `test_prompt`.",
    )
    .on(HTTP)
    .era(Modern).shows(&[client(&["mcp-method: resources/read", "mcp-name: "])]),
    &official("http-custom-headers", "List the tools and make the calls that the context names in `toolCalls`.")
        .tells(Catalogue::client_scenario_calls)
        .on(HTTP)
        .era(Modern).shows(&[client(&["mcp-param-"])]),
    &official("http-invalid-tool-headers", "List the tools and call `valid_tool`. Call none of the tools with invalid headers.")
        .offers(|_| Catalogue::client_scenarios_with_invalid_headers())
        .on(HTTP)
        .era(Modern).shows(&[server(&["valid_tool", "x-mcp-header"])]),
    &official("json-schema-ref-no-deref", "List the tools. Do not fetch the URLs in their schemas.")
        .offers(Catalogue::client_scenarios_with_foreign_urls).shows(&[server(&["$ref"])]),
    &official(
        "json-schema-2020-12-preservation",
        "List the tools and call `json_schema_echo` with the input schema of `json_schema_2020_12_tool`, as listed, in `schema`.",
    ).shows(&[client(&["json_schema_echo"])]),
];

/// What the protocol has, feature by feature.
const FEATURES: &[&Scenario] = &[
    &scenario("lists", "List the tools, the resources, the resource templates and the prompts, each to its last page.").shows(&[client(&["resources/templates/list"])]),
    &scenario("uneven-pages", "List the tools to the last page. One of the pages is empty.").tries(&[quirks::EMPTY_PAGE]).shows(&[server(&[r#""tools":[]"#, "to-the-end"])]),
    &scenario("empty-cursor", "List the tools to the last page. One cursor is an empty string.")
        .tries(&[quirks::EMPTY_CURSOR])
        .era(Modern).shows(&[server(&[r#""nextCursor":"""#])]),
    &scenario("echo", "Call `echo` with a `message` of your own, and `sum` with the numbers `a` and `b`.").shows(&[client(&["tools/call", r#""echo""#])]),
    &scenario("fail", "Call `fail`. The result says that the tool failed: exit with 0 anyway.").shows(&[server(&[r#""isError":true"#])]),
    &scenario("resources", "List the resources and read each. Read a resource of a template, too.").shows(&[client(&["resources/read"])]),
    &scenario("prompts", "List the prompts and get each of them, with its arguments.").shows(&[client(&["prompts/get"])]),
    &scenario("completion", "Ask to complete an argument of a prompt and a variable of a resource template.").shows(&[client(&["completion/complete"])]),
    &scenario("content", "Call `get_image`, `get_audio`, `get_resource` and the other tools that return content.").shows(&[server(&[r#""type":"image""#])]),
    &scenario("logging", "Ask for log messages and call `log`.").shows(&[server(&["notifications/message"])]),
    &scenario("progress", "Call `slow` with a progress token, and wait for its result.").shows(&[server(&["notifications/progress"])]),
    &scenario("cancellation", "Call `slow` with 50 `steps`, and cancel the call after a moment.").shows(&[client(&["tools/call", r#""slow""#])]),
    &scenario("sampling", "Declare sampling, call `sample`, and answer its request.").shows(&[server(&["sampling/createMessage"])]),
    &scenario("sampling-with-tools", "Declare sampling with tools, call `sample_with_tools`, and answer its request.")
        .since(R2025_11_25).shows(&[server(&["sampling/createMessage", r#""tools""#])]),
    &scenario("elicitation", "Declare elicitation, call `ask`, `ask_form`, `ask_two` and `ask_in_turn`, and answer.")
        .since(R2025_06_18).shows(&[server(&["elicitation/create"])]),
    &scenario("elicitation-url", "Declare elicitation of URLs, call `ask_url`, and answer. Do not open the URL yourself.")
        .since(R2025_11_25).shows(&[server(&[r#""mode":"url""#])]),
    &scenario("roots", "Declare roots, call `list_roots`, and answer.").shows(&[server(&["roots/list"])]),
    &scenario("list-changes", "Call `toggle_tool`, and list the tools again when the server says that they changed.").shows(&[server(&["notifications/tools/list_changed"])]),
    &scenario("subscriptions", "Subscribe to `proof://counter`, call `touch_resource`, and read the resource again when the server says that it changed.").shows(&[server(&["notifications/resources/updated"])]),
    &scenario(
        "tasks",
        "Call `slow` and `buy` as tasks (in the modern era: declare tasks). Poll them, answer their questions, and get their results. Cancel another task.",
    )
    .since(R2025_11_25).shows(&[client(&["tasks/get"])]),
    &scenario(
        "model-with-progress",
        "Declare sampling and call `echo`. The server asks for progress of your answer.",
    )
    .tries(&[quirks::SAMPLES_WITH_PROGRESS])
    .era(Legacy).shows(&[server(&["sampling/createMessage", "scenario-progress"])]),
    &scenario("sampling-refused", "Declare sampling, call `sample`, and let your user refuse the request.").shows(&[server(&["sampling/createMessage"])]),
    &scenario(
        "request-cancelled",
        "Declare sampling, call `echo`, and do not answer at once. The server cancels its request.",
    )
    .tries(&[quirks::CANCELS_ITS_QUESTION])
    .era(Legacy).shows(&[server(&["notifications/cancelled"])]),
    &scenario(
        "roots-change",
        "Declare roots that change, call `list_roots`, change your roots, notify the server, and call it again.",
    )
    .era(Legacy).shows(&[client(&["notifications/roots/list_changed"])]),
    &scenario("tools-alone", "Use a server that has tools and nothing else.")
        .offers(|_| Catalogue::client_scenarios_with_one_tool()).shows(&[server(&[r#""capabilities""#, r#""tools""#]).without(&[r#""prompts""#])]),
    &scenario("older-server", "Connect, and ask for the latest version that you know. The server has only this one.")
        .on(&[Transport::Stdio, Transport::StreamableHttp, Transport::WebSocket])
        .era(Legacy).shows(&[client(&[r#""initialize""#, r#""2025-11-25""#])]),
    &scenario("two-sessions", "List the tools to the last page, in two sessions.")
        .tries(&[quirks::PAGES_OF_ONE_SESSION])
        .era(Legacy).shows(&[client(&[r#""initialize""#]).times(2), server(&["after-"])]),
    &scenario("late-answer", "Call `slow`, and cancel the call after a moment. The server answers anyway: continue.")
        .wrong(&[faulty::CANCELLATION_IGNORED])
        .era(Legacy).shows(&[client(&["notifications/cancelled"]), server(&[r#""content""#])]),
    &scenario("tasks-by-polling", "Declare nothing, open no other stream, and call `slow` as a task. Poll it until it is done.")
        .on(HTTP)
        .since(R2025_11_25)
        .until(R2025_11_25).shows(&[client(&["tasks/get"])]),
    &scenario("legacy-fallback", "Connect without knowing the server's era. It refuses modern requests with an unusual code: fall back.")
        .wrong(&[quirks::DISCOVER_REFUSED])
        .on(&[Transport::Stdio])
        .era(Modern).shows(&[server(&[r#""code":-32000"#])]),
    &scenario(
        "tasks-for-the-server",
        "Declare tasks for sampling and elicitation, and call `echo`. The server asks for both as tasks, and polls them.",
    )
    .tries(&[quirks::WANTS_TASKS])
    .since(R2025_11_25)
    .until(R2025_11_25).shows(&[server(&["sampling/createMessage", r#""task":{"#])]),
    &scenario("batches", "Call `echo`. The server sends two pings as one batch: answer both.")
        .tries(&[quirks::BATCHED])
        .since(R2025_03_26)
        .until(R2025_03_26).shows(&[server(&["[{", "scenario-b1"])]),
    &scenario("old-not-found-code", "Read a resource. The server refuses with the code of earlier revisions: continue.")
        .tries(&[quirks::OLD_NOT_FOUND_CODE])
        .era(Modern).shows(&[server(&[r#""code":-32002"#])]),
    &scenario("untyped-results", "List the resources to the last page. The results have no `resultType`.")
        .tries(&[quirks::UNTYPED_LISTS])
        .era(Modern).shows(&[server(&[r#""result":"#, r#""resources":["#]).without(&["resultType"])]),
    &scenario("untyped-page", "List the tools to the last page. The third page has no `resultType`.")
        .tries(&[quirks::UNTYPED_PAGE])
        .era(Modern).shows(&[server(&["untyped_100003"]).without(&["resultType"])]),
    &scenario("caching", "List the tools twice in a row.").era(Modern).shows(&[client(&["tools/list"])]),
    &scenario("slow-greeting", "Connect and list the tools. The server is slow to answer `initialize`.")
        .tries(&[quirks::GREETS_LATE])
        .era(Legacy).shows(&[server(&[r#""protocolVersion""#]).and(|frame, _| frame.at >= 700_000)]),
    &scenario("pinged", "Call `echo`. The server pings you during the call: answer.").tries(&[quirks::PINGED]).era(Legacy).shows(&[server(&["scenario-ping"])]),
];

/// Servers that a client has to live with, or to refuse.
const HOSTILE: &[&Scenario] = &[
    &hostile("hostile.unknown-notification", "Call `echo`. An unknown notification comes first.")
        .tries(&[quirks::UNKNOWN_NOTIFICATION])
        .shows(&[server(&["notifications/nobody_knows"])]),
    &hostile("hostile.unknown-members", "List the tools and call `echo`. Results have unknown members.")
        .tries(&[quirks::UNKNOWN_MEMBERS])
        .shows(&[server(&["nobodyKnows"])]),
    &hostile("hostile.unknown-request", "Call `echo`. The server sends an unknown request.")
        .tries(&[quirks::UNKNOWN_REQUEST])
        .era(Legacy)
        .shows(&[server(&["no-such/method"])]),
    &hostile(
        "hostile.undeclared-requests",
        "Declare no capability and call `echo`. The server sends requests that need capabilities.",
    )
    .tries(&[quirks::UNDECLARED_REQUESTS])
    .era(Legacy)
    .shows(&[server(&["scenario-s"])]),
    &hostile(
        "hostile.unsupported-version",
        "Connect. The server answers with a version that does not exist: disconnect.",
    )
    .wrong(&[quirks::UNKNOWN_VERSION])
    .era(Legacy)
    .shows(&[server(&["1999-12-31"])]),
    &hostile("hostile.wrong-id", "Call `echo`. A response to a request that you did not send comes first.")
        .wrong(&[quirks::FOREIGN_ANSWER_FIRST])
        .shows(&[server(&["nobody-asked-this"])]),
    &hostile("hostile.answered-twice", "Call `echo`, twice. The server answers each call twice.")
        .wrong(&[quirks::ANSWERED_TWICE])
        .shows(&[server(&["The first of two answers"])]),
    &hostile("hostile.garbage", "Call `echo`. Invalid messages come first.")
        .wrong(&[quirks::GARBAGE_FIRST])
        .shows(&[server(&[]).and(is_empty_array)]),
    &hostile("hostile.oversized", "Call `echo`. A message of six mebibytes comes first.")
        .wrong(&[quirks::OVERSIZED_FIRST])
        .shows(&[server(&["notifications/scenario"])]),
    &hostile(
        "hostile.unknown-result-type",
        "Call `echo`. Its result has an unknown `resultType`: treat it as an error.",
    )
    .wrong(&[quirks::UNKNOWN_RESULT_TYPE])
    .era(Modern)
    .shows(&[server(&[r#""mystery""#])]),
    &hostile(
        "hostile.unknown-list-type",
        "List the tools. The result has an unknown `resultType`: treat it as an error.",
    )
    .wrong(&[quirks::UNKNOWN_LIST_TYPE])
    .era(Modern)
    .shows(&[server(&[r#""mystery""#])]),
    &hostile(
        "hostile.task-elsewhere",
        "Declare tasks and list the prompts. The server answers with a task: treat it as an error.",
    )
    .wrong(&[quirks::TASK_ELSEWHERE])
    .era(Modern)
    .shows(&[server(&["scenario-task-elsewhere"])]),
    &hostile(
        "hostile.silence",
        "Call `echo`. The server does not answer: cancel after a second or two, and call again.",
    )
    .wrong(&[quirks::FIRST_CALL_UNANSWERED])
    .shows(&[client(&["tools/call"]).times(2)]),
    &hostile(
        "hostile.odd-cancellations",
        "Call `echo` twice. The server cancels requests that it never sent, or that are answered already.",
    )
    .wrong(&[quirks::CANCELS_ODDLY])
    .shows(&[server(&["scenario-never"])]),
    &hostile(
        "hostile.unknown-completions",
        "Call `echo`. The server reports the end of an elicitation that never began.",
    )
    .wrong(&[quirks::UNKNOWN_COMPLETIONS])
    .since(R2025_11_25)
    .shows(&[server(&["scenario-of-nobody"])]),
    &hostile(
        "hostile.sampling-nonsense",
        "Declare sampling and call `echo`. The messages for your model are invalid: refuse.",
    )
    .wrong(&[quirks::SAMPLES_NONSENSE])
    .era(Legacy)
    .shows(&[server(&[r#""role":"nobody""#])]),
    &hostile(
        "hostile.sampling-unbalanced",
        "Declare sampling with tools and call `echo`. Tool results are missing: refuse.",
    )
    .wrong(&[quirks::SAMPLES_UNBALANCED])
    .since(R2025_11_25)
    .until(R2025_11_25)
    .shows(&[server(&["scenario-use"])]),
    &hostile(
        "hostile.undeclared-mode",
        "Declare elicitation of forms only and call `echo`. The server asks you to open a URL: refuse.",
    )
    .wrong(&[quirks::ASKS_IN_ANOTHER_MODE])
    .since(R2025_11_25)
    .until(R2025_11_25)
    .shows(&[server(&["scenario-mode"])]),
    &hostile("hostile.requests", "Call `echo` twice. The server sends requests, which it must not: do not answer.")
        .wrong(&[quirks::ASKS_BY_REQUEST])
        .era(Modern)
        .shows(&[server(&["scenario-m1"])]),
    &hostile(
        "hostile.sampling-as-task",
        "Declare sampling without tasks, and call `echo`. The server asks for a task: answer directly.",
    )
    .wrong(&[quirks::SAMPLES_AS_TASK])
    .since(R2025_11_25)
    .until(R2025_11_25)
    .shows(&[server(&[r#""task":{"ttl":1000}"#])]),
    &hostile(
        "hostile.cursor-refused",
        "List the tools. The cursor of the second page is refused: start again, or stop.",
    )
    .wrong(&[quirks::CURSOR_REFUSED])
    .shows(&[server(&["This cursor is no longer good"])]),
    &hostile("hostile.error-code", "Call `echo`. The server answers with an error code of its own.")
        .wrong(&[quirks::ERROR_WITH_DATA])
        .shows(&[server(&["-31999"])]),
    &hostile("hostile.endless-stream", "Call `echo` with a progress token. The stream does not end: time out.")
        .wrong(&[quirks::ENDLESS_STREAM])
        .shows(&[server(&["notifications/progress"]).times(10)]),
    &hostile(
        "hostile.endless-questions",
        "Declare elicitation and call `echo`. It asks again and again: give up in the end.",
    )
    .wrong(&[quirks::ASKS_WITHOUT_END])
    .era(Modern)
    .shows(&[server(&["input_required", r#""again""#]).times(3)]),
    &hostile("hostile.endless-list", "List the tools to the last page. The pages repeat without end: stop.")
        .wrong(&[faulty::PAGES_IN_CIRCLES])
        .shows(&[server(&["nextCursor"]).times(2)]),
    &hostile("hostile.icons", "List the tools. Do not fetch or run what their icons name.")
        .wrong(&[quirks::ICONS_OF_ALL_KINDS])
        .since(R2025_11_25)
        .shows(&[server(&["javascript:alert(1)"])]),
    &hostile(
        "hostile.addresses",
        "List the tools and call `visit_elsewhere`. Do not fetch the URLs in icons and questions.",
    )
    .offers(Catalogue::client_scenarios_with_foreign_urls)
    .since(R2025_11_25)
    .shows(&[server(&["visit_elsewhere"])]),
    &hostile("hostile.names-twice", "List the tools and call `echo`. Two tools have the same name.")
        .wrong(&[faulty::TOOL_NAME_TWICE])
        .since(R2025_11_25)
        .shows(&[server(&[]).and(names_twice)]),
    &hostile("hostile.broken-schema", "List the tools and call `echo`. The input schema of a tool is null.")
        .wrong(&[faulty::INPUT_SCHEMA_NULL])
        .shows(&[server(&[r#""inputSchema":null"#])]),
    &hostile("hostile.structured-otherwise", "Call `sum`. Its structured content does not match its output schema.")
        .wrong(&[faulty::STRUCTURED_OTHERWISE])
        .since(R2025_06_18)
        .shows(&[server(&[r#""structuredContent":{"temperature":"mild"}"#])]),
    &hostile("hostile.stdout-banner", "Connect and list the tools. The server prints a line that is not a message.")
        .wrong(&[faulty::STDOUT_BANNER])
        .on(&[Transport::Stdio])
        .shows(&[server(&["Reference server ready"])]),
    &hostile("hostile.lingers", "Connect, list the tools and stop the server. It does not exit by itself.")
        .wrong(&[faulty::LINGERS, faulty::LINGERS_MODERN])
        .on(&[Transport::Stdio])
        .shows(&[server(&[]).and(ended_by_signal)]),
    &scenario(
        "session-ended",
        "List the tools and call `echo` twice. The server drops your session soon: start a new one, and continue.",
    )
    .tries(&[quirks::SESSION_FORGOTTEN])
    .on(HTTP)
    .era(Legacy)
    .shows(&[server(&["HTTP 404"])]),
    &hostile("hostile.session-id-changes", "List the tools and call `echo`. Every response names a different session.")
        .wrong(&[faulty::SESSION_ID_CHANGES])
        .on(HTTP)
        .era(Legacy)
        .shows(&[server(&[]).and(foreign_session)]),
    &hostile("hostile.stream-cut", "Call `slow`. Its stream ends without a response, and cannot be resumed.")
        .wrong(&[faulty::STREAM_WITHOUT_RESPONSE])
        .on(HTTP)
        .era(Legacy)
        .shows(&[server(&["id: \n"])]),
];

/// All of them, in the order of the table.
pub static SCENARIOS: &[&[&Scenario]] = &[OFFICIAL, FEATURES, EDGES, AUTHORIZED, HOSTILE];

/// All of them.
pub fn all() -> impl Iterator<Item = &'static Scenario> {
    SCENARIOS.iter().copied().flatten().copied()
}

const fn official(name: &'static str, asks: &'static str) -> Scenario {
    scenario(name, asks).offers(|_| Catalogue::client_scenarios())
}

/// A server that does wrong, or what looks wrong.
pub(super) const fn hostile(name: &'static str, asks: &'static str) -> Scenario {
    scenario(name, asks)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::all;

    #[test]
    fn names_are_unique_and_all_are_played() {
        let mut seen = BTreeSet::new();
        for scenario in all() {
            assert!(seen.insert(scenario.name), "{} stands twice", scenario.name);
            assert!(!scenario.shows.is_empty(), "{} promises nothing", scenario.name);
            assert!(!scenario.applies.is_empty(), "{} is played nowhere", scenario.name);
        }
    }
}
