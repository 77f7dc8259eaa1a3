#!/usr/bin/env node
// A general MCP agent host for two eras of Streamable HTTP (2025-11-25 and 2026-07-28).
// Correct without --fault; with --fault NAME it makes exactly one mistake.
import http from 'node:http';
import https from 'node:https';
import { randomBytes } from 'node:crypto';

// ------------------------------------------------------------------ faults
const OLD = '2025-11-25', NEW = '2026-07-28';
const o = [OLD], n = [NEW], b = [OLD, NEW];
const FAULTS = [
  // lifecycle
  ['no-initialized', 'lifecycle', 'MUST', o, 'never sends notifications/initialized', 'basic/lifecycle#initialization'],
  ['early-requests', 'lifecycle', 'SHOULD', o, 'sends tools/list before the initialize response has arrived', 'basic/lifecycle#initialization'],
  ['init-no-client-info', 'lifecycle', 'MUST', o, 'initialize request lacks clientInfo', 'basic/lifecycle#initialization'],
  ['init-old-version', 'lifecycle', 'SHOULD', o, 'offers 2024-11-05 in initialize although it supports newer ones', 'basic/lifecycle#version-negotiation'],
  ['accept-any-version', 'lifecycle', 'MUST', o, 'goes on when the server answers with a protocol version it does not know', 'basic/lifecycle#version-negotiation'],
  ['undeclared-lists', 'lifecycle', 'MUST', o, 'lists prompts and resources whether or not the server declares them', 'basic/lifecycle#operation'],
  ['undeclared-client-caps', 'lifecycle', 'MUST', b, 'answers sampling and elicitation but declares no such capabilities', 'client/sampling#capabilities'],
  ['legacy-after-modern-error', 'lifecycle', 'SHOULD', n, 'falls back to initialize on every 400, also on UnsupportedProtocolVersionError', 'basic/transports/streamable-http#backward-compatibility'],
  ['no-version-retry', 'lifecycle', 'SHOULD', n, 'ignores the supported list of an UnsupportedProtocolVersionError and repeats the same version', 'basic/versioning#protocol-version-negotiation'],
  ['modern-initialized', 'lifecycle', 'MUST', n, 'still sends an initialize request after a successful server/discover', 'basic/versioning#protocol-version-negotiation'],
  ['ping-not-answered', 'lifecycle', 'MUST', o, 'does not answer the server\'s ping', 'basic/utilities/ping#behavior-requirements'],
  ['ping-non-empty', 'lifecycle', 'MUST', o, 'answers ping with {"ok":true,"pong":...}', 'basic/utilities/ping#behavior-requirements'],
  // http headers
  ['accept-json-only', 'http headers', 'MUST', b, 'Accept header of POST lists application/json only', 'basic/transports#sending-messages-to-the-server'],
  ['accept-star', 'http headers', 'MUST', b, 'sends Accept: */* on POST', 'basic/transports#sending-messages-to-the-server'],
  ['get-accept-json', 'http headers', 'MUST', o, 'GET for the SSE stream sends Accept: application/json', 'basic/transports#listening-for-messages-from-the-server'],
  ['no-version-header', 'http headers', 'MUST', b, 'never sends MCP-Protocol-Version', 'basic/transports#protocol-version-header'],
  ['version-header-post-only', 'http headers', 'MUST', o, 'sends MCP-Protocol-Version on POST only, not on GET and DELETE', 'basic/transports#protocol-version-header'],
  ['version-header-latest', 'http headers', 'SHOULD', o, 'sends its own newest version in the header instead of the negotiated one', 'basic/transports#protocol-version-header'],
  ['version-header-differs', 'http headers', 'MUST', n, 'header MCP-Protocol-Version stays at 2025-11-25 while _meta says 2026-07-28', 'basic/transports/streamable-http#protocol-version-header'],
  ['no-mcp-method', 'http headers', 'MUST', n, 'does not send Mcp-Method', 'basic/transports/streamable-http#standard-request-headers'],
  ['mcp-method-calls-only', 'http headers', 'MUST', n, 'sends Mcp-Method only where Mcp-Name is needed too', 'basic/transports/streamable-http#standard-request-headers'],
  ['no-mcp-name-read', 'http headers', 'MUST', n, 'Mcp-Name missing on resources/read', 'basic/transports/streamable-http#standard-request-headers'],
  ['mcp-name-lowercase', 'http headers', 'MUST', n, 'lower-cases the value of Mcp-Name', 'basic/transports/streamable-http#case-sensitivity'],
  ['mcp-name-percent', 'http headers', 'MUST', n, 'percent-encodes an Mcp-Name outside ASCII instead of base64', 'basic/transports/streamable-http#value-encoding'],
  ['post-sse-unsupported', 'http headers', 'MUST', b, 'treats a text/event-stream answer to a POST as an error and goes on without it', 'basic/transports#sending-messages-to-the-server'],
  // session
  ['no-session-header', 'session', 'MUST', o, 'does not send MCP-Session-Id', 'basic/transports#session-management'],
  ['session-requests-only', 'session', 'MUST', o, 'sends MCP-Session-Id with requests, but not with notifications and responses', 'basic/transports#session-management'],
  ['session-not-on-get', 'session', 'MUST', o, 'opens the GET stream without MCP-Session-Id', 'basic/transports#session-management'],
  ['no-delete', 'session', 'SHOULD', o, 'never deletes its session', 'basic/transports#session-management'],
  ['delete-without-id', 'session', 'MUST', o, 'sends DELETE without MCP-Session-Id', 'basic/transports#session-management'],
  ['ignore-404', 'session', 'MUST', o, 'gives the request up on 404 and keeps the dead session', 'basic/transports#session-management'],
  ['reinit-with-old-id', 'session', 'MUST', o, 'attaches the dead session ID to the new initialize', 'basic/transports#session-management'],
  // SSE
  ['no-resume', 'sse', 'SHOULD', o, 'does not reconnect a stream closed before the response', 'basic/transports#resumability-and-redelivery'],
  ['ignore-retry', 'sse', 'MUST', o, 'reconnects at once, whatever retry says', 'basic/transports#sending-messages-to-the-server'],
  ['no-last-event-id', 'sse', 'SHOULD', o, 'reconnects without Last-Event-ID', 'basic/transports#resumability-and-redelivery'],
  ['first-event-id', 'sse', 'SHOULD', o, 'resumes from the first event ID of the stream instead of the last', 'basic/transports#resumability-and-redelivery'],
  ['resume-by-post', 'sse', 'SHOULD', o, 'resumes by repeating the POST with Last-Event-ID instead of GET', 'basic/transports#resumability-and-redelivery'],
  ['disconnect-cancels', 'sse', 'SHOULD', o, 'takes a closed connection for the end and sends notifications/cancelled', 'basic/transports#sending-messages-to-the-server'],
  ['modern-resume', 'sse', 'MUST', n, 'tries to resume a broken stream by GET with Last-Event-ID and never re-issues the request', 'changelog#major-changes'],
  ['reissue-same-id', 'sse', 'MUST', n, 're-issues a request lost with its stream under the same ID', 'changelog#major-changes'],
  // jsonrpc
  ['no-jsonrpc', 'jsonrpc', 'MUST', b, 'requests lack "jsonrpc"', 'basic/index#messages'],
  ['batch', 'jsonrpc', 'MUST', b, 'sends ordinary requests as an array of one', 'basic/transports#sending-messages-to-the-server'],
  ['result-and-error', 'jsonrpc', 'MUST', o, 'responses carry both result and error:null', 'basic/index#responses'],
  ['response-no-result', 'jsonrpc', 'MUST', o, 'response to ping has neither result nor error', 'basic/index#responses'],
  ['error-code-string', 'jsonrpc', 'MUST', o, 'error code is a string', 'basic/index#responses'],
  ['error-no-message', 'jsonrpc', 'MUST', o, 'error response lacks message', 'basic/index#responses'],
  ['unknown-method-silent', 'jsonrpc', 'MUST', o, 'does not answer an unknown server request', 'basic/index#messages'],
  ['answer-notifications', 'jsonrpc', 'MUST', o, 'sends a response to notifications', 'basic/index#notifications'],
  ['latin1', 'jsonrpc', 'MUST', b, 'encodes the body as Latin-1', 'basic/transports'],
  // ids
  ['id-null', 'ids', 'MUST', b, 'tools/call is sent with id null', 'basic/index#requests'],
  ['id-reused', 'ids', 'MUST', b, 'every request has id 1', 'basic/index#requests'],
  ['id-fraction', 'ids', 'MUST', b, 'request IDs are fractional numbers', 'basic/index#requests'],
  ['notification-id', 'ids', 'MUST', o, 'notifications carry an id', 'basic/index#notifications'],
  ['response-id-string', 'ids', 'MUST', o, 'responses turn a numeric ID into a string', 'basic/index#responses'],
  // meta
  ['meta-no-version', 'meta', 'MUST', n, '_meta lacks protocolVersion', 'basic/index#meta'],
  ['meta-no-caps', 'meta', 'MUST', n, '_meta lacks clientCapabilities', 'basic/index#meta'],
  ['meta-caps-first-only', 'meta', 'MUST', n, 'clientCapabilities only on the first request, as in a handshake', 'basic/index#meta'],
  ['meta-no-info', 'meta', 'SHOULD', n, '_meta lacks clientInfo', 'basic/index#meta'],
  ['meta-info-no-version', 'meta', 'MUST', n, 'clientInfo lacks version', 'schema#Implementation'],
  ['meta-traceparent', 'meta', 'MUST', n, 'traceparent is a bare trace ID, not W3C format', 'basic/index#meta'],
  ['meta-bad-key', 'meta', 'MUST', b, '_meta of requests carries a key with a malformed prefix ("-host_/session id")', 'basic/index#meta'],
  // tools
  ['tool-args-string', 'tools', 'MUST', b, 'tool arguments are sent as a JSON string', 'schema#CallToolRequestParams'],
  ['tool-name-lowercase', 'tools', 'SHOULD', b, 'lower-cases tool names in calls', 'server/tools#tool-names'],
  ['tool-args-null', 'tools', 'MUST', b, 'sends arguments: null for tools that need none', 'schema#CallToolRequestParams'],
  ['tool-list-ref-fetch', 'tools', 'MUST', n, 'fetches a network $ref of a tool schema', 'basic/index#ref-resolution'],
  ['tools-no-refresh', 'tools', 'SHOULD', n, 'does not list the tools again after HeaderMismatch; repeats the same call', 'basic/transports/streamable-http#client-behavior'],
  // param headers
  ['no-param-headers', 'param headers', 'MUST', n, 'does not mirror x-mcp-header parameters', 'basic/transports/streamable-http#custom-headers-from-tool-parameters'],
  ['param-top-level-only', 'param headers', 'MUST', n, 'mirrors only top-level parameters, not nested ones', 'basic/transports/streamable-http#schema-extension'],
  ['param-null-sent', 'param headers', 'MUST', n, 'sends "null" for a null or absent parameter', 'basic/transports/streamable-http#server-behavior-for-custom-headers'],
  ['param-raw-utf8', 'param headers', 'MUST', n, 'sends non-ASCII values percent-encoded instead of base64', 'basic/transports/streamable-http#value-encoding'],
  ['param-trimmed', 'param headers', 'MUST', n, 'trims values instead of encoding leading and trailing spaces', 'basic/transports/streamable-http#value-encoding'],
  ['param-sentinel-raw', 'param headers', 'MUST', n, 'sends a value that looks like the sentinel without encoding it', 'basic/transports/streamable-http#value-encoding'],
  ['param-sentinel-upper', 'param headers', 'MUST', n, 'writes the sentinel as =?UTF-8?B?...?=', 'basic/transports/streamable-http#value-encoding'],
  ['param-bool-upper', 'param headers', 'MUST', n, 'writes booleans as True and False', 'basic/transports/streamable-http#value-encoding'],
  ['param-property-name', 'param headers', 'MUST', n, 'names the header after the property, not after x-mcp-header', 'basic/transports/streamable-http#schema-extension'],
  ['param-invalid-kept', 'param headers', 'MUST', n, 'calls tools whose x-mcp-header annotations are invalid', 'basic/transports/streamable-http#schema-extension'],
  // resources
  ['template-raw', 'resources', 'MUST', b, 'reads a resource template without expanding it', 'schema#ReadResourceRequestParams'],
  ['subscribe-undeclared', 'resources', 'MUST', o, 'subscribes although the server does not declare subscribe', 'basic/lifecycle#operation'],
  ['resource-by-name', 'resources', 'MUST', b, 'resources/read sends name instead of uri', 'schema#ReadResourceRequestParams'],
  // prompts
  ['prompt-args-typed', 'prompts', 'MUST', b, 'prompt arguments are sent as numbers', 'schema#GetPromptRequestParams'],
  ['prompt-args-array', 'prompts', 'MUST', b, 'prompt arguments are sent as an array of name/value pairs', 'schema#GetPromptRequestParams'],
  // completion
  ['complete-undeclared', 'completion', 'MUST', o, 'asks for completions whether or not declared', 'basic/lifecycle#operation'],
  ['complete-ref-name', 'completion', 'MUST', b, 'ref/resource carries name instead of uri', 'schema#ResourceTemplateReference'],
  ['complete-ref-type', 'completion', 'MUST', b, 'reference type is "prompt" and "resource" without ref/', 'server/utilities/completion#reference-types'],
  ['complete-no-value', 'completion', 'MUST', b, 'leaves argument.value out when the user has typed nothing', 'schema#CompleteRequestParams'],
  ['complete-storm', 'completion', 'SHOULD', b, 'one completion request a keystroke, not debounced', 'server/utilities/completion#implementation-considerations'],
  // pagination
  ['first-page-only', 'pagination', 'SHOULD', b, 'reads only the first page of prompts and resources', 'server/prompts#implementation-considerations'],
  ['empty-cursor-ends', 'pagination', 'MUST', n, 'takes an empty cursor for the end', 'server/utilities/pagination#implementation-guidelines'],
  ['cursor-decoded', 'pagination', 'MUST', b, 'base64-decodes cursors, or trims them, and sends the changed value', 'server/utilities/pagination#implementation-guidelines'],
  ['cursor-null', 'pagination', 'MUST', b, 'sends cursor: null for the first page', 'schema#PaginatedRequestParams'],
  ['cursor-number', 'pagination', 'MUST', b, 'computes cursors as page numbers ("2", "3", ...)', 'server/utilities/pagination#pagination-model'],
  // progress
  ['progress-token-shared', 'progress', 'MUST', b, 'all requests share one progress token', 'basic/utilities/progress#progress-flow'],
  ['progress-token-float', 'progress', 'MUST', b, 'progress tokens are fractional numbers', 'basic/utilities/progress#progress-flow'],
  ['progress-token-bool', 'progress', 'MUST', b, 'progressToken: true', 'basic/utilities/progress#progress-flow'],
  ['progress-extends-forever', 'progress', 'SHOULD', b, 'every progress notification restarts the time limit, with no maximum', 'basic/lifecycle#timeouts'],
  // cancellation
  ['no-timeout', 'cancellation', 'SHOULD', b, 'waits for a response without time limit', 'basic/lifecycle#timeouts'],
  ['timeout-silent', 'cancellation', 'SHOULD', o, 'stops waiting after the time limit but sends no cancellation', 'basic/lifecycle#timeouts'],
  ['cancel-init', 'cancellation', 'MUST', o, 'cancels initialize when it takes more than 2 s', 'basic/utilities/cancellation#behavior-requirements'],
  ['cancel-wrong-id', 'cancellation', 'MUST', o, 'requestId of the cancellation is a string of its own, not the ID', 'basic/utilities/cancellation#behavior-requirements'],
  ['cancel-done', 'cancellation', 'MUST', o, 'sends notifications/cancelled after every completed tool call', 'basic/utilities/cancellation#behavior-requirements'],
  ['cancel-keeps-stream', 'cancellation', 'SHOULD', n, 'gives a request up after the time limit but keeps its response stream open', 'basic/patterns/cancellation#timeouts'],
  ['cancelled-still-answered', 'cancellation', 'SHOULD', o, 'answers a server request although the server cancelled it', 'basic/utilities/cancellation#behavior-requirements'],
  // sampling
  ['sampling-role-user', 'sampling', 'MUST', b, 'sampling result has role "model"', 'client/sampling#messages'],
  ['sampling-no-model', 'sampling', 'MUST', b, 'sampling result lacks model', 'schema#CreateMessageResult'],
  ['sampling-content-string', 'sampling', 'MUST', b, 'content is a bare string', 'client/sampling#messages'],
  ['sampling-max-tokens', 'sampling', 'MUST', b, 'ignores maxTokens and writes a very long text', 'client/sampling#sampling-parameters'],
  ['sampling-tool-none', 'sampling', 'MUST', b, 'uses tools although toolChoice is none', 'schema#ToolChoice.mode'],
  ['sampling-tool-required', 'sampling', 'MUST', b, 'answers with text although toolChoice is required', 'schema#ToolChoice.mode'],
  ['sampling-tool-use-no-id', 'sampling', 'MUST', b, 'tool_use blocks lack id', 'schema#ToolUseContent'],
  ['sampling-mixed-accepted', 'sampling', 'SHOULD', o, 'accepts tool results that are mixed with other content or missing', 'client/sampling#error-handling'],
  // elicitation form
  ['form-action-submit', 'elicitation form', 'MUST', b, 'action is "submit"', 'schema#ElicitResult'],
  ['form-flat', 'elicitation form', 'SHOULD', b, 'form values lie beside action, not in content', 'client/elicitation#response-actions'],
  ['form-title-as-value', 'elicitation form', 'SHOULD', b, 'answers titled enums with the title instead of const', 'client/elicitation#form-mode-security'],
  ['form-all-strings', 'elicitation form', 'SHOULD', b, 'every form value is a string', 'client/elicitation#form-mode-security'],
  ['form-multi-single', 'elicitation form', 'SHOULD', b, 'a multi-select is answered with one string', 'client/elicitation#form-mode-security'],
  ['form-required-missing', 'elicitation form', 'SHOULD', b, 'leaves the last required field out', 'client/elicitation#form-mode-security'],
  ['form-formats-ignored', 'elicitation form', 'SHOULD', b, 'answers every string, whatever format, with "text"', 'client/elicitation#form-mode-security'],
  ['form-defaults-ignored', 'elicitation form', 'SHOULD', b, 'does not fill in defaults', 'client/elicitation#requested-schema'],
  ['form-bounds-ignored', 'elicitation form', 'SHOULD', b, 'numbers are 0, whatever minimum and maximum say', 'client/elicitation#form-mode-security'],
  ['form-mode-needed', 'elicitation form', 'MUST', b, 'refuses requests without mode', 'client/elicitation#elicitation-requests'],
  // elicitation URL
  ['url-prefetch', 'elicitation url', 'MUST', b, 'fetches the URL of an elicitation to show a preview', 'client/elicitation#safe-url-handling'],
  ['url-content', 'elicitation url', 'SHOULD', b, 'accepts a URL elicitation with content', 'client/elicitation#response-actions'],
  ['url-not-declared', 'elicitation url', 'MUST', o, 'declares form mode only, but accepts URL mode', 'client/elicitation#error-handling'],
  // roots
  ['roots-path', 'roots', 'MUST', b, 'root URIs are plain paths', 'client/roots#root'],
  ['roots-https', 'roots', 'MUST', b, 'exposes an https:// root', 'client/roots#root'],
  ['roots-strings', 'roots', 'MUST', b, 'roots is an array of strings', 'schema#ListRootsResult'],
  ['roots-silent-change', 'roots', 'MUST', o, 'declares roots.listChanged but does not tell of its changed roots', 'client/roots#root-list-changes'],
  // input rounds
  ['mrtr-same-id', 'input rounds', 'MUST', n, 'the retry has the ID of the first request', 'basic/patterns/mrtr#client-requirements-basic-workflow'],
  ['mrtr-state-lost', 'input rounds', 'MUST', n, 'does not echo requestState', 'basic/patterns/mrtr#client-requirements-basic-workflow'],
  ['mrtr-state-reencoded', 'input rounds', 'MUST', n, 'parses requestState and writes it anew (trimmed, decoded, pretty-printed)', 'basic/patterns/mrtr#client-requirements-basic-workflow'],
  ['mrtr-state-falsy', 'input rounds', 'MUST', n, 'drops an empty requestState', 'basic/patterns/mrtr#client-requirements-basic-workflow'],
  ['mrtr-state-invented', 'input rounds', 'MUST', n, 'sends requestState "" when the server gave none', 'basic/patterns/mrtr#client-requirements-basic-workflow'],
  ['mrtr-state-sticky', 'input rounds', 'MUST', n, 'sends the last requestState with all later requests', 'basic/patterns/mrtr#client-requirements-basic-workflow'],
  ['mrtr-first-only', 'input rounds', 'MUST', n, 'answers only the first of several inputRequests', 'basic/patterns/mrtr#client-requirements-basic-workflow'],
  ['mrtr-own-keys', 'input rounds', 'MUST', n, 'names inputResponses input_0, input_1, ...', 'basic/patterns/mrtr#inputresponses'],
  ['mrtr-wrapped', 'input rounds', 'MUST', n, 'wraps every input response in {result: ...}', 'basic/patterns/mrtr#inputresponses'],
  ['mrtr-args-lost', 'input rounds', 'MUST', n, 'the retry omits the original arguments', 'basic/patterns/mrtr#basic-workflow'],
  ['mrtr-posted-response', 'input rounds', 'MUST', n, 'POSTs each input as a JSON-RPC response before the retry', 'basic/transports/streamable-http#sending-messages'],
  ['absent-result-type', 'input rounds', 'MUST', n, 'takes a result without resultType for incomplete and asks again', 'basic/index#resulttype'],
  ['unknown-result-type', 'input rounds', 'MUST', n, 'takes an unknown resultType for input_required and retries', 'basic/index#resulttype'],
  // tasks
  ['task-undeclared', 'tasks', 'MUST', o, 'augments every tool call with a task', 'basic/utilities/tasks#tool-level-negotiation'],
  ['task-required-ignored', 'tasks', 'MUST', o, 'calls tools that require a task without one', 'basic/utilities/tasks#tool-level-negotiation'],
  ['task-poll-fast', 'tasks', 'SHOULD', o, 'polls every 50 ms, whatever pollInterval', 'basic/utilities/tasks#getting-tasks'],
  ['task-input-ignored', 'tasks', 'SHOULD', o, 'keeps polling at input_required and does not call tasks/result', 'basic/utilities/tasks#input-required-status'],
  ['task-cancel-notification', 'tasks', 'MUST', o, 'cancels a task with notifications/cancelled', 'basic/utilities/cancellation#behavior-requirements'],
  ['task-list-undeclared', 'tasks', 'MUST', o, 'calls tasks/list whether or not declared', 'basic/lifecycle#operation'],
  ['task-no-created-at', 'tasks', 'MUST', o, 'tasks of its own lack createdAt', 'basic/utilities/tasks#ttl-and-resource-management'],
  ['task-starts-completed', 'tasks', 'MUST', o, 'tasks of its own begin as completed', 'basic/utilities/tasks#task-status-lifecycle'],
  ['task-related-missing', 'tasks', 'MUST', o, 'responses related to a task lack related-task', 'basic/utilities/tasks#associating-task-related-messages'],
  ['task-related-in-get', 'tasks', 'SHOULD', o, 'puts related-task into tasks/get and tasks/result', 'basic/utilities/tasks#associating-task-related-messages'],
  ['task-wait-notification', 'tasks', 'MUST', o, 'waits for notifications/tasks/status and never polls', 'basic/utilities/tasks#task-notifications'],
  // subscriptions
  ['listen-no-filter', 'subscriptions', 'MUST', n, 'subscriptions/listen has no notifications filter', 'schema#SubscriptionsListenRequestParams'],
  ['listen-names', 'subscriptions', 'MUST', n, 'the filter is an array of notification names', 'schema#SubscriptionFilter'],
  ['listen-cancelled-note', 'subscriptions', 'MUST', n, 'ends its subscription with notifications/cancelled that has an id, over HTTP', 'basic/index#notifications'],
  ['listen-uri-string', 'subscriptions', 'MUST', n, 'resourceSubscriptions is one string', 'schema#SubscriptionFilter'],
  // caching
  ['cache-key-method', 'caching', 'MUST', n, 'caches by method only: one resources/read answer for every URI', 'server/utilities/caching#cache-key'],
  ['cache-no-invalidation', 'caching', 'SHOULD', n, 'keeps serving its cache after list_changed and updated', 'server/utilities/caching#interaction-with-notifications'],
  ['cache-ignored', 'caching', 'SHOULD', n, 'fetches again although the result is fresh', 'server/utilities/caching#time-to-live-ttl-field'],
  ['cache-polls', 'caching', 'MUST', n, 'polls tools/list at a fixed beat of 300 ms, without jitter', 'server/utilities/caching#freshness-calculation'],
  ['cache-zero-kept', 'caching', 'SHOULD', n, 'takes ttlMs 0, absent or negative for "for ever"', 'server/utilities/caching#time-to-live-ttl-field'],
  ['cache-mrtr', 'caching', 'MUST', n, 'caches resources/read results that came from an input round', 'server/utilities/caching#cache-key'],
  // logging
  ['log-level-unknown', 'logging', 'MUST', b, 'asks for log level "warn"', 'schema#LoggingLevel'],
  ['log-level-number', 'logging', 'MUST', b, 'asks for log level 4', 'schema#LoggingLevel'],
  ['log-set-undeclared', 'logging', 'MUST', o, 'calls logging/setLevel whether or not declared', 'basic/lifecycle#operation'],
];

// ------------------------------------------------------------------ command line
const argv = process.argv.slice(2);
let fault = null, newest = NEW, url = null;
for (let i = 0; i < argv.length; i++) {
  if (argv[i] === '--list-faults') {
    for (const [name, area, level, revisions, what, page] of FAULTS)
      console.log(JSON.stringify({ name, area, level, transports: ['http'], revisions, what, page }));
    process.exit(0);
  } else if (argv[i] === '--fault') fault = argv[++i];
  else if (argv[i] === '--revision') newest = argv[++i];
  else url = argv[i];
}
if (fault && !FAULTS.some((f) => f[0] === fault)) { console.error(`unknown fault ${fault}`); process.exit(2); }
if (!url) { console.error('usage: client_eras.mjs [--fault NAME] [--revision R] URL'); process.exit(2); }
const F = (name) => fault === name;
const SCENARIO = process.env.PROOF_SCENARIO || '';
let CONTEXT = {};
try { CONTEXT = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT || '{}') || {}; } catch { /* none */ }

const T0 = Date.now();
const SOFT = 16500, HARD = 23500, LIMIT = 5000;
const spent = () => Date.now() - T0;
const hurry = () => spent() > SOFT;
const sleep = (ms) => new Promise((r) => setTimeout(r, ms));
const log = (...a) => console.error(`[${(spent() / 1000).toFixed(2)}]`, ...a);
process.on('uncaughtException', (e) => log('uncaught:', e && e.message));
process.on('unhandledRejection', (e) => log('unhandled:', e && e.message));
setTimeout(() => { log('out of time'); process.exit(0); }, HARD);

class RpcError extends Error { constructor(e, status) { super(e.message || 'error'); this.code = e.code; this.data = e.data; this.status = status; } }
class HttpError extends Error { constructor(status, body) { super(`HTTP ${status}`); this.status = status; this.body = body; } }
class SessionLost extends Error {}
class StreamBroken extends Error {}
class TimedOut extends Error {}

// ------------------------------------------------------------------ JSON Schema: make a value
const resolveRef = (root, ref) => {
  if (ref === '#') return root;
  if (!ref.startsWith('#/')) throw new Error(`external $ref ${ref}`);
  let s = root;
  for (const part of ref.slice(2).split('/')) s = s?.[decodeURIComponent(part).replace(/~1/g, '/').replace(/~0/g, '~')];
  if (s === undefined) throw new Error(`unresolved $ref ${ref}`);
  return s;
};
const FORMATS = {
  email: 'ada@example.com', 'idn-email': 'ada@example.com', uri: 'https://example.com/a', url: 'https://example.com/a',
  'uri-reference': '/a', iri: 'https://example.com/a', date: '2026-01-15', 'date-time': '2026-01-15T10:30:00Z',
  time: '10:30:00Z', duration: 'P1D', uuid: '123e4567-e89b-42d3-a456-426614174000', ipv4: '192.0.2.1',
  ipv6: '2001:db8::1', hostname: 'example.com', regex: '^a$', 'json-pointer': '/a', byte: 'YQ==',
};
// A small generator for the usual regular expressions.
function fromPattern(src) {
  let i = 0;
  const alt = () => { const first = seq(); while (src[i] === '|') { i++; seq(); } return first; };
  const seq = () => { let out = ''; while (i < src.length && src[i] !== '|' && src[i] !== ')') out += quant(atom); return out; };
  const quant = (f) => {
    const one = f(); let min = 1;
    if (src[i] === '*' || src[i] === '?') { min = src[i] === '*' ? 1 : 0; i++; } else if (src[i] === '+') i++;
    else if (src[i] === '{') { const m = /^\{(\d*)(,\d*)?\}/.exec(src.slice(i)); if (m) { min = Number(m[1] || 0); i += m[0].length; } }
    if (src[i] === '?') i++;
    return one.repeat(min);
  };
  const esc = (c) => ({ d: '7', w: 'a', s: ' ', D: 'a', W: '-', S: 'a', n: '\n', t: '\t', b: '', B: '' })[c] ?? c;
  const atom = () => {
    const c = src[i++];
    if (c === '^' || c === '$') return '';
    if (c === '.') return 'a';
    if (c === '\\') { const e = src[i++]; if (e === 'p' || e === 'P') { const m = /^\{[^}]*\}/.exec(src.slice(i)); if (m) i += m[0].length; return 'a'; } return esc(e); }
    if (c === '(') {
      if (src.startsWith('?', i)) { const m = /^\?(:|<[A-Za-z]\w*>|=|!|<=|<!)/.exec(src.slice(i)); if (m) { i += m[0].length; const v = alt(); i++; return /[=!]$/.test(m[1]) ? '' : v; } }
      const v = alt(); i++; return v;
    }
    if (c === '[') {
      const neg = src[i] === '^'; if (neg) i++;
      let first = null; const all = [];
      while (i < src.length && (src[i] !== ']' || first === null)) {
        let x = src[i++]; if (x === '\\') x = esc(src[i++]);
        first ??= x; all.push(x);
        if (src[i] === '-' && src[i + 1] !== ']') { i++; all.push(src[i++]); }
      }
      i++;
      return neg ? [...'aA0-_ '].find((x) => !all.includes(x)) ?? 'a' : first;
    }
    return c;
  };
  return alt();
}
function makeString(s, name) {
  if (s.format && FORMATS[s.format]) return FORMATS[s.format];
  let v = null;
  if (s.pattern) {
    try {
      const re = new RegExp(s.pattern, 'u');
      v = [fromPattern(s.pattern), 'us-west1', 'abc', 'ABC', '123', 'a', 'A1', 'abc-123'].find((x) => re.test(x) && x.length >= (s.minLength ?? 0) && x.length <= (s.maxLength ?? 1e9)) ?? null;
    } catch { v = null; }
    if (v !== null) return v;
  }
  v = name ? `${name}-1` : 'text';
  if (/city|location/i.test(name)) v = 'Paris';
  while ([...v].length < (s.minLength ?? 0)) v += 'x';
  if (s.maxLength !== undefined) v = [...v].slice(0, s.maxLength).join('');
  return v;
}
function makeNumber(s, integer) {
  let lo = s.minimum ?? (typeof s.exclusiveMinimum === 'number' ? s.exclusiveMinimum + (integer ? 1 : 0.5) : undefined);
  let hi = s.maximum ?? (typeof s.exclusiveMaximum === 'number' ? s.exclusiveMaximum - (integer ? 1 : 0.5) : undefined);
  let v = 3;
  if (lo !== undefined && v < lo) v = integer ? Math.ceil(lo) : lo;
  if (hi !== undefined && v > hi) v = lo !== undefined ? (integer ? Math.ceil(lo) : lo) : integer ? Math.floor(hi) : hi;
  if (s.multipleOf) { const m = s.multipleOf; v = Math.ceil(v / m) * m; if (hi !== undefined && v > hi) v = Math.floor(hi / m) * m; }
  return v;
}
function make(s, root, opt = {}, name = '', depth = 0) {
  if (s === true || s === undefined) return 'text';
  if (s === false) return undefined;
  if (depth > 12) return null;
  if (s.$ref) { const { $ref, ...rest } = s; return make({ ...resolveRef(root, $ref), ...rest }, root, opt, name, depth + 1); }
  if (opt.defaults && s.default !== undefined) return s.default;
  if ('const' in s) return s.const;
  if (Array.isArray(s.enum) && s.enum.length) return s.enum.find((x) => x !== null) ?? s.enum[0];
  if (s.default === null && s.type && ![s.type].flat().includes('null')) return undefined; // "no value": leave it out
  if (s.default !== undefined && !F('form-defaults-ignored')) return s.default;
  if (Array.isArray(s.examples) && s.examples.length) return s.examples[0];
  if (Array.isArray(s.allOf) && s.allOf.length) {
    const { allOf, ...rest } = s;
    const parts = allOf.map((x) => (x?.$ref ? resolveRef(root, x.$ref) : x));
    const merged = Object.assign({}, ...parts, rest);
    merged.properties = Object.assign({}, ...parts.map((p) => p?.properties), rest.properties);
    merged.required = [...new Set([...parts.flatMap((p) => p?.required ?? []), ...(rest.required ?? [])])];
    if (!Object.keys(merged.properties).length) { delete merged.properties; delete merged.required; }
    return make(merged, root, opt, name, depth + 1);
  }
  for (const k of ['oneOf', 'anyOf']) {
    if (Array.isArray(s[k]) && s[k].length) {
      const { [k]: list, ...rest } = s;
      const pick = list.find((x) => x?.type !== 'null') ?? list[0];
      if (typeof pick !== 'object') return make(rest, root, opt, name, depth + 1);
      return make({ ...rest, ...pick, properties: rest.properties || pick.properties ? { ...rest.properties, ...pick.properties } : undefined, required: rest.required || pick.required ? [...(rest.required ?? []), ...(pick.required ?? [])] : undefined }, root, opt, name, depth + 1);
    }
  }
  let t = Array.isArray(s.type) ? s.type.find((x) => x !== 'null') ?? 'null' : s.type;
  if (!t) t = s.properties || s.required ? 'object' : s.items ? 'array' : s.minimum !== undefined || s.maximum !== undefined ? 'number' : 'string';
  switch (t) {
    case 'null': return null;
    case 'boolean': return true;
    case 'integer': return makeNumber(s, true);
    case 'number': return makeNumber(s, false);
    case 'array': {
      const out = [];
      const want = Math.min(Math.max(s.minItems ?? 0, 1), s.maxItems ?? 1e9);
      if (Array.isArray(s.prefixItems)) for (const x of s.prefixItems) out.push(make(x, root, opt, name, depth + 1));
      const it = s.items && typeof s.items === 'object' && !Array.isArray(s.items) ? (s.items.$ref ? resolveRef(root, s.items.$ref) : s.items) : s.items;
      if (it === false) return out;
      const choices = it?.enum ?? (it?.anyOf ?? it?.oneOf)?.filter((x) => x && 'const' in x).map((x) => x.const);
      while (out.length < want) {
        let v = choices?.length ? choices[out.length % choices.length] : make(it, root, opt, name, depth + 1);
        if (!choices?.length && s.uniqueItems && out.some((x) => JSON.stringify(x) === JSON.stringify(v))) v = typeof v === 'number' ? v + out.length : typeof v === 'string' ? v + out.length : v;
        out.push(v);
      }
      return out;
    }
    case 'object': {
      const out = {};
      const required = new Set(s.required ?? []);
      for (const [k, p] of Object.entries(s.properties ?? {})) {
        const deep = depth < 5 && hasHeaderBelow(p);
        if (required.has(k) || (opt.optional && depth === 0) || (deep && opt.headers !== false)) {
          const v = make(p, root, opt, k, depth + 1);
          if (v !== undefined) out[k] = v;
        }
      }
      for (const k of required) if (!(k in out)) out[k] = make(typeof s.additionalProperties === 'object' ? s.additionalProperties : true, root, opt, k, depth + 1);
      return out;
    }
    default: return makeString(s, name);
  }
}
function hasHeaderBelow(p) {
  if (!p || typeof p !== 'object') return false;
  if ('x-mcp-header' in p) return true;
  return Object.values(p.properties ?? {}).some(hasHeaderBelow);
}
const DIALECTS = /json-schema\.org\/(draft\/2020-12|draft\/2019-09|draft-0[4-7])\/schema#?$/;
function externalRef(x) {
  if (!x || typeof x !== 'object') return null;
  if (typeof x.$ref === 'string' && /^[a-z][a-z0-9+.-]*:/i.test(x.$ref)) return x.$ref;
  for (const v of Object.values(x)) { const r = externalRef(v); if (r) return r; }
  return null;
}

// ------------------------------------------------------------------ x-mcp-header
// Returns [{path, header}] or throws with the reason for which the tool must be rejected.
function headerParams(schema) {
  const found = [], seen = new Set();
  const MAPS = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas']);
  const DATA = new Set(['default', 'const', 'enum', 'examples', 'required', 'x-mcp-header']);
  const visit = (s, path, reachable) => {
    if (!s || typeof s !== 'object') return;
    if (Array.isArray(s)) { s.forEach((x) => visit(x, path, false)); return; }
    if (Object.hasOwn(s, 'x-mcp-header')) {
      const h = s['x-mcp-header'];
      if (typeof h !== 'string' || h === '') throw new Error('x-mcp-header is empty or not a string');
      if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(h)) throw new Error(`x-mcp-header ${JSON.stringify(h)} is not a token`);
      if (!reachable || !path.length) throw new Error(`x-mcp-header ${h} is not statically reachable`);
      const types = (Array.isArray(s.type) ? s.type : [s.type]).filter((t) => t !== 'null');
      if (types.length !== 1 || !['string', 'integer', 'boolean'].includes(types[0])) throw new Error(`x-mcp-header ${h} on type ${JSON.stringify(s.type)}`);
      if (seen.has(h.toLowerCase())) throw new Error(`x-mcp-header ${h} is not unique`);
      seen.add(h.toLowerCase());
      found.push({ path, header: h });
    }
    for (const [k, v] of Object.entries(s)) {
      if (DATA.has(k)) continue;
      if (MAPS.has(k) && v && typeof v === 'object' && !Array.isArray(v)) for (const [name, p] of Object.entries(v)) visit(p, [...path, name], reachable && k === 'properties');
      else visit(v, path, false);
    }
  };
  visit(schema, [], true);
  return found;
}
function encodeHeader(v, param) {
  if (param && F('param-trimmed')) v = v.trim();
  const sentinel = v.startsWith('=?base64?') && v.endsWith('?=');
  const plain = /^[\x20-\x7e\t]*$/.test(v) && v === v.replace(/^[ \t]+|[ \t]+$/g, '');
  if (param && sentinel && F('param-sentinel-raw')) return v;
  if (plain && !sentinel) return v;
  if (param ? F('param-raw-utf8') : F('mcp-name-percent')) return encodeURIComponent(v);
  const b64 = Buffer.from(v, 'utf8').toString('base64');
  return param && F('param-sentinel-upper') ? `=?UTF-8?B?${b64}?=` : `=?base64?${b64}?=`;
}

// ------------------------------------------------------------------ HTTP and SSE
const target = new URL(url);
const lib = target.protocol === 'https:' ? https : http;
const agent = new lib.Agent({ keepAlive: false });
function send(method, headers, body, hold) {
  return new Promise((resolve, reject) => {
    const req = lib.request(target, { method, headers, agent });
    if (hold) hold.req = req;
    req.on('response', resolve);
    req.on('error', reject);
    req.end(body);
  });
}
async function readBody(res) {
  const parts = [];
  for await (const p of res) { parts.push(p); if (parts.length > 20000) break; }
  return Buffer.concat(parts).toString('utf8');
}
async function* sseEvents(res) {
  const dec = new TextDecoder('utf-8');
  let buf = '', start = true, data = [], type = '', id, retry;
  const line = (l) => {
    if (l.startsWith(':')) return;
    const c = l.indexOf(':');
    const field = c < 0 ? l : l.slice(0, c);
    let v = c < 0 ? '' : l.slice(c + 1);
    if (v.startsWith(' ')) v = v.slice(1);
    if (field === 'data') data.push(v);
    else if (field === 'event') type = v;
    else if (field === 'id') { if (!v.includes('\0')) id = v; } else if (field === 'retry') { if (/^\d+$/.test(v)) retry = Number(v); }
  };
  for await (const chunk of res) {
    buf += dec.decode(chunk, { stream: true });
    if (start && buf.length) { if (buf[0] === '\ufeff') buf = buf.slice(1); start = false; }
    for (;;) {
      const m = /\r\n|\n|\r/.exec(buf);
      if (!m || (m[0] === '\r' && m.index === buf.length - 1)) break;
      const l = buf.slice(0, m.index);
      buf = buf.slice(m.index + m[0].length);
      if (l === '') { yield { data: data.length ? data.join('\n') : null, type, id, retry }; data = []; type = ''; id = undefined; retry = undefined; } else line(l);
    }
  }
  if (id !== undefined || retry !== undefined) yield { data: null, type, id: undefined, retry };
}

// ------------------------------------------------------------------ the host
const INFO = { name: 'era-agent-host', title: 'Era Agent Host', version: '1.0.0' };
const MODELS = ['claude-3-sonnet-20240307', 'claude-3-5-haiku-20241022', 'gpt-4o-mini', 'gemini-1.5-pro'];
const LEGACY = [OLD, '2025-06-18', '2025-03-26'];
const NAMED = { 'tools/call': 'name', 'prompts/get': 'name', 'resources/read': 'uri' };
const CACHED = new Set(['server/discover', 'tools/list', 'prompts/list', 'resources/list', 'resources/templates/list', 'resources/read']);
const clone = (x) => JSON.parse(JSON.stringify(x));

const C = {
  era: null, version: null, caps: {}, session: null, ready: false, seq: 0, closing: false,
  cache: new Map(), tools: [], headerMap: new Map(), inflight: new Set(), served: new Map(), ownTasks: new Map(),
  roots: [{ uri: 'file:///home/user/projects/agent', name: 'Agent' }], streams: new Set(), stickyState: undefined,
  changed: new Set(), updated: new Set(), completedElicitations: new Set(), taskNotes: new Map(), metaSent: false, listening: null,
  resources: [], subscribed: [],
};
const modern = () => C.era === 'modern';

function clientCaps() {
  if (F('undeclared-client-caps')) return modern() ? { roots: {} } : { roots: { listChanged: true } };
  const elicitation = F('url-not-declared') ? { form: {} } : { form: {}, url: {} };
  if (modern()) return { roots: {}, sampling: { tools: {} }, elicitation };
  return {
    roots: { listChanged: true }, sampling: { tools: {} }, elicitation,
    tasks: { list: {}, cancel: {}, requests: { sampling: { createMessage: {} }, elicitation: { create: {} } } },
  };
}
function newId() {
  C.seq++;
  if (F('id-reused')) return 1;
  if (F('id-fraction')) return C.seq + 0.5;
  return C.seq;
}
function token(id) {
  if (F('progress-token-shared')) return 'progress';
  if (F('progress-token-float')) return C.seq + 0.25;
  if (F('progress-token-bool')) return true;
  return `progress-${id}`;
}

function headersFor(verb, msg) {
  const h = {};
  if (verb === 'POST') {
    h['Content-Type'] = 'application/json';
    h.Accept = F('accept-json-only') ? 'application/json' : F('accept-star') ? '*/*' : 'application/json, text/event-stream';
  } else if (verb === 'GET') h.Accept = F('get-accept-json') ? 'application/json' : 'text/event-stream';
  if (modern()) {
    h['MCP-Protocol-Version'] = F('version-header-differs') ? OLD : C.version;
    if (msg?.method) {
      const key = NAMED[msg.method];
      if (!F('no-mcp-method') && !(F('mcp-method-calls-only') && !key)) h['Mcp-Method'] = msg.method;
      if (key && typeof msg.params?.[key] === 'string' && !(F('no-mcp-name-read') && key === 'uri')) {
        const v = msg.params[key];
        h['Mcp-Name'] = encodeHeader(F('mcp-name-lowercase') ? v.toLowerCase() : v);
      }
      if (msg.method === 'tools/call' && !F('no-param-headers')) {
        for (const { path, header } of C.headerMap.get(msg.params.name) ?? []) {
          if (F('param-top-level-only') && path.length > 1) continue;
          let v = msg.params.arguments;
          for (const p of path) v = v !== null && typeof v === 'object' && Object.hasOwn(v, p) ? v[p] : undefined;
          if ((v === null || v === undefined) && !F('param-null-sent')) continue;
          let text = String(v ?? null);
          if (typeof v === 'boolean' && F('param-bool-upper')) text = v ? 'True' : 'False';
          h[`Mcp-Param-${F('param-property-name') ? path.at(-1) : header}`] = encodeHeader(text, true);
        }
      }
    }
  } else if (C.ready) {
    h['MCP-Protocol-Version'] = F('version-header-latest') ? OLD : C.version;
    if (verb !== 'POST' && F('version-header-post-only')) delete h['MCP-Protocol-Version'];
    const skip = F('no-session-header') || (F('session-requests-only') && verb === 'POST' && !(msg?.method && 'id' in msg)) ||
      (F('session-not-on-get') && verb === 'GET') || (F('delete-without-id') && verb === 'DELETE');
    if (C.session && !skip) h['MCP-Session-Id'] = C.session;
  }
  if (F('no-version-header')) delete h['MCP-Protocol-Version'];
  return h;
}
function post(msg, hold) {
  const h = headersFor('POST', msg);
  if (msg.method === 'initialize' && F('reinit-with-old-id') && C.deadSession) h['MCP-Session-Id'] = C.deadSession;
  if (hold?.lastEventId !== undefined) h['Last-Event-ID'] = hold.lastEventId;
  let out = msg;
  if (F('no-jsonrpc') && msg.method && 'id' in msg) { out = { ...msg }; delete out.jsonrpc; }
  if (F('batch') && msg.method && 'id' in msg && !['initialize', 'server/discover'].includes(msg.method)) out = [out];
  const body = Buffer.from(JSON.stringify(out), F('latin1') ? 'latin1' : 'utf8');
  h['Content-Length'] = body.length;
  return send('POST', h, body, hold);
}
async function notify(method, params) {
  const msg = { jsonrpc: '2.0', method };
  if (F('notification-id')) msg.id = newId();
  if (params) msg.params = params;
  try { const res = await post(msg); res.resume(); return res.statusCode; } catch (e) { log('notify failed', e.message); return 0; }
}
async function respond(id, body) {
  const msg = { jsonrpc: '2.0', id: F('response-id-string') ? String(id) : id, ...body };
  if (F('result-and-error') && msg.result) msg.error = null;
  if (msg.error && F('error-code-string')) msg.error = { ...msg.error, code: String(msg.error.code) };
  if (msg.error && F('error-no-message')) msg.error = { code: msg.error.code };
  try { const res = await post(msg); res.resume(); } catch (e) { log('respond failed', e.message); }
}

// One wire request and its response.
function rpc(method, params = {}, opt = {}) {
  const id = opt.id ?? (F('id-null') && method === 'tools/call' ? null : newId());
  const msg = { jsonrpc: '2.0', id, method };
  const p = { ...params };
  const meta = { ...p._meta };
  if (modern()) {
    if (!F('meta-no-version')) meta['io.modelcontextprotocol/protocolVersion'] = C.version;
    if (!F('meta-no-info')) meta['io.modelcontextprotocol/clientInfo'] = F('meta-info-no-version') ? { name: INFO.name } : INFO;
    if (!F('meta-no-caps') && !(F('meta-caps-first-only') && C.metaSent)) meta['io.modelcontextprotocol/clientCapabilities'] = clientCaps();
    C.metaSent = true;
    if (C.caps.logging && NAMED[method]) meta['io.modelcontextprotocol/logLevel'] = F('log-level-unknown') ? 'warn' : F('log-level-number') ? 4 : 'info';
    if (method === 'tools/call') {
      const trace = randomBytes(16).toString('hex');
      meta.traceparent = F('meta-traceparent') ? trace : `00-${trace}-${randomBytes(8).toString('hex')}-01`;
    }
    if (F('mrtr-state-sticky') && C.stickyState !== undefined && !('requestState' in p)) p.requestState = C.stickyState;
  }
  if (F('meta-bad-key')) meta['-host_/session id'] = 'main';
  if (NAMED[method]) meta.progressToken = token(id);
  if (Object.keys(meta).length && method !== 'initialize') p._meta = meta;
  if (Object.keys(p).length) msg.params = p;

  const entry = { id, method, done: false, token: meta.progressToken, firstEventId: undefined, lastEventId: undefined, retry: 500, msg };
  const promise = new Promise((resolve, reject) => {
    entry.ok = (r) => { if (!entry.done) { entry.done = true; resolve(r); } };
    entry.fail = (e) => { if (!entry.done) { entry.done = true; reject(e); } };
  });
  C.inflight.add(entry);
  const limit = opt.limit ?? LIMIT;
  const expire = () => {
    if (entry.done) return;
    const task = method === 'tools/call' && params.task;
    entry.fail(new TimedOut(`${method} timed out`));
    if (modern()) { if (!F('cancel-keeps-stream')) entry.req?.destroy(); } else {
      if (method !== 'initialize' && !task && !F('timeout-silent'))
        notify('notifications/cancelled', { requestId: F('cancel-wrong-id') ? `req-${id}` : id, reason: 'time limit' }).then(() => entry.req?.destroy());
      else entry.req?.destroy();
    }
  };
  entry.arm = () => { clearTimeout(entry.timer); entry.timer = setTimeout(expire, Math.max(200, Math.min(limit, HARD - 1500 - spent()))); };
  if (limit !== Infinity && !F('no-timeout')) entry.arm();
  if (method === 'initialize' && F('cancel-init')) setTimeout(() => { if (!entry.done) notify('notifications/cancelled', { requestId: id, reason: 'slow' }); }, 2000);
  perform(entry, msg).catch((e) => entry.fail(e));
  return promise.finally(() => { clearTimeout(entry.timer); C.inflight.delete(entry); });
}
async function perform(entry, msg) {
  const hadSession = C.session;
  const res = await post(msg, entry);
  entry.res = res;
  if (msg.method === 'initialize') entry.headers = res.headers;
  const type = (res.headers['content-type'] || '').split(';')[0].trim().toLowerCase();
  if (res.statusCode === 404 && !modern() && hadSession && msg.method !== 'initialize') {
    res.resume();
    if (F('ignore-404')) throw new HttpError(404);
    throw Object.assign(new SessionLost('session lost'), { session: hadSession });
  }
  if (res.statusCode >= 200 && res.statusCode < 300 && type === 'text/event-stream') {
    if (F('post-sse-unsupported')) { res.destroy(); throw new HttpError(res.statusCode, 'unexpected content type'); }
    if (msg.method === 'initialize') C.pendingSession = res.headers['mcp-session-id'];
    return pump(res, entry);
  }
  const text = await readBody(res);
  let m = null;
  try { m = JSON.parse(text); } catch { /* not JSON */ }
  if (m && typeof m === 'object' && !Array.isArray(m)) {
    if (m.error && typeof m.error === 'object') throw new RpcError(m.error, res.statusCode);
    if (res.statusCode < 300 && 'result' in m && m.id === entry.id) return entry.ok(m.result);
  }
  throw new HttpError(res.statusCode, text.slice(0, 200));
}
// Reads an SSE stream; entry is the request it belongs to (null: the standing stream).
async function pump(res, entry, state = entry ?? {}) {
  C.streams.add(res);
  try {
    for await (const ev of sseEvents(res)) {
      if (ev.id !== undefined) { state.firstEventId ??= ev.id; state.lastEventId = ev.id; }
      if (ev.retry !== undefined) state.retry = ev.retry;
      if (ev.data === null || ev.data === '' || (ev.type && ev.type !== 'message')) continue;
      let m;
      try { m = JSON.parse(ev.data); } catch { log('bad SSE data'); continue; }
      dispatch(m, entry);
      if (entry?.done && modern()) setTimeout(() => res.destroy(), 150);
    }
  } catch (e) { if (!entry?.done && !C.closing) log('stream error', e.message); } finally { C.streams.delete(res); }
  if (!entry || entry.done || C.closing) return;
  // The stream ended before the response.
  if (modern()) {
    if (F('modern-resume')) { const r = await send('GET', { ...headersFor('GET'), 'Last-Event-ID': state.lastEventId ?? '0' }).catch(() => null); r?.resume(); throw new Error('cannot resume'); }
    throw new StreamBroken('stream ended before the response');
  }
  if (F('disconnect-cancels')) { await notify('notifications/cancelled', { requestId: entry.id, reason: 'connection closed' }); throw new StreamBroken('connection closed'); }
  if (state.lastEventId === undefined || state.lastEventId === '' || F('no-resume')) return; // cannot resume: the time limit ends it
  for (let i = 0; i < 20 && !entry.done && !C.closing; i++) {
    if (!F('ignore-retry')) await sleep(state.retry);
    else await sleep(5);
    if (entry.done || C.closing) return;
    let r;
    if (F('resume-by-post')) { entry.lastEventId = state.lastEventId; r = await post(entry.msg, entry); } else {
      const h = headersFor('GET');
      if (!F('no-last-event-id')) h['Last-Event-ID'] = F('first-event-id') ? state.firstEventId : state.lastEventId;
      try { r = await send('GET', h, undefined, entry); } catch { continue; }
    }
    if (r.statusCode === 404 && C.session) { r.resume(); throw Object.assign(new SessionLost('session lost'), { session: C.session }); }
    if (r.statusCode !== 200) { r.resume(); throw new HttpError(r.statusCode); }
    return pump(r, entry, state);
  }
}

// ------------------------------------------------------------------ incoming messages
function dispatch(m, entry) {
  if (!m || typeof m !== 'object' || Array.isArray(m)) return;
  if (typeof m.method === 'string') {
    if ('id' in m) {
      if (modern()) { log('server request in the modern era ignored:', m.method); return; }
      serve(m);
    } else note(m, entry);
    return;
  }
  if (!entry || entry.done) return;
  if (m.id !== entry.id && !(m.id === undefined && m.error)) return;
  if (m.error) entry.fail(new RpcError(m.error, 200));
  else if ('result' in m) entry.ok(m.result);
}
function note(m, entry) {
  const p = m.params ?? {};
  if (F('answer-notifications') && !modern()) respond(null, { result: {} });
  switch (m.method) {
    case 'notifications/progress':
      if (F('progress-extends-forever')) for (const e of C.inflight) if (e.token === p.progressToken && !e.done) e.arm();
      break;
    case 'notifications/message': break;
    case 'notifications/cancelled': {
      if (modern()) { if (entry && p.requestId === entry.id) entry.ok({ resultType: 'complete', cancelled: true }); break; }
      const s = C.served.get(p.requestId);
      if (s && !F('cancelled-still-answered')) s.cancelled = true;
      break;
    }
    case 'notifications/tools/list_changed': C.changed.add('tools/list'); invalidate('tools/list'); break;
    case 'notifications/prompts/list_changed': C.changed.add('prompts/list'); invalidate('prompts/list'); break;
    case 'notifications/resources/list_changed': C.changed.add('resources/list'); invalidate('resources/list'); invalidate('resources/templates/list'); break;
    case 'notifications/resources/updated':
      if (typeof p.uri === 'string') { C.updated.add(p.uri); if (!F('cache-no-invalidation')) C.cache.delete(cacheKey('resources/read', { uri: p.uri })); }
      break;
    case 'notifications/elicitation/complete': C.completedElicitations.add(p.elicitationId); break;
    case 'notifications/tasks/status': C.taskNotes.set(p.taskId, p); break;
    case 'notifications/subscriptions/acknowledged':
      if (entry) { entry.ack = p.notifications ?? {}; for (const k of Object.keys(entry.filter ?? {})) if (!(k in entry.ack)) log('subscription type not honoured:', k); }
      break;
    default: break;
  }
}

// What the client answers to sampling, elicitation and roots, in both eras.
function fail(code, message) { throw new RpcError({ code, message }); }
async function answer(method, params = {}, elicitedBy) {
  if (method === 'roots/list') {
    if (F('roots-path')) return { roots: C.roots.map((r) => ({ ...r, uri: new URL(r.uri).pathname })) };
    if (F('roots-https')) return { roots: [...C.roots, { uri: 'https://example.com/repo', name: 'Remote' }] };
    if (F('roots-strings')) return { roots: C.roots.map((r) => r.uri) };
    return { roots: C.roots };
  }
  if (method === 'sampling/createMessage') return sample(params);
  if (method === 'elicitation/create') return elicit(params);
  return fail(-32601, `Method not found: ${method}`);
}
function sample(p) {
  if (!Array.isArray(p.messages)) fail(-32602, 'messages is missing');
  const list = (m) => (Array.isArray(m.content) ? m.content : [m.content]).filter(Boolean);
  if (!F('sampling-mixed-accepted')) {
    let open = new Set();
    for (const m of p.messages) {
      const blocks = list(m);
      const results = blocks.filter((x) => x.type === 'tool_result');
      if (results.length && results.length !== blocks.length) fail(-32602, 'Tool results mixed with other content');
      if (open.size) {
        for (const r of results) open.delete(r.toolUseId);
        if (open.size) fail(-32602, 'Tool result missing in request');
      }
      open = new Set(blocks.filter((x) => x.type === 'tool_use').map((x) => x.id));
    }
    if (open.size) fail(-32602, 'Tool result missing in request');
  }
  let model = MODELS[0];
  for (const h of p.modelPreferences?.hints ?? []) { const hit = h?.name && MODELS.find((x) => x.includes(h.name)); if (hit) { model = hit; break; } }
  const last = p.messages.at(-1);
  const after = last && list(last).some((x) => x.type === 'tool_result');
  const mode = p.toolChoice?.mode ?? 'auto';
  let use = Array.isArray(p.tools) && p.tools.length > 0 && (mode === 'required' || (mode === 'auto' && !after));
  if (F('sampling-tool-none') && p.tools?.length && mode === 'none') use = true;
  if (F('sampling-tool-required') && mode === 'required') use = false;
  const role = F('sampling-role-user') ? 'model' : 'assistant';
  let out;
  if (use) {
    const t = p.tools[0];
    const block = { type: 'tool_use', id: `call_${randomBytes(6).toString('hex')}`, name: t.name, input: make(t.inputSchema ?? {}, t.inputSchema ?? {}) };
    if (typeof block.input !== 'object' || block.input === null) block.input = {};
    if (F('sampling-tool-use-no-id')) delete block.id;
    out = { role, content: [block], model, stopReason: 'toolUse' };
  } else {
    const words = 'The answer is Paris.'.split(' ');
    const max = Number.isFinite(p.maxTokens) ? Math.max(1, Math.floor(p.maxTokens / 2)) : 100;
    let text = words.slice(0, max).join(' ');
    if (p.maxTokens === 1) text = 'Yes';
    if (F('sampling-max-tokens')) text = 'The answer is a long story about Paris. '.repeat(Math.min(2000, 50 + (p.maxTokens ?? 100)));
    out = { role, content: F('sampling-content-string') ? text : { type: 'text', text }, model, stopReason: max < words.length ? 'maxTokens' : 'endTurn' };
  }
  if (F('sampling-no-model')) delete out.model;
  return out;
}
async function elicit(p) {
  const mode = p.mode ?? (F('form-mode-needed') ? fail(-32602, 'mode is missing') : 'form');
  if (mode === 'url') {
    let u;
    try { u = new URL(p.url); } catch { return { action: 'decline' }; }
    if (!['https:', 'http:'].includes(u.protocol)) return { action: 'decline' };
    log(`${target.host} asks you to open ${p.url} (host: ${u.host}${u.host.includes('xn--') ? ', CAUTION: punycode' : ''}): ${p.message}. Consent given.`);
    if (F('url-prefetch')) await new Promise((r) => { const q = (u.protocol === 'https:' ? https : http).get(u, { timeout: 1500 }, (x) => { x.resume(); r(); }); q.on('error', r); q.on('timeout', () => q.destroy()); });
    return F('url-content') ? { action: 'accept', content: { opened: true } } : { action: 'accept' };
  }
  if (mode !== 'form') fail(-32602, `Unsupported elicitation mode: ${mode}`);
  const schema = p.requestedSchema;
  if (!schema || typeof schema !== 'object') fail(-32602, 'requestedSchema is missing');
  log(`${target.host} asks: ${p.message}`);
  let content = {};
  for (const [k, s] of Object.entries(schema.properties ?? {})) {
    const d = F('form-defaults-ignored') ? (({ default: _, ...r }) => r)(s) : s;
    let v = make(d, schema, { defaults: true }, k, 1);
    if (F('form-defaults-ignored') && s.default !== undefined) {
      const all = s.enum ?? s.oneOf?.map((x) => x.const);
      v = all?.length > 1 ? all.find((x) => x !== s.default) : s.type === 'boolean' ? !s.default : v === s.default && typeof v === 'string' && !s.format ? `${v}x`.slice(0, s.maxLength) : v;
    }
    if (F('form-title-as-value')) {
      const titles = s.oneOf ?? s.items?.anyOf ?? s.items?.oneOf;
      const title = (x) => titles.find((y) => y.const === x)?.title ?? x;
      if (titles) v = Array.isArray(v) ? v.map(title) : title(v);
    }
    if (F('form-all-strings') && !Array.isArray(v)) v = String(v);
    if (F('form-multi-single') && Array.isArray(v)) v = v[0];
    if (F('form-formats-ignored') && s.type === 'string' && !s.enum && !s.oneOf) v = 'text';
    if (F('form-bounds-ignored') && (s.type === 'number' || s.type === 'integer')) v = 0;
    content[k] = v;
  }
  if (F('form-required-missing') && schema.required?.length) delete content[schema.required.at(-1)];
  if (F('form-action-submit')) return { action: 'submit', content };
  if (F('form-flat')) return { action: 'accept', ...content };
  return { action: 'accept', content };
}

// Server requests (2025-11-25).
const RELATED = 'io.modelcontextprotocol/related-task';
async function serve(m) {
  const state = { cancelled: false };
  C.served.set(m.id, state);
  const related = m.params?._meta?.[RELATED];
  const withRelated = (r, t) => (t && !F('task-related-missing') ? { ...r, _meta: { ...r._meta, [RELATED]: { taskId: t.taskId } } } : r);
  try {
    let result;
    const p = m.params ?? {};
    const kind = { 'sampling/createMessage': 'sampling', 'elicitation/create': 'elicitation' }[m.method];
    if (m.method === 'ping') {
      if (F('ping-not-answered')) return;
      if (F('response-no-result')) { await respond(m.id, {}); return; }
      result = F('ping-non-empty') ? { ok: true, pong: Date.now() } : {};
    } else if (kind && p.task && typeof p.task === 'object') result = createTask(m.method, p);
    else if (m.method.startsWith('tasks/')) result = await ownTask(m.method, p);
    else {
      if (!['roots/list', 'sampling/createMessage', 'elicitation/create'].includes(m.method) && F('unknown-method-silent')) return;
      await sleep(30); // the user looks at it
      result = withRelated(await answer(m.method, p), related);
    }
    if (!state.cancelled) await respond(m.id, { result });
  } catch (e) {
    if (!state.cancelled) await respond(m.id, { error: { code: Number.isInteger(e.code) ? e.code : -32603, message: e.message || 'Internal error', ...(e.data !== undefined ? { data: e.data } : {}) } });
  } finally { C.served.delete(m.id); }
}
function createTask(method, p) {
  const now = new Date().toISOString();
  const t = { taskId: randomBytes(16).toString('hex'), status: F('task-starts-completed') ? 'completed' : 'working', createdAt: now, lastUpdatedAt: now, ttl: Number.isFinite(p.task.ttl) ? p.task.ttl : 60000, pollInterval: 300 };
  if (F('task-no-created-at')) delete t.createdAt;
  const rec = { t };
  const end = (status) => { if (!['completed', 'failed', 'cancelled'].includes(t.status) || F('task-starts-completed')) { t.status = status; t.lastUpdatedAt = new Date().toISOString(); } rec.wake(); };
  rec.end = end;
  rec.done = new Promise((r) => { rec.wake = r; });
  C.ownTasks.set(t.taskId, rec);
  (async () => {
    await sleep(250);
    try { rec.result = await answer(method, p); end('completed'); } catch (e) { rec.error = e; t.statusMessage = e.message; end('failed'); }
  })();
  return { task: { ...t } };
}
async function ownTask(method, p) {
  if (method === 'tasks/list' && p.cursor !== undefined) fail(-32602, 'Unknown cursor: there is one page');
  if (method === 'tasks/list') return { tasks: [...C.ownTasks.values()].map((r) => ({ ...r.t })) };
  if (!['tasks/get', 'tasks/result', 'tasks/cancel'].includes(method)) fail(-32601, `Method not found: ${method}`);
  const rec = C.ownTasks.get(p.taskId);
  if (!rec) fail(-32602, 'Failed to retrieve task: Task not found');
  if (method === 'tasks/get') return { ...rec.t };
  if (method === 'tasks/cancel') {
    if (['completed', 'failed', 'cancelled'].includes(rec.t.status)) fail(-32602, `Cannot cancel task: already in terminal status '${rec.t.status}'`);
    rec.end('cancelled');
    return { ...rec.t };
  }
  await rec.done;
  if (rec.t.status === 'cancelled') fail(-32603, 'Task was cancelled');
  if (rec.error) throw rec.error;
  return F('task-related-missing') ? rec.result : { ...rec.result, _meta: { [RELATED]: { taskId: rec.t.taskId } } };
}

// ------------------------------------------------------------------ requests with cache, sessions and input rounds
function cacheKey(method, params) {
  if (F('cache-key-method')) return method;
  const { _meta, ...rest } = params ?? {};
  return `${method} ${JSON.stringify(rest)}`;
}
function invalidate(method) { if (!F('cache-no-invalidation')) for (const k of [...C.cache.keys()]) if (k.startsWith(`${method} `) || k === method) C.cache.delete(k); }
function cachePut(method, params, r) {
  let ttl = Number.isInteger(r?.ttlMs) && r.ttlMs > 0 ? r.ttlMs : 0;
  if (F('cache-zero-kept') && !ttl) ttl = 3600000;
  if (F('cache-key-method') && !ttl) ttl = 0;
  if (ttl && !F('cache-ignored')) C.cache.set(cacheKey(method, params), { r, until: Date.now() + ttl });
}
const ROUNDS = new Set(['tools/call', 'prompts/get', 'resources/read']);

async function request(method, params = {}, opt = {}) {
  const cached = modern() && CACHED.has(method);
  if (cached) { const c = C.cache.get(cacheKey(method, params)); if (c && Date.now() < c.until) return c.r; }
  let extra = {}, rounds = 0, id, asked = 0;
  for (;;) {
    let p = { ...params, ...extra };
    if (rounds && F('mrtr-args-lost')) { p = { ...p }; delete p.arguments; }
    const r = await attempt(method, p, { ...opt, id });
    if (!modern()) return r;
    if (!r || typeof r !== 'object') throw new Error('malformed result');
    let type = r.resultType ?? 'complete';
    if (r.resultType === undefined && F('absent-result-type') && ++asked < 3) continue;
    if (F('unknown-result-type') && !['complete', 'input_required'].includes(type) && ++asked < 3) continue;
    if (type === 'complete') {
      if (cached && (!rounds || F('cache-mrtr'))) cachePut(method, params, r);
      return r;
    }
    if (type !== 'input_required' || !ROUNDS.has(method)) throw new Error(`invalid resultType ${JSON.stringify(type)} for ${method}`);
    if (++rounds > 6 || hurry()) throw new Error('too many input rounds');
    extra = {};
    if (r.inputRequests && typeof r.inputRequests === 'object') {
      const responses = {};
      let i = 0;
      for (const [k, q] of Object.entries(r.inputRequests)) {
        const a = await answer(q?.method, q?.params); // throws: no retry then
        if (F('mrtr-posted-response')) await respond(k, { result: a });
        const key = F('mrtr-own-keys') ? `input_${i}` : k;
        responses[key] = F('mrtr-wrapped') ? { result: a } : a;
        i++;
        if (F('mrtr-first-only')) break;
      }
      extra.inputResponses = responses;
    } else if (r.requestState === undefined) throw new Error('InputRequiredResult with neither inputRequests nor requestState');
    else await sleep(150);
    if (r.requestState !== undefined && !F('mrtr-state-lost') && !(F('mrtr-state-falsy') && !r.requestState)) {
      extra.requestState = r.requestState;
      if (F('mrtr-state-sticky')) C.stickyState = r.requestState;
      if (F('mrtr-state-reencoded')) {
        const s = String(r.requestState);
        try { extra.requestState = JSON.stringify(JSON.parse(s), null, 1); } catch {
          let d = ''; try { d = Buffer.from(s, 'base64').toString('utf8'); JSON.parse(d); } catch { d = ''; }
          extra.requestState = d || s.trim().replace(/=+$/, '').normalize('NFC').toLowerCase();
        }
      }
    } else if (r.requestState === undefined && F('mrtr-state-invented')) extra.requestState = '';
    if (F('mrtr-same-id')) id = C.lastId;
  }
}
// One attempt, re-issued after a lost session, a broken stream, or HeaderMismatch.
async function attempt(method, params, opt) {
  for (let i = 0; ; i++) {
    try {
      const before = C.seq;
      const q = rpc(method, params, opt);
      C.lastId = before + 1;
      return await q;
    } catch (e) {
      if (i >= 2 || C.closing) throw e;
      if (e instanceof SessionLost) { await reinitialize(e.session); opt = { ...opt, id: undefined }; continue; }
      if (e instanceof StreamBroken && modern() && i < 1) { log(`${method}: ${e.message}; re-issued`); opt = { ...opt, id: F('reissue-same-id') ? C.lastId : undefined }; continue; }
      if (modern() && e.code === -32020 && method === 'tools/call' && i < 1) {
        log('header mismatch; listing tools again');
        if (!F('tools-no-refresh')) { invalidate('tools/list'); await listTools(); }
        continue;
      }
      if (!modern() && e.code === -32042 && Array.isArray(e.data?.elicitations) && i < 1) {
        for (const x of e.data.elicitations) await elicit({ ...x, mode: 'url' });
        for (let w = 0; w < 8 && !e.data.elicitations.every((x) => C.completedElicitations.has(x.elicitationId)); w++) await sleep(100);
        continue;
      }
      throw e;
    }
  }
}

// ------------------------------------------------------------------ connecting
async function connect() {
  if (newest === NEW) {
    C.era = 'modern'; C.version = NEW;
    for (let i = 0; i < 3; i++) {
      try {
        const d = await request('server/discover');
        const vs = Array.isArray(d.supportedVersions) ? d.supportedVersions : [];
        C.caps = d.capabilities ?? {};
        if (vs.includes(NEW) || !vs.length) {
          if (F('modern-initialized')) await rpc('initialize', { protocolVersion: NEW, capabilities: clientCaps(), clientInfo: INFO }).catch(() => {});
          return true;
        }
        if (vs.some((v) => LEGACY.includes(v))) break;
        log('no common protocol version:', vs.join(', '));
        return false;
      } catch (e) {
        log('server/discover:', e.code ?? '', e.message);
        if (e.code === -32022) {
          if (F('legacy-after-modern-error')) break;
          const sup = Array.isArray(e.data?.supported) ? e.data.supported : [];
          if (F('no-version-retry')) { if (i < 2) continue; return false; }
          if (sup.includes(NEW)) { if (i === 0) continue; return false; }
          if (sup.some((v) => LEGACY.includes(v))) break;
          log('no common protocol version:', sup.join(', '));
          return false;
        }
        if (e.code === -32020 || e.code === -32021) {
          if (F('legacy-after-modern-error')) break;
          if (i === 0) continue;
          return false;
        }
        if (e.status === 404 && e.code === -32601) { C.caps = { tools: {}, resources: {}, prompts: {} }; return true; }
        if (e instanceof TimedOut || (e instanceof StreamBroken) || e.status >= 500 || e.status === undefined) { if (i < 1) { await sleep(300); continue; } return false; }
        if (e.status === 401 || e.status === 403) return false;
        break;
      }
    }
  }
  C.era = 'legacy'; C.version = null; C.caps = {};
  return initialize();
}
async function initialize() {
  let offer = F('init-old-version') ? '2024-11-05' : LEGACY[0];
  for (let i = 0; i < 2; i++) {
    C.ready = false; C.session = null; C.pendingSession = undefined;
    let r, sid;
    try {
      const params = { protocolVersion: offer, capabilities: clientCaps(), clientInfo: INFO };
      if (F('init-no-client-info')) delete params.clientInfo;
      const q = rpc('initialize', params);
      const entry = [...C.inflight].find((e) => e.method === 'initialize');
      if (F('early-requests')) rpc('tools/list').catch(() => {});
      r = await q;
      sid = entry?.res?.headers['mcp-session-id'];
    } catch (e) {
      log('initialize:', e.code ?? '', e.message);
      const sup = e.data?.supported;
      const other = Array.isArray(sup) && LEGACY.find((v) => sup.includes(v) && v !== offer);
      if (other) { offer = other; continue; }
      return false;
    }
    C.caps = r?.capabilities ?? {};
    C.version = r?.protocolVersion;
    if (typeof sid === 'string' && /^[\x21-\x7e]+$/.test(sid)) C.session = sid;
    if (!LEGACY.includes(C.version) && !(F('init-old-version') && C.version === '2024-11-05') && !F('accept-any-version')) {
      log('unsupported protocol version', C.version, '- disconnecting');
      C.version = offer;
      C.ready = true; // for the headers of DELETE
      C.refused = true;
      return false;
    }
    C.ready = true;
    if (!F('no-initialized')) await notify('notifications/initialized');
    return true;
  }
  return false;
}
let reiniting = null;
function reinitialize(dead) {
  if (C.session !== dead) return reiniting ?? Promise.resolve();
  reiniting ??= (async () => {
    log('session lost; initializing anew');
    C.deadSession = dead;
    try { if (!(await initialize())) throw new Error('cannot initialize anew'); C.subscribed = []; openStream(); } finally { reiniting = null; }
  })();
  return reiniting;
}
// The standing GET stream of 2025-11-25.
async function openStream() {
  const session = C.session;
  const state = { retry: 500 };
  for (let i = 0; i < 6 && !C.closing && C.session === session; i++) {
    try {
      const h = headersFor('GET');
      if (state.lastEventId) h['Last-Event-ID'] = state.lastEventId;
      const res = await send('GET', h, undefined, state);
      const type = (res.headers['content-type'] || '').split(';')[0].trim();
      if (res.statusCode !== 200 || type !== 'text/event-stream') { res.resume(); return; }
      C.standing = res;
      await pump(res, null, state);
    } catch (e) { if (!C.closing) log('GET stream:', e.message); }
    if (C.closing) return;
    await sleep(state.retry);
  }
}
// subscriptions/listen of 2026-07-28.
async function listen() {
  const filter = {};
  if (C.caps.tools?.listChanged) filter.toolsListChanged = true;
  if (C.caps.prompts?.listChanged) filter.promptsListChanged = true;
  if (C.caps.resources?.listChanged) filter.resourcesListChanged = true;
  const uris = C.resources.map((r) => r.uri).filter((u) => typeof u === 'string').slice(0, 5);
  if (C.caps.resources?.subscribe && uris.length) filter.resourceSubscriptions = F('listen-uri-string') ? uris[0] : uris;
  if (!Object.keys(filter).length) return;
  const params = F('listen-no-filter') ? {} : F('listen-names') ? { notifications: Object.keys(filter) } : { notifications: filter };
  for (let i = 0; i < 3 && !C.closing; i++) {
    try {
      const q = rpc('subscriptions/listen', params, { limit: Infinity });
      C.listening = [...C.inflight].find((e) => e.method === 'subscriptions/listen' && !e.done);
      if (C.listening) C.listening.filter = filter;
      await q;
      log('subscription ended by the server');
      return;
    } catch (e) {
      if (C.closing) return;
      log('subscription:', e.message);
      if (!(e instanceof StreamBroken)) return;
      await sleep(400 + Math.random() * 200);
    } finally { C.listening = null; }
  }
}

// ------------------------------------------------------------------ listing
async function listAll(method, key) {
  const out = [];
  let cursor;
  for (let page = 0; page < 60 && !hurry(); page++) {
    const params = cursor !== undefined && cursor !== null ? { cursor } : F('cursor-null') ? { cursor: null } : {};
    let r;
    try { r = await request(method, params); } catch (e) {
      log(method, e.message);
      if (e.code === -32602 && cursor !== undefined && modern() && !out.restarted) { invalidate(method); out.length = 0; out.restarted = true; cursor = undefined; continue; }
      break;
    }
    if (Array.isArray(r?.[key])) out.push(...r[key]);
    if (F('first-page-only') && method !== 'tools/list') break;
    if (r?.nextCursor === undefined || r.nextCursor === null || typeof r.nextCursor !== 'string') break;
    if (F('empty-cursor-ends') && !r.nextCursor) break;
    cursor = r.nextCursor;
    if (F('cursor-number')) cursor = String(page + 2);
    if (F('cursor-decoded')) { const d = Buffer.from(cursor, 'base64').toString('utf8'); cursor = /^[\x20-\x7e]+$/.test(d) ? d : cursor.trim().replace(/[^\w]/g, ''); }
  }
  return out;
}
async function listTools() {
  const tools = [];
  C.headerMap.clear();
  for (const t of await listAll('tools/list', 'tools')) {
    if (!t || typeof t.name !== 'string') continue;
    const schema = t.inputSchema;
    if (modern()) {
      try { C.headerMap.set(t.name, headerParams(schema)); } catch (e) {
        log(`warning: tool ${t.name} rejected: ${e.message}`);
        if (!F('param-invalid-kept')) continue;
      }
    }
    if (schema?.$schema && !DIALECTS.test(schema.$schema)) { log(`warning: tool ${t.name} not usable: unsupported schema dialect ${schema.$schema}`); continue; }
    const ext = externalRef(schema);
    if (ext) {
      log(`warning: tool ${t.name} not usable: external $ref ${ext}`);
      if (F('tool-list-ref-fetch') && /^https?:/.test(ext)) await new Promise((r) => { const q = (ext.startsWith('https') ? https : http).get(ext, { timeout: 1500 }, (x) => { x.resume(); r(); }); q.on('error', r); q.on('timeout', () => q.destroy()); });
      continue;
    }
    tools.push(t);
  }
  C.tools = tools;
  return tools;
}

// ------------------------------------------------------------------ using
async function callTool(t, args) {
  let a = args;
  if (F('tool-args-string')) a = JSON.stringify(args);
  if (F('tool-args-null') && !Object.keys(args).length) a = null;
  const name = F('tool-name-lowercase') ? t.name.toLowerCase() : t.name;
  const params = { name, arguments: a };
  const support = t.execution?.taskSupport;
  const able = !modern() && C.version === OLD && C.caps.tasks?.requests?.tools?.call;
  if ((able && (support === 'required' || support === 'optional') && !(F('task-required-ignored') && support === 'required')) || (F('task-undeclared') && !modern())) params.task = { ttl: 60000 };
  try {
    const before = C.seq;
    const r = await request('tools/call', params);
    if (F('cancel-done') && !modern()) await notify('notifications/cancelled', { requestId: before + 1, reason: 'done' });
    if (r?.task && params.task) return await followTask(r.task, before + 1);
    if (r?.isError) log(`tool ${t.name}: error result given to the model`);
    for (const c of r?.content ?? []) if (c?.type === 'resource_link' && typeof c.uri === 'string' && C.caps.resources && !C.linked?.has(c.uri)) { (C.linked ??= new Set()).add(c.uri); await read(c.uri); }
    return r;
  } catch (e) { log(`tool ${t.name}:`, e.code ?? '', e.message); return null; }
}
async function followTask(task, id) {
  let t = task;
  const t0 = Date.now();
  const meta = F('task-related-in-get') ? { _meta: { [RELATED]: { taskId: t.taskId } } } : {};
  const terminal = (s) => ['completed', 'failed', 'cancelled'].includes(s);
  for (let i = 0; i < 200; i++) {
    if (terminal(t.status)) {
      try { return await request('tasks/result', { taskId: t.taskId, ...meta }); } catch (e) { log('tasks/result:', e.message); return null; }
    }
    if (t.status === 'input_required' && !F('task-input-ignored')) {
      try { return await request('tasks/result', { taskId: t.taskId, ...meta }); } catch (e) { log('tasks/result:', e.message); if (!(e instanceof TimedOut)) return null; }
    }
    const wait = F('task-poll-fast') ? 50 : Number.isFinite(t.pollInterval) && t.pollInterval >= 0 ? Math.max(t.pollInterval, 20) : 500;
    if (Date.now() - t0 + wait > 7000 || hurry()) {
      if (F('task-cancel-notification')) await notify('notifications/cancelled', { requestId: id, reason: 'time limit' });
      else if (C.caps.tasks?.cancel) await request('tasks/cancel', { taskId: t.taskId }).catch((e) => log('tasks/cancel:', e.message));
      return null;
    }
    await sleep(wait);
    if (F('task-wait-notification')) { t = C.taskNotes.get(t.taskId) ?? t; continue; }
    try { t = await request('tasks/get', { taskId: t.taskId, ...meta }); } catch (e) { log('tasks/get:', e.message); return null; }
  }
  return null;
}
async function read(uri, resource) {
  const params = F('resource-by-name') ? { name: resource?.name ?? uri } : { uri };
  try { return await request('resources/read', params); } catch (e) {
    log(`resource ${uri}:`, e.code === -32602 || e.code === -32002 ? 'not found' : e.message);
    return null;
  }
}
function templateVars(t) { return [...t.matchAll(/\{([^}]*)\}/g)].flatMap((m) => m[1].replace(/^[+#./;?&]/, '').split(',').map((v) => v.replace(/[*:].*$/, ''))).filter(Boolean); }
function expand(t, vals) {
  return t.replace(/\{([^}]*)\}/g, (_, e) => {
    const op = /^[+#./;?&]/.test(e) ? e[0] : '';
    const names = e.slice(op.length).split(',').map((v) => v.replace(/[*:].*$/, ''));
    const enc = (v) => (op === '+' || op === '#' ? encodeURI(v) : encodeURIComponent(v));
    const named = op === ';' || op === '?' || op === '&';
    const parts = names.map((x) => (named ? `${x}=${enc(vals[x] ?? 'a')}` : enc(vals[x] ?? 'a')));
    const sep = { '': ',', '+': ',', '#': ',', '.': '.', '/': '/', ';': ';', '?': '&', '&': '&' }[op];
    return (op === '+' ? '' : op) + parts.join(sep);
  });
}
async function complete(ref, names) {
  const vals = {};
  for (const name of names) {
    if (hurry()) break;
    if (!C.caps.completions && !F('complete-undeclared')) break;
    let r2 = ref;
    if (F('complete-ref-name') && ref.type === 'ref/resource') r2 = { type: ref.type, name: ref.uri };
    if (F('complete-ref-type')) r2 = { ...ref, type: ref.type.slice(4) };
    const argument = { name, value: '' };
    if (F('complete-no-value')) delete argument.value;
    const params = { ref: r2, argument };
    if (Object.keys(vals).length) params.context = { arguments: { ...vals } };
    try {
      if (F('complete-storm')) await Promise.all([...'abcdefgh'].map((_, i, l) => request('completion/complete', { ...params, argument: { name, value: l.slice(0, i + 1).join('') } }).catch(() => {})));
      const r = await request('completion/complete', params);
      const v = r?.completion?.values?.[0];
      if (typeof v === 'string') vals[name] = v;
    } catch (e) { log('completion:', e.message); }
  }
  return vals;
}
async function pairs(list, f) { for (let i = 0; i < list.length && !hurry(); i += 2) await Promise.all(list.slice(i, i + 2).map(f)); }

async function refresh() {
  while ((C.changed.size || C.updated.size) && !hurry()) {
    const lists = [...C.changed], uris = [...C.updated];
    C.changed.clear(); C.updated.clear();
    for (const m of lists) {
      if (m === 'tools/list') await listTools();
      else if (m === 'prompts/list') await listAll(m, 'prompts');
      else { C.resources = await listAll(m, 'resources'); }
    }
    for (const u of uris.slice(0, 5)) await read(u);
  }
}

async function work() {
  const has = (k) => C.caps[k] || (F('undeclared-lists') && k !== 'tools');
  if (!modern()) {
    openStream();
    await request('ping').catch((e) => log('ping:', e.message));
    if (C.caps.logging || F('log-set-undeclared'))
      await request('logging/setLevel', { level: F('log-level-unknown') ? 'warn' : F('log-level-number') ? 4 : 'info' }).catch((e) => log('setLevel:', e.message));
  }
  let templates = [], prompts = [];
  await Promise.all([
    C.caps.tools && listTools(),
    has('resources') && listAll('resources/list', 'resources').then((x) => { C.resources = x; }),
    has('resources') && listAll('resources/templates/list', 'resourceTemplates').then((x) => { templates = x; }),
    has('prompts') && listAll('prompts/list', 'prompts').then((x) => { prompts = x; }),
  ].filter(Boolean));
  log(`${C.tools.length} tools, ${C.resources.length} resources, ${templates.length} templates, ${prompts.length} prompts`);

  let poll = null;
  if (modern()) {
    listen();
    if (F('cache-polls')) poll = setInterval(() => { if (!C.closing) rpc('tools/list').catch(() => {}); }, 300);
    await sleep(50);
  } else if (C.caps.resources?.subscribe || (F('subscribe-undeclared') && C.resources.length)) {
    for (const r of C.resources.slice(0, 3)) {
      try { await request('resources/subscribe', { uri: r.uri }); C.subscribed.push(r.uri); } catch (e) { log('subscribe:', e.message); }
    }
  }

  // Tools.
  const given = Array.isArray(CONTEXT.toolCalls) ? CONTEXT.toolCalls : [];
  const calledWith = new Set();
  for (const g of given) {
    const t = C.tools.find((x) => x.name === g?.name);
    if (!t || hurry()) continue;
    calledWith.add(t.name);
    await callTool(t, g.arguments ?? {});
  }
  for (const t of [...C.tools]) {
    if (hurry()) break;
    if (calledWith.has(t.name)) continue;
    const schema = t.inputSchema ?? { type: 'object' };
    let args;
    try { args = make({ type: 'object', ...schema, default: undefined }, schema); } catch (e) { log(`tool ${t.name} skipped: ${e.message}`); continue; }
    if (!args || typeof args !== 'object') args = {};
    await callTool(t, args);
    await refresh();
    // Once more without the optional mirrored parameters.
    if (modern() && C.headerMap.get(t.name)?.length && !hurry()) {
      const bare = make({ type: 'object', ...schema, default: undefined }, schema, { headers: false });
      if (JSON.stringify(bare) !== JSON.stringify(args)) await callTool(t, bare);
    }
  }

  // Resources.
  await pairs(C.resources.filter((r) => typeof r?.uri === 'string').slice(0, 24), (r) => read(r.uri, r));
  for (const t of templates.slice(0, 6)) {
    if (hurry() || typeof t?.uriTemplate !== 'string') break;
    const names = templateVars(t.uriTemplate);
    const vals = await complete({ type: 'ref/resource', uri: t.uriTemplate }, names);
    for (const x of names) vals[x] ??= /id|num/i.test(x) ? '1' : 'a';
    await read(F('template-raw') ? t.uriTemplate : expand(t.uriTemplate, vals));
  }

  // Prompts.
  await pairs(prompts.filter((p) => typeof p?.name === 'string').slice(0, 16), async (p) => {
    const args = Array.isArray(p.arguments) ? p.arguments.filter((a) => typeof a?.name === 'string') : [];
    const vals = await complete({ type: 'ref/prompt', name: p.name }, args.map((a) => a.name));
    let out = {};
    args.forEach((a, i) => { if (a.required || vals[a.name]) out[a.name] = vals[a.name] ?? `${a.name}-${i + 1}`; });
    if (F('prompt-args-typed')) args.forEach((a, i) => { out[a.name] = i + 1; });
    if (F('prompt-args-array')) out = Object.entries(out).map(([name, value]) => ({ name, value }));
    const params = { name: p.name };
    if (args.length) params.arguments = out;
    await request('prompts/get', params).catch((e) => log(`prompt ${p.name}:`, e.code ?? '', e.message));
  });

  if (!modern()) {
    if ((C.caps.tasks?.list || F('task-list-undeclared')) && !hurry()) await listAll('tasks/list', 'tasks');
    // The user opens another folder.
    C.roots = [...C.roots, { uri: 'file:///home/user/projects/notes', name: 'Notes' }];
    if (!F('roots-silent-change')) await notify('notifications/roots/list_changed');
    await sleep(150);
  }

  // A second look: from the cache while fresh.
  await refresh();
  if (C.caps.tools && !hurry()) await listTools();
  if (modern()) {
    for (const r of C.resources.slice(0, 6)) if (typeof r?.uri === 'string' && !hurry()) await read(r.uri, r);
  }
  // Wait a little for what the server may still have to say.
  const idle = C.listening || C.standing ? 900 : 250;
  for (let w = 0; w < idle && !hurry(); w += 50) { await sleep(50); await refresh(); }
  if (!modern()) for (const u of C.subscribed) if (!hurry()) await request('resources/unsubscribe', { uri: u }).catch((e) => log('unsubscribe:', e.message));
  for (let w = 0; w < 40 && C.served.size; w++) await sleep(50);
  clearInterval(poll);
}

async function shutdown() {
  if (modern()) {
    if (F('listen-cancelled-note')) { const r = await post({ jsonrpc: '2.0', id: newId(), method: 'notifications/cancelled', params: { requestId: C.listening?.id ?? 1 } }).catch(() => null); r?.resume(); }
    C.closing = true;
    C.listening?.req?.destroy();
  } else {
    C.closing = true;
    if (C.session && C.ready && !F('no-delete')) {
      const d = send('DELETE', headersFor('DELETE')).then((r) => { r.resume(); return r.statusCode; }).catch(() => 0);
      await Promise.race([d, sleep(1500)]);
    }
  }
  for (const s of C.streams) s.destroy();
}

if (SCENARIO.startsWith('auth/')) { console.error('authorization is not supported by this client'); process.exit(0); }
(async () => {
  try { if (await connect()) await work(); } catch (e) { log('failed:', e.stack || e.message); }
  try { await shutdown(); } catch (e) { log('shutdown:', e.message); }
  await sleep(50);
  process.exit(0);
})();
