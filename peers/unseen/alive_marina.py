"""Shows each fault of server_marina.mjs on the wire: seen with the fault, not seen without.

    alive_marina.py [--over http] [FAULT...]

With `--over http`, the faults of any transport are looked for over HTTP, and the others are left out.
"""

import base64
import http.client
import json
import os
import re
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

HERE = os.path.dirname(os.path.abspath(__file__))
ALL = {"sampling": {}, "elicitation": {"form": {}}, "roots": {"listChanged": True}}


def is_base64(data):
    try:
        return isinstance(data, str) and bool(base64.b64decode(data, validate=True))
    except ValueError:
        return False


class Server:
    """One server process, stopped at the end of the check."""

    program = ["node", os.path.join(HERE, "server_marina.mjs")]

    def __init__(self, fault, *arguments, stdin=subprocess.DEVNULL):
        chosen = ["--fault", fault] if fault else []
        self.process = subprocess.Popen([*self.program, *arguments, *chosen], stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)

    def close(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


class Talk:
    """What a check says and hears, whatever carries it: needs `send`, `seen`, `changed` and `count`."""

    def wait(self, wanted, seconds=4):
        end = time.monotonic() + seconds
        with self.changed:
            while True:
                for message in self.seen:
                    if isinstance(message, (dict, list)) and wanted(message):
                        return message
                if not self.changed.wait(max(0, end - time.monotonic())) and time.monotonic() >= end:
                    return None

    def ask(self, method, params=None, seconds=4, id=None):
        self.count += 1
        id = f"r{self.count}" if id is None else id
        self.send({"jsonrpc": "2.0", "id": id, "method": method, **({} if params is None else {"params": params})})
        return self.wait(lambda m: isinstance(m, dict) and m.get("id") == id and "method" not in m, seconds)

    def start(self, version="2025-11-25", capabilities=None, ready=True):
        answer = self.ask("initialize", {"protocolVersion": version, "capabilities": capabilities or {}, "clientInfo": {"name": "alive", "version": "1"}})
        if ready:
            self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return answer

    def notes(self, method):
        return [m for m in self.seen if isinstance(m, dict) and m.get("method") == method]


class Stdio(Talk, Server):
    def __init__(self, fault):
        super().__init__(fault, stdin=subprocess.PIPE)
        self.raw, self.seen, self.count = [], [], 0
        self.changed = threading.Condition()
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        try:
            for line in self.process.stdout:
                with self.changed:
                    self.raw.append(line.decode())
                    try:
                        self.seen.append(json.loads(line))
                    except ValueError:
                        pass
                    self.changed.notify_all()
        except ValueError:
            pass

    def write(self, text):
        try:
            self.process.stdin.write(text.encode() + b"\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass

    def send(self, message):
        self.write(json.dumps(message))


class Http(Server):
    def __init__(self, fault):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        super().__init__(fault, "--http", str(self.port))
        self.count = 0
        for _ in range(200):
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            except OSError:
                time.sleep(0.05)

    def raw(self, method, body=None, headers=None, seconds=5, each=None):
        """One exchange; `each` gets the headers and every event as it comes."""
        link = http.client.HTTPConnection("127.0.0.1", self.port, timeout=seconds)
        sent = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json", **(headers or {})}
        link.request(method, "/mcp", body, {k: v for k, v in sent.items() if v is not None})
        answer = link.getresponse()
        text, whole, told = b"", True, 0
        if each and answer.status >= 400:
            each(answer.headers, {})
        try:
            end = time.monotonic() + seconds
            while piece := answer.read1(65536):
                text += piece
                if each and "event-stream" in (answer.headers["Content-Type"] or ""):
                    events = text.decode().split("\n\n")[:-1]
                    for event in events[told:]:
                        for data in re.findall(r"^data: ?(\S.*)$", event, re.M):
                            each(answer.headers, json.loads(data))
                    told = len(events)
                if time.monotonic() > end:
                    raise TimeoutError
        except (TimeoutError, OSError):
            whole = False
        link.close()
        answer = Answer(answer, text.decode(), whole)
        if each and not told:
            for message in answer.messages:
                each(answer.headers, message)
        return answer

    def post(self, message, headers=None, seconds=5):
        return self.raw("POST", message if isinstance(message, str) else json.dumps(message), headers, seconds)

    def ask(self, session, method, params=None, seconds=5, id=None, **headers):
        self.count += 1
        message = {"jsonrpc": "2.0", "id": self.count if id is None else id, "method": method, **({} if params is None else {"params": params})}
        return self.post(message, {"Mcp-Session-Id": session, **headers}, seconds)

    def start(self, version="2025-11-25", capabilities=None):
        answer = self.ask(None, "initialize", {"protocolVersion": version, "capabilities": capabilities or {}, "clientInfo": {"name": "alive", "version": "1"}})
        session = answer.headers["Mcp-Session-Id"]
        self.post({"jsonrpc": "2.0", "method": "notifications/initialized"}, {"Mcp-Session-Id": session})
        return session

    def listen(self, session, seconds=3, **headers):
        return Listener(self, session, seconds, headers)


class Answer:
    def __init__(self, answer, text, whole):
        self.status, self.headers, self.text, self.whole = answer.status, answer.headers, text, whole
        self.type = (answer.headers["Content-Type"] or "").split(";")[0]
        self.messages, self.ids = [], re.findall(r"^id: ?(.*)$", text, re.M)
        parts = re.findall(r"^data: ?(.*)$", text, re.M) if "data:" in text and not text.startswith("{") else [text]
        for part in parts:
            try:
                self.messages.append(json.loads(part))
            except ValueError:
                pass

    @property
    def last(self):
        answers = [m for m in self.messages if isinstance(m, list) or "result" in m or "error" in m]
        return answers[-1] if answers else {}


class Listener(threading.Thread):
    """A GET stream that is read for some seconds."""

    def __init__(self, server, session, seconds, headers):
        super().__init__(daemon=True)
        self.arguments = ("GET", None, {"Mcp-Session-Id": session, "Accept": "text/event-stream", "Content-Type": None, **headers}, seconds)
        self.server, self.answer = server, None
        self.start()
        time.sleep(0.3)

    def run(self):
        self.answer = self.server.raw(*self.arguments)

    def messages(self):
        self.join()
        return self.answer.messages


class Web(Talk):
    """Looks like a `Stdio`, but talks HTTP: one POST for each message, one GET after the handshake."""

    http = Http

    def __init__(self, fault):
        self.server, self.seen, self.count, self.session = self.http(fault), [], 0, None
        self.changed = threading.Condition()

    def close(self):
        self.server.close()

    def take(self, headers, message):
        with self.changed:
            self.session = self.session or headers["Mcp-Session-Id"]
            self.seen.append(message)
            self.changed.notify_all()

    def headers(self, message):
        return {"Mcp-Session-Id": self.session}

    def exchange(self, *arguments):
        try:
            self.server.raw(*arguments, seconds=6, each=self.take)
        except (OSError, http.client.HTTPException):
            pass

    def send(self, message):
        one = threading.Thread(target=self.exchange, args=("POST", json.dumps(message), self.headers(message)), daemon=True)
        one.start()
        if isinstance(message, dict) and ("id" not in message or "method" not in message):
            one.join()
        if isinstance(message, dict) and message.get("method") == "notifications/initialized":
            threading.Thread(target=self.exchange, args=("GET", None, {"Mcp-Session-Id": self.session, "Accept": "text/event-stream"}), daemon=True).start()
            time.sleep(0.2)


OVER_HTTP = sys.argv[1:3] == ["--over", "http"]
CHECKS = {}


def check(*names):
    def add(function):
        for name in names:
            CHECKS[name] = function
        return function
    return add


def stdio(name, test, version="2025-11-25", capabilities=None):
    """Adds a check over stdio after a handshake."""
    def run(fault):
        server = (Web if OVER_HTTP else Stdio)(fault)
        try:
            server.opened = server.start(version, capabilities)
            return bool(test(server))
        finally:
            server.close()
    CHECKS[name] = run


def over_http(name, test, version="2025-11-25", capabilities=None):
    def run(fault):
        server = Http(fault)
        try:
            return bool(test(server, server.start(version, capabilities)))
        finally:
            server.close()
    CHECKS[name] = run


def call(s, name, arguments=None, meta=None, seconds=4, **more):
    return s.ask("tools/call", {"name": name, "arguments": arguments or {}, **({"_meta": meta} if meta else {}), **more}, seconds)


def hcall(s, session, name, arguments=None, meta=None, **more):
    return s.ask(session, "tools/call", {"name": name, "arguments": arguments or {}, **({"_meta": meta} if meta else {}), **more})


def code(answer):
    return (answer or {}).get("error", {}).get("code")


def pages(s, method, member, limit=12):
    items, cursors, cursor = [], [], None
    for _ in range(limit):
        result = s.ask(method, {} if cursor is None else {"cursor": cursor})["result"]
        items += result[member]
        if "nextCursor" not in result:
            break
        cursor = result["nextCursor"]
        cursors.append(cursor)
        if cursor is None:
            break
    return items, cursors


def tools(s):
    return pages(s, "tools/list", "tools")[0]


# HTTP
over_http("http-notification-200", lambda s, i: s.post({"jsonrpc": "2.0", "method": "notifications/roots/list_changed"}, {"Mcp-Session-Id": i}).status != 202)
over_http("http-origin-ignored", lambda s, i: s.ask(i, "ping", Origin="http://evil.example").status != 403)
over_http("http-json-as-text", lambda s, i: s.ask(i, "ping").type != "application/json")
over_http("http-sse-as-json", lambda s, i: "data:" in (a := hcall(s, i, "harbour_log")).text and a.type != "text/event-stream")
over_http("http-version-header-ignored", lambda s, i: s.ask(i, "ping", **{"MCP-Protocol-Version": "1999-01-01"}).status != 400)
over_http("http-deleted-session-served", lambda s, i: s.raw("DELETE", None, {"Mcp-Session-Id": i}).status in (200, 204) and s.ask(i, "ping").status == 200)
over_http("http-deleted-session-400", lambda s, i: s.raw("DELETE", None, {"Mcp-Session-Id": i}).status in (200, 204) and s.ask(i, "ping").status != 404)
over_http("http-no-session-served", lambda s, i: s.ask(None, "tools/list").status != 400)
over_http("http-session-id-space", lambda s, i: not re.fullmatch(r"[\x21-\x7e]+", i))
over_http("http-session-id-counter", lambda s, i: len(i) < 16)


def answers_on_get(s, i):
    listener = s.listen(i, 2)
    s.ask(i, "ping")
    return any("result" in m for m in listener.messages())


def broadcast(s, i):
    listener = s.listen(i, 2)
    own = hcall(s, i, "harbour_log").messages
    return any(m in own for m in listener.messages())


def ids_reused(s, i):
    first, second = hcall(s, i, "harbour_log"), hcall(s, i, "harbour_log")
    return bool(set(first.ids) & set(second.ids))


def replay(s, i):
    hcall(s, i, "harbour_log")
    second = hcall(s, i, "survey_hull", {"frames": 2})
    answer = s.raw("GET", None, {"Mcp-Session-Id": i, "Accept": "text/event-stream", "Last-Event-ID": second.ids[0]}, 2)
    return any(m.get("method") == "notifications/message" for m in answer.messages)


over_http("http-response-on-get", answers_on_get)
over_http("http-broadcast", broadcast)
over_http("http-event-id-reused", ids_reused)
over_http("http-no-prime", lambda s, i: not re.match(r"id: \S+\ndata: ?\n", hcall(s, i, "harbour_log").text))
over_http("http-stream-left-open", lambda s, i: not s.ask(i, "tools/call", {"name": "harbour_log"}, 2).whole)
over_http("http-replay-all", replay)
over_http("http-get-empty-json", lambda s, i: (a := s.raw("GET", None, {"Mcp-Session-Id": i, "Accept": "text/event-stream"}, 1)).status == 200 and a.type != "text/event-stream")
PINGS = [{"jsonrpc": "2.0", "id": n, "method": "ping"} for n in (71, 72, 73)]
over_http("http-batch-first-only", lambda s, i: len(s.post(PINGS, {"Mcp-Session-Id": i}).last) != 3, "2025-03-26")
stdio("batch-refused", lambda s: s.send(PINGS) or not s.wait(lambda m: isinstance(m, list) and len(m) == 3, 1), "2025-03-26")

# stdio
stdio("stdio-banner", lambda s: len(s.raw) != len(s.seen))
stdio("stdio-pretty", lambda s: s.opened is None)
stdio("stdio-bad-json-exit", lambda s: s.write("{oops") or code(s.wait(lambda m: "error" in m, 1)) != -32700)

# lifecycle
stdio("init-echo-version", lambda s: s.opened["result"]["protocolVersion"] == "1999-01-01", "1999-01-01")
stdio("init-always-newest", lambda s: s.opened["result"]["protocolVersion"] != "2025-06-18", "2025-06-18")
stdio("init-no-version-of-server", lambda s: "version" not in s.opened["result"]["serverInfo"])
stdio("cap-prompts-missing", lambda s: "prompts" not in s.opened["result"]["capabilities"] and "result" in s.ask("prompts/list"))
stdio("cap-completions-missing", lambda s: "completions" not in s.opened["result"]["capabilities"] and "result" in complete(s))
stdio("cap-logging-missing", lambda s: "logging" not in s.opened["result"]["capabilities"] and call(s, "harbour_log") and s.notes("notifications/message"))
stdio("cap-tools-true", lambda s: s.opened["result"]["capabilities"]["tools"] is True)
stdio("ping-status", lambda s: s.ask("ping")["result"] != {})
stdio("ping-unknown", lambda s: "error" in s.ask("ping"))


@check("roots-too-early")
def roots(fault):
    s = Stdio(fault)
    s.start("2025-11-25", ALL, ready=False)
    early = s.wait(lambda m: m.get("method") == "roots/list", 1)
    s.close()
    return bool(early)


# JSON-RPC
stdio("id-retyped", lambda s: s.ask("ping", id=41, seconds=1) is None and s.wait(lambda m: m.get("id") == "41", 1))
stdio("id-falsy-dropped", lambda s: s.ask("ping", id=0, seconds=1) is None)
stdio("notification-answered", lambda s: s.send({"jsonrpc": "2.0", "method": "notifications/roots/list_changed"}) or s.wait(lambda m: "error" in m, 1))
stdio("unknown-method-32603", lambda s: code(s.ask("boats/sink")) != -32601)
stdio("error-code-string", lambda s: not isinstance(code(s.ask("boats/sink")), int))
stdio("error-without-message", lambda s: "message" not in s.ask("boats/sink")["error"])
stdio("error-with-result", lambda s: "result" in s.ask("boats/sink"))
stdio("no-params-hangs", lambda s: s.ask("tools/call", seconds=1) is None)
stdio("notification-no-jsonrpc", lambda s: call(s, "harbour_log") and any("jsonrpc" not in m for m in s.notes("notifications/message")))
stdio("double-answer", lambda s: call(s, "list_boats") and time.sleep(0.3) is None and len([m for m in s.seen if m.get("id") == "r2"]) > 1)

# tools
stdio("tool-unknown-as-result", lambda s: "result" in call(s, "sink_boat"))
TIDE = ("tide_table", {"port": "brest"})
stdio("tool-structured-missing", lambda s: "structuredContent" not in call(s, *TIDE)["result"])
stdio("tool-structured-string", lambda s: isinstance(call(s, *TIDE)["result"]["structuredContent"]["tides"][0]["height"], str))
stdio("tool-no-text-copy", lambda s: not any(b["text"].startswith("{") for b in call(s, *TIDE)["result"]["content"]))
stdio("tool-schema-null", lambda s: any(t["inputSchema"] is None for t in tools(s)))
stdio("tool-schema-int", lambda s: "float" in json.dumps([t["inputSchema"] for t in tools(s)]))
stdio("tool-name-space", lambda s: any(" " in t["name"] for t in tools(s)))
stdio("tool-name-twice", lambda s: len({t["name"] for t in tools(s)}) != len(tools(s)))
stdio("tool-content-string", lambda s: isinstance(call(s, *TIDE)["result"]["content"], str))
stdio("tool-image-no-mime", lambda s: "mimeType" not in call(s, "harbour_photo")["result"]["content"][0])
stdio("tool-audio-raw", lambda s: not is_base64(call(s, "harbour_photo")["result"]["content"][1]["data"]))
stdio("tool-args-unchecked", lambda s: not call(s, "tide_table", {"port": "atlantis"})["result"].get("isError"))
stdio("tool-hint-string", lambda s: any(isinstance(t.get("annotations", {}).get("readOnlyHint", True), str) for t in tools(s)))
stdio("tool-link-no-name", lambda s: any(b["type"] == "resource_link" and "name" not in b for b in call(s, "find_berth", {"length": 9})["result"]["content"]))

# pagination
stdio("page-overlap", lambda s: len({t["name"] for t in tools(s)}) != len(tools(s)))
stdio("page-cursor-number", lambda s: any(not isinstance(c, str) for c in pages(s, "tools/list", "tools")[1]))
stdio("page-cursor-null", lambda s: None in pages(s, "tools/list", "tools")[1])
stdio("page-bad-cursor-start", lambda s: "result" in s.ask("tools/list", {"cursor": "nonsense"}))
stdio("page-bad-cursor-code", lambda s: code(s.ask("tools/list", {"cursor": "nonsense"})) != -32602)
stdio("page-endless", lambda s: len(pages(s, "prompts/list", "prompts")[1]) >= 12)

# resources
stdio("res-missing-empty", lambda s: s.ask("resources/read", {"uri": "marina://boats/none"}).get("result") == {"contents": []})
stdio("res-missing-code", lambda s: code(s.ask("resources/read", {"uri": "marina://boats/none"})) != -32002)
stdio("res-contents-no-uri", lambda s: "uri" not in s.ask("resources/read", {"uri": "marina://plan"})["result"]["contents"][0])
stdio("res-blob-raw", lambda s: not is_base64(s.ask("resources/read", {"uri": "marina://flag.png"})["result"]["contents"][0]["blob"]))
listed = lambda s: pages(s, "resources/list", "resources")[0]
stdio("res-size-string", lambda s: any(isinstance(r.get("size"), str) for r in listed(s)))
stdio("res-priority-5", lambda s: any(r.get("annotations", {}).get("priority", 0) > 1 for r in listed(s)))
stdio("res-uri-space", lambda s: any(" " in r["uri"] for r in listed(s)))
stdio("res-no-name", lambda s: any("name" not in r for r in listed(s)))
stdio("template-unclosed", lambda s: any(t["uriTemplate"].count("{") != t["uriTemplate"].count("}") for t in s.ask("resources/templates/list")["result"]["resourceTemplates"]))
stdio("template-member", lambda s: "resourceTemplates" not in s.ask("resources/templates/list")["result"])

# subscriptions
NOW = {"uri": "marina://tide/now"}
UPDATED = "notifications/resources/updated"
stdio("sub-null-result", lambda s: s.ask("resources/subscribe", NOW)["result"] is None)
stdio("sub-everybody", lambda s: s.wait(lambda m: m.get("method") == UPDATED, 1.5))
stdio("sub-never-told", lambda s: s.ask("resources/subscribe", NOW) and not s.wait(lambda m: m.get("method") == UPDATED, 2))
stdio("sub-no-uri", lambda s: s.ask("resources/subscribe", NOW) and "uri" not in s.wait(lambda m: m.get("method") == UPDATED, 2)["params"])


def after_unsubscribe(s):
    s.ask("resources/subscribe", NOW)
    s.ask("resources/unsubscribe", NOW)
    before = len(s.notes(UPDATED))
    time.sleep(1.6)
    return len(s.notes(UPDATED)) > before


def other_subscribed(s, i):
    other = s.start()
    s.ask(other, "resources/subscribe", NOW)
    return any(m.get("method") == UPDATED for m in s.listen(i, 2).messages())


def list_change(s):
    call(s, "register_boat", {"name": "Dunlin", "length": 8})
    return not s.wait(lambda m: m.get("method") == "notifications/resources/list_changed", 1)


stdio("sub-after-unsubscribe", after_unsubscribe)
over_http("sub-shared", other_subscribed)
stdio("list-change-untold", list_change)

# prompts and completion
stdio("prompt-args-unchecked", lambda s: "result" in s.ask("prompts/get", {"name": "passage_plan"}))
stdio("prompt-unknown-32603", lambda s: code(s.ask("prompts/get", {"name": "none"})) != -32602)
got = lambda s, name: s.ask("prompts/get", {"name": name})["result"]["messages"]
stdio("prompt-role-system", lambda s: got(s, "safety_check")[0]["role"] == "system")
stdio("prompt-content-array", lambda s: isinstance(got(s, "safety_check")[0]["content"], list))
stdio("prompt-arguments-map", lambda s: isinstance(s.ask("prompts/list")["result"]["prompts"][0]["arguments"], dict))
stdio("prompt-resource-no-uri", lambda s: "uri" not in got(s, "log_entry")[1]["content"]["resource"])


def complete(s, ref=None, name="from", value=""):
    return s.ask("completion/complete", {"ref": ref or {"type": "ref/prompt", "name": "passage_plan"}, "argument": {"name": name, "value": value}})


BERTHS = {"type": "ref/resource", "uri": "marina://berths/{berth}"}
stdio("comp-120", lambda s: len(complete(s, BERTHS, "berth")["result"]["completion"]["values"]) > 100)
stdio("comp-objects", lambda s: isinstance(complete(s)["result"]["completion"]["values"][0], dict))
stdio("comp-unknown-prompt-empty", lambda s: "result" in complete(s, {"type": "ref/prompt", "name": "none"}))
stdio("comp-has-more-string", lambda s: isinstance(complete(s)["result"]["completion"]["hasMore"], str))

# logging
logs = lambda s: call(s, "harbour_log") and [m["params"] for m in s.notes("notifications/message")]
stdio("log-level-ignored", lambda s: s.ask("logging/setLevel", {"level": "error"}) and any(m["level"] == "info" for m in logs(s)))
stdio("log-level-warn", lambda s: any(m["level"] == "warn" for m in logs(s)))
stdio("log-bad-level-kept", lambda s: "result" in s.ask("logging/setLevel", {"level": "loud"}))
stdio("log-no-data", lambda s: any("data" not in m for m in logs(s)))
stdio("log-secret", lambda s: any("password" in m["data"] for m in logs(s)))


def shared_level(s, i):
    s.ask(s.start(), "logging/setLevel", {"level": "emergency"})
    return not any(m.get("method") == "notifications/message" for m in hcall(s, i, "harbour_log").messages)


over_http("log-level-shared", shared_level)

# progress and cancellation
def progressed(s, token="t"):
    call(s, "survey_hull", {"frames": 4}, {"progressToken": token} if token else None)
    time.sleep(0.6)
    return [m["params"] for m in s.notes("notifications/progress")]


def falls(s):
    values = [p["progress"] for p in progressed(s)]
    return values != sorted(set(values))


def late(s):
    progressed(s)
    answer = next(n for n, m in enumerate(s.seen) if m.get("id") == "r2")
    return any(m.get("method") == "notifications/progress" for m in s.seen[answer:])


stdio("progress-falls", falls)
stdio("progress-token-string", lambda s: any(p["progressToken"] != "t" for p in progressed(s)))
stdio("progress-late", late)
stdio("progress-unasked", lambda s: progressed(s, None))
stdio("progress-percent", lambda s: any(isinstance(p["progress"], str) for p in progressed(s)))


def cancel(s, others=False):
    for n in (501, 502):
        s.send({"jsonrpc": "2.0", "id": n, "method": "tools/call", "params": {"name": "survey_hull", "arguments": {"frames": 3}}})
    time.sleep(0.3)
    s.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 501}})
    s.wait(lambda m: m.get("id") == (502 if others else 501), 2)
    return {m.get("id") for m in s.seen}


stdio("cancel-answered", lambda s: 501 in cancel(s))
stdio("cancel-all", lambda s: 502 not in cancel(s, True))
stdio("cancel-unknown-answered", lambda s: s.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 999}}) or s.wait(lambda m: "error" in m, 1))


# requests of the server
def asked(s, tool, method):
    s.send({"jsonrpc": "2.0", "id": f"ask-{tool}", "method": "tools/call", "params": {"name": tool, "arguments": {}}})
    found = s.wait(lambda m: m.get("method") == method, 1.5)
    if found:
        s.send({"jsonrpc": "2.0", "id": found["id"], "result": {"role": "assistant", "content": {"type": "text", "text": "x"}, "model": "m", "action": "accept"}})
    return found


stdio("sampling-undeclared", lambda s: asked(s, "weather_brief", "sampling/createMessage"))
stdio("sampling-no-max-tokens", lambda s: "maxTokens" not in asked(s, "weather_brief", "sampling/createMessage")["params"], capabilities=ALL)
stdio("elicit-undeclared", lambda s: asked(s, "choose_berth", "elicitation/create"))
form = lambda s: asked(s, "choose_berth", "elicitation/create")["params"]["requestedSchema"]["properties"]
stdio("elicit-nested", lambda s: any(p["type"] == "object" for p in form(s).values()), capabilities=ALL)
stdio("elicit-password", lambda s: "password" in form(s), capabilities=ALL)
stdio("server-id-reused", lambda s: asked(s, "choose_berth", "elicitation/create")["id"] == asked(s, "weather_brief", "sampling/createMessage")["id"], capabilities=ALL)


# tasks
def task(s, frames=2, tool="survey_hull"):
    return call(s, tool, {"frames": frames} if tool == "survey_hull" else {}, task={"ttl": 60000})["result"]["task"]


def finished(s, frames=1):
    made = task(s, frames)
    s.ask("tasks/result", {"taskId": made["taskId"]}, 5)
    return made["taskId"]


def then_completed(s):
    id = task(s)["taskId"]
    s.ask("tasks/cancel", {"taskId": id})
    time.sleep(1)
    return s.ask("tasks/get", {"taskId": id})["result"]["status"] != "cancelled"


def unlisted(s):
    id = finished(s)
    return id not in [t["taskId"] for t in s.ask("tasks/list")["result"]["tasks"]] and "result" in s.ask("tasks/get", {"taskId": id})


stdio("task-born-completed", lambda s: task(s)["status"] != "working")
stdio("task-no-created-at", lambda s: "createdAt" not in task(s))
stdio("task-time-epoch", lambda s: not isinstance(task(s)["createdAt"], str))
stdio("task-no-ttl", lambda s: "ttl" not in s.ask("tasks/get", {"taskId": task(s)["taskId"]})["result"])
stdio("task-result-not-waiting", lambda s: "error" in s.ask("tasks/result", {"taskId": task(s)["taskId"]}))
stdio("task-result-unrelated", lambda s: "_meta" not in s.ask("tasks/result", {"taskId": task(s)["taskId"]})["result"])
stdio("task-get-related", lambda s: "_meta" in s.ask("tasks/get", {"taskId": task(s)["taskId"]})["result"])
stdio("task-cancel-terminal", lambda s: code(s.ask("tasks/cancel", {"taskId": finished(s)})) != -32602)
stdio("task-cancel-working", lambda s: s.ask("tasks/cancel", {"taskId": task(s, 9)["taskId"]})["result"]["status"] != "cancelled")
stdio("task-cancel-then-completed", then_completed)
stdio("task-unknown-32603", lambda s: code(s.ask("tasks/get", {"taskId": "none"})) != -32602)
stdio("task-id-counter", lambda s: len(task(s)["taskId"]) < 8)
stdio("task-list-running-only", unlisted)
stdio("task-ignored", lambda s: "task" not in call(s, "survey_hull", {"frames": 1}, task={})["result"])
stdio("task-required-ignored", lambda s: code(call(s, "dredge_plan")) != -32601)
stdio("task-forbidden-accepted", lambda s: code(call(s, "list_boats", task={})) != -32601)


def main(program, checks, chosen):
    listed = subprocess.run([*program, "--list-faults"], capture_output=True, text=True, check=True).stdout
    names = [fault["name"] for fault in map(json.loads, listed.splitlines()) if not OVER_HTTP or fault["transport"] == "any"]
    if OVER_HTTP:
        chosen, checks = chosen[2:], {name: checks[name] for name in names}
    bad = [f"no check for {name}" for name in names if name not in checks] + [f"no fault {name}" for name in checks if name not in names]

    def one(name):
        try:
            clean, faulty = checks[name](None), None
        except Exception as error:
            return f"{name}: the check fails without the fault: {error!r}"
        try:
            faulty = checks[name](name)
        except Exception as error:
            return f"{name}: the check fails with the fault: {error!r}"
        return None if faulty and not clean else f"{name}: seen without the fault: {clean}, with it: {faulty}"

    with ThreadPoolExecutor(3) as pool:
        bad += [line for line in pool.map(one, chosen or [name for name in names if name in checks]) if line]
    print("\n".join(bad) if bad else f"all {len(chosen or names)} faults are alive")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(Server.program, CHECKS, sys.argv[1:]))
