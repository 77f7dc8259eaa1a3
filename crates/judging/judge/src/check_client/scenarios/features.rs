//! The scenarios of what the protocol offers, feature by feature.

use faults::server::{self as faulty, quirks};
use reference::catalogue::Catalogue;
use wire::Era::{Legacy, Modern};
use wire::Transport;
use wire::revision::{R2025_03_26, R2025_06_18, R2025_11_25};

use super::super::evidence::{client, server};
use super::super::scenario::{Scenario, scenario};

const HTTP: &[Transport] = &[Transport::StreamableHttp];

/// What the protocol has, feature by feature.
pub(super) const FEATURES: &[&Scenario] = &[
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
