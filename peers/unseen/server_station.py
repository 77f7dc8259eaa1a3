#!/usr/bin/env python3
"""A few weather stations as an MCP server: revisions 2025-11-25 and 2026-07-28. Every tool is read-only, and the readings
change by themselves.

    python3 server_station.py --stdio [--fault NAME]
    python3 server_station.py --http PORT [--fault NAME]
    python3 server_station.py --list-faults

Without --fault the server follows the specification. With --fault exactly one behavior is wrong.
"""

import argparse
import json
import queue
import re
import secrets
import select
import socket
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

FAULT = ""
LEGACY, MODERN = "2025-11-25", "2026-07-28"
META = "io.modelcontextprotocol/"
TASKS = "io.modelcontextprotocol/tasks"
LEVELS = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]
NUMBERS = range(1, 13)
SESSIONS, LISTENERS, TASK_TABLE, STATES = {}, [], {}, {}
LOCK = threading.RLock()
OLD = {"tokens": [], "ids": {}}
BEGUN = time.time()

FAULTS = [
    # name, area, level, transport, revision, effect
    ("ping-needs-initialized", "lifecycle", "MUST", "any", LEGACY, "A ping between the answer to initialize and the notification initialized is refused."),
    ("one-session-only", "lifecycle", "MUST", "http", LEGACY, "While one session exists, a second client's initialize is refused with 400."),
    ("instructions-null", "lifecycle", "schema", "any", "both", "The member instructions is null if the server has no instructions."),
    ("cursor-empty-at-end", "pagination", "MUST", "any", "both", "The last page has an empty nextCursor, and an empty cursor gives the first page."),
    ("page-size-as-member", "pagination", "schema", "any", "both", "The cursor of the next page is an object with an offset."),
    ("templates-start-again", "pagination", "MUST", "any", "both", "The list of templates gives its first page, and a cursor to the next, whatever the cursor."),
    ("progress-null", "progress", "schema", "any", "both", "The first progress of a forecast is null: zero divided by zero."),
    ("progress-of-previous-call", "progress", "MUST", "any", "both", "Progress carries the token of the call before this one."),
    ("progress-in-phases", "progress", "MUST", "any", "both", "Progress starts again at the second half of the work."),
    ("cancel-needs-reason", "cancellation", "SHOULD", "stdio", "both", "A cancellation without a reason is passed over, and the call answered."),
    ("cancel-ends-session", "cancellation", "MUST", "http", LEGACY, "A cancellation ends the session of its call."),
    ("cancel-ends-subscriptions", "cancellation", "MUST", "stdio", MODERN, "A cancellation of any request ends the subscriptions as well."),
    ("updates-by-prefix", "subscriptions", "MUST", "any", "both", "A subscription to station://1 gets the updates of station://10, too."),
    ("updated-path-only", "subscriptions", "MUST", "any", "both", "Updates name the path of the resource without its scheme."),
    ("listen-dropped", "subscriptions", "SHOULD", "http", MODERN, "A subscription's stream is closed after a second, without a word."),
    ("news-after-listen-result", "subscriptions", "MUST", "any", MODERN, "A subscription is completed after a second, and brings updates all the same."),
    ("false-means-asked", "subscriptions", "MUST", "any", MODERN, "A filter's member that is false counts as true."),
    ("empty-filter-refused", "subscriptions", "MUST", "any", MODERN, "A subscription whose filter is empty is refused as invalid."),
    ("subscribe-result-lists", "subscriptions", "schema", "any", LEGACY, "The result of resources/subscribe is a list of what is subscribed to."),
    ("unsubscribe-forgets-all", "subscriptions", "MUST", "any", LEGACY, "Unsubscribing from one resource ends the subscriptions to all."),
    ("has-more-without-more", "completion", "SHOULD", "any", "both", "hasMore is always true."),
    ("completion-needs-context", "completion", "MUST", "any", "both", "A completion without context is refused as invalid."),
    ("completion-of-nothing-refused", "completion", "MUST", "any", "both", "A completion of an empty value is refused as invalid."),
    ("completion-unwrapped", "completion", "schema", "any", "both", "The values stand in the result itself and not in its member completion."),
    ("level-of-all-sessions", "logging", "SHOULD", "http", LEGACY, "The log level that one client sets holds for every client."),
    ("levels-of-python", "logging", "MUST", "any", "both", "The levels notice, alert and emergency are refused as unknown."),
    ("form-format-phone", "elicitation", "schema", "any", "both", "A field of the form has the format phone."),
    ("form-field-untyped", "elicitation", "schema", "any", "both", "A field of the form has an enum and no type."),
    ("url-without-id", "elicitation", "schema", "any", LEGACY, "Requests to open an address lack elicitationId."),
    ("form-answer-breaks", "elicitation", "SHOULD", "any", "both", "A form that is accepted without the number of a station ends in an internal error."),
    ("task-result-wrapped", "tasks", "MUST", "any", MODERN, "The result of a completed task is the whole JSON-RPC response."),
    ("task-times-local", "tasks", "MUST", "any", MODERN, "The times of a task have no zone and a space in the middle."),
    ("task-poll-null", "tasks", "schema", "any", MODERN, "A task's pollIntervalMs is null."),
    ("accept-exactly", "http", "MUST", "http", "both", "Only the exact text `application/json, text/event-stream` is taken as Accept."),
    ("charset-refused", "http", "MUST", "http", "both", "`application/json; charset=utf-8` is refused with 415."),
    ("answers-accepted-200", "http", "MUST", "http", LEGACY, "The response of a client is accepted with 200 and an empty object."),
    ("get-without-session", "sessions", "SHOULD", "http", LEGACY, "A GET without session id opens a stream."),
    ("unknown-session-deleted", "sessions", "MUST", "http", LEGACY, "The DELETE of an ended session is answered with 200."),
    ("ids-of-all-sessions", "sessions", "MUST", "http", LEGACY, "A call under an id that another session's call has in flight is never answered."),
    ("resumed-without-answer", "resumption", "MUST", "http", LEGACY, "A resumed stream ends without the response that was stored."),
    ("resumed-from-start", "resumption", "MUST", "http", LEGACY, "A resumed stream brings every event once more."),
]


def F(name):
    return FAULT == name


class Refused(Exception):
    def __init__(self, code, message, data=None, status=200):
        super().__init__(message)
        self.code, self.message, self.data, self.status = code, message, data, status


class Asked(Exception):
    def __init__(self, requests, state):
        super().__init__("input required")
        self.requests, self.state = requests, state


class Cancelled(Exception):
    pass


class Session:
    """One client of the older revision: what it set, and where what is not an answer goes."""

    def __init__(self, capabilities, out):
        self.capabilities, self.out, self.level, self.watched, self.ready = capabilities, out, "warning", set(), False
        self.pending, self.flying, self.streams, self.id = {}, {}, {}, secrets.token_hex(16)
        # Over HTTP: the stream of everything but answers, and how often it was opened. Only who opened it last gets it.
        self.get, self.turn = None, 0


class Context:
    """One request: who asks, what it says, and the way back."""

    def __init__(self, revision, id, params, out, session=None):
        self.revision, self.id, self.params, self.out, self.session = revision, id, params, out, session
        self.meta = params.get("_meta") if isinstance(params.get("_meta"), dict) else {}
        self.capabilities = session.capabilities if session else self.meta.get(META + "clientCapabilities", {})
        self.cancelled = threading.Event()

    @property
    def modern(self):
        return self.revision == MODERN

    def tell(self, method, **params):
        if not self.cancelled.is_set():
            self.out({"jsonrpc": "2.0", "method": method, "params": params})

    def wait(self, seconds):
        if self.cancelled.wait(seconds):
            raise Cancelled()

    def log(self, level, text):
        limit = self.session.level if self.session else self.meta.get(META + "logLevel")
        if limit and LEVELS.index(level) >= LEVELS.index(limit):
            self.tell("notifications/message", level=level, logger="stations", data=text)

    def progress(self, done, total):
        token = self.meta.get("progressToken")
        if token is None:
            return
        if F("progress-of-previous-call"):
            if self.id not in OLD["ids"]:
                OLD["ids"][self.id] = OLD["tokens"][-1] if OLD["tokens"] else token
                OLD["tokens"].append(token)
            token = OLD["ids"][self.id]
        if F("progress-in-phases") and done > total / 2:
            done -= total / 2
        if F("progress-null") and done == 0:
            done = None
        self.tell("notifications/progress", progressToken=token, progress=done, total=total)

    def ask(self, key, method, params, capable):
        """The client's answer: in a later request of its own, or to a request of ours."""
        if not capable:
            raise Refused(-32021, "Elicitation is needed", {"requiredCapabilities": {"elicitation": {params["mode"]: {}}}}, 400) \
                if self.modern else Refused(-32602, "This tool needs a client that can be asked")
        if self.modern:
            given = self.params.get("inputResponses")
            if given is not None and not isinstance(given, dict):
                raise Refused(-32602, "inputResponses is not an object")
            if given and key in given:
                known = STATES.get(self.params.get("requestState"))
                if known != (self.params.get("name"), json.dumps(self.params.get("arguments", {}), sort_keys=True)):
                    raise Refused(-32602, "requestState is not one that this call was given")
                if not isinstance(given[key], dict) or given[key].get("action") not in ("accept", "decline", "cancel"):
                    raise Refused(-32602, f"inputResponses.{key} is no answer to an elicitation")
                return given[key]
            state = secrets.token_urlsafe(16)
            STATES[state] = (self.params.get("name"), json.dumps(self.params.get("arguments", {}), sort_keys=True))
            raise Asked({key: {"method": method, "params": params}}, state)
        box, id = queue.Queue(), "q-" + secrets.token_hex(4)
        while not self.session.ready:
            self.wait(0.05)
        self.session.pending[id] = box
        self.out({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
        for _ in range(200):
            self.wait(0.05)
            try:
                answer = box.get_nowait()
            except queue.Empty:
                continue
            if isinstance(answer.get("result"), dict) and answer["result"].get("action") in ("accept", "decline", "cancel"):
                return answer["result"]
            return {"action": "cancel"}
        return {"action": "cancel"}


# ---------------------------------------------------------------- what is offered

def text(value, **more):
    return {"content": [{"type": "text", "text": value}], **more}


def reading(number):
    # Stations 1 and 10 are new every 0.4 s, the others never change.
    step = int((time.time() - BEGUN) / 0.4) if number in (1, 10) else 0
    return {"station": number, "celsius": 10 + number + step % 7}


TOOLS = [
    ("list_stations", "Every station with its number.", {}, []),
    ("read_station", "The temperature at one station.", {"station": {"type": "integer", "minimum": 1, "maximum": 12}}, ["station"]),
    ("forecast", "A forecast, hour by hour.", {"hours": {"type": "integer", "minimum": 2, "maximum": 20, "default": 4},
                                              "within_ms": {"type": "integer", "minimum": 100, "maximum": 2000, "default": 240}}, []),
    ("choose_station", "Asks the user which station to read.", {}, []),
    ("show_account", "Sends the user to the page of their account.", {}, []),
    ("long_report", "A report over several days.", {"days": {"type": "integer", "minimum": 1, "maximum": 30, "default": 3}}, []),
    ("broken_sensor", "Reads a sensor that does not work.", {}, []),
]
READING = {"type": "object", "properties": {"station": {"type": "integer"}, "celsius": {"type": "number"}}, "required": ["station", "celsius"]}


def tools():
    listed = []
    for name, about, properties, required in TOOLS:
        tool = {"name": name, "description": about, "annotations": {"readOnlyHint": True},
                "inputSchema": {"type": "object", "properties": properties, "required": required, "additionalProperties": False}}
        if name == "read_station":
            tool["outputSchema"] = READING
        listed.append(tool)
    return listed


def resources():
    return [{"uri": f"station://{n}", "name": f"station-{n}", "mimeType": "application/json"} for n in NUMBERS]


def templates():
    return [{"uriTemplate": f"history://{kind}/{{station}}", "name": f"history-{kind}", "mimeType": "text/plain"} for kind in ("wind", "rain", "sun")]


PROMPTS = [{"name": "briefing", "description": "A morning briefing.",
            "arguments": [{"name": "station", "required": True}, {"name": "tone", "required": False}]},
           {"name": "summary", "description": "A summary of the day."}]
CHOICES = {"station": [str(n) for n in NUMBERS], "tone": ["brief", "cheerful", "plain"]}


def check_arguments(properties, required, given):
    for name in required:
        if name not in given:
            return f"{name} is missing"
    for name, value in given.items():
        if name not in properties:
            return f"{name} is unknown"
        if isinstance(value, bool) or not isinstance(value, int):
            if not (isinstance(value, float) and value.is_integer()):
                return f"{name} is not an integer"
        if not properties[name]["minimum"] <= value <= properties[name]["maximum"]:
            return f"{name} is out of its range"
    return None


def call(ctx):
    name, given = ctx.params.get("name"), ctx.params.get("arguments", {})
    if not isinstance(name, str) or not isinstance(given, dict):
        raise Refused(-32602, "params.name or params.arguments is invalid")
    known = {tool[0]: tool for tool in TOOLS}.get(name)
    if known is None:
        raise Refused(-32602, f"Unknown tool: {name[:80]}")
    wrong = check_arguments(known[2], known[3], given)
    if wrong:
        return text(wrong, isError=True)
    if name == "long_report" and ctx.modern and TASKS in ctx.capabilities.get("extensions", {}):
        return create_task(ctx, int(given.get("days", 3)))
    return run_tool(ctx, name, given)


def run_tool(ctx, name, given):
    if name == "list_stations":
        ctx.log("info", "listing stations")
        return text(", ".join(f"station {n}" for n in NUMBERS))
    if name == "read_station":
        now = reading(int(given["station"]))
        return text(json.dumps(now), structuredContent=now)
    if name == "forecast":
        hours = int(given.get("hours", 4))
        for hour in range(hours):
            ctx.progress(hour, hours)
            ctx.log("debug", f"hour {hour}")
            ctx.wait(given.get("within_ms", 240) / hours / 1000)
        ctx.progress(hours, hours)
        ctx.log("warning", "this is a guess")
        return text(f"{hours} hours of sun")
    if name == "choose_station":
        return choose(ctx)
    if name == "show_account":
        return account(ctx)
    if name == "long_report":
        ctx.wait(0.1)
        return text(f"{given.get('days', 3)} days of sun")
    return text("the sensor does not answer", isError=True)


def choose(ctx):
    fields = {"station": {"type": "integer", "minimum": 1, "maximum": 12}, "unit": {"type": "string", "enum": ["C", "F"]}}
    if F("form-format-phone"):
        fields["phone"] = {"type": "string", "format": "phone"}
    if F("form-field-untyped"):
        del fields["unit"]["type"]
    declared = ctx.capabilities.get("elicitation")
    capable = isinstance(declared, dict) and (not declared or "form" in declared)
    answer = ctx.ask("station", "elicitation/create", {"mode": "form", "message": "Which station, and in which unit?",
                     "requestedSchema": {"type": "object", "properties": fields, "required": ["station"]}}, capable)
    if answer["action"] != "accept":
        return text("No station was chosen.")
    chosen = answer.get("content") or {}
    if F("form-answer-breaks"):
        chosen["station"] + 1
    if not isinstance(chosen, dict) or check_arguments({"station": {"minimum": 1, "maximum": 12}}, ["station"],
                                                       {k: v for k, v in chosen.items() if k == "station"}):
        return text("The form does not name a station.", isError=True)
    return text(json.dumps(reading(int(chosen["station"]))))


def account(ctx):
    declared = ctx.capabilities.get("elicitation")
    params = {"mode": "url", "message": "Open your account's page?", "url": "https://stations.example/account"}
    if not ctx.modern and not F("url-without-id"):
        params["elicitationId"] = "visit-" + secrets.token_hex(8)
    answer = ctx.ask("account", "elicitation/create", params, isinstance(declared, dict) and "url" in declared)
    return text("The page is open." if answer["action"] == "accept" else "The page stays closed.")


# ---------------------------------------------------------------- tasks of 2026-07-28

def stamp(at):
    written = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(at))
    return written.replace("T", " ").rstrip("Z") if F("task-times-local") else written


def task_state(task):
    state = {"taskId": task["id"], "status": "working", "createdAt": stamp(task["at"]), "lastUpdatedAt": stamp(task["at"]),
             "ttlMs": 60000, "pollIntervalMs": None if F("task-poll-null") else 100}
    if task["cancelled"]:
        state["status"] = "cancelled"
    elif time.time() > task["until"]:
        result = {**text(f"{task['days']} days of sun"), "resultType": "complete"}
        state.update(status="completed", lastUpdatedAt=stamp(task["until"]),
                     result={"jsonrpc": "2.0", "id": task["call"], "result": result} if F("task-result-wrapped") else result)
    return state


def create_task(ctx, days):
    task = {"id": secrets.token_urlsafe(18), "at": time.time(), "until": time.time() + 0.3, "days": days, "cancelled": False, "call": ctx.id}
    TASK_TABLE[task["id"]] = task
    return {"resultType": "task", **{k: v for k, v in task_state(task).items() if k != "result"}}


def find_task(ctx):
    if TASKS not in ctx.capabilities.get("extensions", {}):
        raise Refused(-32021, "The tasks extension is needed", {"requiredCapabilities": {"extensions": {TASKS: {}}}}, 400)
    id = ctx.params.get("taskId")
    if not isinstance(id, str) or id not in TASK_TABLE:
        raise Refused(-32602, "There is no such task")
    return TASK_TABLE[id]


def cancel_task(ctx):
    task = find_task(ctx)
    task["cancelled"] = task["cancelled"] or time.time() <= task["until"]
    return {}


def update_task(ctx):
    find_task(ctx)
    if not isinstance(ctx.params.get("inputResponses"), dict):
        raise Refused(-32602, "params.inputResponses is not an object")
    return {}


# ---------------------------------------------------------------- lists, reads, prompts, completion

def page(ctx, member, items, size):
    cursor = ctx.params.get("cursor")
    start = 0
    if cursor is not None and not (F("cursor-empty-at-end") and cursor == ""):
        key = cursor.get("offset") if F("page-size-as-member") and isinstance(cursor, dict) else cursor
        found = re.fullmatch(member + r"-([0-9]+)", key) if isinstance(key, str) else None
        start = int(found.group(1)) if found else 0
        if not 0 < start < len(items) or start % size:
            raise Refused(-32602, "This is not a cursor of this list")
    if member == "resourceTemplates" and F("templates-start-again"):
        start = 0
    result = {member: items[start:start + size]}
    if start + size < len(items):
        result["nextCursor"] = f"{member}-{start + size}"
        if F("page-size-as-member"):
            result["nextCursor"] = {"offset": result["nextCursor"]}
    elif F("cursor-empty-at-end"):
        result["nextCursor"] = ""
    return cached(ctx, result)


def cached(ctx, result, ttl=0):
    return {**result, "ttlMs": ttl, "cacheScope": "public"} if ctx.modern else result


def read(ctx):
    uri = ctx.params.get("uri")
    if not isinstance(uri, str):
        raise Refused(-32602, "params.uri is missing")
    station, history = re.fullmatch(r"station://([0-9]{1,2})", uri), re.fullmatch(r"history://(wind|rain|sun)/([0-9]{1,2})", uri)
    found = station or history
    if not found or int(found.groups()[-1]) not in NUMBERS or found.groups()[-1].startswith("0"):
        raise Refused(-32602 if ctx.modern else -32002, "Resource not found", {"uri": uri})
    if station:
        content = {"uri": uri, "mimeType": "application/json", "text": json.dumps(reading(int(station.group(1))))}
    else:
        content = {"uri": uri, "mimeType": "text/plain", "text": f"{history.group(1)} at {history.group(2)}: none"}
    return cached(ctx, {"contents": [content]})


def prompt(ctx):
    name, given = ctx.params.get("name"), ctx.params.get("arguments", {})
    known = next((p for p in PROMPTS if p["name"] == name), None)
    if known is None or not isinstance(given, dict) or not all(isinstance(v, str) for v in given.values()):
        raise Refused(-32602, "There is no such prompt, or its arguments are invalid")
    named = [a["name"] for a in known.get("arguments", [])]
    for argument in known.get("arguments", []):
        if argument["required"] and argument["name"] not in given:
            raise Refused(-32602, f"{argument['name']} is missing")
    if any(g not in named for g in given) or given.get("station", "1") not in CHOICES["station"]:
        raise Refused(-32602, "An argument is unknown or invalid")
    return {"messages": [{"role": "user", "content": {"type": "text", "text": f"Tell me of the weather: {name} {sorted(given.items())}"}}]}


def complete(ctx):
    ref, argument, context = ctx.params.get("ref"), ctx.params.get("argument"), ctx.params.get("context")
    if not isinstance(ref, dict) or not isinstance(argument, dict) or not isinstance(argument.get("name"), str) \
            or not isinstance(argument.get("value"), str) or not (context is None or isinstance(context, dict)):
        raise Refused(-32602, "params.ref, params.argument or params.context is invalid")
    if F("completion-needs-context") and context is None:
        raise Refused(-32602, "params.context is missing")
    if F("completion-of-nothing-refused") and not argument["value"]:
        raise Refused(-32602, "params.argument.value is empty")
    fits = (ref.get("type") == "ref/prompt" and ref.get("name") == "briefing" and argument["name"] in CHOICES) or \
        (ref.get("type") == "ref/resource" and ref.get("uri") in [t["uriTemplate"] for t in templates()] and argument["name"] == "station")
    if not fits:
        raise Refused(-32602, "Nothing is known by that reference and that name")
    values = [c for c in CHOICES[argument["name"]] if c.startswith(argument["value"])]
    found = {"values": values, "total": len(values), "hasMore": F("has-more-without-more")}
    return found if F("completion-unwrapped") else {"completion": found}


def set_level(ctx):
    level = ctx.params.get("level")
    if level not in LEVELS or (F("levels-of-python") and level in ("notice", "alert", "emergency")):
        raise Refused(-32602, "params.level is not a log level")
    for session in list(SESSIONS.values()) if F("level-of-all-sessions") else [ctx.session]:
        session.level = level
    return {}


def watch(ctx):
    uri = ctx.params.get("uri")
    if uri not in [r["uri"] for r in resources()]:
        raise Refused(-32602 if not isinstance(uri, str) else -32002, "Resource not found", {"uri": uri})
    ctx.session.watched.add(uri)
    return sorted(ctx.session.watched) if F("subscribe-result-lists") else {}


def unwatch(ctx):
    if not isinstance(ctx.params.get("uri"), str):
        raise Refused(-32602, "params.uri is missing")
    if F("unsubscribe-forgets-all"):
        ctx.session.watched.clear()
    ctx.session.watched.discard(ctx.params["uri"])
    return {}


def listen(ctx):
    wanted, kinds = ctx.params.get("notifications"), ["toolsListChanged", "promptsListChanged", "resourcesListChanged"]
    if not isinstance(wanted, dict) or not all(isinstance(wanted.get(k, False), bool) for k in kinds) \
            or not isinstance(wanted.get("resourceSubscriptions", []), list) \
            or not all(isinstance(u, str) for u in wanted.get("resourceSubscriptions", [])) \
            or (F("empty-filter-refused") and not wanted):
        raise Refused(-32602, "params.notifications is not a filter")
    if "taskIds" in wanted and TASKS not in ctx.capabilities.get("extensions", {}):
        raise Refused(-32021, "The tasks extension is needed", {"requiredCapabilities": {"extensions": {TASKS: {}}}}, 400)
    agreed = {}
    if wanted.get("resourcesListChanged") or (F("false-means-asked") and "resourcesListChanged" in wanted):
        agreed["resourcesListChanged"] = True
    if "resourceSubscriptions" in wanted:
        agreed["resourceSubscriptions"] = [u for u in wanted["resourceSubscriptions"] if u in [r["uri"] for r in resources()]]
    listener = {"ctx": ctx, "agreed": agreed}
    said = {k: v for k, v in agreed.items() if wanted.get(k) is not False}
    ctx.tell("notifications/subscriptions/acknowledged", _meta={META + "subscriptionId": ctx.id}, notifications=said)
    LISTENERS.append(listener)
    try:
        if F("listen-dropped"):
            ctx.wait(1)
            raise Cancelled()
        if F("news-after-listen-result"):
            ctx.wait(1)
            ctx.out({"jsonrpc": "2.0", "id": ctx.id, "result": {"resultType": "complete", "_meta": {META + "subscriptionId": ctx.id}}})
        while True:
            ctx.wait(1)
    finally:
        LISTENERS.remove(listener)


def matches(watched, uri):
    return uri in watched or (F("updates-by-prefix") and any(uri.startswith(one) for one in watched))


def announce():
    """What changes by itself: two readings every 0.4 s, the list every 0.8 s."""
    turn = 0
    while True:
        time.sleep(0.4)
        turn += 1
        for uri in ("station://1", "station://10"):
            named = uri.split("//")[1] if F("updated-path-only") else uri
            for one in list(LISTENERS):
                if matches(one["agreed"].get("resourceSubscriptions", []), uri):
                    one["ctx"].tell("notifications/resources/updated", _meta={META + "subscriptionId": one["ctx"].id}, uri=named)
            for session in list(SESSIONS.values()):
                if session.ready and matches(session.watched, uri):
                    session.out({"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": {"uri": named}})
        if turn % 2 == 0:
            for one in list(LISTENERS):
                if one["agreed"].get("resourcesListChanged"):
                    one["ctx"].tell("notifications/resources/list_changed", _meta={META + "subscriptionId": one["ctx"].id})
            for session in list(SESSIONS.values()):
                if session.ready:
                    session.out({"jsonrpc": "2.0", "method": "notifications/resources/list_changed"})


BOTH = {
    "tools/list": lambda ctx: page(ctx, "tools", tools(), 4), "tools/call": call,
    "resources/list": lambda ctx: page(ctx, "resources", resources(), 5),
    "resources/templates/list": lambda ctx: page(ctx, "resourceTemplates", templates(), 2), "resources/read": read,
    "prompts/list": lambda ctx: page(ctx, "prompts", PROMPTS, 5), "prompts/get": prompt, "completion/complete": complete,
}
ONLY_LEGACY = {"ping": lambda ctx: {}, "logging/setLevel": set_level, "resources/subscribe": watch, "resources/unsubscribe": unwatch}
ONLY_MODERN = {"subscriptions/listen": listen, "tasks/get": lambda ctx: task_state(find_task(ctx)), "tasks/cancel": cancel_task, "tasks/update": update_task}


def introduced(modern):
    said = {"capabilities": {"tools": {}, "prompts": {}, "resources": {"subscribe": True, "listChanged": True}, "completions": {}, "logging": {}}}
    if modern:
        said["capabilities"]["extensions"] = {TASKS: {}}
    if F("instructions-null"):
        said["instructions"] = None
    return said


INFO = {"name": "stations", "version": "1.4.0"}
ONLY_MODERN["server/discover"] = lambda ctx: cached(ctx, {"supportedVersions": [MODERN, LEGACY], **introduced(True)}, 60000)


def initialize(params, out):
    if not isinstance(params.get("protocolVersion"), str) or not isinstance(params.get("capabilities"), dict) or not isinstance(params.get("clientInfo"), dict):
        raise Refused(-32602, "initialize needs protocolVersion, capabilities and clientInfo")
    return {"protocolVersion": LEGACY, "serverInfo": INFO, **introduced(False)}, Session(params["capabilities"], out)


def answer(ctx, method):
    """The response to a request, None if it is missing, and the status over HTTP."""
    response, methods = {"jsonrpc": "2.0", "id": ctx.id}, {**BOTH, **(ONLY_MODERN if ctx.modern else ONLY_LEGACY)}
    try:
        if method not in methods:
            raise Refused(-32601, "Method not found", None, 404 if ctx.modern else 200)
        try:
            result = methods[method](ctx)
        except Asked as asked:
            result = {"resultType": "input_required", "inputRequests": asked.requests, "requestState": asked.state}
        if ctx.modern:
            result = {"resultType": "complete", **result}
            if isinstance(result.get("_meta", {}), dict):
                result["_meta"] = {**result.get("_meta", {}), META + "serverInfo": INFO}
        response["result"] = result
    except Refused as error:
        return failure(ctx.id, error), error.status
    except Cancelled:
        return None, 200
    except Exception as error:
        print(f"internal error: {error!r}", file=sys.stderr)
        return failure(ctx.id, Refused(-32603, "Internal error")), 200
    return (None if ctx.cancelled.is_set() else response), 200


def failure(id, error):
    response = {"jsonrpc": "2.0", "error": {"code": error.code, "message": error.message}}
    if error.data is not None:
        response["error"]["data"] = error.data
    if id is not None:
        response["id"] = id
    return response


def is_id(value):
    return isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool))


def envelope(message):
    """The error for anything but a JSON-RPC message; None for a message."""
    id = message.get("id") if isinstance(message, dict) and is_id(message.get("id")) else None
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        return failure(id, Refused(-32600, "This is no message of JSON-RPC 2.0"))
    if "method" in message:
        if not isinstance(message["method"], str) or ("id" in message and not is_id(message["id"])):
            return failure(id, Refused(-32600, "method or id is invalid"))
        if "params" in message and not isinstance(message["params"], dict):
            return failure(id, Refused(-32602, "params is not an object"))
    elif not is_id(message.get("id")) or not ("result" in message or "error" in message):
        return failure(id, Refused(-32600, "This is neither a request nor a notification nor a response"))
    return None


def is_modern(message):
    meta = message.get("params", {}).get("_meta")
    return isinstance(meta, dict) and any(key.startswith(META) for key in meta)


def modern_context(message, out):
    params = message.get("params", {})
    meta = params.get("_meta") if isinstance(params.get("_meta"), dict) else {}
    version, level, client = meta.get(META + "protocolVersion"), meta.get(META + "logLevel"), meta.get(META + "clientInfo", {})
    if not isinstance(version, str):
        raise Refused(-32602, f"_meta has no {META}protocolVersion", None, 400)
    if version != MODERN:
        raise Refused(-32022, "Unsupported protocol version", {"supported": [MODERN, LEGACY], "requested": version}, 400)
    if not isinstance(meta.get(META + "clientCapabilities"), dict) or not isinstance(client, dict):
        raise Refused(-32602, f"_meta has no valid {META}clientCapabilities", None, 400)
    if level is not None and (level not in LEVELS or (F("levels-of-python") and level in ("notice", "alert", "emergency"))):
        raise Refused(-32602, f"{META}logLevel is not a log level", None, 400)
    return Context(MODERN, message["id"], params, out)


def load(raw):
    def no_constant(name):
        raise ValueError(name)
    return json.loads(raw.decode("utf-8"), parse_constant=no_constant)


# ---------------------------------------------------------------- stdio

class Stdio:
    def __init__(self):
        self.session, self.flying, self.lock = None, {}, threading.Lock()

    def write(self, message):
        with self.lock:
            sys.stdout.buffer.write(json.dumps(message).encode() + b"\n")
            sys.stdout.buffer.flush()

    def work(self, ctx, method):
        response, _ = answer(ctx, method)
        self.flying.pop(repr(ctx.id), None)
        if response and not (F("news-after-listen-result") and method == "subscriptions/listen"):
            self.write(response)

    def request(self, message):
        method, params = message["method"], message.get("params", {})
        try:
            if method == "initialize" and not is_modern(message):
                if self.session:
                    raise Refused(-32600, "This connection is initialized already")
                result, self.session = initialize(params, self.write)
                SESSIONS["stdio"] = self.session
                return self.write({"jsonrpc": "2.0", "id": message["id"], "result": result})
            if self.session and not is_modern(message):
                ctx = Context(LEGACY, message["id"], params, self.write, self.session)
                if F("ping-needs-initialized") and not self.session.ready:
                    raise Refused(-32600, "Send notifications/initialized first")
            elif method == "ping" and not is_modern(message):
                return self.write({"jsonrpc": "2.0", "id": message["id"], "result": {}})
            else:
                ctx = modern_context(message, self.write)
        except Refused as error:
            return self.write(failure(message["id"], error))
        self.flying[repr(ctx.id)] = ctx
        if method in ("tools/call", "subscriptions/listen"):
            return threading.Thread(target=self.work, args=(ctx, method), daemon=True).start()
        return self.work(ctx, method)

    def notification(self, message):
        params = message.get("params", {})
        if message["method"] == "notifications/initialized" and self.session:
            self.session.ready = True
        elif message["method"] == "notifications/cancelled":
            if F("cancel-ends-subscriptions"):
                for one in list(LISTENERS):
                    one["ctx"].cancelled.set()
            ctx = self.flying.get(repr(params.get("requestId")))
            if ctx and not (F("cancel-needs-reason") and not params.get("reason")):
                ctx.cancelled.set()

    def line(self, raw):
        try:
            message = load(raw)
        except (ValueError, RecursionError):
            return self.write(failure(None, Refused(-32700, "Parse error")))
        wrong = envelope(message)
        if wrong:
            return None if isinstance(message, dict) and "id" not in message and isinstance(message.get("method"), str) else self.write(wrong)
        if "method" not in message:
            box = self.session.pending.get(message["id"]) if self.session else None
            return box.put(message) if box else None
        return self.request(message) if "id" in message else self.notification(message)

    def serve(self):
        for raw in sys.stdin.buffer:
            if raw.strip():
                self.line(raw)
        time.sleep(0.3 if self.flying and not LISTENERS else 0)


# ---------------------------------------------------------------- Streamable HTTP

def plain_header(value):
    if value.startswith("=?base64?") and value.endswith("?="):
        import base64
        try:
            return base64.b64decode(value[9:-2], validate=True).decode()
        except ValueError:
            return None
    return value if all(" " <= c <= "~" or c == "\t" for c in value) else None


def check_headers(headers, message):
    params, method = message.get("params", {}), message["method"]
    version = (params.get("_meta") or {}).get(META + "protocolVersion") if isinstance(params.get("_meta"), dict) else None
    stated = headers.get("MCP-Protocol-Version")
    if isinstance(version, str) and (stated or "").strip() != version:
        raise Refused(-32020, "Header mismatch: MCP-Protocol-Version", None, 400)
    if version != MODERN:
        return
    if headers.get("Mcp-Method", "").strip() != method:
        raise Refused(-32020, "Header mismatch: Mcp-Method", None, 400)
    source = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}.get(method)
    if source and isinstance(params.get(source), str) and \
            ("Mcp-Name" not in headers or plain_header(headers["Mcp-Name"].strip()) != params[source]):
        raise Refused(-32020, "Header mismatch: Mcp-Name", None, 400)


class Handler(BaseHTTPRequestHandler):
    protocol_version, server_version, sys_version = "HTTP/1.1", "stations", ""
    disable_nagle_algorithm, timeout = True, 120

    def log_message(self, *args):
        pass

    def reply(self, status, body=None, **headers):
        data = b"" if body is None else json.dumps(body).encode()
        self.send_response(status)
        if body is not None:
            self.send_header("Content-Type", "application/json")
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def refuse(self, status, code, message, id=None, **headers):
        self.reply(status, failure(id, Refused(code, message)), **headers)

    def is_gone(self):
        try:
            ready, _, _ = select.select([self.connection], [], [], 0)
            return bool(ready) and self.connection.recv(1, socket.MSG_PEEK) == b""
        except OSError:
            return True

    def is_refused(self):
        origin = self.headers.get("Origin")
        try:
            is_local = origin is None or urlsplit(origin).hostname in ("localhost", "127.0.0.1", "::1")
        except ValueError:
            is_local = False
        host = self.headers.get("Host", "").rsplit(":", 1)[0]
        if not is_local or host not in ("localhost", "127.0.0.1", "[::1]"):
            self.refuse(403, -32600, "This origin or host is not allowed", Connection="close")
            self.close_connection = True
            return True
        if urlsplit(self.path).path != "/mcp":
            self.refuse(404, -32600, "The endpoint is /mcp", Connection="close")
            self.close_connection = True
            return True
        return False

    def accepts(self, *kinds):
        stated = self.headers.get("Accept", "*/*")
        if F("accept-exactly") and self.command == "POST":
            return stated == "application/json, text/event-stream"
        listed = [one.split(";")[0].strip().lower() for one in stated.split(",")]
        return "*/*" in listed or all(kind in listed or kind.split("/")[0] + "/*" in listed for kind in kinds)

    def body(self):
        if "chunked" not in self.headers.get("Transfer-Encoding", "").lower():
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        data = b""
        while size := int(self.rfile.readline(100).split(b";")[0] or b"0", 16):
            data += self.rfile.read(size)
            self.rfile.readline(10)
        self.rfile.readline(10)
        return data

    def found_session(self, id=None):
        """The session of the request; None where it was refused."""
        stated = self.headers.get("Mcp-Session-Id")
        if stated is None:
            self.refuse(400, -32600, "Mcp-Session-Id is missing", id)
            return None
        session = SESSIONS.get(stated)
        if session is None:
            self.refuse(404, -32600, "There is no such session", id)
        elif self.headers.get("MCP-Protocol-Version", LEGACY) != LEGACY:
            self.refuse(400, -32600, "This session is of 2025-11-25", id)
            return None
        return session

    def do_POST(self):
        if self.is_refused():
            return None
        raw = self.body()
        kind = self.headers.get("Content-Type", "")
        if (kind if F("charset-refused") else kind.split(";")[0].strip().lower()) != "application/json":
            return self.refuse(415, -32600, "Content-Type must be application/json")
        if not self.accepts("application/json", "text/event-stream"):
            return self.refuse(406, -32600, "Accept must list application/json and text/event-stream")
        try:
            message = load(raw)
        except (ValueError, RecursionError):
            return self.refuse(400, -32700, "Parse error")
        wrong = envelope(message)
        if wrong:
            return self.reply(400, wrong)
        if "id" in message and "method" in message:
            return self.answer_request(message)
        if "method" in message and (is_modern(message) or "Mcp-Session-Id" not in self.headers):
            return self.reply(202)
        session = self.found_session()
        if session is None:
            return None
        if "method" not in message:
            box = session.pending.get(message["id"])
            if box:
                box.put(message)
            return self.reply(200, {}) if F("answers-accepted-200") else self.reply(202)
        if message["method"] == "notifications/initialized":
            session.ready = True
        elif message["method"] == "notifications/cancelled":
            ctx = session.flying.get(repr(message.get("params", {}).get("requestId")))
            if ctx:
                ctx.cancelled.set()
                if F("cancel-ends-session"):
                    SESSIONS.pop(session.id, None)
        return self.reply(202)

    def answer_request(self, message):
        id, method, params = message["id"], message["method"], message.get("params", {})
        if method == "initialize" and not is_modern(message):
            return self.greet(id, params)
        try:
            if is_modern(message) or "Mcp-Session-Id" not in self.headers and self.headers.get("MCP-Protocol-Version") == MODERN:
                check_headers(self.headers, message)
                ctx = modern_context(message, None)
            else:
                session = self.found_session(id)
                if session is None:
                    return None
                if F("ping-needs-initialized") and not session.ready:
                    raise Refused(-32600, "Send notifications/initialized first", None, 400)
                ctx = Context(LEGACY, id, params, None, session)
        except Refused as error:
            return self.reply(error.status, failure(id, error))
        if method in ("tools/call", "subscriptions/listen"):
            return self.stream(ctx, method)
        response, status = answer(ctx, method)
        return self.reply(status, response)

    def greet(self, id, params):
        if F("one-session-only") and SESSIONS:
            return self.refuse(400, -32600, "The server is initialized already", id)
        stream = Stream()
        try:
            result, session = initialize(params, stream.put)
        except Refused as error:
            return self.reply(200, failure(id, error))
        session.get, SESSIONS[session.id] = stream, session
        return self.reply(200, {"jsonrpc": "2.0", "id": id, "result": result}, Mcp_Session_Id=session.id)

    def stream(self, ctx, method):
        """The answer in events. Where the client leaves, an older session keeps them for a resumption."""
        stream = Stream()
        ctx.out = stream.put
        flight = repr(ctx.id)
        flying = ctx.session.flying if ctx.session else {}
        if ctx.session:
            if F("ids-of-all-sessions") and any(flight in other.flying for other in SESSIONS.values() if other is not ctx.session):
                ctx.cancelled.set()
            flying[flight] = ctx
            ctx.session.streams[stream.name] = stream
        first = queue.Queue()

        def work():
            response, status = answer(ctx, method)
            flying.pop(flight, None)
            first.put(status)
            if response and not (F("news-after-listen-result") and method == "subscriptions/listen"):
                stream.put(response)
            stream.end()

        threading.Thread(target=work, daemon=True).start()
        try:
            status = first.get(timeout=0.03)
        except queue.Empty:
            status = 200
        if status != 200:
            return self.reply(status, stream.events[0][1])
        return self.send(stream, 0, ctx)

    def send(self, stream, start, ctx=None, session=None, is_resumed=False):
        self.send_response(200)
        for name, value in (("Content-Type", "text/event-stream"), ("Cache-Control", "no-cache"), ("X-Accel-Buffering", "no"), ("Connection", "close")):
            self.send_header(name, value)
        self.end_headers()
        self.close_connection = True
        has_ids, at, turn = ctx is None or ctx.session is not None, start, session.turn if session else 0
        try:
            if has_ids and not is_resumed:
                self.wfile.write(f"id: {stream.name}-{at}.{turn}\ndata: \n\n".encode())
            while True:
                at, events, is_over = stream.after(at)
                if session and stream is session.get and turn != session.turn:
                    return
                for number, message in events:
                    if is_resumed and F("resumed-without-answer") and "method" not in message:
                        continue
                    name = f"id: {stream.name}-{number}\n" if has_ids else ""
                    self.wfile.write(f"{name}event: message\ndata: {json.dumps(message)}\n\n".encode())
                self.wfile.flush()
                if is_over:
                    return
                if self.is_gone():
                    raise OSError("gone")
        except OSError:
            if ctx and not ctx.session:
                ctx.cancelled.set()

    def do_GET(self):
        if self.is_refused():
            return None
        stated = self.headers.get("Mcp-Session-Id")
        if self.headers.get("MCP-Protocol-Version") == MODERN or (stated is None and not F("get-without-session")):
            return self.refuse(405 if self.headers.get("MCP-Protocol-Version") == MODERN else 400, -32600, "A GET needs a session", Allow="POST")
        if not self.accepts("text/event-stream"):
            return self.refuse(406, -32600, "Accept must list text/event-stream")
        if stated is None:
            return self.send(Stream(), 0)
        session = self.found_session()
        if session is None:
            return None
        last = self.headers.get("Last-Event-ID")
        name, _, number = last.partition(".")[0].rpartition("-") if last is not None else (session.get.name, "", "")
        stream = session.get if name == session.get.name else session.streams.get(name)
        if stream is None or (last is not None and not number.isdecimal()):
            return self.refuse(400, -32600, "There is no such event")
        session.turn += stream is session.get
        if last is None:
            return self.send(stream, stream.count(), session=session)
        return self.send(stream, 0 if F("resumed-from-start") else int(number), session=session, is_resumed=True)

    def do_DELETE(self):
        if self.is_refused():
            return None
        if self.headers.get("MCP-Protocol-Version") == MODERN:
            return self.refuse(405, -32600, "There are no sessions", Allow="POST")
        if F("unknown-session-deleted") and self.headers.get("Mcp-Session-Id"):
            session = SESSIONS.get(self.headers["Mcp-Session-Id"])
            if session is None:
                return self.reply(200)
        session = self.found_session()
        if session is None:
            return None
        SESSIONS.pop(session.id, None)
        for stream in [session.get, *session.streams.values()]:
            stream.end()
        return self.reply(200)


class Stream:
    """Events in order, kept so that they can be sent once more."""

    def __init__(self):
        self.name, self.events, self.is_over, self.news = secrets.token_hex(6), [], False, threading.Condition()

    def put(self, message):
        with self.news:
            self.events.append((len(self.events) + 1, message))
            self.news.notify_all()

    def end(self):
        with self.news:
            self.is_over = True
            self.news.notify_all()

    def count(self):
        with self.news:
            return len(self.events)

    def after(self, at):
        with self.news:
            self.news.wait_for(lambda: self.is_over or len(self.events) > at, 0.1)
            return len(self.events), self.events[at:], self.is_over


class Server(ThreadingHTTPServer):
    daemon_threads, request_queue_size = True, 128

    def handle_error(self, *args):
        pass


def main():
    global FAULT
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--stdio", action="store_true")
    arguments.add_argument("--http", type=int)
    arguments.add_argument("--fault", default="", choices=["", *(fault[0] for fault in FAULTS)])
    arguments.add_argument("--list-faults", action="store_true")
    options = arguments.parse_args()
    FAULT = options.fault
    if options.list_faults:
        for name, area, level, transport, revision, effect in FAULTS:
            print(json.dumps({"name": name, "area": area, "level": level, "transport": transport,
                              "revision": [LEGACY, MODERN] if revision == "both" else [revision], "effect": effect}))
        return
    threading.Thread(target=announce, daemon=True).start()
    if options.http is not None:
        Server(("127.0.0.1", options.http), Handler).serve_forever()
    else:
        Stdio().serve()


main()
