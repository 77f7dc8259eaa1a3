//! The scenarios, as data: what docs/check-client.md tells in a table is made from this.

use reference::catalogue::Catalogue;
use wire::Era::{Legacy, Modern};
use wire::Transport;
use wire::revision::{R2025_03_26, R2025_06_18, R2025_11_25};

use super::scenario::{Scenario, scenario};
use super::tokens::AUTHORIZED;

const HTTP: &[Transport] = &[Transport::StreamableHttp];

/// The shortest one, by which is found out what a client speaks.
pub static FIRST: Scenario = scenario("initialize", "Connect and list the tools.");

/// Names that the official suite has, for the same.
const OFFICIAL: &[&Scenario] = &[
    &FIRST,
    &drill("tools_call", "List the tools and call `add_numbers` with two numbers, `a` and `b`."),
    &drill(
        "elicitation-sep1034-client-defaults",
        "Declare elicitation, call `test_client_elicitation_defaults`, and accept the form with its defaults.",
    )
    .since(R2025_06_18),
    &drill(
        "sse-retry",
        "Call `test_reconnection`: its stream ends early; come back after the time that it named, with `Last-Event-ID`.",
    )
    .on(HTTP)
    .since(R2025_11_25)
    .era(Legacy),
    &drill("request-metadata", "List the tools. The first request is refused for its version: ask again.")
        .tries(&["first-request-refused"])
        .era(Modern),
    &drill(
        "sep-2322-client-request-state",
        "Call `test_mrtr_echo_state`; before you answer what it asks, call `test_mrtr_unrelated`. Then call `test_mrtr_no_state` and `test_mrtr_no_result_type`.",
    )
    .tries(&["no-result-type"])
    .era(Modern),
    &drill(
        "http-standard-headers",
        "Call `test_headers` and `my-hyphenated-tool`, read every resource that is listed, and get the prompt `test_prompt`.",
    )
    .on(HTTP)
    .era(Modern),
    &drill("http-custom-headers", "List the tools and make the calls that the context names in `toolCalls`.")
        .tells(Catalogue::drill_calls)
        .on(HTTP)
        .era(Modern),
    &drill("http-invalid-tool-headers", "List the tools, call `valid_tool`, and none of those that are declared wrongly.")
        .offers(|_| Catalogue::drill_with_invalid_headers())
        .on(HTTP)
        .era(Modern),
    &drill("json-schema-ref-no-deref", "List the tools. Fetch nothing that their schemas name.")
        .offers(Catalogue::drill_with_places),
    &drill(
        "json-schema-2020-12-preservation",
        "List the tools and call `json_schema_echo` with the input schema of `json_schema_2020_12_tool`, as listed, in `schema`.",
    ),
];

/// What the protocol has, feature by feature.
const FEATURES: &[&Scenario] = &[
    &scenario("lists", "List the tools, the resources, the resource templates and the prompts, each to its last page."),
    &scenario("uneven-pages", "List the tools to the last page. One amidst them is empty.").tries(&["empty-page"]),
    &scenario("empty-cursor", "List the tools to the last page. The cursor of one is the empty text.")
        .tries(&["empty-cursor"])
        .era(Modern),
    &scenario("echo", "Call `echo` with a `message` of your own, and `sum` with the numbers `a` and `b`."),
    &scenario("fail", "Call `fail`: the result says that the tool failed. End content all the same."),
    &scenario("resources", "List the resources and read each; read what a template stands for, too."),
    &scenario("prompts", "List the prompts and get each of them, with the arguments that it wants."),
    &scenario("completion", "Ask to complete an argument of a prompt and a variable of a resource template."),
    &scenario("content", "Call `get_image`, `get_audio`, `get_resource` and whatever else the list has of that kind."),
    &scenario("logging", "Ask for log messages and call `log`."),
    &scenario("progress", "Call `slow` with a progress token, and wait for its result."),
    &scenario("cancellation", "Call `slow` with 50 `steps`, and cancel the call after a moment."),
    &scenario("sampling", "Declare sampling, call `sample`, and answer what it asks."),
    &scenario("sampling-with-tools", "Declare sampling with tools, call `sample_with_tools`, and answer what it asks.")
        .since(R2025_11_25),
    &scenario("elicitation", "Declare elicitation, call `ask`, `ask_form`, `ask_two` and `ask_in_turn`, and answer.")
        .since(R2025_06_18),
    &scenario("elicitation-url", "Declare elicitation of URLs, call `ask_url`, and answer. Visit nothing by yourself.")
        .since(R2025_11_25),
    &scenario("roots", "Declare roots, call `list_roots`, and answer."),
    &scenario("list-changes", "Call `toggle_tool`, and list the tools again once the server says that they changed."),
    &scenario("subscriptions", "Subscribe to `proof://counter`, call `touch_resource`, and read it again when told."),
    &scenario(
        "tasks",
        "Call `slow` and `errand` as tasks (in the modern era: declare them), look at them, answer what they ask, and fetch what came of them. Cancel another.",
    )
    .since(R2025_11_25),
    &scenario(
        "model-with-progress",
        "Declare sampling and call `echo`. The server wants to know how far your answer is.",
    )
    .tries(&["samples-with-progress"])
    .era(Legacy),
    &scenario("sampling-refused", "Declare sampling, call `sample`, and let your user refuse what it asks."),
    &scenario(
        "question-taken-back",
        "Declare sampling, call `echo`, and take your time. The server takes its question back.",
    )
    .tries(&["cancels-its-question"])
    .era(Legacy),
    &scenario(
        "roots-change",
        "Declare changing roots, call `list_roots`, change your roots, say so, and call it again.",
    )
    .era(Legacy),
    &scenario("tools-alone", "Do what you can with a server that has tools and nothing else.")
        .offers(|_| Catalogue::drill_with_one_tool()),
    &scenario("older-server", "Connect, asking for the latest version that you know. The server has this one alone.")
        .on(&[Transport::Stdio, Transport::StreamableHttp, Transport::WebSocket])
        .era(Legacy),
    &scenario("two-sessions", "List the tools to the last page, in two sessions.")
        .tries(&["pages-of-one-session"])
        .era(Legacy),
    &scenario("late-answer", "Call `slow`, and cancel the call after a moment. It is answered all the same: go on.")
        .wrong(&["cancellation-ignored"])
        .era(Legacy),
    &scenario("tasks-by-looking", "Declare nothing, open no stream beside, and call `slow` as a task: look at it until it is done.")
        .on(HTTP)
        .since(R2025_11_25)
        .until(R2025_11_25),
    &scenario("older-era", "Connect, not knowing what the server is. It refuses modern words by an odd code: fall back.")
        .wrong(&["discover-refused"])
        .on(&[Transport::Stdio])
        .era(Modern),
    &scenario(
        "tasks-for-the-server",
        "Declare tasks for sampling and elicitation, and call `echo`. The server asks for both as tasks, and looks at them.",
    )
    .tries(&["wants-tasks"])
    .since(R2025_11_25)
    .until(R2025_11_25),
    &scenario("batches", "Call `echo`. The server sends two pings as one batch: answer both.")
        .tries(&["batched"])
        .since(R2025_03_26)
        .until(R2025_03_26),
    &scenario("not-found-as-before", "Read a resource. It is refused with the code of earlier revisions: go on.")
        .tries(&["not-found-as-before"])
        .era(Modern),
    &scenario("untyped-results", "List the resources to the last page. The results do not say of which type they are.")
        .tries(&["untyped-lists"])
        .era(Modern),
    &scenario("untyped-page", "List the tools to the last page. The third does not say of which type it is.")
        .tries(&["untyped-page"])
        .era(Modern),
    &scenario("caching", "List the tools twice in a row.").era(Modern),
    &scenario("slow-greeting", "Connect and list the tools. The server takes its time to answer `initialize`.")
        .tries(&["greets-late"])
        .era(Legacy),
    &scenario("pinged", "Call `echo`. The server pings you meanwhile: answer it.").tries(&["pinged"]).era(Legacy),
];

/// Servers that a client has to live with, or to refuse.
const HOSTILE: &[&Scenario] = &[
    &hostile("hostile.unknown-notification", "Call `echo`. A notification of a kind that nobody knows comes first.")
        .tries(&["unknown-notification"]),
    &hostile("hostile.unknown-members", "List the tools and call `echo`. Results have members that nobody knows.")
        .tries(&["unknown-members"]),
    &hostile("hostile.unknown-request", "Call `echo`. The server asks you something that nobody knows.")
        .tries(&["unknown-request"])
        .era(Legacy),
    &hostile(
        "hostile.undeclared-requests",
        "Call `echo`, having declared no capability. The server asks you for things all the same.",
    )
    .tries(&["undeclared-requests"])
    .era(Legacy),
    &hostile("hostile.unsupported-version", "Connect. The server answers with a version that never was: leave.")
        .wrong(&["version-of-nobody"])
        .era(Legacy),
    &hostile("hostile.wrong-id", "Call `echo`. An answer to a request that you did not make comes first.")
        .wrong(&["foreign-answer-first"]),
    &hostile("hostile.answered-twice", "Call `echo`, twice. The server answers each call twice.")
        .wrong(&["answered-twice"]),
    &hostile("hostile.garbage", "Call `echo`. What is no message comes first.").wrong(&["garbage-first"]),
    &hostile("hostile.oversized", "Call `echo`. A message of six mebibytes comes first.").wrong(&["oversized-first"]),
    &hostile("hostile.unknown-result-type", "Call `echo`. Its result is of a type that nobody knows: it is an error.")
        .wrong(&["result-type-of-nobody"])
        .era(Modern),
    &hostile("hostile.unknown-list-type", "List the tools. The list is of a type that nobody knows: it is an error.")
        .wrong(&["list-type-of-nobody"])
        .era(Modern),
    &hostile("hostile.task-elsewhere", "Declare tasks and list the prompts. The list is answered by a task: it is an error.")
        .wrong(&["task-elsewhere"])
        .era(Modern),
    &hostile(
        "hostile.silence",
        "Call `echo`, which is not answered. Give the call up after a second or two, and make it again.",
    )
    .wrong(&["first-call-unanswered"]),
    &hostile("hostile.odd-cancellations", "Call `echo`, twice. The server cancels what it never asked, or asked before.")
        .wrong(&["cancels-oddly"]),
    &hostile("hostile.unknown-completions", "Call `echo`. The server says that an elicitation is over that never was.")
        .wrong(&["unknown-completions"])
        .since(R2025_11_25),
    &hostile("hostile.sampling-nonsense", "Declare sampling and call `echo`. The messages for your model are none: refuse.")
        .wrong(&["samples-nonsense"])
        .era(Legacy),
    &hostile("hostile.sampling-unbalanced", "Declare sampling with tools and call `echo`. Results of tools are missing: refuse.")
        .wrong(&["samples-unbalanced"])
        .since(R2025_11_25)
        .until(R2025_11_25),
    &hostile("hostile.undeclared-mode", "Declare elicitation of forms alone and call `echo`. The server names an address: refuse.")
        .wrong(&["asks-in-another-mode"])
        .since(R2025_11_25)
        .until(R2025_11_25),
    &hostile("hostile.requests", "Call `echo`, twice. The server asks by requests, which it must not: do not answer.")
        .wrong(&["asks-by-request"])
        .era(Modern),
    &hostile("hostile.sampling-as-task", "Declare sampling and no tasks, and call `echo`. The server wants a task: answer.")
        .wrong(&["samples-as-task"])
        .since(R2025_11_25)
        .until(R2025_11_25),
    &hostile("hostile.cursor-refused", "List the tools. The cursor of the second page is refused: begin again, or stop.")
        .wrong(&["cursor-refused"]),
    &hostile("hostile.error-code", "Call `echo`. The call is answered with an error of the server's own.")
        .wrong(&["error-with-data"]),
    &hostile("hostile.endless-stream", "Call `echo` with a progress token. Give up after a while, if you do.")
        .wrong(&["endless-stream"]),
    &hostile(
        "hostile.endless-questions",
        "Declare elicitation and call `echo`. It asks again and again: give up at last.",
    )
    .wrong(&["asks-without-end"])
    .era(Modern),
    &hostile("hostile.endless-list", "List the tools to the last page. There is none: notice.")
        .wrong(&["pages-in-circles"]),
    &hostile("hostile.icons", "List the tools. Fetch and run nothing that their icons name.")
        .wrong(&["icons-of-all-kinds"])
        .since(R2025_11_25),
    &hostile("hostile.addresses", "List the tools and call `visit_elsewhere`. Fetch nothing that icons or questions name.")
        .offers(Catalogue::drill_with_places)
        .since(R2025_11_25),
    &hostile("hostile.names-twice", "List the tools and call `echo`. Two tools have one name.")
        .wrong(&["tool-name-twice"]),
    &hostile("hostile.broken-schema", "List the tools and call `echo`. A tool has no input schema worth the name.")
        .wrong(&["input-schema-null"]),
    &hostile("hostile.structured-otherwise", "Call `sum`. What it returns does not fit its own output schema.")
        .wrong(&["structured-otherwise"])
        .since(R2025_06_18),
    &hostile("hostile.stdout-banner", "Connect and list the tools. The server prints a line that is no message.")
        .wrong(&["stdout-banner"])
        .on(&[Transport::Stdio]),
    &hostile("hostile.lingers", "Connect, list the tools and end the server, which does not end by itself.")
        .wrong(&["lingers", "lingers-modern"])
        .on(&[Transport::Stdio]),
    &scenario(
        "session-ended",
        "List the tools and call `echo`, twice. The server forgets your session before long: begin a new one, and go on.",
    )
    .tries(&["session-forgotten"])
    .on(HTTP)
    .era(Legacy),
    &hostile("hostile.session-id-changes", "List the tools and call `echo`. Every response names another session.")
        .wrong(&["session-id-changes"])
        .on(HTTP)
        .era(Legacy),
    &hostile("hostile.stream-cut", "Call `slow`. Its stream ends without an answer, and cannot be resumed.")
        .wrong(&["stream-without-response"])
        .on(HTTP)
        .era(Legacy),
];

/// All of them, in the order of the table.
pub static SCENARIOS: &[&[&Scenario]] = &[OFFICIAL, FEATURES, AUTHORIZED, HOSTILE];

/// All of them.
pub fn all() -> impl Iterator<Item = &'static Scenario> {
    SCENARIOS.iter().copied().flatten().copied()
}

const fn drill(name: &'static str, asks: &'static str) -> Scenario {
    scenario(name, asks).offers(|_| Catalogue::drill())
}

/// A server that does wrong, or what looks wrong.
const fn hostile(name: &'static str, asks: &'static str) -> Scenario {
    scenario(name, asks)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use reference::faults;

    use super::all;

    #[test]
    fn names_are_unique_and_faults_exist() {
        let mut seen = BTreeSet::new();
        for scenario in all() {
            assert!(seen.insert(scenario.name), "{} stands twice", scenario.name);
            for fault in scenario.faults {
                let found = faults::find(fault).or_else(|| faults::trial(fault));
                assert!(found.is_some(), "{}: no fault is called {fault}", scenario.name);
            }
            assert!(scenario.until.at_least(scenario.since), "{} is played nowhere", scenario.name);
        }
    }
}
