#!/usr/bin/env python3
"""The issue tracker of a small team as an MCP server: revisions 2025-06-18, 2025-11-25 and 2026-07-28.

    python3 server_busy.py --stdio [--fault NAME]
    python3 server_busy.py --http PORT [--fault NAME]
    python3 server_busy.py --list-faults

Without --fault the server follows the specification. With --fault exactly one behavior is wrong.
JSON Schema: the server's own schemas are of the 2020-12 dialect.
"""

import argparse
import base64
import hashlib
import hmac
import json
import os
import queue
import random
import re
import secrets
import select
import signal
import socket
import struct
import sys
import threading
import time
import zlib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote, urlsplit

FAULT = ""
V06, V11, V26 = "2025-06-18", "2025-11-25", "2026-07-28"
LEGACY, NEW, MODERN, ALL = [V06, V11], [V11], [V26], [V06, V11, V26]
SUPPORTED = [V26, V11, V06]
META = "io.modelcontextprotocol/"
LEVELS = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]
KEY = secrets.token_bytes(32)
FAULTS = []
CHANGES = {}  # fault name -> (revisions, method, function that spoils a result)


def F(name):
    return FAULT == name


def X(name, area, level, transport, revisions, sentence, effect, method=None, fn=None):
    FAULTS.append((name, area, level, transport, revisions, sentence, effect))
    if method:
        CHANGES[name] = (revisions, method.split("|"), fn)


class RpcError(Exception):
    def __init__(self, code, message, data=None, status=200):
        super().__init__(message)
        self.code, self.message, self.data, self.status = code, message, data, status


class InputRequired(Exception):
    def __init__(self, requests, state):
        super().__init__("input required")
        self.requests, self.state = requests, state


class Cancelled(Exception):
    pass


# ---------------------------------------------------------------- helpers of the fault table

def _walk(value, path):
    keys = path.split("/")
    for key in keys[:-1]:
        if isinstance(value, list):
            if not key.isdigit() or int(key) >= len(value):
                return None, None
            value = value[int(key)]
        elif isinstance(value, dict) and key in value:
            value = value[key]
        else:
            return None, None
    last = keys[-1]
    return value, int(last) if isinstance(value, list) else last


def put(path, new):
    def change(result, ctx):
        holder, key = _walk(result, path)
        if holder is not None and (isinstance(holder, dict) or key < len(holder)):
            holder[key] = new
        return result
    return change


def drop(path):
    def change(result, ctx):
        holder, key = _walk(result, path)
        if isinstance(holder, dict):
            holder.pop(key, None)
        return result
    return change


def edit(path, fn):
    def change(result, ctx):
        holder, key = _walk(result, path)
        if holder is not None and (key in holder if isinstance(holder, dict) else key < len(holder)):
            holder[key] = fn(holder[key])
        return result
    return change


def rename(path, new):
    def change(result, ctx):
        holder, key = _walk(result, path)
        if isinstance(holder, dict) and key in holder:
            holder[new] = holder.pop(key)
        return result
    return change


def tool(names, fn):
    return lambda result, ctx: fn(result, ctx) if ctx.params.get("name") in names.split("|") else result


def content(kind, fn):
    """Applies fn to each content block of that kind."""
    def change(result, ctx):
        for block in result.get("content", []):
            if block.get("type") == kind:
                fn(block)
        return result
    return change


def each(member, fn):
    def change(result, ctx):
        for item in result.get(member, []):
            fn(item)
        return result
    return change


# ---------------------------------------------------------------- data of the team

def png():
    def chunk(kind, data):
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))
    rows = b"".join(b"\0" + b"\x30\x60\xc0" * 4 for _ in range(4))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 4, 4, 8, 2, 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def wav():
    samples = bytes([128] * 80)
    return (b"RIFF" + struct.pack("<I", 36 + len(samples)) + b"WAVEfmt " + struct.pack("<IHHIIHH", 16, 1, 1, 8000, 8000, 1, 8)
            + b"data" + struct.pack("<I", len(samples)) + samples)


PNG64, WAV64 = base64.b64encode(png()).decode(), base64.b64encode(wav()).decode()
ICON = {"src": "data:image/png;base64," + PNG64, "mimeType": "image/png", "sizes": ["4x4"]}
USERS = ["anna", "bence", "chloé", "dmitri", "emre"] + [f"user{n:03d}" for n in range(1, 146)]
STATUSES = ["open", "in_progress", "closed"]
README = "# Harbor\n\nIssues of the Harbor team: naïve imports, slow searches and a coffee machine. ☕\n"
LOCK = threading.RLock()
ISSUES = {}
for _n, (_title, _status, _who) in enumerate([
        ("Search is slow on Mondays", "open", "anna"), ("Importer drops ümlauts", "in_progress", "bence"),
        ("Board loses its filter", "open", "chloé"), ("Export button is off by one pixel", "closed", "anna"),
        ("Login page flickers", "open", "dmitri"), ("Webhook retries forever", "in_progress", "emre"),
        ("Dark mode is too dark", "closed", "bence")], 1):
    ISSUES[_n] = {"id": _n, "title": _title, "status": _status, "assignee": _who, "project": "harbor",
                  "updatedAt": "2026-07-0%dT09:00:00Z" % _n}
LABS = {"on": False, "templates": []}
LAST_STRUCTURED = {}

STR, INT, BOOL = {"type": "string"}, {"type": "integer"}, {"type": "boolean"}
ISSUE_SCHEMA = {"type": "object", "properties": {
    "id": INT, "title": STR, "status": {"type": "string", "enum": STATUSES}, "assignee": STR, "project": STR, "updatedAt": STR},
    "required": ["id", "title", "status", "assignee"]}
LIST_SCHEMA = {"type": "object", "properties": {"issues": {"type": "array", "items": ISSUE_SCHEMA}, "count": INT},
               "required": ["issues", "count"]}


def obj(required=(), **properties):
    schema = {"type": "object", "properties": properties, "additionalProperties": False}
    if required:
        schema["required"] = list(required)
    return schema


ISSUE_ID = {"type": "integer", "minimum": 1, "description": "Number of the issue"}


def tool_table():
    tools = [
        ("list_issues", "List issues", "List the issues of the team, optionally of one status or assignee.",
         obj(status={"type": "string", "enum": STATUSES}, assignee=STR), LIST_SCHEMA, True),
        ("search_issues", "Search issues", "Search titles for a word.",
         obj(["query"], query={"type": "string", "minLength": 1, "maxLength": 200},
             project={"type": "string", "description": "Project to search", "x-mcp-header": "Project"},
             limit={"type": "integer", "minimum": 1, "maximum": 50, "x-mcp-header": "Limit"}), LIST_SCHEMA, True),
        ("get_issue", "Get an issue", "Return one issue.", obj(["id"], id=ISSUE_ID), ISSUE_SCHEMA, True),
        ("create_issue", "Create an issue", "Create an issue; the list of resources changes.",
         obj(["title"], title={"type": "string", "minLength": 1, "maxLength": 120}, assignee=STR), ISSUE_SCHEMA, False),
        ("update_issue", "Update an issue", "Change the status or the assignee of an issue.",
         obj(["id"], id=ISSUE_ID, status={"type": "string", "enum": STATUSES}, assignee=STR), ISSUE_SCHEMA, False),
        ("close_issue", "Close an issue", "Close an issue after the user has confirmed it.", obj(["id"], id=ISSUE_ID), None, False),
        ("summarize_issue", "Summarize an issue", "Let the client's model write a summary of an issue.",
         obj(["id"], id=ISSUE_ID), None, True),
        ("rebuild_index", "Rebuild the index", "Rebuild the search index step by step, with progress.",
         obj(steps={"type": "integer", "minimum": 1, "maximum": 20, "default": 4},
             delay_ms={"type": "integer", "minimum": 0, "maximum": 1000, "default": 60}), None, False),
        ("sync_calendar", "Sync the calendar", "Sync due dates with the calendar service, which is down.", obj(), None, False),
        ("run_diagnostics", "Run diagnostics", "Write one log message for each level.", obj(), None, True),
        ("weekly_report", "Weekly report", "Return the weekly report: text, chart, jingle, links and the board.", obj(), None, True),
        ("toggle_labs", "Toggle labs", "Turn the experimental tools on or off; the list of tools changes.",
         obj(["on"], on=BOOL), None, False),
        ("add_template", "Add a prompt template", "Add a prompt; the list of prompts changes.",
         obj(["name"], name={"type": "string", "pattern": "^[a-z][a-z0-9_]{0,30}$"}), None, False),
    ]
    if LABS["on"]:
        tools.append(("guess_estimate", "Guess an estimate", "Guess how long an issue takes.", obj(["id"], id=ISSUE_ID), None, True))
    return tools


def describe_tools(ctx):
    out = []
    for name, title, description, schema, output, read_only in tool_table():
        schema = json.loads(json.dumps(schema))
        if ctx.version != V26:
            for prop in schema["properties"].values():
                prop.pop("x-mcp-header", None)
        one = {"name": name, "title": title, "description": description, "inputSchema": schema,
               "annotations": {"title": title, "readOnlyHint": read_only, "openWorldHint": False}}
        if not read_only:
            one["annotations"]["destructiveHint"] = name == "close_issue"
        if output:
            one["outputSchema"] = json.loads(json.dumps(output))
        if ctx.version != V06 and name in ("list_issues", "weekly_report"):
            one["icons"] = [ICON]
        out.append(one)
    return out


def board():
    return json.dumps({"open": [n for n, i in ISSUES.items() if i["status"] != "closed"], "total": len(ISSUES)})


def describe_resources(ctx):
    out = [
        {"uri": "tracker://board", "name": "board", "title": "Board", "description": "The board of open issues",
         "mimeType": "application/json", "annotations": {"audience": ["user", "assistant"], "priority": 0.9,
                                                         "lastModified": "2026-07-08T10:00:00Z"}},
        {"uri": "tracker://readme", "name": "readme", "title": "Read me", "mimeType": "text/markdown", "size": len(README.encode())},
        {"uri": "tracker://logo.png", "name": "logo.png", "title": "Logo", "mimeType": "image/png", "size": len(png())}]
    for n, issue in ISSUES.items():
        out.append({"uri": f"tracker://issues/{n}", "name": f"issue-{n}", "title": issue["title"], "mimeType": "application/json"})
    return out


def describe_templates(ctx):
    return [{"uriTemplate": "tracker://issues/{id}", "name": "issue", "title": "Issue", "description": "One issue by its number",
             "mimeType": "application/json"},
            {"uriTemplate": "tracker://users/{user}", "name": "user", "title": "User", "mimeType": "text/plain"},
            {"uriTemplate": "tracker://boards/{project}/{status}", "name": "project-board", "title": "Board of a project",
             "mimeType": "application/json"}]


def describe_prompts(ctx):
    out = [
        {"name": "triage_issue", "title": "Triage an issue", "description": "Ask for a triage of one issue",
         "arguments": [{"name": "issue_id", "title": "Issue", "description": "Number of the issue", "required": True},
                       {"name": "tone", "description": "Tone of the answer", "required": False}]},
        {"name": "standup", "title": "Stand-up", "description": "Prepare the stand-up of today"},
        {"name": "review_design", "title": "Review a design", "description": "Review the logo and the read-me",
         "arguments": [{"name": "reviewer", "description": "Who reviews", "required": True}]},
        {"name": "release_notes", "title": "Release notes", "description": "Write release notes",
         "arguments": [{"name": "version", "required": True}]}]
    return out + [{"name": name, "description": "A template of the team"} for name in LABS["templates"]]


def resource_contents(uri):
    """The contents of a resource, or None where there is no such resource."""
    if uri == "tracker://board":
        return [{"uri": uri, "mimeType": "application/json", "text": board()}]
    if uri == "tracker://readme":
        return [{"uri": uri, "mimeType": "text/markdown", "text": README}]
    if uri == "tracker://logo.png":
        return [{"uri": uri, "mimeType": "image/png", "blob": PNG64}]
    match = re.fullmatch(r"tracker://issues/([1-9][0-9]{0,8})", uri)
    if match and int(match.group(1)) in ISSUES:
        return [{"uri": uri, "mimeType": "application/json", "text": json.dumps(ISSUES[int(match.group(1))], ensure_ascii=False)}]
    match = re.fullmatch(r"tracker://users/([^/]+)", uri)
    if match and unquote(match.group(1)) in USERS:
        return [{"uri": uri, "mimeType": "text/plain", "text": f"{unquote(match.group(1))} of the Harbor team"}]
    match = re.fullmatch(r"tracker://boards/harbor/(open|in_progress|closed)", uri)
    if match:
        return [{"uri": uri, "mimeType": "application/json",
                 "text": json.dumps([n for n, i in ISSUES.items() if i["status"] == match.group(1)])}]
    return None


def check_schema(value, schema, where="arguments"):
    """A message on what is wrong with the value, or None. Knows the keywords that the schemas of this server use."""
    kind = schema.get("type")
    kinds = {"object": dict, "array": list, "string": str, "integer": int, "boolean": bool, "number": (int, float)}
    if kind == "integer" and isinstance(value, float) and value.is_integer():
        value = int(value)
    if kind and (not isinstance(value, kinds[kind]) or (kind in ("integer", "number") and isinstance(value, bool))):
        return f"{where} is not of type {kind}"
    if "enum" in schema and value not in schema["enum"]:
        return f"{where} is not one of {', '.join(schema['enum'])}"
    if kind == "string":
        if len(value) < schema.get("minLength", 0) or len(value) > schema.get("maxLength", 1 << 30):
            return f"{where} has the wrong length"
        if "pattern" in schema and not re.search(schema["pattern"], value):
            return f"{where} does not match {schema['pattern']}"
    if kind == "integer":
        if value < schema.get("minimum", value) or value > schema.get("maximum", value):
            return f"{where} is out of range"
    if kind == "object":
        for name in schema.get("required", []):
            if name not in value:
                return f"{where}: {name} is missing"
        for name, member in value.items():
            if name in schema.get("properties", {}):
                wrong = check_schema(member, schema["properties"][name], name)
                if wrong:
                    return wrong
            elif schema.get("additionalProperties") is False:
                return f"{where}: {name[:40]} is unknown"
    return None


# ---------------------------------------------------------------- sessions, listeners, contexts

class Session:
    """One legacy session: a stdio process or an HTTP session."""

    def __init__(self, version, caps, out=None):
        self.id, self.version, self.caps, self.out = secrets.token_hex(16), version, caps, out
        if F("session-id-counter"):
            self.id = str(len(SESSIONS) + 1)
        if F("session-id-with-space"):
            self.id = "harbor session é " + self.id
        self.level, self.subscribed, self.ready = "info", set(), False
        self.pending, self.inflight, self.lock = {}, {}, threading.RLock()
        self.streams, self.gets, self.backlog, self.next_id, self.next_stream = {}, [], [], 0, 0

    def notify(self, message):
        if self.out:
            self.out(message)
            return
        with self.lock:
            open_gets = [s for s in self.gets if s.readers]
            if not open_gets:
                self.backlog = (self.backlog + [message])[-100:]
            for stream in open_gets if F("broadcast-on-all-streams") else open_gets[:1]:
                stream.put(message)

    def new_stream(self):
        with self.lock:
            self.next_stream += 1
            stream = Stream(f"s{self.next_stream}")
            self.streams[stream.id] = stream
            return stream


SESSIONS, LISTENERS = {}, []
FIRST_LISTEN = []


class Stream:
    """Messages of one HTTP response stream, kept so that a legacy client may resume it."""

    def __init__(self, name):
        self.id, self.messages, self.done, self.readers = name, [], False, 0
        self.cond, self.abort = threading.Condition(), False

    def put(self, message):
        with self.cond:
            self.messages.append(message)
            self.cond.notify_all()

    def close(self):
        with self.cond:
            self.done = True
            self.cond.notify_all()


class Context:
    """One request: who asks, by which revision, and where its messages go."""

    def __init__(self, version, out, session=None, request_id=None, params=None, caps=None, level=None):
        self.version, self.out, self.session, self.id = version, out, session, request_id
        self.modern, self.params = version == V26, params if params is not None else {}
        self.meta = self.params.get("_meta") or {}
        self.caps, self.level = caps if caps is not None else {}, level
        self.cancelled, self.finished, self.headers = threading.Event(), False, None
        self.keep_open = False
        self.progress_count = 0

    def notify(self, method, params=None):
        if self.cancelled.is_set() and not F("cancel-ignored"):
            return
        message = {"jsonrpc": "2.0", "method": method}
        if params is not None:
            message["params"] = params
        self.out(message)

    def log(self, level, data, logger="tracker"):
        wanted = self.level if self.modern else self.session.level
        if self.modern and wanted is None:
            if not F("log-without-opt-in"):
                return
            wanted = "debug"
        passes = LEVELS.index(level) >= LEVELS.index(wanted)
        if F("log-level-ignored"):
            passes = True
        if F("log-level-inverted"):
            passes = LEVELS.index(level) <= LEVELS.index(wanted)
        if not passes:
            return
        params = {"level": level, "logger": logger, "data": data}
        if F("log-level-warn") and level == "warning":
            params["level"] = "warn"
        if F("log-level-number"):
            params["level"] = LEVELS.index(level)
        if F("log-data-renamed"):
            params["message"] = params.pop("data")
        if F("log-logger-null"):
            params["logger"] = None
        if F("log-with-secret"):
            params["data"] = {"event": data, "db": "postgres://harbor:hunter2@10.0.0.7/issues", "password": "hunter2"}
        if F("log-on-listen-stream") and self.modern and LISTENERS:
            LISTENERS[0].out({"jsonrpc": "2.0", "method": "notifications/message", "params": params})
            return
        self.notify("notifications/message", params)

    def progress(self, done, total, message):
        token = self.meta.get("progressToken")
        if token is None:
            if not F("progress-without-token"):
                return
            token = self.id
        self.progress_count += 1
        params = {"progressToken": token, "progress": done, "total": total, "message": message}
        if F("progress-backwards"):
            params["progress"] = total - done
        if F("progress-repeats"):
            params["progress"] = (done + 1) // 2
        if F("progress-token-as-string"):
            params["progressToken"] = f"{token}" if not isinstance(token, str) else f"token-{token}"
        if F("progress-token-is-request-id"):
            params["progressToken"] = self.id
        if F("progress-as-text"):
            params["progress"] = f"{100 * done // total}%"
        if F("progress-value-missing"):
            params["percent"] = 100 * done // total
            del params["progress"]
        if F("progress-total-null"):
            params["total"] = None
        if F("progress-message-object"):
            params["message"] = {"text": message}
        if F("progress-on-listen-stream") and self.modern and LISTENERS:
            LISTENERS[0].out({"jsonrpc": "2.0", "method": "notifications/progress", "params": params})
            return
        if F("progress-on-get-stream") and self.session and not self.session.out:
            self.session.notify({"jsonrpc": "2.0", "method": "notifications/progress", "params": params})
            return
        if F("progress-to-other-sessions") and self.session:
            for other in list(SESSIONS.values()):
                if other is not self.session:
                    other.notify({"jsonrpc": "2.0", "method": "notifications/progress", "params": params})
        self.notify("notifications/progress", params)

    def sleep(self, seconds):
        if self.cancelled.wait(seconds):
            if F("cancel-ignored"):
                time.sleep(seconds)
                return
            raise Cancelled()

    def ask(self, method, params):
        """Legacy: sends a request to the client and waits for its response."""
        session = self.session
        with session.lock:
            session.next_id += 1
            number = 1 if F("server-request-id-reused") else session.next_id
            box = session.pending[number] = queue.Queue()
        message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        if F("server-request-id-null"):
            message["id"] = None
        if F("elicit-on-get-stream") and not session.out:
            session.notify(message)
        else:
            self.out(message)
        ends = time.time() + 60
        while time.time() < ends:
            if self.cancelled.is_set():
                session.pending.pop(number, None)
                raise Cancelled()
            try:
                answer = box.get(timeout=0.1)
            except queue.Empty:
                continue
            session.pending.pop(number, None)
            if "result" in answer and isinstance(answer["result"], dict):
                return answer["result"]
            return None
        session.pending.pop(number, None)
        self.notify("notifications/cancelled", {"requestId": number, "reason": "no answer in 60 seconds"})
        return None


class Listener:
    """One subscriptions/listen stream."""

    def __init__(self, ctx, wanted):
        self.ctx, self.id, self.wanted, self.send = ctx, ctx.id, wanted, ctx.out

    def tag(self):
        if F("subscription-id-as-string"):
            return f"sub-{self.id}"
        if F("subscription-id-of-first") and FIRST_LISTEN:
            return FIRST_LISTEN[0]
        return self.id

    def out(self, message):
        params = message.setdefault("params", {})
        if not F("subscription-id-missing") or message["method"].endswith("acknowledged"):
            params["_meta"] = {META + "subscriptionId": self.tag()}
        if not self.ctx.cancelled.is_set() or F("listen-cancel-ignored"):
            self.send(message)


def changed(kind):
    """The list of tools, prompts or resources has changed."""
    if F("list-changes-swallowed") or (F("tool-list-change-swallowed") and kind == "tools"):
        return
    method = f"notifications/{kind}/list_changed"
    if F("prompt-list-change-misspelled") and kind == "prompts":
        method = "notifications/prompts/listChanged"
    if F("tool-list-change-wrong-method") and kind == "tools":
        method = "notifications/tools/updated"
    message = {"jsonrpc": "2.0", "method": method}
    if F("list-change-with-id"):
        message["id"] = random.randrange(1000, 9999)
    if F("list-change-params-null"):
        message["params"] = None
    for session in list(SESSIONS.values()):
        if session.ready:
            session.notify(dict(message))
    for listener in list(LISTENERS):
        if listener.wanted.get(kind + "ListChanged") is True or F("listen-sends-everything"):
            copy = {k: v for k, v in message.items() if v is not None}
            listener.out(copy)


def updated(uri):
    if F("resource-updates-swallowed"):
        return
    params = {"uri": uri}
    if F("resource-update-without-uri"):
        params = {"name": uri.rsplit("/", 1)[-1]}
    if F("resource-update-uri-list"):
        params = {"uri": [uri]}
    for session in list(SESSIONS.values()):
        if session.ready and (uri in session.subscribed or F("updates-without-subscription")):
            session.notify({"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": dict(params)})
    for listener in list(LISTENERS):
        if uri in listener.wanted.get("resourceSubscriptions", []) or F("listen-sends-everything") or F("updates-without-subscription"):
            listener.out({"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": dict(params)})


# ---------------------------------------------------------------- tools

def text(value):
    return {"type": "text", "text": value}


def failed(message):
    return {"content": [text(message)], "isError": True}


def structured(value):
    return {"content": [text(json.dumps(value, ensure_ascii=False))], "structuredContent": value}


def form_allowed(caps):
    elicitation = caps.get("elicitation")
    return isinstance(elicitation, dict) and (not elicitation or "form" in elicitation)


def state_for(ctx, name, arguments):
    payload = {"t": name, "a": hashlib.sha256(json.dumps(arguments, sort_keys=True).encode()).hexdigest()[:16],
               "e": int(time.time()) + 600, "n": secrets.token_hex(4)}
    body = base64.urlsafe_b64encode(json.dumps(payload).encode()).decode()
    return body + "." + hmac.new(KEY, body.encode(), hashlib.sha256).hexdigest()


def verify_state(state, name, arguments):
    if not isinstance(state, str):
        raise RpcError(-32602, "requestState is not a string")
    if F("state-unverified"):
        return
    body, _, mac = state.partition(".")
    if not hmac.compare_digest(mac.encode(), hmac.new(KEY, body.encode("utf-8", "replace"), hashlib.sha256).hexdigest().encode()):
        raise RpcError(-32602, "requestState is not of this server")
    payload = json.loads(base64.urlsafe_b64decode(body))
    if F("state-not-bound"):
        return
    expected = hashlib.sha256(json.dumps(arguments, sort_keys=True).encode()).hexdigest()[:16]
    if payload["t"] != name or payload["a"] != expected or payload["e"] < time.time():
        raise RpcError(-32602, "requestState belongs to another request or has expired")


REMEMBERED_CAPS = {}


def ask_client(ctx, key, capability, method, params, name, arguments):
    """What the client answers to a question: its result, or None. Modern clients are asked by multi round-trip."""
    caps = ctx.caps
    if F("capabilities-remembered") and ctx.modern:
        REMEMBERED_CAPS.update(caps)
        caps = REMEMBERED_CAPS
    able = form_allowed(caps) if capability == "elicitation" else isinstance(caps.get(capability), dict)
    if F("asks-without-capability"):
        able = True
    if F("form-for-url-only-client") and capability == "elicitation" and isinstance(caps.get("elicitation"), dict):
        able = True
    if ctx.version == V06:
        params = {k: v for k, v in params.items() if k != "mode"}
    if F("elicit-message-missing"):
        params.pop("message", None)
    if F("elicit-mode-popup") and method == "elicitation/create":
        params["mode"] = "popup"
    if F("elicit-schema-nested") and "requestedSchema" in params:
        params["requestedSchema"]["properties"]["confirm"] = {"type": "object", "properties": {"yes": BOOL}}
    if F("elicit-schema-without-type") and "requestedSchema" in params:
        del params["requestedSchema"]["type"]
    if F("elicit-asks-password") and "requestedSchema" in params:
        params["message"] = "Enter your tracker password to close the issue"
        params["requestedSchema"]["properties"]["password"] = {"type": "string", "title": "Password"}
        params["requestedSchema"]["required"] = ["confirm", "password"]
    if F("sampling-without-max-tokens"):
        params.pop("maxTokens", None)
    if F("sampling-role-system") and "messages" in params:
        params["messages"][0]["role"] = "system"
    if F("sampling-content-string") and "messages" in params:
        params["messages"][0]["content"] = params["messages"][0]["content"]["text"]
    if not ctx.modern:
        if not able or not ctx.session.ready:
            return None
        if F("input-required-on-legacy"):
            raise InputRequired({key: {"method": method, "params": params}}, None)
        return ctx.ask(method, params)
    if not able:
        needed = {"elicitation": {"form": {}}} if capability == "elicitation" else {capability: {}}
        if F("missing-capability-as-list"):
            needed = [capability]
        if F("missing-capability-as-tool-error"):
            return None
        code = -32602 if F("missing-capability-code") else -32003 if F("missing-capability-draft-code") else -32021
        raise RpcError(code, f"This tool needs the client capability {capability}",
                       None if F("missing-capability-without-data") else {"requiredCapabilities": needed},
                       200 if F("missing-capability-status") else 400)
    responses, state = ctx.params.get("inputResponses"), ctx.params.get("requestState")
    if responses is not None and not isinstance(responses, dict):
        raise RpcError(-32602, "inputResponses is not an object")
    if state is not None:
        verify_state(state, name, arguments)
    if F("input-responses-extra-rejected") and responses and set(responses) - {key}:
        raise RpcError(-32602, "unexpected inputResponses")
    if responses and key in responses and (state is not None or F("state-unverified")):
        if not isinstance(responses[key], dict):
            raise RpcError(-32602, f"inputResponses.{key} is not an object")
        return responses[key]
    if F("input-missing-is-error") and state is not None:
        raise RpcError(-32602, "inputResponses is incomplete")
    raise InputRequired({key: {"method": method, "params": params}}, state_for(ctx, name, arguments))


def run_tool(ctx, name, arguments):
    if name == "list_issues":
        found = [dict(i) for i in ISSUES.values() if arguments.get("status") in (None, i["status"])
                 and arguments.get("assignee") in (None, i["assignee"])]
        return structured({"issues": found, "count": len(found)})
    if name == "search_issues":
        found = [dict(i) for i in ISSUES.values() if arguments["query"].lower() in i["title"].lower()
                 and arguments.get("project") in (None, i["project"])][:int(arguments.get("limit", 50))]
        return structured({"issues": found, "count": len(found)})
    if name in ("get_issue", "update_issue", "close_issue", "summarize_issue", "guess_estimate"):
        issue = ISSUES.get(int(arguments["id"]))
        if issue is None:
            return failed(f"There is no issue {int(arguments['id'])}. Call list_issues for the known ones.")
    if name == "get_issue":
        return structured(dict(issue))
    if name == "create_issue":
        with LOCK:
            number = max(ISSUES) + 1
            ISSUES[number] = {"id": number, "title": arguments["title"], "status": "open",
                              "assignee": arguments.get("assignee", "nobody"), "project": "harbor", "updatedAt": "2026-07-09T09:00:00Z"}
        ctx.log("info", {"event": "created", "issue": number})
        changed("resources")
        updated("tracker://board")
        return structured(dict(ISSUES[number]))
    if name == "update_issue":
        with LOCK:
            issue.update({k: v for k, v in arguments.items() if k in ("status", "assignee")})
            issue["updatedAt"] = "2026-07-09T10:00:00Z"
        ctx.log("info", {"event": "updated", "issue": issue["id"]})
        updated(f"tracker://issues/{issue['id']}")
        updated("tracker://board")
        return structured(dict(issue))
    if name == "close_issue":
        answer = ask_client(ctx, "confirm", "elicitation", "elicitation/create", {
            "mode": "form", "message": f"Close issue {issue['id']}: {issue['title']}?",
            "requestedSchema": {"type": "object", "properties": {
                "confirm": {"type": "boolean", "title": "Close it", "default": False},
                "reason": {"type": "string", "title": "Reason", "enum": ["done", "duplicate", "wontfix"]}},
                "required": ["confirm"]}}, name, arguments)
        if answer is None:
            return failed("The user cannot be asked, so the issue stays as it is.")
        if answer.get("action") not in ("accept", "decline", "cancel"):
            if ctx.modern:
                raise RpcError(-32602, "inputResponses.confirm.action is not one of accept, decline, cancel")
            return failed("The answer of the client has no valid action.")
        form = answer.get("content")
        if answer["action"] != "accept" or not isinstance(form, dict) or form.get("confirm") is not True:
            return {"content": [text(f"Issue {issue['id']} stays {issue['status']}.")]}
        with LOCK:
            issue["status"] = "closed"
        updated(f"tracker://issues/{issue['id']}")
        updated("tracker://board")
        return {"content": [text(f"Issue {issue['id']} is closed.")]}
    if name == "summarize_issue":
        answer = ask_client(ctx, "summary", "sampling", "sampling/createMessage", {
            "messages": [{"role": "user", "content": text(f"Summarize: {issue['title']} ({issue['status']})")}],
            "systemPrompt": "You write one short sentence.", "maxTokens": 120}, name, arguments)
        if answer is None:
            return failed("The client's model cannot be asked.")
        said = answer.get("content")
        said = said[0] if isinstance(said, list) and said else said
        said = said.get("text") if isinstance(said, dict) else None
        return {"content": [text(said if isinstance(said, str) else "The model gave no text.")]}
    if name == "rebuild_index":
        steps, delay = int(arguments.get("steps", 4)), int(arguments.get("delay_ms", 60)) / 1000
        for step in range(1, steps + 1):
            ctx.sleep(delay)
            ctx.progress(step, steps, f"Shard {step} of {steps}")
        return {"content": [text(f"Rebuilt {steps} shards.")]}
    if name == "sync_calendar":
        ctx.log("error", {"event": "calendar", "error": "service unavailable"})
        if F("tool-failure-as-protocol-error"):
            raise RpcError(-32603, "The calendar service is unavailable")
        result = failed("The calendar service is unavailable. Try again later.")
        if F("tool-failure-not-flagged"):
            del result["isError"]
        if F("tool-failure-is-error-string"):
            result["isError"] = "true"
        if F("tool-failure-error-member"):
            result = {"error": "The calendar service is unavailable", "isError": True}
        return result
    if name == "run_diagnostics":
        for level in LEVELS:
            ctx.log(level, {"check": level, "ok": True}, "diagnostics")
        return {"content": [text("Eight checks done.")]}
    if name == "weekly_report":
        return {"content": [
            {"type": "text", "text": "Report of the week: naïve ☕", "annotations": {"audience": ["user"], "priority": 0.5}},
            {"type": "image", "data": PNG64, "mimeType": "image/png"},
            {"type": "audio", "data": WAV64, "mimeType": "audio/wav"},
            {"type": "resource_link", "uri": "tracker://issues/1", "name": "issue-1", "mimeType": "application/json",
             "annotations": {"audience": ["assistant"], "priority": 1, "lastModified": "2026-07-08T10:00:00Z"}},
            {"type": "resource", "resource": {"uri": "tracker://board", "mimeType": "application/json", "text": board()}}]}
    if name == "toggle_labs":
        differs = LABS["on"] != arguments["on"]
        LABS["on"] = arguments["on"]
        if differs:
            changed("tools")
        return {"content": [text(f"Labs are {'on' if LABS['on'] else 'off'}.")]}
    if name == "add_template":
        with LOCK:
            if arguments["name"] in [p["name"] for p in describe_prompts(ctx)]:
                return failed("There is a prompt of that name already.")
            LABS["templates"].append(arguments["name"])
        changed("prompts")
        return {"content": [text(f"Added {arguments['name']}.")]}
    return {"content": [text(f"About {1 + issue['id'] % 5} days.")]}


def call_tool(ctx):
    name, arguments = ctx.params.get("name"), ctx.params.get("arguments")
    if not isinstance(name, str):
        raise RpcError(-32603 if F("missing-params-internal-error") else -32602, "params.name is missing or not a string")
    table = {entry[0]: entry for entry in tool_table()}
    if name not in table:
        if F("unknown-tool-as-tool-error"):
            return failed(f"Unknown tool: {name}")
        if F("unknown-tool-empty-result"):
            return {"content": []}
        raise RpcError(-32601 if F("unknown-tool-method-not-found") else 404 if F("unknown-tool-http-code") else -32602,
                       f"Unknown tool: {name[:80]}")
    if "arguments" not in ctx.params:
        if F("arguments-required"):
            raise RpcError(-32602, "params.arguments is missing")
        arguments = {}
    if not isinstance(arguments, dict):
        raise RpcError(-32602, "params.arguments is not an object")
    if F("stdout-debug"):
        sys.stdout.buffer.write(f"DEBUG call {name} {arguments}\n".encode())
        sys.stdout.buffer.flush()
    wrong = check_schema(arguments, table[name][3])
    if wrong and not F("arguments-unvalidated"):
        if ctx.version == V06 or F("invalid-arguments-as-protocol-error"):
            raise RpcError(-32602, f"Invalid arguments for {name}: {wrong}")
        return failed(f"Invalid arguments for {name}: {wrong}")
    try:
        return run_tool(ctx, name, arguments)
    except (KeyError, TypeError, ValueError, AttributeError):
        if F("arguments-unvalidated"):
            return {"content": [text("ok")]}
        raise


# ---------------------------------------------------------------- the other methods

def paged(ctx, member, items, size):
    cursor, start = ctx.params.get("cursor"), 0
    if "cursor" in ctx.params:
        match = None
        if isinstance(cursor, str):
            try:
                match = re.fullmatch(member + r"@([0-9]{1,6})", base64.urlsafe_b64decode(cursor.encode("ascii")).decode("ascii"))
            except ValueError:
                match = None
        if match and int(match.group(1)) <= len(items):
            start = int(match.group(1))
        elif F("invalid-cursor-restarts"):
            start = 0
        elif F("invalid-cursor-empty-page"):
            start = len(items)
        else:
            raise RpcError(-32603 if F("invalid-cursor-internal-error") else -32602, "params.cursor is not a cursor of this list")
    result = {member: items[start:start + size]}
    if start + size < len(items):
        following = start if F("cursor-stuck") else start + size
        result["nextCursor"] = base64.urlsafe_b64encode(f"{member}@{following}".encode()).decode()
        if F("cursor-as-number"):
            result["nextCursor"] = following
    elif F("cursor-null-at-end"):
        result["nextCursor"] = None
    elif F("cursor-loops"):
        result["nextCursor"] = base64.urlsafe_b64encode(f"{member}@0".encode()).decode()
    if F("page-repeats-item") and start:
        result[member] = items[start - 1:start + size]
    return cached(ctx, result, 60000, "private" if F("cache-scope-differs-by-page") and start else "public")


def cached(ctx, result, ttl, scope):
    if ctx.modern:
        result["ttlMs"], result["cacheScope"] = ttl, scope
    return result


def need_string(params, key):
    if not isinstance(params.get(key), str):
        raise RpcError(-32603 if F("missing-params-internal-error") else -32602, f"params.{key} is missing or not a string")
    return params[key]


def not_found(ctx, uri):
    if F("resource-not-found-empty"):
        return {"contents": []}
    if F("resource-not-found-as-text"):
        return {"contents": [{"uri": uri, "text": "404 not found"}]}
    code = -32602 if ctx.modern else -32002
    if F("resource-not-found-old-code"):
        code = -32002
    if F("resource-not-found-new-code"):
        code = -32602
    if F("resource-not-found-internal"):
        code = -32603
    if F("resource-not-found-unknown-reserved-code"):
        code = -32044
    raise RpcError(code, "Resource not found", {"uri": uri})


def read_resource(ctx):
    uri = need_string(ctx.params, "uri")
    found = resource_contents(uri)
    if found is None:
        result = not_found(ctx, uri)
    else:
        result = {"contents": found}
    return cached(ctx, result, 5000, "private")


def get_prompt(ctx):
    name = need_string(ctx.params, "name")
    prompts = {p["name"]: p for p in describe_prompts(ctx)}
    if name not in prompts:
        if F("unknown-prompt-empty"):
            return {"messages": []}
        raise RpcError(-32603 if F("unknown-prompt-internal-error") else -32601 if F("unknown-prompt-method-not-found") else -32602,
                       f"Unknown prompt: {name[:80]}")
    arguments = ctx.params.get("arguments", {})
    if not isinstance(arguments, dict) or not all(isinstance(v, str) for v in arguments.values()):
        raise RpcError(-32602, "params.arguments is not a map of strings")
    for argument in prompts[name].get("arguments", []):
        if argument.get("required") and argument["name"] not in arguments and not F("prompt-arguments-unchecked"):
            raise RpcError(-32602, f"The argument {argument['name']} is missing")
    if name == "triage_issue":
        messages = [{"role": "user", "content": text(f"Triage issue {arguments.get('issue_id')}, tone {arguments.get('tone', 'calm')}.")},
                    {"role": "assistant", "content": text("I will look at severity first.")}]
    elif name == "review_design":
        messages = [{"role": "user", "content": {"type": "image", "data": PNG64, "mimeType": "image/png"}},
                    {"role": "user", "content": {"type": "resource", "resource": {
                        "uri": "tracker://readme", "mimeType": "text/markdown", "text": README}}},
                    {"role": "user", "content": text(f"Please review this, {arguments.get('reviewer')}.")}]
    elif name == "release_notes":
        messages = [{"role": "user", "content": text(f"Write release notes for {arguments.get('version')}.")}]
    else:
        messages = [{"role": "user", "content": text("What did we do yesterday?")}]
    return {"description": prompts[name]["description"], "messages": messages}


def complete(ctx):
    ref, argument = ctx.params.get("ref"), ctx.params.get("argument")
    if not isinstance(ref, dict) or not isinstance(argument, dict) or not isinstance(argument.get("name"), str) \
            or not isinstance(argument.get("value"), str):
        raise RpcError(-32603 if F("missing-params-internal-error") else -32602, "params.ref or params.argument is invalid")
    choices = None
    if ref.get("type") == "ref/prompt" and isinstance(ref.get("name"), str):
        known = {p["name"]: [a["name"] for a in p.get("arguments", [])] for p in describe_prompts(ctx)}
        if ref["name"] in known and argument["name"] in known[ref["name"]]:
            choices = {"issue_id": [str(n) for n in ISSUES], "tone": ["calm", "cheerful", "strict"],
                       "reviewer": USERS, "version": ["1.0.0", "1.1.0", "2.0.0"]}[argument["name"]]
    elif ref.get("type") == "ref/resource" and isinstance(ref.get("uri"), str):
        known = {"tracker://issues/{id}": {"id": [str(n) for n in ISSUES]}, "tracker://users/{user}": {"user": USERS},
                 "tracker://boards/{project}/{status}": {"project": ["harbor"], "status": STATUSES}}
        choices = known.get(ref["uri"], {}).get(argument["name"])
    if choices is None:
        if F("completion-unknown-ref-empty"):
            return {"completion": {"values": []}}
        raise RpcError(-32001 if F("completion-unknown-ref-code") else -32602, "Nothing known by that reference and argument name")
    fitting = [c for c in choices if c.startswith(argument["value"])]
    shown = fitting if F("completion-too-many") else fitting[:100]
    return {"completion": {"values": shown, "total": len(fitting), "hasMore": len(fitting) > len(shown)}}


def capabilities(ctx):
    caps = {"tools": {"listChanged": True}, "prompts": {"listChanged": True},
            "resources": {"subscribe": True, "listChanged": True}, "completions": {}, "logging": {}}
    for fault, name in (("logging-undeclared", "logging"), ("completions-undeclared", "completions"),
                        ("resources-undeclared", "resources"), ("prompts-undeclared", "prompts"), ("tools-undeclared", "tools")):
        if F(fault):
            del caps[name]
    if F("capability-as-string"):
        caps["tools"]["listChanged"] = "true"
    if F("capability-as-true"):
        caps["completions"] = True
    if F("capability-null"):
        caps["experimental"] = None
    if F("subscribe-as-object"):
        caps["resources"]["subscribe"] = {}
    if F("capabilities-as-list"):
        return sorted(caps)
    return caps


def server_info(ctx):
    info = {"name": "harbor-tracker", "title": "Harbor tracker", "version": "3.2.1"}
    if ctx.version != V06:
        info["icons"] = [ICON]
    if F("server-info-without-version"):
        del info["version"]
    if F("server-info-version-number"):
        info["version"] = 3.2
    if F("server-info-name-missing"):
        del info["name"]
    return info


def initialize(params, out):
    """The result of initialize and the new session."""
    asked, caps, client = params.get("protocolVersion"), params.get("capabilities"), params.get("clientInfo")
    if not isinstance(asked, str) or not isinstance(caps, dict) or not isinstance(client, dict):
        raise RpcError(-32602, "initialize needs protocolVersion, capabilities and clientInfo")
    version = asked if asked in LEGACY else V11
    if F("initialize-always-newest"):
        version = V11
    if asked not in LEGACY:
        if F("initialize-unknown-version-error"):
            raise RpcError(-32602, "Unsupported protocol version", {"supported": [V11, V06]})
        if F("initialize-offers-oldest"):
            version = V06
    session = Session(version, caps, out)
    ctx = Context(version, None, session)
    stated = version
    if asked not in LEGACY and F("initialize-echoes-unknown-version"):
        stated = asked
    if asked not in LEGACY and F("initialize-offers-modern"):
        stated = V26
    result = {"protocolVersion": stated, "capabilities": capabilities(ctx), "serverInfo": server_info(ctx),
              "instructions": "Use list_issues first. Issue numbers are stable."}
    ctx.params = params
    return spoil("initialize", result, ctx), session


def discover(ctx):
    if F("discover-not-implemented"):
        raise RpcError(-32601, "Method not found", None, 404)
    return cached(ctx, {"supportedVersions": list(SUPPORTED), "capabilities": capabilities(ctx),
                        "instructions": "Use list_issues first. Issue numbers are stable."}, 3600000, "public")


def set_level(ctx):
    level = ctx.params.get("level")
    if level not in LEVELS:
        if F("invalid-level-accepted"):
            return {}
        raise RpcError(-32603 if F("invalid-level-internal-error") else -32602, "params.level is not a log level")
    ctx.session.level = level
    return {}


def subscribe(ctx):
    uri = need_string(ctx.params, "uri")
    if resource_contents(uri) is None:
        return not_found(ctx, uri) if not F("resource-not-found-empty") and not F("resource-not-found-as-text") else {}
    for session in list(SESSIONS.values()) if F("subscriptions-shared-by-sessions") else [ctx.session]:
        session.subscribed.add(uri)
    return {}


def unsubscribe(ctx):
    uri = need_string(ctx.params, "uri")
    if not F("unsubscribe-ignored"):
        ctx.session.subscribed.discard(uri)
    return {}


def listen(ctx):
    wanted = ctx.params.get("notifications")
    kinds = ["toolsListChanged", "promptsListChanged", "resourcesListChanged"]
    if not isinstance(wanted, dict) or not all(isinstance(wanted.get(k, False), bool) for k in kinds) \
            or not isinstance(wanted.get("resourceSubscriptions", []), list) \
            or not all(isinstance(u, str) for u in wanted.get("resourceSubscriptions", [])):
        raise RpcError(-32602, "params.notifications is not a filter of notifications")
    agreed = {k: True for k in kinds if wanted.get(k) is True}
    if "resourceSubscriptions" in wanted:
        agreed["resourceSubscriptions"] = [u for u in wanted["resourceSubscriptions"] if resource_contents(u) is not None]
    listener = Listener(ctx, agreed)
    FIRST_LISTEN.append(ctx.id)
    shown = dict(agreed)
    if F("acknowledges-everything"):
        shown = {k: True for k in kinds}
    if F("acknowledges-strings"):
        shown = {k: "true" if v is True else v for k, v in agreed.items()}
    ack = {"jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged", "params": {"notifications": shown}}
    if F("acknowledgment-without-filter"):
        ack["params"] = {}
    if F("acknowledgment-misspelled"):
        ack["method"] = "notifications/subscriptions/acknowledge"
    if F("notification-before-acknowledgment"):
        listener.out({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
    if F("listen-answers-at-once"):
        listener.out(ack)
        return {"_meta": {META + "subscriptionId": ctx.id}}
    if F("second-listen-replaces-first"):
        LISTENERS.clear()
    if F("acknowledgment-without-id"):
        listener.send(ack)
    elif not F("acknowledgment-missing"):
        listener.out(ack)
    LISTENERS.append(listener)
    ctx.keep_open = True
    if F("listen-result-without-id"):
        ctx.sleep(0.3)
        LISTENERS.remove(listener)
        return {}
    while not ctx.cancelled.wait(0.2):
        pass
    if F("listen-cancel-ignored"):
        return None
    if listener in LISTENERS:
        LISTENERS.remove(listener)
    raise Cancelled()


METHODS = {
    "tools/list": lambda ctx: paged(ctx, "tools", describe_tools(ctx), 6),
    "tools/call": call_tool,
    "resources/list": lambda ctx: paged(ctx, "resources", describe_resources(ctx), 5),
    "resources/templates/list": lambda ctx: paged(ctx, "resourceTemplates", describe_templates(ctx), 2),
    "resources/read": read_resource,
    "prompts/list": lambda ctx: paged(ctx, "prompts", describe_prompts(ctx), 3),
    "prompts/get": get_prompt,
    "completion/complete": complete,
}
ONLY_LEGACY = {"ping": lambda ctx: {}, "logging/setLevel": set_level, "resources/subscribe": subscribe,
               "resources/unsubscribe": unsubscribe}
ONLY_MODERN = {"server/discover": discover, "subscriptions/listen": listen}


def spoil(method, result, ctx):
    change = CHANGES.get(FAULT)
    if change and ctx.version in change[0] and (method in change[1] or "*" in change[1]):
        result = change[2](json.loads(json.dumps(result)), ctx)
    return result


def stale(result, ctx):
    name = ctx.params.get("name")
    if "structuredContent" in result:
        LAST_STRUCTURED.setdefault(name, result["structuredContent"])
        result["structuredContent"] = LAST_STRUCTURED[name]
    return result


def run(ctx, method):
    """The response to a request."""
    handlers = {**METHODS, **(ONLY_MODERN if ctx.modern else ONLY_LEGACY)}
    response = {"jsonrpc": "2.0", "id": ctx.id}
    ctx.status = 200
    try:
        if method not in handlers or (F("resources-list-not-found") and method == "resources/list") \
                or (F("ping-not-found") and method == "ping"):
            if F("unknown-method-empty-result"):
                return {**response, "result": {"resultType": "complete"} if ctx.modern else {}}
            status = 404 if ctx.modern and not F("unknown-method-status-200") else 200
            if F("unknown-method-status-400") and ctx.modern:
                status = 400
            raise RpcError(-32602 if F("unknown-method-invalid-params") else -32600 if F("unknown-method-invalid-request")
                           else -32601, f"Method not found: {method[:80]}", None, status)
        try:
            result = handlers[method](ctx)
        except InputRequired as asked:
            result = {"resultType": "input_required", "inputRequests": asked.requests}
            if asked.state:
                result["requestState"] = asked.state
            if F("input-requests-as-list"):
                result["inputRequests"] = [{"id": k, **v} for k, v in asked.requests.items()]
            if F("input-request-method-short"):
                for one in result["inputRequests"].values():
                    one["method"] = one["method"].split("/")[0]
            if F("input-request-as-json-rpc-on-stream") and ctx.modern:
                for key, one in asked.requests.items():
                    ctx.out({"jsonrpc": "2.0", "id": f"ask-{key}", **one})
            if F("input-required-empty"):
                result = {"resultType": "input_required"}
            if F("request-state-as-object"):
                result["requestState"] = {"state": asked.state}
            if F("input-required-with-cache-hints"):
                result["ttlMs"], result["cacheScope"] = 60000, "public"
            if F("input-required-called-complete"):
                result["resultType"] = "complete"
            if F("input-required-type-camel-case"):
                result["resultType"] = "inputRequired"
            if F("input-request-params-missing"):
                for one in result["inputRequests"].values():
                    del one["params"]
        if F("list-asks-for-input") and method == "prompts/list" and ctx.modern and form_allowed(ctx.caps):
            result = {"resultType": "input_required", "requestState": "page", "inputRequests": {"filter": {
                "method": "elicitation/create", "params": {"mode": "form", "message": "Which prompts?", "requestedSchema": {
                    "type": "object", "properties": {"filter": STR}}}}}}
        if ctx.modern and isinstance(result, dict):
            result = {"resultType": "complete", **result}
            if not F("server-info-not-in-results"):
                result["_meta"] = {**result.get("_meta", {}), META + "serverInfo": server_info(ctx)}
        response["result"] = spoil(method, result, ctx)
        if F("result-with-null-error"):
            response["error"] = None
    except RpcError as error:
        ctx.status = error.status
        response["error"] = {"code": error.code, "message": error.message}
        if error.data is not None:
            response["error"]["data"] = error.data
    except Cancelled:
        if F("cancel-answered-with-error"):
            response["error"] = {"code": -32800, "message": "Request cancelled"}
            return response
        return None
    except Exception as error:  # a bug of ours must not end the session
        print(f"internal error: {error!r}", file=sys.stderr)
        response["error"] = {"code": -32603, "message": "Internal error"}
    if ctx.cancelled.is_set() and not F("cancel-ignored") and not F("listen-cancel-ignored"):
        return None
    return response


def finish(response):
    """Faults of the JSON-RPC envelope of a response."""
    rid = response.get("id")
    if F("id-as-string") and isinstance(rid, int):
        response["id"] = str(rid)
    if F("id-digits-as-number") and isinstance(rid, str) and rid.isdigit():
        response["id"] = int(rid)
    if F("id-truncated") and isinstance(rid, str):
        response["id"] = rid[:8]
    if F("id-32-bit") and isinstance(rid, int):
        response["id"] = (rid + 2**31) % 2**32 - 2**31
    if F("jsonrpc-number"):
        response["jsonrpc"] = 2.0
    if "error" in response and response["error"]:
        error = response["error"]
        if F("error-without-jsonrpc"):
            del response["jsonrpc"]
        if F("error-code-as-string"):
            error["code"] = str(error["code"])
        if F("error-without-message"):
            error["reason"] = error.pop("message")
        if F("error-as-string"):
            response["error"] = error["message"]
        if F("error-id-null"):
            response["id"] = None
        if F("error-id-missing"):
            response.pop("id", None)
        if F("error-with-null-result"):
            response["result"] = None
        if F("error-inside-result"):
            response = {"jsonrpc": "2.0", "id": rid, "result": {"error": error}}
        if F("error-code-positive") and isinstance(error, dict):
            error["code"] = abs(error["code"])
        if F("error-code-float") and isinstance(error, dict):
            error["code"] = error["code"] + 0.5
        if F("error-message-null"):
            error["message"] = None
    return response


def valid_id(value):
    return isinstance(value, (str, int)) and not isinstance(value, bool)


def wrong_message(message):
    """What is wrong with the envelope of a message, as a response; or None."""
    response = {"jsonrpc": "2.0"}
    if isinstance(message, dict) and valid_id(message.get("id")):
        response["id"] = message["id"]
    bad = None
    if not isinstance(message, dict):
        bad = "A message is one JSON object"
    elif message.get("jsonrpc") != "2.0" and not F("jsonrpc-unchecked"):
        bad = "jsonrpc is not \"2.0\""
    elif "method" in message:
        if not isinstance(message["method"], str):
            bad = "method is not a string"
        elif "id" in message and not valid_id(message["id"]) and not F("null-id-served"):
            bad = "id is not a string or an integer"
        elif "params" in message and not isinstance(message["params"], dict):
            if "id" in message:
                response["error"] = {"code": -32602, "message": "params is not an object"}
                return response
            bad = "params is not an object"
    elif not ("result" in message or "error" in message) or not valid_id(message.get("id")):
        bad = "Neither a request, nor a notification, nor a response"
    if bad:
        response["error"] = {"code": -32603 if F("invalid-request-internal-error") else -32600, "message": bad}
        return response
    return None


def is_modern(message):
    meta = (message.get("params") or {}).get("_meta")
    return isinstance(meta, dict) and any(isinstance(k, str) and k.startswith(META) for k in meta)


def modern_context(message, out):
    """The context of a modern request. Raises where the request metadata are wrong."""
    params = message.get("params") or {}
    meta = params.get("_meta")
    bad_status = 200 if F("missing-metadata-status") else 400
    code = -32600 if F("missing-metadata-code") else -32602
    if not isinstance(meta, dict):
        meta = {}
    version, caps = meta.get(META + "protocolVersion"), meta.get(META + "clientCapabilities")
    if not isinstance(version, str):
        if not F("metadata-optional"):
            raise RpcError(code, f"_meta has no {META}protocolVersion", None, bad_status)
        version = V26
    if version != V26 and not F("any-version-served"):
        status = 200 if F("unsupported-version-status") else 400
        data = {"supported": list(SUPPORTED), "requested": version}
        if F("unsupported-version-without-requested"):
            del data["requested"]
        if F("unsupported-version-supported-string"):
            data["supported"] = ", ".join(SUPPORTED)
        if F("unsupported-version-without-data"):
            data = None
        code = -32602 if F("unsupported-version-invalid-params") else -32004 if F("unsupported-version-draft-code") else -32022
        raise RpcError(code, "Unsupported protocol version", data, status)
    if not isinstance(caps, dict):
        if not F("metadata-optional") and not F("client-capabilities-optional"):
            raise RpcError(code, f"_meta has no {META}clientCapabilities", None, bad_status)
        caps = {}
    client = meta.get(META + "clientInfo")
    if client is not None and not (isinstance(client, dict) and isinstance(client.get("name"), str)):
        raise RpcError(-32602, f"{META}clientInfo is invalid", None, 400)
    if client is None and F("client-info-required"):
        raise RpcError(-32602, f"_meta has no {META}clientInfo", None, 400)
    level = meta.get(META + "logLevel")
    if level is not None and level not in LEVELS:
        if not F("invalid-request-level-ignored"):
            raise RpcError(-32602, f"{META}logLevel is not a log level")
        level = None
    return Context(V26, out, None, message["id"], params, caps, level)


def error_response(message, error):
    response = {"jsonrpc": "2.0", "error": {"code": error.code, "message": error.message}}
    if "id" in message:
        response["id"] = message["id"]
    if error.data is not None:
        response["error"]["data"] = error.data
    return finish(response)


def encode(value):
    return json.dumps(value, ensure_ascii=False, allow_nan=False).encode("utf-8", "surrogatepass") \
        if not has_surrogate(value) else json.dumps(value).encode()


def has_surrogate(value):
    try:
        json.dumps(value, ensure_ascii=False).encode()
        return False
    except UnicodeEncodeError:
        return True


def decode(raw):
    def refuse(name):
        raise ValueError(name)
    return json.loads(raw.decode("utf-8"), parse_constant=refuse)


def take_response(session, message):
    box = session.pending.get(message["id"]) if session and valid_id(message.get("id")) else None
    if box:
        box.put(message)


def after_response(ctx, out):
    """Faults that send something after the response."""
    token = ctx.meta.get("progressToken") if isinstance(ctx.meta, dict) else None
    if F("progress-after-response") and token is not None and ctx.progress_count:
        out({"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": token, "progress": 1000, "total": 1000}})
    if F("cancelled-sent-for-request") and ctx.modern and ctx.params.get("name") == "rebuild_index":
        out({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": ctx.id, "reason": "done"}})


# ---------------------------------------------------------------- faults
# name, area, level, transport, revisions, sentence of the specification, what is wrong on the wire

X("initialize-always-newest", "lifecycle", "MUST", "any", [V06], "If the server supports the requested version, it MUST respond with the same version.", "Answers initialize for 2025-06-18 with 2025-11-25.")
X("initialize-echoes-unknown-version", "lifecycle", "MUST", "any", LEGACY, "Otherwise the server MUST respond with another protocol version it supports.", "Repeats an unknown protocolVersion in the initialize result.")
X("initialize-unknown-version-error", "lifecycle", "MUST", "any", LEGACY, "Otherwise the server MUST respond with another protocol version it supports.", "Answers initialize for an unknown version with an error.")
X("initialize-offers-oldest", "lifecycle", "SHOULD", "any", LEGACY, "This SHOULD be the latest version supported by the server.", "Offers 2025-06-18 to a client of an unknown version.")
X("initialize-offers-modern", "lifecycle", "MUST", "any", LEGACY, "The server MUST respond with another protocol version it supports; 2026-07-28 has no initialize.", "Offers 2026-07-28 in the initialize result.")
X("initialize-snake-case", "lifecycle", "schema", "any", LEGACY, "InitializeResult requires protocolVersion.", "The initialize result has protocol_version instead of protocolVersion.", "initialize", rename("protocolVersion", "protocol_version"))
X("initialize-without-server-info", "lifecycle", "schema", "any", LEGACY, "The server MUST respond with its own capabilities and information.", "The initialize result has no serverInfo.", "initialize", drop("serverInfo"))
X("initialize-without-capabilities", "lifecycle", "schema", "any", LEGACY, "InitializeResult requires capabilities.", "The initialize result has no capabilities.", "initialize", drop("capabilities"))
X("initialize-protocol-version-number", "lifecycle", "schema", "any", LEGACY, "InitializeResult.protocolVersion is a string.", "protocolVersion is the number 20251125.", "initialize", put("protocolVersion", 20251125))
X("instructions-object", "lifecycle", "schema", "any", ALL, "instructions is a string.", "instructions is an object.", "initialize|server/discover", put("instructions", {"text": "Use list_issues first."}))
X("instructions-null", "lifecycle", "schema", "any", ALL, "instructions is a string or absent.", "instructions is null.", "initialize|server/discover", put("instructions", None))
X("server-info-without-version", "lifecycle", "schema", "any", ALL, "Implementation requires name and version.", "serverInfo has no version.")
X("server-info-name-missing", "lifecycle", "schema", "any", ALL, "Implementation requires name and version.", "serverInfo has no name.")
X("server-info-version-number", "lifecycle", "schema", "any", ALL, "Implementation.version is a string.", "serverInfo.version is a number.")
X("capabilities-as-list", "lifecycle", "schema", "any", ALL, "ServerCapabilities is an object.", "capabilities is a list of names.")
X("capability-as-string", "lifecycle", "schema", "any", ALL, "tools.listChanged is a boolean.", "tools.listChanged is the string \"true\".")
X("capability-as-true", "lifecycle", "schema", "any", ALL, "completions is an object.", "The completions capability is true.")
X("capability-null", "lifecycle", "schema", "any", ALL, "experimental is an object or absent.", "The experimental capability is null.")
X("subscribe-as-object", "lifecycle", "schema", "any", ALL, "resources.subscribe is a boolean.", "resources.subscribe is an object.")
X("logging-undeclared", "lifecycle", "MUST", "any", ALL, "Servers that emit log message notifications MUST declare the logging capability.", "Sends log messages without the logging capability.")
X("completions-undeclared", "lifecycle", "MUST", "any", ALL, "Servers that support completions MUST declare the completions capability.", "Serves completion/complete without the completions capability.")
X("resources-undeclared", "lifecycle", "MUST", "any", ALL, "Servers that support resources MUST declare the resources capability.", "Serves resources without the resources capability.")
X("prompts-undeclared", "lifecycle", "MUST", "any", ALL, "Servers that support prompts MUST declare the prompts capability.", "Serves prompts without the prompts capability.")
X("tools-undeclared", "lifecycle", "MUST", "any", ALL, "Servers that support tools MUST declare the tools capability.", "Serves tools without the tools capability.")
X("initialized-answered", "lifecycle", "MUST", "any", LEGACY, "Notifications: the receiver MUST NOT send a response.", "Answers notifications/initialized with a result.")
X("asks-before-initialized", "lifecycle", "SHOULD", "stdio", LEGACY, "The server SHOULD NOT send requests other than pings and logging before receiving the initialized notification.", "Sends roots/list to a client with roots before notifications/initialized.")
X("ping-not-found", "ping", "MUST", "any", LEGACY, "The receiver MUST respond promptly with an empty response.", "Answers ping with -32601.")
X("ping-answers-pong", "ping", "MUST", "any", LEGACY, "The receiver MUST respond promptly with an empty response.", "The result of ping is the string pong.", "ping", lambda r, c: "pong")
X("ping-answers-null", "ping", "schema", "any", LEGACY, "A result is an object.", "The result of ping is null.", "ping", lambda r, c: None)
X("ping-answers-status", "ping", "MUST", "any", LEGACY, "The receiver MUST respond promptly with an empty response.", "The result of ping is {\"status\": \"ok\"}.", "ping", lambda r, c: {"status": "ok"})

X("discover-not-implemented", "versioning", "MUST", "any", MODERN, "Servers MUST implement server/discover.", "Answers server/discover with -32601.")
X("discover-versions-string", "versioning", "schema", "any", MODERN, "supportedVersions is an array of strings.", "supportedVersions is one string.", "server/discover", put("supportedVersions", V26))
X("discover-versions-missing", "versioning", "schema", "any", MODERN, "DiscoverResult requires supportedVersions.", "supportedVersions is called protocolVersions.", "server/discover", rename("supportedVersions", "protocolVersions"))
X("discover-without-current-version", "versioning", "MUST", "any", MODERN, "supportedVersions: protocol versions the server supports.", "supportedVersions omits 2026-07-28, by which it was asked.", "server/discover", put("supportedVersions", [V11, V06]))
X("discover-capabilities-null", "versioning", "schema", "any", MODERN, "DiscoverResult requires capabilities.", "capabilities is null.", "server/discover", put("capabilities", None))
X("discover-like-initialize", "versioning", "schema", "any", MODERN, "DiscoverResult requires supportedVersions.", "server/discover answers in the shape of an initialize result.", "server/discover", lambda r, c: {"resultType": "complete", "protocolVersion": V26, "capabilities": r["capabilities"], "serverInfo": {"name": "harbor-tracker", "version": "3.2.1"}, "ttlMs": 1000, "cacheScope": "public", "_meta": r["_meta"]})
X("unsupported-version-invalid-params", "versioning", "MUST", "any", MODERN, "The server MUST respond with an UnsupportedProtocolVersionError.", "Refuses an unknown version with -32602.")
X("unsupported-version-draft-code", "versioning", "MUST", "any", MODERN, "UnsupportedProtocolVersion is -32022.", "Refuses an unknown version with the draft's -32004.")
X("unsupported-version-without-data", "versioning", "schema", "any", MODERN, "MUST respond with an UnsupportedProtocolVersionError listing the versions it does support.", "The error has no data.")
X("unsupported-version-without-requested", "versioning", "schema", "any", MODERN, "data of UnsupportedProtocolVersionError requires supported and requested.", "The error has no data.requested.")
X("unsupported-version-supported-string", "versioning", "schema", "any", MODERN, "data.supported is an array of strings.", "data.supported is one string.")
X("unsupported-version-status", "versioning", "MUST", "http", MODERN, "It MUST respond with 400 Bad Request and an UnsupportedProtocolVersionError.", "Refuses an unknown version with HTTP status 200.")
X("any-version-served", "versioning", "MUST", "any", MODERN, "If the server does not implement the requested version it MUST respond with an UnsupportedProtocolVersionError.", "Serves requests of any version.")
X("metadata-optional", "versioning", "MUST", "any", MODERN, "A request missing any required field is malformed; the server MUST reject it with -32602.", "Serves requests without the _meta of the protocol.")
X("client-capabilities-optional", "versioning", "MUST", "any", MODERN, "A request missing any required field is malformed; the server MUST reject it with -32602.", "Serves requests without clientCapabilities in _meta.")
X("client-info-required", "versioning", "schema", "any", MODERN, "clientInfo is not required.", "Refuses requests without clientInfo in _meta.")
X("missing-metadata-status", "versioning", "MUST", "http", MODERN, "On HTTP, the response status MUST be 400 Bad Request.", "Refuses requests without _meta fields with HTTP status 200.")
X("missing-metadata-code", "versioning", "MUST", "any", MODERN, "The server MUST reject it with JSON-RPC error code -32602.", "Refuses requests without _meta fields with -32600.")
X("missing-capability-code", "versioning", "MUST", "any", MODERN, "The server MUST return a MissingRequiredClientCapabilityError (-32021).", "Reports a missing client capability with -32602.")
X("missing-capability-draft-code", "versioning", "MUST", "any", MODERN, "The server MUST return a MissingRequiredClientCapabilityError (-32021).", "Reports a missing client capability with the draft's -32003.")
X("missing-capability-without-data", "versioning", "MUST", "any", MODERN, "whose data.requiredCapabilities lists the missing capabilities.", "The error about a missing capability has no data.")
X("missing-capability-as-list", "versioning", "schema", "any", MODERN, "requiredCapabilities is a ClientCapabilities object.", "requiredCapabilities is a list of names.")
X("missing-capability-status", "versioning", "MUST", "http", MODERN, "On HTTP, the response status MUST be 400 Bad Request.", "Reports a missing capability with HTTP status 200.")
X("missing-capability-as-tool-error", "versioning", "MUST", "any", MODERN, "The server MUST return a MissingRequiredClientCapabilityError.", "Reports a missing capability as a tool result with isError.")
X("capabilities-remembered", "versioning", "MUST", "any", MODERN, "Servers MUST NOT rely on prior requests over the same connection to establish context (e.g., capabilities).", "Asks a client that declared elicitation only in an earlier request.")
X("server-info-not-in-results", "versioning", "SHOULD", "any", MODERN, "Servers SHOULD include serverInfo in every result's _meta.", "Results carry no serverInfo.")
X("discover-server-info-at-top", "versioning", "SHOULD", "any", MODERN, "Servers SHOULD include serverInfo in every result's _meta.", "server/discover has serverInfo at the top of the result and none in _meta.", "server/discover", lambda r, c: {**{k: v for k, v in r.items() if k != "_meta"}, "serverInfo": {"name": "harbor-tracker", "version": "3.2.1"}})
X("result-type-missing", "versioning", "MUST", "any", MODERN, "The result MUST include a resultType field.", "No result has a resultType.", "*", drop("resultType"))
X("result-type-missing-in-lists", "versioning", "MUST", "any", MODERN, "The result MUST include a resultType field.", "The results of list requests have no resultType.", "tools/list|resources/list|prompts/list|resources/templates/list", drop("resultType"))
X("result-type-missing-in-completion", "versioning", "MUST", "any", MODERN, "The result MUST include a resultType field.", "The result of completion/complete has no resultType.", "completion/complete", drop("resultType"))
X("result-type-success", "versioning", "MUST", "any", MODERN, "The set of supported ResultType values MUST be created from the set defined in the core protocol.", "prompts/get has the resultType \"success\".", "prompts/get", put("resultType", "success"))
X("result-type-of-tools", "versioning", "MUST", "any", MODERN, "The set of supported ResultType values MUST be created from the set defined in the core protocol.", "tools/call has the resultType \"tool_result\".", "tools/call", lambda r, c: {**r, "resultType": "tool_result"} if r.get("resultType") == "complete" else r)

X("id-as-string", "json-rpc", "MUST", "any", ALL, "Responses MUST include the same ID as the request.", "Numeric ids come back as strings.")
X("id-digits-as-number", "json-rpc", "MUST", "any", ALL, "Responses MUST include the same ID as the request.", "Ids that are strings of digits come back as numbers.")
X("id-truncated", "json-rpc", "MUST", "any", ALL, "Responses MUST include the same ID as the request.", "String ids come back cut to 8 characters.")
X("id-32-bit", "json-rpc", "MUST", "any", ALL, "Responses MUST include the same ID as the request.", "Ids of more than 31 bits overflow.")
X("jsonrpc-number", "json-rpc", "schema", "any", ALL, "jsonrpc is the string 2.0.", "jsonrpc is the number 2.0 in responses.")
X("error-without-jsonrpc", "json-rpc", "schema", "any", ALL, "All messages MUST follow JSON-RPC 2.0.", "Error responses have no jsonrpc member.")
X("error-code-as-string", "json-rpc", "MUST", "any", ALL, "Error codes MUST be integers.", "Error codes are strings.")
X("error-code-float", "json-rpc", "MUST", "any", ALL, "Error codes MUST be integers.", "Error codes are fractional numbers.")
X("error-without-message", "json-rpc", "MUST", "any", ALL, "Error responses MUST include an error field with a code and message.", "Errors have a reason instead of a message.")
X("error-message-null", "json-rpc", "schema", "any", ALL, "Error.message is a string.", "Errors have the message null.")
X("error-as-string", "json-rpc", "MUST", "any", ALL, "Error responses MUST include an error field with a code and message.", "error is a string.")
X("error-id-null", "json-rpc", "MUST", "any", ALL, "Error responses MUST include the same ID as the request.", "All error responses have the id null.")
X("error-id-missing", "json-rpc", "MUST", "any", ALL, "Error responses MUST include the same ID as the request.", "Error responses have no id.")
X("error-with-null-result", "json-rpc", "MUST", "any", ALL, "A response contains either a result or an error.", "Error responses also have a result of null.")
X("result-with-null-error", "json-rpc", "MUST", "any", ALL, "A response contains either a result or an error.", "Results also have an error of null.")
X("error-inside-result", "json-rpc", "MUST", "any", ALL, "Error responses MUST include an error field.", "Errors are sent as a result with an error member.")
X("error-code-positive", "json-rpc", "MUST", "any", ALL, "MCP uses the standard JSON-RPC 2.0 error codes.", "Error codes lose their sign: 32601, 32602.")
X("null-id-served", "json-rpc", "MUST", "any", ALL, "The ID MUST NOT be null.", "Serves requests whose id is null, a boolean or a list.")
X("jsonrpc-unchecked", "json-rpc", "MUST", "any", ALL, "All messages MUST follow JSON-RPC 2.0.", "Serves requests whose jsonrpc is missing or is not 2.0.")
X("batch-served", "json-rpc", "MUST", "any", LEGACY, "The body of the POST MUST be a single JSON-RPC message; batches were removed in 2025-06-18.", "Serves an array of requests.")
X("unknown-method-invalid-params", "json-rpc", "MUST", "any", ALL, "-32601 is Method not found.", "Answers an unknown method with -32602.")
X("unknown-method-invalid-request", "json-rpc", "MUST", "any", ALL, "-32601 is Method not found.", "Answers an unknown method with -32600.")
X("unknown-method-empty-result", "json-rpc", "MUST", "any", ALL, "If the server does not implement the method it responds with -32601.", "Answers an unknown method with an empty result.")
X("missing-params-internal-error", "json-rpc", "MUST", "any", ALL, "-32602 is Invalid params.", "Answers requests that lack a required param with -32603.")
X("invalid-request-internal-error", "json-rpc", "MUST", "any", ALL, "-32600 is Invalid Request.", "Answers invalid requests with -32603.")
X("invalid-request-silent", "json-rpc", "MUST", "any", ALL, "Error responses MUST be sent for requests that fail.", "Drops invalid requests (HTTP: 202).")
X("parse-error-code", "json-rpc", "MUST", "any", ALL, "-32700 is Parse error.", "Answers text that is not JSON with -32600.")
X("parse-error-silent", "json-rpc", "MUST", "stdio", ALL, "JSON-RPC: a Parse error is answered with -32700.", "Drops lines that are not JSON.")
X("parse-error-printed", "stdio", "MUST", "stdio", ALL, "The server MUST NOT write anything to its stdout that is not a valid MCP message.", "Prints the exception of the JSON parser to stdout.")
X("parse-error-exits", "json-rpc", "MUST", "any", ALL, "JSON-RPC: a Parse error is answered with -32700.", "Exits, or drops the connection, on text that is not JSON.")
X("parse-error-html", "http", "MUST", "http", ALL, "If the body is not accepted the server returns 4xx; errors are JSON-RPC errors.", "Answers text that is not JSON with status 500 and an HTML page.")
X("params-array-exits", "json-rpc", "MUST", "any", ALL, "Requests that fail MUST be answered with an error.", "Exits, or drops the connection, where params is an array.")
X("unknown-notification-answered", "json-rpc", "MUST", "any", LEGACY, "Notifications: the receiver MUST NOT send a response.", "Answers an unknown notification with -32601.")
X("unknown-notification-exits", "json-rpc", "MUST", "stdio", ALL, "Notifications are one-way messages; a server serves until its input is closed.", "Exits on an unknown notification.")

X("stdout-banner", "stdio", "MUST", "stdio", ALL, "The server MUST NOT write anything to its stdout that is not a valid MCP message.", "Prints a banner to stdout when it starts.")
X("stdout-debug", "stdio", "MUST", "stdio", ALL, "The server MUST NOT write anything to its stdout that is not a valid MCP message.", "Prints a debug line to stdout for each tool call.")
X("byte-order-mark", "stdio", "MUST", "stdio", ALL, "The server MUST NOT write anything to its stdout that is not a valid MCP message.", "Writes a byte order mark before its first message.")
X("pretty-printed-lines", "stdio", "MUST", "stdio", ALL, "Messages are delimited by newlines, and MUST NOT contain embedded newlines.", "Writes indented JSON over several lines.")
X("content-length-framing", "stdio", "MUST", "stdio", ALL, "Messages are delimited by newlines.", "Writes Content-Length headers before each message.")
X("latin-1-output", "stdio", "MUST", "stdio", ALL, "JSON-RPC messages MUST be UTF-8 encoded.", "Writes Latin-1: issue 2 and the read-me are invalid UTF-8.")
X("two-messages-on-a-line", "stdio", "MUST", "stdio", ALL, "Messages are delimited by newlines.", "Writes a notification on the same line as the answer to tools/list.")
X("responses-in-array", "stdio", "MUST", "stdio", ALL, "Each message is a single JSON-RPC request, notification, or response.", "Writes each response as an array of one.")
X("response-sent-twice", "stdio", "MUST", "stdio", ALL, "A request gets exactly one response.", "Sends each tool result twice.")
X("ignores-end-of-input", "stdio", "SHOULD", "stdio", MODERN, "Servers SHOULD exit promptly when their standard input is closed.", "Keeps running after the end of its input.")
X("serves-before-initialize", "stdio", "MUST", "stdio", MODERN, "A request missing any required field is malformed; the server MUST reject it with -32602.", "Serves requests that come before initialize and have no _meta.")

X("origin-unchecked", "http", "MUST", "http", ALL, "Servers MUST validate the Origin header on all incoming connections.", "Accepts any Origin.")
X("origin-prefix-match", "http", "MUST", "http", ALL, "Servers MUST validate the Origin header on all incoming connections.", "Accepts http://localhost.evil.example.")
X("origin-substring-match", "http", "MUST", "http", ALL, "Servers MUST validate the Origin header on all incoming connections.", "Accepts each Origin that contains localhost, such as https://evil.example/?localhost or https://notlocalhost.example.")
X("origin-refused-with-400", "http", "MUST", "http", NEW + MODERN, "If the Origin header is present and invalid, servers MUST respond with HTTP 403.", "Refuses a foreign Origin with 400.")
X("origin-refused-with-401", "http", "MUST", "http", NEW + MODERN, "If the Origin header is present and invalid, servers MUST respond with HTTP 403.", "Refuses a foreign Origin with 401.")
X("origin-refused-with-200", "http", "MUST", "http", NEW + MODERN, "If the Origin header is present and invalid, servers MUST respond with HTTP 403.", "Refuses a foreign Origin with status 200 and a JSON-RPC error.")
X("json-as-text-plain", "http", "MUST", "http", ALL, "The server MUST return either Content-Type: text/event-stream or application/json.", "Sends JSON responses as text/plain.")
X("json-as-html", "http", "MUST", "http", ALL, "The server MUST return either Content-Type: text/event-stream or application/json.", "Sends JSON responses as text/html.")
X("json-without-content-type", "http", "MUST", "http", ALL, "The server MUST return either Content-Type: text/event-stream or application/json.", "Sends JSON responses without a Content-Type.")
X("notification-answered-200", "http", "MUST", "http", LEGACY, "If the server accepts a notification, it MUST return 202 Accepted with no body.", "Answers notifications with 200 and {}.")
X("notification-answered-204", "http", "MUST", "http", LEGACY, "If the server accepts a notification, it MUST return 202 Accepted with no body.", "Answers notifications with 204.")
X("notification-answered-with-body", "http", "MUST", "http", LEGACY, "If the server accepts a notification, it MUST return 202 Accepted with no body.", "Answers notifications with 202 and a JSON-RPC result.")
X("posted-response-answered-200", "http", "MUST", "http", LEGACY, "If the input is a JSON-RPC response, the server MUST return 202 Accepted with no body.", "Answers a posted response with 200 and a body.")
X("version-header-unchecked", "http", "MUST", "http", LEGACY, "A request with an invalid or unsupported MCP-Protocol-Version MUST be answered with 400.", "Serves requests of a session with any MCP-Protocol-Version.")
X("version-header-refused-with-500", "http", "MUST", "http", LEGACY, "A request with an invalid or unsupported MCP-Protocol-Version MUST be answered with 400.", "Answers an unsupported MCP-Protocol-Version with 500.")
X("version-header-refused-with-200", "http", "MUST", "http", LEGACY, "A request with an invalid or unsupported MCP-Protocol-Version MUST be answered with 400.", "Answers an unsupported MCP-Protocol-Version with status 200 and an error.")
X("get-answers-json", "http", "MUST", "http", LEGACY, "The server MUST either return text/event-stream in response to GET, or 405.", "Answers GET with a JSON status.")
X("get-answers-404", "http", "MUST", "http", LEGACY, "The server MUST either return text/event-stream in response to GET, or 405.", "Answers GET with 404.")
X("unknown-method-status-200", "http", "MUST", "http", MODERN, "If the server does not implement the requested RPC method, it MUST respond with 404 Not Found.", "Answers an unknown method with status 200.")
X("unknown-method-status-400", "http", "MUST", "http", MODERN, "If the server does not implement the requested RPC method, it MUST respond with 404 Not Found.", "Answers an unknown method with status 400.")
X("buffering-not-disabled", "http", "SHOULD", "http", MODERN, "When initiating an SSE stream, servers SHOULD include X-Accel-Buffering: no.", "SSE responses have no X-Accel-Buffering header.")

X("version-header-optional", "headers", "MUST", "http", MODERN, "Requests MUST be rejected where a required standard header is missing.", "Serves requests without MCP-Protocol-Version.")
X("version-header-not-compared", "headers", "MUST", "http", MODERN, "If the values do not match, the server MUST reject the request with 400 and HeaderMismatch.", "Serves requests whose MCP-Protocol-Version differs from _meta.")
X("method-header-optional", "headers", "MUST", "http", MODERN, "Requests MUST be rejected where a required standard header is missing.", "Serves requests without Mcp-Method.")
X("method-header-not-compared", "headers", "MUST", "http", MODERN, "Servers MUST reject requests where header values do not match the body.", "Serves requests whose Mcp-Method differs from method.")
X("method-header-any-case", "headers", "MUST", "http", MODERN, "Header values (such as method names) are case-sensitive.", "Accepts Mcp-Method: TOOLS/LIST for tools/list.")
X("name-header-optional", "headers", "MUST", "http", MODERN, "Requests MUST be rejected where a required standard header is missing.", "Serves tools/call, resources/read and prompts/get without Mcp-Name.")
X("name-header-not-compared", "headers", "MUST", "http", MODERN, "Servers MUST reject requests where header values do not match the body.", "Serves requests whose Mcp-Name differs from the body.")
X("name-header-only-for-tools", "headers", "MUST", "http", MODERN, "Mcp-Name is required for tools/call, resources/read and prompts/get.", "Checks Mcp-Name for tools/call only.")
X("header-names-case-sensitive", "headers", "MUST", "http", MODERN, "Clients and servers MUST use case-insensitive comparisons for header names.", "Refuses requests that spell the header mcp-method.")
X("encoded-headers-not-decoded", "headers", "MUST", "http", MODERN, "Servers MUST decode an encoded Mcp-Name or Mcp-Param-{Name} value before comparing it.", "Refuses Base64-encoded Mcp-Name and Mcp-Param values.")
X("header-mismatch-draft-code", "headers", "MUST", "http", MODERN, "HeaderMismatch is -32020.", "Reports header mismatches with the draft's -32001.")
X("header-mismatch-invalid-request", "headers", "MUST", "http", MODERN, "HeaderMismatch is -32020.", "Reports header mismatches with -32600.")
X("header-mismatch-status", "headers", "MUST", "http", MODERN, "Servers MUST return HTTP status 400 for header validation failures.", "Reports header mismatches with status 200.")
X("header-mismatch-without-body", "headers", "MUST", "http", MODERN, "Servers MUST include a JSON-RPC error response.", "Refuses header mismatches with 400 and no body.")
X("param-headers-ignored", "headers", "MUST", "http", MODERN, "Any server that processes the body MUST validate that Mcp-Param values match the body.", "Never compares Mcp-Param headers.")
X("param-header-optional", "headers", "MUST", "http", MODERN, "Client omits header but value is in body: server MUST reject the request.", "Serves search_issues without Mcp-Param-Project although the body has a project.")
X("param-header-always-expected", "headers", "MUST", "http", MODERN, "Parameter not in arguments: server MUST NOT expect the header.", "Refuses search_issues without Mcp-Param headers although the body has no such arguments.")
X("param-header-compared-as-text", "headers", "SHOULD", "http", MODERN, "Servers SHOULD compare integer values numerically (42.0 and 42 are equal).", "Refuses Mcp-Param-Limit: 5.0 for the body value 5.")
X("x-mcp-header-with-space", "headers", "MUST", "any", MODERN, "x-mcp-header MUST match HTTP field-name token syntax.", "An x-mcp-header of search_issues contains a space.", "tools/list", put("tools/1/inputSchema/properties/project/x-mcp-header", "Project Name"))
X("x-mcp-header-empty", "headers", "MUST", "any", MODERN, "x-mcp-header MUST NOT be empty.", "An x-mcp-header of search_issues is empty.", "tools/list", put("tools/1/inputSchema/properties/project/x-mcp-header", ""))
X("x-mcp-header-duplicate", "headers", "MUST", "any", MODERN, "x-mcp-header MUST be case-insensitively unique in the inputSchema.", "search_issues uses Project and project.", "tools/list", put("tools/1/inputSchema/properties/limit/x-mcp-header", "project"))
X("x-mcp-header-on-number", "headers", "MUST", "any", MODERN, "Parameters with type number are not permitted.", "An x-mcp-header is on a parameter of type number.", "tools/list", put("tools/1/inputSchema/properties/limit/type", "number"))
X("x-mcp-header-in-items", "headers", "MUST", "any", MODERN, "The chain MUST NOT pass through items.", "An x-mcp-header is in the items of an array.", "tools/list", put("tools/0/inputSchema/properties/assignee", {"type": "array", "items": {"type": "string", "x-mcp-header": "Assignee"}}))

X("session-optional", "sessions", "SHOULD", "http", LEGACY, "Servers that require a session ID SHOULD respond to requests without it with 400.", "Serves requests without Mcp-Session-Id in the newest session.")
X("unknown-session-served", "sessions", "MUST", "http", LEGACY, "After termination the server MUST respond to requests with that session ID with 404.", "Serves requests of any session id.")
X("unknown-session-with-400", "sessions", "MUST", "http", LEGACY, "After termination the server MUST respond to requests with that session ID with 404.", "Answers requests of a terminated session with 400.")
X("unknown-session-with-401", "sessions", "MUST", "http", LEGACY, "After termination the server MUST respond to requests with that session ID with 404.", "Answers requests of a terminated session with 401.")
X("unknown-session-with-200", "sessions", "MUST", "http", LEGACY, "After termination the server MUST respond to requests with that session ID with 404.", "Answers requests of a terminated session with status 200 and an error.")
X("delete-keeps-session", "sessions", "MUST", "http", LEGACY, "After termination the server MUST respond to requests with that session ID with 404.", "DELETE succeeds, but the session lives on.")
X("session-id-with-space", "sessions", "MUST", "http", LEGACY, "The session ID MUST only contain visible ASCII characters.", "Session ids contain spaces and a letter that is not ASCII.")
X("session-id-counter", "sessions", "SHOULD", "http", LEGACY, "The session ID SHOULD be globally unique and cryptographically secure.", "Session ids are 1, 2, 3.")

X("progress-to-other-sessions", "sessions", "MUST", "http", LEGACY, "Progress notifications MUST only reference tokens that were provided in an active request (of that client).", "Progress also goes to the GET streams of all other sessions.")
X("subscriptions-shared-by-sessions", "sessions", "SHOULD", "http", LEGACY, "resources/updated should only be sent if the client sent resources/subscribe (schema).", "A subscription of one session holds for all sessions.")
X("cancel-crosses-sessions", "sessions", "MUST", "http", LEGACY, "Cancellation notifications MUST only reference requests that were issued in the same direction of the same session; each request gets a response.", "A cancellation of one session ends the request of that id in another session.")

X("sse-as-json", "streams", "MUST", "http", ALL, "The server MUST return Content-Type: text/event-stream for a stream.", "Streams are labeled application/json.")
X("sse-as-text-plain", "streams", "MUST", "http", ALL, "The server MUST return Content-Type: text/event-stream for a stream.", "Streams are labeled text/plain.")
X("sse-array-of-messages", "streams", "MUST", "http", ALL, "Each event carries one JSON-RPC message; batches were removed.", "Each event carries an array of one message.")
X("sse-raw-newlines", "streams", "MUST", "http", ALL, "Server-Sent Events: each line of the data starts with a data field.", "Indented JSON follows a single data field.")
X("sse-single-newline", "streams", "MUST", "http", ALL, "Server-Sent Events: an empty line ends an event.", "Events are not separated by an empty line.")
X("sse-without-data-field", "streams", "MUST", "http", ALL, "Server-Sent Events: the message is in the data field.", "Events have bare JSON without data:.")
X("sse-data-quoted", "streams", "MUST", "http", ALL, "The data of an event is a JSON-RPC message.", "The data is a JSON string that contains the message.")
X("sse-event-named-json", "streams", "MUST", "http", ALL, "Server-Sent Events: the message is in the data field.", "Messages are in a field named json.")
X("sse-done-marker", "streams", "MUST", "http", ALL, "The data of an event is a JSON-RPC message.", "Streams end with data: [DONE].")
X("stream-left-open", "streams", "SHOULD", "http", ALL, "After the response has been sent, the server SHOULD terminate the stream.", "Streams stay open after the response.")
X("stream-ends-without-response", "streams", "SHOULD", "http", ALL, "The SSE stream SHOULD eventually include a response; it SHOULD NOT be closed before.", "Streams with progress end without the response.")
X("stream-not-primed", "streams", "SHOULD", "http", NEW, "The server SHOULD immediately send an event with an event ID and an empty data field.", "Streams do not begin with a priming event.")
X("event-ids-repeat", "streams", "MUST", "http", LEGACY, "Event IDs MUST be globally unique across all streams within the session.", "Event ids are 1, 2, 3 on each stream.")
X("broadcast-on-all-streams", "streams", "MUST", "http", LEGACY, "The server MUST NOT broadcast the same message across multiple streams.", "Notifications go to each open GET stream.")
X("response-on-get-stream", "streams", "MUST", "http", LEGACY, "The server MUST NOT send a JSON-RPC response on the GET stream unless resuming.", "Responses of requests with progress go to the GET stream.")
X("progress-on-get-stream", "streams", "SHOULD", "http", LEGACY, "Messages on the GET stream SHOULD be unrelated to any concurrently-running request.", "Progress goes to the GET stream.")
X("elicit-on-get-stream", "streams", "SHOULD", "http", LEGACY, "Messages on the GET stream SHOULD be unrelated to any concurrently-running request.", "Questions of a running tool go to the GET stream.")
X("replay-from-other-streams", "streams", "MUST", "http", LEGACY, "The server MUST NOT replay messages that would have been delivered on a different stream.", "Resumption replays the messages of all streams of the session.")
X("disconnect-cancels", "streams", "SHOULD", "http", LEGACY, "Disconnection SHOULD NOT be interpreted as the client cancelling its request.", "A lost connection cancels the request; resumption never brings the response.")

X("input-schema-null", "tools", "MUST", "any", ALL, "inputSchema MUST be a valid JSON Schema object (not null).", "A tool without arguments has inputSchema null.", "tools/list", each("tools", lambda t: t.update(inputSchema=None) if not t["inputSchema"]["properties"] else None))
X("input-schema-missing", "tools", "schema", "any", ALL, "Tool requires inputSchema.", "A tool without arguments has no inputSchema.", "tools/list", each("tools", lambda t: t.pop("inputSchema") if not t["inputSchema"]["properties"] else None))
X("input-schema-without-type", "tools", "schema", "any", ALL, "inputSchema requires type: object.", "inputSchema has no type.", "tools/list", drop("tools/2/inputSchema/type"))
X("input-schema-as-text", "tools", "schema", "any", ALL, "inputSchema is an object.", "inputSchema is a string of JSON.", "tools/list", edit("tools/0/inputSchema", json.dumps))
X("input-schema-snake-case", "tools", "schema", "any", ALL, "Tool requires inputSchema.", "Tools have input_schema.", "tools/list", each("tools", lambda t: t.update(input_schema=t.pop("inputSchema"))))
X("input-schema-required-boolean", "tools", "MUST", "any", ALL, "Schemas MUST be valid according to their declared or default dialect.", "A property has required: true.", "tools/list", put("tools/2/inputSchema/properties/id/required", True))
X("input-schema-python-types", "tools", "MUST", "any", ALL, "Schemas MUST be valid according to their declared or default dialect.", "A property has the type int.", "tools/list", put("tools/2/inputSchema/properties/id/type", "int"))
X("input-schema-enum-string", "tools", "MUST", "any", ALL, "Schemas MUST be valid according to their declared or default dialect.", "An enum is one string.", "tools/list", put("tools/0/inputSchema/properties/status/enum", "open|in_progress|closed"))
X("input-schema-required-null", "tools", "schema", "any", ALL, "required is an array of strings.", "required is null.", "tools/list", put("tools/0/inputSchema/required", None))
X("output-schema-type-array", "tools", "schema", "any", LEGACY, "outputSchema has type: object.", "An outputSchema has the type array.", "tools/list", put("tools/0/outputSchema", {"type": "array", "items": ISSUE_SCHEMA}))
X("tool-name-with-space", "tools", "SHOULD", "any", NEW + MODERN, "Tool names SHOULD NOT contain spaces, commas, or other special characters.", "A tool is named \"Get issue\".", "tools/list", put("tools/2/name", "Get issue"))
X("tool-names-repeat", "tools", "SHOULD", "any", NEW + MODERN, "Tool names SHOULD be unique within a server.", "Two tools are named list_issues.", "tools/list", put("tools/1/name", "list_issues"))
X("tool-name-missing", "tools", "schema", "any", ALL, "Tool requires name.", "A tool has an id instead of a name.", "tools/list", rename("tools/1/name", "id"))
X("tool-annotations-as-text", "tools", "schema", "any", ALL, "readOnlyHint is a boolean.", "readOnlyHint is \"true\".", "tools/list", put("tools/0/annotations/readOnlyHint", "true"))
X("tool-description-null", "tools", "schema", "any", ALL, "description is a string or absent.", "A description is null.", "tools/list", put("tools/3/description", None))
X("tool-icons-object", "tools", "schema", "any", NEW + MODERN, "icons is an array.", "icons is one object.", "tools/list", put("tools/0/icons", ICON))
X("tool-icon-without-src", "tools", "schema", "any", NEW + MODERN, "Icon requires src.", "An icon has url instead of src.", "tools/list", put("tools/0/icons", [{"url": "https://harbor.example/i.png"}]))
X("tools-in-changing-order", "tools", "SHOULD", "any", MODERN, "Servers SHOULD return tools in a deterministic order.", "The order of the tools of a page changes with each request.", "tools/list", edit("tools", lambda tools: random.sample(tools, len(tools))))
X("tools-as-map", "tools", "schema", "any", ALL, "tools is an array.", "tools is an object by name.", "tools/list", edit("tools", lambda tools: {t["name"]: t for t in tools}))
X("unknown-tool-as-tool-error", "tools", "SHOULD", "any", ALL, "Unknown tools are reported as standard JSON-RPC errors (protocol errors).", "An unknown tool gives a result with isError.")
X("unknown-tool-empty-result", "tools", "SHOULD", "any", ALL, "Unknown tools are reported as standard JSON-RPC errors (protocol errors).", "An unknown tool gives an empty successful result.")
X("unknown-tool-method-not-found", "tools", "SHOULD", "any", ALL, "Unknown tool: -32602.", "An unknown tool gives -32601.")
X("unknown-tool-http-code", "tools", "SHOULD", "any", ALL, "Unknown tool: -32602.", "An unknown tool gives the code 404.")
X("arguments-required", "tools", "schema", "any", ALL, "CallToolRequest.params.arguments is optional.", "Refuses a call without arguments of a tool that needs none.")
X("arguments-unvalidated", "tools", "MUST", "any", ALL, "Servers MUST validate all tool inputs.", "Calls with missing or wrong arguments succeed.")
X("invalid-arguments-as-protocol-error", "tools", "SHOULD", "any", NEW + MODERN, "Input validation errors are reported in tool results with isError: true.", "Wrong arguments give -32602.")
X("tool-failure-as-protocol-error", "tools", "SHOULD", "any", ALL, "API failures are reported in tool results with isError: true.", "The failing tool gives -32603.")
X("tool-failure-not-flagged", "tools", "SHOULD", "any", ALL, "API failures are reported in tool results with isError: true.", "The failing tool's result has no isError.")
X("tool-failure-is-error-string", "tools", "schema", "any", ALL, "isError is a boolean.", "isError is \"true\".")
X("tool-failure-error-member", "tools", "schema", "any", ALL, "CallToolResult requires content.", "The failing tool's result has error instead of content.")
X("content-as-string", "tools", "schema", "any", ALL, "content is an array of content blocks.", "The content of rebuild_index and close_issue is a string.", "tools/call", lambda r, c: {**r, "content": r["content"][0]["text"]} if "content" in r and c.params.get("name") in ("rebuild_index", "close_issue", "run_diagnostics", "toggle_labs") else r)
X("content-single-object", "tools", "schema", "any", ALL, "content is an array of content blocks.", "The content of list_issues is one object.", "tools/call", tool("list_issues|run_diagnostics", edit("content", lambda c: c[0])))
X("content-null", "tools", "schema", "any", ALL, "content is an array of content blocks.", "The content of run_diagnostics is null.", "tools/call", tool("run_diagnostics|toggle_labs", put("content", None)))
X("content-missing-with-structured", "tools", "schema", "any", ALL, "CallToolResult requires content.", "Results with structuredContent have no content.", "tools/call", lambda r, c: {k: v for k, v in r.items() if k != "content"} if "structuredContent" in r else r)
X("content-type-missing", "tools", "schema", "any", ALL, "TextContent requires type.", "Text blocks have no type.", "tools/call", content("text", lambda b: b.pop("type")))
X("content-type-markdown", "tools", "schema", "any", ALL, "The types of content are text, image, audio, resource_link and resource.", "Text blocks have the type markdown.", "tools/call", tool("run_diagnostics|weekly_report|toggle_labs", content("text", lambda b: b.update(type="markdown"))))
X("content-text-object", "tools", "schema", "any", ALL, "TextContent.text is a string.", "The text of structured results is an object.", "tools/call", lambda r, c: {**r, "content": [{"type": "text", "text": r["structuredContent"]}]} if "structuredContent" in r else r)
X("content-bare-strings", "tools", "schema", "any", ALL, "content is an array of content blocks.", "content is an array of strings.", "tools/call", tool("run_diagnostics|toggle_labs|rebuild_index", edit("content", lambda c: [b["text"] for b in c])))
X("image-as-data-uri", "tools", "schema", "any", ALL, "ImageContent.data is base64.", "The data of an image is a data: URI.", "tools/call", content("image", lambda b: b.update(data="data:image/png;base64," + b["data"])))
X("image-without-mime-type", "tools", "schema", "any", ALL, "ImageContent requires mimeType.", "An image has no mimeType.", "tools/call", content("image", lambda b: b.pop("mimeType")))
X("image-snake-case", "tools", "schema", "any", ALL, "ImageContent requires mimeType.", "An image has mime_type.", "tools/call", content("image", lambda b: b.update(mime_type=b.pop("mimeType"))))
X("audio-data-hex", "tools", "schema", "any", ALL, "AudioContent.data is base64.", "The data of a sound has spaces between hexadecimal bytes.", "tools/call", content("audio", lambda b: b.update(data=wav().hex(" "))))
X("resource-link-without-name", "tools", "schema", "any", ALL, "ResourceLink requires name.", "A resource link has no name.", "tools/call", content("resource_link", lambda b: b.pop("name")))
X("resource-link-nested", "tools", "schema", "any", ALL, "ResourceLink has uri and name at its top.", "A resource link nests its members in resource.", "tools/call", content("resource_link", lambda b: b.update(resource={"uri": b.pop("uri"), "name": b.pop("name")})))
X("embedded-resource-flat", "tools", "schema", "any", ALL, "EmbeddedResource requires resource.", "An embedded resource has uri and text at its top.", "tools/call", content("resource", lambda b: b.update(b.pop("resource"))))
X("embedded-resource-without-uri", "tools", "schema", "any", ALL, "ResourceContents requires uri.", "An embedded resource has no uri.", "tools/call", content("resource", lambda b: b["resource"].pop("uri")))
X("audience-everyone", "tools", "schema", "any", ALL, "audience holds user and assistant.", "The audience of a block is \"everyone\".", "tools/call", tool("weekly_report", put("content/0/annotations/audience", ["everyone"])))
X("priority-five", "tools", "schema", "any", ALL, "priority is a number from 0 to 1.", "The priority of a block is 5.", "tools/call", tool("weekly_report", put("content/0/annotations/priority", 5)))

X("structured-content-missing", "structured", "MUST", "any", ALL, "Servers MUST provide structured results that conform to this schema.", "list_issues and get_issue return no structuredContent.", "tools/call", tool("list_issues|get_issue|search_issues", drop("structuredContent")))
X("structured-count-string", "structured", "MUST", "any", ALL, "Servers MUST provide structured results that conform to this schema.", "count is a string.", "tools/call", tool("list_issues|search_issues", edit("structuredContent/count", str)))
X("structured-member-missing", "structured", "MUST", "any", ALL, "Servers MUST provide structured results that conform to this schema.", "count is missing.", "tools/call", tool("list_issues|search_issues", drop("structuredContent/count")))
X("structured-null-member", "structured", "MUST", "any", ALL, "Servers MUST provide structured results that conform to this schema.", "The assignee of the first issue is null.", "tools/call", tool("list_issues|search_issues", put("structuredContent/issues/0/assignee", None)))
X("structured-enum-unknown", "structured", "MUST", "any", ALL, "Servers MUST provide structured results that conform to this schema.", "A status is \"Open\".", "tools/call", tool("list_issues|get_issue", lambda r, c: put("structuredContent/issues/0/status", "Open")(put("structuredContent/status", "Open")(r, c) if c.params.get("name") == "get_issue" else r, c)))
X("structured-as-text", "structured", "MUST", "any", ALL, "structuredContent conforms to the outputSchema (an object).", "structuredContent is a string of JSON.", "tools/call", edit("structuredContent", json.dumps))
X("structured-bare-array", "structured", "MUST", "any", ALL, "structuredContent conforms to the outputSchema (an object).", "structuredContent of list_issues is the array itself.", "tools/call", tool("list_issues|search_issues", edit("structuredContent", lambda s: s["issues"])))
X("structured-content-stale", "structured", "SHOULD", "any", ALL, "A tool that returns structured content SHOULD also return the serialized JSON in a TextContent block.", "structuredContent is that of the tool's first call, the text is the new one.", "tools/call", stale)
X("structured-without-text", "structured", "SHOULD", "any", ALL, "A tool that returns structured content SHOULD also return the serialized JSON in a TextContent block.", "Results with structuredContent have an empty content.", "tools/call", lambda r, c: {**r, "content": []} if "structuredContent" in r else r)
X("structured-text-python", "structured", "SHOULD", "any", ALL, "A tool that returns structured content SHOULD also return the serialized JSON in a TextContent block.", "The text is a Python representation with single quotes.", "tools/call", lambda r, c: {**r, "content": [text(str(r["structuredContent"]))]} if "structuredContent" in r else r)

X("resources-list-not-found", "resources", "MUST", "any", ALL, "Servers that declare the resources capability MUST respond to resources/list.", "Answers resources/list with -32601.")
X("resource-not-found-old-code", "resources", "MUST", "any", MODERN, "If the requested resource does not exist, servers MUST return -32602; -32002 MUST NOT be emitted.", "An unknown resource gives -32002.")
X("resource-not-found-new-code", "resources", "SHOULD", "any", LEGACY, "Resource not found: -32002.", "An unknown resource gives -32602.")
X("resource-not-found-internal", "resources", "MUST", "any", ALL, "Resource not found: -32002; in 2026-07-28 -32602.", "An unknown resource gives -32603.")
X("resource-not-found-unknown-reserved-code", "resources", "MUST", "any", MODERN, "Implementations MUST NOT emit any code of -32020 to -32099 that is not defined.", "An unknown resource gives -32044.")
X("resource-not-found-empty", "resources", "MUST", "any", ALL, "Servers MUST NOT return an empty contents array for a non-existent resource.", "An unknown resource gives empty contents.")
X("resource-not-found-as-text", "resources", "MUST", "any", ALL, "Resource not found is a JSON-RPC error.", "An unknown resource gives the text 404 not found.")
X("contents-single-object", "resources", "schema", "any", ALL, "contents is an array.", "contents is one object.", "resources/read", edit("contents", lambda c: c[0] if c else c))
X("contents-called-content", "resources", "schema", "any", ALL, "ReadResourceResult requires contents.", "The result has content instead of contents.", "resources/read", rename("contents", "content"))
X("contents-without-uri", "resources", "schema", "any", ALL, "ResourceContents requires uri.", "contents have no uri.", "resources/read", drop("contents/0/uri"))
X("contents-without-text", "resources", "schema", "any", ALL, "Contents have text or blob.", "Text resources have data instead of text.", "resources/read", rename("contents/0/text", "data"))
X("contents-text-object", "resources", "schema", "any", ALL, "TextResourceContents.text is a string.", "JSON resources have an object as text.", "resources/read", lambda r, c: put("contents/0/text", {"open": [1]})(r, c) if c.params.get("uri") in ("tracker://board", "tracker://issues/1") else r)
X("contents-mime-type-null", "resources", "schema", "any", ALL, "mimeType is a string or absent.", "contents have the mimeType null.", "resources/read", put("contents/0/mimeType", None))
X("blob-not-base64", "resources", "MUST", "any", ALL, "Binary data MUST be properly encoded.", "The blob of the logo is raw text with \\u0000 and ß.", "resources/read", lambda r, c: put("contents/0/blob", png().decode("latin-1"))(r, c) if "blob" in r["contents"][0] else r)
X("blob-as-byte-list", "resources", "MUST", "any", ALL, "Binary data MUST be properly encoded.", "The blob of the logo is a list of numbers.", "resources/read", lambda r, c: put("contents/0/blob", list(png()))(r, c) if "blob" in r["contents"][0] else r)
X("blob-as-buffer-object", "resources", "MUST", "any", ALL, "Binary data MUST be properly encoded.", "The blob of the logo is {\"type\": \"Buffer\", \"data\": [...]}.", "resources/read", lambda r, c: put("contents/0/blob", {"type": "Buffer", "data": list(png())})(r, c) if "blob" in r["contents"][0] else r)
X("resource-name-missing", "resources", "schema", "any", ALL, "Resource requires name.", "A resource has a title only.", "resources/list", drop("resources/1/name"))
X("resource-uri-relative", "resources", "MUST", "any", ALL, "Custom URI schemes MUST be in accordance with RFC 3986; uri has the format uri.", "A resource has the uri issues/board.", "resources/list", put("resources/0/uri", "issues/board"))
X("resource-size-string", "resources", "schema", "any", ALL, "size is an integer.", "The size of a resource is \"93 B\".", "resources/list", put("resources/1/size", "93 B"))
X("resource-annotations-list", "resources", "schema", "any", ALL, "annotations is an object.", "annotations is a list.", "resources/list", put("resources/0/annotations", ["user"]))
X("resource-last-modified-epoch", "resources", "schema", "any", ALL, "lastModified is an ISO 8601 string.", "lastModified is a number of seconds.", "resources/list", put("resources/0/annotations/lastModified", 1783504800))
X("template-called-uri", "resources", "schema", "any", ALL, "ResourceTemplate requires uriTemplate.", "A template has uri instead of uriTemplate.", "resources/templates/list", rename("resourceTemplates/0/uriTemplate", "uri"))
X("template-unclosed-brace", "resources", "schema", "any", ALL, "uriTemplate is a URI template (RFC 6570).", "A template is tracker://issues/{id.", "resources/templates/list", put("resourceTemplates/0/uriTemplate", "tracker://issues/{id"))
X("templates-called-templates", "resources", "schema", "any", ALL, "ListResourceTemplatesResult requires resourceTemplates.", "The result has templates instead of resourceTemplates.", "resources/templates/list", rename("resourceTemplates", "templates"))
X("templates-null", "resources", "schema", "any", ALL, "resourceTemplates is an array.", "resourceTemplates is null.", "resources/templates/list", put("resourceTemplates", None))

X("prompt-role-system", "prompts", "schema", "any", ALL, "role is user or assistant.", "A prompt message has the role system.", "prompts/get", put("messages/0/role", "system"))
X("prompt-content-array", "prompts", "schema", "any", ALL, "The content of a prompt message is one content block.", "The content is an array of blocks.", "prompts/get", edit("messages/0/content", lambda c: [c]))
X("prompt-content-string", "prompts", "schema", "any", ALL, "The content of a prompt message is one content block.", "The content is a string.", "prompts/get", edit("messages/0/content", lambda c: c.get("text", "image")))
X("prompt-messages-single", "prompts", "schema", "any", ALL, "messages is an array.", "messages is one message.", "prompts/get", edit("messages", lambda m: m[0] if m else m))
X("prompt-description-null", "prompts", "schema", "any", ALL, "description is a string or absent.", "description is null.", "prompts/get", put("description", None))
X("prompt-arguments-map", "prompts", "schema", "any", ALL, "arguments is an array of PromptArgument.", "arguments is an object by name.", "prompts/list", edit("prompts/0/arguments", lambda a: {x["name"]: x for x in a}))
X("prompt-argument-required-string", "prompts", "schema", "any", ALL, "required is a boolean.", "required is \"yes\".", "prompts/list", put("prompts/0/arguments/0/required", "yes"))
X("prompt-argument-without-name", "prompts", "schema", "any", ALL, "PromptArgument requires name.", "An argument has a key instead of a name.", "prompts/list", rename("prompts/0/arguments/0/name", "key"))
X("prompt-arguments-null", "prompts", "schema", "any", ALL, "arguments is an array or absent.", "A prompt without arguments has arguments null.", "prompts/list", put("prompts/1/arguments", None))
X("prompt-arguments-unchecked", "prompts", "SHOULD", "any", ALL, "Missing required arguments: -32602.", "A prompt without its required argument is returned.")
X("unknown-prompt-internal-error", "prompts", "SHOULD", "any", ALL, "Invalid prompt name: -32602.", "An unknown prompt gives -32603.")
X("unknown-prompt-method-not-found", "prompts", "SHOULD", "any", ALL, "Invalid prompt name: -32602.", "An unknown prompt gives -32601.")
X("unknown-prompt-empty", "prompts", "SHOULD", "any", ALL, "Invalid prompt name: -32602.", "An unknown prompt gives no messages.")

X("completion-flat", "completion", "schema", "any", ALL, "CompleteResult requires completion.", "values are at the top of the result.", "completion/complete", lambda r, c: {**{k: v for k, v in r.items() if k != "completion"}, **r["completion"]})
X("completion-too-many", "completion", "schema", "any", ALL, "values has at most 100 items.", "Returns 150 values.")
X("completion-values-objects", "completion", "schema", "any", ALL, "values is an array of strings.", "values are objects with label and value.", "completion/complete", edit("completion/values", lambda v: [{"label": x, "value": x} for x in v]))
X("completion-total-string", "completion", "schema", "any", ALL, "total is an integer.", "total is a string.", "completion/complete", edit("completion/total", str))
X("completion-has-more-null", "completion", "schema", "any", ALL, "hasMore is a boolean or absent.", "hasMore is null.", "completion/complete", put("completion/hasMore", None))
X("completion-unknown-ref-empty", "completion", "SHOULD", "any", ALL, "Invalid prompt name: -32602.", "Completion for an unknown prompt gives no values.")
X("completion-unknown-ref-code", "completion", "SHOULD", "any", ALL, "Invalid prompt name: -32602.", "Completion for an unknown prompt gives -32001.")

X("cursor-loops", "pagination", "MUST", "any", ALL, "nextCursor is there if more results exist.", "The last page has the cursor of the first page.")
X("cursor-stuck", "pagination", "MUST", "any", ALL, "The cursor represents the position after the page.", "nextCursor leads to the same page again.")
X("cursor-as-number", "pagination", "schema", "any", ALL, "nextCursor is a string.", "nextCursor is a number.")
X("cursor-null-at-end", "pagination", "schema", "any", ALL, "nextCursor is a string or absent.", "The last page has nextCursor null.")
X("cursor-snake-case", "pagination", "MUST", "any", ALL, "Servers MUST respond to list requests with the set of tools (resources, prompts) available; the cursor is nextCursor.", "The cursor is called next_cursor, so the last tools cannot be found.", "tools/list|resources/list|prompts/list", rename("nextCursor", "next_cursor"))
X("page-repeats-item", "pagination", "SHOULD", "any", ALL, "Servers SHOULD provide stable cursors.", "Each further page repeats the last item of the page before.")
X("invalid-cursor-restarts", "pagination", "SHOULD", "any", ALL, "Invalid cursors SHOULD result in an error with code -32602.", "An invalid cursor gives the first page.")
X("invalid-cursor-empty-page", "pagination", "SHOULD", "any", ALL, "Invalid cursors SHOULD result in an error with code -32602.", "An invalid cursor gives an empty page.")
X("invalid-cursor-internal-error", "pagination", "SHOULD", "any", ALL, "Invalid cursors SHOULD result in an error with code -32602.", "An invalid cursor gives -32603.")

X("ttl-missing-in-tools", "caching", "MUST", "any", MODERN, "Servers MUST include caching hints on results of tools/list.", "tools/list has no ttlMs.", "tools/list", drop("ttlMs"))
X("ttl-missing-in-discover", "caching", "MUST", "any", MODERN, "Servers MUST include caching hints on results of server/discover.", "server/discover has no ttlMs.", "server/discover", drop("ttlMs"))
X("ttl-negative", "caching", "MUST", "any", MODERN, "Servers MUST provide a ttlMs value that is >= 0.", "ttlMs of resources/read is -1.", "resources/read", put("ttlMs", -1))
X("ttl-string", "caching", "schema", "any", MODERN, "ttlMs is a number.", "ttlMs of prompts/list is \"60s\".", "prompts/list", put("ttlMs", "60s"))
X("ttl-fraction", "caching", "MUST", "any", MODERN, "ttlMs is an integer value in milliseconds.", "ttlMs of resources/list is 0.5.", "resources/list", put("ttlMs", 0.5))
X("ttl-called-ttl", "caching", "MUST", "any", MODERN, "ttlMs specifies how long the client may consider the result fresh.", "resources/templates/list has ttl instead of ttlMs.", "resources/templates/list", rename("ttlMs", "ttl"))
X("cache-scope-missing", "caching", "MUST", "any", MODERN, "Servers MUST include caching hints on results of resources/read.", "resources/read has no cacheScope.", "resources/read", drop("cacheScope"))
X("cache-scope-shared", "caching", "schema", "any", MODERN, "cacheScope is public or private.", "cacheScope of tools/list is \"shared\".", "tools/list", put("cacheScope", "shared"))
X("cache-scope-capital", "caching", "schema", "any", MODERN, "cacheScope is public or private.", "cacheScope of prompts/list is \"Public\".", "prompts/list", put("cacheScope", "Public"))
X("cache-scope-differs-by-page", "caching", "MUST", "any", MODERN, "Servers MUST apply the same cacheScope to all response pages for a given list request.", "The first page is public, the further ones are private.")
X("cache-hints-in-meta", "caching", "MUST", "any", MODERN, "Servers MUST include caching hints on results of resources/list.", "resources/list has its caching hints in _meta.", "resources/list", lambda r, c: {**{k: v for k, v in r.items() if k not in ("ttlMs", "cacheScope")}, "_meta": {**r["_meta"], "ttlMs": 60000, "cacheScope": "public"}})

X("log-level-ignored", "logging", "SHOULD", "any", ALL, "Servers send messages at or above the requested level.", "Sends log messages of all levels.")
X("log-level-inverted", "logging", "SHOULD", "any", ALL, "Servers send messages at or above the requested level.", "Sends log messages at or below the level.")
X("log-without-opt-in", "logging", "MUST", "any", MODERN, "The server MUST NOT emit notifications/message for a request that does not include logLevel.", "Sends log messages for requests without logLevel.")
X("log-level-warn", "logging", "schema", "any", ALL, "The levels are those of RFC 5424: warning.", "A log message has the level warn.")
X("log-level-number", "logging", "schema", "any", ALL, "level is a string.", "Log messages have numeric levels.")
X("log-data-renamed", "logging", "schema", "any", ALL, "LoggingMessageNotification requires data.", "Log messages have message instead of data.")
X("log-logger-null", "logging", "schema", "any", ALL, "logger is a string or absent.", "Log messages have the logger null.")
X("log-with-secret", "logging", "MUST", "any", ALL, "Log messages MUST NOT contain credentials or secrets.", "Log messages contain a password and a database URL with credentials.")
X("log-on-listen-stream", "logging", "MUST", "any", MODERN, "The server MUST NOT deliver notifications/message on a subscriptions/listen stream.", "Log messages go to the listen stream.")
X("invalid-level-accepted", "logging", "SHOULD", "any", LEGACY, "Invalid log level: -32602.", "logging/setLevel accepts any level.")
X("invalid-level-internal-error", "logging", "SHOULD", "any", LEGACY, "Invalid log level: -32602.", "logging/setLevel answers an unknown level with -32603.")
X("invalid-request-level-ignored", "logging", "SHOULD", "any", MODERN, "If logLevel is not a recognized log level, the server SHOULD reject the request with -32602.", "Serves requests with an unknown logLevel.")
X("set-level-answers-null", "logging", "schema", "any", LEGACY, "A result is an object.", "The result of logging/setLevel is null.", "logging/setLevel", lambda r, c: None)

X("progress-backwards", "progress", "MUST", "any", ALL, "The progress value MUST increase with each notification.", "progress counts down.")
X("progress-repeats", "progress", "MUST", "any", ALL, "The progress value MUST increase with each notification.", "Each value of progress comes twice.")
X("progress-after-response", "progress", "MUST", "any", ALL, "Progress notifications MUST stop after completion.", "Sends progress after the response.")
X("progress-without-token", "progress", "MUST", "any", ALL, "Progress notifications MUST only reference tokens that were provided in an active request.", "Sends progress for requests without a token, with their id.")
X("progress-token-as-string", "progress", "MUST", "any", ALL, "Progress notifications MUST only reference tokens that were provided in an active request.", "The progressToken comes back changed: numbers as strings, strings with a prefix.")
X("progress-token-is-request-id", "progress", "MUST", "any", ALL, "Progress notifications MUST only reference tokens that were provided in an active request.", "progressToken is the id of the request.")
X("progress-as-text", "progress", "schema", "any", ALL, "progress is a number.", "progress is \"25%\".")
X("progress-value-missing", "progress", "schema", "any", ALL, "ProgressNotification requires progress.", "Notifications have percent instead of progress.")
X("progress-total-null", "progress", "schema", "any", ALL, "total is a number or absent.", "total is null.")
X("progress-message-object", "progress", "schema", "any", ALL, "message is a string.", "message is an object.")
X("progress-on-listen-stream", "progress", "MUST", "any", MODERN, "Request-scoped notifications like progress are not delivered on the listen stream.", "Progress goes to the listen stream.")

X("cancel-ignored", "cancellation", "SHOULD", "stdio", ALL, "Receivers of cancellation notifications SHOULD stop processing and not send a response.", "Cancelled requests go on and are answered.")
X("cancel-answered-with-error", "cancellation", "SHOULD", "stdio", ALL, "Receivers of cancellation notifications SHOULD not send a response for the cancelled request.", "Cancelled requests are answered with an error.")
X("cancel-acknowledged", "cancellation", "MUST", "stdio", ALL, "Notifications: the receiver MUST NOT send a response.", "notifications/cancelled is answered with a result for the cancelled id.")
X("cancel-unknown-is-error", "cancellation", "MUST", "any", LEGACY, "Invalid cancellation notifications SHOULD be ignored; a notification MUST NOT be answered.", "Cancelling an unknown request gives an error.")
X("cancel-unknown-exits", "cancellation", "MUST", "stdio", ALL, "Both parties MUST handle these race conditions gracefully.", "Exits when a request is cancelled that it does not know.")
X("cancel-stops-everything", "cancellation", "MUST", "stdio", ALL, "A request gets a response unless it was cancelled.", "One cancellation ends all requests in progress.")
X("cancelled-sent-for-request", "cancellation", "MUST", "any", MODERN, "Servers MUST NOT send notifications/cancelled for any other purpose than ending a subscription.", "Sends notifications/cancelled for a finished rebuild_index.")

X("list-changes-swallowed", "subscriptions", "SHOULD", "any", ALL, "When the list changes, servers that declared listChanged SHOULD send a notification.", "Sends no list_changed notifications.")
X("tool-list-change-swallowed", "subscriptions", "SHOULD", "any", ALL, "When the list of tools changes, servers that declared listChanged SHOULD send a notification.", "Sends no notifications/tools/list_changed.")
X("tool-list-change-wrong-method", "subscriptions", "SHOULD", "any", ALL, "When the list of tools changes, servers SHOULD send notifications/tools/list_changed.", "Sends notifications/tools/updated.")
X("prompt-list-change-misspelled", "subscriptions", "SHOULD", "any", ALL, "When the list of prompts changes, servers SHOULD send notifications/prompts/list_changed.", "Sends notifications/prompts/listChanged.")
X("list-change-with-id", "subscriptions", "MUST", "any", ALL, "Notifications MUST NOT include an ID.", "list_changed notifications have an id.")
X("list-change-params-null", "subscriptions", "schema", "any", LEGACY, "params is an object or absent.", "list_changed notifications have params null.")
X("resource-updates-swallowed", "subscriptions", "SHOULD", "any", ALL, "The server delivers notifications/resources/updated whenever a subscribed resource changes.", "Sends no notifications/resources/updated.")
X("resource-update-without-uri", "subscriptions", "schema", "any", ALL, "ResourceUpdatedNotification requires uri.", "Updates have a name instead of a uri.")
X("resource-update-uri-list", "subscriptions", "schema", "any", ALL, "uri is a string.", "Updates have a list of uris.")
X("updates-without-subscription", "subscriptions", "MUST", "any", ALL, "Updates go to clients that subscribed; the server MUST NOT send types that were not requested.", "Sends updates of resources to clients that did not subscribe.")
X("unsubscribe-ignored", "subscriptions", "SHOULD", "any", LEGACY, "resources/unsubscribe cancels the subscription.", "Updates go on after resources/unsubscribe.")
X("subscribe-answers-true", "subscriptions", "schema", "any", LEGACY, "A result is an object.", "The result of resources/subscribe is true.", "resources/subscribe", lambda r, c: True)
X("listen-sends-everything", "subscriptions", "MUST", "any", MODERN, "The server MUST NOT send notification types the client has not explicitly requested.", "Listen streams get all kinds of changes.")
X("acknowledgment-missing", "subscriptions", "MUST", "any", MODERN, "The server MUST send notifications/subscriptions/acknowledged as the first message.", "Sends no acknowledgment.")
X("acknowledgment-misspelled", "subscriptions", "MUST", "any", MODERN, "The server MUST send notifications/subscriptions/acknowledged as the first message.", "The method is notifications/subscriptions/acknowledge.")
X("notification-before-acknowledgment", "subscriptions", "MUST", "any", MODERN, "MUST NOT send any notification on the subscription before the acknowledgment.", "Sends tools/list_changed before the acknowledgment.")
X("acknowledgment-without-id", "subscriptions", "MUST", "any", MODERN, "The acknowledgment carries the subscription's ID in _meta.", "The acknowledgment has no subscriptionId.")
X("acknowledgment-without-filter", "subscriptions", "schema", "any", MODERN, "params of the acknowledgment require notifications.", "The acknowledgment has no notifications.")
X("acknowledges-everything", "subscriptions", "MUST", "any", MODERN, "The acknowledgment reflects the subset the server agreed to honor.", "The acknowledgment lists types that were not requested and no resources.")
X("acknowledges-strings", "subscriptions", "schema", "any", MODERN, "The members of the filter are booleans.", "The acknowledged filter has \"true\".")
X("subscription-id-missing", "subscriptions", "MUST", "any", MODERN, "The server MUST include subscriptionId in _meta on notifications of a listen stream.", "Notifications after the acknowledgment have no subscriptionId.")
X("subscription-id-as-string", "subscriptions", "MUST", "any", MODERN, "The value is the JSON-RPC ID of the subscriptions/listen request.", "subscriptionId is \"sub-\" and the id.")
X("subscription-id-of-first", "subscriptions", "MUST", "any", MODERN, "The value is the JSON-RPC ID of the subscriptions/listen request.", "All subscriptions carry the id of the first one.")
X("second-listen-replaces-first", "subscriptions", "MUST", "any", MODERN, "A client MAY have multiple active subscriptions concurrently.", "A second listen request silences the first one.")
X("listen-answers-at-once", "subscriptions", "MUST", "any", MODERN, "The stream stays open until the client cancels it.", "Answers subscriptions/listen right after the acknowledgment and sends nothing more.")
X("listen-result-without-id", "subscriptions", "schema", "any", MODERN, "The result of subscriptions/listen requires subscriptionId in _meta.", "Ends a subscription after 0.3 seconds by a result without subscriptionId.")
X("listen-cancel-ignored", "subscriptions", "MUST", "stdio", MODERN, "MUST NOT send any further messages for a cancelled request.", "Notifications go on after the listen request was cancelled.")

X("asks-without-capability", "elicitation", "MUST", "any", ALL, "Servers MUST NOT send requests that the client has not declared support for.", "Asks clients without the elicitation or sampling capability.")
X("form-for-url-only-client", "elicitation", "MUST", "any", NEW + MODERN, "Servers MUST NOT send elicitation requests with modes that are not supported by the client.", "Sends a form to a client that declared the mode url only.")
X("elicit-message-missing", "elicitation", "MUST", "any", ALL, "All elicitation requests MUST include a message.", "The question has no message.")
X("elicit-mode-popup", "elicitation", "MUST", "any", ALL, "mode is form or url.", "The question has the mode popup.")
X("elicit-schema-nested", "elicitation", "schema", "any", ALL, "requestedSchema holds primitive types only.", "A property of the form is an object.")
X("elicit-schema-without-type", "elicitation", "schema", "any", ALL, "requestedSchema requires type and properties.", "requestedSchema has no type.")
X("elicit-asks-password", "elicitation", "MUST", "any", ALL, "Servers MUST NOT use form mode elicitation to request sensitive information such as passwords.", "The form asks for a password.")
X("server-request-id-null", "elicitation", "MUST", "any", LEGACY, "The ID MUST NOT be null.", "Requests of the server have the id null.")
X("server-request-id-reused", "elicitation", "MUST", "any", LEGACY, "The request ID MUST NOT have been previously used by the requestor within the same session.", "All requests of the server have the id 1.")
X("input-required-on-legacy", "elicitation", "MUST", "any", LEGACY, "CallToolResult requires content; these revisions ask by elicitation/create.", "Answers tools/call with an input_required result in an old revision.")
X("sampling-without-max-tokens", "sampling", "schema", "any", ALL, "CreateMessageRequest requires maxTokens.", "sampling/createMessage has no maxTokens.")
X("sampling-role-system", "sampling", "schema", "any", ALL, "role is user or assistant.", "A sampling message has the role system.")
X("sampling-content-string", "sampling", "schema", "any", ALL, "The content of a sampling message is a block or blocks.", "The content of a sampling message is a string.")

X("input-request-as-json-rpc-on-stream", "mrtr", "MUST", "any", MODERN, "Servers MUST NOT initiate JSON-RPC requests.", "Sends elicitation/create as a JSON-RPC request before the input_required result.")
X("input-requests-as-list", "mrtr", "schema", "any", MODERN, "inputRequests is a map.", "inputRequests is a list.")
X("input-request-method-short", "mrtr", "MUST", "any", MODERN, "inputRequests values MUST be one of ElicitRequest, CreateMessageRequest or ListRootsRequest.", "The method is elicitation or sampling.")
X("input-request-params-missing", "mrtr", "schema", "any", MODERN, "ElicitRequest requires params.", "The input requests have no params.")
X("input-required-empty", "mrtr", "MUST", "any", MODERN, "Servers MUST include at least one of inputRequests or requestState.", "The input_required result is empty.")
X("input-required-called-complete", "mrtr", "MUST", "any", MODERN, "A resultType of input_required indicates that more information is needed.", "The result with inputRequests has the resultType complete and no content.")
X("input-required-type-camel-case", "mrtr", "MUST", "any", MODERN, "A resultType of input_required indicates that more information is needed.", "The resultType is inputRequired.")
X("request-state-as-object", "mrtr", "schema", "any", MODERN, "requestState is a string.", "requestState is an object.")
X("input-required-with-cache-hints", "mrtr", "SHOULD", "any", MODERN, "input_required results carry no caching hints.", "The input_required result has ttlMs and cacheScope.")
X("state-unverified", "mrtr", "MUST", "any", MODERN, "Servers MUST reject state that fails verification.", "Accepts a changed or a missing requestState and closes the issue.")
X("state-not-bound", "mrtr", "SHOULD", "any", MODERN, "Servers SHOULD reject state presented on a request that does not match.", "Accepts the requestState of one issue for another one.")
X("input-missing-is-error", "mrtr", "SHOULD", "any", MODERN, "The server SHOULD respond with a new InputRequiredResult rather than returning an error.", "A retry without the answer gives -32602.")
X("input-responses-extra-rejected", "mrtr", "SHOULD", "any", MODERN, "If unexpected parameters are provided in inputResponses, the server SHOULD ignore them.", "A further entry in inputResponses gives -32602.")
X("list-asks-for-input", "mrtr", "MUST", "any", MODERN, "Servers MUST NOT send InputRequiredResult on any other client requests.", "prompts/list answers with input_required.")


# ---------------------------------------------------------------- stdio

class Stdio:
    def __init__(self):
        self.lock, self.session, self.inflight, self.threads = threading.Lock(), None, {}, []

    def raw(self, data):
        with self.lock:
            try:
                sys.stdout.buffer.write(data)
                sys.stdout.buffer.flush()
            except (BrokenPipeError, ValueError):
                os._exit(0)

    def write(self, message):
        if F("pretty-printed-lines"):
            self.raw(json.dumps(message, indent=2).encode() + b"\n")
        elif F("content-length-framing"):
            body = json.dumps(message).encode()
            self.raw(b"Content-Length: %d\r\n\r\n%s\n" % (len(body), body))
        elif F("latin-1-output"):
            self.raw(json.dumps(message, ensure_ascii=False).encode("latin-1", "replace") + b"\n")
        elif F("two-messages-on-a-line") and "result" in message and "tools" in message["result"]:
            self.raw(encode(message) + encode({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}) + b"\n")
        elif F("responses-in-array") and "method" not in message:
            self.raw(encode([message]) + b"\n")
        else:
            self.raw(encode(message) + b"\n")
            if F("response-sent-twice") and "result" in message and "content" in message["result"]:
                self.raw(encode(message) + b"\n")

    def answer(self, ctx, method):
        response = run(ctx, method)
        self.inflight.pop(repr(ctx.id), None)
        if response is not None:
            self.write(finish(response))
            after_response(ctx, self.write)

    def start(self, ctx, method):
        self.inflight[repr(ctx.id)] = ctx
        if method in ("tools/call", "subscriptions/listen"):
            thread = threading.Thread(target=self.answer, args=(ctx, method), daemon=True)
            self.threads.append(thread)
            thread.start()
            if method == "subscriptions/listen":
                time.sleep(0.02)
        else:
            self.answer(ctx, method)

    def request(self, message):
        method, params = message["method"], message.get("params") or {}
        version = (params.get("_meta") or {}).get(META + "protocolVersion") if isinstance(params.get("_meta"), dict) else None
        if is_modern(message) and not (self.session and version in LEGACY):
            try:
                ctx = modern_context(message, self.write)
            except RpcError as error:
                self.write(error_response(message, error))
                return
            self.start(ctx, method)
        elif method == "initialize":
            try:
                if self.session:
                    raise RpcError(-32600, "The session is initialized already")
                result, session = initialize(params, self.write)
            except RpcError as error:
                self.write(error_response(message, error))
                return
            self.session = SESSIONS["stdio"] = session
            self.write(finish({"jsonrpc": "2.0", "id": message["id"], "result": result}))
            if F("asks-before-initialized") and "roots" in session.caps:
                self.write({"jsonrpc": "2.0", "id": "early", "method": "roots/list"})
        elif self.session or F("serves-before-initialize"):
            session = self.session or Session(V11, {}, self.write)
            ctx = Context(session.version, self.write, session, message["id"], params, session.caps)
            self.start(ctx, method)
        elif method == "ping":
            self.write({"jsonrpc": "2.0", "id": message["id"], "result": {}})
        elif F("metadata-optional"):
            self.start(modern_context(message, self.write), method)
        else:
            code = -32600 if F("missing-metadata-code") else -32602
            self.write(error_response(message, RpcError(code, f"Send initialize first, or {META}protocolVersion in _meta")))

    def notification(self, message):
        method, params = message["method"], message.get("params") or {}
        if method == "notifications/initialized" and self.session:
            self.session.ready = True
            if F("initialized-answered"):
                self.write({"jsonrpc": "2.0", "id": None, "result": {}})
        elif method == "notifications/cancelled":
            ctx = self.inflight.get(repr(params.get("requestId")))
            if F("cancel-stops-everything"):
                for other in list(self.inflight.values()):
                    other.cancelled.set()
            elif ctx:
                ctx.cancelled.set()
            elif F("cancel-unknown-is-error"):
                self.write({"jsonrpc": "2.0", "error": {"code": -32602, "message": "Unknown request"}})
            elif F("cancel-unknown-exits"):
                os._exit(1)
            if F("cancel-acknowledged"):
                self.write({"jsonrpc": "2.0", "id": params.get("requestId"), "result": {}})
        elif not method.startswith("notifications/initialized"):
            if F("unknown-notification-answered"):
                self.write({"jsonrpc": "2.0", "error": {"code": -32601, "message": "Method not found"}})
            if F("unknown-notification-exits"):
                os._exit(1)

    def line(self, raw):
        if not raw.strip():
            return
        try:
            message = decode(raw)
        except (ValueError, RecursionError):
            if F("parse-error-exits"):
                os._exit(1)
            if F("parse-error-silent"):
                return
            if F("parse-error-printed"):
                self.raw(b"json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)\n")
                return
            self.write({"jsonrpc": "2.0", "error": {"code": -32600 if F("parse-error-code") else -32700, "message": "Parse error"}})
            return
        if isinstance(message, list) and F("batch-served"):
            for one in message:
                self.line(encode(one))
            return
        wrong = wrong_message(message)
        if wrong:
            if F("invalid-request-silent"):
                return
            if F("params-array-exits") and isinstance(message, dict) and isinstance(message.get("params"), list):
                os._exit(1)
            if not (isinstance(message, dict) and isinstance(message.get("method"), str) and "id" not in message):
                self.write(finish(wrong))
        elif "method" not in message:
            take_response(self.session, message)
        elif "id" in message:
            self.request(message)
        else:
            self.notification(message)

    def serve(self):
        if F("stdout-banner"):
            self.raw(b"Harbor tracker 3.2.1 is ready\n")
        if F("byte-order-mark"):
            self.raw(b"\xef\xbb\xbf")
        for raw in sys.stdin.buffer:
            self.line(raw)
        if F("ignores-end-of-input"):
            time.sleep(3600)
        ends = time.time() + 0.5
        for thread in self.threads:
            if thread.is_alive() and time.time() < ends and not LISTENERS:
                thread.join(max(0, ends - time.time()))
        os._exit(0)


# ---------------------------------------------------------------- Streamable HTTP

def local_origin(origin):
    if F("origin-unchecked"):
        return True
    if F("origin-prefix-match"):
        return origin.startswith(("http://localhost", "http://127.0.0.1"))
    if F("origin-substring-match"):
        return "localhost" in origin or "127.0.0.1" in origin
    try:
        parts = urlsplit(origin)
        return parts.scheme in ("http", "https") and parts.hostname in ("localhost", "127.0.0.1", "::1")
    except ValueError:
        return False


def decoded_header(value):
    """The value of a header that may use the Base64 sentinel format; None where it is invalid."""
    if not all(c == "\t" or " " <= c <= "~" for c in value):
        return None
    if value.startswith("=?base64?") and value.endswith("?=") and len(value) >= 11 and not F("encoded-headers-not-decoded"):
        try:
            return base64.b64decode(value[9:-2].encode(), validate=True).decode("utf-8")
        except ValueError:
            return None
    return value


def mismatch(message):
    if F("header-mismatch-invalid-request"):
        return RpcError(-32600, message, None, 400)
    return RpcError(-32001 if F("header-mismatch-draft-code") else -32020, "Header mismatch: " + message, None,
                    200 if F("header-mismatch-status") else 400)


def check_headers(headers, message):
    """Compares the headers of a modern request with its body."""
    method, params = message["method"], message.get("params") or {}
    meta = params.get("_meta") if isinstance(params.get("_meta"), dict) else {}
    version, header = meta.get(META + "protocolVersion"), headers.get("MCP-Protocol-Version")
    if isinstance(version, str) and header is None and not F("version-header-optional"):
        raise mismatch("MCP-Protocol-Version is missing")
    if isinstance(version, str) and header is not None and header.strip() != version and not F("version-header-not-compared"):
        raise mismatch("MCP-Protocol-Version differs from _meta")
    if not isinstance(version, str) or version != V26:
        return
    stated = headers.get("Mcp-Method")
    if F("header-names-case-sensitive") and "Mcp-Method" not in headers.keys():
        stated = None
    if stated is None:
        if not F("method-header-optional"):
            raise mismatch("Mcp-Method is missing")
    elif stated.strip() != method and not F("method-header-not-compared") \
            and not (F("method-header-any-case") and stated.strip().lower() == method.lower()):
        raise mismatch("Mcp-Method differs from the body")
    source = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}.get(method)
    if source and isinstance(params.get(source), str):
        stated = headers.get("Mcp-Name")
        if stated is None:
            if not F("name-header-optional") and not (F("name-header-only-for-tools") and method != "tools/call"):
                raise mismatch("Mcp-Name is missing")
        elif decoded_header(stated.strip(" \t")) != params[source] and not F("name-header-not-compared") \
                and not (F("name-header-only-for-tools") and method != "tools/call"):
            raise mismatch("Mcp-Name differs from the body")
    if method != "tools/call" or not isinstance(params.get("arguments", {}), dict) or F("param-headers-ignored"):
        return
    for entry in tool_table():
        if entry[0] != params.get("name"):
            continue
        for name, prop in entry[3]["properties"].items():
            if "x-mcp-header" not in prop:
                continue
            stated, value = headers.get("Mcp-Param-" + prop["x-mcp-header"]), params.get("arguments", {}).get(name)
            if value is None:
                if stated is not None:
                    raise mismatch(f"Mcp-Param-{prop['x-mcp-header']} has no value in the body")
                if stated is None and F("param-header-always-expected"):
                    raise mismatch(f"Mcp-Param-{prop['x-mcp-header']} is missing")
                continue
            if stated is None:
                if F("param-header-optional"):
                    continue
                raise mismatch(f"Mcp-Param-{prop['x-mcp-header']} is missing")
            plain = decoded_header(stated.strip(" \t"))
            if plain is None:
                raise mismatch(f"Mcp-Param-{prop['x-mcp-header']} has invalid characters")
            if prop["type"] == "integer" and isinstance(value, (int, float)) and not isinstance(value, bool):
                try:
                    same = re.fullmatch(r"[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?", plain) is not None and float(plain) == value
                except (ValueError, OverflowError):
                    same = False
                if F("param-header-compared-as-text"):
                    same = plain == str(value)
            else:
                same = plain == value if isinstance(value, str) else True
            if not same:
                raise mismatch(f"Mcp-Param-{prop['x-mcp-header']} differs from the body")


class Handler(BaseHTTPRequestHandler):
    protocol_version, server_version, sys_version = "HTTP/1.1", "harbor", ""
    disable_nagle_algorithm, timeout = True, 120

    def log_message(self, *args):
        pass

    def reply(self, status, body=None, headers=(), kind="application/json"):
        data = b"" if body is None else body if isinstance(body, bytes) else encode(body)
        self.send_response(status)
        if body is not None:
            if F("json-as-text-plain") and status == 200:
                kind = "text/plain; charset=utf-8"
            if F("json-as-html") and status == 200:
                kind = "text/html"
            if F("json-without-content-type"):
                kind = None
            if kind:
                self.send_header("Content-Type", kind)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def refuse(self, status, code, message, rid=None, headers=()):
        body = {"jsonrpc": "2.0", "error": {"code": code, "message": message}}
        if rid is not None:
            body["id"] = rid
        self.reply(status, body, headers)

    def gone(self):
        try:
            ready, _, _ = select.select([self.connection], [], [], 0)
            return bool(ready) and self.connection.recv(1, socket.MSG_PEEK) == b""
        except OSError:
            return True

    def common(self):
        """Checks what holds for each HTTP request. True where it was refused."""
        origin = self.headers.get("Origin")
        if origin is not None and not local_origin(origin):
            if F("origin-refused-with-400"):
                self.refuse(400, -32600, "This origin is not allowed")
            elif F("origin-refused-with-401"):
                self.refuse(401, -32600, "This origin is not allowed")
            elif F("origin-refused-with-200"):
                self.refuse(200, -32600, "This origin is not allowed")
            else:
                self.refuse(403, -32600, "This origin is not allowed")
            return True
        if urlsplit(self.path).path != "/mcp":
            self.refuse(404, -32600, "The MCP endpoint is /mcp")
            return True
        return False

    def accepts(self, *kinds):
        accept = self.headers.get("Accept")
        if accept is None:
            return True
        listed = [part.split(";")[0].strip().lower() for part in accept.split(",")]
        return all(kind in listed or kind.split("/")[0] + "/*" in listed or "*/*" in listed for kind in kinds)

    def body(self):
        if "chunked" in self.headers.get("Transfer-Encoding", "").lower():
            data = b""
            while True:
                size = int(self.rfile.readline(100).split(b";")[0] or b"0", 16)
                data += self.rfile.read(size)
                self.rfile.readline(100)
                if not size or len(data) > 4_000_000:
                    return data
        return self.rfile.read(min(int(self.headers.get("Content-Length") or 0), 4_000_000))

    def find_session(self):
        """The session of a legacy request, or None after a refusal."""
        sid, version = self.headers.get("Mcp-Session-Id"), self.headers.get("MCP-Protocol-Version")
        if sid is None:
            if F("session-optional") and SESSIONS:
                return list(SESSIONS.values())[-1]
            self.refuse(400, -32600, "Mcp-Session-Id is missing")
            return None
        session = SESSIONS.get(sid)
        if session is None and F("unknown-session-served"):
            session = SESSIONS[sid] = Session(V11, {})
            session.ready = True
        if session is None:
            if F("unknown-session-with-400"):
                self.refuse(400, -32600, "Unknown session")
            elif F("unknown-session-with-401"):
                self.refuse(401, -32600, "Unknown session")
            elif F("unknown-session-with-200"):
                self.refuse(200, -32600, "Unknown session")
            else:
                self.refuse(404, -32600, "Unknown session")
            return None
        if version is not None and version.strip() not in LEGACY and not F("version-header-unchecked"):
            if F("version-header-refused-with-500"):
                self.refuse(500, -32603, "Unsupported MCP-Protocol-Version")
            elif F("version-header-refused-with-200"):
                self.refuse(200, -32602, "Unsupported MCP-Protocol-Version")
            else:
                self.refuse(400, -32600, f"Unsupported MCP-Protocol-Version; supported: {', '.join(LEGACY)}")
            return None
        return session

    def guarded(self, act):
        try:
            act()
        except (ConnectionError, TimeoutError, socket.timeout):
            self.close_connection = True

    def do_POST(self):
        self.guarded(self.post)

    def do_GET(self):
        self.guarded(self.get)

    def do_DELETE(self):
        self.guarded(self.delete)

    def other(self):
        self.close_connection = True
        self.reply(405, None, [("Allow", "GET, POST, DELETE"), ("Connection", "close")])
    do_PUT = do_PATCH = do_HEAD = do_OPTIONS = other

    def accepted(self):
        if F("notification-answered-200"):
            self.reply(200, {})
        elif F("notification-answered-204"):
            self.reply(204)
        elif F("notification-answered-with-body"):
            self.reply(202, {"jsonrpc": "2.0", "result": {}, "id": None})
        else:
            self.reply(202)

    def post(self):
        try:
            raw = self.body()
        except ValueError:
            self.close_connection = True
            self.refuse(400, -32700, "The body cannot be read")
            return
        if self.common():
            return
        if self.headers.get("Content-Type", "").split(";")[0].strip().lower() != "application/json":
            self.refuse(415, -32600, "Content-Type is not application/json")
            return
        if not self.accepts("application/json", "text/event-stream"):
            self.refuse(406, -32600, "Accept must list application/json and text/event-stream")
            return
        try:
            message = decode(raw)
        except (ValueError, RecursionError):
            if F("parse-error-exits"):
                self.close_connection = True
                return
            if F("parse-error-html"):
                self.reply(500, b"<html><body><h1>Internal Server Error</h1><pre>JSONDecodeError</pre></body></html>", (), "text/html")
                return
            self.refuse(400, -32600 if F("parse-error-code") else -32700, "Parse error")
            return
        if isinstance(message, list) and F("batch-served") and message and all(
                isinstance(m, dict) and m.get("method") in METHODS | ONLY_LEGACY for m in message):
            session = self.find_session()
            if session:
                out = [run(Context(session.version, lambda m: None, session, m.get("id"), m.get("params"), session.caps), m["method"])
                       for m in message]
                self.reply(200, out)
            return
        wrong = wrong_message(message)
        if wrong:
            if F("params-array-exits") and isinstance(message, dict) and isinstance(message.get("params"), list):
                self.close_connection = True
                return
            if F("invalid-request-silent"):
                self.reply(202)
                return
            self.reply(400, finish(wrong))
            return
        params = message.get("params") or {}
        header = (self.headers.get("MCP-Protocol-Version") or "").strip()
        session_id = self.headers.get("Mcp-Session-Id")
        meta = params.get("_meta") if isinstance(params.get("_meta"), dict) else {}
        version = meta.get(META + "protocolVersion")
        if "method" in message and "id" in message:
            modern = is_modern(message) and not (session_id and version in LEGACY)
            if not modern and message["method"] != "initialize" and not session_id:
                modern = (header not in LEGACY and header != "") or self.headers.get("Mcp-Method") is not None
            if modern or (header == V26 and message["method"] != "initialize"):
                self.modern_request(message)
            elif message["method"] == "initialize":
                self.initialize(message, params, header)
            elif not session_id and not header and not F("session-optional"):
                self.refuse(400, -32020, "Neither Mcp-Session-Id nor MCP-Protocol-Version is there", message["id"])
            else:
                session = self.find_session()
                if session:
                    self.legacy_request(session, message, params)
            return
        if header == V26:
            if "method" in message:
                self.accepted()
            else:
                self.refuse(400, -32600, "Clients of this revision send no responses")
            return
        session = self.find_session()
        if session is None:
            return
        if "method" not in message:
            take_response(session, message)
            if F("posted-response-answered-200"):
                self.reply(200, {"ok": True})
                return
        elif message["method"] == "notifications/initialized":
            session.ready = True
            if F("initialized-answered"):
                self.reply(200, {"jsonrpc": "2.0", "id": None, "result": {}})
                return
        elif message["method"] == "notifications/cancelled":
            ctx = session.inflight.get(repr(params.get("requestId")))
            if F("cancel-stops-everything"):
                for other in list(session.inflight.values()):
                    other.cancelled.set()
            elif ctx:
                ctx.cancelled.set()
            elif F("cancel-crosses-sessions"):
                for other in list(SESSIONS.values()):
                    if repr(params.get("requestId")) in other.inflight:
                        other.inflight[repr(params.get("requestId"))].cancelled.set()
            elif F("cancel-unknown-is-error"):
                self.refuse(400, -32602, "Unknown request")
                return
        elif F("unknown-notification-answered"):
            self.refuse(200, -32601, "Method not found")
            return
        self.accepted()

    def initialize(self, message, params, header):
        try:
            if header and header not in SUPPORTED:
                raise RpcError(-32600, "Unsupported MCP-Protocol-Version", None, 400)
            result, session = initialize(params, None)
        except RpcError as error:
            self.reply(error.status, error_response(message, error))
            return
        SESSIONS[session.id] = session
        name = [("Mcp-Session-Id", session.id)]
        self.reply(200, finish({"jsonrpc": "2.0", "id": message["id"], "result": result}), name)

    def modern_request(self, message):
        stream = Stream("m")
        try:
            check_headers(self.headers, message)
            ctx = modern_context(message, stream.put)
        except RpcError as error:
            if F("header-mismatch-without-body") and error.code == -32020:
                self.reply(error.status)
            else:
                self.reply(error.status, error_response(message, error))
            return
        self.work(ctx, message, stream, None)

    def legacy_request(self, session, message, params):
        stream = session.new_stream()
        ctx = Context(session.version, stream.put, session, message["id"], params, session.caps)
        session.inflight[repr(ctx.id)] = ctx
        self.work(ctx, message, stream, session)

    def work(self, ctx, message, stream, session):
        def worker():
            response = run(ctx, message["method"])
            if session:
                session.inflight.pop(repr(ctx.id), None)
            if response is not None:
                if F("response-on-get-stream") and session and ctx.progress_count:
                    session.notify(finish(response))
                elif F("stream-ends-without-response") and ctx.progress_count:
                    pass
                else:
                    stream.put(finish(response))
                    after_response(ctx, stream.put)
            stream.close()
        thread = threading.Thread(target=worker, daemon=True)
        thread.start()
        while True:
            with stream.cond:
                if not stream.messages and not stream.done:
                    stream.cond.wait(0.2)
                ready = bool(stream.messages) or stream.done
            if ready:
                break
            if self.gone():
                self.closed_by_client(ctx)
                return
        first = stream.messages[0] if stream.messages else None
        if first is not None and "method" not in first:
            with stream.cond:
                while not stream.done:
                    stream.cond.wait(0.2)
            if len(stream.messages) == 1 and not ctx.keep_open:
                self.reply(ctx.status, first)
                return
        if self.events(stream, 0, session) == "gone":
            self.closed_by_client(ctx)

    def closed_by_client(self, ctx):
        self.close_connection = True
        if ctx.modern or F("disconnect-cancels"):
            ctx.cancelled.set()

    def chunk(self, data):
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))

    def event(self, message, number, stream, session):
        data = encode(message)
        lines = b""
        if session:
            name = f"{number}" if F("event-ids-repeat") else f"{stream.id}-{number}"
            lines += b"id: " + name.encode() + b"\n"
        if F("sse-array-of-messages"):
            data = encode([message])
        if F("sse-raw-newlines"):
            self.chunk(lines + b"data: " + json.dumps(message, indent=1).encode() + b"\n\n")
        elif F("sse-single-newline"):
            self.chunk(lines + b"data: " + data + b"\n")
        elif F("sse-without-data-field"):
            self.chunk(lines + data + b"\n\n")
        elif F("sse-data-quoted"):
            self.chunk(lines + b"data: " + json.dumps(data.decode()).encode() + b"\n\n")
        elif F("sse-event-named-json"):
            self.chunk(lines + b"json: " + data + b"\n\n")
        else:
            self.chunk(lines + b"data: " + data + b"\n\n")

    def events(self, stream, start, session):
        """Writes the messages of a stream as server-sent events from that index on."""
        self.send_response(200)
        if F("sse-as-json"):
            self.send_header("Content-Type", "application/json")
        elif F("sse-as-text-plain"):
            self.send_header("Content-Type", "text/plain")
        else:
            self.send_header("Content-Type", "text/event-stream")
        self.send_header("Cache-Control", "no-cache")
        if not F("buffering-not-disabled"):
            self.send_header("X-Accel-Buffering", "no")
        self.send_header("Transfer-Encoding", "chunked")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        with stream.cond:
            stream.readers += 1
        try:
            if session and session.version == V11 and start == 0 and not F("stream-not-primed"):
                self.chunk(b"id: %s-0\ndata: \n\n" % stream.id.encode())
            index, quiet = start, time.time()
            while True:
                with stream.cond:
                    if len(stream.messages) <= index and not stream.done:
                        stream.cond.wait(0.2)
                    fresh, done = stream.messages[index:], stream.done
                for message in fresh:
                    index += 1
                    self.event(message, index, stream, session)
                    quiet = time.time()
                if stream.abort or (done and index >= len(stream.messages)):
                    break
                if self.gone():
                    return "gone"
                if time.time() - quiet > 15:
                    self.chunk(b": still here\n\n")
                    quiet = time.time()
            if F("sse-done-marker"):
                self.chunk(b"data: [DONE]\n\n")
            if F("stream-left-open"):
                while not self.gone():
                    time.sleep(0.2)
            self.wfile.write(b"0\r\n\r\n")
        except OSError:
            return "gone"
        finally:
            with stream.cond:
                stream.readers -= 1
        return "done"

    def get(self):
        if self.common():
            return
        if (self.headers.get("MCP-Protocol-Version") or "").strip() == V26:
            self.refuse(405, -32600, "This revision has no GET stream", None, [("Allow", "POST")])
            return
        if F("get-answers-json"):
            self.reply(200, {"name": "harbor-tracker", "status": "ok"})
            return
        if F("get-answers-404"):
            self.refuse(404, -32600, "Not found")
            return
        if not self.accepts("text/event-stream"):
            self.refuse(406, -32600, "Accept must list text/event-stream")
            return
        session = self.find_session()
        if session is None:
            return
        last = re.fullmatch(r"(s[0-9]+)-([0-9]+)", self.headers.get("Last-Event-ID") or "")
        with session.lock:
            stream = session.streams.get(last.group(1)) if last else None
            if stream:
                start = min(int(last.group(2)), len(stream.messages))
                if F("replay-from-other-streams"):
                    merged = Stream(stream.id)
                    for one in session.streams.values():
                        merged.messages += one.messages
                    merged.done, stream, start = True, merged, 0
            else:
                stream, start = session.new_stream(), 0
                session.gets.append(stream)
                for message in session.backlog:
                    stream.put(message)
                session.backlog = []
        self.events(stream, start, session)

    def delete(self):
        if self.common():
            return
        if (self.headers.get("MCP-Protocol-Version") or "").strip() == V26:
            self.refuse(405, -32600, "This revision has no sessions", None, [("Allow", "POST")])
            return
        session = self.find_session()
        if session is None:
            return
        if not F("delete-keeps-session"):
            SESSIONS.pop(self.headers["Mcp-Session-Id"], None)
            for ctx in list(session.inflight.values()):
                ctx.cancelled.set()
            for stream in session.streams.values():
                stream.abort = True
        self.reply(204)


class Server(ThreadingHTTPServer):
    daemon_threads, request_queue_size = True, 64

    def handle_error(self, request, client_address):
        print(f"connection failed: {sys.exc_info()[1]!r}", file=sys.stderr)


def serve_http(port):
    server = Server(("127.0.0.1", port), Handler)

    def stop(*_):
        for listener in list(LISTENERS):
            listener.out({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": listener.id}})
            listener.send({"jsonrpc": "2.0", "id": listener.id,
                           "result": {"resultType": "complete", "_meta": {META + "subscriptionId": listener.id}}})
        time.sleep(0.3 if LISTENERS else 0)
        os._exit(0)
    signal.signal(signal.SIGTERM, stop)
    server.serve_forever(0.2)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    way = parser.add_mutually_exclusive_group(required=True)
    way.add_argument("--stdio", action="store_true", help="serve over the standard streams")
    way.add_argument("--http", type=int, metavar="PORT", help="serve Streamable HTTP at http://127.0.0.1:PORT/mcp")
    way.add_argument("--list-faults", action="store_true", help="print the faults as JSON Lines")
    parser.add_argument("--fault", default="", help="misbehave in this one way")
    options = parser.parse_args()
    if options.list_faults:
        for name, area, level, transport, revisions, sentence, effect in FAULTS:
            print(json.dumps({"name": name, "area": area, "level": level, "transport": transport, "revision": revisions,
                              "sentence": sentence, "effect": effect}))
        return
    global FAULT
    FAULT = options.fault
    if FAULT and FAULT not in [fault[0] for fault in FAULTS]:
        parser.error(f"unknown fault {FAULT}")
    if options.stdio:
        Stdio().serve()
    else:
        serve_http(options.http)


if __name__ == "__main__":
    main()
