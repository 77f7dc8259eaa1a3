//! The scenarios at the edges of what is allowed: a correct client notices nothing, a careless one trips.

use faults::server::quirks;
use reference::catalogue::Catalogue;
use wire::Era::{Legacy, Modern};
use wire::Transport;
use wire::revision::{R2025_03_26, R2025_06_18, R2025_11_25};

use super::super::evidence::{client, server};
use super::super::scenario::{Scenario, scenario};
use super::hostile::hostile;

const HTTP: &[Transport] = &[Transport::StreamableHttp];

/// How many items a page has where a list is to have several.
const SHORT: usize = 2;

/// Names, ids, cursors, states and streams that invite mistakes.
pub(super) const EDGES: &[&Scenario] = &[
    &scenario(
        "odd-names",
        "List everything, call every tool, read every resource and get every prompt. Their names, URIs and arguments are unusual.",
    )
    .offers(|_| Catalogue::client_scenarios_with_odd_names())
    .optional()
    .shows(&[server(&["名前 with spaces"]), client(&["prompts/get", "größe"])]),
    &scenario("strict-forms", "Declare elicitation and call every tool. Each asks with a form that leaves little room.")
        .offers(|_| Catalogue::client_scenarios_with_strict_forms())
        .since(R2025_06_18)
        .shows(&[server(&["Do you agree?"]).without(&["\"mode\""])]),
    &scenario("odd-cursors", "List the tools, the resources and the prompts to the last page. The cursors have unusual characters.")
        .pages(SHORT)
        .tries(&[quirks::ODD_CURSORS])
        .shows(&[client(&["tools/list", "cursor", "世界"]), client(&["prompts/list", "cursor"])]),
    &scenario("rich-results", "List the tools, read a resource and get a prompt. The results hold more than usual.")
        .tries(&[quirks::RICH_RESULTS])
        .shows(&[server(&["scenario://second"])]),
    &scenario("odd-ids", "Call `echo`. The server pings you under ids of every form: answer.")
        .tries(&[quirks::ODD_IDS])
        .era(Legacy)
        .shows(&[server(&["scenario-long-"]), server(&[r#""id":0"#, "ping"])]),
    &scenario("listening-asked", "Open a stream by GET, and call `echo` twice. The server pings you on that stream, and later ends it.")
        .tries(&[quirks::ASKS_LISTENERS])
        .on(HTTP)
        .since(R2025_03_26)
        .era(Legacy)
        .shows(&[server(&["scenario-on-get"])]),
    &scenario("stream-resumed", "Call `echo`. Its stream ends after several events: resume it after the last of them.")
        .tries(&[quirks::STREAM_BREAKS, quirks::SESSION_IN_CAPITALS])
        .on(HTTP)
        .since(R2025_03_26)
        .era(Legacy)
        .shows(&[client(&["GET", "last-event-id: "])]),
    &scenario("odd-events", "Call `echo`. The events of its stream are written in every form that the standard allows.")
        .tries(&[quirks::ODD_EVENTS])
        .on(HTTP)
        .since(R2025_03_26)
        .shows(&[server(&["\r\n"]), server(&[": a comment"])]),
    &scenario(
        "odd-rounds",
        "Declare all that you can, call `echo`, get a prompt and read a resource. Each asks several times, with unusual states.",
    )
    .tries(&[quirks::ODD_STATES])
    .era(Modern)
    .shows(&[server(&["requestState", "%7B+"]), client(&["prompts/get", "requestState"]), client(&["resources/read", "requestState"])]),
    &hostile("hostile.undeclared-inputs", "Declare no capability and call `echo`. Its result asks for input all the same: refuse.")
        .wrong(&[quirks::ASKS_THE_UNDECLARED])
        .era(Modern)
        .shows(&[server(&["scenario-undeclared"])]),
    &scenario("headers-refused", "List the tools and call `echo`. The call is refused for its headers: list the tools again, and repeat it.")
        .tries(&[quirks::HEADERS_REFUSED_ONCE])
        .on(HTTP)
        .era(Modern)
        .shows(&[server(&["-32020"])]),
    &scenario("streams-everywhere", "List the tools, the resources and the prompts to the last page. The server answers everything by event streams with comments.")
        .pages(SHORT)
        .tries(&[quirks::STREAMS_ALL])
        .on(HTTP)
        .since(R2025_03_26)
        .shows(&[server(&[": a comment", "nextCursor"])]),
    &scenario("session-in-capitals", "List the tools and call `echo`. The id of the session has capitals and punctuation: send it back unchanged.")
        .tries(&[quirks::SESSION_IN_CAPITALS])
        .on(HTTP)
        .since(R2025_03_26)
        .era(Legacy)
        .shows(&[client(&["tools/call"])]),
    &scenario("little-declared", "Use the server as it declares itself: it has tools, resources and prompts, and nothing that is optional.")
        .tries(&[quirks::DECLARES_LITTLE])
        .era(Legacy)
        .shows(&[server(&[r#""resources":{}"#])]),
    &hostile("hostile.greeting-unanswered", "Connect. The server does not answer `initialize`: give up, without a cancellation.")
        .wrong(&[quirks::GREETING_UNANSWERED])
        .era(Legacy)
        .shows(&[client(&[r#""initialize""#])]),
    &scenario("roots-asked-again", "Declare roots. List the tools, call `echo`, and list the tools again. The server asks for your roots each time.")
        .tries(&[quirks::ASKS_FOR_ROOTS_AGAIN])
        .era(Legacy)
        .shows(&[server(&["roots/list"]).times(2)]),
    &scenario("tool-choice", "Declare sampling with tools, and call `echo`. The server asks your model twice: once it must use a tool, once it must not.")
        .tries(&[quirks::CHOOSES_TOOLS])
        .since(R2025_11_25)
        .shows(&[server(&["scenario_add", r#""mode":"none""#])]),
    &hostile("hostile.versions-refused", "Connect. The server refuses your version and lists only one that you do not know: give up.")
        .wrong(&[quirks::REFUSES_ALL_VERSIONS])
        .era(Modern)
        .shows(&[server(&["-32022", "2099-12-31"])]),
    &hostile("hostile.later-versions", "Connect by `server/discover`. The server lists no version that you know: give up.")
        .wrong(&[quirks::LISTS_LATER_VERSIONS])
        .era(Modern)
        .shows(&[server(&["2099-12-31"])]),
    &scenario("long-task", "Call `outlasts_patience` as a task. It takes a minute: give up after a second or two, and cancel the task.")
        .offers(|_| Catalogue::client_scenarios_with_a_long_task())
        .optional()
        .since(R2025_11_25)
        .until(R2025_11_25)
        .shows(&[client(&["tools/call", r#""task""#])]),
    &hostile("hostile.undeclared-tools", "Declare sampling without tools and call `echo`. The server offers tools to your model: refuse.")
        .wrong(&[quirks::SAMPLES_WITH_TOOLS])
        .since(R2025_11_25)
        .shows(&[server(&["scenario_tool"])]),
    &hostile("hostile.stream-lost", "Call `echo`, and list the resources and the prompts. The first stream of each ends without a response: ask again, or report it.")
        .wrong(&[quirks::STREAM_CUT])
        .on(HTTP)
        .era(Modern)
        .shows(&[server(&[": cut"]).times(3)]),
];
