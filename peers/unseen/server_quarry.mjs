#!/usr/bin/env node
// A stone quarry's office as an MCP server (revision 2026-07-28, stateless), correct unless --fault asks for a fault.
//
//     server_quarry.mjs [--http PORT] [--fault NAME]... | --list-faults
//
// It speaks stdio, or Streamable HTTP at http://127.0.0.1:PORT/mcp.

import { createHmac, createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, normalize } from "node:path";
import { StringDecoder } from "node:string_decoder";

const VERSION = "2026-07-28";
const MCP = "io.modelcontextprotocol/";
const LEVELS = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];
const SERVER = { name: "quarry", title: "Quarry Office", version: "3.0.2" };

// name | area | level | transport | broken sentence
const FAULTS = `
result-type-missing | base | MUST | any | The result MUST include a resultType field. (basic#result-responses)
result-type-unknown | base | MUST | any | The set of resultType values MUST be created from the core protocol and advertised extensions. (basic#resulttype)
server-info-missing | base | SHOULD | any | Servers SHOULD include serverInfo in every result's _meta. (basic#_meta)
id-parsed | base | MUST | any | Result responses MUST include the same ID as the request. (basic#result-responses)
id-falsy | base | MUST | any | Requests include a string or integer ID; each gets a response with the same ID. (basic#requests)
error-id-lost | base | MUST | any | Error responses MUST include the same ID as the request. (basic#error-responses)
notification-answered | base | MUST | any | The receiver of a notification MUST NOT send a response. (basic#notifications)
method-prototype | base | MUST | any | Messages MUST follow JSON-RPC 2.0: an unknown method is -32601. (basic#messages)
tool-prototype | base | MUST | any | An unknown tool is a protocol error -32602. (server/tools#error-handling)
error-no-code | base | MUST | any | Error responses MUST include an error field with a code and message. (basic#error-responses)
code-legacy-range | base | SHOULD | any | New implementations SHOULD NOT use codes from -32000 to -32019. (basic#error-codes)
code-reserved | base | MUST | any | Implementations MUST NOT emit an undefined code from -32020 to -32099. (basic#error-codes)
code-fraction | base | MUST | any | Error codes MUST be integers. (basic#error-responses)
chunk-decode | base | MUST | any | JSON-RPC messages MUST be UTF-8 encoded. (basic/transports#messages)
batch-answered | base | MUST | any | A message is a single JSON-RPC request, notification or response. (basic/transports/stdio)
meta-unchecked | versioning | MUST | any | A request missing a required _meta field MUST be rejected with -32602. (basic#_meta)
capabilities-unchecked | versioning | MUST | any | A request missing a required _meta field MUST be rejected with -32602. (basic#_meta)
meta-code | versioning | MUST | any | A request missing a required _meta field MUST be rejected with -32602. (basic#_meta)
meta-status | versioning | MUST | http | For a missing _meta field the HTTP status MUST be 400. (basic#_meta)
meta-remembered | versioning | MUST | any | Servers MUST NOT rely on prior requests over the same connection. (basic#statelessness)
capabilities-remembered | versioning | MUST | any | Servers MUST NOT rely on prior requests to establish capabilities. (basic#statelessness)
version-unchecked | versioning | MUST | any | An unsupported version MUST get UnsupportedProtocolVersionError. (basic/versioning)
version-code | versioning | MUST | any | An unsupported version MUST get UnsupportedProtocolVersionError. (basic/versioning)
version-no-list | versioning | MUST | any | UnsupportedProtocolVersionError lists the versions the server supports. (basic/versioning)
version-status | versioning | MUST | http | An unsupported version MUST get 400. (streamable-http#protocol-version-header)
initialize-mute | versioning | SHOULD | any | The error to an initialize request SHOULD name the supported versions. (basic/versioning)
discover-missing | versioning | MUST | any | Servers MUST implement server/discover. (server/discover)
discover-no-versions | versioning | MUST | any | DiscoverResult requires supportedVersions. (schema)
discover-old-shape | versioning | MUST | any | DiscoverResult requires supportedVersions and capabilities. (schema)
tools-undeclared | versioning | MUST | any | Servers that support tools MUST declare the tools capability. (server/tools#capabilities)
completions-undeclared | versioning | MUST | any | Servers that support completions MUST declare the completions capability. (completion#capabilities)
logging-undeclared | versioning | MUST | any | Servers that emit log messages MUST declare the logging capability. (logging#capabilities)
extension-unprefixed | versioning | MUST | any | Extension identifiers MUST follow the _meta key naming rules, with a mandatory prefix. (basic/versioning)
stdout-chatter | stdio | MUST | stdio | The server MUST NOT write to stdout what is not a valid MCP message. (stdio)
exit-late | stdio | SHOULD | stdio | Servers SHOULD exit promptly when their standard input is closed. (stdio#shutdown)
server-asks | stdio | MUST | stdio | The server MUST NOT write JSON-RPC requests to stdout. (stdio#receiving-messages)
cancel-answered | stdio | MUST | stdio | Servers MUST NOT send any further messages for a cancelled request. (stdio#cancellation)
cancel-goes-on | stdio | MUST | stdio | Servers MUST NOT send any further messages for a cancelled request. (stdio#cancellation)
cancel-sent | stdio | MUST | stdio | Servers MUST NOT send notifications/cancelled except for subscriptions. (cancellation)
origin-unchecked | http | MUST | http | Servers MUST validate the Origin header; invalid is 403. (streamable-http#security)
origin-prefix | http | MUST | http | Servers MUST validate the Origin header; invalid is 403. (streamable-http#security)
origin-400 | http | MUST | http | An invalid Origin MUST get 403. (streamable-http#security)
version-header-optional | http | MUST | http | A server MUST reject a request without MCP-Protocol-Version. (streamable-http#server-validation)
version-header-mismatch | http | MUST | http | A version header that does not match the body MUST get 400 and HeaderMismatch. (streamable-http#protocol-version-header)
method-header-optional | http | MUST | http | A missing required header is a validation failure: 400. (streamable-http#server-validation)
method-header-mismatch | http | MUST | http | Servers MUST reject requests where headers do not match the body. (streamable-http#server-validation)
name-header-optional | http | MUST | http | A missing required header is a validation failure: 400. (streamable-http#server-validation)
name-header-mismatch | http | MUST | http | Servers MUST reject requests where headers do not match the body. (streamable-http#server-validation)
name-header-prompts | http | MUST | http | Mcp-Name is required for prompts/get, too. (streamable-http#standard-request-headers)
name-header-encoded | http | MUST | http | Servers MUST decode an encoded Mcp-Name before comparing it. (streamable-http#value-encoding)
header-case | http | MUST | http | Servers MUST use case-insensitive comparisons for header names. (streamable-http#case-sensitivity)
header-value-case | http | MUST | http | Header values are case-sensitive. (streamable-http#case-sensitivity)
header-code | http | MUST | http | A header validation failure MUST have the code -32020. (streamable-http#server-validation)
header-status | http | MUST | http | A header validation failure MUST have the status 400. (streamable-http#server-validation)
param-header-optional | http | MUST | http | A value in the body without its header: the server MUST reject. (streamable-http#server-behavior)
param-header-mismatch | http | MUST | http | Servers MUST validate that header values match the body. (streamable-http#server-behavior)
param-header-number | http | SHOULD | http | Servers SHOULD compare integers numerically. (streamable-http#server-validation)
param-header-expected | http | MUST | http | A parameter that is not in the arguments: the server MUST NOT expect the header. (streamable-http#server-behavior)
method-status | http | MUST | http | An unknown method MUST get 404. (streamable-http#protocol-version-header)
method-html | http | MUST | http | An unknown method MUST get a JSON-RPC error -32601. (streamable-http#protocol-version-header)
get-stream | http | SHOULD | http | HTTP GET SHOULD get 405. (streamable-http#earlier-revisions)
delete-ok | http | SHOULD | http | HTTP DELETE SHOULD get 405. (streamable-http#earlier-revisions)
session-minted | http | SHOULD | http | Servers SHOULD NOT mint or echo session IDs. (streamable-http#earlier-revisions)
session-refused | http | SHOULD | http | An Mcp-Session-Id header SHOULD be ignored. (streamable-http#earlier-revisions)
notification-200 | http | MUST | http | An accepted notification MUST get 202 with no body. (streamable-http#sending-messages)
type-missing | http | MUST | http | A request MUST get application/json or text/event-stream. (streamable-http#sending-messages)
type-event-json | http | MUST | http | A request MUST get application/json or text/event-stream. (streamable-http#sending-messages)
buffering | http | SHOULD | http | Servers SHOULD include X-Accel-Buffering: no. (streamable-http#receiving-messages)
stream-stays-open | http | SHOULD | http | The final response SHOULD terminate the stream. (streamable-http#receiving-messages)
stream-mixed | http | MUST | http | Notifications on a stream MUST relate to the originating request. (streamable-http#receiving-messages)
stream-no-end | http | MUST | http | Each request gets a response, on its stream. (streamable-http#receiving-messages)
mrtr-nothing | mrtr | MUST | any | Servers MUST include at least one of inputRequests or requestState. (mrtr)
mrtr-elsewhere | mrtr | MUST | any | Servers MUST NOT send InputRequiredResult on any other client requests. (mrtr#supported-requests)
mrtr-state-unsigned | mrtr | MUST | any | Servers MUST reject state that fails verification. (mrtr)
mrtr-state-any-tool | mrtr | SHOULD | any | Servers SHOULD verify the originating request of the state. (mrtr)
mrtr-state-object | mrtr | MUST | any | requestState is an opaque string. (mrtr, schema)
mrtr-undeclared | mrtr | MUST | any | Servers MUST NOT send inputRequests that the client has not declared support for. (mrtr)
mrtr-capability-code | mrtr | MUST | any | A missing capability MUST be -32021. (basic#_meta)
mrtr-capability-data | mrtr | MUST | any | data.requiredCapabilities lists the missing capabilities. (basic#_meta)
mrtr-capability-status | mrtr | MUST | http | For a missing capability the HTTP status MUST be 400. (basic#_meta)
mrtr-missing-error | mrtr | SHOULD | any | Missing information: the server SHOULD respond with a new InputRequiredResult. (mrtr#error-handling)
mrtr-extra-error | mrtr | SHOULD | any | Unexpected entries of inputResponses SHOULD be ignored. (mrtr#error-handling)
mrtr-odd-request | mrtr | MUST | any | inputRequests values MUST be elicitation, sampling or roots requests. (mrtr)
mrtr-url-mode | mrtr | MUST | any | Servers MUST NOT send elicitation modes that the client does not support. (client/elicitation#capabilities)
mrtr-socket | mrtr | SHOULD | http | Servers SHOULD NOT require that a client reuse the same connection. (basic#statelessness)
mrtr-secret-form | mrtr | MUST | any | Servers MUST NOT use form mode to request sensitive information. (client/elicitation)
mrtr-decline-crash | mrtr | MUST | any | Servers MUST handle cases where the user declines. (client/elicitation#error-handling)
mrtr-no-max | mrtr | MUST | any | CreateMessageRequestParams requires maxTokens. (schema)
listen-no-ack | subscriptions | MUST | any | The server MUST send the acknowledgment as the first message. (subscriptions#acknowledgment)
listen-early | subscriptions | MUST | any | The server MUST NOT send a notification on the subscription before the acknowledgment. (subscriptions#acknowledgment)
listen-no-id | subscriptions | MUST | any | The server MUST include subscriptionId in _meta. (basic#_meta)
listen-id-text | subscriptions | MUST | any | subscriptionId is the JSON-RPC ID of the listen request. (subscriptions#receiving-notifications)
listen-id-latest | subscriptions | MUST | any | subscriptionId identifies the request that opened the stream. (subscriptions#receiving-notifications)
listen-any-uri | subscriptions | MUST | any | The server MUST NOT send notification types the client has not requested. (subscriptions)
listen-any-type | subscriptions | MUST | any | The server MUST NOT send notification types the client has not requested. (subscriptions)
listen-ack-all | subscriptions | MUST | any | Notification types the server does not support are omitted. (subscriptions#acknowledgment)
listen-log | subscriptions | MUST | any | notifications/message MUST NOT be delivered on a listen stream. (logging)
listen-one | subscriptions | MUST | any | A client MAY have multiple active subscriptions concurrently. (subscriptions)
listen-cancel-ignored | subscriptions | MUST | stdio | Servers MUST NOT send any further messages for a cancelled request. (stdio#cancellation)
ttl-missing | caching | MUST | any | Servers MUST include caching hints on complete results. (caching)
ttl-negative | caching | MUST | any | Servers MUST provide a ttlMs value that is >= 0. (caching)
ttl-text | caching | MUST | any | ttlMs is an integer value in milliseconds. (caching)
scope-shared | caching | MUST | any | cacheScope is "public" or "private". (caching)
scope-varies | caching | MUST | any | Servers MUST apply the same cacheScope to all pages. (caching#interaction-with-pagination)
read-no-hints | caching | MUST | any | Servers MUST include caching hints on resources/read. (caching)
list-varies | lists | MUST | any | The set MUST NOT vary as a side effect of other requests. (server/tools#capabilities)
list-shuffled | lists | SHOULD | any | Servers SHOULD return tools in a deterministic order. (server/tools#capabilities)
cursor-shared | lists | MUST | any | Servers MUST NOT rely on prior requests; cursors are stable. (basic#statelessness)
cursor-any | lists | SHOULD | any | Invalid cursors SHOULD result in -32602. (pagination#error-handling)
page-repeats | lists | SHOULD | any | Tool names SHOULD be unique within a server. (server/tools#tool-names)
cursor-number | lists | MUST | any | nextCursor is a string. (schema)
header-on-number | tools | MUST | any | x-mcp-header MUST only be applied to integer, string or boolean. (server/tools#x-mcp-header)
header-twice | tools | MUST | any | x-mcp-header values MUST be case-insensitively unique. (server/tools#x-mcp-header)
header-in-items | tools | MUST | any | x-mcp-header MUST only be applied to statically reachable properties. (server/tools#x-mcp-header)
header-space | tools | MUST | any | x-mcp-header MUST match the token syntax. (server/tools#x-mcp-header)
input-schema-array | tools | MUST | any | inputSchema has type object at the root. (schema)
output-wrong | tools | MUST | any | Servers MUST provide structured results that conform to the output schema. (server/tools#output-schema)
output-left-out | tools | MUST | any | Servers MUST provide structured results that conform to the output schema. (server/tools#output-schema)
input-any | tools | MUST | any | Servers MUST validate all tool inputs. (server/tools#security)
input-thrown | tools | SHOULD | any | Errors of the tool SHOULD be reported with isError, not as a protocol error. (schema CallToolResult)
unknown-tool-result | tools | MUST | any | An unknown tool is a protocol error. (server/tools#error-handling)
missing-internal | resources | MUST | any | A resource that does not exist MUST be -32602. (server/resources#error-handling)
missing-old-code | resources | MUST | any | Implementations MUST NOT emit -32002. (basic#error-codes)
missing-empty | resources | MUST | any | Servers MUST NOT return an empty contents array for a non-existent resource. (server/resources#error-handling)
path-traversal | resources | MUST | any | Servers MUST sanitize file paths when serving file:// resources. (server/resources#security)
blob-hex | resources | MUST | any | Binary data MUST be properly encoded. (server/resources#security)
uri-space | resources | MUST | any | Custom URI schemes MUST be in accordance with RFC 3986. (server/resources#custom-uri-schemes)
audience-odd | resources | MUST | any | Valid audiences are "user" and "assistant". (server/resources#annotations)
prompt-missing-argument | prompts | SHOULD | any | Missing required arguments SHOULD be -32602. (server/prompts#error-handling)
prompt-unknown | prompts | SHOULD | any | An invalid prompt name SHOULD be -32602. (server/prompts#error-handling)
prompt-no-messages | prompts | MUST | any | GetPromptResult requires messages. (schema)
completion-101 | completion | MUST | any | Maximum 100 items per response. (completion#completion-results)
completion-bare | completion | MUST | any | CompleteResult requires completion. (schema)
log-unasked | logging | MUST | any | Servers MUST NOT emit notifications/message without logLevel. (logging)
log-quieter | logging | MUST | any | Notifications are at or above the requested level. (logging)
log-level-odd | logging | SHOULD | any | An unknown logLevel SHOULD be -32602. (logging#error-handling)
log-level-kept | logging | MUST | any | Servers MUST NOT emit notifications/message without logLevel; the level is per request. (logging)
progress-down | progress | MUST | any | The progress value MUST increase. (progress)
progress-unasked | progress | MUST | any | Progress MUST only reference tokens of an active request. (progress)
progress-token-text | progress | MUST | any | Progress MUST only reference tokens of an active request. (progress)
progress-after | progress | MUST | any | Progress notifications MUST stop after completion. (progress)
`.trim().split("\n").map((line) => line.split(" | "));

const chosen = new Set();
const on = (name) => chosen.has(name);

class Refusal extends Error {
  constructor(code, message, data, status = 200) {
    super(message);
    Object.assign(this, { code, data, status });
  }
}

// Data of the quarry

const STONES = [
  { name: "granite", pit: "north", price: 84 },
  { name: "grès rosé", pit: "east", price: 61 },
  { name: "marble", pit: "north", price: 140 },
  { name: "slate", pit: "west", price: 47 },
];
const pits = new Map([["north", 31], ["east", 18], ["west", 44], ["old", 9]]);
const BLOCKS = Array.from({ length: 120 }, (_, at) => `block-${at + 1}`);
const STAMP = Buffer.from([0xfb, 0xef, 0xbe, 0xff, 0x00, 0x10, 0x83]);
const folder = mkdtempSync(join(tmpdir(), "quarry-"));
for (const [name, content] of [["plan.txt", "North face first."], ["rota.txt", "Mo–Fr: two shifts."]]) writeFileSync(join(folder, name), content);
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
const SECRET = randomBytes(32);
const shared = { wind: 3, meta: null, level: undefined, listing: 0, unlocked: false, latest: null, lastListen: null };
const listeners = new Set();

setInterval(() => {
  shared.wind = (shared.wind % 9) + 1;
  announce("notifications/resources/updated", "resourceSubscriptions", { uri: "quarry://weather" });
}, 400).unref();

function announce(method, type, params = {}) {
  for (const listener of listeners) {
    const wants = type === "resourceSubscriptions"
      ? listener.filter.resourceSubscriptions?.includes(params.uri) || on("listen-any-uri")
      : listener.filter[type] || on("listen-any-type");
    if (wants) listener.send(method, params);
  }
}

// Tools

const object = (properties = {}, required = [], more = {}) => ({ type: "object", properties, ...(required.length ? { required } : {}), ...more });
const READS = { readOnlyHint: true, openWorldHint: false };
const STONE = object({ name: { type: "string" }, pit: { type: "string" }, price: { type: "integer" } }, ["name", "pit", "price"]);
const text = (value, more = {}) => ({ content: [{ type: "text", text: value }], ...more });
const pause = (time) => new Promise((done) => setTimeout(done, time));

function structured(value) {
  const said = text(JSON.stringify(value));
  if (on("output-left-out")) return said;
  return { ...said, structuredContent: on("output-wrong") ? JSON.parse(JSON.stringify(value), (key, part) => (typeof part === "number" ? `${part}` : part)) : value };
}

const TOOLS = {
  find_stone: {
    description: "Find stones by a part of their name",
    inputSchema: object({ name: { type: "string", minLength: 1, maxLength: 80 }, limit: { type: "integer", minimum: 1, maximum: 20 } }, ["name"]),
    outputSchema: object({ stones: { type: "array", items: STONE }, count: { type: "integer" } }, ["stones", "count"]),
    run(call, { name, limit = 20 }) {
      shared.unlocked = true;
      call.log("info", { searched: `${name}`.length });
      const stones = STONES.filter((stone) => stone.name.includes(`${name}`.toLowerCase())).slice(0, limit);
      return structured({ stones, count: stones.length });
    },
  },
  list_pits: {
    description: "List the pits and their depths",
    inputSchema: object({}, [], { additionalProperties: false }),
    outputSchema: { type: "array", items: object({ pit: { type: "string" }, depth: { type: "integer" } }, ["pit", "depth"]) },
    run: () => structured([...pits].map(([pit, depth]) => ({ pit, depth }))),
  },
  get_price: {
    description: "Price of a load of stone in a region",
    annotations: READS,
    inputSchema: object({
      stone: { type: "string" }, region: { type: "string", enum: ["inland", "coast"], "x-mcp-header": "Region" },
      tons: { type: "integer", minimum: 1, maximum: 500, "x-mcp-header": "Tons" },
    }, ["stone"]),
    run(call, { stone, region = "inland", tons = 1 }) {
      const found = STONES.find((one) => one.name === stone);
      if (!found) return text(`No stone ${stone}: find_stone lists them`, { isError: true });
      return text(`${found.price * tons + (region === "coast" ? 120 : 0)} crowns`);
    },
  },
  drill_core: {
    description: "Drill a core, slowly and with progress",
    annotations: READS,
    inputSchema: object({ meters: { type: "integer", minimum: 1, maximum: 30 } }),
    async run(call, { meters = 4 }) {
      call.log("debug", "the drill starts");
      call.log("warning", "the drill is hot");
      for (let meter = 1; meter <= meters; meter += 1) {
        await pause(120);
        if (call.ended) return text("stopped");
        call.progress(on("progress-down") ? meters - meter : meter, meters);
      }
      return text(`${meters} meters`);
    },
  },
  ask_foreman: {
    description: "Ask the user which pit the foreman shall open",
    annotations: READS,
    needs: "elicitation",
    inputSchema: object({ shift: { type: "string", enum: ["day", "night"] } }),
    run(call, given) {
      const answer = call.input("ask_foreman", given, "pit", { method: "elicitation/create", params: foremanForm() });
      if (on("mrtr-decline-crash")) return text(`Opened: ${answer.content.pit}`);
      if (answer.action !== "accept") return text("No pit was opened");
      const problem = violation(answer.content, foremanForm().requestedSchema ?? {}, "content");
      return problem ? text(`The answer does not fit the form: ${problem}`, { isError: true }) : text(`Opened: ${answer.content.pit}`);
    },
  },
  describe_stone: {
    description: "Let the client's model describe a stone",
    annotations: READS,
    needs: "sampling",
    inputSchema: object({ stone: { type: "string" } }),
    run(call, given) {
      const params = { messages: [{ role: "user", content: { type: "text", text: `Describe ${given.stone ?? "granite"}` } }], maxTokens: 60 };
      if (on("mrtr-no-max")) delete params.maxTokens;
      const answer = call.input("describe_stone", given, "words", { method: "sampling/createMessage", params });
      const content = Array.isArray(answer.content) ? answer.content[0] : answer.content;
      return text(`${content?.text ?? "no words"}`);
    },
  },
  order_stone: {
    description: "Order stone",
    annotations: { readOnlyHint: false, destructiveHint: false },
    inputSchema: object({ stone: { type: "string" } }, ["stone"]),
    run: (call, { stone }) => text(STONES.some((one) => one.name === stone) ? "Ordered" : "No such stone"),
  },
  close_pit: {
    description: "Close a pit for good",
    annotations: { readOnlyHint: false, destructiveHint: true },
    inputSchema: object({ pit: { type: "string" } }, ["pit"]),
    run(call, { pit }) {
      if (!pits.delete(pit)) return text("No such pit", { isError: true });
      announce("notifications/resources/list_changed", "resourcesListChanged");
      return text("Closed");
    },
  },
};

function foremanForm() {
  const properties = { pit: { type: "string", title: "Pit", enum: [...pits.keys()] } };
  if (on("mrtr-secret-form")) properties.api_key = { type: "string", title: "Your API key" };
  if (on("mrtr-url-mode")) return { mode: "url", message: "Choose a pit", url: "https://quarry.example/choose", elicitationId: "pick-1" };
  return { mode: "form", message: "Which pit shall open?", requestedSchema: { type: "object", properties, required: ["pit"] } };
}

function shownTools() {
  const names = Object.keys(TOOLS);
  if (on("list-shuffled")) names.sort(() => Math.random() - 0.5);
  const tools = names.map((name) => {
    const { description, inputSchema, outputSchema, annotations } = TOOLS[name];
    return structuredClone({ name, description, inputSchema, ...(outputSchema ? { outputSchema } : {}), ...(annotations ? { annotations } : {}) });
  });
  const price = tools.find((tool) => tool.name === "get_price").inputSchema.properties;
  if (on("header-on-number")) price.tons.type = "number";
  if (on("header-twice")) price.tons["x-mcp-header"] = "REGION";
  if (on("header-space")) price.region["x-mcp-header"] = "Sales Region";
  if (on("header-in-items")) price.stops = { type: "array", items: object({ town: { type: "string", "x-mcp-header": "Town" } }) };
  if (on("input-schema-array")) tools.find((tool) => tool.name === "list_pits").inputSchema = { type: "array" };
  if (on("list-varies") && shared.unlocked) tools.push({ name: "secret_vault", description: "Open the vault", inputSchema: object() });
  return tools;
}

function violation(value, rules, place = "arguments") {
  const isInteger = typeof value === "number" && Number.isInteger(value);
  const kind = Array.isArray(value) ? "array" : value === null ? "null" : isInteger ? "integer" : typeof value;
  if (rules.type && kind !== rules.type) return `${place} must be of type ${rules.type}`;
  if (rules.enum && !rules.enum.includes(value)) return `${place} must be one of ${rules.enum.join(", ")}`;
  if (kind === "string" && (value.length < (rules.minLength ?? 0) || value.length > (rules.maxLength ?? Infinity))) return `${place} has the wrong length`;
  if (isInteger && (value < (rules.minimum ?? -Infinity) || value > (rules.maximum ?? Infinity))) return `${place} is out of range`;
  if (kind !== "object") return null;
  const missing = (rules.required ?? []).find((name) => !Object.hasOwn(value, name));
  if (missing) return `${place}.${missing} is missing`;
  for (const [name, part] of Object.entries(value)) {
    if (Object.hasOwn(rules.properties ?? {}, name)) {
      const found = violation(part, rules.properties[name], `${place}.${name}`);
      if (found) return found;
    } else if (rules.additionalProperties === false) return `${place}.${name} is unknown`;
  }
  return null;
}

async function callTool(call, params) {
  const { name, arguments: given = {} } = params;
  if (typeof name !== "string" || given === null || typeof given !== "object" || Array.isArray(given)) {
    throw new Refusal(-32602, "tools/call needs a name and an object of arguments");
  }
  const known = on("tool-prototype") ? TOOLS[name] : Object.hasOwn(TOOLS, name) && TOOLS[name];
  if (!known && on("unknown-tool-result")) return text(`Unknown tool: ${name}`, { isError: true });
  if (!known) throw new Refusal(on("code-reserved") ? -32050 : on("code-legacy-range") ? -32001 : -32602, `Unknown tool: ${name}`);
  const problem = violation(given, known.inputSchema);
  if (problem && on("input-thrown")) throw new Refusal(-32603, `Error: ${problem}`);
  if (problem && !on("input-any")) return text(`Invalid input: ${problem}`, { isError: true });
  return known.run(call, given);
}

/** The error for a capability that the request needs and the client does not declare, before any stream begins. */
function missingCapability(method, params, meta) {
  const needs = method === "tools/call" && Object.hasOwn(TOOLS, params.name) ? TOOLS[params.name].needs : undefined;
  const declared = on("capabilities-remembered") ? (shared.capabilities ??= meta[`${MCP}clientCapabilities`]) : meta[`${MCP}clientCapabilities`];
  const modes = declared[needs];
  const fits = modes && (needs !== "elicitation" || modes.form || Object.keys(modes).length === 0);
  if (!needs || fits || on("mrtr-undeclared")) return null;
  if (violation(params.arguments ?? {}, TOOLS[params.name].inputSchema)) return null;
  return new Refusal(on("mrtr-capability-code") ? -32602 : -32021, `The client must declare ${needs}`,
    on("mrtr-capability-data") ? undefined : { requiredCapabilities: { [needs]: needs === "elicitation" ? { form: {} } : {} } }, on("mrtr-capability-status") ? 200 : 400);
}

// A request in progress

class Call {
  constructor(params, meta, send, socket) {
    Object.assign(this, { params, send, socket, ended: false, token: meta.progressToken, level: meta[`${MCP}logLevel`] });
    if (this.level) shared.level = this.level;
  }

  notify(method, params) {
    if (on("stream-mixed") && shared.latest) shared.latest({ jsonrpc: "2.0", method, params });
    else this.send({ jsonrpc: "2.0", method, params });
  }

  log(level, data) {
    const wanted = this.level ?? (on("log-unasked") ? "debug" : on("log-level-kept") ? shared.level : undefined);
    if (on("listen-log")) for (const listener of listeners) listener.send("notifications/message", { level, logger: "office", data });
    if (!wanted || (LEVELS.indexOf(level) < LEVELS.indexOf(wanted) && !on("log-quieter"))) return;
    this.notify("notifications/message", { level, logger: "office", data });
  }

  progress(done, total) {
    const token = this.token ?? (on("progress-unasked") ? "drill" : undefined);
    if (token === undefined) return;
    this.notify("notifications/progress", { progressToken: on("progress-token-text") ? `${token}` : token, progress: done, total, message: `${done} of ${total} meters` });
  }

  /** The client's answer to an input request; throws the request until the client has answered it. */
  input(name, given, key, request) {
    const digest = createHash("sha256").update(JSON.stringify([name, given])).digest("hex");
    const responses = this.params.inputResponses ?? {};
    if (responses === null || typeof responses !== "object" || Array.isArray(responses)) throw new Refusal(-32602, "inputResponses must be an object");
    if (this.params.requestState !== undefined) this.verify(this.params.requestState, digest);
    if (on("mrtr-extra-error") && Object.keys(responses).some((other) => other !== key)) throw new Refusal(-32602, "Unknown input response");
    const answer = Object.hasOwn(responses, key) ? responses[key] : undefined;
    if (answer && typeof answer === "object" && this.params.requestState !== undefined) return answer;
    if (this.params.requestState !== undefined && on("mrtr-missing-error")) throw new Refusal(-32602, "The input response is missing");
    const asked = on("mrtr-odd-request") ? { method: "prompts/get", params: { name: "safety_brief" } } : request;
    const state = { digest, until: Date.now() + 300000, ...(on("mrtr-socket") ? { port: this.socket?.remotePort } : {}) };
    throw { inputRequired: { resultType: "input_required", ...(on("mrtr-nothing") ? {} : { inputRequests: { [key]: asked }, requestState: on("mrtr-state-object") ? state : sealed(state) }) } };
  }

  verify(text_, digest) {
    if (on("mrtr-state-object") && typeof text_ === "object") return;
    const [body, seal] = typeof text_ === "string" ? text_.split(".") : [];
    if (!body || !seal) {
      if (on("mrtr-state-unsigned")) return;
      throw new Refusal(-32602, "requestState is invalid");
    }
    const expected = createHmac("sha256", SECRET).update(body).digest();
    const found = Buffer.from(seal, "base64url");
    if (!on("mrtr-state-unsigned") && (found.length !== expected.length || !timingSafeEqual(found, expected))) throw new Refusal(-32602, "requestState is invalid");
    let state = {};
    try {
      state = JSON.parse(Buffer.from(body, "base64url").toString());
    } catch {
      return;
    }
    if (state.until < Date.now()) throw new Refusal(-32602, "requestState has expired");
    if (state.digest !== digest && !on("mrtr-state-any-tool") && !on("mrtr-state-unsigned")) throw new Refusal(-32602, "requestState belongs to another request");
    if (on("mrtr-socket") && state.port !== this.socket?.remotePort) throw new Refusal(-32602, "requestState belongs to another connection");
  }
}

function sealed(state) {
  const body = Buffer.from(JSON.stringify(state)).toString("base64url");
  return `${body}.${createHmac("sha256", SECRET).update(body).digest("base64url")}`;
}

// Lists, resources, prompts, completion

function cached(result, ttlMs = 60000, cacheScope = "public") {
  if (on("ttl-missing")) return { ...result, cacheScope };
  return { ...result, ttlMs: on("ttl-negative") ? -1 : on("ttl-text") ? `${ttlMs}` : ttlMs, cacheScope: on("scope-shared") ? "shared" : cacheScope };
}

function page(key, items, size, { cursor }) {
  let start = 0;
  if (cursor !== undefined) {
    const [kind, at] = typeof cursor === "string" ? Buffer.from(cursor, "base64url").toString().split(" ") : [];
    start = Number(at);
    if (on("cursor-number") && typeof cursor === "number") start = cursor;
    else if (on("cursor-shared")) start = shared.listing;
    else if (kind !== key || !(start > 0 && start < items.length)) {
      if (!on("cursor-any")) throw new Refusal(-32602, "Invalid cursor");
      start = 0;
    }
  }
  const end = start + size;
  shared.listing = end;
  const result = { [key]: items.slice(on("page-repeats") && start > 0 ? start - 1 : start, end) };
  if (end < items.length) result.nextCursor = on("cursor-number") ? end : Buffer.from(`${key} ${end}`).toString("base64url");
  return cached(result, 60000, on("scope-varies") && start > 0 ? "private" : "public");
}

const fileOf = (uri) => (uri.startsWith("file:///quarry/") ? decodeURIComponent(uri.slice(15)) : null);

function listedResources() {
  const fixed = [
    { uri: on("uri-space") ? "quarry://weather today" : "quarry://weather", name: "weather", description: "Wind at the north face, changes often", mimeType: "text/plain" },
    { uri: "quarry://stamp", name: "stamp", mimeType: "application/octet-stream", size: STAMP.length },
    { uri: "file:///quarry/plan.txt", name: "plan.txt", mimeType: "text/plain", annotations: { audience: [on("audience-odd") ? "everyone" : "user"], priority: 0.7 } },
    { uri: "file:///quarry/rota.txt", name: "rota.txt", mimeType: "text/plain" },
  ];
  return [...fixed, ...[...pits.keys()].map((pit) => ({ uri: `quarry://pits/${pit}`, name: pit, mimeType: "application/json" }))];
}

function contentsOf(uri) {
  if (uri === "quarry://weather" || (on("uri-space") && uri === "quarry://weather today")) return { mimeType: "text/plain", text: `Wind: ${shared.wind}` };
  if (uri === "quarry://stamp") return { mimeType: "application/octet-stream", blob: STAMP.toString(on("blob-hex") ? "hex" : "base64") + (on("blob-hex") ? "!" : "") };
  if (uri.startsWith("quarry://pits/") && pits.has(uri.slice(14))) return { mimeType: "application/json", text: JSON.stringify({ depth: pits.get(uri.slice(14)) }) };
  if (uri.startsWith("quarry://blocks/") && BLOCKS.includes(uri.slice(16))) return { mimeType: "text/plain", text: `Block ${uri.slice(16)}` };
  let path = null;
  try {
    path = fileOf(uri);
  } catch {
    return null;
  }
  const inside = path && normalize(path) === path && !path.startsWith("..") && !path.startsWith("/") && !path.includes("\0");
  if (!path || (!inside && !on("path-traversal"))) return null;
  try {
    return { mimeType: "text/plain", text: readFileSync(join(folder, path), "utf8") };
  } catch {
    return null;
  }
}

function readResource(call, { uri }) {
  if (typeof uri !== "string") throw new Refusal(-32602, "resources/read needs a uri");
  const found = contentsOf(uri);
  if (!found && on("missing-empty")) return cached({ contents: [] });
  if (!found) throw new Refusal(on("missing-internal") ? -32603 : on("missing-old-code") ? -32002 : -32602, "Resource not found", { uri });
  const result = { contents: [{ uri, ...found }] };
  return on("read-no-hints") ? result : cached(result, uri === "quarry://weather" ? 0 : 30000);
}

const PROMPTS = {
  quote_letter: { description: "Write a letter with a quote", arguments: [{ name: "customer", required: true }, { name: "stone" }] },
  safety_brief: { description: "Brief a new worker" },
  inspection_notes: { description: "Turn notes into a report", arguments: [{ name: "pit", required: true }] },
};

function getPrompt(call, { name, arguments: given = {} }) {
  const known = typeof name === "string" && Object.hasOwn(PROMPTS, name) && PROMPTS[name];
  if (!known) throw new Refusal(on("prompt-unknown") ? -32603 : -32602, `Unknown prompt: ${name}`);
  if (given === null || typeof given !== "object" || Object.values(given).some((value) => typeof value !== "string")) throw new Refusal(-32602, "arguments must be an object of strings");
  const missing = (known.arguments ?? []).find((one) => one.required && !Object.hasOwn(given, one.name));
  if (missing && !on("prompt-missing-argument")) throw new Refusal(-32602, `Missing argument: ${missing.name}`);
  const said = Object.entries(given).map(([key, value]) => `${key}: ${value}`).join("; ");
  const messages = [{ role: "user", content: { type: "text", text: `${known.description}. ${said}` } }];
  return { description: known.description, ...(on("prompt-no-messages") ? {} : { messages }) };
}

function complete(call, { ref, argument }) {
  if (ref === null || typeof ref !== "object" || argument === null || typeof argument !== "object" || typeof argument.value !== "string") {
    throw new Refusal(-32602, "completion/complete needs a ref and an argument");
  }
  const stones = STONES.map((stone) => stone.name);
  const known = {
    "ref/prompt quote_letter stone": stones, "ref/prompt quote_letter customer": ["Ada", "Bo"], "ref/prompt inspection_notes pit": [...pits.keys()],
    "ref/resource quarry://pits/{pit} pit": [...pits.keys()], "ref/resource quarry://blocks/{block} block": BLOCKS, "ref/resource file:///quarry/{path} path": ["plan.txt", "rota.txt"],
  };
  const key = `${ref.type} ${ref.name ?? ref.uri} ${argument.name}`;
  if (!Object.hasOwn(known, key)) throw new Refusal(-32602, "Nothing to complete: unknown reference or argument");
  if (on("mrtr-elsewhere")) throw { inputRequired: { resultType: "input_required", requestState: sealed({ digest: key, until: Date.now() + 60000 }) } };
  const matching = known[key].filter((value) => value.startsWith(argument.value));
  const values = matching.slice(0, on("completion-101") ? 101 : 100);
  const completion = { values, total: matching.length, hasMore: values.length < matching.length };
  return on("completion-bare") ? completion : { completion };
}

function discover() {
  const capabilities = { tools: {}, prompts: {}, resources: { listChanged: true, subscribe: true }, completions: {}, logging: {} };
  for (const name of ["tools", "completions", "logging"]) if (on(`${name}-undeclared`)) delete capabilities[name];
  if (on("extension-unprefixed")) capabilities.extensions = { tasks: {} };
  if (on("discover-old-shape")) return cached({ protocolVersion: VERSION, capabilities, serverInfo: SERVER });
  return cached({ ...(on("discover-no-versions") ? {} : { supportedVersions: [VERSION] }), capabilities, instructions: "Find a stone before you ask for its price." }, 3600000);
}

const TEMPLATES = [
  { uriTemplate: "quarry://pits/{pit}", name: "pit", mimeType: "application/json" },
  { uriTemplate: "quarry://blocks/{block}", name: "block", mimeType: "text/plain" },
  { uriTemplate: "file:///quarry/{path}", name: "file", mimeType: "text/plain" },
];
const METHODS = {
  "server/discover": discover,
  "tools/list": (call, params) => page("tools", shownTools(), on("list-shuffled") ? 20 : 3, params),
  "tools/call": callTool,
  "resources/list": (call, params) => page("resources", listedResources(), 3, params),
  "resources/templates/list": (call, params) => page("resourceTemplates", TEMPLATES, 2, params),
  "resources/read": readResource,
  "prompts/list": (call, params) => page("prompts", Object.entries(PROMPTS).map(([name, prompt]) => ({ name, ...prompt })), 2, params),
  "prompts/get": getPrompt,
  "completion/complete": complete,
};

// Messages

const isObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value);
const isId = (value) => typeof value === "string" || (typeof value === "number" && Number.isInteger(value));
const renamed = (id) => (on("id-parsed") && Number.isInteger(parseInt(id, 10)) ? parseInt(id, 10) : id);

function failed(id, { code, message, data }) {
  const error = { code: on("code-fraction") ? code - 0.5 : code, message, ...(data ? { data } : {}) };
  if (on("error-no-code")) delete error.code;
  return { jsonrpc: "2.0", ...(id === undefined || on("error-id-lost") ? {} : { id: renamed(id) }), error };
}

function completed(id, result) {
  const whole = { resultType: "complete", ...result };
  if (!on("server-info-missing")) whole._meta = { ...whole._meta, [`${MCP}serverInfo`]: SERVER };
  if (on("result-type-missing")) delete whole.resultType;
  if (on("result-type-unknown") && whole.resultType === "complete") whole.resultType = "done";
  return { jsonrpc: "2.0", id: renamed(id), result: whole };
}

/** Refuses what the metadata of a request makes impossible; returns the metadata. */
function checkMeta({ method, params }) {
  if (method === "initialize") {
    const data = on("initialize-mute") ? undefined : { supported: [VERSION], requested: `${params?.protocolVersion ?? ""}` };
    throw new Refusal(-32022, on("initialize-mute") ? "Bad request" : `Unsupported protocol version: this server speaks ${VERSION}`, data, 400);
  }
  let meta = params?._meta;
  const complete_ = isObject(meta) && typeof meta[`${MCP}protocolVersion`] === "string" && isObject(meta[`${MCP}clientCapabilities`]);
  if (complete_) shared.meta = meta;
  else if (on("meta-remembered") && shared.meta) meta = { ...shared.meta, ...meta };
  else if (on("meta-unchecked")) meta = { ...meta, [`${MCP}protocolVersion`]: VERSION, [`${MCP}clientCapabilities`]: {} };
  else if (on("capabilities-unchecked") && isObject(meta) && meta[`${MCP}protocolVersion`]) meta = { ...meta, [`${MCP}clientCapabilities`]: {} };
  else throw new Refusal(on("meta-code") ? -32600 : -32602, "_meta must have a protocolVersion and clientCapabilities", undefined, on("meta-status") ? 200 : 400);
  const requested = meta[`${MCP}protocolVersion`];
  if (requested !== VERSION && !on("version-unchecked")) {
    const data = on("version-no-list") ? undefined : { supported: [VERSION], requested };
    throw new Refusal(on("version-code") ? -32602 : -32022, "Unsupported protocol version", data, on("version-status") ? 200 : 400);
  }
  const level = meta[`${MCP}logLevel`];
  if (level !== undefined && !LEVELS.includes(level) && !on("log-level-odd")) throw new Refusal(-32602, `Unknown log level: ${level}`);
  return meta;
}

function methodOf(name) {
  const known = on("method-prototype") ? METHODS[name] : Object.hasOwn(METHODS, name) && METHODS[name];
  if (name === "subscriptions/listen") return listen;
  if (!known || (on("discover-missing") && name === "server/discover")) throw new Refusal(-32601, `Method not found: ${name}`, undefined, on("method-status") ? 200 : 404);
  return known;
}

/** The response to a request, or undefined after its cancellation. */
async function respond(request, call) {
  try {
    const result = await methodOf(request.method)(call, request.params);
    return call.ended && !on("cancel-goes-on") && !on("cancel-answered") ? undefined : completed(request.id, result);
  } catch (problem) {
    if (problem.inputRequired) return completed(request.id, problem.inputRequired);
    if (problem instanceof Refusal) return failed(request.id, problem);
    return failed(request.id, { code: -32603, message: "Internal error" });
  }
}

function problemOf(message) {
  if (!isObject(message) || message.jsonrpc !== "2.0" || typeof message.method !== "string") return "Invalid request";
  if ("id" in message && !isId(message.id)) return "Invalid id";
  if ("params" in message && !isObject(message.params)) return "Invalid params: not an object";
  return null;
}

// Subscriptions

/** Opens a subscription; `stop` of the result ends it. */
function subscribe(request, send) {
  const asked = request.params.notifications;
  const uris = asked?.resourceSubscriptions ?? [];
  if (!isObject(asked) || !Array.isArray(uris) || uris.length > 500 || uris.some((uri) => typeof uri !== "string")) {
    throw new Refusal(-32602, "subscriptions/listen needs a filter in notifications");
  }
  const filter = { ...(asked.resourcesListChanged ? { resourcesListChanged: true } : {}), ...(asked.resourceSubscriptions ? { resourceSubscriptions: uris } : {}) };
  if (on("listen-one")) listeners.clear();
  if (listeners.size >= 500) throw new Refusal(-32603, "Too many subscriptions");
  shared.lastListen = request.id;
  const listener = { filter };
  listener.send = (method, params) => {
    const id = on("listen-id-latest") ? shared.lastListen : request.id;
    const tag = { [`${MCP}subscriptionId`]: on("listen-id-text") ? `${id}` : id };
    send({ jsonrpc: "2.0", method, params: on("listen-no-id") ? params : { ...params, _meta: tag } });
  };
  if (on("listen-early")) listener.send("notifications/resources/list_changed", {});
  if (!on("listen-no-ack")) listener.send("notifications/subscriptions/acknowledged", { notifications: on("listen-ack-all") ? { toolsListChanged: true, promptsListChanged: true, ...filter } : filter });
  if (on("listen-any-type")) setTimeout(() => listener.send("notifications/tools/list_changed", {}), 200);
  listeners.add(listener);
  return () => listeners.delete(listener);
}

const listen = () => ({});

// stdio

function serveStdio() {
  const write = (message) => process.stdout.write(`${JSON.stringify(message)}\n`);
  const running = new Map();

  async function take(line) {
    let message;
    try {
      message = JSON.parse(line);
    } catch {
      return write({ jsonrpc: "2.0", id: null, error: { code: -32700, message: "Parse error" } });
    }
    if (on("batch-answered") && Array.isArray(message)) return message.forEach((one) => take(JSON.stringify(one)));
    if (isObject(message) && !("method" in message) && ("result" in message || "error" in message)) return undefined;
    const problem = problemOf(message);
    if (problem) return write(failed(isObject(message) && isId(message.id) ? message.id : undefined, { code: -32600, message: problem }));
    if (on("id-falsy") ? !message.id : !("id" in message)) return notified(message);
    return answer(message);
  }

  function notified(message) {
    if (message.method === "notifications/cancelled") {
      const stop = running.get(message.params?.requestId);
      if (stop) stop();
    } else if (on("notification-answered")) write(failed(undefined, { code: -32601, message: "Method not found" }));
    return undefined;
  }

  async function answer(request) {
    try {
      const meta = checkMeta(request);
      const refusal = missingCapability(request.method, request.params, meta);
      if (refusal) throw refusal;
      if (request.method === "subscriptions/listen") {
        const stop = subscribe(request, write);
        if (!on("listen-cancel-ignored")) running.set(request.id, stop);
        return;
      }
      await work(request, meta);
    } catch (problem) {
      write(problem instanceof Refusal ? failed(request.id, problem) : failed(request.id, { code: -32603, message: "Internal error" }));
    }
  }

  async function work(request, meta) {
    const call = new Call(request.params, meta, (message) => (call.ended && !on("cancel-goes-on") ? undefined : write(message)));
    running.set(request.id, () => {
      call.ended = !on("cancel-goes-on");
    });
    if (on("stdout-chatter") && request.method === "tools/call") process.stdout.write(`calling ${request.params.name}\n`);
    if (on("server-asks") && request.params.name === "list_pits") write({ jsonrpc: "2.0", id: "q1", method: "roots/list", params: {} });
    if (on("cancel-sent") && request.params.name === "drill_core") write({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: request.id, reason: "slow" } });
    const response = await respond(request, call);
    running.delete(request.id);
    if (response) write(response);
    if (on("progress-after") && call.token !== undefined && request.params.name === "drill_core") call.progress(99, 100);
  }

  const decoder = new StringDecoder("utf8");
  let rest = "";
  process.stdin.on("data", (chunk) => {
    rest += on("chunk-decode") ? chunk.toString() : decoder.write(chunk);
    const lines = rest.split("\n");
    rest = lines.pop();
    for (const line of lines) if (line.trim()) take(line);
  });
  process.stdin.on("end", () => (on("exit-late") ? setInterval(() => {}, 1000) : process.exit(0)));
}

// Streamable HTTP

const trusted = (name) => ["127.0.0.1", "localhost", "[::1]"].includes(name.replace(/:\d+$/, ""));

function refusedOrigin(headers) {
  if (!trusted(headers.host ?? "")) return true;
  if (headers.origin === undefined || on("origin-unchecked")) return false;
  if (on("origin-prefix")) return !/^https?:\/\/(localhost|127\.0\.0\.1)/.test(headers.origin);
  const match = /^https?:\/\/([^/]+)$/.exec(headers.origin);
  return !match || !trusted(match[1]);
}

function decoded(value) {
  const match = /^=\?base64\?(.*)\?=$/.exec(value);
  if (!match) return value;
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(match[1])) return null;
  return Buffer.from(match[1], "base64").toString();
}

/** Why a header of the request does not fit its body, or null. */
function headerProblem(headers, raw, { method, params }) {
  const read = (name) => (on("header-case") ? (raw.indexOf(name) < 0 ? undefined : raw[raw.indexOf(name) + 1]) : headers[name.toLowerCase()]);
  const version = headers["mcp-protocol-version"];
  if (version === undefined && !on("version-header-optional")) return `MCP-Protocol-Version is missing; this server speaks ${VERSION}`;
  const stated = params?._meta?.[`${MCP}protocolVersion`];
  if (version !== undefined && typeof stated === "string" && version !== stated && !on("version-header-mismatch")) return "MCP-Protocol-Version does not match the body";
  const named = read("Mcp-Method");
  if (named === undefined && !on("method-header-optional")) return "Mcp-Method is missing";
  const same = on("header-value-case") ? named?.toLowerCase() === method.toLowerCase() : named === method;
  if (named !== undefined && !same && !on("method-header-mismatch")) return "Mcp-Method does not match the body";
  const sources = { "tools/call": "name", "resources/read": "uri", ...(on("name-header-prompts") ? {} : { "prompts/get": "name" }) };
  const source = Object.hasOwn(sources, method) ? sources[method] : undefined;
  if (source) {
    const name = read("Mcp-Name");
    if (name === undefined && !on("name-header-optional")) return "Mcp-Name is missing";
    const value = name === undefined || on("name-header-encoded") ? name : decoded(name);
    if (name !== undefined && value !== params?.[source] && !on("name-header-mismatch")) return "Mcp-Name does not match the body";
  }
  return method === "tools/call" ? paramProblem(headers, params ?? {}) : null;
}

function paramProblem(headers, { name, arguments: given }) {
  const properties = Object.hasOwn(TOOLS, name) ? TOOLS[name].inputSchema.properties : {};
  for (const [key, rules] of Object.entries(properties)) {
    if (!rules["x-mcp-header"]) continue;
    const header = headers[`mcp-param-${rules["x-mcp-header"].toLowerCase()}`];
    const value = isObject(given) && Object.hasOwn(given, key) ? given[key] : undefined;
    const absent = value === undefined || value === null;
    if (absent && header === undefined && on("param-header-expected")) return `Mcp-Param-${rules["x-mcp-header"]} is missing`;
    if (absent && header === undefined) continue;
    if (header === undefined) {
      if (on("param-header-optional")) continue;
      return `Mcp-Param-${rules["x-mcp-header"]} is missing`;
    }
    const shown = decoded(header);
    const numeric = typeof value === "number" && !on("param-header-number");
    const same = numeric ? shown !== null && shown.trim() !== "" && Number(shown) === value : shown === `${value}`;
    if ((absent || !same) && !on("param-header-mismatch")) return `Mcp-Param-${rules["x-mcp-header"]} does not match the body`;
  }
  return null;
}

function serveHttp(port) {
  const server = createServer((request, response) => {
    const parts = [];
    let size = 0;
    request.on("data", (part) => {
      size += part.length;
      if (size <= 1 << 22) parts.push(part);
    });
    request.on("end", () => {
      const body = on("chunk-decode") ? parts.map((part) => part.toString()).join("") : Buffer.concat(parts).toString();
      if (size > 1 << 22) return reply(response, 413, failed(undefined, { code: -32600, message: "The body is too large" }));
      return receive(request, response, body);
    });
  });
  server.listen(port, "127.0.0.1");
}

function reply(response, status, message, type = "application/json") {
  if (message === undefined) return response.writeHead(status).end();
  const headers = on("type-missing") && status === 200 ? {} : { "Content-Type": type };
  if (on("session-minted")) headers["Mcp-Session-Id"] = randomBytes(16).toString("hex");
  return response.writeHead(status, headers).end(typeof message === "string" ? message : JSON.stringify(message));
}

function receive(request, response, body) {
  const refuse = (status, message, code = -32600, id = undefined) => reply(response, status, failed(id, { code, message }));
  if (request.url.split("?")[0] !== "/mcp") return refuse(404, "The endpoint is /mcp");
  if (refusedOrigin(request.headers)) return refuse(on("origin-400") ? 400 : 403, "Origin or Host is not allowed");
  if (request.method === "GET" && on("get-stream")) return response.writeHead(200, { "Content-Type": "text/event-stream" }).write(": hello\n\n");
  if (request.method === "DELETE" && on("delete-ok")) return reply(response, 200);
  if (request.method !== "POST") return response.writeHead(405, { Allow: "POST" }).end();
  if (!/^application\/json\s*(;|$)/i.test(request.headers["content-type"] ?? "")) return refuse(415, "Content-Type must be application/json");
  const accept = request.headers.accept ?? "";
  if (!/application\/(json|\*)|\*\/\*/.test(accept) || !/text\/(event-stream|\*)|\*\/\*/.test(accept)) return refuse(406, "Accept must list application/json and text/event-stream");
  if (on("session-refused") && request.headers["mcp-session-id"]) return refuse(404, "Unknown session");
  let message;
  try {
    message = JSON.parse(body);
  } catch {
    return refuse(400, "Parse error", -32700);
  }
  if (on("batch-answered") && Array.isArray(message)) return reply(response, 200, message.map((one) => completed(one?.id ?? 0, {})));
  const problem = problemOf(message);
  if (problem) return refuse(400, problem, -32600, isObject(message) && isId(message.id) ? message.id : undefined);
  if (on("id-falsy") ? !message.id : !("id" in message)) {
    if (on("notification-answered")) return reply(response, 200, failed(undefined, { code: -32601, message: "Method not found" }));
    return on("notification-200") ? reply(response, 200, {}) : reply(response, 202);
  }
  return answerHttp(request, response, message);
}

async function answerHttp(request, response, message) {
  let meta;
  try {
    const mismatch = headerProblem(request.headers, request.rawHeaders, message);
    if (mismatch) throw new Refusal(on("header-code") ? -32600 : -32020, `Header mismatch: ${mismatch}`, undefined, on("header-status") ? 200 : 400);
    meta = checkMeta(message);
    methodOf(message.method);
    const refusal = missingCapability(message.method, message.params, meta);
    if (refusal) throw refusal;
  } catch (problem) {
    if (problem.code === -32601 && on("method-html")) return reply(response, 404, `<h1>Cannot POST ${message.method}</h1>`, "text/html");
    return reply(response, problem.status ?? 200, failed(message.id, problem));
  }
  const streams = message.method === "subscriptions/listen" || meta.progressToken !== undefined || meta[`${MCP}logLevel`] || message.params.name === "drill_core";
  if (streams) return stream(request, response, message, meta);
  const call = new Call(message.params, meta, () => {}, request.socket);
  return reply(response, 200, await respond(message, call));
}

async function stream(request, response, message, meta) {
  const send = (event) => response.writable && response.write(`event: message\ndata: ${JSON.stringify(event)}\n\n`);
  let stop = () => {};
  if (message.method === "subscriptions/listen") {
    const held = [];
    let open = (event) => held.push(event);
    try {
      stop = subscribe(message, (event) => open(event));
    } catch (problem) {
      return reply(response, 200, failed(message.id, problem));
    }
    begin(response);
    held.forEach(send);
    open = send;
    const beat = setInterval(() => response.write(": alive\n\n"), 5000);
    return response.on("close", () => {
      clearInterval(beat);
      stop();
    });
  }
  begin(response);
  const call = new Call(message.params, meta, send, request.socket);
  shared.latest = send;
  response.on("close", () => {
    call.ended = true;
  });
  const answer = await respond(message, call);
  if (answer && !on("stream-no-end")) send(answer);
  if (on("progress-after") && call.token !== undefined && message.params.name === "drill_core") call.progress(99, 100);
  if (!on("stream-stays-open")) response.end();
  return undefined;
}

function begin(response) {
  const headers = { "Content-Type": on("type-event-json") ? "application/x-ndjson" : "text/event-stream", "Cache-Control": "no-cache" };
  if (!on("buffering")) headers["X-Accel-Buffering"] = "no";
  response.writeHead(200, headers).flushHeaders();
}

// Command line

function main(words) {
  let port = null;
  while (words.length) {
    const word = words.shift();
    if (word === "--list-faults") {
      for (const [name, area, level, transport, says] of FAULTS) console.log(JSON.stringify({ name, area, level, transport, says }));
      process.exit(0);
    } else if (word === "--http") port = Number(words.shift());
    else if (word === "--stdio") port = null;
    else if (word === "--fault" && FAULTS.some(([name]) => name === words[0])) chosen.add(words.shift());
    else {
      console.error(`unknown option or fault: ${word} ${words[0] ?? ""}`);
      process.exit(2);
    }
  }
  process.on("SIGTERM", () => process.exit(0));
  if (port === null) serveStdio();
  else serveHttp(port);
}

main(process.argv.slice(2));
