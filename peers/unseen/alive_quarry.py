#!/usr/bin/env python3
"""Shows for each fault of server_quarry.mjs that it changes what the server sends.

    alive_quarry.py [--jobs N] [FAULT...]
"""

import base64
import http.client
import json
import re
import sys
import threading
import time

from alive_lantern import events, main

MCP = "io.modelcontextprotocol/"
ALL = {"elicitation": {}, "sampling": {}, "roots": {}}


def meta(version="2026-07-28", capabilities=ALL, **more):
    return {f"{MCP}protocolVersion": version, f"{MCP}clientCapabilities": capabilities, f"{MCP}clientInfo": {"name": "alive", "version": "1"}, **more}


def call(talk, method, params=None, name=None, m=None, wait=3.0):
    return talk.call(method, {**(params or {}), "_meta": meta() if m is None else m}, name, wait)


def tool(talk, name, given=None, m=None, **more):
    return call(talk, "tools/call", {"name": name, "arguments": given or {}, **more}, m=m)


def base(talk):
    call(talk, "server/discover", name="d-1")
    call(talk, "server/discover", name="7f")
    call(talk, "server/discover", name=0, wait=1.0)
    call(talk, "nothing/here")
    call(talk, "toString")
    tool(talk, "toString")
    tool(talk, "nothing")
    talk.tell("notifications/unheard_of")
    talk.gather(0.2)
    talk.raw(b"[" + json.dumps({"jsonrpc": "2.0", "id": "b", "method": "server/discover", "params": {"_meta": meta()}}).encode() + b"]")
    talk.gather(0.5)
    call(talk, "prompts/get", {"name": "quote_letter", "arguments": {"customer": "xé€" * 70000}})


def versioning(talk):
    call(talk, "tools/list", m={})
    talk.call("tools/list")
    call(talk, "tools/list", m={f"{MCP}protocolVersion": "2026-07-28"})
    call(talk, "tools/list")
    call(talk, "tools/list", m={})
    call(talk, "tools/list", m=meta("1999-01-01"))
    talk.call("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "old", "version": "1"}})
    tool(talk, "ask_foreman")
    tool(talk, "ask_foreman", m=meta(capabilities={}))
    tool(talk, "describe_stone", m=meta(capabilities={}))


def lists(talk):
    for method in ("tools/list", "resources/list", "prompts/list", "resources/templates/list"):
        cursor = None
        for _ in range(5):
            got = call(talk, method, {"cursor": cursor} if cursor else {})
            cursor = got[0].get("result", {}).get("nextCursor") if got and isinstance(got[0], dict) else None
            if not cursor:
                break
        call(talk, method, {"cursor": "bm9wZQ"})
    for _ in range(2):
        call(talk, "tools/list")
    call(talk, "tools/list", {"cursor": "dG9vbHMgMw"})
    call(talk, "resources/list")
    call(talk, "tools/list", {"cursor": "dG9vbHMgMw"})


def reads(talk):
    for uri in ("quarry://stamp", "quarry://pits/east", "file:///quarry/plan.txt", "file:///quarry/none.txt", "file:///quarry/../../../../etc/hostname", "quarry://none"):
        call(talk, "resources/read", {"uri": uri})
    for name, given in (("safety_brief", {}), ("quote_letter", {}), ("nobody", {})):
        call(talk, "prompts/get", {"name": name, "arguments": given})
    for ref, argument in (({"type": "ref/resource", "uri": "quarry://blocks/{block}"}, {"name": "block", "value": ""}),
                          ({"type": "ref/prompt", "name": "nobody"}, {"name": "x", "value": ""})):
        call(talk, "completion/complete", {"ref": ref, "argument": argument})


def calls(talk):
    for name, given in (("list_pits", {}), ("find_stone", {"name": "a"}), ("find_stone", {}), ("find_stone", {"name": "a", "limit": "many"}), ("get_price", {"stone": "slate"})):
        tool(talk, name, given)
    call(talk, "tools/list", {"cursor": "dG9vbHMgNg"})


def mrtr(talk):
    def state(got):
        return got[0].get("result", {}).get("requestState", "") if got and isinstance(got[0], dict) else ""
    def note_shape():
        talk.log[-1] = re.sub(r'"requestState": "[^"]+"', '"requestState": "S"', talk.log[-1])
    token = state(tool(talk, "ask_foreman"))
    note_shape()
    accept = {"pit": {"action": "accept", "content": {"pit": "east"}}}
    tool(talk, "ask_foreman", inputResponses=accept, requestState=token)
    tool(talk, "ask_foreman", inputResponses={"pit": {"action": "decline"}}, requestState=token)
    tool(talk, "ask_foreman", inputResponses={**accept, "more": {"action": "cancel"}}, requestState=token)
    tool(talk, "ask_foreman", inputResponses={}, requestState=token)
    note_shape()
    tool(talk, "ask_foreman", {"shift": "night"}, inputResponses=accept, requestState=token)
    tool(talk, "ask_foreman", inputResponses=accept, requestState=f"{str(token)[:-4]}AAAA")
    tool(talk, "describe_stone")
    note_shape()


def logs(talk):
    tool(talk, "drill_core", {"meters": 1})
    tool(talk, "drill_core", {"meters": 1}, m=meta(**{f"{MCP}logLevel": "warning"}))
    tool(talk, "drill_core", {"meters": 1})
    tool(talk, "list_pits", m=meta(**{f"{MCP}logLevel": "loud"}))


def progress(talk):
    tool(talk, "drill_core", {"meters": 4}, m=meta(progressToken=17))
    tool(talk, "drill_core", {"meters": 1})


def cancels(talk):
    call(talk, "server/discover")
    talk.raw(json.dumps(talk.request("tools/call", {"name": "drill_core", "arguments": {"meters": 5}, "_meta": meta(progressToken=5)}, 901)).encode())
    time.sleep(0.2)
    talk.tell("notifications/cancelled", {"requestId": 901})
    talk.gather(1.2)


def listening(talk):
    def settle(wait):
        got = talk.gather(wait, 99)
        first = got[0] if got else None
        talk.log[-1] = str(first) + " ".join(sorted({str(m) for m in got}))
    uris = {"notifications": {"resourceSubscriptions": ["quarry://weather"], "toolsListChanged": False}}
    for name, asked in ((50, uris), ("n", {"notifications": {"resourcesListChanged": True, "toolsListChanged": True}})):
        talk.raw(json.dumps(talk.request("subscriptions/listen", {**asked, "_meta": meta()}, name)).encode())
        settle(1.0)
    tool(talk, "find_stone", {"name": "a"})
    talk.log.pop()
    settle(0.9)
    talk.tell("notifications/cancelled", {"requestId": 50})
    settle(0.1)
    settle(0.9)


def end(talk):
    call(talk, "server/discover")
    talk.process.stdin.close()
    try:
        talk.note("exit", talk.process.wait(1.0))
    except Exception:
        talk.note("still runs")


STDIO = {"base": base, "versioning": versioning, "lists": lists, "reads": reads, "calls": calls, "mrtr": mrtr, "logs": logs, "progress": progress,
         "cancels": cancels, "listening": listening, "end": end}


def head(talk, method, name=None, **more):
    found = {**talk.headers, "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": method, **({"Mcp-Name": name} if name else {})}
    found.update({key.replace("_", "-"): value for key, value in more.items()})
    return {key: value for key, value in found.items() if value is not None}


def post(talk, method, params=None, headers=None, m=None, wait=2.0):
    params = {**(params or {}), "_meta": meta() if m is None else m}
    headers = head(talk, method, params.get("name") or params.get("uri")) if headers is None else headers
    status, kind, answered, body, open_ = talk.ask("POST", {"jsonrpc": "2.0", "id": 3, "method": method, "params": params}, headers, wait)
    session = any(key.lower() == "mcp-session-id" for key in answered)
    talk.note(method, status, kind or "no type", str(session), "open" if open_ else "closed", str(answered.get("X-Accel-Buffering")), body.decode("utf-8", "replace")[:1500])
    return body


def statuses(talk):
    pits = {"name": "list_pits"}
    post(talk, "tools/call", pits)
    for more in ({"Origin": "http://evil.example"}, {"Origin": "http://localhost.evil.example"}, {"MCP_Protocol_Version": None}, {"MCP_Protocol_Version": "2025-11-25"},
                 {"Mcp_Method": None}, {"Mcp_Method": "tools/list"}, {"Mcp_Method": "TOOLS/call"}, {"Mcp_Name": None}, {"Mcp_Name": "find_stone"},
                 {"Mcp_Name": "=?base64?" + base64.b64encode(b"list_pits").decode() + "?="}, {"Mcp_Session_Id": "abc"}):
        headers = head(talk, "tools/call", "list_pits")
        headers.update({key.replace("_", "-"): value for key, value in more.items()})
        if "MCP_Protocol_Version" in more:
            headers["MCP-Protocol-Version"] = more["MCP_Protocol_Version"]
        post(talk, "tools/call", pits, {key: value for key, value in headers.items() if value is not None})
    lower = {key.lower(): value for key, value in head(talk, "tools/call", "list_pits").items()}
    post(talk, "tools/call", pits, lower)
    post(talk, "prompts/get", {"name": "safety_brief"}, head(talk, "prompts/get"))
    price = {"name": "get_price", "arguments": {"stone": "slate", "region": "coast", "tons": 3}}
    for more in ({"Mcp_Param_Region": "coast", "Mcp_Param_Tons": "3"}, {"Mcp_Param_Region": "coast", "Mcp_Param_Tons": "3.0"}, {"Mcp_Param_Region": "inland", "Mcp_Param_Tons": "3"}, {}):
        post(talk, "tools/call", price, head(talk, "tools/call", "get_price", **more))
    post(talk, "tools/call", {"name": "get_price", "arguments": {"stone": "slate"}})
    post(talk, "nothing/here")
    post(talk, "tools/list", m={})
    post(talk, "tools/list", headers=head(talk, "tools/list", MCP_Protocol_Version="x") | {"MCP-Protocol-Version": "1999-01-01"}, m=meta("1999-01-01"))
    post(talk, "tools/call", {"name": "ask_foreman"}, m=meta(capabilities={}))
    for verb in ("GET", "DELETE"):
        status, kind, _, body, _ = talk.ask(verb, None, {"Accept": "text/event-stream", "MCP-Protocol-Version": "2026-07-28"}, 0.5)
        talk.note(verb, status, kind or "")
    status, _, _, body, _ = talk.ask("POST", {"jsonrpc": "2.0", "method": "notifications/unheard_of"}, head(talk, "notifications/unheard_of"))
    talk.note("notification", status, body.decode())


def streams(talk):
    drill = {"name": "drill_core", "arguments": {"meters": 3}}
    post(talk, "tools/call", drill, m=meta(progressToken="p"))
    bodies = {}

    def run(token):
        params = {**drill, "_meta": meta(progressToken=token)}
        body = talk.ask("POST", {"jsonrpc": "2.0", "id": token, "method": "tools/call", "params": params}, head(talk, "tools/call", "drill_core"), 3.0)[3]
        bodies[token] = sorted({json.loads(message)["params"]["progressToken"] for _, message in events(body) if "progressToken" in message})
    threads = [threading.Thread(target=run, args=(token,)) for token in ("one", "two")]
    for thread in threads:
        thread.start()
        time.sleep(0.1)
    for thread in threads:
        thread.join()
    talk.note("tokens", bodies)


def sockets(talk):
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "ask_foreman", "_meta": meta()}}
    answers = []
    for _ in range(2):
        connection = http.client.HTTPConnection("127.0.0.1", talk.port, timeout=3)
        connection.request("POST", "/mcp", json.dumps(body), head(talk, "tools/call", "ask_foreman"))
        answers.append(json.loads(connection.getresponse().read()))
        connection.close()
        body["id"], state = 2, answers[0]["result"].get("requestState")
        body["params"].update(inputResponses={"pit": {"action": "decline"}}, requestState=state)
    talk.note(answers[1])


HTTP = {"statuses": statuses, "streams": streams, "sockets": sockets}

if __name__ == "__main__":
    sys.exit(main("server_quarry.mjs", STDIO, HTTP))
