//! The scenarios that the official suite also has, by its names.

use faults::server::quirks;
use reference::catalogue::Catalogue;
use wire::Era::{Legacy, Modern};
use wire::Transport;
use wire::revision::{R2025_06_18, R2025_11_25};

use super::super::evidence::{client, server};
use super::super::scenario::{Scenario, scenario};
use super::FIRST;

const HTTP: &[Transport] = &[Transport::StreamableHttp];

/// Names that the official suite has, for the same.
pub(super) const OFFICIAL: &[&Scenario] = &[
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

const fn official(name: &'static str, asks: &'static str) -> Scenario {
    scenario(name, asks).offers(|_| Catalogue::client_scenarios())
}
