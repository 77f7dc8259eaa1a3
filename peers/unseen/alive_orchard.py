"""Shows each fault of server_orchard.py on the wire: seen with the fault, not seen without.

    alive_orchard.py [--over http] [FAULT...]
"""

import base64
import json
import os
import sys
import time

import alive_marina as wire
from alive_marina import code, is_base64, main

PROGRAM = [sys.executable, os.path.join(wire.HERE, "server_orchard.py")]
META = "io.modelcontextprotocol/"
REVISION = "2026-07-28"
ABLE = {"elicitation": {"form": {}}, "sampling": {}}
NAMES = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}


def meta(capabilities=None, version=REVISION, **more):
    return {META + "protocolVersion": version, META + "clientCapabilities": capabilities or {}, META + "clientInfo": {"name": "alive", "version": "1"}, **more}


class Rpc:
    def rpc(self, method, params=None, seconds=4, id=None, **more):
        return self.ask(method, {"_meta": meta(**more), **(params or {})}, seconds, id)


class Stdio(Rpc, wire.Stdio):
    program = PROGRAM


class Http(wire.Http):
    program = PROGRAM

    def rpc(self, method, params=None, seconds=4, change=None, **more):
        self.count += 1
        params = {"_meta": meta(**more), **(params or {})}
        headers = {"MCP-Protocol-Version": params["_meta"].get(META + "protocolVersion") if params["_meta"] else REVISION, "Mcp-Method": method, **({"Mcp-Name": params[NAMES[method]]} if method in NAMES else {})}
        if method == "tools/call" and "orchard" in params.get("arguments", {}):
            headers["Mcp-Param-Orchard"] = params["arguments"]["orchard"]
        headers.update(change or {})
        if params["_meta"] is None:
            del params["_meta"]
        return self.post({"jsonrpc": "2.0", "id": self.count, "method": method, "params": params}, headers, seconds)


class Web(Rpc, wire.Web):
    http = Http

    def headers(self, message):
        params = message.get("params") if isinstance(message.get("params"), dict) else {}
        name = params.get(NAMES.get(message.get("method")))
        return {"MCP-Protocol-Version": (params.get("_meta") or {}).get(META + "protocolVersion", REVISION), "Mcp-Method": message.get("method"), "Mcp-Name": name}


CHECKS = {}


def put(kind, name, test):
    def run(fault):
        server = kind(fault)
        try:
            return bool(test(server))
        finally:
            server.close()
    CHECKS[name] = run


def stdio(name, test):
    put(Web if wire.OVER_HTTP else Stdio, name, test)


def over_http(name, test):
    put(Http, name, test)


def result(s, method, params=None, **more):
    return s.rpc(method, params, **more)["result"]


def call(s, tool, arguments=None, seconds=4, params=None, **more):
    return s.rpc("tools/call", {"name": tool, "arguments": arguments or {}, **(params or {})}, seconds, **more)


def accepts(change, method="tools/list", params=None):
    return lambda s: s.rpc(method, params, change=change).status == 200


# HTTP
over_http("h-origin-ignored", lambda s: s.rpc("tools/list", change={"Origin": "http://evil.example"}).status != 403)
over_http("h-version-missing-ok", accepts({"MCP-Protocol-Version": None}))
over_http("h-version-mismatch-ok", accepts({"MCP-Protocol-Version": "2025-11-25"}))
over_http("h-method-missing-ok", accepts({"Mcp-Method": None}))
over_http("h-method-mismatch-ok", accepts({"Mcp-Method": "prompts/list"}))
over_http("h-method-case-folded", accepts({"Mcp-Method": "TOOLS/list"}))
over_http("h-name-missing-ok", accepts({"Mcp-Name": None}, "tools/call", {"name": "snapshot"}))
over_http("h-name-mismatch-ok", accepts({"Mcp-Name": "frost_check"}, "tools/call", {"name": "snapshot"}))
over_http("h-name-uri-unchecked", accepts({"Mcp-Name": "orchard://weather"}, "resources/read", {"uri": "orchard://map"}))
encoded = "=?base64?" + base64.b64encode(b"snapshot").decode() + "?="
over_http("h-name-base64-kept", lambda s: s.rpc("tools/call", {"name": "snapshot"}, change={"Mcp-Name": encoded}).status != 200)
NORTH = {"name": "harvest_forecast", "arguments": {"orchard": "north"}}
over_http("h-param-missing-ok", accepts({"Mcp-Param-Orchard": None}, "tools/call", NORTH))
over_http("h-param-mismatch-ok", accepts({"Mcp-Param-Orchard": "south"}, "tools/call", NORTH))
over_http("h-param-always-wanted", lambda s: s.rpc("tools/call", {"name": "harvest_forecast", "arguments": {}}).status != 200)
over_http("h-mismatch-code", lambda s: code(s.rpc("tools/list", change={"Mcp-Method": "ping"}).last) != -32020)
over_http("h-mismatch-200", lambda s: s.rpc("tools/list", change={"Mcp-Method": "ping"}).status != 400)
over_http("h-names-case-sensitive", lambda s: s.rpc("tools/list", change={"Mcp-Method": None, "mcp-method": "tools/list"}).status != 200)
over_http("h-unknown-method-200", lambda s: s.rpc("trees/fell").status != 404)
over_http("h-unsupported-200", lambda s: s.rpc("tools/list", version="1999-01-01").status != 400)
over_http("h-capability-200", lambda s: call(s, "tasting_note").status != 400)
over_http("h-meta-200", lambda s: s.rpc("tools/list", {"_meta": None}).status != 400)
over_http("h-notification-200", lambda s: s.post({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}).status != 202)
over_http("h-get-opens-stream", lambda s: s.raw("GET", None, {"Accept": "text/event-stream"}, 1).status != 405)
over_http("h-delete-ok", lambda s: s.raw("DELETE").status != 405)
over_http("h-session-minted", lambda s: s.rpc("tools/list").headers["Mcp-Session-Id"] is not None)
over_http("h-no-accel", lambda s: call(s, "prune_plan", {"rows": 1}, capabilities={}, progressToken=1).headers["X-Accel-Buffering"] != "no")
over_http("h-stream-left-open", lambda s: not call(s, "prune_plan", {"rows": 1}, 2, progressToken=1).whole)
over_http("h-json-as-text", lambda s: s.rpc("tools/list").type != "application/json")


# stdio
stdio("stdio-banner", lambda s: s.rpc("tools/list") and len(s.raw) != len(s.seen))
stdio("stdio-pretty", lambda s: s.rpc("tools/list", seconds=1) is None)


def stays(s):
    s.rpc("tools/list")
    s.process.stdin.close()
    time.sleep(1)
    return s.process.poll() is None


stdio("stdio-eof-ignored", stays)
stdio("stdio-bad-json-exit", lambda s: s.write("{oops") or code(s.wait(lambda m: "error" in m, 1)) != -32700)

# versions and metadata
stdio("v-any-served", lambda s: "result" in s.rpc("tools/list", version="1999-01-01"))
stdio("v-code-32602", lambda s: code(s.rpc("tools/list", version="1999-01-01")) != -32022)
stdio("v-no-list", lambda s: "supported" not in s.rpc("tools/list", version="1999-01-01")["error"]["data"])
stdio("v-claims-older", lambda s: any("error" in s.rpc("tools/list", version=v) for v in result(s, "server/discover")["supportedVersions"]))
stdio("v-initialize-unnamed", lambda s: REVISION not in json.dumps(s.ask("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}})["error"]))
stdio("meta-remembered", lambda s: s.rpc("tools/list") and "result" in s.ask("tools/list", {}))


def without_capabilities(s):
    sent = meta()
    del sent[META + "clientCapabilities"]
    return "result" in s.ask("tools/list", {"_meta": sent})


stdio("meta-caps-optional", without_capabilities)
stdio("meta-code-32600", lambda s: code(s.ask("tools/list", {})) != -32602)
stdio("caps-remembered", lambda s: s.rpc("tools/list", capabilities=ABLE) and "result" in call(s, "tasting_note"))
stdio("caps-ignored", lambda s: "result" in call(s, "tasting_note"))
stdio("caps-code", lambda s: code(call(s, "tasting_note")) != -32021)
stdio("caps-no-data", lambda s: "requiredCapabilities" not in call(s, "tasting_note")["error"].get("data", {}))

# discovery, results, caching
stdio("d-not-implemented", lambda s: "error" in s.rpc("server/discover"))
stdio("d-version-string", lambda s: isinstance(result(s, "server/discover")["supportedVersions"], str))
stdio("d-no-server-info", lambda s: META + "serverInfo" not in result(s, "tools/list").get("_meta", {}))
stdio("d-prompts-missing", lambda s: "prompts" not in result(s, "server/discover")["capabilities"] and result(s, "prompts/list"))
stdio("d-completions-missing", lambda s: "completions" not in result(s, "server/discover")["capabilities"] and complete(s))
stdio("d-logging-missing", lambda s: "logging" not in result(s, "server/discover")["capabilities"] and logs(s, "debug"))
stdio("r-no-type", lambda s: "resultType" not in result(s, "tools/list"))
stdio("r-no-type-complete", lambda s: "resultType" not in complete(s)["result"])
stdio("r-type-success", lambda s: result(s, "tools/list")["resultType"] != "complete")
stdio("c-no-ttl", lambda s: "ttlMs" not in result(s, "resources/templates/list"))
stdio("c-no-scope", lambda s: "cacheScope" not in result(s, "resources/read", {"uri": "orchard://map"}))
stdio("c-negative", lambda s: result(s, "server/discover")["ttlMs"] < 0)
stdio("c-ttl-float", lambda s: not isinstance(result(s, "tools/list")["ttlMs"], int))
stdio("c-scope-shared", lambda s: result(s, "tools/list")["cacheScope"] not in ("public", "private"))
stdio("c-scope-mixed", lambda s: (first := result(s, "tools/list"))["cacheScope"] != result(s, "tools/list", {"cursor": first["nextCursor"]})["cacheScope"])

# JSON-RPC
stdio("j-id-retyped", lambda s: s.rpc("tools/list", id=41, seconds=1) is None and s.wait(lambda m: m.get("id") == "41", 1))
stdio("j-id-falsy-dropped", lambda s: s.rpc("tools/list", id=0, seconds=1) is None)
stdio("j-notification-answered", lambda s: s.send({"jsonrpc": "2.0", "method": "notifications/leaves"}) or s.wait(lambda m: "error" in m, 1))
stdio("j-unknown-method-code", lambda s: code(s.rpc("trees/fell")) != -32601)
stdio("j-reserved-code", lambda s: -32099 <= code(call(s, "none")) <= -32023)
stdio("j-code-32002", lambda s: code(s.rpc("resources/read", {"uri": "orchard://none"})) == -32002)
stdio("j-code-legacy", lambda s: -32019 <= code(s.rpc("prompts/get", {"name": "none"})) <= -32000)
stdio("j-code-string", lambda s: isinstance(code(s.rpc("trees/fell")), str))
stdio("j-double-answer", lambda s: call(s, "snapshot") and time.sleep(0.3) is None and len([m for m in s.seen if m.get("id") == "r1"]) > 1)
stdio("j-server-asks", lambda s: call(s, "snapshot") and any("id" in m and "method" in m for m in s.seen))
stdio("j-crash-on-list", lambda s: s.ask("tools/list", [1], 1) is None)


# tools
def pages(s, method, member, limit=12):
    items, cursors, cursor = [], [], None
    for _ in range(limit):
        found = result(s, method, {} if cursor is None else {"cursor": cursor})
        items += found[member] if isinstance(found[member], list) else [found[member]]
        if "nextCursor" not in found:
            break
        cursor = found["nextCursor"]
        cursors.append(cursor)
        if cursor is None:
            break
    return items, cursors


def tools(s):
    return pages(s, "tools/list", "tools")[0]


def schemas(s):
    return {t["name"]: t["inputSchema"] for t in tools(s)}


def forecast(s):
    return schemas(s)["harvest_forecast"]["properties"]


stdio("t-list-grows", lambda s: (before := tools(s)) and call(s, "snapshot") and tools(s) != before)
stdio("t-shuffled", lambda s: len({json.dumps([t["name"] for t in tools(s)]) for _ in range(5)}) > 1)
stdio("t-schema-null", lambda s: None in schemas(s).values())
stdio("t-schema-required-string", lambda s: isinstance(schemas(s)["choose_graft"]["required"], str))
stdio("t-structured-missing", lambda s: "structuredContent" not in call(s, "apple_varieties")["result"])
stdio("t-structured-null-item", lambda s: any(v["acidity"] is None for v in call(s, "apple_varieties")["result"]["structuredContent"]))
stdio("t-no-text-copy", lambda s: not call(s, "apple_varieties")["result"]["content"][0]["text"].startswith("["))
stdio("t-unknown-as-result", lambda s: "result" in call(s, "none"))
stdio("t-name-comma", lambda s: any("," in name for name in schemas(s)))
stdio("t-name-twice", lambda s: len(tools(s)) != len(schemas(s)))
stdio("t-no-content", lambda s: "content" not in call(s, "snapshot")["result"])
stdio("t-args-unchecked", lambda s: not call(s, "harvest_forecast", {"weeks": "many"})["result"].get("isError"))
stdio("t-image-no-mime", lambda s: "mimeType" not in call(s, "snapshot")["result"]["content"][0])
stdio("t-is-error-string", lambda s: isinstance(call(s, "harvest_forecast", {"weeks": "many"})["result"]["isError"], str))
stdio("t-embedded-no-uri", lambda s: "uri" not in call(s, "snapshot")["result"]["content"][1]["resource"])
stdio("x-empty", lambda s: forecast(s)["orchard"]["x-mcp-header"] == "")
stdio("x-space", lambda s: " " in forecast(s)["orchard"]["x-mcp-header"])
stdio("x-number", lambda s: any(p["type"] == "number" and "x-mcp-header" in p for p in forecast(s).values()))
stdio("x-twice", lambda s: "x-mcp-header" in forecast(s)["weeks"])
stdio("x-in-items", lambda s: any("x-mcp-header" in p.get("items", {}) for p in forecast(s).values()))


# input required
def graft(s, **more):
    return call(s, "choose_graft", {"variety": "Cox"}, params=more or None, capabilities=ABLE)


def form(s):
    return graft(s)["result"]["inputRequests"]["graft"]["params"]["requestedSchema"]["properties"]


GIVEN = {"graft": {"action": "accept", "content": {"rootstock": "M9"}}}


def tampered(s):
    state = graft(s)["result"]["requestState"]
    return "result" in graft(s, requestState=state[:-3] + ("aaa" if state[-3:] != "aaa" else "bbb"), inputResponses=GIVEN)


def crossed(s):
    state = graft(s)["result"]["requestState"]
    answer = call(s, "choose_graft", {"variety": "Gala"}, params={"requestState": state, "inputResponses": GIVEN}, capabilities=ABLE)
    return "result" in answer


stdio("m-nothing-asked", lambda s: not {"inputRequests", "requestState"} & set(graft(s)["result"]))
stdio("m-state-unverified", tampered)
stdio("m-state-object", lambda s: not isinstance(graft(s)["result"]["requestState"], str))
stdio("m-requests-array", lambda s: isinstance(graft(s)["result"]["inputRequests"], list))
stdio("m-on-completion", lambda s: complete(s)["result"]["resultType"] == "input_required")
stdio("m-own-method", lambda s: graft(s)["result"]["inputRequests"]["graft"]["method"] != "elicitation/create")
stdio("m-no-schema", lambda s: "requestedSchema" not in graft(s)["result"]["inputRequests"]["graft"]["params"])
stdio("m-nested-form", lambda s: any(p["type"] == "object" for p in form(s).values()))
stdio("m-password", lambda s: "password" in form(s))
stdio("m-no-max-tokens", lambda s: "maxTokens" not in call(s, "tasting_note", capabilities=ABLE)["result"]["inputRequests"]["note"]["params"])
stdio("m-incomplete-is-error", lambda s: "error" in graft(s, requestState=graft(s)["result"]["requestState"], inputResponses={}))
stdio("m-extra-refused", lambda s: "error" in graft(s, requestState=graft(s)["result"]["requestState"], inputResponses={**GIVEN, "more": {"action": "accept"}}))
stdio("m-state-crosses", crossed)

# resources and pagination
NONE = {"uri": "orchard://none"}
stdio("r-missing-empty", lambda s: s.rpc("resources/read", NONE).get("result", {}).get("contents") == [])
stdio("r-missing-code", lambda s: code(s.rpc("resources/read", NONE)) != -32602)
stdio("r-blob-raw", lambda s: not is_base64(result(s, "resources/read", {"uri": "orchard://leaf.png"})["contents"][0]["blob"]))
listed = lambda s: pages(s, "resources/list", "resources")[0]
stdio("r-uri-space", lambda s: any(" " in r["uri"] for r in listed(s)))
stdio("r-audience-string", lambda s: isinstance(listed(s)[0]["annotations"]["audience"], str))
stdio("r-size-text", lambda s: isinstance(listed(s)[0]["size"], str))
stdio("r-no-contents-uri", lambda s: "uri" not in result(s, "resources/read", {"uri": "orchard://map"})["contents"][0])
stdio("r-template-unclosed", lambda s: any(t["uriTemplate"].count("{") != t["uriTemplate"].count("}") for t in result(s, "resources/templates/list")["resourceTemplates"]))
stdio("r-list-as-map", lambda s: isinstance(result(s, "resources/list")["resources"], dict))
stdio("p-bad-cursor-start", lambda s: "result" in s.rpc("tools/list", {"cursor": "nonsense"}))
stdio("p-bad-cursor-crash", lambda s: code(s.rpc("tools/list", {"cursor": "nonsense"})) != -32602)
stdio("p-cursor-number", lambda s: any(not isinstance(c, str) for c in pages(s, "tools/list", "tools")[1]))
stdio("p-cursor-null", lambda s: None in pages(s, "tools/list", "tools")[1])
stdio("p-overlap", lambda s: len({r["uri"] for r in listed(s)}) != len(listed(s)))


# prompts and completion
def complete(s, ref=None, name="variety", value=""):
    return s.rpc("completion/complete", {"ref": ref or {"type": "ref/prompt", "name": "recipe"}, "argument": {"name": name, "value": value}})


stdio("q-args-unchecked", lambda s: "result" in s.rpc("prompts/get", {"name": "recipe"}))
stdio("q-unknown-code", lambda s: code(s.rpc("prompts/get", {"name": "none"})) != -32602)
stdio("q-role-tool", lambda s: result(s, "prompts/get", {"name": "walk"})["messages"][0]["role"] == "tool")
stdio("q-content-string", lambda s: isinstance(result(s, "prompts/get", {"name": "label", "arguments": {"year": "2020"}})["messages"][0]["content"], str))
stdio("q-required-string", lambda s: isinstance(result(s, "prompts/list")["prompts"][0]["arguments"][0]["required"], str))
stdio("k-140", lambda s: len(complete(s, {"type": "ref/resource", "uri": "orchard://trees/{tree}"}, "tree")["result"]["completion"]["values"]) > 100)
stdio("k-unwrapped", lambda s: "completion" not in complete(s)["result"])
stdio("k-unknown-prompt-empty", lambda s: "result" in complete(s, {"type": "ref/prompt", "name": "none"}))
stdio("k-total-string", lambda s: isinstance(complete(s)["result"]["completion"]["total"], str))


# subscriptions
UPDATED = "notifications/resources/updated"


def listen(s, wanted=None, id=77, seconds=1.7):
    s.send({"jsonrpc": "2.0", "id": id, "method": "subscriptions/listen", "params": {"_meta": meta(), "notifications": {"resourceSubscriptions": ["orchard://weather"]} if wanted is None else wanted}})
    time.sleep(seconds)
    return [m for m in s.seen if str(m.get("method")).startswith("notifications/")]


def tagged(s):
    return [(m["params"].get("_meta") or {}).get(META + "subscriptionId") for m in listen(s)]


def after_cancel(s):
    listen(s)
    s.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 77}})
    s.rpc("tools/list")
    before = len(s.notes(UPDATED))
    time.sleep(1.6)
    return len(s.notes(UPDATED)) > before


ACK = "notifications/subscriptions/acknowledged"
stdio("s-no-ack", lambda s: not any(m["method"] == ACK for m in listen(s)))
stdio("s-ack-second", lambda s: listen(s)[0]["method"] != ACK)
stdio("s-no-id", lambda s: None in tagged(s))
stdio("s-id-string", lambda s: "77" in tagged(s))
stdio("s-unasked-type", lambda s: any(m["method"] == "notifications/prompts/list_changed" for m in listen(s)))
stdio("s-other-uri", lambda s: any(m["method"] == UPDATED for m in listen(s, {"resourceSubscriptions": ["orchard://map"]})))
stdio("s-ack-too-much", lambda s: "toolsListChanged" in listen(s, {"toolsListChanged": True}, seconds=0.7)[0]["params"]["notifications"])
stdio("s-after-cancel", after_cancel)
stdio("s-log-on-stream", lambda s: any(m["method"] == "notifications/message" for m in listen(s)))
stdio("s-never-told", lambda s: not any(m["method"] == UPDATED for m in listen(s)))


# logging, progress, cancellation
def logs(s, level=None):
    call(s, "frost_check", **({META + "logLevel": level} if level else {}))
    return [m["params"] for m in s.notes("notifications/message")]


def progressed(s, token="t"):
    call(s, "prune_plan", {"rows": 4}, **({"progressToken": token} if token else {}))
    time.sleep(0.4)
    return [m["params"] for m in s.notes("notifications/progress")]


def falls(s):
    values = [p["progress"] for p in progressed(s)]
    return values != sorted(set(values))


def late(s):
    progressed(s)
    answer = next(n for n, m in enumerate(s.seen) if m.get("id") == "r1")
    return any(m.get("method") == "notifications/progress" for m in s.seen[answer:])


def cancelled(s):
    s.send({"jsonrpc": "2.0", "id": 501, "method": "tools/call", "params": {"name": "prune_plan", "arguments": {"rows": 10}, "_meta": meta()}})
    time.sleep(0.4)
    s.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 501}})
    return s.wait(lambda m: m.get("id") == 501, 1)


stdio("l-unasked", lambda s: logs(s))
stdio("l-below", lambda s: any(m["level"] == "info" for m in logs(s, "error")))
stdio("l-bad-level-ok", lambda s: "result" in s.rpc("tools/list", **{META + "logLevel": "loud"}))
stdio("l-upper", lambda s: any(m["level"].isupper() for m in logs(s, "debug")))
stdio("l-secret", lambda s: any("password" in m["data"] for m in logs(s, "debug")))
stdio("g-falls", falls)
stdio("g-token-string", lambda s: any(p["progressToken"] != "t" for p in progressed(s)))
stdio("g-unasked", lambda s: progressed(s, None))
stdio("g-late", late)
stdio("n-cancel-answered", cancelled)
stdio("n-server-cancels", lambda s: call(s, "snapshot") and s.notes("notifications/cancelled"))
stdio("n-unknown-cancel-error", lambda s: s.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 999}}) or s.wait(lambda m: "error" in m, 1))


if __name__ == "__main__":
    sys.exit(main(PROGRAM, CHECKS, sys.argv[1:]))
