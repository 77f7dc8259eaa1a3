#!/usr/bin/env python3
"""Shows for each fault of server_lantern.py that it changes what the server sends.

    alive_lantern.py [--jobs N] [FAULT...]

Each scene is played against the correct server and against the server with the fault; the first difference is printed.
A fault without a difference is DEAD, and the exit code is 1. Scenes depend on time: on a busy machine, an unsteady one is left out.
"""

import argparse
import http.client
import json
import os
import queue
import re
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

HERE = os.path.dirname(os.path.abspath(__file__))
ANSWERS = {
    "sampling/createMessage": {"role": "assistant", "model": "m", "content": {"type": "text", "text": "The Salt Road"}},
    "elicitation/create": {"action": "decline"},
    "roots/list": {"roots": []},
}


def program(server):
    return ["node" if server.endswith(".mjs") else sys.executable, os.path.join(HERE, server)]


def plain(value):
    """The value as text, without what differs from run to run."""
    value = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)
    value = re.sub(r"\d{4}-\d\d-\d\dT[\d:.]+Z", "TIME", value)
    value = re.sub(r'(requestState\W+: ?\W*")[\w.-]+', r"\1STATE", value)
    return re.sub(r"[0-9a-f]{32,}", "HEX", value)


class Talk:
    """A connection to one server process; what it shows is collected in `log`."""

    def __init__(self, server, faults):
        self.log, self.count, self.command = [], 0, [*program(server), *[part for fault in faults for part in ("--fault", fault)]]

    def note(self, *facts):
        self.log.append(plain(" ".join(plain(fact) for fact in facts)))

    def request(self, method, params=None, name=None):
        self.count += 1
        message = {"jsonrpc": "2.0", "id": self.count if name is None else name, "method": method}
        if params is not None:
            message["params"] = params
        return message


class Stdio(Talk):
    def __init__(self, server, faults):
        super().__init__(server, faults)
        self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.lines = queue.Queue()
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put(None)

    def raw(self, data):
        try:
            self.process.stdin.write(data + b"\n")
            self.process.stdin.flush()
        except OSError:
            self.note("stdin is closed")

    def next(self, wait):
        """The next line as a message, bytes if it is not one, or None."""
        try:
            line = self.lines.get(timeout=wait)
        except queue.Empty:
            return None
        if line is None:
            self.lines.put(None)
            return None
        try:
            return json.loads(line.decode())
        except ValueError:
            return repr(line)

    def gather(self, wait=3.0, answers=1, after=0.12):
        """Notes messages until so many responses came, and a little longer."""
        end, got = time.time() + wait, []
        while time.time() < end:
            message = self.next(end - time.time())
            if message is None:
                break
            got.append(message)
            if isinstance(message, dict) and "method" in message and "id" in message:
                self.raw(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": ANSWERS[message["method"]]}).encode())
            if isinstance(message, dict) and "method" not in message:
                answers -= 1
                if answers == 0:
                    end = min(end, time.time() + after)
        self.note(*got)
        return got

    def call(self, method, params=None, name=None, wait=3.0):
        self.raw(json.dumps(self.request(method, params, name), ensure_ascii=False).encode())
        return self.gather(wait)

    def tell(self, method, params=None):
        self.raw(json.dumps({"jsonrpc": "2.0", "method": method, **({"params": params} if params else {})}).encode())

    def close(self):
        self.process.kill()
        self.process.wait()


class Http(Talk):
    headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}

    def __init__(self, server, faults):
        super().__init__(server, faults)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.process = subprocess.Popen([*self.command, "--http", str(self.port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(200):
            try:
                socket.create_connection(("127.0.0.1", self.port), 0.2).close()
                break
            except OSError:
                time.sleep(0.05)

    def ask(self, verb, body=None, headers=None, wait=3.0, seen=None):
        """Status, content type, headers and body of one HTTP exchange; the body is read for at most `wait` seconds."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=wait)
        data, end, open_ = b"", time.time() + wait, True
        try:
            connection.request(verb, "/mcp", body if body is None or isinstance(body, bytes) else json.dumps(body).encode(), headers or {})
            answer = connection.getresponse()
            while time.time() < end:
                part = answer.read1(65536)
                if not part:
                    open_ = False
                    break
                data += part
                if seen:
                    seen(data)
        except TimeoutError:
            answer = locals().get("answer")
        except (OSError, http.client.HTTPException) as problem:
            return f"{type(problem).__name__}", "", {}, data, False
        finally:
            connection.close()
        if answer is None:
            return "no answer", "", {}, data, True
        return answer.status, answer.getheader("Content-Type"), dict(answer.getheaders()), data, open_

    def close(self):
        self.process.kill()
        self.process.wait()


def events(data):
    """The events of an SSE body: (id, message)."""
    found = []
    for block in data.split(b"\n\n"):
        fields = [line.split(b":", 1) for line in block.replace(b"\r", b"").split(b"\n") if b":" in line and not line.startswith(b":")]
        value = b"\n".join(rest.removeprefix(b" ") for key, rest in fields if key == b"data")
        name = next((rest.strip().decode() for key, rest in fields if key == b"id"), None)
        if fields:
            found.append((name, value.decode("utf-8", "backslashreplace")))
    return found


# Scenes of the legacy server. "any" faults are looked for on stdio first, then over HTTP.

HELLO = {"protocolVersion": "2025-11-25", "capabilities": {"sampling": {}, "elicitation": {}, "roots": {}}, "clientInfo": {"name": "alive", "version": "1"}}


def open_stdio(talk, hello=HELLO):
    talk.call("initialize", hello, "hello")
    talk.tell("notifications/initialized")


def ids(talk):
    open_stdio(talk)
    talk.call("ping", {}, 41)
    talk.call("ping", {}, 4294967297)
    talk.call("ping", {}, "42")
    talk.call("nothing/here", {}, 7)
    talk.call("ping", None, 8)
    talk.call("tools/list", None, 9)
    talk.call("tools/list", {"_meta": {"org.example/trace": "x"}, "later": 1}, 10)
    talk.tell("notifications/unheard_of")
    talk.tell("notifications/cancelled", {"requestId": 999})
    talk.gather(0.3)


def lists(talk):
    open_stdio(talk)
    for method, key in (("tools/list", "tools"), ("resources/list", "resources"), ("prompts/list", "prompts"), ("resources/templates/list", "resourceTemplates")):
        cursor, first = None, None
        for _ in range(5):
            got = talk.call(method, {"cursor": cursor} if cursor else {})
            result = got[0].get("result", {}) if got and isinstance(got[0], dict) else {}
            cursor = result.get("nextCursor")
            first = first or cursor
            if not cursor:
                break
        if first:
            talk.call(method, {"cursor": first})
        talk.call(method, {"cursor": "bm9wZQ=="})


def reads(talk):
    open_stdio(talk)
    for uri in ("library://hours", "library://logo", "library://books/b3", "library://none", "library://shelves/007"):
        talk.call("resources/read", {"uri": uri})
    for name, given in (("greet_reader", {}), ("summarize_book", {"id": "b1"}), ("summarize_book", {}), ("nobody", {})):
        talk.call("prompts/get", {"name": name, "arguments": given})
    for ref, argument in (({"type": "ref/resource", "uri": "library://shelves/{code}"}, {"name": "code", "value": ""}),
                          ({"type": "ref/prompt", "name": "nobody"}, {"name": "id", "value": ""}),
                          ({"type": "ref/prompt", "name": "summarize_book"}, {"name": "tone", "value": "w"})):
        talk.call("completion/complete", {"ref": ref, "argument": argument})


def calls(talk):
    open_stdio(talk)
    for name, given in (("list_branches", {}), ("search_books", {"query": "a"}), ("search_books", {"query": "a", "limit": "many"}), ("search_books", {}),
                        ("get_book", {"id": "b3"}), ("get_book", {"id": "b99"}), ("show_cover", {"id": "b1"}), ("nothing", {}), ("index_shelves", {})):
        talk.call("tools/call", {"name": name, "arguments": given})
    talk.call("resources/list", {})
    talk.call("resources/list", {"cursor": "cmVzb3VyY2VzOjY="})


def client_features(talk):
    open_stdio(talk)
    for name in ("recommend_book", "choose_branch", "recommend_book"):
        talk.call("tools/call", {"name": name, "arguments": {}})


def bare_client(talk):
    open_stdio(talk, {**HELLO, "protocolVersion": "1999-01-01", "capabilities": {}})
    for name in ("recommend_book", "choose_branch"):
        talk.call("tools/call", {"name": name, "arguments": {}}, wait=1.0)


def logs(talk):
    open_stdio(talk)
    talk.call("logging/setLevel", {"level": "loud"})
    talk.call("tools/call", {"name": "count_chapters", "arguments": {"chapters": 1}})
    talk.call("logging/setLevel", {"level": "error"})
    talk.call("tools/call", {"name": "count_chapters", "arguments": {"chapters": 1}})


def progress(talk):
    open_stdio(talk)
    talk.call("tools/call", {"name": "count_chapters", "arguments": {"chapters": 4}, "_meta": {"progressToken": 17}})
    talk.call("tools/call", {"name": "count_chapters", "arguments": {"chapters": 1}})
    for token in ("one", "two"):
        talk.raw(json.dumps(talk.request("tools/call", {"name": "count_chapters", "arguments": {"chapters": 2}, "_meta": {"progressToken": token}})).encode())
        time.sleep(0.05)
    talk.log.append(" ".join(sorted(plain(message) for message in talk.gather(3, 2))))
    del talk.log[-2]


def cancels(talk):
    open_stdio(talk)
    for name in (901, 902):
        talk.raw(json.dumps(talk.request("tools/call", {"name": "count_chapters", "arguments": {"chapters": 6 if name == 901 else 8}}, name)).encode())
    time.sleep(0.2)
    talk.tell("notifications/cancelled", {"requestId": 901, "reason": "alive"})
    got = talk.gather(2.5, 2)
    talk.log[-1] = " ".join(sorted(plain(message) for message in got))
    talk.raw(json.dumps(talk.request("tools/call", {"name": "count_chapters", "arguments": {"chapters": 8}}, 903)).encode())
    time.sleep(0.1)
    begun = time.time()
    talk.call("ping", {}, 904, wait=0.5)
    talk.note("ping at once" if time.time() - begun < 0.4 else "ping late")


def updates(talk):
    open_stdio(talk)
    talk.call("resources/subscribe", {"uri": "library://hours"})
    time.sleep(0.6)
    talk.log.append(" ".join(sorted({plain(m) for m in talk.gather(0.5)})))
    del talk.log[-2]
    for method in ("resources/subscribe", "resources/unsubscribe"):
        talk.raw(json.dumps(talk.request(method, {"uri": "library://visitors"})).encode())
        time.sleep(0.05)
        talk.gather(1.0)
        del talk.log[-1]
        got = talk.gather(1.0, 9)
        talk.log[-1] = " ".join(sorted({plain(m) for m in got}))


def odd_lines(talk):
    open_stdio(talk)
    talk.raw(b'{"jsonrpc": "2.0", "id": 5, "method": ')
    talk.gather(0.5)
    talk.raw(b"42")
    talk.gather(0.5)
    talk.call("ping", {"_meta": {"org.example/pad": "x" * 80000}}, 6, wait=1.0)


def tasks(talk):
    open_stdio(talk)
    def start(name, given):
        got = talk.call("tools/call", {"name": name, "arguments": given, "task": {"ttl": 60000}, "_meta": {"progressToken": "t"}})
        return got[0].get("result", {}).get("task", {}).get("taskId", "none")
    first = start("index_shelves", {})
    talk.call("tasks/get", {"taskId": first})
    second = start("count_chapters", {"chapters": 5})
    talk.call("tasks/list", {})
    talk.call("tasks/result", {"taskId": first})
    time.sleep(1)
    talk.gather(0.2, 9)
    talk.call("tasks/result", {"taskId": second})
    talk.call("tasks/cancel", {"taskId": first})
    third = start("index_shelves", {})
    talk.call("tasks/cancel", {"taskId": third})
    time.sleep(0.8)
    talk.call("tasks/get", {"taskId": third})
    talk.call("tasks/get", {"taskId": "none"})


def quiet_tasks(talk):
    open_stdio(talk)
    def start():
        got = talk.call("tools/call", {"name": "index_shelves", "arguments": {}, "task": {}})
        return got[0].get("result", {}).get("task", {}).get("taskId", "none")
    first = start()
    time.sleep(1.0)
    for method in ("tasks/get", "tasks/cancel", "tasks/get", "tasks/result"):
        talk.call(method, {"taskId": first})
    second = start()
    talk.call("tasks/cancel", {"taskId": second})
    time.sleep(1.0)
    talk.call("tasks/get", {"taskId": second})
    talk.call("tasks/get", {"taskId": "none"})
    talk.call("tasks/list", {})


STDIO = {"ids": ids, "lists": lists, "reads": reads, "calls": calls, "client features": client_features, "bare client": bare_client, "logs": logs,
         "progress": progress, "odd lines": odd_lines, "quiet tasks": quiet_tasks, "cancels": cancels,
         "updates": updates, "tasks": tasks}


def open_http(talk):
    status, kind, headers, body, _ = talk.ask("POST", talk.request("initialize", HELLO, "hello"), talk.headers)
    session = next((value for key, value in headers.items() if key.lower() == "mcp-session-id"), "")
    talk.note(status, kind or "", re.sub(r"\S", "x", session) if not session.isdigit() else "digits")
    ready = {**talk.headers, "MCP-Session-Id": session, "MCP-Protocol-Version": "2025-11-25"}
    status, kind, _, body, _ = talk.ask("POST", {"jsonrpc": "2.0", "method": "notifications/initialized"}, ready)
    talk.note("notification", status, body.decode())
    return ready


def statuses(talk):
    ready = open_http(talk)
    ping = {"jsonrpc": "2.0", "id": 3, "method": "ping"}
    without = {key: value for key, value in ready.items() if key != "MCP-Session-Id"}
    for headers in (ready, {**ready, "Origin": "http://evil.example"}, {**ready, "MCP-Protocol-Version": "1999-01-01"}, without, {**ready, "MCP-Session-Id": "0" * 32}):
        status, kind, _, body, _ = talk.ask("POST", ping, headers)
        talk.note(status, kind or "", body.decode())
    for headers in ({**ready, "Origin": "http://evil.example"}, ready):
        status, kind, _, body, _ = talk.ask("GET", None, {**headers, "Accept": "text/event-stream"}, wait=0.5)
        talk.note("GET", status, kind or "", str(bool(body)))
    status, _, _, _, _ = talk.ask("DELETE", None, ready)
    talk.note("DELETE", status, talk.ask("POST", ping, ready)[0])


def listen(talk, headers, into, wait):
    """A GET stream in a thread; its messages are put into a list."""
    def run():
        data = talk.ask("GET", None, {**headers, "Accept": "text/event-stream"}, wait=wait)[3]
        into.extend(message for _, message in events(data) if message)
    thread = threading.Thread(target=run)
    thread.start()
    return thread


def streams(talk):
    ready, other = open_http(talk), open_http(talk)
    boxes = [], [], []
    threads = [listen(talk, headers, box, 3.0) for headers, box in zip((ready, ready, other), boxes)]
    time.sleep(0.3)
    talk.ask("POST", talk.request("resources/subscribe", {"uri": "library://visitors"}), ready)
    slow = {"name": "count_chapters", "arguments": {"chapters": 3}, "_meta": {"progressToken": "p"}}
    _, kind, _, data, open_ = talk.ask("POST", talk.request("tools/call", slow), ready, wait=2.5)
    found = events(data)
    names = [name for name, _ in found]
    talk.note(kind or "", "open" if open_ else "closed", [message for _, message in found])
    for thread in threads:
        thread.join()
    talk.note("streams with updates", [sorted({json.loads(m).get("method", "answer") for m in box}) for box in boxes])
    more = events(talk.ask("POST", talk.request("tools/call", {"name": "list_branches"}), ready, wait=2.0)[3])
    talk.note("repeated ids", str(bool(set(names) & {name for name, _ in more})))
    again = events(talk.ask("GET", None, {**ready, "Accept": "text/event-stream", "Last-Event-ID": names[0] or ""}, wait=1.0)[3]) if names else []
    talk.note("replayed", sorted({message for _, message in again if "visitors" in message}), len(again) and "some")


def levels(talk):
    one, two = open_http(talk), open_http(talk)
    talk.ask("POST", talk.request("logging/setLevel", {"level": "emergency"}), two)
    talk.note(events(talk.ask("POST", talk.request("tools/call", {"name": "search_books", "arguments": {"query": "a"}}), one)[3]))


HTTP = {"statuses": statuses, "levels": levels, "streams": streams}


def play(server, kind, scene, faults):
    talk = kind(server, faults)
    try:
        scene(talk)
    except Exception as problem:  # a scene that the fault breaks is a difference, too
        talk.note("the scene ended:", type(problem).__name__)
    finally:
        talk.close()
    return talk.log


def difference(server, scenes, clean, fault):
    for kind, name, scene in scenes:
        log = play(server, kind, scene, [fault["name"]])
        for place, (before, now) in enumerate(zip(clean[kind, name] + ["-"], log + ["-"])):
            if before != now:
                at = max(0, next((i for i, (a, b) in enumerate(zip(before, now)) if a != b), min(len(before), len(now))) - 60)
                return f"{kind.__name__.lower()}, {name}, step {place}:\n    clean  {before[at:at + 170]}\n    faulty {now[at:at + 170]}"
    return None


def main(server, stdio, http_):
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--jobs", type=int, default=3)
    parser.add_argument("faults", nargs="*")
    options = parser.parse_args()
    listed = subprocess.run([*program(server), "--list-faults"], capture_output=True, text=True, check=True).stdout
    faults = [json.loads(line) for line in listed.splitlines()]
    faults = [fault for fault in faults if not options.faults or fault["name"] in options.faults]
    scenes = [(Stdio, name, scene) for name, scene in stdio.items()] + [(Http, name, scene) for name, scene in http_.items()]
    clean, steady = {}, []
    for kind, name, scene in scenes:
        clean[kind, name] = play(server, kind, scene, [])
        if play(server, kind, scene, []) == clean[kind, name]:
            steady.append((kind, name, scene))
        else:
            print(f"UNSTEADY scene {name}: two plays of the correct server differ, so it proves nothing")
    unsteady, scenes = len(scenes) - len(steady), steady

    def show(fault):
        fitting = [scene for scene in scenes if fault["transport"] != "http" or scene[0] is Http]
        return fault["name"], difference(server, fitting, clean, fault)
    dead = 0
    with ThreadPoolExecutor(options.jobs) as pool:
        for name, found in pool.map(show, faults):
            dead += found is None
            print(f"{'DEAD ' if found is None else 'alive'} {name}: {found or ''}", flush=True)
    print(f"{len(faults) - dead} of {len(faults)} faults are alive")
    return 1 if dead or unsteady else 0


if __name__ == "__main__":
    sys.exit(main("server_lantern.py", STDIO, HTTP))
