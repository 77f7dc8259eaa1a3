// A harbour office as an MCP server: ships, berths, tides and crane jobs, over stdio and Streamable HTTP, at revisions
// 2025-03-26, 2025-11-25 and 2026-07-28. Written from the specification alone, to measure a check that has never seen it.
//
//   node server_harbour.mjs --stdio | --http PORT [--fault NAME]
//   node server_harbour.mjs --list-faults
//
// Without `--fault` it follows the specification; with it, it breaks one sentence.

import http from "node:http";
import { createHash, createHmac, randomBytes, randomUUID, timingSafeEqual } from "node:crypto";

const MODERN = "2026-07-28";
const NOVEMBER = "2025-11-25";
const MARCH = "2025-03-26";
const VERSIONS = [MODERN, NOVEMBER, MARCH];
const META = "io.modelcontextprotocol/";
const TASKS = META + "tasks";

// ---------------------------------------------------------------------------------------------------------------------
// Faults: name | area | level | transports | revisions | what | page#section

const REVISIONS = { all: VERSIONS, modern: [MODERN], legacy: [NOVEMBER, MARCH], november: [NOVEMBER], march: [MARCH], new: [MODERN, NOVEMBER] };
const TRANSPORTS = { any: ["stdio", "http"], http: ["http"], stdio: ["stdio"] };
const FAULTS = `
id-as-string | base | MUST | any | all | A numeric request id comes back as a string. | basic/index#responses
id-zero-is-no-id | base | MUST | any | all | A request with the id 0 is taken for a notification and never answered. | basic/index#responses
long-ids-cut | base | MUST | any | all | String ids are cut to 36 characters in the response. | basic/index#responses
error-without-message | base | MUST | any | all | Errors carry a code and no message. | basic/index#error-responses
error-code-a-word | base | MUST | any | all | An unknown tool is refused with the code "UNKNOWN_TOOL". | basic/index#error-responses
result-beside-error | base | MUST | any | all | A tool that fails answers with a result and an error in one response. | basic/index#responses
errors-without-jsonrpc | base | MUST | any | all | Error responses lack the member jsonrpc. | basic/index#messages
optional-members-null | base | MUST | any | all | Optional members without a value are written as null: nextCursor, annotations, description. | schema#ListToolsResult
unknown-method-internal | base | MUST | any | all | An unknown method is answered with -32603 and a stack. | basic/index#error-codes
invented-reserved-code | base | MUST | any | modern | A crane job for an unknown berth is refused with -32050, which the specification reserves. | basic/index#error-codes
not-utf-8 | base | MUST | any | all | Messages are encoded in ISO 8859-1, as an old proxy did it. | basic/transports#messages
unhandled-crash | base | MUST | any | all | A call without the member arguments ends the process. | basic/index#responses
version-echoed | lifecycle | MUST | any | legacy | initialize answers with whatever version the client asked for. | basic/lifecycle#version-negotiation
older-version-replaced | lifecycle | MUST | any | legacy | A client that asks for 2025-03-26, which is supported, is answered 2025-11-25. | basic/lifecycle#version-negotiation
unknown-version-refused | lifecycle | MUST | any | legacy | initialize with an unknown version ends in an error; no other version is offered. | basic/lifecycle#version-negotiation
server-info-without-version | lifecycle | MUST | any | legacy | serverInfo has a name and no version. | schema#Implementation
instructions-a-list | lifecycle | MUST | any | all | The instructions are a list of sentences. | schema#InitializeResult
ping-says-pong | lifecycle | MUST | any | legacy | The answer to ping is {"pong": true, "uptime": …}. | basic/utilities/ping#behavior-requirements
asks-before-initialized | lifecycle | SHOULD | stdio | legacy | The server asks for roots before the client has sent initialized. | basic/lifecycle#initialization
capability-prompts-missing | lifecycle | MUST | any | all | Prompts are served, but the capability prompts is not declared. | server/prompts#capabilities
capability-subscribe-unserved | resources | MUST | any | legacy | The capability resources.subscribe is declared, and resources/subscribe is an unknown method. | server/resources#subscriptions
initialize-swallows-extensions | lifecycle | MUST | any | legacy | Unknown client capabilities make initialize fail with Invalid params. | basic/lifecycle#capability-negotiation
unsupported-version-wrong-code | versioning | MUST | any | modern | A request at an unknown version is refused with -32602. | basic/versioning#protocol-version-negotiation
unsupported-version-no-list | versioning | MUST | any | modern | UnsupportedProtocolVersionError does not list what is supported. | basic/versioning#protocol-version-negotiation
every-version-served | versioning | MUST | any | modern | Requests at any version are served. | basic/versioning#protocol-version-negotiation
missing-capabilities-defaulted | versioning | MUST | any | modern | A request without clientCapabilities is served as if they were empty. | basic/index#_meta
missing-meta-with-200 | versioning | MUST | http | modern | A request without its required _meta fields is refused with HTTP 200. | basic/index#_meta
discover-old-shape | discovery | MUST | any | modern | server/discover answers protocolVersion and no supportedVersions. | server/discover#discoverresult
discover-without-modern | discovery | MUST | any | modern | supportedVersions lists the older versions alone. | server/discover#discoverresult
result-type-forgotten | base | MUST | any | modern | Results of prompts/get and completion/complete have no resultType. | basic/index#resulttype
server-info-not-in-results | base | SHOULD | any | modern | Results do not name the server in _meta. | basic/index#_meta
capabilities-remembered | versioning | MUST | any | modern | Capabilities of an earlier request count for later ones that do not declare them. | basic/index#statelessness
missing-capability-as-failure | versioning | MUST | any | modern | A tool that needs elicitation answers isError where the client does not declare it. | basic/index#_meta
missing-capability-no-data | versioning | MUST | any | modern | -32021 does not say which capabilities are required. | basic/index#_meta
name-header-unchecked | http | MUST | http | modern | Mcp-Name may differ from the body. | basic/transports/streamable-http#server-validation
method-header-optional | http | MUST | http | modern | Requests without Mcp-Method are served. | basic/transports/streamable-http#server-validation
method-header-any-case | http | MUST | http | modern | Mcp-Method is compared without regard to case. | basic/transports/streamable-http#case-sensitivity
param-header-unchecked | http | MUST | http | modern | Mcp-Param-Station may differ from the argument. | basic/transports/streamable-http#server-behavior-for-custom-headers
param-header-always-expected | http | MUST | http | modern | A call that leaves out an optional mirrored argument is refused as its header is missing. | basic/transports/streamable-http#server-behavior-for-custom-headers
encoded-name-not-decoded | http | MUST | http | modern | A Base64-encoded Mcp-Name is compared as it stands, so valid requests are refused. | basic/transports/streamable-http#value-encoding
header-mismatch-422 | http | MUST | http | modern | A header that does not match is refused with HTTP 422. | basic/transports/streamable-http#server-validation
header-mismatch-wrong-code | http | MUST | http | modern | A header that does not match is refused with -32600. | basic/transports/streamable-http#server-validation
unknown-method-200 | http | MUST | http | modern | An unknown method is refused with HTTP 200. | basic/transports/streamable-http#protocol-version-header
missing-capability-200 | http | MUST | http | modern | MissingRequiredClientCapabilityError comes with HTTP 200. | basic/index#_meta
buffering-not-disabled | http | SHOULD | http | modern | Streams lack X-Accel-Buffering: no. | basic/transports/streamable-http#receiving-messages
origin-prefix | http | MUST | http | all | Origins that begin with http://localhost are accepted, such as http://localhost.example.org. | basic/transports/streamable-http#security-&-endpoint
origin-status-400 | http | MUST | http | new | A foreign Origin is refused with 400. | basic/transports/streamable-http#security-&-endpoint
origin-unchecked-on-get | http | MUST | http | legacy | The Origin is checked for POST alone: GET and DELETE go through. | basic/transports#security-warning
notification-200 | http | MUST | http | all | Notifications are answered with 200 and {"ok": true}. | basic/transports/streamable-http#sending-messages
errors-as-html | http | MUST | http | all | Errors are served with the content type text/html. | basic/transports/streamable-http#sending-messages
stream-left-open | http | SHOULD | http | all | A stream is not closed after its response. | basic/transports/streamable-http#receiving-messages
stream-pretty-printed | http | MUST | http | all | JSON in streams spans several lines of which only the first is a data line. | basic/transports/streamable-http#receiving-messages
stream-ends-early | http | MUST | http | all | A streaming tool that fails closes its stream without a response. | basic/transports/streamable-http#sending-messages
session-missing-401 | http | SHOULD | http | legacy | A request without its session ID is refused with 401. | basic/transports#session-management
dead-session-400 | http | MUST | http | legacy | A terminated session is refused with 400. | basic/transports#session-management
delete-does-nothing | http | MUST | http | legacy | DELETE says 204 and the session goes on. | basic/transports#session-management
session-id-with-spaces | http | MUST | http | legacy | The session ID contains spaces. | basic/transports#session-management
session-ids-count-up | http | SHOULD | http | legacy | Session IDs are 1001, 1002, 1003. | basic/transports#session-management
get-is-a-health-page | http | MUST | http | legacy | GET answers 200 with a JSON status. | basic/transports#listening-for-messages-from-the-server
get-streams-broadcast | http | MUST | http | legacy | A message goes to every GET stream of the session. | basic/transports#multiple-connections
event-ids-per-stream | http | MUST | http | legacy | Event IDs begin at 1 in every stream. | basic/transports#resumability-and-redelivery
resume-replays-all | http | MUST | http | legacy | Resuming replays the events of every stream of the session. | basic/transports#resumability-and-redelivery
response-on-get-stream | http | MUST | http | legacy | Slow tools answer on the GET stream if one is open. | basic/transports#listening-for-messages-from-the-server
bad-version-header-served | http | MUST | http | november | A request with MCP-Protocol-Version: 1999-01-01 is served. | basic/transports#protocol-version-header
no-priming-event | http | SHOULD | http | november | Streams begin without an event that primes the client to reconnect. | basic/transports#sending-messages-to-the-server
posted-answer-200 | http | MUST | http | legacy | The client's answers are accepted with 200 and a body. | basic/transports#sending-messages-to-the-server
sessions-mixed | http | MUST | http | legacy | What one session subscribed to is sent to the others too. | server/resources#subscriptions
stdout-chatter | stdio | MUST | stdio | all | Scheduling a crane job prints a line for people on stdout. | basic/transports/stdio
stdout-bom | stdio | MUST | stdio | all | The first message begins with a byte order mark. | basic/transports/stdio
errors-indented | stdio | MUST | stdio | all | Errors are printed as indented JSON over several lines. | basic/transports/stdio
eof-ignored | stdio | SHOULD | stdio | all | The server goes on after its stdin was closed. | basic/transports/stdio#shutdown
long-lines-dropped | stdio | MUST | stdio | all | Requests longer than 64 KiB are dropped without an answer. | basic/index#responses
invalid-json-fatal | stdio | MUST | stdio | all | A line that is not JSON ends the process. | basic/index#messages
notification-answered | stdio | MUST | stdio | all | Unknown notifications are answered with an error. | basic/index#notifications
asks-by-request | mrtr | MUST | any | modern | The server sends elicitation/create as a request. | basic/patterns/mrtr
input-requests-a-list | mrtr | MUST | any | modern | inputRequests is a list. | schema#InputRequests
input-required-empty | mrtr | MUST | any | modern | InputRequiredResult has neither inputRequests nor requestState. | basic/patterns/mrtr#server-requirements-basic-workflow
state-unsigned | mrtr | MUST | any | modern | A changed requestState is accepted. | basic/patterns/mrtr#server-requirements-basic-workflow
state-for-any-call | mrtr | SHOULD | any | modern | requestState of one call is accepted with other arguments. | basic/patterns/mrtr#server-requirements-basic-workflow
retry-by-request-id | mrtr | MUST | any | modern | A retry counts only under the id of the first request; the server asks forever. | basic/index#statelessness
missing-answer-an-error | mrtr | SHOULD | any | modern | A retry that lacks a requested answer ends in -32603. | basic/patterns/mrtr#error-handling
surplus-answer-an-error | mrtr | SHOULD | any | modern | A retry with an unknown key in inputResponses is refused. | basic/patterns/mrtr#error-handling
decline-crashes | elicitation | MUST | any | new | A declined form ends in an internal error. | client/elicitation#error-handling
elicits-undeclared | elicitation | MUST | any | new | The server asks clients that do not declare elicitation. | client/elicitation#capabilities
url-mode-undeclared | elicitation | MUST | any | new | The server sends URL mode to a client that declares form mode alone. | client/elicitation#capabilities
form-nested | elicitation | MUST | any | new | The form has an object within an object. | client/elicitation#requested-schema
form-asks-pin | elicitation | MUST | any | new | The form asks for the password of the weighbridge account. | client/elicitation#form-mode-security
form-without-message | elicitation | MUST | any | new | The form has no message. | client/elicitation#elicitation-requests
form-with-link | elicitation | SHOULD | any | new | The message of the form carries a link to click. | client/elicitation#safe-url-handling
url-relative | elicitation | MUST | any | new | The URL of URL mode is a path. | client/elicitation#url-mode-elicitation-requests
url-plain-http | elicitation | SHOULD | any | new | The URL of URL mode is http. | client/elicitation#safe-url-handling
sampling-without-limit | sampling | MUST | any | all | The sampling request has no maxTokens. | client/sampling#sampling-parameters
sampling-system-message | sampling | MUST | any | all | The sampling request has a message with the role system. | client/sampling#messages
sampling-tools-undeclared | sampling | MUST | any | new | The sampling request offers tools to a client without sampling.tools. | client/sampling#tools-in-sampling
sampling-all-servers | sampling | SHOULD | any | new | includeContext is allServers though the client does not declare sampling.context. | client/sampling#capabilities
sampling-undeclared | sampling | MUST | any | all | The server asks for sampling where the client does not declare it. | client/sampling#capabilities
structured-strings | tools | MUST | any | new | Numbers in structuredContent are strings. | server/tools#output-schema
structured-absent | tools | MUST | any | new | A tool with an output schema answers text alone. | server/tools#output-schema
structured-without-text | tools | SHOULD | any | new | Structured content is not serialized in a text block. | server/tools#structured-content
unknown-tool-a-result | tools | SHOULD | any | all | An unknown tool is answered with isError. | server/tools#error-handling
validation-a-protocol-error | tools | SHOULD | any | new | Arguments out of range are refused with -32602. | server/tools#error-handling
failure-not-flagged | tools | MUST | any | all | A tool that fails says so in text and leaves isError out. | server/tools#error-handling
required-unchecked | tools | MUST | any | all | A missing required argument is not noticed. | server/tools#security-considerations
enum-unchecked | tools | MUST | any | all | Arguments outside their enum are taken for the first value. | server/tools#security-considerations
tool-name-with-space | tools | SHOULD | any | new | One tool is called "berth photo". | server/tools#tool-names
schema-empty | tools | MUST | any | all | The tool without parameters has the input schema {}. | server/tools#tool
schema-required-boolean | tools | MUST | any | all | Properties carry required: true, which JSON Schema 2020-12 does not allow. | basic/index#schema-validation
image-a-data-url | tools | MUST | any | all | Image data is a data: URL. | server/tools#image-content
image-without-type | tools | MUST | any | all | Image content has no mimeType. | schema#ImageContent
audio-base64url | tools | MUST | any | all | Audio data is Base64url without padding. | server/tools#audio-content
link-without-name | tools | MUST | any | new | A resource link has no name. | schema#ResourceLink
embedded-path | tools | MUST | any | all | An embedded resource has a path for a URI. | schema#EmbeddedResource
content-one-object | tools | MUST | any | all | content is one block, not a list. | schema#CallToolResult
order-at-random | tools | SHOULD | any | modern | Tools are listed in another order each time. | server/tools#capabilities
tool-appears-after-call | tools | MUST | any | modern | Scheduling a job makes a further tool appear. | server/tools#capabilities
header-on-number | tools | MUST | any | modern | x-mcp-header marks a parameter of type number. | server/tools#x-mcp-header
header-twice | tools | MUST | any | modern | Two parameters share an x-mcp-header but for its case. | server/tools#x-mcp-header
unknown-resource-empty | resources | MUST | any | modern | An unknown resource has empty contents. | server/resources#error-handling
not-found-old-code | resources | MUST | any | modern | An unknown resource is refused with -32002. | server/resources#error-handling
not-found-internal | resources | SHOULD | any | legacy | An unknown resource is refused with -32603. | server/resources#error-handling
blob-raw | resources | MUST | any | all | Binary contents are not encoded in Base64. | server/resources#security-considerations
contents-without-uri | resources | MUST | any | all | Contents do not repeat their URI. | schema#TextResourceContents
template-unbalanced | resources | MUST | any | all | A URI template lacks its closing brace. | schema#ResourceTemplate
size-in-words | resources | MUST | any | all | A resource's size is "2 kB". | schema#Resource
priority-five | resources | MUST | any | all | A resource's priority is 5. | server/resources#annotations
updated-without-uri | resources | MUST | any | all | resources/updated does not say which resource. | schema#ResourceUpdatedNotification
unsubscribe-ignored | resources | SHOULD | any | legacy | Updates go on after resources/unsubscribe. | server/resources#subscriptions
prompt-arguments-a-schema | prompts | MUST | any | all | A prompt's arguments are a JSON Schema. | schema#Prompt
prompt-role-system | prompts | MUST | any | all | A prompt begins with a message of the role system. | server/prompts#promptmessage
prompt-content-a-list | prompts | MUST | any | all | The content of a prompt's message is a list of blocks. | schema#PromptMessage
prompt-argument-unchecked | prompts | SHOULD | any | all | A prompt without its required argument says "undefined". | server/prompts#error-handling
unknown-prompt-empty | prompts | SHOULD | any | all | An unknown prompt has no messages. | server/prompts#error-handling
prompt-resource-without-type | prompts | MUST | any | all | A prompt's embedded resource has no MIME type. | server/prompts#embedded-resources
completion-over-100 | completion | MUST | any | all | A completion has 130 values. | server/utilities/completion#completion-results
completion-objects | completion | MUST | any | all | Completion values are objects with label and value. | schema#CompleteResult
completion-unknown-prompt | completion | SHOULD | any | all | Completing an unknown prompt gives no values and no error. | server/utilities/completion#error-handling
completions-undeclared | completion | MUST | any | all | Completion is served and not declared. | server/utilities/completion#capabilities
logging-undeclared | logging | MUST | any | all | Log messages are sent, and the capability logging is not declared. | server/utilities/logging#capabilities
log-unasked | logging | MUST | any | modern | Log messages come without a log level in the request. | server/utilities/logging#per-request-log-level
log-below-level | logging | MUST | any | all | The log level is not heeded: debug messages come at the level error. | server/utilities/logging#requesting-log-messages
log-level-warn | logging | MUST | any | all | Messages carry the level WARN. | server/utilities/logging#log-levels
log-level-any | logging | SHOULD | any | all | The log level "verbose" is accepted. | server/utilities/logging#error-handling
log-message-member | logging | MUST | any | all | A log message has its text in message and lacks data. | schema#LoggingMessageNotification
log-leaks-password | logging | MUST | any | all | A log message carries a database URL with its password. | server/utilities/logging#security
log-on-listen-stream | logging | MUST | http | modern | Log messages are sent on subscriptions/listen streams. | server/utilities/logging#per-request-log-level
progress-restarts | progress | MUST | any | all | Progress begins again with each phase. | basic/patterns/progress#progress-flow
progress-unasked | progress | MUST | any | all | Progress is sent to requests without a token, under the request id. | basic/patterns/progress#behavior-requirements
progress-token-a-string | progress | MUST | any | all | An integer progress token comes back as a string. | basic/patterns/progress#progress-flow
progress-after-response | progress | MUST | stdio | all | The last progress follows the response. | basic/patterns/progress#implementation-notes
progress-percent | progress | MUST | any | all | Progress is "50 %". | schema#ProgressNotificationParams
cancelled-answered | cancellation | SHOULD | stdio | all | A cancelled call is answered all the same. | basic/patterns/cancellation#behavior-requirements
cancel-takes-all | cancellation | MUST | stdio | all | Cancelling one request ends all. | basic/index#responses
cancel-unknown-answered | cancellation | SHOULD | stdio | all | Cancelling an unknown request is answered with an error. | basic/patterns/cancellation#error-handling
listen-unacknowledged | subscriptions | MUST | any | modern | A subscription is not acknowledged. | basic/patterns/subscriptions#acknowledgment
ack-promises-all | subscriptions | SHOULD | any | modern | The acknowledgment repeats types that the server does not support. | basic/patterns/subscriptions#acknowledgment
subscription-id-missing | subscriptions | MUST | any | modern | Notifications after the acknowledgment lack the subscription ID. | basic/patterns/subscriptions#receiving-notifications
subscription-id-a-string | subscriptions | MUST | any | modern | A numeric subscription ID becomes a string. | basic/patterns/subscriptions#receiving-notifications
updates-for-all | subscriptions | MUST | any | modern | Updates of the tide are sent to every subscription. | basic/patterns/subscriptions#opening-a-stream
second-listen-silences-first | subscriptions | MUST | any | modern | A second subscription ends the first without a word. | basic/patterns/subscriptions#multiple-concurrent-subscriptions
listen-answered-at-once | subscriptions | MUST | any | modern | The result of subscriptions/listen follows its acknowledgment, and notifications follow the result. | basic/patterns/subscriptions#graceful-closure
listen-cancel-ignored | subscriptions | MUST | stdio | modern | Notifications go on after the subscription was cancelled. | basic/transports/stdio#cancellation
keep-alive-as-data | subscriptions | MUST | http | modern | Keep-alives are events with the data "ping". | basic/transports/streamable-http#receiving-messages
read-without-hints | caching | MUST | any | modern | resources/read has no caching hints. | server/utilities/caching#cacheable-results
ttl-minus-one | caching | MUST | any | modern | ttlMs is -1, for ever. | server/utilities/caching#time-to-live-ttl-field
scope-changes-by-page | caching | MUST | any | modern | The first page is public and the others are private. | server/utilities/caching#interaction-with-pagination
scope-shared | caching | MUST | any | modern | cacheScope is "shared". | server/utilities/caching#cache-scope-field
cursor-a-number | pagination | MUST | any | all | nextCursor is a number. | schema#PaginatedResult
bad-cursor-first-page | pagination | SHOULD | any | all | An invalid cursor gives the first page. | server/utilities/pagination#error-handling
last-cursor-empty | pagination | SHOULD | any | all | The last page has the cursor "", which begins again. | server/utilities/pagination#implementation-guidelines
pages-overlap | pagination | SHOULD | any | all | The last entry of a page is the first of the next. | server/utilities/pagination#implementation-guidelines
task-undeclared | tasks | MUST | any | modern | A task is created for a client that does not declare the extension. | extensions/tasks#capability-negotiation
task-get-type-task | tasks | MUST | any | modern | tasks/get answers with the resultType task. | extensions/tasks#response
task-unknown-internal | tasks | MUST | any | modern | An unknown task is refused with -32603. | extensions/tasks#protocol-errors
task-ids-count-up | tasks | MUST | any | modern | Task IDs are survey-1, survey-2. | extensions/tasks#security-considerations
task-without-result | tasks | MUST | any | modern | A completed task has no result. | extensions/tasks#response
task-methods-undeclared | tasks | MUST | any | modern | tasks/get is served to clients that do not declare the extension. | extensions/tasks#protocol-errors
batch-refused | base | MUST | any | march | Batches are refused at 2025-03-26. | basic/index#batching
`.trim().split("\n").map((line) => {
  const [name, area, level, transports, revisions, what, page] = line.split(" | ");
  return { name, area, level, transports: TRANSPORTS[transports], revisions: REVISIONS[revisions], what, page };
});

const argv = process.argv.slice(2);
if (argv.includes("--list-faults")) {
  for (const one of FAULTS) console.log(JSON.stringify(one));
  process.exit(0);
}
const option = (name) => (argv.includes(name) ? argv[argv.indexOf(name) + 1] : undefined);
const fault = option("--fault");
if (fault !== undefined && !FAULTS.some((one) => one.name === fault)) {
  console.error(`unknown fault: ${fault}`);
  process.exit(2);
}
const F = (name) => fault === name;

// ---------------------------------------------------------------------------------------------------------------------
// The harbour

const NAMES = ["Ålesund Star", "Bora", "Castor", "Dorothea", "Eider", "Fjordland", "Gravina", "Hanse", "Île de Ré", "Jade", "Kestrel", "Łódź", "Mistral"];
const FLAGS = ["NO", "DE", "FR", "PL", "NL"];
const SHIPS = Array.from({ length: 130 }, (_, i) => ({
  imo: String(9100000 + i * 37),
  name: i < NAMES.length ? NAMES[i] : `${NAMES[i % NAMES.length]} ${Math.floor(i / NAMES.length) + 1}`,
  flag: FLAGS[i % FLAGS.length],
  length_m: 60 + ((i * 17) % 240),
  draught_m: 3.5 + (i % 12) / 2,
}));
const BERTHS = [90, 120, 160, 210, 260, 330].map((length, i) => ({ berth: `B${i + 1}`, length_m: length, depth_m: 6 + i * 1.5, free: i !== 2 }));
const STATIONS = ["north-mole", "inner-basin", "lock"];
const CHANNELS = ["east", "west"];
const JOBS = new Map([["J-1", { id: "J-1", berth: "B2", cargo: "timber", tonnes: 120 }]]);
const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";
const WAV = (() => {
  const samples = Buffer.from(Array.from({ length: 64 }, (_, i) => (i % 3 === 0 ? 0xff : i % 3 === 1 ? 0xfb : 0xef)));
  const head = Buffer.alloc(44);
  head.write("RIFF", 0); head.writeUInt32LE(36 + samples.length, 4); head.write("WAVEfmt ", 8); head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20); head.writeUInt16LE(1, 22); head.writeUInt32LE(8000, 24); head.writeUInt32LE(8000, 28);
  head.writeUInt16LE(1, 32); head.writeUInt16LE(8, 34); head.write("data", 36); head.writeUInt32LE(samples.length, 40);
  return Buffer.concat([head, samples]).toString("base64");
})();
const SERVER = { name: "harbour-office", title: "Harbour Office", version: "3.1.0" };
const INSTRUCTIONS = "Ask for ships and berths first. Crane jobs are booked at once; survey and weighing take a while.";
const tideNow = () => ({ station: "north-mole", level_m: Number((2 + Math.sin(Date.now() / 9000)).toFixed(3)), at: new Date().toISOString() });

class RpcError extends Error {
  constructor(code, message, data) {
    super(message);
    this.code = code;
    this.data = data;
  }
}
class InputRequired extends Error {
  constructor(requests, state) {
    super("input required");
    this.result = { resultType: "input_required", inputRequests: requests, requestState: state };
  }
}
class Cancelled extends Error {}

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
const sleep = (ms, signal) => new Promise((resolve, reject) => {
  if (signal?.aborted) return reject(new Cancelled());
  const timer = setTimeout(resolve, ms);
  signal?.addEventListener("abort", () => { clearTimeout(timer); reject(new Cancelled()); }, { once: true });
});

/** What is wrong with a value by a schema of the kinds used here; undefined where nothing is. */
function wrong(value, schema, at = "arguments") {
  const types = { object: isObject(value), string: typeof value === "string", number: typeof value === "number", integer: Number.isInteger(value), boolean: typeof value === "boolean" };
  if (schema.type && !types[schema.type]) return `${at} must be of type ${schema.type}`;
  if (schema.enum && !schema.enum.includes(value)) return `${at} must be one of ${schema.enum.join(", ")}`;
  if (schema.minimum !== undefined && value < schema.minimum) return `${at} must be at least ${schema.minimum}`;
  if (schema.exclusiveMinimum !== undefined && value <= schema.exclusiveMinimum) return `${at} must be more than ${schema.exclusiveMinimum}`;
  if (schema.maximum !== undefined && value > schema.maximum) return `${at} must be at most ${schema.maximum}`;
  if (schema.minLength !== undefined && [...value].length < schema.minLength) return `${at} is too short`;
  if (schema.maxLength !== undefined && [...value].length > schema.maxLength) return `${at} is too long`;
  if (schema.type !== "object") return undefined;
  for (const name of schema.required ?? []) if (!Object.hasOwn(value, name)) return `${at}.${name} is missing`;
  for (const [name, item] of Object.entries(value)) {
    const inner = Object.hasOwn(schema.properties ?? {}, name) ? schema.properties[name] : undefined;
    if (!inner && schema.additionalProperties === false) return `${at}.${name} is not known`;
    const found = inner && wrong(item, inner, `${at}.${name}`);
    if (found) return found;
  }
  return undefined;
}

// ---------------------------------------------------------------------------------------------------------------------
// Tools

const text = (string) => ({ type: "text", text: string });
const structured = (value) => ({ content: [text(JSON.stringify(value))], structuredContent: value });
const failure = (why) => ({ content: [text(why)], isError: true });
const object = (properties, required = [], more = {}) => ({ type: "object", properties, ...(required.length && { required }), additionalProperties: false, ...more });
const SHIP_SCHEMA = object({ imo: { type: "string" }, name: { type: "string" }, flag: { type: "string" }, length_m: { type: "number" }, draught_m: { type: "number" } }, ["imo", "name", "length_m"]);
const shipOf = (name) => SHIPS.find((ship) => ship.name === name || ship.imo === name);

const WEIGH_FORM = object({
  seal: { type: "string", title: "Seal number", minLength: 4, maxLength: 20 },
  tonnes: { type: "number", title: "Tonnes", minimum: 0, maximum: 60 },
  hazardous: { type: "boolean", title: "Dangerous goods", default: false },
  lane: { type: "string", title: "Lane", enum: ["north", "south"], default: "north" },
}, ["seal", "tonnes"]);
delete WEIGH_FORM.additionalProperties;

const TOOLS = [
  {
    name: "list_ships", title: "List ships", description: "Lists ships in port, by flag.", annotations: { readOnlyHint: true },
    inputSchema: object({ flag: { type: "string", enum: FLAGS }, limit: { type: "integer", minimum: 1, maximum: 50, default: 10 } }),
    outputSchema: object({ ships: { type: "array", items: SHIP_SCHEMA }, count: { type: "integer" } }, ["ships", "count"]),
    run({ flag, limit = 10 }) {
      const ships = SHIPS.filter((ship) => flag === undefined || ship.flag === flag);
      return structured({ ships: ships.slice(0, limit), count: ships.length });
    },
  },
  {
    name: "find_berth", title: "Find a berth", description: "Finds the smallest free berth for a ship.", annotations: { readOnlyHint: true },
    inputSchema: object({ length_m: { type: "number", exclusiveMinimum: 0, description: "Length over all in metres" }, draught_m: { type: "number", minimum: 0 } }, ["length_m"]),
    outputSchema: object({ berth: { type: "string" }, length_m: { type: "number" }, depth_m: { type: "number" } }, ["berth", "length_m", "depth_m"]),
    run({ length_m, draught_m = 0 }) {
      const berth = BERTHS.find((one) => one.free && !(one.length_m < length_m) && one.depth_m > draught_m);
      if (!berth) return failure(`No berth takes a ship of ${length_m} m.`);
      return structured({ berth: berth.berth, length_m: berth.length_m, depth_m: berth.depth_m });
    },
  },
  {
    name: "tide_forecast", title: "Tide forecast", description: "Forecasts the tide at a station.", annotations: { readOnlyHint: true },
    inputSchema: object({
      station: { type: "string", enum: STATIONS, "x-mcp-header": "Station" },
      datum: { type: "string", enum: ["chart", "mean"], "x-mcp-header": "Datum" },
      hours: { type: "integer", minimum: 1, maximum: 24 },
    }, ["station"]),
    outputSchema: object({ station: { type: "string" }, datum: { type: "string" }, levels: { type: "array", items: { type: "number" } } }, ["station", "levels"]),
    run({ station, datum = "chart", hours = 6 }) {
      const known = STATIONS.includes(station) ? station : STATIONS[0];
      const levels = Array.from({ length: hours }, (_, i) => Number((2 + Math.sin(i / 2) + STATIONS.indexOf(known) / 10).toFixed(2)));
      return structured({ station: known, datum, levels });
    },
  },
  {
    name: "schedule_crane_job", title: "Schedule a crane job", description: "Books a crane at a berth.", annotations: { readOnlyHint: false, destructiveHint: false },
    inputSchema: object({ berth: { type: "string", minLength: 1, examples: ["B1", "B2"] }, cargo: { type: "string", minLength: 1, maxLength: 80 }, tonnes: { type: "integer", minimum: 1, maximum: 500 } }, ["berth", "cargo"]),
    run({ berth, cargo, tonnes = 1 }, ctx) {
      if (!BERTHS.some((one) => one.berth === berth)) {
        if (F("invented-reserved-code") && ctx.modern) throw new RpcError(-32050, `No berth ${berth}`);
        return failure(`There is no berth ${berth}.`);
      }
      const id = `J-${JOBS.size + 1}`;
      JOBS.set(id, { id, berth, cargo, tonnes });
      if (JOBS.size > 200) JOBS.delete(JOBS.keys().next().value);
      if (F("stdout-chatter")) process.stdout.write(`crane job ${id} scheduled\n`);
      ctx.log("notice", "cranes", { event: "job scheduled", id, berth });
      changed("harbour://jobs/board");
      const link = { type: "resource_link", uri: `harbour://jobs/${id}`, name: `Crane job ${id}`, mimeType: "application/json" };
      if (F("link-without-name")) delete link.name;
      return { content: [text(`Job ${id} is booked at ${berth}.`), ...(ctx.revision === MARCH ? [] : [link])] };
    },
  },
  {
    name: "dredge_channel", title: "Dredge a channel", description: "Dredges metre by metre and reports progress.", annotations: { readOnlyHint: false, destructiveHint: false },
    inputSchema: object({ channel: { type: "string", enum: CHANNELS }, metres: { type: "integer", minimum: 1, maximum: 8 } }, ["channel"]),
    async run({ channel, metres = 4 }, ctx) {
      ctx.log("info", "dredger", { event: "started", channel });
      ctx.progress(0, metres, "Casting off");
      if (metres > 6) return failure("The dredger takes away 6 m in one tide at most.");
      for (let done = 1; done <= metres; done += 1) {
        await sleep(120, ctx.signal);
        ctx.log(done === 2 ? "warning" : "debug", "dredger", { event: "metre done", done });
        ctx.progress(done, metres, `Metre ${done} of ${metres}`);
      }
      ctx.log("notice", "dredger", { event: "finished", channel });
      return { content: [text(`Dredged ${metres} m of the channel ${channel}.`)] };
    },
  },
  {
    name: "weigh_cargo", title: "Weigh cargo", description: "Asks the gate for the seal and the weight of a container.", annotations: { readOnlyHint: false, destructiveHint: false },
    inputSchema: object({ container: { type: "string", minLength: 1, maxLength: 40 } }, ["container"]),
    async run({ container }, ctx) {
      const params = { mode: "form", message: `Please enter seal and weight of container ${container}.`, requestedSchema: structuredClone(WEIGH_FORM) };
      if (F("form-nested")) params.requestedSchema.properties.driver = object({ name: { type: "string" }, company: { type: "string" } });
      if (F("form-asks-pin")) params.requestedSchema.properties.password = { type: "string", title: "Password of the weighbridge account" };
      if (F("form-with-link")) params.message += " Instructions: https://harbour.example/weighing";
      if (F("form-without-message")) delete params.message;
      const answer = await ctx.ask("seal_and_weight", "elicitation/create", params, { elicitation: {} }, { tariff: "bulk" });
      if (answer === undefined) return failure("The client cannot ask its user, so nothing was weighed.");
      if (F("decline-crashes") || answer.action === "accept") {
        const content = F("decline-crashes") ? answer.content.seal && answer.content : answer.content;
        const why = wrong(content, params.requestedSchema, "content");
        if (why) return failure(`The form is not filled in: ${why}.`);
        return { content: [text(`Container ${container}: ${content.tonnes} t, seal ${content.seal}, tariff ${ctx.state?.tariff ?? "bulk"}.`)] };
      }
      return { content: [text(`Nothing was weighed: the user chose ${answer.action}.`)] };
    },
  },
  {
    name: "draft_notice", title: "Draft a notice", description: "Lets the client's model draft a notice to mariners.", annotations: { readOnlyHint: true, openWorldHint: true },
    inputSchema: object({ topic: { type: "string", minLength: 1, maxLength: 200 } }, ["topic"]),
    async run({ topic }, ctx) {
      const params = {
        messages: [{ role: "user", content: text(`Draft a notice to mariners in two sentences about: ${topic}`) }],
        systemPrompt: "You write notices to mariners.", maxTokens: 200, modelPreferences: { intelligencePriority: 0.3, speedPriority: 0.7 },
      };
      if (F("sampling-without-limit")) delete params.maxTokens;
      if (F("sampling-system-message")) params.messages.unshift({ role: "system", content: text("You write notices.") });
      if (F("sampling-all-servers")) params.includeContext = "allServers";
      if (F("sampling-tools-undeclared")) params.tools = [{ name: "tide", description: "Reads the tide.", inputSchema: { type: "object" } }];
      const answer = await ctx.ask("notice", "sampling/createMessage", params, { sampling: {} }, {});
      if (answer === undefined) return failure("The client offers no model.");
      const block = Array.isArray(answer.content) ? answer.content.find((one) => one?.type === "text") : answer.content;
      return { content: [text(`NOTICE TO MARINERS\n${block?.text ?? "(no text)"}`)] };
    },
  },
  {
    name: F("tool-name-with-space") ? "berth photo" : "berth_photo", title: "Berth photo", description: "Shows the camera of a berth.", annotations: { readOnlyHint: true },
    inputSchema: object({ berth: { type: "string", enum: BERTHS.map((one) => one.berth) } }),
    run({ berth = "B1" }) {
      const image = { type: "image", data: F("image-a-data-url") ? `data:image/png;base64,${PNG}` : PNG, mimeType: "image/png", annotations: { audience: ["user"], priority: 0.9 } };
      if (F("image-without-type")) delete image.mimeType;
      return { content: [image, text(`Camera of ${berth}.`)] };
    },
  },
  {
    name: "fog_signal", title: "Fog signal", description: "Plays the fog signal.", annotations: { readOnlyHint: true },
    inputSchema: F("schema-empty") ? {} : { type: "object", additionalProperties: false },
    run() {
      const data = F("audio-base64url") ? Buffer.from(WAV, "base64").toString("base64url") : WAV;
      return { content: [{ type: "audio", data, mimeType: "audio/wav" }] };
    },
  },
  {
    name: "ship_manifest", title: "Ship manifest", description: "Returns a ship's manifest.", annotations: { readOnlyHint: true },
    inputSchema: object({ ship: { type: "string", minLength: 1, description: "Name or IMO number", examples: ["Bora", "Castor"] } }, ["ship"]),
    run({ ship }, ctx) {
      const found = shipOf(ship);
      if (!found) return failure(`No ship ${ship} is in port.`);
      const uri = F("embedded-path") ? `manifests/${found.imo}` : `harbour://ships/${found.imo}`;
      const resource = { type: "resource", resource: { uri, mimeType: "application/json", text: JSON.stringify(found) } };
      const link = { type: "resource_link", uri: "harbour://rules", name: "Harbour rules", mimeType: "text/markdown" };
      if (F("link-without-name")) delete link.name;
      return { content: [resource, ...(ctx.revision === MARCH ? [] : [link])] };
    },
  },
  {
    name: "survey_hull", title: "Survey a hull", description: "Sends divers to survey a hull; a long job.", annotations: { readOnlyHint: true },
    inputSchema: object({ ship: { type: "string", minLength: 1, examples: ["Bora", "Castor"] }, deep: { type: "boolean" } }, ["ship"]),
    async run({ ship, deep = false }, ctx) {
      if (ctx.modern && (ctx.caps.extensions?.[TASKS] || F("task-undeclared"))) return startSurvey(ship, deep, ctx);
      await sleep(300, ctx.signal);
      return surveyed(ship, deep);
    },
  },
  {
    name: "pay_dues", title: "Pay harbour dues", description: "Opens the payment page for an invoice.", annotations: { readOnlyHint: false, destructiveHint: false },
    inputSchema: object({ invoice: { type: "string", minLength: 1, maxLength: 40 } }, ["invoice"]),
    async run({ invoice }, ctx) {
      const url = F("url-relative") ? `/dues/${encodeURIComponent(invoice)}` : `${F("url-plain-http") ? "http" : "https"}://dues.harbour.example/pay/${encodeURIComponent(invoice)}`;
      const params = { mode: "url", message: `Please pay invoice ${invoice} on the payment page.`, url };
      if (!ctx.modern) params.elicitationId = randomUUID();
      const answer = await ctx.ask("payment", "elicitation/create", params, { elicitation: { url: {} } }, { invoice });
      if (answer === undefined) return failure("The client cannot open a payment page.");
      return { content: [text(answer.action === "accept" ? `Invoice ${invoice}: payment page opened.` : `Invoice ${invoice} is unpaid.`)] };
    },
  },
];
const EXTRA_TOOL = { name: "cancel_crane_job", description: "Cancels a job.", inputSchema: object({ id: { type: "string" } }, ["id"]), run: () => ({ content: [text("Cancelled.")] }) };

const surveyed = (ship, deep) => (shipOf(ship)
  ? { content: [text(`Hull of ${ship}: sound${deep ? ", down to the keel" : ""}.`)] }
  : failure(`No ship ${ship} is in port.`));

/** A tool as a revision lists it. */
function toolFor({ run, ...tool }, revision) {
  const listed = structuredClone(tool);
  if (revision !== MODERN) for (const one of Object.values(listed.inputSchema.properties ?? {})) delete one["x-mcp-header"];
  if (revision === MARCH) { delete listed.title; delete listed.outputSchema; }
  if (F("schema-required-boolean") && listed.inputSchema.required) {
    for (const name of listed.inputSchema.required) listed.inputSchema.properties[name].required = true;
    delete listed.inputSchema.required;
  }
  if (revision === MODERN && listed.name === "find_berth" && F("header-on-number")) listed.inputSchema.properties.length_m["x-mcp-header"] = "Length";
  if (revision === MODERN && listed.name === "tide_forecast" && F("header-twice")) listed.inputSchema.properties.datum["x-mcp-header"] = "station";
  return listed;
}

function allTools() {
  const tools = F("tool-appears-after-call") && JOBS.size > 1 ? [...TOOLS, EXTRA_TOOL] : TOOLS;
  return F("order-at-random") ? [...tools].sort(() => Math.random() - 0.5) : tools;
}

async function callTool(params, ctx) {
  if (typeof params.name !== "string") throw new RpcError(-32602, "params.name must be a string");
  if (F("unhandled-crash") && params.arguments === undefined) process.exit(70);
  const args = params.arguments ?? {};
  if (!isObject(args)) throw new RpcError(-32602, "params.arguments must be an object");
  const tool = allTools().find((one) => one.name === params.name);
  if (!tool) {
    if (F("unknown-tool-a-result")) return failure(`Unknown tool: ${params.name}`);
    throw new RpcError(F("error-code-a-word") ? "UNKNOWN_TOOL" : -32602, `Unknown tool: ${params.name}`);
  }
  const schema = structuredClone(tool.inputSchema);
  if (F("required-unchecked")) delete schema.required;
  if (F("enum-unchecked")) for (const one of Object.values(schema.properties ?? {})) delete one.enum;
  const why = wrong(args, schema);
  if (why) {
    if (ctx.revision === MARCH || F("validation-a-protocol-error")) throw new RpcError(-32602, `Invalid arguments: ${why}`);
    return failedAs(failure(`Invalid arguments: ${why}.`));
  }
  ctx.call = { tool: tool.name, digest: createHash("sha256").update(canonical(args)).digest("hex") };
  const ran = F("required-unchecked") ? await tool.run({ length_m: undefined, ship: "", channel: "", container: "?", topic: "?", invoice: "?", berth: tool.name === "schedule_crane_job" ? "B1" : undefined, cargo: "?", ...args }, ctx) : await tool.run(args, ctx);
  return failedAs(ran, ctx.revision, tool);
}

function failedAs(result, revision, tool) {
  if (F("failure-not-flagged")) delete result.isError;
  if (revision === MARCH) delete result.structuredContent;
  if (tool?.outputSchema && !result.isError && result.structuredContent !== undefined) {
    if (F("structured-absent")) delete result.structuredContent;
    if (F("structured-without-text")) result.content = [text("Done.")];
    if (F("structured-strings")) result.structuredContent = JSON.parse(JSON.stringify(result.structuredContent, (_, value) => (typeof value === "number" ? String(value) : value)));
  }
  if (F("content-one-object") && tool?.name === "fog_signal") result.content = result.content[0];
  return result;
}

const canonical = (value) => JSON.stringify(value, (_, item) => (isObject(item) ? Object.fromEntries(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1))) : item));

// ---------------------------------------------------------------------------------------------------------------------
// Request state: signed, bound to the call, and short-lived

const SECRET = randomBytes(32);
const sign = (payload) => createHmac("sha256", SECRET).update(payload).digest("base64url");
function stateFor(ctx, data) {
  const payload = Buffer.from(JSON.stringify({ ...data, ...ctx.call, until: Date.now() + 300_000 })).toString("base64url");
  return `${payload}.${sign(payload)}`;
}
function readState(state, ctx) {
  if (typeof state !== "string") throw new RpcError(-32602, "requestState must be a string");
  const [payload, signature = ""] = state.split(".");
  if (F("state-unsigned")) {
    try { return JSON.parse(Buffer.from(payload, "base64url").toString()); } catch { return {}; }
  }
  const expected = Buffer.from(sign(payload));
  const given = Buffer.from(signature);
  if (state.split(".").length !== 2 || given.length !== expected.length || !timingSafeEqual(given, expected)) throw new RpcError(-32602, "requestState is not valid");
  const data = JSON.parse(Buffer.from(payload, "base64url").toString());
  if (data.until < Date.now()) throw new RpcError(-32602, "requestState has expired");
  if (!F("state-for-any-call") && (data.tool !== ctx.call.tool || data.digest !== ctx.call.digest)) throw new RpcError(-32602, "requestState belongs to another call");
  return data;
}

// ---------------------------------------------------------------------------------------------------------------------
// Tasks (an extension of 2026-07-28)

const TASK_STORE = new Map();
const finished = (task) => ["completed", "failed", "cancelled"].includes(task.status);
function moveTask(task, status, more = {}) {
  if (finished(task)) return;
  for (const member of ["inputRequests", "result", "error"]) delete task[member];
  Object.assign(task, { status, lastUpdatedAt: new Date().toISOString() }, more);
  for (const one of subscriptions.values()) if (one.filter.taskIds?.includes(task.taskId)) one.notify("notifications/tasks", task);
}
function startSurvey(ship, deep, ctx) {
  const now = new Date().toISOString();
  const taskId = F("task-ids-count-up") ? `survey-${TASK_STORE.size + 1}` : randomUUID();
  const task = { taskId, status: "working", statusMessage: "Divers are on their way.", createdAt: now, lastUpdatedAt: now, ttlMs: 300_000, pollIntervalMs: 250 };
  if (TASK_STORE.size > 500) TASK_STORE.delete(TASK_STORE.keys().next().value);
  TASK_STORE.set(taskId, task);
  const end = () => moveTask(task, "completed", { statusMessage: "Survey done.", ...(!F("task-without-result") && { result: { ...surveyed(ship, deep), resultType: "complete" } }) });
  const canAsk = deep && ctx.caps.elicitation && (ctx.caps.elicitation.form || !ctx.caps.elicitation.url);
  setTimeout(() => {
    if (!canAsk) return end();
    const form = { type: "object", properties: { confirm: { type: "boolean", title: "Send divers to the keel" } }, required: ["confirm"] };
    moveTask(task, "input_required", { inputRequests: { keel_dive: { method: "elicitation/create", params: { mode: "form", message: "May the divers go to the keel?", requestedSchema: form } } } });
  }, 400);
  Object.defineProperty(task, "resume", { value: () => { moveTask(task, "working"); setTimeout(end, 300); }, enumerable: false });
  return { resultType: "task", ...task };
}
function taskOf(params, ctx) {
  if (!ctx.caps.extensions?.[TASKS] && !F("task-methods-undeclared")) missing({ extensions: { [TASKS]: {} } });
  const task = typeof params.taskId === "string" ? TASK_STORE.get(params.taskId) : undefined;
  if (!task) throw new RpcError(F("task-unknown-internal") ? -32603 : -32602, "Task not found");
  return task;
}
function updateTask(params, ctx) {
  const task = taskOf(params, ctx);
  if (!isObject(params.inputResponses)) throw new RpcError(-32602, "inputResponses must be an object");
  if (task.status === "input_required" && isObject(params.inputResponses.keel_dive)) task.resume();
  return {};
}
function missing(required) {
  throw new RpcError(-32021, "Missing required client capability", F("missing-capability-no-data") ? undefined : { requiredCapabilities: required });
}

// ---------------------------------------------------------------------------------------------------------------------
// Resources, prompts, completion

const RULES = "# Harbour rules\n\nSpeed: 5 kn. Call the harbour master on channel 12. Welcome to Nørrehavn.";
const SIZE = F("size-in-words") ? "2 kB" : Buffer.byteLength(RULES);
const RESOURCES = [
  { uri: "harbour://rules", name: "rules", title: "Harbour rules", mimeType: "text/markdown", size: SIZE, annotations: { audience: ["user", "assistant"], priority: F("priority-five") ? 5 : 0.5 }, read: () => ({ text: RULES }) },
  { uri: "harbour://tide/now", name: "tide-now", title: "Tide gauge", description: "Changes every second.", mimeType: "application/json", read: () => ({ text: JSON.stringify(tideNow()) }) },
  { uri: "harbour://jobs/board", name: "job-board", title: "Crane jobs", mimeType: "application/json", read: () => ({ text: JSON.stringify([...JOBS.values()]) }) },
  { uri: "harbour://charts/approach", name: "approach-chart", title: "Approach chart", mimeType: "image/png", read: () => ({ blob: F("blob-raw") ? Buffer.from(PNG, "base64").toString("latin1") : PNG }) },
  { uri: "harbour://quays/n%C3%B8rre", name: "nørre-quay", title: "Nørre quay", mimeType: "text/plain", read: () => ({ text: "Nørre quay: 260 m, lit, no water." }) },
  ...BERTHS.map((one) => ({ uri: `harbour://berths/${one.berth}`, name: `berth-${one.berth}`, mimeType: "application/json", read: () => ({ text: JSON.stringify(one) }) })),
];
const TEMPLATES = [
  { uriTemplate: F("template-unbalanced") ? "harbour://ships/{imo" : "harbour://ships/{imo}", name: "ship", title: "Ship by IMO number", mimeType: "application/json" },
  { uriTemplate: "harbour://jobs/{id}", name: "job", title: "Crane job", mimeType: "application/json" },
  { uriTemplate: "harbour://tides/{station}/{day}", name: "tide-table", title: "Tide table", mimeType: "application/json" },
];
const DAYS = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];

/** The contents behind a URI; undefined where there are none. */
function contentsOf(uri) {
  const listed = RESOURCES.find((one) => one.uri === uri);
  if (listed) return { uri, mimeType: listed.mimeType, ...listed.read() };
  const [, kind, id, more] = /^harbour:\/\/(ships|jobs|tides)\/([^/]+)(?:\/([^/]+))?$/.exec(uri) ?? [];
  const found = kind === "ships" && !more ? SHIPS.find((one) => one.imo === id) : kind === "jobs" && !more ? JOBS.get(id)
    : kind === "tides" && STATIONS.includes(id) && DAYS.includes(more) ? { station: id, day: more, high_water: ["03:12", "15:40"] } : undefined;
  return found && { uri, mimeType: "application/json", text: JSON.stringify(found) };
}

function readResource(params, ctx) {
  if (typeof params.uri !== "string") throw new RpcError(-32602, "params.uri must be a string");
  const contents = contentsOf(params.uri);
  if (!contents) {
    if (F("unknown-resource-empty") && ctx.modern) return { contents: [] };
    const code = ctx.modern ? (F("not-found-old-code") ? -32002 : -32602) : F("not-found-internal") ? -32603 : -32002;
    throw new RpcError(code, "Resource not found", { uri: params.uri });
  }
  if (F("contents-without-uri")) delete contents.uri;
  return { contents: [contents] };
}

const user = (content) => ({ role: "user", content });
const PROMPTS = [
  {
    name: "arrival_briefing", title: "Arrival briefing", description: "Briefs the crew of a ship.",
    arguments: [{ name: "ship", description: "Name of the ship", required: true }, { name: "tone", description: "formal, brief or friendly" }],
    build: ({ ship, tone = "brief" }) => [user(text(`Brief the crew of ${ship} on tides and berth, in a ${tone} tone. Mind the speed limit: 5 kn.`))],
  },
  {
    name: "storm_checklist", title: "Storm checklist", description: "Lists what to do at a berth before a storm.",
    arguments: [{ name: "berth", description: "Berth, such as B2", required: true }],
    build: ({ berth }) => [user(text(`Write a storm checklist for berth ${berth}.`)), { role: "assistant", content: text("1. Double the moorings.") }],
  },
  {
    name: "handover_notes", title: "Handover notes", description: "Prepares the handover of a watch.",
    build(_, revision) {
      const resource = { uri: "harbour://jobs/board", mimeType: "application/json", text: JSON.stringify([...JOBS.values()]) };
      if (F("prompt-resource-without-type")) delete resource.mimeType;
      const link = { type: "resource_link", uri: "harbour://tide/now", name: "tide-now", mimeType: "application/json" };
      return [user(text("Write handover notes from this board.")), user({ type: "resource", resource }), ...(revision === MARCH ? [] : [user(link)])];
    },
  },
];

function getPrompt(params, ctx) {
  if (typeof params.name !== "string") throw new RpcError(-32602, "params.name must be a string");
  const args = params.arguments ?? {};
  if (!isObject(args) || Object.values(args).some((one) => typeof one !== "string")) throw new RpcError(-32602, "params.arguments must map names to strings");
  const prompt = PROMPTS.find((one) => one.name === params.name);
  if (!prompt && F("unknown-prompt-empty")) return { messages: [] };
  if (!prompt) throw new RpcError(-32602, `Unknown prompt: ${params.name}`);
  const lacking = (prompt.arguments ?? []).find((one) => one.required && args[one.name] === undefined);
  if (lacking && !F("prompt-argument-unchecked")) throw new RpcError(-32602, `Missing argument: ${lacking.name}`);
  const messages = prompt.build(args, ctx.revision);
  if (F("prompt-role-system")) messages.unshift({ role: "system", content: text("You work in a harbour office.") });
  if (F("prompt-content-a-list")) messages.forEach((one) => { one.content = [one.content]; });
  return { description: prompt.description, messages };
}

function complete(params) {
  const { ref, argument, context } = params;
  if (!isObject(ref) || !isObject(argument) || typeof argument.name !== "string" || typeof argument.value !== "string") throw new RpcError(-32602, "ref and argument are required");
  if (context !== undefined && (!isObject(context) || (context.arguments !== undefined && !isObject(context.arguments)))) throw new RpcError(-32602, "context.arguments must be an object");
  let known;
  if (ref.type === "ref/prompt") {
    const prompt = PROMPTS.find((one) => one.name === ref.name);
    if (!prompt && F("completion-unknown-prompt")) return { completion: { values: [] } };
    if (!prompt) throw new RpcError(-32602, `Unknown prompt: ${ref.name}`);
    known = { ship: SHIPS.map((one) => one.name), tone: ["formal", "brief", "friendly"], berth: BERTHS.map((one) => one.berth) };
    known = prompt.arguments?.some((one) => one.name === argument.name) ? known : {};
  } else if (ref.type === "ref/resource") {
    if (!TEMPLATES.some((one) => one.uriTemplate === ref.uri) && !RESOURCES.some((one) => one.uri === ref.uri)) throw new RpcError(-32602, `Unknown resource: ${ref.uri}`);
    const station = context?.arguments?.station;
    known = { imo: SHIPS.map((one) => one.imo), id: [...JOBS.keys()], station: STATIONS, day: station === "lock" ? DAYS.slice(0, 5) : DAYS };
    known = String(ref.uri).includes(`{${argument.name}`) ? known : {};
  } else throw new RpcError(-32602, "ref.type must be ref/prompt or ref/resource");
  if (!Object.hasOwn(known, argument.name)) throw new RpcError(-32602, `Unknown argument: ${argument.name}`);
  const all = known[argument.name].filter((one) => one.toLowerCase().startsWith(argument.value.toLowerCase()));
  const values = all.slice(0, F("completion-over-100") ? 130 : 100);
  return { completion: { values: F("completion-objects") ? values.map((one) => ({ label: one, value: one })) : values, total: all.length, hasMore: all.length > values.length } };
}

// ---------------------------------------------------------------------------------------------------------------------
// Lists and pages

const LISTS = { "tools/list": ["tools", 5], "resources/list": ["resources", 4], "resources/templates/list": ["resourceTemplates", 2], "prompts/list": ["prompts", 2] };
function page(method, params, ctx) {
  const [member, size] = LISTS[method];
  const all = {
    tools: () => allTools().map((one) => toolFor(one, ctx.revision)),
    resources: () => RESOURCES.map(({ read, ...one }) => one),
    resourceTemplates: () => TEMPLATES,
    prompts: () => PROMPTS.map(({ build, ...one }) => one),
  }[member]().map((one) => ({ ...one }));
  if (ctx.revision === MARCH) for (const one of all) delete one.title;
  if (F("prompt-arguments-a-schema") && member === "prompts") {
    for (const one of all) one.arguments = { type: "object", properties: Object.fromEntries((one.arguments ?? []).map((each) => [each.name, { type: "string" }])) };
  }
  let from = 0;
  if (params.cursor !== undefined) {
    const [, kind, at] = /^(\w+)\.(\d+)$/.exec(Buffer.from(String(params.cursor), "base64url").toString()) ?? [];
    from = F("cursor-a-number") ? Number(params.cursor) : kind === member ? Number(at) : NaN;
    const bad = typeof params.cursor !== (F("cursor-a-number") ? "number" : "string") || !(from > 0 && from < all.length);
    if (bad && !F("bad-cursor-first-page") && !(F("last-cursor-empty") && params.cursor === "")) throw new RpcError(-32602, "Invalid cursor");
    if (bad) from = 0;
  }
  const next = from + size;
  const result = { [member]: all.slice(from, next) };
  const at = F("pages-overlap") && next < all.length ? next - 1 : next;
  if (next < all.length) result.nextCursor = F("cursor-a-number") ? at : Buffer.from(`${member}.${at}`).toString("base64url");
  else if (F("last-cursor-empty")) result.nextCursor = "";
  if (F("optional-members-null")) {
    result.nextCursor ??= null;
    for (const one of result[member]) { one.description ??= null; one.annotations ??= null; }
  }
  if (F("scope-changes-by-page")) result.cacheScope = from === 0 ? "public" : "private";
  return result;
}

// ---------------------------------------------------------------------------------------------------------------------
// What both eras serve

const LEVELS = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];
const capabilities = (modern) => ({
  tools: { listChanged: true },
  resources: { subscribe: true },
  ...(!F("capability-prompts-missing") && { prompts: {} }),
  ...(!F("completions-undeclared") && { completions: {} }),
  ...(!F("logging-undeclared") && { logging: {} }),
  ...(modern && { extensions: { [TASKS]: {} } }),
});
const instructions = F("instructions-a-list") ? INSTRUCTIONS.split(". ") : INSTRUCTIONS;

const CACHED = { "server/discover": 3_600_000, "tools/list": 300_000, "prompts/list": 300_000, "resources/list": 60_000, "resources/templates/list": 300_000, "resources/read": 1000 };
function modernResult(result, method) {
  const forgets = F("result-type-forgotten") && ["prompts/get", "completion/complete"].includes(method);
  const full = { ...(forgets ? {} : { resultType: "complete" }), ...result };
  if (!F("server-info-not-in-results")) full._meta = { ...full._meta, [META + "serverInfo"]: SERVER };
  if (method in CACHED && full.resultType === "complete" && !(F("read-without-hints") && method === "resources/read")) {
    full.ttlMs = F("ttl-minus-one") ? -1 : CACHED[method];
    full.cacheScope = F("scope-shared") ? "shared" : full.cacheScope ?? "public";
  }
  return full;
}

async function serve(method, params, ctx) {
  if (method in LISTS) return page(method, params, ctx);
  switch (method) {
    case "tools/call": return callTool(params, ctx);
    case "resources/read": return readResource(params, ctx);
    case "prompts/get": return getPrompt(params, ctx);
    case "completion/complete": return complete(params);
  }
  if (ctx.modern) {
    switch (method) {
      case "server/discover": {
        const versions = F("discover-without-modern") ? VERSIONS.slice(1) : VERSIONS;
        return { ...(F("discover-old-shape") ? { protocolVersion: MODERN, serverInfo: SERVER } : { supportedVersions: versions }), capabilities: capabilities(true), instructions };
      }
      case "subscriptions/listen": return listen(params, ctx);
      case "tasks/get": { const task = { ...taskOf(params, ctx) }; return F("task-get-type-task") ? { ...task, resultType: "task" } : task; }
      case "tasks/update": return updateTask(params, ctx);
      case "tasks/cancel": moveTask(taskOf(params, ctx), "cancelled"); return {};
    }
  } else {
    switch (method) {
      case "ping": return F("ping-says-pong") ? { pong: true, uptime: Math.round(process.uptime()) } : {};
      case "logging/setLevel":
        if (!LEVELS.includes(params.level) && !F("log-level-any")) throw new RpcError(-32602, "Unknown log level");
        ctx.session.level = params.level;
        return {};
      case "resources/subscribe":
        if (F("capability-subscribe-unserved")) break;
        if (typeof params.uri !== "string") throw new RpcError(-32602, "params.uri must be a string");
        if (!contentsOf(params.uri)) throw new RpcError(-32002, "Resource not found", { uri: params.uri });
        ctx.session.watched.add(params.uri);
        return {};
      case "resources/unsubscribe":
        if (F("capability-subscribe-unserved")) break;
        if (typeof params.uri !== "string") throw new RpcError(-32602, "params.uri must be a string");
        if (!F("unsubscribe-ignored")) ctx.session.watched.delete(params.uri);
        return {};
    }
  }
  if (F("unknown-method-internal")) throw new RpcError(-32603, "TypeError: handlers[method] is not a function\n    at dispatch (harbour.js:88)");
  throw new RpcError(-32601, `Method not found: ${method}`);
}

/** The response to a request; undefined where it was cancelled. */
async function respond(message, ctx) {
  try {
    const params = message.params ?? {};
    if (!isObject(params)) throw new RpcError(-32602, "params must be an object");
    const result = await serve(message.method, params, ctx);
    if (ctx.signal.aborted && !F("cancelled-answered")) return undefined;
    if (F("result-beside-error") && result.isError) return { jsonrpc: "2.0", id: message.id, result: ctx.modern ? modernResult(result, message.method) : result, error: { code: -32603, message: "Tool failed" } };
    return { jsonrpc: "2.0", id: message.id, result: ctx.modern ? modernResult(result, message.method) : result };
  } catch (error) {
    if (error instanceof Cancelled) return F("cancelled-answered") ? { jsonrpc: "2.0", id: message.id, error: { code: -32603, message: "Cancelled" } } : undefined;
    if (error instanceof InputRequired) return { jsonrpc: "2.0", id: message.id, result: modernResult(error.result, message.method) };
    if (error instanceof RpcError) return refusal(message.id, error.code, error.message, error.data);
    return refusal(message.id, -32603, "Internal error");
  }
}
const refusal = (id, code, message, data) => ({ jsonrpc: "2.0", ...(id !== undefined && { id }), error: { code, message, ...(data !== undefined && { data }) } });
const isId = (id) => typeof id === "string" || Number.isInteger(id);

/** What a handler may do for its request: log, report progress, ask. */
function context(message, more) {
  const meta = isObject(message.params?._meta) ? message.params._meta : {};
  const ctx = { ...more, state: undefined, requestId: message.id };
  const token = meta.progressToken;
  ctx.log = (level, logger, data) => {
    const asked = ctx.modern ? meta[META + "logLevel"] : ctx.session.level ?? "warning";
    if (ctx.modern && asked === undefined && !F("log-unasked")) return;
    if (!F("log-below-level") && LEVELS.indexOf(level) < LEVELS.indexOf(asked ?? "debug")) return;
    const params = { level: F("log-level-warn") ? { warning: "WARN", notice: "INFO" }[level] ?? level.toUpperCase() : level, logger, data };
    if (F("log-leaks-password")) params.data = { ...data, database: "postgres://harbour:correct-horse@db.internal/harbour" };
    if (F("log-message-member")) { params.message = JSON.stringify(data); delete params.data; }
    ctx.send({ jsonrpc: "2.0", method: "notifications/message", params });
    if (F("log-on-listen-stream")) for (const one of subscriptions.values()) one.notify("notifications/message", params);
  };
  ctx.progress = (progress, total, note) => {
    const unasked = token === undefined || !isId(token);
    if (unasked && !F("progress-unasked")) return;
    const params = { progressToken: unasked ? message.id : F("progress-token-a-string") ? String(token) : token, progress, total, message: note };
    if (F("progress-restarts") && progress > 1) params.progress = progress % 2;
    if (F("progress-percent")) params.progress = `${Math.round((progress / total) * 100)} %`;
    const one = { jsonrpc: "2.0", method: "notifications/progress", params };
    if (F("progress-after-response") && progress === total) setTimeout(() => ctx.send(one), 60);
    else ctx.send(one);
  };
  ctx.ask = (...args) => (ctx.modern ? askModern(message, ctx, ...args) : askLegacy(ctx, ...args));
  return ctx;
}

const byRequestId = new Set();
function askModern(message, ctx, key, method, params, required, data) {
  const { inputResponses, requestState } = message.params;
  const kind = Object.keys(required)[0];
  const declared = ctx.caps[kind];
  const wantsUrl = params.mode === "url";
  const able = isObject(declared) && (kind !== "elicitation" || (wantsUrl ? declared.url || F("url-mode-undeclared") : declared.form || !declared.url));
  const careless = (kind === "elicitation" && !wantsUrl && F("elicits-undeclared")) || (kind === "sampling" && F("sampling-undeclared"));
  if (!able && !careless) {
    if (F("missing-capability-as-failure")) return undefined;
    missing(kind === "elicitation" ? { elicitation: wantsUrl ? { url: {} } : { form: {} } } : required);
  }
  if (inputResponses !== undefined && !isObject(inputResponses)) throw new RpcError(-32602, "inputResponses must be an object");
  if (requestState !== undefined) ctx.state = readState(requestState, ctx);
  if (F("surplus-answer-an-error") && Object.keys(inputResponses ?? {}).some((one) => one !== key)) throw new RpcError(-32602, "Unexpected input response");
  let answer = inputResponses !== undefined && Object.hasOwn(inputResponses, key) ? inputResponses[key] : undefined;
  if (answer === undefined && inputResponses !== undefined && F("missing-answer-an-error")) throw new RpcError(-32603, "Input response is missing");
  if (F("retry-by-request-id")) {
    if (!byRequestId.has(message.id)) answer = undefined;
    byRequestId.add(message.id);
  }
  if (answer !== undefined && !F("state-unsigned") && ctx.state === undefined) answer = undefined;
  if (answer !== undefined) {
    const valid = isObject(answer) && (kind === "sampling" ? answer.role === "assistant" && answer.content !== undefined : ["accept", "decline", "cancel"].includes(answer.action));
    if (!valid) throw new RpcError(-32602, `inputResponses.${key} is not a result of ${method}`);
    return answer;
  }
  if (F("asks-by-request")) {
    ctx.send({ jsonrpc: "2.0", id: `ask-${randomUUID()}`, method, params });
    return sleep(1500, ctx.signal).then(() => undefined);
  }
  const asked = new InputRequired({ [key]: { method, params } }, stateFor(ctx, data));
  if (F("input-requests-a-list")) asked.result.inputRequests = [{ id: key, method, params }];
  if (F("input-required-empty")) asked.result = { resultType: "input_required", message: "More input is needed." };
  throw asked;
}

async function askLegacy(ctx, key, method, params, required) {
  const { session } = ctx;
  const kind = Object.keys(required)[0];
  const declared = session.capabilities[kind];
  const wantsUrl = params.mode === "url";
  const able = isObject(declared) && (kind !== "elicitation" || session.revision !== MARCH)
    && (kind !== "elicitation" || (wantsUrl ? declared.url || F("url-mode-undeclared") : declared.form || !declared.url));
  const careless = (kind === "elicitation" && !wantsUrl && session.revision !== MARCH && F("elicits-undeclared")) || (kind === "sampling" && F("sampling-undeclared"));
  if (!able && !careless) return undefined;
  // Only pings and log messages may precede the client's initialized.
  for (let waited = 0; !session.initialized; waited += 50) {
    if (waited > 3000) return undefined;
    await sleep(50, ctx.signal);
  }
  const answer = await request(session, method, params, (message) => ctx.send(message), ctx.signal);
  return isObject(answer) ? answer : undefined;
}

/** Sends a request to a legacy client; undefined where it refuses or does not answer in time. */
function request(session, method, params, send, signal) {
  const id = `${method}:${++session.asked}`;
  return new Promise((resolve) => {
    const end = (value) => { clearTimeout(timer); session.pending.delete(id); resolve(value); };
    const giveUp = () => { send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: id, reason: "No longer needed" } }); end(undefined); };
    const timer = setTimeout(giveUp, 10_000);
    signal?.addEventListener("abort", () => end(undefined), { once: true });
    session.pending.set(id, end);
    send({ jsonrpc: "2.0", id, method, params });
  });
}

// ---------------------------------------------------------------------------------------------------------------------
// Subscriptions of both eras

const subscriptions = new Map();
const sessions = new Map();
function listen(params, ctx) {
  if (!isObject(params.notifications)) throw new RpcError(-32602, "params.notifications must be an object");
  const asked = params.notifications;
  const uris = asked.resourceSubscriptions;
  if (uris !== undefined && !(Array.isArray(uris) && uris.every((one) => typeof one === "string"))) throw new RpcError(-32602, "resourceSubscriptions must be a list of URIs");
  if (asked.taskIds !== undefined && !ctx.caps.extensions?.[TASKS]) missing({ extensions: { [TASKS]: {} } });
  const filter = {};
  if (asked.toolsListChanged === true) filter.toolsListChanged = true;
  const known = uris?.filter((one) => contentsOf(one)) ?? [];
  if (known.length) filter.resourceSubscriptions = known;
  const tasks = Array.isArray(asked.taskIds) ? asked.taskIds.filter((one) => TASK_STORE.has(one)) : [];
  if (tasks.length) filter.taskIds = tasks;
  const id = F("subscription-id-a-string") ? String(ctx.requestId) : ctx.requestId;
  if (F("second-listen-silences-first")) { for (const one of subscriptions.values()) one.end?.(); subscriptions.clear(); }
  const subscription = {
    filter,
    id: ctx.requestId,
    notify(method, params_ = {}) {
      const tagged = F("subscription-id-missing") && method !== "notifications/subscriptions/acknowledged" ? params_ : { ...params_, _meta: { ...params_._meta, [META + "subscriptionId"]: id } };
      ctx.send({ jsonrpc: "2.0", method, params: tagged });
    },
    close() {
      ctx.send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: ctx.requestId, reason: "The server is shutting down", _meta: { [META + "subscriptionId"]: id } } });
      ctx.send({ jsonrpc: "2.0", id: ctx.requestId, result: modernResult({ _meta: { [META + "subscriptionId"]: id } }, "subscriptions/listen") });
    },
    end: ctx.end,
  };
  const key = Symbol("subscription");
  subscriptions.set(key, subscription);
  if (!F("listen-unacknowledged")) subscription.notify("notifications/subscriptions/acknowledged", { notifications: F("ack-promises-all") ? asked : filter });
  if (F("listen-answered-at-once")) ctx.send({ jsonrpc: "2.0", id: ctx.requestId, result: modernResult({ _meta: { [META + "subscriptionId"]: id } }, "subscriptions/listen") });
  return new Promise((_, reject) => {
    const stop = () => { if (!F("listen-cancel-ignored") || !ctx.stdio) subscriptions.delete(key); reject(new Cancelled()); };
    if (ctx.signal.aborted) stop();
    else ctx.signal.addEventListener("abort", stop, { once: true });
  });
}

/** Tells everybody who watches a resource that it changed. */
function changed(uri) {
  const params = F("updated-without-uri") ? {} : { uri };
  for (const one of subscriptions.values()) {
    if (one.filter.resourceSubscriptions?.includes(uri) || F("updates-for-all")) one.notify("notifications/resources/updated", params);
  }
  const watched = F("sessions-mixed") && [...sessions.values()].some((one) => one.watched.has(uri));
  for (const session of sessions.values()) {
    if (session.watched.has(uri) || watched) session.push({ jsonrpc: "2.0", method: "notifications/resources/updated", params });
  }
}
setInterval(() => changed("harbour://tide/now"), 1000).unref();

// ---------------------------------------------------------------------------------------------------------------------
// Legacy sessions

function newSession(params) {
  const asked = params.protocolVersion;
  if (typeof asked !== "string" || !isObject(params.capabilities) || !isObject(params.clientInfo)) throw new RpcError(-32602, "protocolVersion, capabilities and clientInfo are required");
  if (F("initialize-swallows-extensions") && Object.keys(params.capabilities).some((one) => !["roots", "sampling", "elicitation", "tasks"].includes(one))) throw new RpcError(-32602, "Unknown capability");
  let revision = [NOVEMBER, MARCH].includes(asked) ? asked : NOVEMBER;
  if (F("unknown-version-refused") && revision !== asked) throw new RpcError(-32602, "Unsupported protocol version", { supported: [NOVEMBER, MARCH], requested: asked });
  if (F("older-version-replaced")) revision = NOVEMBER;
  return { revision, told: F("version-echoed") ? asked : revision, capabilities: params.capabilities, level: undefined, watched: new Set(), pending: new Map(), running: new Map(), asked: 0, initialized: false, streams: new Map(), opened: 0, push() {} };
}
function greeting(session) {
  const info = session.revision === MARCH ? { name: SERVER.name, version: SERVER.version } : { ...SERVER };
  if (F("server-info-without-version")) delete info.version;
  return { protocolVersion: session.told, capabilities: capabilities(false), serverInfo: info, instructions };
}

/** Takes a notification or an answer of a legacy client. */
function take(message, session) {
  if (message.method === undefined) {
    const end = session.pending.get(message.id);
    end?.(message.error === undefined ? message.result : undefined);
    return;
  }
  if (message.method === "notifications/initialized") session.initialized = true;
  if (message.method === "notifications/cancelled") cancel(session.running, message.params?.requestId, () => {});
}
function cancel(running, id, send) {
  if (F("cancel-takes-all")) for (const one of running.values()) one.abort();
  const controller = running.get(JSON.stringify(id));
  if (controller) controller.abort();
  else if (F("cancel-unknown-answered")) send(refusal(id, -32602, "Unknown request"));
}

const MODERN_METHODS = ["server/discover", "subscriptions/listen"];
const LEVEL_KEY = META + "logLevel";
const ERA_KEYS = ["protocolVersion", "clientCapabilities", "clientInfo", "logLevel"].map((one) => META + one);
const isModern = (message) => isObject(message.params?._meta) && ERA_KEYS.some((one) => one in message.params._meta);

let remembered = {};
/** What is wrong with the metadata of a modern request; otherwise its capabilities. */
function modernMeta(message) {
  const meta = isObject(message.params?._meta) ? message.params._meta : {};
  const version = meta[META + "protocolVersion"];
  let caps = meta[META + "clientCapabilities"];
  if (caps === undefined && F("missing-capabilities-defaulted")) caps = {};
  if (typeof version !== "string" || !isObject(caps)) return { error: refusal(message.id, -32602, `Every request needs ${META}protocolVersion and ${META}clientCapabilities in _meta`), status: F("missing-meta-with-200") ? 200 : 400 };
  if (version !== MODERN && !F("every-version-served")) {
    if (VERSIONS.includes(version)) return { error: refusal(message.id, -32600, `${version} begins with initialize`), status: 400 };
    if (F("unsupported-version-wrong-code")) return { error: refusal(message.id, -32602, "Unsupported protocol version"), status: 400 };
    return { error: refusal(message.id, -32022, "Unsupported protocol version", F("unsupported-version-no-list") ? undefined : { supported: VERSIONS, requested: version }), status: 400 };
  }
  const level = meta[LEVEL_KEY];
  if (level !== undefined && !LEVELS.includes(level) && !F("log-level-any")) return { error: refusal(message.id, -32602, "Unknown log level"), status: 400 };
  if (F("capabilities-remembered")) { remembered = { ...remembered, ...caps }; caps = remembered; }
  return { caps };
}

/** The message as it goes out: where faults of all messages are made. */
function encode(message, indent) {
  const out = { ...message };
  if (out.method === undefined) {
    if (F("id-as-string") && typeof out.id === "number") out.id = String(out.id);
    if (F("long-ids-cut") && typeof out.id === "string") out.id = out.id.slice(0, 36);
    if (out.error && F("error-without-message")) out.error = { code: out.error.code };
    if (out.error && F("errors-without-jsonrpc")) delete out.jsonrpc;
  }
  // Integers beyond 2^53 come and go as they were written.
  return JSON.stringify(out, null, indent).replace(/"\\u0001big:(-?\d+)"/g, "$1");
}
const bytes = (string) => Buffer.from(string, F("not-utf-8") ? "latin1" : "utf8");
const parse = (string) => JSON.parse(string.replace(/("(?:id|progressToken|requestId)"\s*:\s*)(-?\d{16,})(?=\s*[,}])/g, '$1"\\u0001big:$2"'));
const hasId = (message) => message.id !== undefined && !(F("id-zero-is-no-id") && !message.id);

/** What is wrong with the shape of a message; undefined where nothing is. */
function shapeless(message) {
  if (!isObject(message)) return refusal(undefined, -32600, "A message must be an object");
  const id = isId(message.id) ? message.id : undefined;
  if (message.jsonrpc !== "2.0") return refusal(id, -32600, 'The member jsonrpc must be "2.0"');
  if ("id" in message && id === undefined) return refusal(undefined, -32600, "The id must be a string or an integer");
  if (message.method === undefined ? !("result" in message || "error" in message) : typeof message.method !== "string") return refusal(id, -32600, "The method must be a string");
  return undefined;
}

// ---------------------------------------------------------------------------------------------------------------------
// stdio

function serveStdio() {
  const running = new Map();
  let session;
  let first = true;
  const write = (message) => {
    const line = encode(message, message.error && F("errors-indented") ? 2 : undefined);
    process.stdout.write(bytes(`${F("stdout-bom") && first ? "\uFEFF" : ""}${line}\n`));
    first = false;
  };

  async function answer(message, more) {
    const controller = new AbortController();
    const key = JSON.stringify(message.id);
    running.set(key, controller);
    const ctx = context(message, { ...more, stdio: true, signal: controller.signal, send: write });
    const response = await respond(message, ctx);
    if (running.get(key) === controller) running.delete(key);
    return response;
  }

  /** The response to one message; undefined where none is due. */
  async function received(message) {
    const bad = shapeless(message);
    if (bad) return bad;
    if (message.method === undefined) { if (session) take(message, session); return undefined; }
    if (!hasId(message)) {
      if (message.method === "notifications/cancelled") cancel(running, message.params?.requestId, write);
      else if (session) take(message, session);
      if (F("notification-answered") && !["notifications/initialized", "notifications/cancelled"].includes(message.method)) return refusal(undefined, -32601, `Method not found: ${message.method}`);
      return undefined;
    }
    const method = message.method;
    if (isModern(message) || (!session && MODERN_METHODS.includes(method))) {
      const { error, caps } = modernMeta(message);
      return error ?? answer(message, { modern: true, revision: MODERN, caps });
    }
    if (method === "initialize") {
      if (session) return refusal(message.id, -32600, "The session is initialized");
      try {
        session = newSession(isObject(message.params) ? message.params : {});
      } catch (error) {
        return refusal(message.id, error.code ?? -32603, error.message, error.data);
      }
      session.running = running;
      session.push = write;
      sessions.set("stdio", session);
      if (F("asks-before-initialized") && session.capabilities.roots) setTimeout(() => request(session, "roots/list", {}, write), 0);
      return { jsonrpc: "2.0", id: message.id, result: greeting(session) };
    }
    if (!session && method === "ping") return { jsonrpc: "2.0", id: message.id, result: {} };
    if (!session) return refusal(message.id, -32602, `Begin with initialize, or name ${META}protocolVersion and ${META}clientCapabilities in _meta`);
    return answer(message, { modern: false, revision: session.revision, session });
  }

  async function line(string) {
    if (string.trim() === "") return;
    if (F("long-lines-dropped") && string.length > 65_536) return;
    let message;
    try {
      message = parse(string);
    } catch {
      if (F("invalid-json-fatal")) process.exit(1);
      return write(refusal(undefined, -32700, "Parse error"));
    }
    if (Array.isArray(message)) {
      if (session?.revision !== MARCH || message.length === 0 || F("batch-refused")) return write(refusal(undefined, -32600, "Batches are not supported"));
      const responses = (await Promise.all(message.map((one) => (one?.method === "initialize" ? refusal(one.id, -32600, "initialize cannot be part of a batch") : received(one))))).filter(Boolean);
      if (responses.length) process.stdout.write(bytes(`[${responses.map((one) => encode(one)).join(",")}]\n`));
      return;
    }
    const response = await received(message);
    if (response) write(response);
  }

  let rest = Buffer.alloc(0);
  process.stdin.on("data", (chunk) => {
    rest = Buffer.concat([rest, chunk]);
    for (let end = rest.indexOf(10); end >= 0; end = rest.indexOf(10)) {
      const string = rest.subarray(0, end).toString("utf8");
      rest = rest.subarray(end + 1);
      line(string);
    }
  });
  process.stdin.on("end", () => {
    if (F("eof-ignored")) setInterval(() => {}, 60_000);
    else process.exit(0);
  });
  process.stdout.on("error", () => process.exit(0));
  for (const signal of ["SIGTERM", "SIGINT"]) {
    process.on(signal, () => { for (const one of subscriptions.values()) one.close(); process.exit(0); });
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// Streamable HTTP

/** One stream of server-sent events, or one JSON response where nothing precedes it. */
class Stream {
  constructor(session, res, kind) {
    Object.assign(this, { session, res, events: [], isDone: false, started: false });
    if (session) {
      this.id = `${kind}${++session.opened}`;
      session.streams.set(this.id, this);
      if (session.streams.size > 200) session.streams.delete(session.streams.keys().next().value);
    }
  }

  start() {
    if (this.started) return;
    this.started = true;
    const headers = { "content-type": "text/event-stream", "cache-control": "no-cache" };
    if (!F("buffering-not-disabled")) headers["x-accel-buffering"] = "no";
    this.res.writeHead(200, { ...headers, ...this.headers });
    this.res.flushHeaders();
    if (this.session?.revision === NOVEMBER && !F("no-priming-event")) this.write(undefined);
    this.beat = setInterval(() => this.res.write(F("keep-alive-as-data") && !this.session ? "data: ping\n\n" : ":\n\n"), F("keep-alive-as-data") ? 700 : 5000);
    this.res.on("close", () => clearInterval(this.beat));
  }

  write(message) {
    let event = "";
    if (this.session) {
      const id = F("event-ids-per-stream") ? `${this.events.length + 1}` : `${this.id}_${this.events.length + 1}`;
      this.events.push({ id, message });
      if (this.events.length > 500) this.events.shift();
      event = `id: ${id}\n`;
    }
    const data = message === undefined ? "" : encode(message, F("stream-pretty-printed") ? 2 : undefined);
    if (this.res.writable && !this.res.destroyed) this.res.write(bytes(`${event}data: ${data}\n\n`));
  }

  send(message) {
    if (this.isDone && !F("listen-answered-at-once")) return;
    this.start();
    this.write(message);
  }

  /** Ends with a response, or without one where the request was cancelled. */
  finish(response, status = 200) {
    if (!response) { this.isDone = true; return this.end(); }
    const get = F("response-on-get-stream") && this.started && this.session?.streams && [...this.session.streams.values()].find((one) => one.id.startsWith("g") && one.started && !one.isDone);
    if (get) { get.send(response); this.isDone = true; return this.end(); }
    if (this.started && F("stream-ends-early") && (response.error || response.result?.isError)) { this.isDone = true; return this.end(); }
    if (this.started) {
      this.write(response);
      this.isDone = true;
      if (!F("stream-left-open")) this.end();
      return;
    }
    this.isDone = true;
    reply(this.res, status, response, this.headers);
  }

  end() {
    clearInterval(this.beat);
    if (!this.started && !this.res.headersSent) {
      this.started = true;
      this.res.writeHead(200, { "content-type": "text/event-stream", "x-accel-buffering": "no", ...this.headers });
    }
    this.res.end();
  }
}

function reply(res, status, message, headers = {}) {
  if (res.destroyed || res.headersSent) return;
  if (message === undefined) { res.writeHead(status, headers); return res.end(); }
  const type = message.error && F("errors-as-html") ? "text/html" : F("not-utf-8") ? "application/json; charset=iso-8859-1" : "application/json";
  res.writeHead(status, { "content-type": type, ...headers });
  res.end(bytes(encode(message)));
}
function accepted(res) {
  if (F("notification-200")) { res.writeHead(200, { "content-type": "application/json" }); return res.end('{"ok": true}'); }
  reply(res, 202);
}

const LOCAL = /^https?:\/\/(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/i;
const isForeign = (origin) => origin !== undefined && !(F("origin-prefix") ? /^https?:\/\/(localhost|127\.0\.0\.1)/.test(origin) : LOCAL.test(origin));

/** What a mirrored header says; null where it cannot be read. */
function decoded(value) {
  if (/[^\t\x20-\x7e]/.test(value)) return null;
  const [, coded] = /^=\?base64\?(.*)\?=$/.exec(value) ?? [];
  if (coded === undefined || F("encoded-name-not-decoded")) return value;
  const raw = Buffer.from(coded, "base64");
  return raw.toString("base64") === coded ? raw.toString("utf8") : null;
}

/** The header that does not match the body; undefined where all do. */
function mismatch(headers, message) {
  const params = isObject(message.params) ? message.params : {};
  const meta = isObject(params._meta) ? params._meta : {};
  const version = headers["mcp-protocol-version"];
  if (version === undefined) return "MCP-Protocol-Version is missing";
  if (meta[META + "protocolVersion"] !== undefined && version !== meta[META + "protocolVersion"]) return "MCP-Protocol-Version does not match the body";
  const method = headers["mcp-method"];
  if (method === undefined && !F("method-header-optional")) return "Mcp-Method is missing";
  const same = F("method-header-any-case") ? method?.toLowerCase() === message.method.toLowerCase() : method === message.method;
  if (method !== undefined && !same) return "Mcp-Method does not match the body";
  const source = { "tools/call": params.name, "prompts/get": params.name, "resources/read": params.uri }[message.method];
  const task = message.method.startsWith("tasks/") ? params.taskId : undefined;
  const name = headers["mcp-name"];
  if (source !== undefined && name === undefined) return "Mcp-Name is missing";
  if (name !== undefined && (source ?? task) !== undefined && !F("name-header-unchecked") && decoded(name) !== String(source ?? task)) return "Mcp-Name does not match the body";
  if (message.method !== "tools/call" || F("param-header-unchecked")) return undefined;
  const tool = TOOLS.find((one) => one.name === params.name);
  const args = isObject(params.arguments) ? params.arguments : {};
  for (const [key, schema] of Object.entries(tool?.inputSchema.properties ?? {})) {
    const header = schema["x-mcp-header"];
    if (!header) continue;
    const given = headers[`mcp-param-${header.toLowerCase()}`];
    const value = Object.hasOwn(args, key) ? args[key] : undefined;
    if (value === undefined || value === null) {
      if (given !== undefined) return `Mcp-Param-${header} has no argument`;
      if (F("param-header-always-expected")) return `Mcp-Param-${header} is missing`;
    } else if (typeof value === "string") {
      if (given === undefined) return `Mcp-Param-${header} is missing`;
      if (decoded(given) !== value) return `Mcp-Param-${header} does not match the body`;
    }
  }
  return undefined;
}

async function post(req, res, body) {
  const { headers } = req;
  let message;
  try {
    message = parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
  } catch {
    return reply(res, 400, refusal(undefined, -32700, "Parse error"));
  }
  const sessionId = headers["mcp-session-id"];
  const version = headers["mcp-protocol-version"];
  if (Array.isArray(message)) return postBatch(req, res, message);
  const bad = shapeless(message);
  if (bad) return reply(res, 400, bad);
  const isRequest = message.method !== undefined && hasId(message);
  const modern = isRequest && (isModern(message) || version === MODERN || (sessionId === undefined && (headers["mcp-method"] !== undefined || MODERN_METHODS.includes(message.method))));
  if (modern) return postModern(req, res, message);
  if (message.method === "initialize" && isRequest) return greet(res, message);
  if (!isRequest && sessionId === undefined && message.method !== undefined && (version === MODERN || isModern(message))) return accepted(res);
  const session = sessionOf(req, res, message.id);
  if (!session) return;
  if (!isRequest) {
    take(message, session);
    if (message.method === undefined && F("posted-answer-200")) return reply(res, 200, { ok: true });
    return accepted(res);
  }
  const stream = new Stream(session, res, "p");
  stream.finish(await answerLegacy(session, message, (one) => stream.send(one)));
}

async function answerLegacy(session, message, send) {
  const controller = new AbortController();
  const key = JSON.stringify(message.id);
  session.running.set(key, controller);
  const response = await respond(message, context(message, { modern: false, revision: session.revision, session, signal: controller.signal, send }));
  session.running.delete(key);
  return response;
}

async function postBatch(req, res, messages) {
  const sessionId = req.headers["mcp-session-id"];
  const session = sessionId === undefined ? undefined : sessionOf(req, res);
  if (sessionId !== undefined && !session) return;
  if (session?.revision !== MARCH || messages.length === 0 || F("batch-refused")) return reply(res, 400, refusal(undefined, -32600, "Batches are not supported"));
  const requests = [];
  const bad = [];
  for (const one of messages) {
    const why = shapeless(one) ?? (one.method === "initialize" ? refusal(one.id, -32600, "initialize cannot be part of a batch") : undefined);
    if (why) bad.push(why);
    else if (one.method !== undefined && hasId(one)) requests.push(one);
    else take(one, session);
  }
  if (requests.length + bad.length === 0) return accepted(res);
  const stream = new Stream(session, res, "p");
  stream.start();
  for (const one of bad) stream.send(one);
  await Promise.all(requests.map(async (one) => {
    const response = await answerLegacy(session, one, (each) => stream.send(each));
    if (response) stream.send(response);
  }));
  stream.finish(undefined);
}

async function postModern(req, res, message) {
  const wrongHeader = mismatch(req.headers, message);
  if (wrongHeader) return reply(res, F("header-mismatch-422") ? 422 : 400, refusal(message.id, F("header-mismatch-wrong-code") ? -32600 : -32020, `Header mismatch: ${wrongHeader}`));
  const { error, status, caps } = modernMeta(message);
  if (error) return reply(res, status, error);
  const controller = new AbortController();
  const stream = new Stream(undefined, res);
  res.on("close", () => controller.abort());
  const ctx = context(message, { modern: true, revision: MODERN, caps, signal: controller.signal, send: (one) => stream.send(one), end: () => res.end() });
  const response = await respond(message, ctx);
  if (!response) return res.end();
  const code = response.error?.code;
  const answered = code === -32601 ? (F("unknown-method-200") ? 200 : 404) : code === -32021 ? (F("missing-capability-200") ? 200 : 400) : 200;
  stream.finish(response, answered);
}

let counted = 1000;
function greet(res, message) {
  let session;
  try {
    session = newSession(isObject(message.params) ? message.params : {});
  } catch (error) {
    return reply(res, 400, refusal(message.id, error.code ?? -32603, error.message, error.data));
  }
  const id = F("session-ids-count-up") ? String(++counted) : F("session-id-with-spaces") ? `harbour session ${randomUUID()}` : randomUUID();
  sessions.set(id, session);
  if (sessions.size > 1000) sessions.delete(sessions.keys().next().value);
  session.push = (one) => {
    const open = [...session.streams.values()].filter((each) => each.id.startsWith("g") && each.started && !each.isDone && !each.res.destroyed);
    for (const each of F("get-streams-broadcast") ? open : open.slice(0, 1)) each.send(one);
  };
  const stream = new Stream(session, res, "p");
  stream.headers = { "mcp-session-id": id };
  stream.finish({ jsonrpc: "2.0", id: message.id, result: greeting(session) });
}

/** The session of a request; undefined after a refusal. */
function sessionOf(req, res, id) {
  const given = req.headers["mcp-session-id"];
  const version = req.headers["mcp-protocol-version"];
  if (given === undefined) {
    if (version !== undefined && !VERSIONS.includes(version)) reply(res, 400, refusal(id, -32022, "Unsupported protocol version", { supported: VERSIONS, requested: version }));
    else reply(res, F("session-missing-401") ? 401 : 400, refusal(id, -32600, "Mcp-Session-Id is missing: begin with initialize"));
    return undefined;
  }
  const session = sessions.get(given);
  if (!session) {
    reply(res, F("dead-session-400") ? 400 : 404, refusal(id, -32600, "The session has ended"));
    return undefined;
  }
  if (version !== undefined && !VERSIONS.includes(version) && !F("bad-version-header-served")) {
    reply(res, 400, refusal(id, -32600, `Unsupported MCP-Protocol-Version: ${version}`));
    return undefined;
  }
  return session;
}

function get(req, res) {
  if (F("get-is-a-health-page")) return reply(res, 200, { status: "ok" });
  if (req.headers["mcp-protocol-version"] === MODERN && req.headers["mcp-session-id"] === undefined) return reply(res, 405, refusal(undefined, -32600, "Use POST"), { allow: "POST" });
  const session = sessionOf(req, res);
  if (!session) return;
  if (!(req.headers.accept ?? "").includes("text/event-stream")) return reply(res, 406, refusal(undefined, -32600, "Accept text/event-stream"));
  const last = req.headers["last-event-id"];
  const resumed = last === undefined ? undefined : session.streams.get(last.split("_")[0]);
  if (last !== undefined && !resumed && !F("event-ids-per-stream")) return reply(res, 400, refusal(undefined, -32600, "Unknown Last-Event-ID"));
  if (!resumed) {
    const stream = new Stream(session, res, "g");
    return stream.start();
  }
  const seen = resumed.events.findIndex((one) => one.id === last);
  const missed = F("resume-replays-all") ? [...session.streams.values()].flatMap((one) => one.events) : resumed.events.slice(seen + 1);
  res.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache", "x-accel-buffering": "no" });
  res.flushHeaders();
  for (const one of missed) if (one.message !== undefined) res.write(bytes(`id: ${one.id}\ndata: ${encode(one.message)}\n\n`));
  if (resumed.isDone) return res.end();
  resumed.res = res;
  resumed.started = true;
}

function remove(req, res) {
  if (req.headers["mcp-protocol-version"] === MODERN && req.headers["mcp-session-id"] === undefined) return reply(res, 405, refusal(undefined, -32600, "Use POST"), { allow: "POST" });
  const session = sessionOf(req, res);
  if (!session) return;
  if (!F("delete-does-nothing")) {
    sessions.delete(req.headers["mcp-session-id"]);
    for (const one of session.running.values()) one.abort();
    for (const one of session.streams.values()) if (one.started) one.end();
  }
  reply(res, 204);
}

const LIMIT = 4 * 1024 * 1024;
function serveHttp(port) {
  const server = http.createServer((req, res) => {
    const chunks = [];
    let size = 0;
    req.on("data", (chunk) => {
      size += chunk.length;
      if (size <= LIMIT) chunks.push(chunk);
    });
    req.on("error", () => {});
    req.on("end", () => {
      if (isForeign(req.headers.origin) && !(F("origin-unchecked-on-get") && req.method !== "POST")) return reply(res, F("origin-status-400") ? 400 : 403, refusal(undefined, -32600, "This origin is not allowed"));
      if (new URL(req.url, "http://localhost").pathname !== "/mcp") return reply(res, 404);
      if (req.method === "GET") return get(req, res);
      if (req.method === "DELETE") return remove(req, res);
      if (req.method !== "POST") return reply(res, 405, undefined, { allow: "GET, POST, DELETE" });
      if (size > LIMIT) return reply(res, 413, refusal(undefined, -32600, "The message is too large"));
      if (!/^application\/json\b/i.test(req.headers["content-type"] ?? "")) return reply(res, 415, refusal(undefined, -32600, "Send application/json"));
      post(req, res, Buffer.concat(chunks)).catch(() => reply(res, 500, refusal(undefined, -32603, "Internal error")));
    });
  });
  server.keepAliveTimeout = 60_000;
  server.listen(port, "127.0.0.1", () => console.error(`harbour office at http://127.0.0.1:${port}/mcp`));
  for (const signal of ["SIGTERM", "SIGINT"]) {
    process.on(signal, () => {
      for (const one of subscriptions.values()) one.close();
      setTimeout(() => process.exit(0), 50);
    });
  }
}

if (argv.includes("--stdio")) serveStdio();
else if (option("--http")) serveHttp(Number(option("--http")));
else {
  console.error("usage: server_harbour.mjs --stdio | --http PORT [--fault NAME] | --list-faults");
  process.exit(2);
}
