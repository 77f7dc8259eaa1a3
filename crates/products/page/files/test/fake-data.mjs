// What the fake server says: an ordinary server, or one that puts a hostile string into every field.

import { COLUMN } from "../rows.js";
import { message } from "./fake.mjs";

/** Fifty strings that have broken pages: markup, scripts, styles, addresses, control characters, bidi, sizes. */
export const HOSTILE = [
  "<script>window.hit=1</script>", "<img src=x onerror=window.hit=1>", "\"><svg onload=window.hit=1>", "'-window.hit=1-'", "javascript:window.hit=1",
  "</textarea><script>window.hit=1</script>", "</title><script>window.hit=1</script>", "<iframe srcdoc='<script>parent.hit=1</script>'>", "<a href=javascript:window.hit=1>x</a>", "{{constructor.constructor('window.hit=1')()}}",
  "${window.hit=1}", "`-window.hit=1-`", "<style>*{display:none}</style>", "<link rel=stylesheet href=//evil.example/x.css>", "<meta http-equiv=refresh content='0;url=//evil.example'>",
  "<base href=//evil.example/>", "<form action=//evil.example><button>x", "<object data=//evil.example>", "<embed src=//evil.example>", "<math><mi xlink:href=javascript:window.hit=1>x",
  "data:text/html,<script>window.hit=1</script>", "//evil.example/pixel.png", "http://evil.example/", "url(//evil.example)", "expression(window.hit=1)",
  "\u202egnp.exe\u202c", "\u2066a\u2067b\u2069", "a\u200bb\u200cc\ufeffd", "\u0000\u0001\u0007\u001b[31mred", "\u001b]8;;http://evil.example\u0007x",
  "\ud800", "\udfff\ud83d", "é̷̛̖̗̘̙͖́̂̃".repeat(8), "Z͑ͫ̓ͪ̂ͫ̽͏̴̙̤̞͉͚̯̞̠͍A̴̵̜̰͔ͫ͗͢", "👩‍👩‍👧‍👦".repeat(20), "ﷺ".repeat(30), "🏳️‍🌈\u{e0067}\u{e007f}",
  "__proto__", "constructor", "toString", "hasOwnProperty", "null", "", " ", "\n\n\n", "\t\t", "x".repeat(5000), "长".repeat(3000), "W W ".repeat(500), "%00%0d%0aSet-Cookie:x", "../../../etc/passwd",
];

const plain = {
  label: "node server.js", server: { name: "everything", version: "1.4.2" },
  instructions: "Call add for sums. Long operations report progress.",
};

const EVERY = { type: "object", required: ["text", "count"], properties: {
  text: { type: "string", description: "What to say" },
  count: { type: "integer", minimum: 1, maximum: 5, default: 2 },
  mode: { enum: ["fast", "careful", null], description: "null leaves it to the server" },
  tags: { type: "array", items: { type: "string" } },
  place: { type: "object", required: ["city"], properties: { city: { type: "string" }, zip: { type: ["string", "null"] } } },
  loud: { type: "boolean" },
  any: { oneOf: [{ type: "string" }, { type: "object" }] },
} };

const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAoAAAAKCAYAAACNMs+9AAAAFUlEQVR42mNk+M9Qz0AEYBxVSF+FABJADveWkH6oAAAAAElFTkSuQmCC";

/** What the server lists and answers. */
export function listed(hostile) {
  return hostile ? bad() : good();
}

function good() {
  const named = (name, description, more = {}) => ({ name, description, inputSchema: { type: "object", properties: {} }, ...more });
  return {
    ...plain,
    tools: [
      named("echo", "Returns its text.", { title: "Echo", annotations: { readOnlyHint: true }, inputSchema: { type: "object", required: ["text"], properties: { text: { type: "string", description: "What comes back" } } } }),
      named("every", "Has an argument of every kind.", { inputSchema: EVERY, outputSchema: { type: "object" } }),
      named("long", "Reports progress until it is cancelled."), named("ask", "Asks for a colour before it answers."),
      named("delete", "Deletes a file.", { annotations: { destructiveHint: true } }), named("fails", "Always fails."),
      ...Array.from({ length: 34 }, (_, at) => named(`tool-${String(at + 1).padStart(2, "0")}`, "One of many tools.")),
    ],
    prompts: [{ name: "greet", title: "Greeting", description: "Greets a city.", arguments: [{ name: "city", description: "Where", required: true }, { name: "tone" }] }],
    resources: [{ uri: "demo://notes", name: "notes", title: "Notes", mimeType: "text/plain" }, { uri: "demo://picture", name: "picture", mimeType: "image/png" }],
    templates: [{ uriTemplate: "demo://city/{city}{?units}", name: "city", description: "The weather of a city" }],
    asked: { type: "object", required: ["colour"], properties: { colour: { type: "string", oneOf: [{ const: "r", title: "Red" }, { const: "b", title: "Blue" }] }, why: { type: "string" } } },
    result: (params) => (params.name === "fails" ? { isError: true, content: [{ type: "text", text: "It failed, as it always does." }] } : {
      content: [{ type: "text", text: `You said: ${params.arguments?.text ?? "nothing"}` }, { type: "image", data: PIXEL, mimeType: "image/png" }, { type: "audio", data: "UklGRg==", mimeType: "audio/wav" }, { type: "resource_link", uri: "demo://notes", name: "notes" }],
      structuredContent: { said: params.arguments?.text ?? null, times: params.arguments?.count ?? 0 },
    }),
    contents: (uri) => (uri === "demo://picture" ? [{ uri, mimeType: "image/png", blob: PIXEL }] : [{ uri, mimeType: "application/json", text: '{"city":"Paris","degrees":21}' }]),
    messages: [{ role: "user", content: { type: "text", text: "Say hello to Paris." } }, { role: "assistant", content: { type: "text", text: "Bonjour!" } }],
  };
}

function bad() {
  const schema = (text) => ({ type: "object", title: text, description: text, required: [text], properties: { [text]: { type: "string", title: text, description: text, default: text, format: text }, ["list" + text]: { type: "array", items: { enum: [text, null] } }, ["odd" + text]: { $ref: text } } });
  return {
    label: HOSTILE[0], server: { name: HOSTILE[1], title: HOSTILE[2], version: HOSTILE[25] }, instructions: HOSTILE.join("\n"),
    tools: HOSTILE.map((text) => ({ name: text, title: text, description: text, inputSchema: schema(text), annotations: { title: text, readOnlyHint: text } })),
    prompts: HOSTILE.map((text) => ({ name: text, title: text, description: text, arguments: [{ name: text, title: text, description: text, required: true }] })),
    resources: HOSTILE.map((text) => ({ uri: text, name: text, title: text, description: text, mimeType: text })),
    templates: HOSTILE.map((text) => ({ uriTemplate: `{${text}}${text}`, name: text, title: text })),
    asked: schema(HOSTILE[0]),
    result: (params) => ({ content: [...HOSTILE.flatMap((text) => [{ type: "text", text }, { type: text, text }, { type: "image", data: text, mimeType: text }, { type: "image", data: text, mimeType: "image/svg+xml" }]), { type: "resource", resource: { uri: HOSTILE[4], mimeType: "text/html", text: HOSTILE[0] } }, null, 7], structuredContent: Object.fromEntries(HOSTILE.map((text) => [text, text])), params }),
    contents: (uri) => HOSTILE.map((text) => ({ uri, mimeType: "text/html", text })),
    messages: HOSTILE.map((text) => ({ role: text, content: { type: "text", text } })),
  };
}

const METHODS = [["tools/list", ""], ["tools/call", "echo"], ["tools/call", "every"], ["resources/read", "demo://notes"], ["prompts/get", "greet"], ["tools/call", "fails"], ["ping", ""], ["resources/list", ""]];

/** The first rows: a session that was used for a while. */
export function seed(fake, count, hostile) {
  const add = (values, parts, findings) => {
    const row = fake.row(values);
    row[COLUMN.parts] = parts.length;
    row[COLUMN.size] = parts.reduce((sum, part) => sum + (part.bytes ?? 0), 0);
    if (count <= 5000 || row[0] <= 100) fake.details.set(row[0], { row, http: false, redacted: false, parts, findings: findings.map((finding) => ({ ...finding, row: row[0] })) });
    if (findings.length > 0) fake.findings.push(...findings.map((finding) => ({ ...finding, row: row[0], session: 1 })));
    return row;
  };
  let at = 1_500;
  for (let n = 1; n <= count; n += 1) {
    at += 4_000 + ((n * 7919) % 90_000);
    add(...(hostile ? hostileRow(n, at) : n === 1 ? greeting(at) : n % 11 === 4 ? logLine(n, at) : n % 13 === 5 ? note(n, at) : n === 9 ? http(n, at) : call(n, at)));
  }
}

function greeting(at) {
  const asked = message(0, "request", { jsonrpc: "2.0", id: 1, method: "initialize", params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "proof", version: "0.1.0" } } });
  const answer = message(1, "response", { jsonrpc: "2.0", id: 1, result: { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: plain.server } });
  return [{ at, took: 41_000, method: "initialize", id: "1" }, [asked, answer], []];
}

const finding = (rule, level, part, pointer, why) => ({ rule, level, part, pointer, why, sentence: "Each name is used for one tool only.", fix: "Rename one of the two tools.", url: "https://modelcontextprotocol.io/specification" });

function call(n, at) {
  const [method, name] = METHODS[n % METHODS.length];
  const failed = name === "fails";
  const params = method === "tools/call" ? { name, arguments: { text: `message ${n}`, count: n } } : {};
  const result = method === "tools/list" ? { tools: [{ name: "echo", inputSchema: {} }, { name: "echo", inputSchema: {} }] } : { content: [{ type: "text", text: `answer ${n}` }], big: 1 };
  const parts = [message(0, "request", { jsonrpc: "2.0", id: n, method, params }), failed ? message(1, "error", { jsonrpc: "2.0", id: n, error: { code: -32603, message: "It failed, as it always does." } }) : message(1, "response", { jsonrpc: "2.0", id: n, result })];
  const findings = method === "tools/list" ? [finding("tools.names-unique", "must", 1, "/result/tools/1/name", "Two tools are called echo.")] : n % 29 === 0 ? [finding("calls.answers-soon", "should", 1, null, "The answer took long.")] : [];
  return [{ at, took: 900 + ((n * 104_729) % 350_000), method, name, status: failed ? "error" : "ok", id: String(n), findings: findings.length, level: findings[0]?.level ?? "" }, parts, findings];
}

const logLine = (n, at) => [{ at, kind: "stderr", dir: "in", name: `worker ${n}: cache is cold, reading from disk` }, [{ part: 0, frame: 1, at, type: "stderr", text: `worker ${n}: cache is cold, reading from disk\n`, bytes: 44 }], []];

const note = (n, at) => [{ at, kind: "note", dir: "in", method: "notifications/message", name: "info worker" }, [message(0, "notification", { jsonrpc: "2.0", method: "notifications/message", params: { level: "info", logger: "worker", data: `started job ${n}` } })], []];

const http = (n, at) => [{ at, kind: "http", method: "GET", name: "/mcp", took: 800, status: "ok" }, [{ part: 0, frame: 1, at, from: "client", to: "server", type: "request", title: "GET /mcp", headers: [["accept", "text/event-stream"], ["mcp-session-id", "•••"]], text: "", bytes: 0 }, { part: 1, frame: 2, at, from: "server", to: "client", type: "response", title: "200 OK", headers: [["content-type", "text/event-stream"]], text: "", bytes: 0 }], []];

function hostileRow(n, at) {
  const text = HOSTILE[n % HOSTILE.length];
  const value = { jsonrpc: text, id: text, method: text, params: { [text]: text, nested: { [text]: [text] } } };
  const found = { ...finding(text || "empty", "must", 1, `/params/${text}`, text), sentence: text, fix: text, url: text };
  const parts = [message(0, "request", value), message(1, "response", { jsonrpc: "2.0", id: n, result: { [text]: text } }), { part: 2, type: "response", title: text, headers: [[text, text]], text, bytes: text.length }, { part: 3, type: "stderr", title: text, text, bytes: text.length }];
  return [{ at, took: 5000, kind: n % 5 === 0 ? "stderr" : "call", dir: n % 2 ? "in" : "out", status: "ok", method: text.slice(0, 160), name: text.slice(0, 160), id: JSON.stringify(text).slice(0, 60), findings: 1, level: "must" }, parts, [found]];
}
