"""Shows that each fault of client_pilot.py changes what a server sees over HTTP.

    alive_pilot.py [--jobs N] [--print] [FAULT...]

The client visits a server that does everything a careful client has to know about, without the fault and with it, at each
revision that the fault names, until the two logs of requests differ.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

CLIENT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "client_pilot.py")
MODERN = "2026-07-28"
META = "io.modelcontextprotocol/"
FORM = {
    "message": "Fill in.",
    "requestedSchema": {"type": "object", "properties": {"n": {"type": "integer", "minimum": 3}, "ok": {"type": "boolean"}, "lane": {"type": "string", "default": "south"}}, "required": ["n", "ok"]},
}
SAMPLING = {"messages": [{"role": "user", "content": {"type": "text", "text": "?"}}], "maxTokens": 3}


def tool(name, **properties):
    return {"name": name, "inputSchema": {"type": "object", "properties": properties, "required": [one for one in properties if not one.startswith("opt")]}}


TOOLS = [
    tool("plain", n={"type": "integer"}), tool("mirrored", s={"type": "string", "x-mcp-header": "S"}, opt={"type": "string", "x-mcp-header": "Opt"}, b={"type": "boolean", "x-mcp-header": "B"}),
    tool("crooked", s={"type": "string", "x-mcp-header": "no good"}), tool("zoë"), tool("form"), tool("url"), tool("sampling"), tool("roots"), tool("stateless"),
    tool("streams"), tool("breaks"), tool("pings"), tool("odd"), tool("slow"), tool("ends-session"), tool("after"),
]


class Handler(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_GET(self):
        if self.path != "/mcp":
            self.server.log.append(["fetched", self.path])
            return self.reply(200, {"page": True})
        last = self.headers.get("Last-Event-ID")
        self.server.log.append(["GET", last, None if last is None else round(time.time() - self.server.broke)])
        if last is None:
            return self.reply(405, None)
        return self.stream([self.server.owed])

    def do_DELETE(self):
        self.server.log.append(["DELETE", self.headers.get("Mcp-Session-Id")])
        self.reply(204, None)

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        names = ("accept", "mcp-protocol-version", "mcp-session-id", "mcp-method", "mcp-name")
        headers = {key.lower(): value for key, value in self.headers.items() if key.lower() in names or key.lower().startswith("mcp-param")}
        self.server.log.append([headers, body])
        if isinstance(body, list) or "method" not in body or "id" not in body:
            if isinstance(body, dict) and "method" not in body:
                self.server.answers.append(body)
            return self.reply(202, None)
        if self.server.revision != MODERN and body["method"] == "initialize":
            self.server.session += 1
            offers = {} if self.server.bare else {"tools": {}, "resources": {}, "prompts": {}, "logging": {}}
            agreed = "1999-01-01" if self.server.strange else self.server.revision
            result = {"protocolVersion": agreed, "capabilities": offers, "serverInfo": {"name": "s", "version": "1"}}
            return self.reply(200, {"jsonrpc": "2.0", "id": body["id"], "result": result}, {"Mcp-Session-Id": f"s{self.server.session}"})
        self.serve(body)

    def once(self, what):
        seen = what in self.server.done
        self.server.done.add(what)
        return not seen

    def serve(self, body):
        method, params = body["method"], body.get("params") if isinstance(body.get("params"), dict) else {}
        modern = self.server.revision == MODERN
        if method == "server/discover":
            if self.once("version"):
                return self.error(body, 400, -32022, {"supported": [MODERN], "requested": MODERN})
            return self.result(body, {"supportedVersions": [MODERN], "capabilities": {"tools": {"listChanged": True}, "resources": {}, "prompts": {}, "logging": {}}})
        if method == "tools/list":
            cursor = params.get("cursor")
            page = {None: (TOOLS[:8], "a b/c"), "a b/c": (TOOLS[8:12], ""), "": (TOOLS[12:], None)}.get(cursor, ([], None))
            return self.result(body, {"tools": page[0], **({"nextCursor": page[1]} if page[1] is not None else {})}, bare=cursor is None)
        if method == "resources/list":
            return self.result(body, {"resources": [{"uri": "file:///æ", "name": "r"}]})
        if method == "prompts/list":
            return self.result(body, {"prompts": [{"name": "p", "resultType": "x"}], **({"resultType": "alien"} if modern else {})})
        if method != "tools/call":
            return self.result(body, {"contents": [], "resourceTemplates": [], "messages": []})
        self.call(body, params, params.get("name"), modern)

    def call(self, body, params, name, modern):
        done = {"content": [{"type": "text", "text": "done"}]}
        asked = {
            "form": ("elicitation/create", FORM), "stateless": ("elicitation/create", FORM), "roots": ("roots/list", {}), "sampling": ("sampling/createMessage", SAMPLING),
            "url": ("elicitation/create", {"mode": "url", "message": "Open.", "url": f"http://127.0.0.1:{self.server.server_port}/page", "elicitationId": "e"}),
            "pings": ("ping", {}), "odd": ("odd/method", {}),
        }.get(name)
        if asked and modern and name not in ("pings", "odd"):
            if "inputResponses" in params:
                return self.result(body, done)
            state = {} if name == "stateless" else {"requestState": " a+b%20=="}
            return self.result(body, {"resultType": "input_required", "inputRequests": {"k": {"method": asked[0], "params": asked[1]}}, **state})
        if asked and not modern:
            return self.stream([{"jsonrpc": "2.0", "id": 77, "method": asked[0], "params": asked[1]}, None, self.response(body, done)])
        if name == "streams":
            note = {"jsonrpc": "2.0", "method": "notifications/tools/list_changed" if self.once("note") else "notifications/odd"}
            return self.stream([note, self.response(body, done)])
        if name == "breaks" and self.once("break"):
            self.server.owed, self.server.broke = self.response(body, done), time.time()
            return self.stream(["retry: 2000\nid: 9\ndata:" if not modern else ":"])
        if name == "slow" and self.once("slow"):
            time.sleep(5)
        if name == "ends-session" and not modern and self.once("session"):
            return self.reply(404, None)
        return self.result(body, done)

    def response(self, body, result, bare=False):
        kind = {"resultType": "complete"} if self.server.revision == MODERN and not bare else {}
        return {"jsonrpc": "2.0", "id": body["id"], "result": {**kind, **result}}

    def result(self, body, result, bare=False):
        self.reply(200, self.response(body, result, bare))

    def error(self, body, status, code, data):
        self.reply(status, {"jsonrpc": "2.0", "id": body["id"], "error": {"code": code, "message": "no", "data": data}})

    def reply(self, status, message, headers=None):
        content = b"" if message is None else json.dumps(message).encode()
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", "Content-Length": str(len(content)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def stream(self, messages):
        """Events; None waits for an answer of the client."""
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        had = len(self.server.answers)
        for one in messages:
            if one is None:
                until = time.time() + 1
                while len(self.server.answers) == had and time.time() < until:
                    time.sleep(0.02)
                continue
            text = one if isinstance(one, str) else "data: " + json.dumps(one)
            self.wfile.write(f"{text}\n\n".encode())
            self.wfile.flush()


class Server(ThreadingHTTPServer):
    def handle_error(self, *_):
        """A client may leave in the middle of an answer."""


def visit(revision, fault, **kind):
    server = Server(("127.0.0.1", 0), Handler)
    server.revision, server.log, server.done, server.answers, server.session, server.owed, server.broke = revision, [], set(), [], 0, None, 0
    server.bare, server.strange = kind.get("bare", False), kind.get("strange", False)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    command = [sys.executable, CLIENT, *(["--fault", fault] if fault else []), f"http://127.0.0.1:{server.server_port}/mcp"]
    ran = subprocess.run(command, env={**os.environ, "PROOF_REVISION": revision}, capture_output=True, timeout=120)
    server.shutdown()
    log = [re.sub(r"127\.0\.0\.1:\d+", "HOST", json.dumps(one, ensure_ascii=False, sort_keys=True)) for one in server.log if one[:2] != ["GET", None]]
    # A subscription is opened beside everything else, so its place varies.
    log.sort(key=lambda one: "subscriptions/listen" in one)
    return log + [f"exit {ran.returncode}"]


KINDS = [{}, {"bare": True}, {"strange": True}]


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("fault", nargs="*")
    arguments.add_argument("--jobs", type=int, default=4)
    arguments.add_argument("--print", action="store_true", help="print what differs")
    options = arguments.parse_args()
    listed = subprocess.run([sys.executable, CLIENT, "--list-faults"], capture_output=True, text=True, check=True).stdout
    faults = [one for one in map(json.loads, listed.splitlines()) if not options.fault or one["name"] in options.fault]
    faults = [one for one in faults if "http" in one["transports"]]
    where = [(revision, kind) for revision in (MODERN, "2025-11-25") for kind in KINDS if revision != MODERN or kind == {}]
    clean = {json.dumps(one): visit(one[0], None, **one[1]) for one in where}
    for key, log in clean.items():
        print(key, len(log), "requests,", log[-1])

    def alive(fault):
        for revision, kind in where:
            if revision in fault["revisions"]:
                expected, seen = clean[json.dumps((revision, kind))], visit(revision, fault["name"], **kind)
                if seen != expected:
                    index = next((i for i, (a, b) in enumerate(zip(expected, seen)) if a != b), min(len(expected), len(seen)) - 1)
                    return fault, f"{revision} {kind or ''} request {index}", expected[index], seen[index]
        return fault, None, None, None

    dead = 0
    with ThreadPoolExecutor(options.jobs) as pool:
        for fault, place, a, b in pool.map(alive, faults):
            dead += place is None
            print(f"{fault['name']}: {place or 'DEAD'}", flush=True)
            if options.print and place:
                at = max(0, len(os.path.commonprefix([a, b])) - 40)
                print("   clean:", a[at : at + 150], "\n   fault:", b[at : at + 150])
    print(f"{len(faults) - dead} of {len(faults)} alive")


main()
