"""Shows that each fault of server_harbour.mjs changes what a client sees.

    alive_harbour.py [--jobs N] [--print] [FAULT...]

A tour of requests is played against the server without a fault and with it, at each transport and revision that the fault
names, until the two transcripts differ. Values that change from run to run (times, random IDs) are masked.
"""

import argparse
import base64
import json
import os
import re
import socket
import subprocess
import threading
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor

SERVER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "server_harbour.mjs")
MODERN, NOVEMBER, MARCH = "2026-07-28", "2025-11-25", "2025-03-26"
META = "io.modelcontextprotocol/"
ALL = {"elicitation": {"form": {}, "url": {}}, "sampling": {"tools": {}, "context": {}}, "roots": {}, "extensions": {META + "tasks": {}}}
FORM = {"action": "accept", "content": {"seal": "AB-1234", "tonnes": 12}}
LLM = {"role": "assistant", "content": {"type": "text", "text": "Mind the buoy."}, "model": "m", "stopReason": "endTurn"}
MASKS = [
    (r"[0-9a-f]{8}-[0-9a-f-]{27}", "UUID"), (r"20\d\d-\d\d-\d\dT[\d:.]+Z", "TIME"), (r'level_m\\?":[-\d.]+', "LEVEL"),
    (r'"requestState": "[^"]+"', "STATE"), (r'"(id|mcp-session-id)": "UUID"', "ID"), (r"J-\d+", "JOB"),
]


def masked(value):
    string = json.dumps(value, sort_keys=True, ensure_ascii=False)
    for pattern, word in MASKS:
        string = re.sub(pattern, word, string)
    return string


class Stdio:
    def __init__(self, fault):
        self.process = subprocess.Popen(["node", SERVER, "--stdio", *fault], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.lines, self.changed = [], threading.Condition()
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            with self.changed:
                self.lines.append(line.decode("utf-8", "replace").rstrip("\n"))
                self.changed.notify_all()

    def send(self, message, **_):
        raw = message if isinstance(message, str) else json.dumps(message)
        try:
            self.process.stdin.write(raw.encode() + b"\n")
            self.process.stdin.flush()
        except OSError:
            pass

    def exchange(self, message, seconds=6, answers=None, **_):
        """What the server writes until the response, in order; questions are answered."""
        since, until, seen = len(self.lines), time.time() + seconds, []
        self.send(message)
        wanted = message.get("id") if isinstance(message, dict) else None
        while time.time() < until:
            with self.changed:
                if len(self.lines) == since:
                    self.changed.wait(0.1)
                new, since = self.lines[since:], len(self.lines)
            for line in new:
                try:
                    one = json.loads(line)
                except ValueError:
                    one = None
                seen.append(one if one is not None else line)
                if isinstance(one, dict) and "method" in one and "id" in one and answers and one["method"] in answers:
                    self.send({"jsonrpc": "2.0", "id": one["id"], "result": answers[one["method"]]})
                if isinstance(one, dict) and "method" not in one and one.get("id") == wanted and wanted is not None:
                    time.sleep(0.12)
                    until = 0
        return seen

    def end(self):
        try:
            self.process.stdin.close()
        except OSError:
            pass
        try:
            self.process.wait(3)
            left = "exits"
        except subprocess.TimeoutExpired:
            left = "stays"
            self.process.kill()
            self.process.wait()
        return left


class Http:
    def __init__(self, fault):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.url, self.session, self.version = f"http://127.0.0.1:{port}/mcp", None, None
        self.process = subprocess.Popen(["node", SERVER, "--http", str(port), *fault], stderr=subprocess.DEVNULL)
        for _ in range(100):
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                break
            except OSError:
                time.sleep(0.05)

    def headers(self, message, more):
        given = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        params = message.get("params", {}) if isinstance(message, dict) else {}
        version = params.get("_meta", {}).get(META + "protocolVersion")
        if version:
            given |= {"MCP-Protocol-Version": version, "Mcp-Method": message.get("method", "")}
            name = params.get("name") or params.get("uri") or params.get("taskId")
            given |= {"Mcp-Name": name} if name else {}
            arguments = params.get("arguments", {}) if message.get("method") == "tools/call" and name == "tide_forecast" else {}
            given |= {f"Mcp-Param-{key.title()}": arguments[key] for key in ("station", "datum") if key in arguments}
        elif self.session:
            given |= {"Mcp-Session-Id": self.session, "MCP-Protocol-Version": self.version}
        given |= more or {}
        return {key: value for key, value in given.items() if value is not None}

    def exchange(self, message, seconds=3, answers=None, headers=None, method="POST", keep=None, **_):
        raw = (message if isinstance(message, str) else json.dumps(message)).encode() if method == "POST" else None
        request = urllib.request.Request(self.url, raw, self.headers(message, headers), method=method)
        try:
            response = urllib.request.urlopen(request, timeout=seconds)
        except urllib.error.HTTPError as error:
            response = error
        except OSError as error:
            return [f"no answer: {type(error).__name__}"]
        if keep is not None:
            keep.append(response)
        told = {key.lower(): value for key, value in response.headers.items() if key.lower() in ("content-type", "mcp-session-id", "x-accel-buffering", "allow")}
        if "mcp-session-id" in told:
            self.session = told["mcp-session-id"]
        seen = [[response.status, told]]
        if "event-stream" in told.get("content-type", ""):
            return seen + self.events(response, answers, seconds)
        body = response.read()
        try:
            return seen + ([json.loads(body)] if body else [])
        except ValueError:
            return seen + [body.decode("utf-8", "replace")]

    def events(self, response, answers, seconds):
        seen, until, began = [], time.time() + seconds, time.time()
        try:
            for line in response:
                line = line.decode("utf-8", "replace").rstrip("\n")
                if line and not line.startswith(":"):
                    seen.append(line)
                one = json.loads(line[6:]) if line.startswith("data: {") and line.endswith("}") else {}
                if "method" in one and "id" in one and answers and one["method"] in answers:
                    seen.append(self.exchange({"jsonrpc": "2.0", "id": one["id"], "result": answers[one["method"]]}))
                if time.time() > until:
                    break
            seen.append("closed")
        except OSError:
            seen.append("open")
        return seen if time.time() - began < seconds else seen + ["late"]

    def send(self, message, **more):
        return self.exchange(message, **more)

    def end(self):
        self.process.kill()
        self.process.wait()


def modern(params=None, caps=None, version=MODERN, **meta):
    more = {META + key if key == "logLevel" else key: value for key, value in meta.items()}
    return {**(params or {}), "_meta": {META + "protocolVersion": version, META + "clientCapabilities": {} if caps is None else caps, META + "clientInfo": {"name": "alive", "version": "1"}, **more}}


def ask(id, method, params=None):
    return {"jsonrpc": "2.0", "id": id, "method": method, **({"params": params} if params is not None else {})}


CALLS = [
    ("list_ships", {"limit": 3}), ("find_berth", {"length_m": 100}), ("find_berth", {}), ("find_berth", {"length_m": 5000}),
    ("tide_forecast", {"station": "lock", "hours": 2}), ("tide_forecast", {"station": "moon"}), ("berth_photo", {}), ("berth photo", {}),
    ("fog_signal", {}), ("ship_manifest", {"ship": "Bora"}), ("ship_manifest", {"ship": "Nemo"}), ("schedule_crane_job", {"berth": "B2", "cargo": "salt"}),
    ("schedule_crane_job", {"berth": "Z9", "cargo": "salt"}), ("nosuch", {}), ("list_ships", None),
]


def common(io, make):
    """What both eras are asked."""
    seen = []
    for method in ("tools/list", "resources/list", "resources/templates/list", "prompts/list"):
        cursor = None
        for turn in range(6):
            got = io.exchange(ask(f"{method}{turn}", method, make({} if cursor is None else {"cursor": cursor})))
            seen.append(got)
            found = re.findall(r'"nextCursor": ("[^"]*"|\d+)', json.dumps(got))
            if not found:
                break
            cursor = json.loads(found[0])
        seen.append(io.exchange(ask(3, method, make({"cursor": "bm9wZQ"}))))
    for name, arguments in CALLS:
        seen.append(io.exchange(ask(name, "tools/call", make({"name": name, **({} if arguments is None else {"arguments": arguments})}))))
    for metres, token in ((3, 7), (7, "t"), (2, None)):
        params = make({"name": "dredge_channel", "arguments": {"channel": "east", "metres": metres}}, **({"progressToken": token} if token else {}))
        seen.append(io.exchange(ask(f"d{metres}", "tools/call", params), seconds=2))
    for uri in ("harbour://rules", "harbour://charts/approach", "harbour://nowhere"):
        seen.append(io.exchange(ask(uri, "resources/read", make({"uri": uri}))))
    for name, arguments in (("arrival_briefing", {"ship": "Bora"}), ("arrival_briefing", {}), ("handover_notes", {}), ("nosuch", {})):
        seen.append(io.exchange(ask("p", "prompts/get", make({"name": name, "arguments": arguments}))))
    for name in ("arrival_briefing", "nosuch"):
        seen.append(io.exchange(ask("c", "completion/complete", make({"ref": {"type": "ref/prompt", "name": name}, "argument": {"name": "ship", "value": ""}}))))
    seen += [io.exchange(ask(id, "prompts/list", make())) for id in (0, 5, "x" * 60)]
    seen.append(io.exchange(ask(9, "no/such", make())))
    seen.append(io.exchange(ask("long", "prompts/get", make({"name": "arrival_briefing", "arguments": {"ship": "x" * 70_000}}))))
    seen.append(io.exchange({"jsonrpc": "2.0", "method": "notifications/odd", "params": make()}, seconds=0.3))
    seen.append(io.exchange({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": make({"requestId": "never"})}, seconds=0.3))
    seen.append(io.exchange("{nonsense", seconds=0.4))
    if isinstance(io, Stdio):
        for name in ("one", "two"):
            io.send(ask(name, "tools/call", make({"name": "dredge_channel", "arguments": {"channel": "west", "metres": 6}})))
        time.sleep(0.1)
        io.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": make({"requestId": "one"})})
        seen.append(io.exchange(ask("ping", "nothing", make()), seconds=0.1))
        seen.append(sorted(masked(one) for one in io.exchange("", seconds=1.2)))
    else:
        for origin in ("http://evil.example", "http://localhost.evil.example", "http://localhost:3000"):
            for method in ("POST", "GET"):
                seen.append(io.exchange(ask("o", "prompts/list", make()), method=method, seconds=0.3, headers={"Origin": origin})[0])
    return seen


def tour_modern(io):
    seen = [io.exchange(ask("d", "server/discover", modern()), seconds=20)]
    for caps, name, arguments, key, method, answers in (
        (ALL, "weigh_cargo", {"container": "C1"}, "seal_and_weight", "elicitation/create", (FORM, {"action": "decline"})),
        (ALL, "draft_notice", {"topic": "fog"}, "notice", "sampling/createMessage", (LLM,)),
        (ALL, "pay_dues", {"invoice": "17"}, "payment", "elicitation/create", ({"action": "accept"},)),
    ):
        for given in ({}, {"elicitation": {}, "sampling": {}}, caps):
            got = io.exchange(ask("first", "tools/call", modern({"name": name, "arguments": arguments}, given)))
            seen.append(got)
        found = re.findall(r'"requestState": ?"([^"]+)"', json.dumps(got).replace('\\"', '"'))
        state = found[0] if found else ""
        tries = [(arguments, {key: answer}, state) for answer in answers]
        flipped = state[:-2] + ("AA" if not state.endswith("AA") else "BB")
        tries += [(arguments, {key: answers[0]}, flipped), (arguments, {}, state), (arguments, {key: answers[0], "more": {"action": "cancel"}}, state)]
        tries.append(({one: value + "9" for one, value in arguments.items()}, {key: answers[0]}, state))
        for turn, (args, responses, given) in enumerate(tries):
            params = {"name": name, "arguments": args, "inputResponses": responses, "requestState": given}
            seen.append(io.exchange(ask(f"retry{turn}", "tools/call", modern(params, caps))))
    for given, deep in (({}, False), (ALL, True)):
        got = io.exchange(ask("survey", "tools/call", modern({"name": "survey_hull", "arguments": {"ship": "Bora", "deep": deep}}, given)))
        seen.append(got)
        found = re.findall(r'"taskId": ?"([^"]+)"', json.dumps(got).replace('\\"', '"'))
        for turn in range(3 if found else 0):
            seen.append(io.exchange(ask(f"get{turn}", "tasks/get", modern({"taskId": found[0]}, given if turn else {}))))
            time.sleep(0.6)
            if turn == 1:
                seen.append(io.exchange(ask("u", "tasks/update", modern({"taskId": found[0], "inputResponses": {"keel_dive": {"action": "accept", "content": {"confirm": True}}}}, given))))
                time.sleep(0.5)
    seen.append(io.exchange(ask("u", "tasks/get", modern({"taskId": "nosuch"}, ALL))))
    for version in ("1900-01-01", MODERN):
        seen.append(io.exchange(ask("v", "tools/list", modern(version=version))))
    bare = modern()
    del bare["_meta"][META + "clientCapabilities"]
    seen.append(io.exchange(ask("v", "tools/list", bare)))
    for level in ("debug", "error", "verbose"):
        seen.append(io.exchange(ask(level, "tools/call", modern({"name": "dredge_channel", "arguments": {"channel": "east", "metres": 2}}, logLevel=level)), seconds=2))
    if isinstance(io, Http):
        for given in ({"Mcp-Name": "other"}, {"Mcp-Method": None}, {"Mcp-Method": "TOOLS/call"}, {"Mcp-Param-Station": "inner-basin"},
                      {"Mcp-Name": "=?base64?" + base64.b64encode(b"tide_forecast").decode() + "?="}):
            seen.append(io.exchange(ask("h", "tools/call", modern({"name": "tide_forecast", "arguments": {"station": "lock"}})), headers=given))
    seen += common(io, modern)
    seen.append(io.exchange(ask("last", "tools/list", modern({"cursor": "dG9vbHMuMTA"}))))
    seen.append(listening(io))
    return seen


def listening(io):
    """Two subscriptions while a job is booked and dredging logs, and what comes after their end."""
    tide = modern({"notifications": {"resourceSubscriptions": ["harbour://tide/now"], "promptsListChanged": True, "toolsListChanged": True}})
    quiet = modern({"notifications": {"resourceSubscriptions": ["harbour://jobs/board"]}})
    dredge = ask("dl", "tools/call", modern({"name": "dredge_channel", "arguments": {"channel": "east", "metres": 2}}, logLevel="debug"))
    if isinstance(io, Stdio):
        io.send(ask(41, "subscriptions/listen", tide))
        io.send(ask("second", "subscriptions/listen", quiet))
        got = {masked(one) for one in io.exchange("", seconds=2.6)}
        io.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 41}})
        time.sleep(0.1)
        return [sorted(got), sorted({masked(one) for one in io.exchange("", seconds=1.5)})]
    got, threads = {}, []
    for id, params in ((41, tide), ("second", quiet)):
        threads.append(threading.Thread(target=lambda id=id, params=params: got.update({id: io.exchange(ask(id, "subscriptions/listen", params), seconds=2.6)})))
        threads[-1].start()
        time.sleep(0.1)
    io.exchange(dredge)
    for one in threads:
        one.join()
    return [messages_of(got[id]) for id in (41, "second")]


def messages_of(events):
    """What a stream carried, without how often and how long."""
    return sorted({masked(one) for one in events if one not in ("closed", "open", "late") and not str(one).startswith("id: ")})


def tour_legacy(io, revision):
    start = {"protocolVersion": revision, "capabilities": {**ALL, "experimental": {}, "tasks": {}}, "clientInfo": {"name": "alive", "version": "1"}}
    if isinstance(io, Http):
        seen = [io.exchange(ask(1, "initialize", {**start, "protocolVersion": "1999-01-01"}))]
        io.session, io.version = None, revision
        seen.append(io.exchange(ask(1, "initialize", start)))
    else:
        seen = [io.exchange(ask(1, "initialize", start), seconds=20)]
    io.exchange({"jsonrpc": "2.0", "method": "notifications/initialized"}, seconds=0.1)
    seen.append(io.exchange(ask(2, "ping")))
    accept = {"elicitation/create": FORM, "sampling/createMessage": LLM, "roots/list": {"roots": []}}
    decline = {"elicitation/create": {"action": "decline"}}
    for name, arguments, answers in (("weigh_cargo", {"container": "C1"}, accept), ("weigh_cargo", {"container": "C1"}, decline), ("draft_notice", {"topic": "fog"}, accept), ("pay_dues", {"invoice": "1"}, decline)):
        seen.append(io.exchange(ask(name, "tools/call", {"name": name, "arguments": arguments}), answers=answers))
    seen.append([one for one in io.exchange(ask("sub", "resources/subscribe", {"uri": "harbour://tide/now"})) if "method" not in one])
    if isinstance(io, Stdio):
        seen.append(sorted({masked(one) for one in io.exchange("", seconds=1.3)}))
    else:
        seen.append(streams(io, start))
    io.exchange(ask("unsub", "resources/unsubscribe", {"uri": "harbour://tide/now"}))
    if isinstance(io, Stdio):
        seen.append(sorted({masked(one) for one in io.exchange("", seconds=1.2)}))
    def make(params=None, **meta):
        return {**(params or {}), **({"_meta": meta} if meta else {})}
    for level in ("debug", "error", "verbose"):
        seen.append(io.exchange(ask(level, "logging/setLevel", {"level": level})))
        seen.append(io.exchange(ask(level, "tools/call", {"name": "dredge_channel", "arguments": {"channel": "east", "metres": 2}}), seconds=2))
    seen += common(io, make)
    seen.append(io.exchange(json.dumps([ask("b1", "ping"), ask("b2", "prompts/list", {})]), seconds=1))
    if isinstance(io, Http):
        session = io.session
        seen.append(io.exchange(ask("v", "prompts/list", {}), headers={"MCP-Protocol-Version": "1999-01-01"}))
        seen.append(io.exchange(ask("v", "prompts/list", {}), headers={"Mcp-Session-Id": None}))
        io.session = None
        small = {**start, "capabilities": {}}
        io.exchange(ask(1, "initialize", small))
        io.exchange({"jsonrpc": "2.0", "method": "notifications/initialized"})
        other = io.session
        for name, arguments in (("weigh_cargo", {"container": "C1"}), ("draft_notice", {"topic": "fog"})):
            seen.append(io.exchange(ask(name, "tools/call", {"name": name, "arguments": arguments}), answers=accept))
        io.session = None
        io.exchange(ask(1, "initialize", {**start, "capabilities": {"elicitation": {}, "sampling": {}}}))
        io.exchange({"jsonrpc": "2.0", "method": "notifications/initialized"})
        for name, arguments in (("pay_dues", {"invoice": "1"}), ("draft_notice", {"topic": "fog"})):
            seen.append(io.exchange(ask(name, "tools/call", {"name": name, "arguments": arguments}), answers=accept))
        seen.append([session, other])
        io.session = session
        seen.append(io.exchange({}, method="DELETE"))
        seen.append(io.exchange(ask("after", "prompts/list", {})))
    return seen


def streams(io, start):
    """Two GET streams of one session and one of another, a slow call, and a resumption."""
    first, version, got, threads = io.session, io.version, {}, []
    io.session = None
    io.exchange(ask(1, "initialize", start))
    other, io.session = io.session, first
    for name, session in (("g1", first), ("g2", first), ("other", other)):
        given = {"Mcp-Session-Id": session, "Accept": "text/event-stream"}
        threads.append(threading.Thread(target=lambda name=name, given=given: got.update({name: io.exchange({}, method="GET", seconds=2.2, headers=given)})))
        threads[-1].start()
        time.sleep(0.1)
    call = io.exchange(ask("slow", "tools/call", {"name": "dredge_channel", "arguments": {"channel": "east", "metres": 2}, "_meta": {"progressToken": 1}}), seconds=2)
    for one in threads:
        one.join()
    ids = [line[4:] for line in call if isinstance(line, str) and line.startswith("id: ")]
    again = io.exchange({}, method="GET", seconds=0.8, headers={"Accept": "text/event-stream", "Last-Event-ID": ids[0]}) if ids else []
    ids = [[str(one) for one in got.get(name, []) if str(one).startswith("id: ")] for name in ("g1", "g2")]
    are_shared = bool(set(ids[0]) & set(ids[1]))
    return [[(name, messages_of(got.get(name, []))) for name in ("g1", "g2", "other")], are_shared, call[:-1], messages_of(again)]


def transcript(transport, revision, fault):
    io = (Http if transport == "http" else Stdio)(["--fault", fault] if fault else [])
    try:
        seen = tour_modern(io) if revision == MODERN else tour_legacy(io, revision)
    finally:
        left = io.end()
    if revision != MODERN and transport == "stdio":
        for version, caps in (("1999-01-01", ALL), (revision, {}), (revision, {"elicitation": {}, "sampling": {}})):
            io = Stdio(["--fault", fault] if fault else [])
            seen.append(io.exchange(ask(1, "initialize", {"protocolVersion": version, "capabilities": caps, "clientInfo": {"name": "a", "version": "1"}}), seconds=20))
            io.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
            for name, arguments in (("weigh_cargo", {"container": "C1"}), ("draft_notice", {"topic": "fog"}), ("pay_dues", {"invoice": "1"})):
                seen.append(io.exchange(ask(name, "tools/call", {"name": name, "arguments": arguments})))
            io.end()
    return [masked(one) for one in seen] + [str(left)]


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("fault", nargs="*")
    arguments.add_argument("--jobs", type=int, default=4)
    arguments.add_argument("--print", action="store_true", help="print what differs")
    options = arguments.parse_args()
    listed = subprocess.run(["node", SERVER, "--list-faults"], capture_output=True, text=True, check=True).stdout
    faults = [one for one in map(json.loads, listed.splitlines()) if not options.fault or one["name"] in options.fault]
    where = [(transport, revision) for transport in ("http", "stdio") for revision in (MODERN, NOVEMBER, MARCH)]
    with ThreadPoolExecutor(options.jobs) as pool:
        clean = dict(zip(where, pool.map(lambda one: [transcript(*one, None) for _ in range(2)], where)))
    for one, (first, second) in clean.items():
        noise = [(a, b) for a, b in zip(first, second) if a != b]
        if noise:
            print("unsteady without a fault:", one, *noise[0], sep="\n  ")

    def alive(fault):
        for transport, revision in where:
            if transport in fault["transports"] and revision in fault["revisions"]:
                seen = transcript(transport, revision, fault["name"])
                steady = [a == b for a, b in zip(*clean[transport, revision])]
                for index, (is_steady, a, b) in enumerate(zip(steady, clean[transport, revision][0], seen)):
                    if is_steady and a != b:
                        return fault, f"{transport} {revision} step {index}", a, b
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
