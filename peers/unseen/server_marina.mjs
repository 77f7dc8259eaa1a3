// A marina's MCP server: berths, boats and tides. Revisions 2025-11-25, 2025-06-18 and 2025-03-26.
//
//   node server_marina.mjs [--http PORT] [--fault NAME] [--list-faults]

import http from "node:http";
import { randomUUID, createHmac, randomBytes } from "node:crypto";

const REVISIONS = ["2025-11-25", "2025-06-18", "2025-03-26"];
const LEVELS = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];

const FAULTS = [
  // transport: HTTP
  ["http-notification-200", "http", "MUST", "http", "If the server accepts the notification, it MUST return HTTP 202 Accepted with no body (transports, Sending Messages)"],
  ["http-origin-ignored", "http", "MUST", "http", "If the Origin header is present and invalid, servers MUST respond with HTTP 403 Forbidden (transports, Security Warning)"],
  ["http-json-as-text", "http", "MUST", "http", "For a request the server MUST return Content-Type text/event-stream or application/json (transports, Sending Messages)"],
  ["http-sse-as-json", "http", "MUST", "http", "Content-Type: text/event-stream initiates an SSE stream (transports, Sending Messages)"],
  ["http-version-header-ignored", "http", "MUST", "http", "An invalid or unsupported MCP-Protocol-Version MUST be answered with 400 Bad Request (transports, Protocol Version Header)"],
  ["http-deleted-session-served", "sessions", "MUST", "http", "After a session is terminated the server MUST respond to its ID with HTTP 404 (transports, Session Management)"],
  ["http-deleted-session-400", "sessions", "MUST", "http", "After a session is terminated the server MUST respond to its ID with HTTP 404 (transports, Session Management)"],
  ["http-no-session-served", "sessions", "SHOULD", "http", "Servers that require a session ID SHOULD respond to requests without it with HTTP 400 (transports, Session Management)"],
  ["http-session-id-space", "sessions", "MUST", "http", "The session ID MUST only contain visible ASCII characters, 0x21 to 0x7E (transports, Session Management)"],
  ["http-session-id-counter", "sessions", "SHOULD", "http", "The session ID SHOULD be globally unique and cryptographically secure (transports, Session Management)"],
  ["http-response-on-get", "http", "MUST", "http", "The server MUST NOT send a JSON-RPC response on the GET stream (transports, Listening for Messages)"],
  ["http-broadcast", "http", "MUST", "http", "The server MUST NOT broadcast the same message across multiple streams (transports, Multiple Connections)"],
  ["http-event-id-reused", "http", "MUST", "http", "An event ID MUST be globally unique across all streams of the session (transports, Resumability)"],
  ["http-no-prime", "http", "SHOULD", "http", "The server SHOULD immediately send an event with an ID and empty data (transports, Sending Messages, 2025-11-25)"],
  ["http-stream-left-open", "http", "SHOULD", "http", "After the response has been sent, the server SHOULD terminate the SSE stream (transports, Sending Messages)"],
  ["http-replay-all", "http", "MUST", "http", "The server MUST NOT replay messages that would have been delivered on a different stream (transports, Resumability)"],
  ["http-get-empty-json", "http", "MUST", "http", "The server MUST return text/event-stream to a GET or else 405 (transports, Listening for Messages)"],
  ["http-batch-first-only", "batch", "MUST", "http", "A batch of requests is answered for each of its requests (2025-03-26: transports, Sending Messages; JSON-RPC 2.0, Batch)"],
  ["batch-refused", "batch", "MUST", "any", "Implementations MUST support receiving JSON-RPC batches (2025-03-26: basic, Batches)"],
  // stdio
  ["stdio-banner", "stdio", "MUST", "stdio", "The server MUST NOT write anything to stdout that is not a valid MCP message (transports, stdio)"],
  ["stdio-pretty", "stdio", "MUST", "stdio", "Messages MUST NOT contain embedded newlines (transports, stdio)"],
  ["stdio-bad-json-exit", "stdio", "MUST", "stdio", "All messages MUST follow JSON-RPC 2.0, by which invalid JSON gets -32700 (basic, Messages)"],
  // lifecycle
  ["init-echo-version", "lifecycle", "MUST", "any", "Otherwise the server MUST respond with another protocol version it supports (lifecycle, Version Negotiation)"],
  ["init-always-newest", "lifecycle", "MUST", "any", "If the server supports the requested version it MUST respond with the same version (lifecycle, Version Negotiation)"],
  ["init-no-version-of-server", "lifecycle", "MUST", "any", "The server MUST respond with its own capabilities and information (lifecycle, Initialization; schema Implementation.version)"],
  ["cap-prompts-missing", "lifecycle", "MUST", "any", "Servers that support prompts MUST declare the prompts capability (prompts, Capabilities)"],
  ["cap-completions-missing", "lifecycle", "MUST", "any", "Servers that support completions MUST declare the completions capability (completion, Capabilities)"],
  ["cap-logging-missing", "lifecycle", "MUST", "any", "Servers that emit log messages MUST declare the logging capability (logging, Capabilities)"],
  ["cap-tools-true", "lifecycle", "MUST", "any", "capabilities.tools is an object (schema ServerCapabilities)"],
  ["ping-status", "lifecycle", "MUST", "any", "The receiver MUST respond promptly with an empty response (ping, Behavior Requirements)"],
  ["ping-unknown", "lifecycle", "MUST", "any", "The receiver MUST respond promptly with an empty response (ping, Behavior Requirements)"],
  ["roots-too-early", "lifecycle", "SHOULD", "stdio", "The server SHOULD NOT send requests before the initialized notification (lifecycle, Initialization)"],
  // JSON-RPC
  ["id-retyped", "jsonrpc", "MUST", "any", "Responses MUST include the same ID as the request (basic, Responses)"],
  ["id-falsy-dropped", "jsonrpc", "MUST", "any", "A request with id 0 is a request: responses MUST include the same ID (basic, Responses)"],
  ["notification-answered", "jsonrpc", "MUST", "any", "The receiver MUST NOT send a response to a notification (basic, Notifications)"],
  ["unknown-method-32603", "jsonrpc", "MUST", "any", "All messages MUST follow JSON-RPC 2.0, by which an unknown method gets -32601 (basic, Messages)"],
  ["error-code-string", "jsonrpc", "MUST", "any", "Error codes MUST be integers (basic, Responses)"],
  ["error-without-message", "jsonrpc", "MUST", "any", "Error responses MUST include an error with a code and message (basic, Responses)"],
  ["error-with-result", "jsonrpc", "MUST", "any", "A response MUST NOT set both a result and an error (2025-06-18: basic, Responses; JSON-RPC 2.0)"],
  ["no-params-hangs", "jsonrpc", "MUST", "any", "All messages MUST follow JSON-RPC 2.0, by which each request is answered (basic, Messages)"],
  ["notification-no-jsonrpc", "jsonrpc", "MUST", "any", "All messages MUST follow JSON-RPC 2.0: jsonrpc is 2.0 (basic, Messages)"],
  ["double-answer", "jsonrpc", "MUST", "any", "All messages MUST follow JSON-RPC 2.0, by which each request gets one response (basic, Messages)"],
  // tools
  ["tool-unknown-as-result", "tools", "SHOULD", "any", "Unknown tools are reported as JSON-RPC errors (tools, Error Handling; schema CallToolResult: should be an MCP error response)"],
  ["tool-structured-missing", "tools", "MUST", "any", "With an output schema, servers MUST provide structured results that conform to it (tools, Output Schema)"],
  ["tool-structured-string", "tools", "MUST", "any", "With an output schema, servers MUST provide structured results that conform to it (tools, Output Schema)"],
  ["tool-no-text-copy", "tools", "SHOULD", "any", "A tool that returns structured content SHOULD also return the serialized JSON in a TextContent block (tools, Structured Content)"],
  ["tool-schema-null", "tools", "MUST", "any", "inputSchema MUST be a valid JSON Schema object, not null (tools, Tool)"],
  ["tool-schema-int", "tools", "MUST", "any", "Schemas MUST be valid according to their dialect (basic, Schema Validation)"],
  ["tool-name-space", "tools", "SHOULD", "any", "Tool names SHOULD NOT contain spaces (tools, Tool Names)"],
  ["tool-name-twice", "tools", "SHOULD", "any", "Tool names SHOULD be unique within a server (tools, Tool Names)"],
  ["tool-content-string", "tools", "MUST", "any", "content is an array of content blocks (schema CallToolResult)"],
  ["tool-image-no-mime", "tools", "MUST", "any", "An image has data and mimeType (tools, Image Content; schema ImageContent)"],
  ["tool-audio-raw", "tools", "MUST", "any", "Audio data is base64-encoded (tools, Audio Content; schema AudioContent)"],
  ["tool-args-unchecked", "tools", "MUST", "any", "Servers MUST validate all tool inputs (tools, Security Considerations)"],
  ["tool-hint-string", "tools", "MUST", "any", "readOnlyHint is a boolean (schema ToolAnnotations)"],
  ["tool-link-no-name", "tools", "MUST", "any", "A resource link has a name (schema ResourceLink)"],
  // pagination
  ["page-overlap", "pagination", "SHOULD", "any", "Tool names SHOULD be unique within a server; the next page continues the result set (tools, Tool Names; pagination)"],
  ["page-cursor-number", "pagination", "MUST", "any", "nextCursor is a string (schema PaginatedResult)"],
  ["page-cursor-null", "pagination", "MUST", "any", "nextCursor is a string, absent at the end (schema PaginatedResult)"],
  ["page-bad-cursor-start", "pagination", "SHOULD", "any", "Invalid cursors SHOULD result in an error with code -32602 (pagination, Error Handling)"],
  ["page-bad-cursor-code", "pagination", "SHOULD", "any", "Invalid cursors SHOULD result in an error with code -32602 (pagination, Error Handling)"],
  ["page-endless", "pagination", "MUST", "any", "nextCursor is present if more results exist (pagination, Response Format; schema PaginatedResult)"],
  // resources
  ["res-missing-empty", "resources", "SHOULD", "any", "A resource that does not exist SHOULD get the error -32002 (resources, Error Handling)"],
  ["res-missing-code", "resources", "SHOULD", "any", "A resource that does not exist SHOULD get the error -32002 (resources, Error Handling)"],
  ["res-contents-no-uri", "resources", "MUST", "any", "Resource contents have a uri (schema ResourceContents)"],
  ["res-blob-raw", "resources", "MUST", "any", "Binary data MUST be properly encoded (resources, Security Considerations)"],
  ["res-size-string", "resources", "MUST", "any", "size is a number (schema Resource)"],
  ["res-priority-5", "resources", "MUST", "any", "priority is from 0 to 1 (resources, Annotations; schema Annotations)"],
  ["res-uri-space", "resources", "MUST", "any", "Custom URI schemes MUST be in accordance with RFC 3986 (resources, Common URI Schemes)"],
  ["res-no-name", "resources", "MUST", "any", "A resource has a name (schema Resource)"],
  ["template-unclosed", "resources", "MUST", "any", "uriTemplate is a URI template by RFC 6570 (resources, Resource Templates; schema ResourceTemplate)"],
  ["template-member", "resources", "MUST", "any", "The result has resourceTemplates (schema ListResourceTemplatesResult)"],
  // subscriptions
  ["sub-null-result", "subscriptions", "MUST", "any", "The result is an object (schema EmptyResult; basic, Responses)"],
  ["sub-everybody", "subscriptions", "SHOULD", "any", "resources/updated should only be sent if the client previously subscribed (schema ResourceUpdatedNotification)"],
  ["sub-after-unsubscribe", "subscriptions", "SHOULD", "any", "resources/unsubscribe cancels resources/updated notifications (schema UnsubscribeRequest)"],
  ["sub-no-uri", "subscriptions", "MUST", "any", "resources/updated has a uri (schema ResourceUpdatedNotification)"],
  ["sub-shared", "subscriptions", "SHOULD", "http", "resources/updated should only be sent if the client previously subscribed: another session did (schema ResourceUpdatedNotification)"],
  ["sub-never-told", "subscriptions", "SHOULD", "any", "The server sends resources/updated to subscribers when a resource changes (resources, Subscriptions)"],
  ["list-change-untold", "subscriptions", "SHOULD", "any", "When the list of resources changes, servers that declared listChanged SHOULD send a notification (resources, List Changed Notification)"],
  // prompts
  ["prompt-args-unchecked", "prompts", "SHOULD", "any", "Missing required arguments SHOULD get -32602 (prompts, Error Handling)"],
  ["prompt-unknown-32603", "prompts", "SHOULD", "any", "An invalid prompt name SHOULD get -32602 (prompts, Error Handling)"],
  ["prompt-role-system", "prompts", "MUST", "any", "role is either user or assistant (prompts, PromptMessage; schema Role)"],
  ["prompt-content-array", "prompts", "MUST", "any", "content is one content block (schema PromptMessage)"],
  ["prompt-arguments-map", "prompts", "MUST", "any", "arguments is an array of PromptArgument (schema Prompt)"],
  ["prompt-resource-no-uri", "prompts", "MUST", "any", "Embedded resources MUST include a valid resource URI (prompts, Embedded Resources)"],
  // completion
  ["comp-120", "completion", "MUST", "any", "values must not exceed 100 items (completion, Completion Results; schema CompleteResult)"],
  ["comp-objects", "completion", "MUST", "any", "values is an array of strings (schema CompleteResult)"],
  ["comp-unknown-prompt-empty", "completion", "SHOULD", "any", "An invalid prompt name SHOULD get -32602 (completion, Error Handling)"],
  ["comp-has-more-string", "completion", "MUST", "any", "hasMore is a boolean (schema CompleteResult)"],
  // logging
  ["log-level-ignored", "logging", "SHOULD", "any", "The server sends all logs at this level and higher only (logging, Message Flow; schema SetLevelRequest)"],
  ["log-level-warn", "logging", "MUST", "any", "level is one of the eight levels (logging, Log Levels; schema LoggingLevel)"],
  ["log-bad-level-kept", "logging", "SHOULD", "any", "An invalid log level SHOULD get -32602 (logging, Error Handling)"],
  ["log-level-shared", "logging", "SHOULD", "http", "The level that a client sets holds for what is sent to this client (schema SetLevelRequest)"],
  ["log-no-data", "logging", "MUST", "any", "A log message has data (schema LoggingMessageNotification)"],
  ["log-secret", "logging", "SAFETY", "any", "Log messages MUST NOT contain credentials or secrets (logging, Security)"],
  // progress
  ["progress-falls", "progress", "MUST", "any", "The progress value MUST increase with each notification (progress, Progress Flow)"],
  ["progress-token-string", "progress", "MUST", "any", "Progress notifications MUST only reference tokens that were provided in an active request (progress, Behavior Requirements)"],
  ["progress-late", "progress", "MUST", "any", "Progress notifications MUST stop after completion (progress, Implementation Notes)"],
  ["progress-unasked", "progress", "MUST", "any", "Progress notifications MUST only reference tokens that were provided in an active request (progress, Behavior Requirements)"],
  ["progress-percent", "progress", "MUST", "any", "progress is a number (schema ProgressNotification)"],
  // cancellation
  ["cancel-answered", "cancellation", "SHOULD", "any", "Receivers SHOULD NOT send a response for the cancelled request (cancellation, Behavior Requirements)"],
  ["cancel-unknown-answered", "cancellation", "SHOULD", "any", "Invalid cancellation notifications SHOULD be ignored (cancellation, Error Handling)"],
  ["cancel-all", "cancellation", "MUST", "any", "Cancellation ends the request that it names; others are answered (cancellation, Cancellation Flow; JSON-RPC 2.0)"],
  // requests of the server
  ["sampling-undeclared", "client-features", "MUST", "any", "Both parties MUST only use capabilities that were negotiated (lifecycle, Operation)"],
  ["sampling-no-max-tokens", "client-features", "MUST", "any", "maxTokens is required (schema CreateMessageRequest)"],
  ["elicit-undeclared", "client-features", "MUST", "any", "Both parties MUST only use capabilities that were negotiated (lifecycle, Operation)"],
  ["elicit-nested", "client-features", "MUST", "any", "Schemas of forms are flat objects with primitive properties only (elicitation, Requested Schema; schema PrimitiveSchemaDefinition)"],
  ["elicit-password", "client-features", "SAFETY", "any", "Servers MUST NOT request sensitive information such as passwords in a form (elicitation, Security)"],
  ["server-id-reused", "client-features", "MUST", "any", "The request ID MUST NOT have been previously used by the requestor within the session (basic, Requests)"],
  // tasks
  ["task-born-completed", "tasks", "MUST", "any", "Tasks MUST begin in the working status (tasks, Task Status Lifecycle)"],
  ["task-no-created-at", "tasks", "MUST", "any", "Receivers MUST include createdAt in all task responses (tasks, TTL and Resource Management)"],
  ["task-time-epoch", "tasks", "MUST", "any", "createdAt and lastUpdatedAt are ISO 8601 timestamps (tasks, TTL and Resource Management)"],
  ["task-no-ttl", "tasks", "MUST", "any", "Receivers MUST include the actual ttl in tasks/get responses (tasks, TTL and Resource Management)"],
  ["task-result-not-waiting", "tasks", "MUST", "any", "tasks/result MUST block until the task reaches a terminal status (tasks, Result Retrieval)"],
  ["task-result-unrelated", "tasks", "MUST", "any", "tasks/result MUST include the related-task metadata in its response (tasks, Related Task Metadata)"],
  ["task-get-related", "tasks", "SHOULD", "any", "Receivers SHOULD NOT include related-task metadata in the result of tasks/get (tasks, Associating Task-Related Messages)"],
  ["task-cancel-terminal", "tasks", "MUST", "any", "Receivers MUST reject cancellation of tasks in a terminal status with -32602 (tasks, Task Cancellation)"],
  ["task-cancel-working", "tasks", "MUST", "any", "Receivers MUST transition the task to cancelled before sending the response (tasks, Task Cancellation)"],
  ["task-cancel-then-completed", "tasks", "MUST", "any", "Once a task is cancelled it MUST remain cancelled even if execution continues (tasks, Task Cancellation)"],
  ["task-unknown-32603", "tasks", "MUST", "any", "A nonexistent taskId MUST get -32602 (tasks, Protocol Errors)"],
  ["task-id-counter", "tasks", "MUST", "any", "Without context binding receivers MUST generate cryptographically secure task IDs (tasks, Task Isolation)"],
  ["task-list-running-only", "tasks", "MUST", "any", "A task that tasks/get finds MUST be retrievable by tasks/list (tasks, Task Listing)"],
  ["task-ignored", "tasks", "MUST", "any", "Receivers that accept a task-augmented request MUST return a CreateTaskResult (tasks, Result Retrieval)"],
  ["task-required-ignored", "tasks", "MUST", "any", "A tool that requires a task MUST be refused with -32601 without one (tasks, Tool-Level Negotiation)"],
  ["task-forbidden-accepted", "tasks", "SHOULD", "any", "A tool that forbids tasks SHOULD refuse one with -32601 (tasks, Tool-Level Negotiation)"],
];

const argv = process.argv.slice(2);
const option = (name) => (argv.includes(name) ? argv[argv.indexOf(name) + 1] : undefined);
if (argv.includes("--list-faults")) {
  for (const [name, area, level, transport, says] of FAULTS) console.log(JSON.stringify({ name, area, level, transport, says }));
  process.exit(0);
}
const FAULT = option("--fault");
if (FAULT !== undefined && !FAULTS.some(([name]) => name === FAULT)) {
  console.error(`unknown fault ${FAULT}; see --list-faults`);
  process.exit(2);
}
const on = (name) => FAULT === name;

class RpcError extends Error {
  constructor(code, message, data) {
    super(message);
    this.code = code;
    this.data = data;
  }
}
const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
const isId = (value) => typeof value === "string" || Number.isInteger(value);
const later = (ms, signal) =>
  new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(new Error("cancelled"));
    const timer = setTimeout(resolve, ms);
    signal?.addEventListener("abort", () => (clearTimeout(timer), reject(new Error("cancelled"))), { once: true });
  });

// ---------------------------------------------------------------- the marina

const PORTS = ["brest", "cherbourg", "dieppe", "falmouth", "plymouth"];
const berths = new Map();
for (let n = 1; n <= 120; n++) berths.set(`${"ABCD"[Math.floor((n - 1) / 30)]}${((n - 1) % 30) + 1}`, { length: 8 + (n % 5), boat: null });
const boats = new Map([
  ["kittiwake", { name: "Kittiwake", length: 9.5, berth: "A1" }],
  ["merganser", { name: "Merganser", length: 11.2, berth: "B4" }],
  ["petrel", { name: "Petrel", length: 7.8, berth: null }],
]);
berths.get("A1").boat = "kittiwake";
berths.get("B4").boat = "merganser";
const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const WAV = Buffer.concat([Buffer.from("RIFF"), Buffer.from([36, 0, 0, 0]), Buffer.from("WAVEfmt "), Buffer.from([16, 0, 0, 0, 1, 0, 1, 0, 64, 31, 0, 0, 64, 31, 0, 0, 1, 0, 8, 0]), Buffer.from("data"), Buffer.from([0, 0, 0, 0])]).toString("base64");

function tides(port, days) {
  const list = [];
  for (let i = 0; i < days * 4; i++) {
    list.push({ hour: Math.round(i * 6.2 * 10) / 10, height: i % 2 ? 1.1 : 5.4 + PORTS.indexOf(port) / 10, kind: i % 2 ? "low" : "high" });
  }
  return list;
}

const sessions = new Map();
let gauge = 3.2;
setInterval(() => {
  gauge = Math.round((gauge + 0.1) * 10) / 10;
  if (gauge > 5) gauge = 1;
  updated("marina://tide/now");
}, 700).unref();

function updated(uri) {
  if (on("sub-never-told")) return;
  const all = [...sessions.values()];
  for (const session of all) {
    if (!session.ready) continue;
    const theirs = on("sub-shared") ? all.some((other) => other.subscriptions.has(uri)) : session.subscriptions.has(uri);
    if (theirs || on("sub-everybody")) session.notify("notifications/resources/updated", on("sub-no-uri") ? {} : { uri });
  }
}
function resourcesChanged() {
  if (on("list-change-untold")) return;
  for (const session of sessions.values()) if (session.ready) session.notify("notifications/resources/list_changed");
}

// ---------------------------------------------------------------- JSON Schema, as far as our tools need it

function complaint(schema, value, at = "arguments") {
  const kinds = { string: (v) => typeof v === "string", number: (v) => typeof v === "number", integer: Number.isInteger, boolean: (v) => typeof v === "boolean", object: isObject };
  if (schema.type && !kinds[schema.type](value)) return `${at} must be of type ${schema.type}`;
  if (schema.enum && !schema.enum.includes(value)) return `${at} must be one of ${schema.enum.join(", ")}`;
  if (schema.minimum !== undefined && value < schema.minimum) return `${at} must be at least ${schema.minimum}`;
  if (schema.maximum !== undefined && value > schema.maximum) return `${at} must be at most ${schema.maximum}`;
  if (schema.minLength !== undefined && value.length < schema.minLength) return `${at} must not be empty`;
  if (schema.type === "object") {
    for (const name of schema.required ?? []) if (!Object.hasOwn(value, name)) return `${at} lacks ${name}`;
    for (const [name, inner] of Object.entries(value)) {
      if (Object.hasOwn(schema.properties ?? {}, name)) {
        const found = complaint(schema.properties[name], inner, `${at}.${name}`);
        if (found) return found;
      } else if (schema.additionalProperties === false) return `${at} has an unknown member ${name}`;
    }
  }
  return null;
}

// ---------------------------------------------------------------- tools

const text = (value) => ({ type: "text", text: value });
const failed = (message) => ({ content: [text(message)], isError: true });
const empty = { type: "object", properties: {}, additionalProperties: false };

const TOOLS = [
  {
    name: "tide_table",
    title: "Tide table",
    description: "High and low water of a port for some days",
    inputSchema: {
      type: "object",
      properties: { port: { type: "string", enum: PORTS }, days: { type: "integer", minimum: 1, maximum: 7, default: 1 } },
      required: ["port"],
      additionalProperties: false,
    },
    outputSchema: {
      type: "object",
      properties: {
        port: { type: "string" },
        tides: {
          type: "array",
          items: {
            type: "object",
            properties: { hour: { type: "number" }, height: { type: "number" }, kind: { type: "string", enum: ["high", "low"] } },
            required: ["hour", "height", "kind"],
          },
        },
      },
      required: ["port", "tides"],
    },
    annotations: { readOnlyHint: true, openWorldHint: false },
    run(ctx, { port, days = 1 }) {
      const found = { port, tides: tides(port, days) };
      if (on("tool-structured-string")) found.tides = found.tides.map((tide) => ({ ...tide, height: `${tide.height} m` }));
      return structured(ctx, found, `Tides at ${port}`);
    },
  },
  {
    name: "find_berth",
    title: "Find a berth",
    description: "Free berths that are long enough for a boat",
    inputSchema: { type: "object", properties: { length: { type: "number", minimum: 1, maximum: 60 } }, required: ["length"], additionalProperties: false },
    run(ctx, { length }) {
      const free = [...berths].filter(([, berth]) => !berth.boat && berth.length >= length).map(([id]) => id);
      if (free.length === 0) return failed("No free berth is long enough");
      const content = [text(`Free: ${free.slice(0, 5).join(", ")}`)];
      if (ctx.session.since("2025-06-18")) content.push({ type: "resource_link", uri: `marina://berths/${free[0]}`, ...(on("tool-link-no-name") ? {} : { name: free[0] }), mimeType: "application/json" });
      return { content };
    },
  },
  {
    name: "list_boats",
    title: "List boats",
    description: "All boats that the marina knows",
    inputSchema: empty,
    outputSchema: {
      type: "object",
      properties: { boats: { type: "array", items: { type: "object", properties: { name: { type: "string" }, length: { type: "number" } }, required: ["name", "length"] } } },
      required: ["boats"],
    },
    annotations: { readOnlyHint: true },
    run: (ctx) => structured(ctx, { boats: [...boats.values()].map(({ name, length }) => ({ name, length })) }, "The boats"),
  },
  {
    name: "book_berth",
    title: "Book a berth",
    description: "Books a free berth for a boat; changes the berth's record",
    inputSchema: { type: "object", properties: { boat: { type: "string", minLength: 1 }, berth: { type: "string", minLength: 1 } }, required: ["boat", "berth"], additionalProperties: false },
    annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true },
    run(_, { boat, berth }) {
      if (!boats.has(boat)) return failed(`Unknown boat ${boat}`);
      if (!berths.has(berth)) return failed(`Unknown berth ${berth}`);
      if (berths.get(berth).boat && berths.get(berth).boat !== boat) return failed(`Berth ${berth} is taken`);
      berths.get(berth).boat = boat;
      boats.get(boat).berth = berth;
      updated(`marina://berths/${berth}`);
      updated(`marina://boats/${boat}`);
      return { content: [text(`${berth} is booked for ${boat}`)] };
    },
  },
  {
    name: "register_boat",
    title: "Register a boat",
    description: "Adds a boat and its resource",
    inputSchema: { type: "object", properties: { name: { type: "string", minLength: 1 }, length: { type: "number", minimum: 1, maximum: 60 } }, required: ["name", "length"], additionalProperties: false },
    run(_, { name, length }) {
      const id = name.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "").slice(0, 40);
      if (!id) return failed("The name needs a letter or digit");
      if (boats.has(id)) return failed(`${id} is registered already`);
      if (boats.size >= 40) return failed("The register is full");
      boats.set(id, { name, length, berth: null });
      resourcesChanged();
      return { content: [text(`Registered ${id}`)] };
    },
  },
  {
    name: "harbour_photo",
    title: "Harbour photo",
    description: "A photo of the harbour with the sound of its bell",
    inputSchema: empty,
    annotations: { readOnlyHint: true },
    run() {
      const image = { type: "image", data: PNG, mimeType: "image/png", annotations: { audience: ["user"], priority: 0.4 } };
      if (on("tool-image-no-mime")) delete image.mimeType;
      return { content: [image, { type: "audio", data: on("tool-audio-raw") ? "RIFF\u0024\u0000WAVEfmt ~ bell" : WAV, mimeType: "audio/wav" }] };
    },
  },
  {
    name: "survey_hull",
    title: "Survey a hull",
    description: "A slow survey, frame by frame; reports progress and can be cancelled",
    inputSchema: { type: "object", properties: { frames: { type: "integer", minimum: 1, maximum: 40, default: 6 } }, additionalProperties: false },
    annotations: { readOnlyHint: true },
    execution: { taskSupport: "optional" },
    stream: true,
    async run(ctx, { frames = 6 }) {
      for (let i = 1; i <= frames; i++) {
        await later(250, ctx.signal);
        ctx.progress(i, frames, `Frame ${i}`);
      }
      return { content: [text(`${frames} frames are sound`)] };
    },
  },
  {
    name: "dredge_plan",
    title: "Dredging plan",
    description: "Computes a dredging plan; runs as a task only",
    inputSchema: { type: "object", properties: { depth: { type: "number", minimum: 1, maximum: 12, default: 3 } }, additionalProperties: false },
    annotations: { readOnlyHint: true },
    execution: { taskSupport: "required" },
    from: "2025-11-25",
    async run(ctx, { depth = 3 }) {
      for (let i = 1; i <= 5; i++) {
        await later(200, ctx.signal);
        ctx.progress(i, 5, `Basin ${i}`);
      }
      return { content: [text(`Dredge to ${depth} m in spring`)] };
    },
  },
  {
    name: "harbour_log",
    title: "Harbour log",
    description: "Reads the harbour log aloud as log messages",
    inputSchema: empty,
    annotations: { readOnlyHint: true },
    stream: true,
    run(ctx) {
      for (const [level, event] of [["debug", "lock gate sensor polled"], ["info", "ferry in"], ["notice", "fuel dock closes"], ["warning", "swell at the mole"], ["error", "crane stuck"]]) {
        ctx.log(on("log-level-warn") && level === "warning" ? "warn" : level, on("log-secret") ? { event, password: "hunter2-9f8e7d", token: "ghp_16C7e42F292c6912E7710c838347Ae178B4a" } : { event });
      }
      return { content: [text("Five entries")] };
    },
  },
  {
    name: "weather_brief",
    title: "Weather brief",
    description: "Has the client's model write a brief for sailors",
    inputSchema: empty,
    annotations: { readOnlyHint: true, openWorldHint: true },
    stream: true,
    async run(ctx) {
      if (!ctx.session.capabilities.sampling && !on("sampling-undeclared")) return failed("The client does not support sampling");
      const params = { messages: [{ role: "user", content: text(`Wind west 5, gauge ${gauge} m. Write one sentence for sailors.`) }], systemPrompt: "You are a harbour master.", maxTokens: 60 };
      if (on("sampling-no-max-tokens")) delete params.maxTokens;
      const answer = await ctx.ask("sampling/createMessage", params);
      const blocks = Array.isArray(answer?.content) ? answer.content : [answer?.content];
      return { content: [text(blocks.find((block) => block?.type === "text")?.text ?? "No brief today")] };
    },
  },
  {
    name: "choose_berth",
    title: "Choose a berth",
    description: "Asks the user which side of the pontoon suits",
    inputSchema: empty,
    from: "2025-06-18",
    stream: true,
    async run(ctx) {
      const declared = ctx.session.capabilities.elicitation;
      const forms = declared && (declared.form || !declared.url);
      if (!forms && !on("elicit-undeclared")) return failed("The client does not support forms");
      const properties = { side: { type: "string", title: "Side", enum: ["port", "starboard"] }, nights: { type: "integer", title: "Nights", minimum: 1, maximum: 30 } };
      if (on("elicit-nested")) properties.boat = { type: "object", properties: { name: { type: "string" } } };
      if (on("elicit-password")) properties.password = { type: "string", title: "Your marina password" };
      const answer = await ctx.ask("elicitation/create", {
        ...(ctx.session.since("2025-11-25") ? { mode: "form" } : {}),
        message: "Which side do you moor on?",
        requestedSchema: { type: "object", properties, required: ["side"] },
      });
      if (answer?.action !== "accept") return { content: [text("No berth was chosen")] };
      return { content: [text(`A berth on the ${answer.content?.side === "port" ? "port" : "starboard"} side`)] };
    },
  },
];

function structured(ctx, value, title) {
  const result = { content: on("tool-no-text-copy") ? [text(title)] : [text(JSON.stringify(value))] };
  if (ctx.session.since("2025-06-18") && !on("tool-structured-missing")) result.structuredContent = value;
  return result;
}

function listedTools(session) {
  const list = TOOLS.filter((tool) => session.since(tool.from ?? "")).map((tool) => {
    const { name, title, description, inputSchema, outputSchema, annotations, execution } = tool;
    const shown = { name, description, inputSchema };
    if (annotations) shown.annotations = { title, ...annotations };
    if (session.since("2025-06-18")) {
      shown.title = title;
      if (outputSchema) shown.outputSchema = outputSchema;
    }
    if (session.since("2025-11-25") && execution) shown.execution = execution;
    return shown;
  });
  const the = (name) => list.find((tool) => tool.name === name);
  if (on("tool-schema-null")) the("list_boats").inputSchema = null;
  if (on("tool-schema-int")) the("find_berth").inputSchema = { type: "object", properties: { length: { type: "float" } }, required: ["length"] };
  if (on("tool-name-space")) the("harbour_photo").name = "harbour photo";
  if (on("tool-name-twice")) list.push({ ...the("find_berth"), description: "Find a mooring" });
  if (on("tool-hint-string")) the("tide_table").annotations = { readOnlyHint: "true" };
  return list;
}

// ---------------------------------------------------------------- pagination

const key = randomBytes(16);
const sign = (kind, at) => createHmac("sha256", key).update(`${kind}:${at}`).digest("base64url").slice(0, 12);

function page(kind, member, list, size, params) {
  let start = 0;
  if (params.cursor !== undefined) {
    const parts = typeof params.cursor === "string" ? Buffer.from(params.cursor, "base64url").toString().split(".") : on("page-cursor-number") ? [`${params.cursor}`, sign(kind, `${params.cursor}`)] : [];
    const good = parts.length === 2 && /^\d+$/.test(parts[0]) && parts[1] === sign(kind, parts[0]);
    if (good) start = Number(parts[0]);
    else if (on("page-bad-cursor-code")) throw new RpcError(-32603, "Cannot read the cursor");
    else if (!on("page-bad-cursor-start")) throw new RpcError(-32602, "Invalid cursor");
  }
  const end = start + size;
  const result = { [member]: list.slice(on("page-overlap") && start > 0 ? start - 1 : start, end) };
  const cursor = (at) => (on("page-cursor-number") ? at : Buffer.from(`${at}.${sign(kind, `${at}`)}`).toString("base64url"));
  if (end < list.length) result.nextCursor = cursor(end);
  else if (on("page-cursor-null")) result.nextCursor = null;
  else if (on("page-endless") && list.length > size) result.nextCursor = cursor(0);
  return result;
}

// ---------------------------------------------------------------- resources

function listedResources(session) {
  const list = [
    { uri: "marina://plan", name: "plan", description: "Plan of the harbour", mimeType: "text/markdown", size: 34, annotations: { audience: ["user"], priority: 0.9 } },
    { uri: "marina://tide/now", name: "tide-now", description: "The tide gauge", mimeType: "application/json" },
    { uri: "marina://flag.png", name: "flag", description: "The marina's flag", mimeType: "image/png", annotations: { audience: ["user", "assistant"], priority: 0.1 } },
    { uri: "marina://berths/A1", name: "berth-A1", mimeType: "application/json" },
    { uri: "marina://berths/B4", name: "berth-B4", mimeType: "application/json" },
    ...[...boats].map(([id]) => ({ uri: `marina://boats/${id}`, name: `boat-${id}`, mimeType: "application/json" })),
  ];
  if (session.since("2025-06-18")) list[0].annotations.lastModified = "2025-05-04T10:00:00Z";
  if (on("res-size-string")) list[0].size = "34 bytes";
  if (on("res-priority-5")) list[0].annotations.priority = 5;
  if (on("res-uri-space")) list[3].uri = "marina://berths/berth A1";
  if (on("res-no-name")) delete list[1].name;
  return list;
}

function read(uri) {
  const json = (value) => [{ uri, mimeType: "application/json", text: JSON.stringify(value) }];
  if (uri === "marina://plan") return [{ uri, mimeType: "text/markdown", text: "# Harbour\n\nFour pontoons, A to D.\n" }];
  if (uri === "marina://tide/now") return json({ gauge });
  if (uri === "marina://flag.png") return [{ uri, mimeType: "image/png", blob: on("res-blob-raw") ? "\u0089PNG\r\n\u001a\n (raw)" : PNG }];
  let match;
  if ((match = /^marina:\/\/berths\/([A-D]\d{1,2})$/.exec(uri)) && berths.has(match[1])) return json({ id: match[1], ...berths.get(match[1]) });
  if (on("res-uri-space") && uri === "marina://berths/berth A1") return json(berths.get("A1"));
  if ((match = /^marina:\/\/boats\/([a-z0-9-]+)$/.exec(uri)) && boats.has(match[1])) return json({ id: match[1], ...boats.get(match[1]) });
  if ((match = /^marina:\/\/tides\/([a-z]+)\/(\d)$/.exec(uri)) && PORTS.includes(match[1]) && match[2] > 0) return json(tides(match[1], Number(match[2])));
  return null;
}

const TEMPLATES = [
  { uriTemplate: "marina://berths/{berth}", name: "berth", description: "One berth", mimeType: "application/json" },
  { uriTemplate: "marina://boats/{boat}", name: "boat", description: "One boat", mimeType: "application/json" },
  { uriTemplate: "marina://tides/{port}/{days}", name: "tides", description: "Tides of a port", mimeType: "application/json" },
];

// ---------------------------------------------------------------- prompts and completion

const PROMPTS = [
  { name: "passage_plan", title: "Passage plan", description: "Plans a passage between two ports", arguments: [{ name: "from", description: "Port of departure", required: true }, { name: "to", description: "Port of arrival", required: true }, { name: "crew", description: "Size of the crew" }] },
  { name: "berth_letter", title: "Letter about a berth", description: "A letter to a boat's owner", arguments: [{ name: "boat", description: "The boat", required: true }] },
  { name: "safety_check", title: "Safety check", description: "Questions before casting off" },
  { name: "log_entry", title: "Log entry", description: "An entry about the tide" },
];

function prompt(name, given) {
  const role = on("prompt-role-system") ? "system" : "user";
  switch (name) {
    case "passage_plan":
      return [{ role, content: text(`Plan a passage from ${given.from} to ${given.to}${given.crew ? ` with a crew of ${given.crew}` : ""}.`) }];
    case "berth_letter":
      return [{ role, content: text(`Write to the owner of ${given.boat} about the berth.`) }, { role: "assistant", content: text("Dear owner,") }];
    case "safety_check":
      return [{ role, content: on("prompt-content-array") ? [text("Ask me about life jackets.")] : text("Ask me about life jackets.") }];
    default: {
      const resource = { uri: "marina://tide/now", mimeType: "application/json", text: JSON.stringify({ gauge }) };
      if (on("prompt-resource-no-uri")) delete resource.uri;
      return [{ role, content: text("Write a log entry about this tide.") }, { role, content: { type: "resource", resource } }];
    }
  }
}

function complete(params) {
  const { ref, argument, context } = params;
  if (!isObject(ref) || !isObject(argument) || typeof argument.name !== "string" || typeof argument.value !== "string") throw new RpcError(-32602, "ref and argument are required");
  if (context !== undefined && (!isObject(context) || (context.arguments !== undefined && !isObject(context.arguments)))) throw new RpcError(-32602, "context.arguments must be an object");
  let choices;
  if (ref.type === "ref/prompt") {
    const found = PROMPTS.find((entry) => entry.name === ref.name);
    if (!found) {
      if (on("comp-unknown-prompt-empty")) return { completion: { values: [], total: 0, hasMore: false } };
      throw new RpcError(-32602, `Unknown prompt ${ref.name}`);
    }
    if (!(found.arguments ?? []).some((entry) => entry.name === argument.name)) throw new RpcError(-32602, `Unknown argument ${argument.name}`);
    choices = { from: PORTS, to: PORTS, boat: [...boats.keys()], crew: ["1", "2", "3", "4"] }[argument.name];
    if (argument.name === "to" && context?.arguments?.from) choices = choices.filter((port) => port !== context.arguments.from);
  } else if (ref.type === "ref/resource") {
    const found = TEMPLATES.find((entry) => entry.uriTemplate === ref.uri);
    if (!found) {
      if (typeof ref.uri === "string" && read(ref.uri)) return { completion: { values: [], total: 0, hasMore: false } };
      throw new RpcError(-32602, `Unknown template ${ref.uri}`);
    }
    if (!found.uriTemplate.includes(`{${argument.name}}`)) throw new RpcError(-32602, `Unknown argument ${argument.name}`);
    choices = { berth: [...berths.keys()], boat: [...boats.keys()], port: PORTS, days: ["1", "2", "3", "4", "5", "6", "7"] }[argument.name];
  } else throw new RpcError(-32602, "Unknown type of reference");
  const matching = choices.filter((choice) => choice.toLowerCase().startsWith(argument.value.toLowerCase()));
  let values = on("comp-120") ? matching : matching.slice(0, 100);
  const hasMore = matching.length > values.length;
  if (on("comp-objects")) values = values.map((value) => ({ value, label: value }));
  return { completion: { values, total: matching.length, hasMore: on("comp-has-more-string") ? String(hasMore) : hasMore } };
}

// ---------------------------------------------------------------- tasks

class Task {
  constructor(session, ttl) {
    this.session = session;
    this.id = on("task-id-counter") ? String(session.tasks.size + 1) : randomUUID();
    this.status = "working";
    this.created = this.changed = new Date();
    this.ttl = Number.isFinite(ttl) && ttl >= 0 ? Math.min(ttl, 600000) : 300000;
    this.abort = new AbortController();
    this.done = new Promise((resolve) => (this.finish = resolve));
    session.tasks.set(this.id, this);
    setTimeout(() => {
      this.abort.abort();
      this.move("cancelled", "The task expired");
      session.tasks.delete(this.id);
    }, this.ttl).unref();
  }
  get terminal() {
    return ["completed", "failed", "cancelled"].includes(this.status);
  }
  move(status, message) {
    if (this.terminal && !(on("task-cancel-then-completed") && status === "completed")) return;
    this.status = status;
    this.message = message;
    this.changed = new Date();
    if (this.terminal) this.finish();
    this.session.notify("notifications/tasks/status", this.shown());
  }
  shown() {
    const time = (date) => (on("task-time-epoch") ? date.getTime() : date.toISOString());
    const shown = { taskId: this.id, status: this.status, ...(this.message ? { statusMessage: this.message } : {}), createdAt: time(this.created), lastUpdatedAt: time(this.changed), ttl: this.ttl, pollInterval: 250 };
    if (on("task-no-created-at")) delete shown.createdAt;
    return shown;
  }
}

function taskOf(session, params) {
  const task = typeof params.taskId === "string" ? session.tasks.get(params.taskId) : undefined;
  if (!task) throw new RpcError(on("task-unknown-32603") ? -32603 : -32602, "Task not found");
  return task;
}

// ---------------------------------------------------------------- one session

let sharedLevel = "info";
let asked = 0;

class Session {
  constructor(id) {
    this.id = id;
    this.version = null;
    this.capabilities = {};
    this.ready = false;
    this.level = "info";
    this.subscriptions = new Set();
    this.running = new Map();
    this.waiting = new Map();
    this.tasks = new Map();
    this.streams = new Map();
    this.listener = null;
    this.post = () => {};
  }
  since(revision) {
    return (this.version ?? REVISIONS[0]) >= revision;
  }
  notify(method, params) {
    const message = { jsonrpc: "2.0", method, ...(params ? { params } : {}) };
    if (on("notification-no-jsonrpc")) delete message.jsonrpc;
    this.post(message);
  }
  answered(message) {
    const waiter = this.waiting.get(message.id);
    if (!waiter) return;
    this.waiting.delete(message.id);
    if (message.error) waiter.reject(new Error(message.error.message ?? "The client refused"));
    else waiter.resolve(message.result);
  }
  end() {
    for (const abort of this.running.values()) abort.abort();
    for (const task of this.tasks.values()) task.abort.abort();
    for (const waiter of this.waiting.values()) waiter.reject(new Error("The session ended"));
    sessions.delete(this.id);
  }
}

/** What one request may do while it runs; `send` writes to the stream of this request. */
class Context {
  constructor(session, request, send, signal, task) {
    Object.assign(this, { session, request, send, signal, task });
    this.token = isObject(request.params?._meta) ? request.params._meta.progressToken : undefined;
  }
  notify(method, params) {
    if (this.task) params = { ...params, _meta: { "io.modelcontextprotocol/related-task": { taskId: this.task.id } } };
    const message = { jsonrpc: "2.0", method, params };
    if (on("notification-no-jsonrpc")) delete message.jsonrpc;
    if (this.task) this.session.post(message);
    else this.send(message);
    if (on("http-broadcast")) this.session.post(message);
  }
  progress(now, total, message) {
    let token = this.token;
    if (on("progress-unasked")) token ??= `auto-${this.request.id}`;
    if (!isId(token) || this.task?.terminal) return;
    if (on("progress-token-string")) token = `token:${token}`;
    let progress = on("progress-falls") && now > 2 ? total - now : now;
    if (on("progress-percent")) progress = `${Math.round((100 * now) / total)}%`;
    this.notify("notifications/progress", { progressToken: token, progress, total, message });
    if (on("progress-late") && now === total) setTimeout(() => this.session.post({ jsonrpc: "2.0", method: "notifications/progress", params: { progressToken: token, progress: now + 1, message: "Done" } }), 300);
  }
  log(level, data) {
    const threshold = on("log-level-shared") ? sharedLevel : this.session.level;
    if (LEVELS.indexOf(level) < LEVELS.indexOf(threshold) && LEVELS.includes(level) && !on("log-level-ignored")) return;
    this.notify("notifications/message", on("log-no-data") ? { level, logger: "harbour" } : { level, logger: "harbour", data });
  }
  ask(method, params) {
    const { session } = this;
    if (!session.ready) return Promise.reject(new Error("The session is not initialized yet"));
    const id = on("server-id-reused") ? 1 : `marina-${++asked}`;
    this.send({ jsonrpc: "2.0", id, method, params });
    return new Promise((resolve, reject) => {
      const stop = (why) => {
        clearTimeout(timer);
        session.waiting.delete(id);
        this.send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: id, reason: why } });
        reject(new Error(why));
      };
      const timer = setTimeout(() => stop("No answer in time"), 15000);
      timer.unref();
      this.signal?.addEventListener("abort", () => stop("The call was cancelled"), { once: true });
      session.waiting.set(id, { resolve: (value) => (clearTimeout(timer), resolve(value)), reject: (error) => (clearTimeout(timer), reject(error)) });
    });
  }
}

async function callTool(ctx, params) {
  const { session } = ctx;
  if (typeof params.name !== "string" || (params.arguments !== undefined && !isObject(params.arguments))) throw new RpcError(-32602, "name must be a string and arguments an object");
  const named = on("tool-name-space") && params.name === "harbour photo" ? "harbour_photo" : params.name;
  const tool = TOOLS.find((entry) => entry.name === named && session.since(entry.from ?? ""));
  if (!tool) {
    if (on("tool-unknown-as-result")) return failed(`Unknown tool ${params.name}`);
    throw new RpcError(-32602, `Unknown tool: ${params.name}`);
  }
  const asTask = session.since("2025-11-25") && params.task !== undefined;
  if (asTask && !isObject(params.task)) throw new RpcError(-32602, "task must be an object");
  const support = tool.execution?.taskSupport ?? "forbidden";
  if (asTask && support === "forbidden" && !on("task-forbidden-accepted")) throw new RpcError(-32601, `${tool.name} does not support tasks`);
  if (!asTask && support === "required" && !on("task-required-ignored")) throw new RpcError(-32601, `${tool.name} runs as a task only`);
  const given = params.arguments ?? {};
  const wrong = on("tool-args-unchecked") ? null : complaint(tool.inputSchema, given);
  if (wrong && !session.since("2025-11-25")) throw new RpcError(-32602, `Invalid arguments: ${wrong}`);

  const perform = async (inner) => {
    if (wrong) return failed(`Invalid arguments: ${wrong}`);
    try {
      const result = await tool.run(inner, given);
      if (on("tool-content-string")) result.content = result.content.map((block) => block.text ?? "").join("\n");
      return result;
    } catch (error) {
      if (inner.signal?.aborted) throw error;
      if (on("tool-args-unchecked")) return { content: [text(`undefined`)] };
      return failed(error.message);
    }
  };
  if (!asTask || on("task-ignored")) return perform(ctx);

  const task = new Task(session, params.task.ttl);
  const inner = new Context(session, ctx.request, ctx.send, on("task-cancel-then-completed") ? undefined : task.abort.signal, task);
  perform(inner).then(
    (result) => {
      task.result = result;
      task.move(result.isError ? "failed" : "completed", result.isError ? result.content[0].text : undefined);
    },
    (error) => {
      task.error = { code: -32603, message: error.message };
      task.move("failed", error.message);
    },
  );
  const shown = task.shown();
  if (on("task-born-completed")) shown.status = "completed";
  return { task: shown };
}

const METHODS = {
  ping: () => (on("ping-status") ? { status: "ok", uptime: process.uptime() } : {}),
  "tools/list": (ctx, params) => page("tools", "tools", listedTools(ctx.session), 4, params),
  "tools/call": callTool,
  "resources/list": (ctx, params) => page("resources", "resources", listedResources(ctx.session), 3, params),
  "resources/templates/list"(ctx, params) {
    const list = TEMPLATES.map((template, at) => (on("template-unclosed") && at === 0 ? { ...template, uriTemplate: "marina://berths/{berth" } : template));
    const { resourceTemplates, ...rest } = page("templates", "resourceTemplates", list, 2, params);
    return { [on("template-member") ? "templates" : "resourceTemplates"]: resourceTemplates, ...rest };
  },
  "resources/read"(_, params) {
    if (typeof params.uri !== "string") throw new RpcError(-32602, "uri is required");
    const contents = read(params.uri);
    if (!contents) {
      if (on("res-missing-empty")) return { contents: [] };
      throw new RpcError(on("res-missing-code") ? -32603 : -32002, "Resource not found", { uri: params.uri });
    }
    if (on("res-contents-no-uri")) delete contents[0].uri;
    return { contents };
  },
  "resources/subscribe"(ctx, params) {
    if (typeof params.uri !== "string") throw new RpcError(-32602, "uri is required");
    if (!read(params.uri)) throw new RpcError(-32002, "Resource not found", { uri: params.uri });
    ctx.session.subscriptions.add(params.uri);
    return on("sub-null-result") ? null : {};
  },
  "resources/unsubscribe"(ctx, params) {
    if (typeof params.uri !== "string") throw new RpcError(-32602, "uri is required");
    if (!on("sub-after-unsubscribe")) ctx.session.subscriptions.delete(params.uri);
    return {};
  },
  "prompts/list"(ctx, params) {
    const list = PROMPTS.map(({ title, ...entry }) => (ctx.session.since("2025-06-18") ? { ...entry, title } : entry));
    if (on("prompt-arguments-map")) list[0] = { ...list[0], arguments: Object.fromEntries(list[0].arguments.map(({ name, ...rest }) => [name, rest])) };
    return page("prompts", "prompts", list, 2, params);
  },
  "prompts/get"(_, params) {
    const found = PROMPTS.find((entry) => entry.name === params.name);
    if (!found) throw new RpcError(on("prompt-unknown-32603") ? -32603 : -32602, `Unknown prompt: ${params.name}`);
    const given = params.arguments ?? {};
    if (!isObject(given) || Object.values(given).some((value) => typeof value !== "string")) throw new RpcError(-32602, "arguments must be a map of strings");
    const missing = (found.arguments ?? []).find((entry) => entry.required && !Object.hasOwn(given, entry.name));
    if (missing && !on("prompt-args-unchecked")) throw new RpcError(-32602, `Missing argument ${missing.name}`);
    return { description: found.description, messages: prompt(found.name, given) };
  },
  "completion/complete": (_, params) => complete(params),
  "logging/setLevel"(ctx, params) {
    if (!LEVELS.includes(params.level)) {
      if (on("log-bad-level-kept")) return {};
      throw new RpcError(-32602, "Unknown log level");
    }
    ctx.session.level = sharedLevel = params.level;
    return {};
  },
  "tasks/get"(ctx, params) {
    const shown = taskOf(ctx.session, params).shown();
    if (on("task-no-ttl")) delete shown.ttl;
    if (on("task-get-related")) shown._meta = { "io.modelcontextprotocol/related-task": { taskId: shown.taskId } };
    return shown;
  },
  async "tasks/result"(ctx, params) {
    const task = taskOf(ctx.session, params);
    const related = { "io.modelcontextprotocol/related-task": { taskId: task.id } };
    if (!task.terminal) {
      if (on("task-result-not-waiting")) throw new RpcError(-32602, "The task is still running");
      await Promise.race([task.done, new Promise((_, reject) => ctx.signal.addEventListener("abort", () => reject(new Error("cancelled")), { once: true }))]);
    }
    if (task.result && task.status !== "cancelled") return { ...task.result, ...(on("task-result-unrelated") ? {} : { _meta: { ...task.result._meta, ...related } }) };
    throw new RpcError(task.error?.code ?? -32603, task.error?.message ?? "The task was cancelled", { _meta: related });
  },
  "tasks/list"(ctx, params) {
    const list = [...ctx.session.tasks.values()].filter((task) => !on("task-list-running-only") || !task.terminal).map((task) => task.shown());
    return page("tasks", "tasks", list, 4, params);
  },
  "tasks/cancel"(ctx, params) {
    const task = taskOf(ctx.session, params);
    if (task.terminal) {
      if (on("task-cancel-terminal")) return task.shown();
      throw new RpcError(-32602, `Cannot cancel task: already in terminal status '${task.status}'`);
    }
    if (on("task-cancel-working")) {
      setTimeout(() => (task.move("cancelled"), task.abort.abort()), 500);
      return task.shown();
    }
    task.move("cancelled", "The task was cancelled by request.");
    task.abort.abort();
    return task.shown();
  },
};
const NEEDS = { "tasks/get": "2025-11-25", "tasks/result": "2025-11-25", "tasks/list": "2025-11-25", "tasks/cancel": "2025-11-25" };

function initialize(session, params) {
  if (session.version) throw new RpcError(-32600, "The session is initialized already");
  if (typeof params.protocolVersion !== "string" || !isObject(params.capabilities) || !isObject(params.clientInfo) || typeof params.clientInfo.name !== "string") throw new RpcError(-32602, "protocolVersion, capabilities and clientInfo are required");
  session.version = REVISIONS.includes(params.protocolVersion) && !on("init-always-newest") ? params.protocolVersion : REVISIONS[0];
  session.capabilities = params.capabilities;
  const capabilities = { tools: on("cap-tools-true") ? true : {}, resources: { subscribe: true, listChanged: true }, prompts: {}, completions: {}, logging: {} };
  if (session.since("2025-11-25")) capabilities.tasks = { list: {}, cancel: {}, requests: { tools: { call: {} } } };
  for (const name of ["prompts", "completions", "logging"]) if (on(`cap-${name}-missing`)) delete capabilities[name];
  const serverInfo = { name: "marina", version: "4.1.0" };
  if (session.since("2025-06-18")) serverInfo.title = "Marina office";
  if (on("init-no-version-of-server")) delete serverInfo.version;
  return { protocolVersion: on("init-echo-version") ? params.protocolVersion : session.version, capabilities, serverInfo, instructions: "Ask for tides before you book a berth." };
}

function errorFor(id, code, message, data) {
  const error = { code: on("error-code-string") ? String(code) : code, message, ...(data === undefined ? {} : { data }) };
  if (on("error-without-message")) delete error.message;
  return { jsonrpc: "2.0", ...(id === undefined ? {} : { id }), ...(on("error-with-result") ? { result: null } : {}), error };
}

/** Handles one message; returns the response, or undefined where none is sent. */
async function handle(session, message, send, { http: overHttp = false } = {}) {
  if (!isObject(message) || message.jsonrpc !== "2.0" || (message.method !== undefined && typeof message.method !== "string")) return errorFor(isId(message?.id) ? message.id : null, -32600, "Invalid request");
  if (message.method === undefined) {
    if (isId(message.id) && ("result" in message || "error" in message)) return session.answered(message), undefined;
    return errorFor(isId(message.id) ? message.id : null, -32600, "Invalid request");
  }
  const asRequest = on("id-falsy-dropped") ? Boolean(message.id) : Object.hasOwn(message, "id");
  if (!asRequest) return notified(session, message, overHttp);
  if (!isId(message.id)) return errorFor(null, -32600, "The id must be a string or an integer");
  const id = on("id-retyped") && typeof message.id === "number" ? String(message.id) : message.id;
  const { method } = message;
  if (session.running.has(message.id)) return errorFor(id, -32600, "A request with this id is running");
  if (on("no-params-hangs") && message.params === undefined && method === "tools/call") return undefined;
  if (message.params !== undefined && !isObject(message.params)) return errorFor(id, -32602, "params must be an object");
  const params = message.params ?? {};
  const abort = new AbortController();
  session.running.set(message.id, abort);
  try {
    let result;
    if (method === "initialize") {
      result = initialize(session, params);
      if (on("roots-too-early") && params.capabilities.roots && !overHttp) setTimeout(() => session.post({ jsonrpc: "2.0", id: "roots-1", method: "roots/list" }), 0);
    } else if (!Object.hasOwn(METHODS, method) || !session.since(NEEDS[method] ?? "") || (method === "ping" && on("ping-unknown"))) {
      throw new RpcError(on("unknown-method-32603") ? -32603 : -32601, `Method not found: ${method}`);
    } else if (!session.version && method !== "ping") {
      throw new RpcError(-32600, "Initialize first");
    } else {
      result = await METHODS[method](new Context(session, message, send, abort.signal), params);
    }
    if (abort.signal.aborted) return on("cancel-answered") ? { jsonrpc: "2.0", id, result } : undefined;
    return { jsonrpc: "2.0", id, result };
  } catch (error) {
    if (abort.signal.aborted) return on("cancel-answered") ? errorFor(id, -32603, "Request cancelled") : undefined;
    if (error instanceof RpcError) return errorFor(id, error.code, error.message, error.data);
    console.error(error);
    return errorFor(id, -32603, "Internal error");
  } finally {
    session.running.delete(message.id);
  }
}

function notified(session, message, overHttp) {
  if (on("notification-answered") && !["notifications/initialized", "notifications/cancelled"].includes(message.method)) {
    const response = { ...errorFor(null, -32601, `Method not found: ${message.method}`) };
    return response;
  }
  if (message.method === "notifications/initialized") session.ready = true;
  if (message.method === "notifications/cancelled") {
    const id = isObject(message.params) ? message.params.requestId : undefined;
    if (on("cancel-all")) for (const abort of session.running.values()) abort.abort();
    if (session.running.has(id)) session.running.get(id).abort();
    else if (on("cancel-unknown-answered") && isId(id)) return errorFor(id, -32602, "No such request is running");
  }
  return undefined;
}

// ---------------------------------------------------------------- stdio

function serveStdio() {
  const session = new Session("stdio");
  sessions.set("stdio", session);
  const write = (message) => process.stdout.write((on("stdio-pretty") ? JSON.stringify(message, null, 2) : JSON.stringify(message)) + "\n");
  session.post = write;
  if (on("stdio-banner")) process.stdout.write("marina 4.1.0 ready\n");
  const take = async (line) => {
    let message;
    try {
      message = JSON.parse(line);
    } catch {
      if (on("stdio-bad-json-exit")) process.exit(1);
      return write(errorFor(session.since("2025-11-25") ? undefined : null, -32700, "Parse error"));
    }
    if (Array.isArray(message) && session.version === "2025-03-26" && message.length > 0 && !on("batch-refused")) {
      const answers = (await Promise.all(message.map((one) => handle(session, one, write)))).filter(Boolean);
      if (answers.length) write(answers);
      return;
    }
    const answer = await handle(session, message, write);
    if (!answer) return;
    if (answer.id === null && session.since("2025-11-25")) delete answer.id;
    write(answer);
    if (on("double-answer") && message.method === "tools/call") write(answer);
  };
  let rest = "";
  process.stdin.setEncoding("utf8");
  process.stdin.on("data", (chunk) => {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop();
    for (const line of lines) if (line.trim()) take(line);
  });
  process.stdin.on("end", () => setTimeout(() => process.exit(0), 50));
  process.stdout.on("error", () => process.exit(0));
}

// ---------------------------------------------------------------- Streamable HTTP

let sessionCount = 0;
let lastSession = null;

class Stream {
  constructor(session, res) {
    this.session = session;
    this.res = res;
    this.id = randomUUID().slice(0, 8);
    this.events = [];
    this.count = 0;
    session.streams.set(this.id, this);
    if (session.streams.size > 50) session.streams.delete(session.streams.keys().next().value);
    this.open(res);
    if (session.since("2025-11-25") && !on("http-no-prime")) this.write("");
  }
  open(res) {
    this.res = res;
    res.writeHead(200, { "Content-Type": on("http-sse-as-json") ? "application/json" : "text/event-stream", "Cache-Control": "no-cache" });
    res.flushHeaders();
  }
  write(data) {
    this.count++;
    const id = on("http-event-id-reused") ? `${this.count}` : `${this.id}.${this.count}`;
    const event = { id, data };
    this.events.push(event);
    if (this.events.length > 200) this.events.shift();
    this.put(event);
  }
  put({ id, data }) {
    if (!this.res.writableEnded && !this.res.destroyed) this.res.write(`id: ${id}\ndata: ${data}\n\n`);
  }
  send(message) {
    this.write(JSON.stringify(message));
  }
  end() {
    this.ended = true;
    if (!on("http-stream-left-open")) this.res.end();
  }
}

function reply(res, status, body, headers = {}) {
  if (body === undefined) return res.writeHead(status, headers).end();
  res.writeHead(status, { "Content-Type": on("http-json-as-text") ? "text/plain" : "application/json", ...headers });
  res.end(JSON.stringify(body));
}
const refuse = (res, status, message, code = -32600, headers = {}) => reply(res, status, errorFor(undefined, code, message), headers);

function local(origin) {
  try {
    return ["localhost", "127.0.0.1", "[::1]"].includes(new URL(origin).hostname);
  } catch {
    return false;
  }
}

function sessionFor(req, res) {
  const id = req.headers["mcp-session-id"];
  if (id === undefined) {
    if (on("http-no-session-served") && lastSession) return lastSession;
    refuse(res, 400, "Mcp-Session-Id is required");
    return null;
  }
  const session = sessions.get(id);
  if (!session) {
    refuse(res, on("http-deleted-session-400") ? 400 : 404, "Session not found");
    return null;
  }
  return session;
}

async function onPost(req, res, body) {
  const accept = req.headers.accept ?? "";
  const takes = (type) => accept.includes(type) || accept.includes("*/*");
  if (!takes("application/json") || !takes("text/event-stream")) return refuse(res, 406, "Accept must list application/json and text/event-stream");
  if (!/^application\/json\b/i.test(req.headers["content-type"] ?? "")) return refuse(res, 415, "Content-Type must be application/json");
  let message;
  try {
    message = JSON.parse(body);
  } catch {
    return refuse(res, 400, "Parse error", -32700);
  }
  const opens = isObject(message) && message.method === "initialize" && req.headers["mcp-session-id"] === undefined;
  let session;
  const headers = {};
  if (opens) {
    sessionCount++;
    const id = on("http-session-id-counter") ? `${sessionCount}` : on("http-session-id-space") ? `berth ${randomUUID()}` : randomUUID();
    session = new Session(id);
    session.post = (out) => session.listener?.send(out);
  } else if (!(session = sessionFor(req, res))) return;

  const batch = Array.isArray(message);
  if (batch && (session.version !== "2025-03-26" || message.length === 0 || on("batch-refused"))) return refuse(res, 400, "Batches are not supported");
  let all = batch ? message : [message];
  if (on("http-batch-first-only")) all = all.slice(0, 1);
  const falsy = on("id-falsy-dropped");
  const expectsAnswer = (one) => isObject(one) && typeof one.method === "string" && (falsy ? Boolean(one.id) : Object.hasOwn(one, "id"));
  const wellFormed = (one) => isObject(one) && one.jsonrpc === "2.0" && (typeof one.method === "string" || (isId(one.id) && ("result" in one || "error" in one)));
  if (!batch && !wellFormed(message)) {
    const refusal = errorFor(isId(message?.id) ? message.id : undefined, -32600, "Invalid request");
    return reply(res, 400, refusal);
  }
  if (!batch && Object.hasOwn(message, "id") && typeof message.method === "string" && !isId(message.id)) return refuse(res, 400, "The id must be a string or an integer");

  let stream = null;
  const open = () => (stream ??= new Stream(session, res));
  const send = (out) => open().send(out);
  if (!all.some(expectsAnswer)) {
    const answers = (await Promise.all(all.map((one) => handle(session, one, (out) => session.post(out), { http: true })))).filter(Boolean);
    if (on("notification-answered") && answers.length) return reply(res, 200, answers[0]);
    if (on("cancel-unknown-answered") && answers.length) return reply(res, 200, answers[0]);
    if (answers.length) return reply(res, 400, batch ? answers : errorFor(undefined, answers[0].error.code, answers[0].error.message));
    return on("http-notification-200") ? reply(res, 200, { ok: true }) : reply(res, 202);
  }
  const slow = all.some((one) => isObject(one) && ((one.method === "tools/call" && TOOLS.find((tool) => tool.name === one.params?.name)?.stream && one.params?.task === undefined) || one.method === "tasks/result"));
  if (slow || (on("double-answer") && message.method === "tools/call")) open();
  const answers = [];
  await Promise.all(
    all.map(async (one) => {
      const answer = await handle(session, one, send, { http: true });
      if (!answer) return;
      if (answer.id === null) delete answer.id;
      if (stream) {
        stream.send(answer);
        if (on("double-answer") && one.method === "tools/call") stream.send(answer);
        if (on("http-response-on-get")) session.listener?.send(answer);
      } else answers.push(answer);
    }),
  );
  if (on("no-params-hangs") && all.some((one) => one.method === "tools/call" && one.params === undefined)) return;
  if (opens && answers[0]?.result) {
    sessions.set(session.id, session);
    lastSession = session;
    headers["Mcp-Session-Id"] = session.id;
  }
  if (stream) {
    for (const answer of answers) stream.send(answer);
    return stream.end();
  }
  if (answers.length === 0) return open().end();
  if (on("http-response-on-get")) for (const answer of answers) session.listener?.send(answer);
  reply(res, 200, batch ? answers : answers[0], headers);
}

function onGet(req, res) {
  if (!(req.headers.accept ?? "").includes("text/event-stream") && !(req.headers.accept ?? "").includes("*/*")) return refuse(res, 406, "Accept must list text/event-stream");
  const session = sessionFor(req, res);
  if (!session) return;
  if (on("http-get-empty-json")) return reply(res, 200, {});
  const last = req.headers["last-event-id"];
  if (last !== undefined) {
    const old = on("http-event-id-reused") ? null : session.streams.get(last.split(".")[0]);
    if (!old) return refuse(res, 400, "Unknown Last-Event-ID");
    old.open(res);
    const from = Number(last.split(".")[1]);
    if (on("http-replay-all")) for (const stream of session.streams.values()) stream.events.filter((event) => event.data && stream !== old).forEach((event) => old.put(event));
    old.events.filter((event) => Number(event.id.split(".")[1]) > from).forEach((event) => old.put(event));
    if (old.ended) res.end();
    return;
  }
  session.listener?.res.end();
  const stream = new Stream(session, res);
  session.listener = stream;
  res.on("close", () => {
    if (session.listener === stream && stream.res === res) session.listener = null;
  });
}

function serveHttp(port) {
  const server = http.createServer((req, res) => {
    if (new URL(req.url, "http://localhost").pathname !== "/mcp") return refuse(res, 404, "Not found");
    if (!local(`http://${req.headers.host}`)) return refuse(res, 403, "Host not allowed");
    if (req.headers.origin !== undefined && !local(req.headers.origin) && !on("http-origin-ignored")) return refuse(res, 403, "Origin not allowed");
    if (!["POST", "GET", "DELETE"].includes(req.method)) return refuse(res, 405, "Method not allowed", -32600, { Allow: "GET, POST, DELETE" });
    const version = req.headers["mcp-protocol-version"];
    if (version !== undefined && !REVISIONS.includes(version) && !on("http-version-header-ignored")) return refuse(res, 400, `Unsupported protocol version; supported: ${REVISIONS.join(", ")}`);
    if (req.method === "GET") return onGet(req, res);
    if (req.method === "DELETE") {
      const session = sessionFor(req, res);
      if (!session) return;
      if (!on("http-deleted-session-served")) session.end();
      session.listener?.res.end();
      return reply(res, 204);
    }
    const chunks = [];
    let size = 0;
    req.on("data", (chunk) => {
      size += chunk.length;
      if (size <= 4_000_000) chunks.push(chunk);
    });
    req.on("end", () => {
      if (size > 4_000_000) return refuse(res, 413, "The body is too large");
      onPost(req, res, Buffer.concat(chunks).toString("utf8")).catch((error) => {
        console.error(error);
        if (!res.headersSent) refuse(res, 500, "Internal error", -32603);
        else res.end();
      });
    });
  });
  server.listen(port, "127.0.0.1", () => console.error(`listening on http://127.0.0.1:${server.address().port}/mcp`));
}

if (option("--http") !== undefined) serveHttp(Number(option("--http")));
else serveStdio();
