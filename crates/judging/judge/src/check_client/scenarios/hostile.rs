//! The scenarios of servers that break rules: a client has to live with them, or to refuse them.

use faults::server::{self as faulty, quirks};
use reference::catalogue::Catalogue;
use wire::Era::{Legacy, Modern};
use wire::Transport;
use wire::revision::{R2025_06_18, R2025_11_25};

use super::super::evidence::{client, ended_by_signal, foreign_session, is_empty_array, names_twice, server};
use super::super::scenario::{Scenario, scenario};

const HTTP: &[Transport] = &[Transport::StreamableHttp];

/// Servers that a client has to live with, or to refuse.
pub(super) const HOSTILE: &[&Scenario] = &[
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

/// A server that does wrong, or what looks wrong.
pub(super) const fn hostile(name: &'static str, asks: &'static str) -> Scenario {
    scenario(name, asks)
}
