#!/usr/bin/env python3
"""A library catalogue as an MCP server (revisions 2025-11-25 and 2025-06-18), correct unless --fault asks for a fault.

    server_lantern.py [--http PORT] [--fault NAME]... | --list-faults

It speaks stdio, or Streamable HTTP at http://127.0.0.1:PORT/mcp.
"""

import argparse
import base64
import json
import queue
import re
import secrets
import sys
import threading
import time
from datetime import datetime, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

VERSIONS = ["2025-11-25", "2025-06-18"]
LEVELS = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]
RELATED = "io.modelcontextprotocol/related-task"

# name, area, level, transport, broken sentence (of 2025-11-25)
FAULTS = [line.split(" | ") for line in """
id-as-string | base | MUST | any | Result responses MUST include the same ID as the request they correspond to. (basic#result-responses)
id-32-bit | base | MUST | any | Result responses MUST include the same ID as the request they correspond to. (basic#result-responses)
id-from-digits | base | MUST | any | Result responses MUST include the same ID as the request they correspond to. (basic#result-responses)
error-id-null | base | MUST | any | Error responses MUST include the same ID as the request they correspond to. (basic#error-responses)
error-code-text | base | MUST | any | Error codes MUST be integers. (basic#error-responses)
error-no-message | base | MUST | any | Error responses MUST include an error field with a code and message. (basic#error-responses)
result-with-error | base | MUST | any | Messages MUST follow JSON-RPC 2.0: either result or error is included, not both. (basic#messages)
no-jsonrpc | base | MUST | any | Messages MUST follow JSON-RPC 2.0: jsonrpc is exactly "2.0". (basic#messages)
answer-notification | base | MUST | any | Notifications: the receiver MUST NOT send a response. (basic#notifications)
unknown-method-code | base | MUST | any | Messages MUST follow JSON-RPC 2.0: an unknown method is -32601. (basic#messages)
unknown-method-silent | base | MUST | stdio | Messages MUST follow JSON-RPC 2.0: each request gets a response. (basic#messages)
answer-twice | base | MUST | any | Messages MUST follow JSON-RPC 2.0: one response for each request. (basic#messages)
no-params-error | base | MUST | any | The params of ListToolsRequest and of ping are optional. (schema)
meta-refused | base | MUST | any | _meta lets clients attach additional metadata. (basic#_meta)
extra-param-crash | base | MUST | any | The params of a request are open objects. (schema)
latin-1 | transport | MUST | any | JSON-RPC messages MUST be UTF-8 encoded. (basic/transports)
parse-error-silent | transport | MUST | stdio | Messages MUST follow JSON-RPC 2.0: invalid JSON is answered with -32700. (basic#messages)
odd-line-exit | transport | MUST | stdio | Messages MUST follow JSON-RPC 2.0: what is not a request is answered with -32600. (basic#messages)
long-line-cut | transport | MUST | stdio | Messages are delimited by newlines. (basic/transports#stdio)
pretty-json | transport | MUST | stdio | Messages MUST NOT contain embedded newlines. (basic/transports#stdio)
stdout-log | transport | MUST | stdio | The server MUST NOT write anything to its stdout that is not a valid MCP message. (basic/transports#stdio)
bytes-order-mark | transport | MUST | stdio | The server MUST NOT write anything to its stdout that is not a valid MCP message. (basic/transports#stdio)
version-echo | lifecycle | MUST | any | Otherwise, the server MUST respond with another protocol version it supports. (basic/lifecycle#version-negotiation)
early-request | lifecycle | SHOULD | stdio | The server SHOULD NOT send requests other than pings before the initialized notification. (basic/lifecycle#initialization)
server-no-version | lifecycle | MUST | any | Implementation requires name and version. (schema)
tools-undeclared | lifecycle | MUST | any | Servers that support tools MUST declare the tools capability. (server/tools#capabilities)
completions-undeclared | lifecycle | MUST | any | Servers that support completions MUST declare the completions capability. (server/utilities/completion#capabilities)
logging-undeclared | lifecycle | MUST | any | Servers that emit log message notifications MUST declare the logging capability. (server/utilities/logging#capabilities)
subscribe-unserved | lifecycle | MUST | any | Both parties MUST only use capabilities that were negotiated; subscribe is declared and refused. (basic/lifecycle#operation)
ping-queued | lifecycle | MUST | any | The receiver MUST respond promptly with an empty response. (basic/utilities/ping)
ping-echo | lifecycle | MUST | any | The receiver MUST respond promptly with an empty response. (basic/utilities/ping)
sampling-unasked | lifecycle | MUST | any | Both parties MUST only use capabilities that were successfully negotiated. (basic/lifecycle#operation)
elicitation-unasked | lifecycle | MUST | any | Both parties MUST only use capabilities that were successfully negotiated. (basic/lifecycle#operation)
ask-id-reused | client features | MUST | any | The request ID MUST NOT have been previously used by the requestor within the same session. (basic#requests)
ask-id-null | client features | MUST | any | Unlike base JSON-RPC, the ID MUST NOT be null. (basic#requests)
form-nested | client features | MUST | any | The requested schema is limited to flat objects with primitive properties. (client/elicitation#requested-schema)
form-password | client features | MUST | any | Servers MUST NOT use form mode to request sensitive information such as passwords. (client/elicitation)
decline-crash | client features | MUST | any | Servers MUST handle cases where the user declines or cancels the elicitation. (client/elicitation#error-handling)
sampling-no-limit | client features | MUST | any | CreateMessageRequestParams requires maxTokens. (schema)
page-overlap | pagination | SHOULD | any | Tool names SHOULD be unique within a server. (server/tools#tool-names)
page-loop | pagination | MUST | any | nextCursor is sent if more results exist. (server/utilities/pagination#response-format)
cursor-null | pagination | MUST | any | nextCursor is a string. (schema)
cursor-once | pagination | SHOULD | any | Servers SHOULD provide stable cursors. (server/utilities/pagination#implementation-guidelines)
bad-cursor-first-page | pagination | SHOULD | any | Invalid cursors SHOULD result in an error with code -32602. (server/utilities/pagination#error-handling)
bad-cursor-internal | pagination | SHOULD | any | Invalid cursors SHOULD result in an error with code -32602. (server/utilities/pagination#error-handling)
tool-name-space | tools | SHOULD | any | Tool names SHOULD NOT contain spaces. (server/tools#tool-names)
schema-null | tools | MUST | any | inputSchema MUST be a valid JSON Schema object (not null). (server/tools#tool)
schema-bad-type | tools | MUST | any | Schemas MUST be valid according to their declared or default dialect. (basic#schema-validation)
unknown-tool-result | tools | MUST | any | Protocol errors: standard JSON-RPC errors for unknown tools. (server/tools#error-handling)
output-wrong-type | tools | MUST | any | Servers MUST provide structured results that conform to this schema. (server/tools#output-schema)
output-missing | tools | MUST | any | Servers MUST provide structured results that conform to this schema. (server/tools#output-schema)
output-no-text | tools | SHOULD | any | A tool that returns structured content SHOULD also return the serialized JSON in a text block. (server/tools#structured-content)
input-unchecked | tools | MUST | any | Servers MUST validate all tool inputs. (server/tools#security-considerations)
required-unchecked | tools | MUST | any | Servers MUST validate all tool inputs. (server/tools#security-considerations)
input-trace | tools | SHOULD | any | Errors that originate from the tool SHOULD be reported inside the result with isError. (schema CallToolResult)
tool-failure-error | tools | SHOULD | any | Errors that originate from the tool SHOULD be reported inside the result with isError. (schema CallToolResult)
content-kind | tools | MUST | any | Content is text, image, audio, resource_link or resource. (schema ContentBlock)
image-raw | tools | MUST | any | Binary data MUST be properly encoded. (schema ImageContent: base64)
link-no-name | tools | MUST | any | ResourceLink requires name and uri. (schema)
read-only-writes | safety | SAFETY | any | If readOnlyHint is true, the tool does not modify its environment. (schema ToolAnnotations)
missing-empty | resources | SHOULD | any | Resource not found SHOULD be the error -32002. (server/resources#error-handling)
missing-internal | resources | SHOULD | any | Resource not found SHOULD be the error -32002. (server/resources#error-handling)
contents-empty-item | resources | MUST | any | Resource contents have text or blob. (schema)
blob-urlsafe | resources | MUST | any | Binary data MUST be properly encoded. (server/resources#security-considerations)
uri-relative | resources | MUST | any | Each resource is identified by a URI (RFC 3986). (server/resources)
template-open-brace | resources | MUST | any | uriTemplate is an RFC 6570 URI template. (server/resources#resource-templates)
resource-no-name | resources | MUST | any | Resource requires name and uri. (schema)
priority-high | resources | MUST | any | priority is a number from 0.0 to 1.0. (server/resources#annotations)
updated-unsubscribed | resources | SHOULD | any | resources/updated should only be sent if the client sent resources/subscribe. (schema)
unsubscribe-ignored | resources | SHOULD | any | resources/updated should only be sent to subscribed clients. (schema)
updated-no-uri | resources | MUST | any | ResourceUpdatedNotificationParams requires uri. (schema)
prompt-unknown-code | prompts | SHOULD | any | Invalid prompt name SHOULD be -32602. (server/prompts#error-handling)
prompt-argument-missing | prompts | SHOULD | any | Missing required arguments SHOULD be -32602. (server/prompts#error-handling)
prompt-role | prompts | MUST | any | role is "user" or "assistant". (server/prompts#promptmessage)
prompt-content-array | prompts | MUST | any | content is one content block. (schema PromptMessage)
completion-many | completion | MUST | any | Maximum 100 items per response. (server/utilities/completion#completion-results)
completion-unknown-empty | completion | SHOULD | any | Invalid prompt name SHOULD be -32602. (server/utilities/completion#error-handling)
completion-total-text | completion | MUST | any | total is an integer. (schema CompleteResult)
log-below-level | logging | MUST | any | The server sends all logs at this level and higher. (server/utilities/logging#setting-log-level)
log-level-any | logging | SHOULD | any | Invalid log level SHOULD be -32602. (server/utilities/logging#error-handling)
log-level-warn | logging | MUST | any | The levels are those of RFC 5424. (server/utilities/logging#log-levels)
log-level-shared | logging | MUST | http | The client sets the minimum level of its session. (server/utilities/logging)
log-secret | logging | MUST | any | Log messages MUST NOT contain credentials or secrets. (server/utilities/logging#security)
progress-unasked | progress | MUST | any | Progress notifications MUST only reference tokens that were provided in an active request. (basic/utilities/progress)
progress-stalls | progress | MUST | any | The progress value MUST increase with each notification. (basic/utilities/progress)
progress-after | progress | MUST | stdio | Progress notifications MUST stop after completion. (basic/utilities/progress)
progress-token-text | progress | MUST | any | Progress notifications MUST only reference tokens that were provided in an active request. (basic/utilities/progress)
progress-last-token | progress | MUST | any | Progress notifications MUST only reference tokens associated with the operation. (basic/utilities/progress)
cancel-answered | cancellation | SHOULD | any | Receivers SHOULD not send a response for the cancelled request. (basic/utilities/cancellation)
cancel-ignored | cancellation | SHOULD | any | Receivers SHOULD stop processing the cancelled request. (basic/utilities/cancellation)
cancel-everything | cancellation | MUST | any | A cancellation ends the request with its requestId; others get responses. (basic/utilities/cancellation)
cancel-unknown-error | cancellation | SHOULD | any | Invalid cancellation notifications SHOULD be ignored. (basic/utilities/cancellation#error-handling)
origin-unchecked | http | MUST | http | Servers MUST validate the Origin header; if invalid, respond with 403. (basic/transports#security-warning)
origin-200 | http | MUST | http | If the Origin header is invalid, servers MUST respond with 403. (basic/transports#security-warning)
origin-get-unchecked | http | MUST | http | Servers MUST validate the Origin header on all incoming connections. (basic/transports#security-warning)
notification-200 | http | MUST | http | An accepted notification MUST get 202 with no body. (basic/transports#sending-messages)
notification-body | http | MUST | http | An accepted notification MUST get 202 with no body. (basic/transports#sending-messages)
type-plain | http | MUST | http | The server MUST return text/event-stream or application/json. (basic/transports#sending-messages)
version-header-any | http | MUST | http | An invalid MCP-Protocol-Version MUST get 400. (basic/transports#protocol-version-header)
get-json | http | MUST | http | GET MUST return text/event-stream or 405. (basic/transports#listening)
session-survives | http | MUST | http | A terminated session MUST get 404. (basic/transports#session-management)
session-unknown-400 | http | MUST | http | A terminated session MUST get 404. (basic/transports#session-management)
session-optional | http | SHOULD | http | Requests without a session ID SHOULD get 400. (basic/transports#session-management)
session-counter | http | SHOULD | http | The session ID SHOULD be globally unique and cryptographically secure. (basic/transports#session-management)
session-id-space | http | MUST | http | The session ID MUST only contain visible ASCII characters. (basic/transports#session-management)
get-broadcast | http | MUST | http | The server MUST NOT broadcast the same message across multiple streams. (basic/transports#multiple-connections)
updates-everybody | http | MUST | http | Sessions are logically related interactions between one client and the server; updates go to subscribers. (schema)
answer-on-get | http | MUST | http | The server MUST NOT send a response on the GET stream. (basic/transports#listening)
sse-stays-open | http | SHOULD | http | After the response the server SHOULD terminate the SSE stream. (basic/transports#sending-messages)
event-id-repeated | http | MUST | http | Event IDs MUST be globally unique across all streams within that session. (basic/transports#resumability)
no-priming | http | SHOULD | http | The server SHOULD immediately send an event with an ID and empty data. (basic/transports#sending-messages)
replay-other-streams | http | MUST | http | The server MUST NOT replay messages of a different stream. (basic/transports#resumability)
task-starts-done | tasks | MUST | any | Tasks MUST begin in the working status. (basic/utilities/tasks#task-status-lifecycle)
task-result-early | tasks | MUST | any | tasks/result MUST block until the task reaches a terminal status. (basic/utilities/tasks#result-retrieval)
task-cancel-twice | tasks | MUST | any | Cancellation of a terminal task MUST be rejected with -32602. (basic/utilities/tasks#task-cancellation)
task-uncancelled | tasks | MUST | any | A cancelled task MUST remain cancelled. (basic/utilities/tasks#task-cancellation)
task-no-ttl | tasks | MUST | any | Receivers MUST include the ttl in tasks/get responses. (basic/utilities/tasks#ttl)
task-no-relation | tasks | MUST | any | All messages of a task MUST include related-task in _meta. (basic/utilities/tasks#related-task-metadata)
task-required-sync | tasks | MUST | any | If taskSupport is required, a call without a task MUST get -32601. (basic/utilities/tasks#tool-level-negotiation)
task-unlisted | tasks | MUST | any | A task retrievable by tasks/get MUST be retrievable by tasks/list. (basic/utilities/tasks#task-listing)
task-unknown-internal | tasks | MUST | any | An unknown taskId MUST be -32602. (basic/utilities/tasks#error-handling)
""".strip().splitlines()]

CHOSEN = set()


def on(name):
    return name in CHOSEN


class Refusal(Exception):
    def __init__(self, code, message, data=None):
        super().__init__(message)
        self.code, self.data = code, data


BOOKS = {
    "b1": {"id": "b1", "title": "Lanterns of the North", "author": "Aino Järvi", "year": 1987, "pages": 212},
    "b2": {"id": "b2", "title": "The Salt Road", "author": "Brita Holm", "year": 2003, "pages": 340},
    "b3": {"id": "b3", "title": "Café Meridian", "author": "Émile Renard", "year": 2011, "pages": 187},
    "b4": {"id": "b4", "title": "Stone Ferries", "author": "Jonas Pell", "year": 1954, "pages": 291},
    "b5": {"id": "b5", "title": "Winter Ledger", "author": "Brita Holm", "year": 1999, "pages": 158},
}
BRANCHES = ["harbour", "hill", "market"]
PIXEL = ("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8Dwn4EIwDiqEAB+"
         "/wL+n9cAAAAASUVORK5CYII=")
LOGO = bytes(range(248, 256)) * 4
SHELVES = [f"{number:03}" for number in range(150)]
LOCK = threading.RLock()
STATE = {"visitors": 7, "reserved": [], "last_token": None, "level": "info", "cursors": {}}
BUSY = threading.Semaphore(1)
SESSIONS = {}


class Session:
    def __init__(self, version, capabilities, unsolicited=None):
        self.version, self.capabilities, self.unsolicited = version, capabilities, unsolicited
        self.level, self.watched, self.unwatched = "info", set(), set()
        self.running, self.asked, self.tasks, self.count = {}, {}, {}, 0
        self.streams, self.listening, self.ready = [], [], False

    def notify(self, method, params=None):
        message = {"jsonrpc": "2.0", "method": method, **({"params": params} if params else {})}
        if self.unsolicited:
            self.unsolicited(message)
            return
        for stream in list(reversed(self.listening)):
            stream.push(message)
            if not on("get-broadcast"):
                return

    def next_id(self):
        with LOCK:
            self.count += 1
            return None if on("ask-id-null") else 1 if on("ask-id-reused") else f"lantern-{self.count}"


class Exchange:
    """One request of the client: what it says before its response goes to the stream of the request."""

    def __init__(self, session, send, token=None, task=None):
        self.session, self.send, self.token, self.task = session, send, token, task
        self.cancelled = threading.Event()

    def tagged(self, params):
        if self.task and not on("task-no-relation"):
            params = {**params, "_meta": {RELATED: {"taskId": self.task["taskId"]}}}
        return params

    def notify(self, method, params):
        self.send({"jsonrpc": "2.0", "method": method, "params": self.tagged(params)})

    def log(self, level, data):
        wanted = STATE["level"] if on("log-level-shared") else self.session.level
        if LEVELS.index(level) < LEVELS.index(wanted) and not on("log-below-level"):
            return
        if on("log-secret"):
            data = {"text": data, "authorization": "Bearer sk-live-4f9a77c1d2e8b3a60915"}
        level = "warn" if on("log-level-warn") and level == "warning" else level
        self.notify("notifications/message", {"level": level, "logger": "catalogue", "data": data})

    def progress(self, done, total):
        token = self.token
        if on("progress-last-token") and token is not None:
            token = STATE["last_token"]
        if token is None and on("progress-unasked"):
            token = 0
        if token is None:
            return
        done = min(done, 2) if on("progress-stalls") else done
        token = str(token) if on("progress-token-text") else token
        message = f"Counted {done} of {total} chapters"
        self.notify("notifications/progress", {"progressToken": token, "progress": done, "total": total, "message": message})

    def ask(self, method, params):
        name = self.session.next_id()
        answers = self.session.asked[json.dumps(name)] = queue.Queue()
        self.send({"jsonrpc": "2.0", "id": name, "method": method, "params": self.tagged(params)})
        end = time.time() + 20
        while time.time() < end and not self.cancelled.is_set():
            try:
                return answers.get(timeout=0.1)
            except queue.Empty:
                continue
        return {"error": {"code": -32603, "message": "No answer"}}


# Tools

def text(value, **more):
    return {"content": [{"type": "text", "text": value}], **more}


def structured(value):
    if on("output-missing"):
        return text(json.dumps(value, ensure_ascii=False))
    return text(json.dumps(value, ensure_ascii=False), structuredContent=value)


def failure(message):
    if on("tool-failure-error"):
        raise Refusal(-32603, message)
    return text(message, isError=True)


def brief(book):
    return {key: book[key] for key in ("id", "title", "author", "year")}


def search_books(exchange, given):
    if on("required-unchecked"):
        given.setdefault("query", "")
    wanted, limit = str(given["query"]).lower(), given.get("limit", 10)
    exchange.log("info", f"search: {len(wanted)} characters")
    if on("read-only-writes") and "b5" in BOOKS:
        STATE["gone"] = BOOKS.pop("b5")
    found = [brief(book) for book in BOOKS.values() if wanted in (book["title"] + book["author"]).lower()]
    total = str(len(found)) if on("output-wrong-type") else len(found)
    result = structured({"books": found[:limit if isinstance(limit, int) else 10], "total": total})
    if on("output-no-text"):
        result["content"] = []
    return result


def get_book(exchange, given):
    book = BOOKS.get(given.get("id"))
    return structured(brief(book)) if book else failure(f"No book {given.get('id')!r}: search_books lists the ids")


def list_branches(exchange, given):
    link = {"type": "resource_link", "uri": "library://hours", "name": "hours", "mimeType": "text/plain"}
    if on("link-no-name"):
        del link["name"]
    kind = "markdown" if on("content-kind") else "text"
    return {"content": [{"type": kind, "text": ", ".join(BRANCHES)}, link]}


def show_cover(exchange, given):
    if given.get("id") not in BOOKS:
        return failure("No such book")
    data = "\u0089PNG raw bytes" if on("image-raw") else PIXEL
    return {"content": [{"type": "image", "data": data, "mimeType": "image/png", "annotations": {"priority": 0.4}}]}


def count_chapters(exchange, given):
    steps = given.get("chapters", 5)
    exchange.log("debug", "counting begins")
    exchange.log("warning", "the count is slow")
    for step in range(1, steps + 1):
        for _ in range(3):
            time.sleep(0.05)
            if exchange.cancelled.is_set() and not on("cancel-ignored"):
                return text("cancelled")
        exchange.progress(step, steps)
    return text(f"{steps} chapters")


def recommend_book(exchange, given):
    if not (exchange.session.ready and "sampling" in exchange.session.capabilities) and not on("sampling-unasked"):
        return failure("This tool needs a client with sampling")
    question = {"messages": [{"role": "user", "content": {"type": "text", "text": f"Recommend one: {', '.join(b['title'] for b in BOOKS.values())}"}}],
                "systemPrompt": "You are a librarian.", "maxTokens": 80}
    if on("sampling-no-limit"):
        del question["maxTokens"]
    answer = exchange.ask("sampling/createMessage", question)
    if "error" in answer:
        return failure("The client did not sample")
    content = answer.get("result", {}).get("content")
    content = content[0] if isinstance(content, list) and content else content
    return text(str((content or {}).get("text", "no text")))


def choose_branch(exchange, given):
    modes = exchange.session.capabilities.get("elicitation")
    if not (exchange.session.ready and modes is not None and ("form" in modes or not modes)) and not on("elicitation-unasked"):
        return failure("This tool needs a client with elicitation")
    fields = {"branch": {"type": "string", "title": "Branch", "enum": BRANCHES}, "copies": {"type": "integer", "minimum": 1, "maximum": 5}}
    if on("form-nested"):
        fields["address"] = {"type": "object", "properties": {"street": {"type": "string"}}}
    if on("form-password"):
        fields["password"] = {"type": "string", "title": "Password of your library account"}
    form = {"type": "object", "properties": fields, "required": ["branch"]}
    answer = exchange.ask("elicitation/create", {"message": "Which branch?", "requestedSchema": form})
    if "error" in answer:
        return failure("The client did not elicit")
    result = answer.get("result", {})
    if on("decline-crash"):
        return text("Chosen: " + result["content"]["branch"])
    if result.get("action") != "accept":
        return text("No branch was chosen")
    problem = violation(result.get("content"), form, "content")
    return failure(f"The answer does not fit the form: {problem}") if problem else text(f"Chosen: {result['content']['branch']}")


def reserve_book(exchange, given):
    if given["id"] not in BOOKS:
        return failure("No such book")
    STATE["reserved"].append(given["id"])
    return text("Reserved")


def remove_book(exchange, given):
    if BOOKS.pop(given["id"], None) is None:
        return failure("No such book")
    for session in list(SESSIONS.values()):
        session.notify("notifications/resources/list_changed")
    return text("Removed")


def index_shelves(exchange, given):
    for step in range(1, 9):
        time.sleep(0.05)
        if exchange.cancelled.is_set() and not on("task-uncancelled"):
            return text("cancelled")
        exchange.progress(step, 8)
    return text(f"{len(SHELVES)} shelves")


def schema(properties=None, required=(), **more):
    return {"type": "object", "properties": properties or {}, **({"required": list(required)} if required else {}), **more}


ID = {"id": {"type": "string", "pattern": "^b[0-9]+$", "description": "Id of a book, such as b1"}}
BOOK = schema({"id": {"type": "string"}, "title": {"type": "string"}, "author": {"type": "string"}, "year": {"type": "integer"}},
              ["id", "title", "author", "year"])
READS = {"readOnlyHint": True, "openWorldHint": False}
# name: function, description, input schema, output schema, annotations, taskSupport
TOOLS = {
    "search_books": (search_books, "Find books by title or author", schema({
        "query": {"type": "string", "minLength": 1, "maxLength": 200}, "limit": {"type": "integer", "minimum": 1, "maximum": 50}}, ["query"]),
        schema({"books": {"type": "array", "items": BOOK}, "total": {"type": "integer"}}, ["books", "total"]), None, None),
    "get_book": (get_book, "Get one book by its id", schema(ID, ["id"]), BOOK, None, None),
    "list_branches": (list_branches, "List the branches", schema(additionalProperties=False), None, READS, None),
    "show_cover": (show_cover, "Show the cover of a book", schema(ID, ["id"]), None, READS, None),
    "count_chapters": (count_chapters, "Count chapters, slowly and with progress", schema({
        "chapters": {"type": "integer", "minimum": 1, "maximum": 40, "default": 5}}), None, READS, "optional"),
    "recommend_book": (recommend_book, "Let the client's model recommend a book", schema(), None, READS, None),
    "choose_branch": (choose_branch, "Ask the reader which branch they prefer", schema(), None, READS, None),
    "reserve_book": (reserve_book, "Reserve a book", schema(ID, ["id"]), None, {"readOnlyHint": False, "destructiveHint": False}, None),
    "remove_book": (remove_book, "Remove a book from the catalogue", schema(ID, ["id"]), None, {"readOnlyHint": False, "destructiveHint": True}, None),
    "index_shelves": (index_shelves, "Index all shelves as a task", schema(), None, READS, "required"),
}


def shown_tool(session, name):
    _, description, given, returned, annotations, support = TOOLS[name]
    tool = {"name": name, "title": name.replace("_", " ").capitalize(), "description": description, "inputSchema": given}
    if returned:
        tool["outputSchema"] = returned
    if annotations:
        tool["annotations"] = annotations
    if support and session.version == VERSIONS[0]:
        tool["execution"] = {"taskSupport": support}
    if on("read-only-writes") and name == "search_books":
        tool["annotations"] = READS
    if on("tool-name-space") and name == "list_branches":
        tool["name"] = "list branches"
    if on("schema-null") and name == "recommend_book":
        tool["inputSchema"] = None
    if on("schema-bad-type") and name == "get_book":
        tool["inputSchema"] = schema({"id": {"type": "str"}}, ["id"])
    return tool


def violation(value, rules, place="arguments"):
    kind = rules.get("type")
    kinds = {"object": dict, "string": str, "array": list, "integer": int}
    if kind == "integer" and isinstance(value, float) and value.is_integer():
        value = int(value)
    if kind and (not isinstance(value, kinds[kind]) or (kind == "integer" and isinstance(value, bool))):
        return f"{place} must be of type {kind}"
    if "enum" in rules and value not in rules["enum"]:
        return f"{place} must be one of {', '.join(rules['enum'])}"
    if kind == "string":
        if len(value) < rules.get("minLength", 0) or len(value) > rules.get("maxLength", 1 << 30):
            return f"{place} has the wrong length"
        if "pattern" in rules and not re.search(rules["pattern"], value):
            return f"{place} must match {rules['pattern']}"
    if kind == "integer" and not rules.get("minimum", value) <= value <= rules.get("maximum", value):
        return f"{place} is out of range"
    if kind == "object":
        for name in rules.get("required", []):
            if name not in value:
                return f"{place}.{name} is missing"
        for name, item in value.items():
            if name in rules.get("properties", {}):
                found = violation(item, rules["properties"][name], f"{place}.{name}")
                if found:
                    return found
            elif rules.get("additionalProperties") is False:
                return f"{place}.{name} is unknown"
    return None


def run_tool(exchange, name, given):
    function, _, rules = TOOLS[name][:3]
    problem = violation(given, rules)
    if problem and on("required-unchecked") and problem.endswith("missing"):
        problem = None
    if problem and on("input-unchecked") and not problem.endswith("missing"):
        problem = None
    if problem and on("input-trace"):
        raise Refusal(-32603, f"Traceback (most recent call last): ValueError: {problem}")
    if problem and exchange.session.version == VERSIONS[1]:
        raise Refusal(-32602, problem)
    if problem:
        return text(f"Invalid input: {problem}", isError=True)
    return function(exchange, dict(given))


def call_tool(session, params, exchange):
    name, given = params.get("name"), params.get("arguments", {})
    if on("tool-name-space") and name == "list branches":
        name = "list_branches"
    if not isinstance(name, str) or not isinstance(given, dict):
        raise Refusal(-32602, "tools/call needs a name and an object of arguments")
    if name not in TOOLS:
        if on("unknown-tool-result"):
            return text(f"Unknown tool: {name}", isError=True)
        raise Refusal(-32602, f"Unknown tool: {name}")
    support = TOOLS[name][5] or "forbidden"
    if session.version == VERSIONS[0]:
        if "task" in params and support == "forbidden":
            raise Refusal(-32601, f"{name} does not run as a task")
        if "task" not in params and support == "required" and not on("task-required-sync"):
            raise Refusal(-32601, f"{name} runs only as a task")
        if "task" in params:
            return start_task(session, exchange, name, given, params["task"])
    with BUSY if on("ping-queued") else threading.Lock():
        return run_tool(exchange, name, given)


# Tasks

def now():
    return datetime.now(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def seen(task):
    return {key: task[key] for key in ("taskId", "status", "createdAt", "lastUpdatedAt", "ttl", "pollInterval")}


def start_task(session, exchange, name, given, asked):
    ttl = asked.get("ttl") if isinstance(asked, dict) else None
    ttl = min(ttl, 600000) if isinstance(ttl, int) and ttl >= 0 else 600000
    task = {"taskId": secrets.token_hex(16), "status": "working", "createdAt": now(), "lastUpdatedAt": now(), "ttl": ttl,
            "pollInterval": 100, "done": threading.Event(), "outcome": {}}
    while len(session.tasks) >= 200:
        session.tasks.pop(next(iter(session.tasks)))
    session.tasks[task["taskId"]] = task
    forget = threading.Timer(ttl / 1000, session.tasks.pop, (task["taskId"], None))
    forget.daemon = True
    forget.start()
    # After the response of the call, its stream is closed: a task reports on the stream that listens.
    def send(message):
        if task["status"] == "working":
            session.notify(message["method"], message.get("params"))
    inner = task["exchange"] = Exchange(session, send, exchange.token, task)

    def work():
        time.sleep(0.1)
        try:
            outcome = {"result": run_tool(inner, name, given)}
        except Refusal as refusal:
            outcome = {"error": refusal}
        except Exception as crash:
            outcome = {"error": Refusal(-32603, str(crash))}
        with LOCK:
            if task["status"] == "working" or on("task-uncancelled"):
                failed = "error" in outcome or outcome["result"].get("isError")
                task.update(status="failed" if failed else "completed", outcome=outcome, lastUpdatedAt=now())
        task["done"].set()

    threading.Thread(target=work, daemon=True).start()
    shown = seen(task)
    if on("task-starts-done"):
        shown["status"] = "completed"
    return {"task": shown}


def find_task(session, params):
    task = session.tasks.get(params.get("taskId")) if isinstance(params.get("taskId"), str) else None
    if task is None:
        raise Refusal(-32603 if on("task-unknown-internal") else -32602, "Failed to retrieve task: Task not found")
    return task


def get_task(session, params, exchange):
    shown = seen(find_task(session, params))
    if on("task-no-ttl"):
        del shown["ttl"]
    return shown


def task_result(session, params, exchange):
    task = find_task(session, params)
    while not on("task-result-early") and not task["done"].wait(0.1):
        if exchange.cancelled.is_set():
            return {}
    outcome = task["outcome"]
    if "error" in outcome:
        raise outcome["error"]
    result = dict(outcome.get("result") or text("The task has no result"))
    if not on("task-no-relation"):
        result["_meta"] = {RELATED: {"taskId": task["taskId"]}}
    return result


def cancel_task(session, params, exchange):
    task = find_task(session, params)
    with LOCK:
        if task["status"] != "working" and not on("task-cancel-twice"):
            raise Refusal(-32602, f"Cannot cancel task: already in terminal status '{task['status']}'")
        task.update(status="cancelled", outcome={"error": Refusal(-32603, "The task was cancelled")}, lastUpdatedAt=now())
    task["exchange"].cancelled.set()
    if not on("task-uncancelled"):
        task["done"].set()
    return seen(task)


def list_tasks(session, params, exchange):
    tasks = [seen(task) for task in session.tasks.values()]
    if on("task-unlisted"):
        tasks = [task for task in tasks if task["status"] != "working"][:1]
    return page(session, "tasks", tasks, 20, params)


# Lists, resources, prompts, completion, logging

def page(session, key, items, size, params):
    cursor, start = params.get("cursor"), 0
    if cursor is not None:
        try:
            kind, start = base64.b64decode(cursor, validate=True).decode().split(":")
            start = int(start)
            if kind != key or not 0 < start < len(items):
                raise ValueError(cursor)
            if on("cursor-once"):
                STATE["cursors"].setdefault(id(session), set()).remove(cursor)
        except (ValueError, TypeError, KeyError) as problem:
            if on("bad-cursor-internal"):
                raise Refusal(-32603, f"cursor: {problem}") from None
            if not on("bad-cursor-first-page"):
                raise Refusal(-32602, "Invalid cursor") from None
            start = 0
    result, end = {key: items[start:start + size]}, start + size
    if end < len(items):
        following = end - 1 if on("page-overlap") and key == "tools" else end
        result["nextCursor"] = base64.b64encode(f"{key}:{following}".encode()).decode()
        if on("cursor-once"):
            STATE["cursors"].setdefault(id(session), set()).add(result["nextCursor"])
    elif on("page-loop") and key == "resources" and len(items) > size:
        result["nextCursor"] = base64.b64encode(f"{key}:{size}".encode()).decode()
    elif on("cursor-null"):
        result["nextCursor"] = None
    return result


def list_tools(session, params, exchange):
    return page(session, "tools", [shown_tool(session, name) for name in TOOLS], 4, params)


def list_resources(session, params, exchange):
    fixed = [{"uri": "library://hours", "name": "hours", "title": "Opening hours", "mimeType": "text/plain",
              "annotations": {"audience": ["user"], "priority": 5 if on("priority-high") else 0.9, "lastModified": "2025-10-01T09:00:00Z"}},
             {"uri": "library://visitors", "name": "visitors", "description": "Visitors today, changes often", "mimeType": "text/plain"},
             {"uri": "library://logo", "name": "logo", "mimeType": "application/octet-stream", "size": len(LOGO)}]
    if on("uri-relative"):
        fixed[0]["uri"] = "hours"
    if on("resource-no-name"):
        del fixed[1]["name"]
    books = [{"uri": f"library://books/{book['id']}", "name": book["id"], "title": book["title"], "mimeType": "application/json"}
             for book in BOOKS.values()]
    return page(session, "resources", fixed + books, 3, params)


def list_templates(session, params, exchange):
    first = "library://books/{id" if on("template-open-brace") else "library://books/{id}"
    return page(session, "resourceTemplates", [
        {"uriTemplate": first, "name": "book", "mimeType": "application/json"},
        {"uriTemplate": "library://shelves/{code}", "name": "shelf", "mimeType": "text/plain"}], 5, params)


def contents_of(uri):
    if uri == "library://hours" or (on("uri-relative") and uri == "hours"):
        return {"mimeType": "text/plain", "text": "Monday to Saturday, 9:00–18:00"}
    if uri == "library://visitors":
        return {"mimeType": "text/plain", "text": str(STATE["visitors"])}
    if uri == "library://logo":
        blob = base64.urlsafe_b64encode(LOGO).rstrip(b"=") if on("blob-urlsafe") else base64.b64encode(LOGO)
        return {"mimeType": "application/octet-stream", "blob": blob.decode()}
    if uri.startswith("library://books/") and uri[16:] in BOOKS:
        return {"mimeType": "application/json", "text": json.dumps(BOOKS[uri[16:]], ensure_ascii=False)}
    if uri.startswith("library://shelves/") and uri[18:] in SHELVES:
        return {"mimeType": "text/plain", "text": f"Shelf {uri[18:]}: {int(uri[18:]) % 9} books"}
    return None


def read_resource(session, params, exchange):
    uri = params.get("uri")
    if not isinstance(uri, str):
        raise Refusal(-32602, "resources/read needs a uri")
    found = contents_of(uri)
    if found is None and on("missing-empty"):
        return {"contents": []}
    if found is None:
        raise Refusal(-32603 if on("missing-internal") else -32002, "Resource not found", {"uri": uri})
    if on("contents-empty-item"):
        found.pop("text", None)
    return {"contents": [{"uri": uri, **found}]}


def subscribe(session, params, exchange):
    uri = params.get("uri")
    if on("subscribe-unserved"):
        raise Refusal(-32601, "Method not found")
    if not isinstance(uri, str):
        raise Refusal(-32602, "resources/subscribe needs a uri")
    if contents_of(uri) is None:
        raise Refusal(-32002, "Resource not found", {"uri": uri})
    session.watched.add(uri)
    return {}


def unsubscribe(session, params, exchange):
    if not isinstance(params.get("uri"), str):
        raise Refusal(-32602, "resources/unsubscribe needs a uri")
    if not on("unsubscribe-ignored"):
        session.watched.discard(params["uri"])
    return {}


def count_visitors():
    while True:
        time.sleep(0.4)
        STATE["visitors"] += 1
        sessions = list(SESSIONS.values())
        anyone = any("library://visitors" in session.watched for session in sessions)
        for session in sessions:
            watches = "library://visitors" in session.watched
            if watches or on("updated-unsubscribed") or (anyone and on("updates-everybody")):
                params = {"path": "visitors"} if on("updated-no-uri") else {"uri": "library://visitors"}
                session.notify("notifications/resources/updated", params)


PROMPTS = {
    "summarize_book": ("Summarize a book", [("id", True), ("tone", False)]),
    "reading_list": ("Make a reading list", [("genre", True)]),
    "greet_reader": ("Greet a reader", []),
}


def list_prompts(session, params, exchange):
    return page(session, "prompts", [{"name": name, "description": about, "arguments": [
        {"name": argument, "required": required} for argument, required in arguments]} for name, (about, arguments) in PROMPTS.items()], 2, params)


def get_prompt(session, params, exchange):
    name, given = params.get("name"), params.get("arguments", {})
    if not isinstance(name, str) or name not in PROMPTS:
        raise Refusal(-32603 if on("prompt-unknown-code") else -32602, f"Unknown prompt: {name}")
    if not isinstance(given, dict) or not all(isinstance(value, str) for value in given.values()):
        raise Refusal(-32602, "arguments must be an object of strings")
    for argument, required in PROMPTS[name][1]:
        if required and argument not in given and not on("prompt-argument-missing"):
            raise Refusal(-32602, f"Missing argument: {argument}")
    content = {"type": "text", "text": PROMPTS[name][0] + ": " + ", ".join(f"{key} {value}" for key, value in given.items())}
    content = [content] if on("prompt-content-array") else content
    return {"description": PROMPTS[name][0], "messages": [{"role": "system" if on("prompt-role") else "user", "content": content}]}


def complete(session, params, exchange):
    ref, argument = params.get("ref"), params.get("argument")
    if not isinstance(ref, dict) or not isinstance(argument, dict) or not isinstance(argument.get("value"), str):
        raise Refusal(-32602, "completion/complete needs a ref and an argument")
    name, known = argument.get("name"), None
    if ref.get("type") == "ref/prompt" and ref.get("name") in PROMPTS:
        names = dict(PROMPTS[ref["name"]][1])
        known = {"id": list(BOOKS), "tone": ["dry", "warm", "witty"], "genre": ["essay", "novel", "poetry"]}.get(name) if name in names else None
    if ref.get("type") == "ref/resource":
        known = {("library://books/{id}", "id"): list(BOOKS), ("library://shelves/{code}", "code"): SHELVES}.get((ref.get("uri"), name))
    if known is None and not on("completion-unknown-empty"):
        raise Refusal(-32602, "Nothing to complete: unknown reference or argument")
    matching = [value for value in known or [] if value.startswith(argument["value"])]
    values = matching if on("completion-many") else matching[:100]
    total = str(len(matching)) if on("completion-total-text") else len(matching)
    return {"completion": {"values": values, "total": total, "hasMore": len(values) < len(matching)}}


def set_level(session, params, exchange):
    level = params.get("level")
    if level not in LEVELS:
        if on("log-level-any"):
            return {}
        raise Refusal(-32602, f"Unknown level: {level}")
    session.level = STATE["level"] = level
    return {}


def ping(session, params, exchange):
    if on("ping-queued"):
        with BUSY:
            return {}
    return {"pong": True, "time": now()} if on("ping-echo") else {}


METHODS = {
    "ping": ping, "tools/list": list_tools, "tools/call": call_tool, "resources/list": list_resources, "resources/read": read_resource,
    "resources/templates/list": list_templates, "resources/subscribe": subscribe, "resources/unsubscribe": unsubscribe,
    "prompts/list": list_prompts, "prompts/get": get_prompt, "completion/complete": complete, "logging/setLevel": set_level,
    "tasks/get": get_task, "tasks/result": task_result, "tasks/cancel": cancel_task, "tasks/list": list_tasks,
}


def capabilities(version):
    declared = {"tools": {}, "prompts": {}, "resources": {"subscribe": True, "listChanged": True}, "completions": {}, "logging": {}}
    if version == VERSIONS[0]:
        declared["tasks"] = {"list": {}, "cancel": {}, "requests": {"tools": {"call": {}}}}
    for name in ("tools", "completions", "logging"):
        if on(f"{name}-undeclared"):
            del declared[name]
    return declared


def initialize(params):
    """The session and the result of an initialize request."""
    asked, offered = params.get("protocolVersion"), params.get("capabilities")
    if not isinstance(asked, str) or not isinstance(offered, dict) or not isinstance(params.get("clientInfo"), dict):
        raise Refusal(-32602, "initialize needs protocolVersion, capabilities and clientInfo")
    version = asked if asked in VERSIONS else VERSIONS[0]
    server = {"name": "lantern", "title": "Lantern Library", "version": "1.4.0"}
    if on("server-no-version"):
        del server["version"]
    return Session(version, offered), {"protocolVersion": asked if on("version-echo") else version, "capabilities": capabilities(version),
                                       "serverInfo": server, "instructions": "Search before you get."}


# Messages

def error(name, code, message, data=None):
    body = {"code": str(code) if on("error-code-text") else code, "message": message, **({"data": data} if data else {})}
    if on("error-no-message"):
        del body["message"]
    name = None if on("error-id-null") else name
    answer = {"jsonrpc": "2.0", "id": name, "error": body}
    if on("result-with-error"):
        answer["result"] = None
    return answer


def renamed(name):
    if on("id-as-string"):
        return str(name)
    if on("id-32-bit") and isinstance(name, int):
        return name & 0x7FFFFFFF
    if on("id-from-digits") and isinstance(name, str) and name.isdigit():
        return int(name)
    return name


def key_of(name):
    return json.dumps(name)


def invalid(message):
    """Why a message is no JSON-RPC request or notification, or None."""
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0" or not isinstance(message.get("method"), str):
        return "Invalid request"
    if "id" in message and (isinstance(message["id"], bool) or not isinstance(message["id"], (str, int))):
        return "Invalid id"
    if "params" in message and not isinstance(message["params"], dict):
        return "Invalid params: not an object"
    return None


def respond(session, request, send):
    """The response to a request, or None if the client cancelled it."""
    name, method, params = request["id"], request["method"], request.get("params", {})
    meta = params.get("_meta", {})
    token = meta.get("progressToken") if isinstance(meta, dict) else None
    exchange = Exchange(session, send, token if isinstance(token, (str, int)) and not isinstance(token, bool) else None)
    if exchange.token is not None:
        STATE["last_token"] = exchange.token
    session.running[key_of(name)] = exchange
    try:
        if on("no-params-error") and "params" not in request:
            raise Refusal(-32602, "params is missing")
        if on("meta-refused") and set(meta) - {"progressToken"}:
            raise Refusal(-32602, "Unknown key in _meta")
        if on("extra-param-crash") and method.endswith("/list") and set(params) - {"cursor", "_meta"}:
            raise Refusal(-32603, "unexpected keyword argument")
        if method.startswith("tasks/") and session.version != VERSIONS[0] or method not in METHODS:
            raise Refusal(-32600 if on("unknown-method-code") else -32601, f"Method not found: {method}")
        answer = {"jsonrpc": "2.0", "id": renamed(name), "result": METHODS[method](session, params, exchange)}
        if on("no-jsonrpc") and method.startswith("prompts/"):
            del answer["jsonrpc"]
    except Refusal as refusal:
        answer = error(renamed(name), refusal.code, str(refusal), refusal.data)
    except Exception as crash:
        answer = error(renamed(name), -32603, f"Internal error: {type(crash).__name__}")
    finally:
        session.running.pop(key_of(name), None)
    if exchange.cancelled.is_set() and not on("cancel-ignored"):
        return error(name, -32800, "Request cancelled") if on("cancel-answered") else None
    return answer


def receive_notification(session, message):
    """Takes a notification; what it returns is sent to the client, which is a fault."""
    params = message.get("params", {})
    if message["method"] == "notifications/initialized":
        session.ready = True
    if message["method"] == "notifications/cancelled":
        exchange = session.running.get(key_of(params.get("requestId")))
        if exchange is None and on("cancel-unknown-error"):
            return error(params.get("requestId"), -32602, "No such request")
        for running in list(session.running.values()):
            if running is exchange or (exchange and on("cancel-everything")):
                running.cancelled.set()
    elif on("answer-notification") and not message["method"].startswith("notifications/"):
        return error(None, -32601, "Method not found")
    elif on("answer-notification"):
        return {"jsonrpc": "2.0", "id": None, "result": {}}
    return None


def receive_response(session, message):
    waiting = session.asked.pop(key_of(message.get("id")), None)
    if waiting:
        waiting.put(message)
    return waiting is not None


def is_response(message):
    return isinstance(message, dict) and "method" not in message and ("result" in message or "error" in message)


def encoded(message):
    value = json.dumps(message, ensure_ascii=False)
    if on("latin-1"):
        return value.encode("latin-1", "replace")
    try:
        return value.encode()
    except UnicodeEncodeError:  # a lone surrogate has no bytes in UTF-8, but an escape
        return json.dumps(message).encode()


# stdio

def serve_stdio():
    lock, out = threading.Lock(), sys.stdout.buffer

    def send(message):
        data = encoded(message)
        if on("pretty-json") and "tools" in message.get("result", {}):
            data = json.dumps(message, indent=1).encode()
        with lock:
            out.write(data + b"\n")
            out.flush()

    def work(session, request):
        answer = respond(session, request, send)
        if answer is None or on("unknown-method-silent") and answer.get("error", {}).get("code") == -32601:
            return
        send(answer)
        params = request.get("params", {})
        if on("answer-twice") and params.get("name") == "list_branches":
            send(answer)
        if on("progress-after") and params.get("name") == "count_chapters" and "progressToken" in params.get("_meta", {}):
            send({"jsonrpc": "2.0", "method": "notifications/progress", "params": {
                "progressToken": params["_meta"]["progressToken"], "progress": 1000}})

    if on("bytes-order-mark"):
        out.write(b"\xef\xbb\xbf")
    session = None
    for line in iter(lambda: sys.stdin.buffer.readline(65536 if on("long-line-cut") else -1), b""):
        if not line.strip():
            continue
        try:
            message = json.loads(line.decode())
        except (ValueError, RecursionError):
            if not on("parse-error-silent"):
                send(error(None, -32700, "Parse error"))
            continue
        if on("odd-line-exit") and not isinstance(message, dict):
            sys.exit(1)
        if is_response(message):
            if session:
                receive_response(session, message)
            continue
        problem = invalid(message)
        if problem:
            name = message.get("id") if isinstance(message, dict) else None
            named = isinstance(name, (str, int)) and not isinstance(name, bool)
            send(error(name if named else None, -32600, problem))
        elif "id" not in message:
            answer = receive_notification(session or Session(VERSIONS[0], {}, send), message)
            if answer:
                send(answer)
        elif message["method"] == "initialize":
            try:
                session, result = initialize(message.get("params", {}))
                session.unsolicited = send
                SESSIONS["stdio"] = session
                send({"jsonrpc": "2.0", "id": renamed(message["id"]), "result": result})
                if on("early-request") and "roots" in session.capabilities:
                    send({"jsonrpc": "2.0", "id": "roots-1", "method": "roots/list"})
            except Refusal as refusal:
                send(error(message["id"], refusal.code, str(refusal)))
        elif session is None and message["method"] in METHODS and message["method"] != "ping":
            send(error(message["id"], -32600, "Not initialized"))
        else:
            if on("stdout-log") and message["method"] == "tools/call":
                with lock:
                    out.write(b"[lantern] tools/call\n")
            threading.Thread(target=work, args=(session or Session(VERSIONS[0], {}, send), message), daemon=True).start()


# Streamable HTTP

class Stream:
    """The events of one SSE stream; event 0 primes the client to reconnect."""

    def __init__(self, session):
        with LOCK:
            session.streams.append(self)
            self.number, self.session = len(session.streams), session
            if len(session.streams) > 500:
                session.streams[-500].events = []
        self.events, self.ended, self.changed = [], False, threading.Condition()

    def push(self, message):
        with self.changed:
            self.events.append(message)
            self.changed.notify_all()

    def end(self):
        with self.changed:
            self.ended = True
            self.changed.notify_all()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def reply(self, status, message=None, headers=(), kind="application/json"):
        body = b"" if message is None else encoded(message)
        self.send_response(status)
        if message is not None:
            self.send_header("Content-Type", "text/plain" if on("type-plain") and status == 200 else kind)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def refuse(self, status, why, code=-32600):
        self.reply(status, {"jsonrpc": "2.0", "error": {"code": code, "message": why}})

    def trusted(self):
        """Refuses what a web page of another site could send."""
        names = ("127.0.0.1", "localhost", "[::1]")
        origin, host = self.headers.get("Origin"), self.headers.get("Host", "")
        good_host = re.fullmatch(r"(.+?)(:\d+)?", host)
        fine = bool(good_host) and good_host.group(1) in names
        if origin is not None:
            match = re.fullmatch(r"https?://(.+?)(:\d+)?", origin)
            fine = fine and bool(match) and match.group(1) in names
        if fine or on("origin-unchecked") or (on("origin-get-unchecked") and self.command == "GET"):
            return True
        self.refuse(200 if on("origin-200") else 403, "Origin or Host is not allowed")
        return False

    def found_session(self):
        version = self.headers.get("MCP-Protocol-Version")
        if version is not None and version not in VERSIONS and not on("version-header-any"):
            self.refuse(400, "Unsupported MCP-Protocol-Version")
            return None
        name = self.headers.get("MCP-Session-Id")
        if name is None and on("session-optional") and SESSIONS:
            return list(SESSIONS.values())[-1]
        if name is None:
            self.refuse(400, "MCP-Session-Id is missing")
            return None
        session = SESSIONS.get(name)
        if session is None:
            self.refuse(400 if on("session-unknown-400") else 404, "Unknown session")
        return session

    def do_POST(self):
        length = self.headers.get("Content-Length", "")
        if not length.isdigit() or int(length) > 1 << 22:
            self.close_connection = True
            return self.refuse(413 if length.isdigit() else 411, "Content-Length is missing or too large")
        body = self.rfile.read(int(length))
        if self.path.split("?")[0] != "/mcp":
            return self.refuse(404, "The endpoint is /mcp")
        if not self.trusted():
            return None
        if self.headers.get_content_type() != "application/json":
            return self.refuse(415, "Content-Type must be application/json")
        accept = self.headers.get("Accept", "")
        if not re.search(r"application/(json|\*)|\*/\*", accept) or not re.search(r"text/(event-stream|\*)|\*/\*", accept):
            return self.refuse(406, "Accept must list application/json and text/event-stream")
        try:
            message = json.loads(body.decode())
        except (ValueError, RecursionError):
            return self.refuse(400, "Parse error", -32700)
        if not is_response(message) and invalid(message):
            return self.refuse(400, invalid(message))
        if not is_response(message) and message["method"] == "initialize" and "id" in message:
            return self.open_session(message)
        session = self.found_session()
        return session and self.receive(session, message)

    def open_session(self, message):
        try:
            session, result = initialize(message.get("params", {}))
        except Refusal as refusal:
            return self.reply(200, error(message["id"], refusal.code, str(refusal)))
        with LOCK:
            name = str(len(SESSIONS) + 1) if on("session-counter") else secrets.token_hex(16)
            name = name[:8] + " " + name[8:] if on("session-id-space") else name
            while len(SESSIONS) >= 2000:
                SESSIONS.pop(next(iter(SESSIONS)))
            SESSIONS[name] = session
        return self.reply(200, {"jsonrpc": "2.0", "id": renamed(message["id"]), "result": result}, [("MCP-Session-Id", name)])

    def receive(self, session, message):
        if is_response(message):
            return self.reply(202) if receive_response(session, message) else self.refuse(400, "No request is pending with this id")
        if "id" not in message:
            answer = receive_notification(session, message)
            if answer or on("notification-body"):
                return self.reply(200 if answer else 202, answer or {"ok": True})
            return self.reply(200 if on("notification-200") else 202)
        if message["method"] not in ("tools/call", "tasks/result"):
            answer = respond(session, message, session.notify)
            return self.reply(200, answer) if answer else self.reply(204)
        stream = Stream(session)
        threading.Thread(target=self.work, args=(session, message, stream), daemon=True).start()
        return self.send_stream(stream, 0)

    def work(self, session, message, stream):
        answer = respond(session, message, stream.push)
        listening = on("answer-on-get") and session.listening
        if answer:
            (listening[-1] if listening else stream).push(answer)
        if answer and on("answer-twice") and message.get("params", {}).get("name") == "list_branches":
            stream.push(answer)
        if not on("sse-stays-open"):
            stream.end()

    def send_stream(self, stream, start):
        self.send_response(200)
        self.send_header("Content-Type", "text/plain" if on("type-plain") else "text/event-stream")
        self.send_header("Cache-Control", "no-cache")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        sent = start
        try:
            if start == 0 and not on("no-priming"):
                self.event(stream, 0, b"")
            while True:
                with stream.changed:
                    if len(stream.events) == sent and not stream.ended:
                        stream.changed.wait(5)
                    waiting, ended = stream.events[sent:], stream.ended
                for message in waiting:
                    sent += 1
                    self.event(stream, sent, encoded(message))
                if ended and sent >= len(stream.events):
                    return
                if not waiting:
                    self.wfile.write(b": waiting\n\n")
                    self.wfile.flush()
        except OSError:
            return

    def event(self, stream, index, data):
        name = f"e{index}" if on("event-id-repeated") else f"{stream.number}-{index}"
        self.wfile.write(f"id: {name}\ndata: ".encode() + data + b"\n\n")
        self.wfile.flush()

    def do_GET(self):
        if self.path.split("?")[0] != "/mcp":
            return self.refuse(404, "The endpoint is /mcp")
        if not self.trusted():
            return None
        if on("get-json"):
            return self.reply(200, {"status": "ok"})
        if "text/event-stream" not in self.headers.get("Accept", ""):
            return self.refuse(406, "Accept must list text/event-stream")
        session = self.found_session()
        if session is None:
            return None
        last = re.fullmatch(r"(\d+)-(\d+)", self.headers.get("Last-Event-ID", ""))
        if last and 0 < int(last[1]) <= len(session.streams):
            stream = session.streams[int(last[1]) - 1]
            if on("replay-other-streams"):
                with LOCK:
                    everything = [message for other in session.streams for message in other.events]
                    stream = Stream(session)
                stream.events, stream.ended = everything, True
                return self.send_stream(stream, 0)
            return self.send_stream(stream, int(last[2]))
        stream = Stream(session)
        session.listening.append(stream)
        try:
            return self.send_stream(stream, 0)
        finally:
            session.listening.remove(stream)

    def do_DELETE(self):
        if not self.trusted():
            return None
        session = self.found_session()
        if session is None:
            return None
        if not on("session-survives"):
            SESSIONS.pop(self.headers.get("MCP-Session-Id"), None)
            for stream in session.streams:
                stream.end()
        return self.reply(204)

    def refuse_method(self):
        self.reply(405, headers=[("Allow", "GET, POST, DELETE")])

    do_PUT = do_PATCH = do_HEAD = do_OPTIONS = refuse_method


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--http", type=int, metavar="PORT")
    parser.add_argument("--stdio", action="store_true", help="the default")
    parser.add_argument("--fault", action="append", default=[], metavar="NAME")
    parser.add_argument("--list-faults", action="store_true")
    options = parser.parse_args()
    if options.list_faults:
        for fault in FAULTS:
            print(json.dumps(dict(zip(("name", "area", "level", "transport", "says"), fault)), ensure_ascii=False))
        return
    unknown = set(options.fault) - {fault[0] for fault in FAULTS}
    if unknown:
        parser.error(f"unknown fault: {', '.join(sorted(unknown))}")
    CHOSEN.update(options.fault)
    threading.Thread(target=count_visitors, daemon=True).start()
    if options.http is None:
        serve_stdio()
    else:
        ThreadingHTTPServer(("127.0.0.1", options.http), Handler).serve_forever()


if __name__ == "__main__":
    main()
