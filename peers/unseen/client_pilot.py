"""A pilot's MCP client: it connects, looks round, calls what it finds, and leaves. Standard library only.

    client_pilot.py [--fault NAME] URL
    client_pilot.py [--fault NAME] --run COMMAND [ARGUMENT...] | --run "COMMAND ARGUMENTS"
    client_pilot.py --list-faults

It speaks 2025-03-26, 2025-06-18, 2025-11-25 and 2026-07-28; PROOF_REVISION names the newest to use. Without a fault it
follows the specification; with it, it breaks one sentence. Written from the specification alone.
"""

import base64
import http.client
import itertools
import json
import os
import queue
import re
import shlex
import subprocess
import sys
import threading
import time
import urllib.parse
import urllib.request

MODERN = "2026-07-28"
LEGACY = ["2025-11-25", "2025-06-18", "2025-03-26"]
META = "io.modelcontextprotocol/"
PATIENCE = 4.0
SAMPLE = "Ærøskøbing"

ERAS = {"all": [*LEGACY[::-1], MODERN], "legacy": LEGACY[::-1], "modern": [MODERN], "header": ["2025-06-18", "2025-11-25", MODERN], "november": ["2025-11-25"], "new": ["2025-11-25", MODERN]}
WHERE = {"any": ["stdio", "http"], "http": ["http"], "stdio": ["stdio"]}
FAULTS = """
initialized-has-an-id | lifecycle | MUST | any | legacy | notifications/initialized is sent as a request, with an id. | basic/index#notifications
works-before-initialized | lifecycle | MUST | any | legacy | The client lists and calls, and sends initialized at the end. | basic/lifecycle#initialization
unknown-version-accepted | lifecycle | SHOULD | any | legacy | The client goes on at whatever version the server answers. | basic/lifecycle#version-negotiation
client-info-without-version | lifecycle | MUST | any | all | clientInfo has a name and no version. | schema#Implementation
capabilities-left-out | lifecycle | MUST | any | legacy | initialize has no capabilities. | schema#InitializeRequest
undeclared-features-used | lifecycle | MUST | any | legacy | Prompts, resources and completion are used whether the server declares them or not. | basic/lifecycle#operation
one-id-for-all | base | MUST | any | legacy | Every request has the id 1. | basic/index#requests
fractional-ids | base | MUST | any | all | Request ids are fractions. | basic/index#requests
params-a-list | base | MUST | any | legacy | Requests without parameters have params: []. | basic/index#requests
answers-with-string-id | base | MUST | any | legacy | A numeric id of a server's request comes back as a string. | basic/index#responses
unknown-request-unanswered | base | MUST | any | legacy | A server's request with an unknown method is never answered. | basic/index#responses
ping-unanswered | base | MUST | any | legacy | The server's ping is not answered. | basic/utilities/ping#behavior-requirements
notifications-answered | base | MUST | any | legacy | The server's notifications are answered. | basic/index#notifications
accept-json-only | http | MUST | http | all | The Accept header lists application/json alone. | basic/transports/streamable-http#sending-messages
version-header-missing | http | MUST | http | header | Requests have no MCP-Protocol-Version header. | basic/transports/streamable-http#protocol-version-header
version-header-stale | http | MUST | http | modern | MCP-Protocol-Version says 2025-11-25 and the body 2026-07-28. | basic/transports/streamable-http#protocol-version-header
session-on-requests-only | http | MUST | http | legacy | Notifications and answers are posted without the session ID. | basic/transports#session-management
session-404-final | http | MUST | http | legacy | HTTP 404 for the session ends the client. | basic/transports#session-management
session-404-id-kept | http | MUST | http | legacy | After HTTP 404 the client initializes with the old session ID. | basic/transports#session-management
session-not-deleted | http | SHOULD | http | legacy | The session is left without DELETE. | basic/transports#session-management
batches-sent | http | MUST | http | new | The lists are asked for in a batch. | basic/transports#sending-messages-to-the-server
method-header-missing | http | MUST | http | modern | Mcp-Method is not sent. | basic/transports/streamable-http#standard-request-headers
name-header-for-tools-only | http | MUST | http | modern | Mcp-Name is sent for tools/call alone. | basic/transports/streamable-http#standard-request-headers
name-header-percent | http | MUST | http | modern | Names outside ASCII are percent-encoded in Mcp-Name. | basic/transports/streamable-http#value-encoding
param-headers-missing | http | MUST | http | modern | x-mcp-header is not heeded. | basic/transports/streamable-http#client-behavior
param-header-for-nothing | http | MUST | http | modern | An argument that is left out is mirrored as "None". | basic/transports/streamable-http#client-behavior
param-header-True | http | MUST | http | modern | Booleans are mirrored as True and False. | basic/transports/streamable-http#value-encoding
param-header-raw | http | MUST | http | modern | Values outside ASCII are mirrored as raw bytes. | basic/transports/streamable-http#value-encoding
bad-header-tools-kept | http | MUST | http | modern | Tools with an invalid x-mcp-header are called. | basic/transports/streamable-http#schema-extension
first-event-only | http | MUST | http | all | The first event of a stream is taken for the response. | basic/transports/streamable-http#sending-messages
retry-field-ignored | http | MUST | http | november | The client reconnects at once, whatever retry says. | basic/transports#sending-messages-to-the-server
resends-instead-of-resuming | http | SHOULD | http | november | After a stream ended early the request is sent again. | basic/transports#resumability-and-redelivery
broken-stream-same-id | http | MUST | http | modern | After a broken stream the request is sent again under its id. | changelog#major-changes
broken-stream-final | http | MUST | http | modern | After a broken stream the request is given up. | changelog#major-changes
meta-without-capabilities | versioning | MUST | any | modern | Requests lack clientCapabilities. | basic/index#_meta
meta-on-first-only | versioning | MUST | any | modern | Only the first request says its version and capabilities. | basic/index#_meta
client-info-missing | versioning | SHOULD | any | modern | Requests lack clientInfo. | basic/index#_meta
version-error-final | versioning | SHOULD | any | modern | UnsupportedProtocolVersionError ends the client, whatever is supported. | basic/versioning#protocol-version-negotiation
version-error-falls-back | versioning | MUST | any | modern | UnsupportedProtocolVersionError makes the client initialize. | basic/transports/stdio#backward-compatibility
result-type-required | base | MUST | any | modern | Results without resultType are thrown away. | basic/index#resulttype
result-type-unknown-used | base | MUST | any | modern | Results of an unknown resultType are used. | basic/index#resulttype
retry-same-id | mrtr | MUST | any | modern | The retry has the id of the first request. | basic/patterns/mrtr#client-requirements-basic-workflow
state-dropped | mrtr | MUST | any | modern | requestState is not returned. | basic/patterns/mrtr#client-requirements-basic-workflow
state-altered | mrtr | MUST | any | modern | requestState is percent-decoded and stripped. | basic/patterns/mrtr#client-requirements-basic-workflow
state-invented | mrtr | MUST | any | modern | requestState is "" where the server gave none. | basic/patterns/mrtr#client-requirements-basic-workflow
state-sticks | mrtr | MUST | any | modern | requestState is sent with every later call too. | basic/patterns/mrtr#client-requirements-basic-workflow
retry-without-arguments | mrtr | MUST | any | modern | The retry lacks the arguments of the call. | basic/patterns/mrtr#multi-round-trip-requests
input-responses-a-list | mrtr | MUST | any | modern | inputResponses is a list. | schema#InputResponses
input-response-wrapped | mrtr | MUST | any | modern | Each input response is wrapped in {"result": …}. | schema#InputResponse
accept-without-content | elicitation | MUST | any | header | A form is accepted without content. | client/elicitation#response-actions
content-all-strings | elicitation | SHOULD | any | header | Numbers and booleans of a form are sent as strings. | client/elicitation#form-mode-security
form-without-mode-refused | elicitation | MUST | any | new | A form without a mode is refused. | client/elicitation#elicitation-requests
url-fetched | elicitation | MUST | any | new | The URL of URL mode is fetched for a preview. | client/elicitation#safe-url-handling
action-approve | elicitation | MUST | any | header | The action is "approve". | schema#ElicitResult
defaults-ignored | elicitation | SHOULD | any | new | Forms are not filled with their defaults. | client/elicitation#requested-schema
sampling-without-model | sampling | MUST | any | all | The sampling result has no model. | schema#CreateMessageResult
max-tokens-ignored | sampling | MUST | any | all | The sampled text is 400 words long, whatever maxTokens says. | client/sampling#sampling-parameters
roots-are-paths | roots | MUST | any | all | Roots are paths, not file URIs. | client/roots#root
first-page-only | pagination | SHOULD | any | all | Only the first page of a list is read. | server/utilities/pagination#implementation-guidelines
empty-cursor-ends | pagination | MUST | any | modern | An empty cursor is taken for the end. | server/utilities/pagination#implementation-guidelines
cursor-quoted | pagination | MUST | any | all | Cursors are percent-encoded before they are sent back. | server/utilities/pagination#implementation-guidelines
progress-token-a-time | progress | MUST | any | all | Progress tokens are fractions. | basic/patterns/progress#progress-flow
timeout-not-cancelled | cancellation | SHOULD | any | legacy | A request that takes too long is given up without notifications/cancelled. | basic/lifecycle#timeouts
cancels-what-is-done | cancellation | MUST | any | legacy | Each answered call is cancelled afterwards. | basic/utilities/cancellation#behavior-requirements
listen-filter-a-list | subscriptions | MUST | any | modern | The filter of subscriptions/listen is a list of names. | schema#SubscriptionFilter
old-subscribe | subscriptions | MUST | any | modern | resources/subscribe is used, which the revision removed. | changelog#major-changes
old-set-level | logging | MUST | any | modern | logging/setLevel is used, which the revision removed. | changelog#major-changes
unknown-level | logging | MUST | any | all | The log level asked for is "trace". | server/utilities/logging#log-levels
arguments-a-string | tools | MUST | any | all | The arguments of a call are a string of JSON, as a model wrote them. | schema#CallToolRequestParams
input-has-log-lines | stdio | MUST | stdio | all | The client writes a line of its log to the server's stdin. | basic/transports/stdio
input-indented | stdio | MUST | stdio | all | Messages are indented JSON over several lines. | basic/transports/stdio
kills-at-once | stdio | SHOULD | stdio | all | The server is killed before its stdin was closed. | basic/transports/stdio#shutdown
"""


def listed_faults():
    for line in FAULTS.strip().splitlines():
        name, area, level, where, eras, what, page = line.split(" | ")
        yield {"name": name, "area": area, "level": level, "transports": WHERE[where], "revisions": ERAS[eras], "what": what, "page": page}


FAULT = None


def F(name):
    return FAULT == name


class RpcError(Exception):
    def __init__(self, error, status=None):
        error = error if isinstance(error, dict) else {}
        super().__init__(error.get("message", "error"))
        self.code, self.data, self.status = error.get("code"), error.get("data"), status


class NoAnswer(Exception):
    """A request that was given up."""


class SessionEnded(Exception):
    """HTTP 404 for the session."""


class Broken(Exception):
    """A response stream that ended without its response."""


# ----------------------------------------------------------------------------------------------------------------------
# Values from schemas

def value_for(schema, defaults=True):
    """A value that a JSON Schema allows, as far as a pilot can tell."""
    if not isinstance(schema, dict):
        return SAMPLE
    if defaults and "default" in schema:
        return schema["default"]
    if "const" in schema:
        return schema["const"]
    for word in ("enum", "examples"):
        if schema.get(word):
            return schema[word][0]
    for word in ("oneOf", "anyOf"):
        if schema.get(word):
            return value_for(schema[word][0], defaults)
    kind = schema.get("type")
    kind = kind[0] if isinstance(kind, list) and kind else kind
    if kind in ("integer", "number"):
        low, high = schema.get("minimum"), schema.get("maximum")
        number = low if low is not None else schema["exclusiveMinimum"] + 1 if "exclusiveMinimum" in schema else min(5, high) if high is not None else 5
        return int(number) if kind == "integer" else number
    if kind == "boolean":
        return True
    if kind == "array":
        return [value_for(schema.get("items", {}), defaults) for _ in range(max(schema.get("minItems", 1), 0))]
    if kind == "object" or "properties" in schema:
        return {name: value_for(schema.get("properties", {}).get(name, {}), defaults) for name in schema.get("required", []) if isinstance(name, str)}
    formats = {"email": "pilot@harbour.example", "uri": "https://harbour.example/", "date": "2026-07-28", "date-time": "2026-07-28T12:00:00Z"}
    string = formats.get(schema.get("format"), SAMPLE)
    string = string.ljust(schema.get("minLength", 0), "x")
    return string[: schema["maxLength"]] if "maxLength" in schema else string


def arguments_for(tool):
    schema = tool.get("inputSchema") if isinstance(tool.get("inputSchema"), dict) else {}
    arguments = value_for({**schema, "type": "object"})
    for name, one in (schema.get("properties") or {}).items():
        if name not in arguments and isinstance(one, dict) and one.get("type") == "boolean":
            arguments[name] = value_for(one)
    return arguments if isinstance(arguments, dict) else {}


# ----------------------------------------------------------------------------------------------------------------------
# Headers of 2026-07-28

def header_value(value, raw=False):
    string = ("true" if value else "false") if isinstance(value, bool) else str(value)
    if isinstance(value, bool) and F("param-header-True"):
        string = str(value)
    plain = re.fullmatch(r"[\x21-\x7e]([\x20-\x7e\t]*[\x21-\x7e])?", string) and not (string.startswith("=?base64?") and string.endswith("?="))
    if plain:
        return string
    if raw:
        return string.encode().decode("latin-1")
    return "=?base64?" + base64.b64encode(string.encode()).decode() + "?="


def name_header(value):
    if F("name-header-percent"):
        return urllib.parse.quote(value, safe=":/?#[]@!$&'()*+,;=%")
    return header_value(value)


def annotated(schema, path=(), reachable=True):
    """Each x-mcp-header of a schema: its path, its value, the schema it is in, and whether it may be there."""
    if isinstance(schema, list):
        for one in schema:
            yield from annotated(one, path, False)
        return
    if not isinstance(schema, dict):
        return
    if "x-mcp-header" in schema and path:
        yield path, schema["x-mcp-header"], schema, reachable
    for word, inner in schema.items():
        if word == "properties" and isinstance(inner, dict):
            for name, one in inner.items():
                yield from annotated(one, (*path, name), reachable)
        elif word in ("items", "oneOf", "anyOf", "allOf", "not", "if", "then", "else", "$defs", "definitions", "prefixItems", "additionalProperties", "patternProperties"):
            inner = list(inner.values()) if word in ("$defs", "definitions", "patternProperties") and isinstance(inner, dict) else inner
            yield from annotated(inner if isinstance(inner, list) else [inner], (*path, "*"), False)


def has_bad_headers(tool):
    seen = set()
    for _, header, schema, reachable in annotated(tool.get("inputSchema")):
        if not isinstance(header, str) or not re.fullmatch(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", header):
            return True
        if header.lower() in seen or not reachable or schema.get("type") not in ("string", "integer", "boolean"):
            return True
        seen.add(header.lower())
    return False


def param_headers(tool, arguments):
    headers = {}
    if F("param-headers-missing") or not tool or not isinstance(arguments, dict):
        return headers
    for path, header, _, reachable in annotated(tool.get("inputSchema")):
        if not reachable or not isinstance(header, str) or not re.fullmatch(r"[\x21-\x7e]+", header) or ":" in header:
            continue
        value = arguments
        for step in path:
            value = value.get(step) if isinstance(value, dict) else None
        if value is not None and isinstance(value, (str, int, bool)):
            headers[f"Mcp-Param-{header}"] = header_value(value, raw=F("param-header-raw"))
        elif F("param-header-for-nothing"):
            headers[f"Mcp-Param-{header}"] = "None"
    return headers


# ----------------------------------------------------------------------------------------------------------------------
# Transports: request(message, headers, cancelled) gives the response; everything else goes to the client's `heard`

class Stdio:
    name = "stdio"

    def __init__(self, command):
        self.process = subprocess.Popen(shlex.split(command[0]) if len(command) == 1 else command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.waiting, self.lock, self.heard = {}, threading.Lock(), None
        threading.Thread(target=self.read, daemon=True).start()
        self.chatty = F("input-has-log-lines")

    def read(self):
        for line in self.process.stdout:
            try:
                message = json.loads(line)
            except ValueError:
                continue
            for one in message if isinstance(message, list) else [message]:
                if not isinstance(one, dict):
                    continue
                if "method" in one:
                    threading.Thread(target=self.heard, args=(one, self.send), daemon=True).start()
                else:
                    box = self.waiting.get(json.dumps(one.get("id")))
                    if box:
                        box.put(one)
        for box in list(self.waiting.values()):
            box.put(None)

    def send(self, message, headers=None):
        text = json.dumps(message, ensure_ascii=False, indent=2 if F("input-indented") else None)
        with self.lock:
            try:
                if self.chatty and message.get("method") == "tools/list":
                    self.process.stdin.write(b"[pilot] asking for tools\n")
                self.process.stdin.write(text.encode() + b"\n")
                self.process.stdin.flush()
            except (OSError, ValueError):
                raise NoAnswer("the server has ended") from None

    def request(self, message, headers=None, patience=PATIENCE, client=None):
        box, key = queue.Queue(), json.dumps(message["id"])
        self.waiting[key] = box
        try:
            self.send(message)
            response = box.get(timeout=patience)
        except queue.Empty:
            client.cancel(message)
            raise NoAnswer("timed out") from None
        finally:
            self.waiting.pop(key, None)
        if response is None:
            raise NoAnswer("the server has ended")
        return response

    def close(self):
        if F("kills-at-once"):
            self.process.kill()
            self.process.wait()
            return
        try:
            self.process.stdin.close()
        except OSError:
            pass
        for stop in (self.process.terminate, self.process.kill):
            try:
                self.process.wait(2)
                return
            except subprocess.TimeoutExpired:
                stop()
        self.process.wait()


class Events:
    """Server-sent events of a response."""

    def __init__(self, response, until):
        self.response, self.until, self.id, self.retry = response, until, None, None

    def __iter__(self):
        data, name = [], None
        while True:
            if time.monotonic() > self.until():
                raise TimeoutError
            line = self.response.readline()
            if not line:
                return
            line = line.decode("utf-8", "replace").rstrip("\r\n")
            if line == "":
                if data:
                    yield "\n".join(data)
                data, name = [], None
                continue
            field, _, value = line.partition(":")
            value = value[1:] if value.startswith(" ") else value
            if field == "data":
                data.append(value)
            elif field == "id" and "\0" not in value:
                self.id = value
            elif field == "retry" and re.fullmatch(r"[0-9]+", value):
                self.retry = int(value)


class Http:
    name = "http"

    def __init__(self, url):
        self.url = urllib.parse.urlsplit(url)
        self.path = (self.url.path or "/") + (f"?{self.url.query}" if self.url.query else "")
        self.session, self.version, self.heard, self.open = None, None, None, set()

    def connection(self, seconds):
        kind = http.client.HTTPSConnection if self.url.scheme == "https" else http.client.HTTPConnection
        return kind(self.url.hostname, self.url.port, timeout=seconds)

    def headers(self, message, more):
        headers = {"Accept": "application/json" if F("accept-json-only") else "application/json, text/event-stream", "User-Agent": "pilot/1.0"}
        is_request = message is None or "method" in message and "id" in message
        if self.session and not (F("session-on-requests-only") and not is_request):
            headers["Mcp-Session-Id"] = self.session
        if self.version and not F("version-header-missing"):
            headers["MCP-Protocol-Version"] = self.version
        headers.update(more or {})
        return headers

    def start(self, method, message=None, headers=None, seconds=PATIENCE):
        connection = self.connection(seconds)
        body = None if message is None else json.dumps(message, ensure_ascii=False).encode()
        given = self.headers(message[0] if isinstance(message, list) else message, headers)
        if body is not None:
            given["Content-Type"] = "application/json"
        try:
            connection.request(method, self.path, body, given)
            response = connection.getresponse()
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            raise NoAnswer(str(error)) from None
        self.open.add(connection)
        return connection, response

    def done(self, connection):
        self.open.discard(connection)
        connection.close()

    def send(self, message, headers=None):
        connection, response = self.start("POST", message, headers)
        try:
            response.read()
        except (OSError, http.client.HTTPException):
            pass
        self.done(connection)
        if response.status == 404 and self.session and "method" in message:
            raise SessionEnded

    def request(self, message, headers=None, patience=PATIENCE, client=None):
        deadline = [time.monotonic() + patience]
        try:
            connection, response = self.start("POST", message, headers)
        except NoAnswer:
            client.cancel(message)
            raise
        try:
            if response.status == 404 and self.session:
                raise SessionEnded
            if "mcp-session-id" in response.headers and isinstance(message, dict) and message["method"] == "initialize":
                self.session = response.headers["mcp-session-id"]
            if "text/event-stream" in (response.headers.get("content-type") or ""):
                return self.streamed(message, response, deadline, client)
            body = response.read()
        except (TimeoutError, OSError, http.client.HTTPException):
            client.cancel(message)
            raise NoAnswer("timed out") from None
        finally:
            self.done(connection)
        try:
            answer = json.loads(body)
        except ValueError:
            raise RpcError({"code": None, "message": f"HTTP {response.status}"}, response.status) from None
        if isinstance(answer, dict):
            answer["_status"] = response.status
        return answer

    def streamed(self, message, response, deadline, client):
        events = Events(response, lambda: deadline[0])
        answer = self.read(events, message)
        turns = 0
        while answer is None and turns < 5:
            turns += 1
            if client.modern or events.id is None:
                raise Broken
            if F("resends-instead-of-resuming"):
                again = {**message, "id": client.next_id()}
                return self.request(again, client.headers_of(again), client=client)
            # The stream goes on behind a GET; the server says when.
            wait = 0 if F("retry-field-ignored") else events.retry / 1000 if events.retry is not None else 0.5
            time.sleep(min(wait, 5))
            connection, response = self.start("GET", None, {"Accept": "text/event-stream", "Last-Event-ID": events.id}, PATIENCE + 2)
            try:
                if response.status != 200:
                    raise Broken
                last, retry = events.id, events.retry
                events = Events(response, lambda: time.monotonic() + 1)
                events.id, events.retry = last, retry
                answer = self.read(events, message)
            finally:
                self.done(connection)
        if answer is None:
            raise Broken
        return answer

    def read(self, events, message):
        wanted = {json.dumps(one["id"]) for one in (message if isinstance(message, list) else [message]) if "id" in one}
        answers = []
        for data in events:
            try:
                got = json.loads(data)
            except ValueError:
                continue
            for one in got if isinstance(got, list) else [got]:
                if not isinstance(one, dict):
                    continue
                if F("first-event-only"):
                    return one
                if "method" in one:
                    self.heard(one, self.send)
                elif json.dumps(one.get("id")) in wanted:
                    answers.append(one)
            if answers and len(answers) >= len(wanted):
                return answers if isinstance(message, list) else answers[0]
        return None

    def listen(self, client):
        """The stream of a GET, as long as the client stays."""
        try:
            connection, response = self.start("GET", None, {"Accept": "text/event-stream"}, 25)
        except NoAnswer:
            return
        try:
            if response.status == 200 and "text/event-stream" in (response.headers.get("content-type") or ""):
                self.read(Events(response, lambda: time.monotonic() + 1), {})
        except (OSError, ValueError, AttributeError, http.client.HTTPException, NoAnswer, SessionEnded):
            pass
        finally:
            self.done(connection)

    def close(self):
        if self.session and not F("session-not-deleted"):
            try:
                connection, response = self.start("DELETE")
                response.read()
                self.done(connection)
            except (NoAnswer, OSError, http.client.HTTPException):
                pass
        for connection in list(self.open):
            try:
                connection.sock and connection.sock.shutdown(2)
            except OSError:
                pass


# ----------------------------------------------------------------------------------------------------------------------
# The client

class Client:
    def __init__(self, transport, newest):
        self.transport, self.newest = transport, newest
        self.transport.heard = self.heard
        self.modern, self.version, self.server_capabilities = False, None, {}
        self.ids, self.tokens, self.sent_meta, self.sticky = itertools.count(1), itertools.count(1), False, None
        self.tools, self.stale, self.notes = {}, set(), []

    def next_id(self):
        number = next(self.ids)
        return 1 if F("one-id-for-all") else number + 0.5 if F("fractional-ids") else number

    def note(self, *words):
        self.notes.append(" ".join(map(str, words)))
        print(*words, file=sys.stderr)

    def info(self):
        return {"name": "pilot"} if F("client-info-without-version") else {"name": "pilot", "version": "1.0.0"}

    def capabilities(self, version=None):
        version = version or self.version
        declared = {"sampling": {}, "roots": {} if version == MODERN else {"listChanged": False}}
        if version != "2025-03-26":
            declared["elicitation"] = {} if version == "2025-06-18" else {"form": {}, "url": {}}
        return declared

    # -- requests

    def headers_of(self, message):
        if not self.modern or self.transport.name != "http" or "method" not in message:
            return {}
        params, method = message.get("params") or {}, message["method"]
        headers = {} if F("method-header-missing") else {"Mcp-Method": method}
        name = {"tools/call": params.get("name"), "prompts/get": params.get("name"), "resources/read": params.get("uri")}.get(method)
        if isinstance(name, str) and not (F("name-header-for-tools-only") and method != "tools/call"):
            headers["Mcp-Name"] = name_header(name)
        if method == "tools/call":
            headers.update(param_headers(self.tools.get(name), params.get("arguments")))
        if not F("version-header-missing"):
            headers["MCP-Protocol-Version"] = "2025-11-25" if F("version-header-stale") else self.version
        return headers

    def meta(self, more=None):
        meta = dict(more or {})
        if not self.modern or F("meta-on-first-only") and self.sent_meta:
            return meta
        self.sent_meta = True
        meta[META + "protocolVersion"] = self.version
        if not F("meta-without-capabilities"):
            meta[META + "clientCapabilities"] = self.capabilities()
        if not F("client-info-missing"):
            meta[META + "clientInfo"] = self.info()
        return meta

    def message(self, method, params=None, meta=None):
        params = dict(params or {})
        meta = self.meta(meta)
        if meta:
            params["_meta"] = meta
        message = {"jsonrpc": "2.0", "id": self.next_id(), "method": method}
        if params or self.modern:
            message["params"] = params
        elif F("params-a-list"):
            message["params"] = []
        return message

    def call(self, method, params=None, meta=None, patience=PATIENCE):
        """The result of a request; input that the server asks for is given."""
        message = self.message(method, params, meta)
        for _ in range(6):
            result = self.exchange(message, patience)
            kind = result.get("resultType", None if F("result-type-required") else "complete") if self.modern else "complete"
            if kind == "complete":
                return result
            if kind != "input_required" or method not in ("tools/call", "prompts/get", "resources/read"):
                if F("result-type-unknown-used") and kind is not None:
                    return result
                raise RpcError({"code": None, "message": f"unknown resultType {kind}"})
            message = self.retry(message, result, meta)
        raise RpcError({"code": None, "message": "the server asks for ever"})

    def retry(self, message, result, meta):
        requests = result.get("inputRequests")
        params = {key: value for key, value in message["params"].items() if key not in ("inputResponses", "requestState", "_meta")}
        if F("retry-without-arguments"):
            params.pop("arguments", None)
        if isinstance(requests, dict):
            responses = {key: self.answer(one.get("method"), one.get("params") or {}) for key, one in requests.items() if isinstance(one, dict)}
            if F("input-response-wrapped"):
                responses = {key: {"result": value} for key, value in responses.items()}
            params["inputResponses"] = list(responses.values()) if F("input-responses-a-list") else responses
        elif requests is not None or "requestState" not in result:
            raise RpcError({"code": None, "message": "the input request is not valid"})
        state = result.get("requestState")
        if state is not None and not F("state-dropped"):
            params["requestState"] = urllib.parse.unquote_plus(state).strip() if F("state-altered") and isinstance(state, str) else state
            if F("state-sticks"):
                self.sticky = state
        elif state is None and F("state-invented"):
            params["requestState"] = ""
        again = self.message(message["method"], params, meta)
        if F("retry-same-id"):
            again["id"] = message["id"]
        return again

    def exchange(self, message, patience=PATIENCE):
        if self.sticky is not None and message["method"] == "tools/call":
            message["params"].setdefault("requestState", self.sticky)
        for turn in range(3):
            try:
                response = self.transport.request(message, self.headers_of(message), patience, self)
                break
            except Broken:
                if not self.modern or F("broken-stream-final") or turn == 2:
                    raise NoAnswer("the stream broke") from None
                if not F("broken-stream-same-id"):
                    message = {**message, "id": self.next_id()}
            except SessionEnded:
                if F("session-404-final") or turn == 2 or message["method"] == "initialize":
                    raise NoAnswer("the session has ended") from None
                if not F("session-404-id-kept"):
                    self.transport.session = None
                self.transport.version = None
                self.initialize()
                message = {**message, "id": self.next_id()}
        status = response.pop("_status", None) if isinstance(response, dict) else None
        if not isinstance(response, dict):
            raise RpcError({"code": None, "message": "not a response"}, status)
        if "error" in response:
            raise RpcError(response["error"], status)
        if F("cancels-what-is-done") and message["method"] == "tools/call" and not self.modern:
            self.notify("notifications/cancelled", {"requestId": message["id"], "reason": "done"})
        result = response.get("result")
        if not isinstance(result, dict):
            raise RpcError({"code": None, "message": "no result"}, status)
        return result

    def notify(self, method, params=None):
        message = {"jsonrpc": "2.0", "method": method, **({"params": params} if params else {})}
        if F("initialized-has-an-id") and method == "notifications/initialized":
            message["id"] = self.next_id()
        try:
            self.transport.send(message, self.headers_of(message))
        except (NoAnswer, SessionEnded):
            pass

    def cancel(self, message):
        """Gives a request up. Over HTTP in the modern era closing its stream says so."""
        if isinstance(message, list) or message["method"] == "initialize" or F("timeout-not-cancelled"):
            return
        if self.modern and self.transport.name == "http":
            return
        self.notify("notifications/cancelled", {"requestId": message["id"], "reason": "timed out"})

    # -- what the server says and asks

    def heard(self, message, send):
        method, params = message.get("method"), message.get("params") if isinstance(message.get("params"), dict) else {}
        if "id" not in message:
            found = re.fullmatch(r"notifications/(tools|prompts|resources)/list_changed", str(method))
            if found:
                self.stale.add(found[1])
            if F("notifications-answered") and not self.modern:
                self.post(send, {"jsonrpc": "2.0", "id": 0, "result": {}})
            return
        if self.modern:
            return
        answer = {"jsonrpc": "2.0", "id": str(message["id"]) if F("answers-with-string-id") else message["id"]}
        if method == "ping":
            if not F("ping-unanswered"):
                self.post(send, {**answer, "result": {}})
            return
        try:
            self.post(send, {**answer, "result": self.answer(method, params)})
        except RpcError as error:
            if not (F("unknown-request-unanswered") and error.code == -32601):
                self.post(send, {**answer, "error": {"code": error.code, "message": str(error)}})

    def post(self, send, message):
        try:
            send(message)
        except (NoAnswer, SessionEnded):
            pass

    def answer(self, method, params):
        """What the pilot answers; an RpcError refuses."""
        if method == "elicitation/create" and "elicitation" in self.capabilities():
            return self.elicited(params)
        if method == "sampling/createMessage":
            return self.sampled(params)
        if method == "roots/list":
            root = "/srv/charts" if F("roots-are-paths") else "file:///srv/charts"
            return {"roots": [{"uri": root, "name": "Charts"}]}
        raise RpcError({"code": -32601, "message": f"Method not found: {method}"})

    def elicited(self, params):
        mode = params.get("mode", None if F("form-without-mode-refused") else "form")
        accept = "approve" if F("action-approve") else "accept"
        if mode == "url" and self.version in ("2025-11-25", MODERN):
            # The person in the cockpit sees the whole URL, agrees, and opens it in a browser.
            self.note("open in the browser:", params.get("url"))
            if F("url-fetched"):
                try:
                    urllib.request.urlopen(str(params.get("url")), timeout=1).read(100)
                except (OSError, ValueError):
                    pass
            return {"action": accept}
        if mode != "form":
            raise RpcError({"code": -32602, "message": f"Mode {mode} is not supported"})
        schema = params.get("requestedSchema") if isinstance(params.get("requestedSchema"), dict) else {}
        required = schema.get("required") if isinstance(schema.get("required"), list) else []
        content = {}
        for name, one in (schema.get("properties") or {}).items():
            if name in required or isinstance(one, dict) and "default" in one and not F("defaults-ignored"):
                content[name] = value_for(one, defaults=not F("defaults-ignored"))
        if F("content-all-strings"):
            content = {name: value if isinstance(value, list) else str(value) for name, value in content.items()}
        return {"action": accept} if F("accept-without-content") else {"action": accept, "content": content}

    def sampled(self, params):
        if params.get("tools") or params.get("toolChoice"):
            raise RpcError({"code": -32602, "message": "Tools in sampling are not supported"})
        messages = params.get("messages")
        if not isinstance(messages, list) or not all(isinstance(one, dict) and one.get("role") in ("user", "assistant") and isinstance(one.get("content"), (dict, list)) for one in messages):
            raise RpcError({"code": -32602, "message": "The messages are not valid"})
        limit = params.get("maxTokens") if isinstance(params.get("maxTokens"), int) else 50
        words = ["fog"] * 400 if F("max-tokens-ignored") else "Wind north, four knots, fair sight".split()[: max(1, limit)]
        result = {"role": "assistant", "content": {"type": "text", "text": " ".join(words)}, "model": "pilot-1", "stopReason": "endTurn"}
        if F("sampling-without-model"):
            del result["model"]
        return result

    # -- connecting

    def connect(self):
        if self.newest == MODERN:
            self.modern, self.version = True, MODERN
            try:
                return self.discover()
            except RpcError as error:
                if error.code == -32022 and F("version-error-final"):
                    raise
                is_modern = error.code in (-32020, -32021) or error.code == -32022 and not F("version-error-falls-back")
                if error.code == -32022 and is_modern:
                    supported = error.data.get("supported", []) if isinstance(error.data, dict) else []
                    if MODERN in supported:
                        return self.discover()
                    if not set(LEGACY) & set(supported):
                        raise
                elif is_modern or self.transport.name == "http" and error.status not in (400, 404, 405):
                    raise
            except NoAnswer:
                if self.transport.name == "http":
                    raise
            self.modern, self.version = False, None
        return self.initialize()

    def discover(self):
        result = self.call("server/discover")
        if MODERN not in (result.get("supportedVersions") or []):
            raise RpcError({"code": -32022, "message": "no common version", "data": {"supported": result.get("supportedVersions") or []}})
        self.server_capabilities = result.get("capabilities") or {}

    def initialize(self):
        version = self.newest if self.newest in LEGACY else LEGACY[0]
        params = {"protocolVersion": version, "capabilities": self.capabilities(version), "clientInfo": self.info()}
        if F("capabilities-left-out"):
            del params["capabilities"]
        result = self.exchange({"jsonrpc": "2.0", "id": self.next_id(), "method": "initialize", "params": params})
        agreed = result.get("protocolVersion")
        if agreed not in LEGACY and not F("unknown-version-accepted"):
            raise RpcError({"code": None, "message": f"the server speaks {agreed}"})
        self.version = agreed
        self.server_capabilities = result.get("capabilities") or {}
        if self.transport.name == "http" and agreed != "2025-03-26":
            self.transport.version = agreed
        if not F("works-before-initialized"):
            self.notify("notifications/initialized")

    # -- the round

    def offers(self, feature):
        return feature in self.server_capabilities or F("undeclared-features-used") and not self.modern

    def walk(self, method, member):
        """Every entry of a list."""
        entries, cursor = [], None
        for _ in range(20):
            result = self.call(method, {} if cursor is None else {"cursor": cursor})
            page = result.get(member)
            entries += page if isinstance(page, list) else []
            cursor = result.get("nextCursor")
            if cursor is None or F("first-page-only") or cursor == "" and F("empty-cursor-ends"):
                break
            if F("cursor-quoted"):
                cursor = urllib.parse.quote(str(cursor), safe="") + ("%20" if str(cursor).isalnum() else "")
        return [one for one in entries if isinstance(one, dict)]

    def tried(self, method, params=None, meta=None):
        try:
            result = self.call(method, params, meta)
            self.note(method, (params or {}).get("name") or (params or {}).get("uri") or "", "ok")
            return result
        except (RpcError, NoAnswer) as error:
            self.note(method, "failed:", error)
            return None

    def list_tools(self):
        self.tools = {}
        for tool in self.walk("tools/list", "tools"):
            if not isinstance(tool.get("name"), str):
                continue
            if self.modern and self.transport.name == "http" and has_bad_headers(tool) and not F("bad-header-tools-kept"):
                self.note("tool", tool["name"], "is left out: its x-mcp-header is not valid")
                continue
            self.tools[tool["name"]] = tool

    def call_tool(self, name):
        arguments = arguments_for(self.tools[name])
        token = time.time() if F("progress-token-a-time") else next(self.tokens)
        meta = {"progressToken": token}
        if self.modern and self.offers("logging"):
            meta[META + "logLevel"] = "trace" if F("unknown-level") else "info"
        params = {"name": name, "arguments": json.dumps(arguments) if F("arguments-a-string") else arguments}
        try:
            self.call("tools/call", params, meta)
            self.note("tools/call", name, "ok")
        except RpcError as error:
            self.note("tools/call", name, "failed:", error)
            if error.code == -32020:
                # The definition may have changed: look again, then try once more.
                self.list_tools()
                if name in self.tools:
                    self.tried("tools/call", {"name": name, "arguments": arguments_for(self.tools[name])})
        except NoAnswer as error:
            self.note("tools/call", name, "failed:", error)

    def guarded(self, step, *arguments):
        try:
            step(*arguments)
        except (RpcError, NoAnswer, Broken, SessionEnded) as error:
            self.note(step.__name__, "failed:", error)

    def round(self):
        if not self.modern and self.transport.name == "http":
            threading.Thread(target=self.transport.listen, args=(self,), daemon=True).start()
        if F("batches-sent"):
            batch = [self.message("tools/list"), self.message("prompts/list")]
            try:
                self.transport.request(batch, {"MCP-Protocol-Version": self.version, "Mcp-Method": "tools/list"}, client=self)
            except (RpcError, NoAnswer, Broken, SessionEnded):
                pass
        if self.offers("logging") and not self.modern or F("old-set-level") and self.modern:
            self.tried("logging/setLevel", {"level": "trace" if F("unknown-level") and not self.modern else "info"})
        listening = self.subscribe()
        if self.offers("tools"):
            self.guarded(self.list_tools)
            for name in list(self.tools)[:20]:
                self.guarded(self.call_tool, name)
        if self.offers("resources"):
            self.guarded(self.see_resources)
        if self.offers("prompts"):
            self.guarded(self.see_prompts)
        if "tools" in self.stale and self.offers("tools"):
            self.guarded(self.list_tools)
        listening()

    def subscribe(self):
        """Listens in the modern era; gives back how to stop."""
        if not self.modern or not any(isinstance(one, dict) and (one.get("listChanged") or one.get("subscribe")) for one in self.server_capabilities.values()):
            return lambda: None
        wanted = {}
        for feature, field in (("tools", "toolsListChanged"), ("prompts", "promptsListChanged"), ("resources", "resourcesListChanged")):
            if (self.server_capabilities.get(feature) or {}).get("listChanged"):
                wanted[field] = True
        message = self.message("subscriptions/listen", {"notifications": list(wanted) if F("listen-filter-a-list") else wanted})
        if self.transport.name == "stdio":
            self.transport.send(message)
            return lambda: self.notify("notifications/cancelled", {"requestId": message["id"]})

        def run():
            try:
                self.transport.request(message, self.headers_of(message), 25, self)
            except (RpcError, NoAnswer, Broken, SessionEnded, OSError, ValueError, AttributeError):
                pass
        threading.Thread(target=run, daemon=True).start()
        return lambda: None

    def see_resources(self):
        resources = [one for one in self.walk("resources/list", "resources") if isinstance(one.get("uri"), str)]
        can_subscribe = (self.server_capabilities.get("resources") or {}).get("subscribe")
        watched = resources[0]["uri"] if resources and (can_subscribe and not self.modern or F("old-subscribe") and self.modern) else None
        if watched:
            self.tried("resources/subscribe", {"uri": watched})
        for uri in list(dict.fromkeys(one["uri"] for one in resources))[:8]:
            self.tried("resources/read", {"uri": uri})
        templates = self.walk("resources/templates/list", "resourceTemplates")
        for one in templates[:3]:
            names = re.findall(r"\{(\w+)\}", str(one.get("uriTemplate")))
            if names and self.offers("completions"):
                self.tried("completion/complete", {"ref": {"type": "ref/resource", "uri": one["uriTemplate"]}, "argument": {"name": names[0], "value": ""}})
        if watched and not self.modern:
            self.tried("resources/unsubscribe", {"uri": watched})

    def see_prompts(self):
        for one in self.walk("prompts/list", "prompts")[:6]:
            if not isinstance(one.get("name"), str):
                continue
            known = [each for each in one.get("arguments") or [] if isinstance(each, dict) and isinstance(each.get("name"), str)]
            self.tried("prompts/get", {"name": one["name"], **({"arguments": {each["name"]: SAMPLE for each in known}} if known else {})})
            if known and self.offers("completions"):
                self.tried("completion/complete", {"ref": {"type": "ref/prompt", "name": one["name"]}, "argument": {"name": known[0]["name"], "value": "a"}})


def main():
    global FAULT
    arguments = sys.argv[1:]
    if "--list-faults" in arguments:
        for one in listed_faults():
            print(json.dumps(one))
        return 0
    if "--fault" in arguments:
        at = arguments.index("--fault")
        FAULT = arguments[at + 1]
        if FAULT not in {one["name"] for one in listed_faults()}:
            print(f"unknown fault: {FAULT}", file=sys.stderr)
            return 2
        del arguments[at : at + 2]
    if len(arguments) >= 2 and arguments[0] == "--run":
        transport = Stdio(arguments[1:])
    elif len(arguments) == 1:
        transport = Http(arguments[0])
    else:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    newest = os.environ.get("PROOF_REVISION", MODERN)
    client = Client(transport, newest if newest in [*LEGACY, MODERN] else MODERN)
    try:
        client.connect()
        client.round()
        if F("works-before-initialized") and not client.modern:
            client.notify("notifications/initialized")
    except (RpcError, NoAnswer, Broken, SessionEnded) as error:
        print(f"cannot go on: {error}", file=sys.stderr)
        return 1
    finally:
        transport.close()
    return 0


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    # Threads that listen must not hold the process.
    os._exit(code)
