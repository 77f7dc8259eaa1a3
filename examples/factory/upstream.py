#!/usr/bin/env python3
"""A model of a REST API, made from its OpenAPI description: it keeps items in memory and needs nothing but Python.

    upstream.py FOLDER -- COMMAND…     model the API of a folder on a free port, and run COMMAND with
                                       --base-url and the credentials that api.yaml names
    upstream.py --port PORT FOLDER…    model several, each below /FOLDER/

The member `x-model` of a description says what its operations do; without it, method and path decide.
"""

import base64
import json
import os
import re
import signal
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, quote, unquote, urlsplit

USER, CLIENT, SECRET, TOKEN = "example-user", "example-client", "example-secret", "example-token"
SEEDS = 3
LONGEST_BODY, MOST_ITEMS = 1 << 20, 1000
BAD = {400: "invalid_request", 401: "unauthorized", 404: "not_found", 405: "not_allowed", 409: "conflict",
       413: "too_large", 422: "invalid", 429: "rate_limited"}


class Refusal(Exception):
    def __init__(self, status, message, headers=()):
        super().__init__(message)
        self.status, self.message, self.headers = status, message, dict(headers)


def at(value, pointer):
    """The value at a JSON pointer; None where it is missing."""
    for part in pointer.split("/")[1:]:
        value = value.get(part) if isinstance(value, dict) else None
    return value


def put(body, pointer, value):
    """`body` with a value at a JSON pointer; the whole for the empty pointer."""
    if not pointer:
        return value
    *parents, last = pointer.split("/")[1:]
    here = body
    for part in parents:
        here = here.setdefault(part, {})
    here[last] = value
    return body


def filled(template, facts):
    """A template with {status}, {kind} and {message}."""
    if isinstance(template, dict):
        return {key: filled(value, facts) for key, value in template.items()}
    if isinstance(template, list):
        return [filled(value, facts) for value in template]
    if isinstance(template, str):
        whole = re.fullmatch(r"\{(\w+)\}", template)
        return facts[whole[1]] if whole else re.sub(r"\{(\w+)\}", lambda name: str(facts[name[1]]), template)
    return template


def spaced(name):
    """The words of a name: `firstName` and `first_name` are `First name`."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])|_", " ", name).capitalize()


def nested(pairs):
    """Pairs of a form or a query, where a[b]=1 is a member of an object and a[]=1 or a second a=1 an item of a list."""
    found = {}
    for name, value in pairs:
        first, *inner = [part.rstrip("]") for part in name.split("[")]
        inner = [part for part in inner if part and not part.isdigit()]
        here = found
        for part, key in zip([first, *inner], inner):
            here = here.setdefault(part, {}) if isinstance(here.get(part, {}), dict) else {}
        last = inner[-1] if inner else first
        if last in here or name.endswith("[]"):
            known = here.get(last, [])
            here[last] = (known if isinstance(known, list) else [known]) + [value]
        else:
            here[last] = value
    return found


def multipart(body, kind):
    """The parts of a multipart body: texts, and of files what they are."""
    found, boundary = {}, re.search(r'boundary="?([^";]+)', kind)
    if not boundary:
        raise Refusal(400, "multipart without a boundary")
    for part in body.split(b"--" + boundary[1].encode())[1:-1]:
        head, _, value = part.strip(b"\r\n").partition(b"\r\n\r\n")
        name = re.search(rb'[ ;]name="([^"]*)"', head)
        file = re.search(rb'filename="([^"]*)"', head)
        if name:
            text = value.decode("utf-8", "replace")
            found[name[1].decode()] = {"file_name": file[1].decode(), "size": len(value)} if file else text
    return found


class Model:
    """One API: its operations, its items."""

    def __init__(self, description):
        self.description = description
        self.model = description.get("x-model", {})
        servers = description.get("servers") or [{"url": description.get("basePath", "")}]
        self.base = urlsplit(servers[0]["url"]).path.rstrip("/")
        self.items, self.busy, self.lock = {}, {}, threading.Lock()
        self.operations = []
        for path, item in description["paths"].items():
            pattern = re.sub(r"\\\{.+?\\\}", "([^/]+)", re.escape(path))
            for method, operation in item.items():
                if method in ("get", "put", "post", "delete", "patch"):
                    self.operations.append((method, re.compile(pattern), path, operation))
        # What is written out wins over what is a parameter.
        self.operations.sort(key=lambda one: one[2].count("{"))
        for method, _, path, operation in self.operations:
            kind = self.does(path, operation, method)
            if kind["do"] in ("list", "create", "get"):
                self.seed(kind["of"])

    def does(self, path, operation, method):
        """What an operation does, and to which collection."""
        words = [word for word in re.sub(r"\.json$", "", path).split("/") if word]
        names = [re.sub(r"\.json$", "", word) for word in words if not word.startswith("{")]
        is_one = words[-1].startswith("{")
        inferred = {"get": "get" if is_one else "list", "post": "update" if is_one else "create"}
        if method == "post" and not is_one and len(words) > 2 and words[-2].startswith("{") and words[-1] not in self.collections():
            kind = {"do": "act", "of": names[-2]}
        else:
            kind = {"do": inferred.get(method, "delete" if method == "delete" else "update"), "of": (names or ["items"])[-1]}
        return kind | operation.get("x-model", {})

    def collections(self):
        return self.model.get("of") or {self.name_of(path) for path in self.description["paths"] if not path.endswith("}")
                                        and "post" in self.description["paths"][path] and "get" in self.description["paths"][path]}

    @staticmethod
    def name_of(path):
        return [word for word in path.split("/") if word and not word.startswith("{")][-1]

    def of(self, name):
        return self.model.get("all", {}) | self.model.get("of", {}).get(name, {})

    def schema(self, value):
        while isinstance(value, dict) and "$ref" in value:
            value = at(self.description, value["$ref"].lstrip("#")) or {}
        if "allOf" in value:
            members = [self.schema(part) for part in value["allOf"]]
            return {"type": "object", "properties": {k: v for part in members for k, v in part.get("properties", {}).items()}}
        return self.schema(value["oneOf"][0]) if "oneOf" in value else value

    def sample(self, schema, name, number):
        """A value that fits a schema: the same one each time for the same number."""
        schema = self.schema(schema)
        kind = schema.get("type", "object" if "properties" in schema else "string")
        kind = kind[0] if isinstance(kind, list) else kind
        example = schema.get("example", (schema.get("examples") or [None])[0])
        if example is not None:
            if isinstance(example, str) and name == "id":
                return re.sub(r"\d+(?=\D*$)", lambda last: str(int(last[0]) + number - 1).zfill(len(last[0])), example)
            return example + number - 1 if name == "id" and isinstance(example, int) else example
        if "enum" in schema:
            return next(value for value in schema["enum"] if value is not None)
        if kind == "object":
            return {key: self.sample(value, key, number) for key, value in schema.get("properties", {}).items()}
        if kind == "array":
            return [self.sample(schema.get("items", {}), name, number)] if schema.get("items") else []
        texts = {"email": f"{name}{number}@example.com".lower(), "uri": f"https://example.com/{name}/{number}",
                 "date": f"2026-01-{number % 28 + 1:02}", "date-time": f"2026-01-{number % 28 + 1:02}T09:00:00Z"}
        words = f"{spaced(name)} {number}"
        text = texts.get(schema.get("format"), words)[:schema.get("maxLength")]
        return {"integer": number, "number": number + 0.5, "boolean": False}.get(kind, text)

    def fresh(self, name, number):
        facts = self.of(name)
        schemas = self.description.get("components", self.description)
        schema = schemas.get("schemas", schemas.get("definitions", {})).get(facts.get("schema"), {"type": "object"})
        item = {key: self.sample(value, "id" if key == facts.get("id", "id") else key, number)
                for key, value in self.schema(schema).get("properties", {}).items()}
        if str(item.get(facts.get("id", "id"), "Id ")).startswith("Id "):
            item[facts.get("id", "id")] = f"{name}-{number}"
        return item

    def seed(self, name):
        if name not in self.items:
            self.items[name] = [(self.fresh(name, number), {}) for number in range(1, SEEDS + 1)]

    def answer(self, method, target, headers, body):
        """Status, headers and body of the answer to a request."""
        url = urlsplit(target)
        if method == "POST" and url.path.rstrip("/").endswith("token") and not self.matching(method, url.path)[0]:
            return self.token(headers, body)
        try:
            with self.lock:
                return self.run(method, url, headers, body)
        except Refusal as refusal:
            facts = {"status": refusal.status, "kind": BAD.get(refusal.status, "error"), "message": refusal.message}
            shape = self.model.get("errors", {"error": {"code": "{kind}", "message": "{message}"}})
            return refusal.status, refusal.headers, filled(shape, facts)

    def matching(self, method, path):
        if not path.startswith(self.base):
            return [], False
        fits = [(one, found) for one in self.operations if (found := one[1].fullmatch(path[len(self.base):]))]
        # Of several, those with as few parameters as the first.
        fits = [pair for pair in fits if pair[0][2].count("{") == fits[0][0][2].count("{")]
        return [pair for pair in fits if pair[0][0] == method.lower()], bool(fits)

    def run(self, method, url, headers, body):
        fits, is_known = self.matching(method, url.path)
        if not fits:
            raise Refusal(405 if is_known else 404, "No such operation")
        (_, _, path, operation), found = fits[0]
        query = nested(parse_qsl(url.query, keep_blank_values=True))
        self.authorize(operation, headers, query)
        kind = self.does(path, operation, method.lower())
        if kind.get("busy", 0) > self.busy.get(path, 0):
            self.busy[path] = self.busy.get(path, 0) + 1
            raise Refusal(429, "Too many requests", {"Retry-After": "1"})
        names = [unquote(value) for value in found.groups()]
        words = [word for word in path.split("/") if word]
        parents = dict(zip([re.sub(r"\.json$", "", word) for word, after in zip(words, words[1:]) if after.startswith("{")], names))
        content = self.content(headers, body)
        facts = self.of(kind["of"])
        self.seed(kind["of"])
        return getattr(self, kind["do"])(kind, facts, query, content, parents, names)

    def content(self, headers, body):
        kind = headers.get("content-type", "")
        try:
            if "urlencoded" in kind:
                return nested(parse_qsl(body.decode(), keep_blank_values=True))
            if "multipart" in kind:
                return multipart(body, kind)
            return json.loads(body) if body else {}
        except ValueError:
            raise Refusal(400, "The body cannot be read") from None

    def authorize(self, operation, headers, query):
        schemes = self.description.get("components", {}).get("securitySchemes", self.description.get("securityDefinitions", {}))
        wanted = operation.get("security", self.description.get("security", []))
        basic = "Basic " + base64.b64encode(f"{USER}:{SECRET}".encode()).decode()

        def is_given(name):
            scheme = schemes[name]
            if scheme["type"] == "apiKey":
                key = headers.get(scheme["name"].lower()) if scheme["in"] == "header" else query.pop(scheme["name"], None)
                return key is not None and key.split(" ")[-1].removeprefix("token=") == SECRET
            given = headers.get("authorization")
            if scheme["type"] == "oauth2":
                return given in (f"Bearer {TOKEN}", f"Bearer {SECRET}")
            return given in (basic, f"Bearer {SECRET}")

        if wanted and not any(all([is_given(name) for name in one]) for one in wanted):
            raise Refusal(401, "The credentials are missing or wrong")

    @staticmethod
    def token(headers, body):
        form = nested(parse_qsl(body.decode("utf-8", "replace")))
        basic = "Basic " + base64.b64encode(f"{CLIENT}:{SECRET}".encode()).decode()
        is_known = headers.get("authorization") == basic or (form.get("client_id"), form.get("client_secret")) == (CLIENT, SECRET)
        if form.get("grant_type") != "client_credentials" or not is_known:
            return 401, {}, {"error": "invalid_client"}
        return 200, {}, {"access_token": TOKEN, "token_type": "Bearer", "expires_in": 3600}

    def find(self, kind, facts, names, parents):
        if names:
            wanted = names[kind.get("by", -1)]
            for item, below in self.items[kind["of"]]:
                if str(item.get(facts.get("id", "id"))) == wanted and all(parents.get(k, v) == v for k, v in below.items()):
                    return item
        raise Refusal(404, f"No {facts.get('one_name', 'item')} with this id")

    def shown(self, facts, item, status=200):
        body = json.loads(json.dumps(facts.get("about", {})))
        return status, {}, put(body, facts.get("one", ""), item)

    def list(self, kind, facts, query, content, parents, names):
        parents = {name: parents[name] for name in parents if name in self.items}
        for name, wanted in parents.items():
            if wanted not in [str(item.get(self.of(name).get("id", "id"))) for item, _ in self.items[name]]:
                raise Refusal(404, f"No {self.of(name).get('one_name', 'item')} with this id")
        asked = query | (content if isinstance(content, dict) else {})
        found = [item for item, below in self.items[kind["of"]] if all(below.get(k, v) == v for k, v in parents.items())]
        for name, value in asked.items():
            deep = value if isinstance(value, dict) else {name: value}
            for key, one in deep.items():
                if any(key in item for item in found) and key not in kind.get("unfiltered", []):
                    found = [item for item in found if str(item.get(key)).lower() == str(one).lower()]
        text = next((asked[name] for name in ("q", "query", "search", "term") if isinstance(asked.get(name), str)), "")
        if text and kind.get("search", True):
            found = [item for item in found if text.lower() in json.dumps(item).lower()]
        return self.page(found, facts, asked, kind)

    def page(self, found, facts, asked, kind):
        paging = facts.get("paging", {}) if kind.get("paged", True) else {}
        asked = asked | {f"{key}[{inner}]": one for key, value in asked.items() if isinstance(value, dict) for inner, one in value.items()}
        style, name, total = paging.get("style"), paging.get("ask", "cursor"), len(found)
        try:
            size = max(1, min(int(asked.get(paging.get("size"), paging.get("usual", 25))), 100))
            given = asked.get(name)
            first = paging.get("first", 1)
            if style in ("page", "link"):
                begin = (int(first if given is None else given) - first) * size
            elif style == "after":
                ids = [str(item.get(facts.get("id", "id"))) for item in found]
                begin = ids.index(str(given)) + 1 if given is not None else 0
            elif style in ("cursor", "url"):
                begin = int(str(given).removeprefix("page-")) if given else 0
            else:
                begin = int(given or 0) - paging.get("base", 0) if style == "offset" and given else 0
        except ValueError:
            raise Refusal(400, f"`{name}` is not a place in this list") from None
        part = found[begin:begin + size] if style else found
        body, headers, end = json.loads(json.dumps(facts.get("about", {}))), {}, begin + len(part)
        body = put(body, facts.get("items", "/items"), part)
        is_more = bool(style) and end < total
        last = found[end - 1].get(facts.get("id", "id")) if is_more else None
        after = {"after": last, "page": begin // size + 1 + first, "link": begin // size + 1 + first, "cursor": f"page-{end}",
                 "url": f"page-{end}", "offset": end + paging.get("base", 0)}.get(style)
        link = f"{self.base}/?{quote(paging.get('size') or 'limit')}={size}&{quote(name)}={after}"
        if style == "link" and is_more:
            headers["Link"] = f'<{link}>; rel="next"'
        if paging.get("next") and isinstance(body, dict):
            put(body, paging["next"], (link if style == "url" else after) if is_more else None)
        for member, value in (("total", total), ("more", is_more)):
            if paging.get(member) and isinstance(body, dict):
                put(body, paging[member], value)
        return 200, headers, body

    def get(self, kind, facts, query, content, parents, names):
        return self.shown(facts, self.find(kind, facts, names, parents))

    def create(self, kind, facts, query, content, parents, names):
        content = at(content, facts["body"]) if facts.get("body") and isinstance(content, dict) else content
        content = content if isinstance(content, dict) else {"value": content}
        items, unique = self.items[kind["of"]], facts.get("unique")
        if unique and any(unique in content and item.get(unique) == content[unique] for item, _ in items):
            raise Refusal(409, f"There is one with this {unique} already")
        if len(items) >= MOST_ITEMS:
            raise Refusal(422, "There are too many")
        parents = {name: parents[name] for name in parents if name in self.items}
        number = self.busy[kind["of"], "made"] = self.busy.get((kind["of"], "made"), SEEDS) + 1
        item = self.fresh(kind["of"], number) | kind.get("set", {})
        self.change(item, facts, content)
        items.append((item, parents))
        return self.shown(facts, item, kind.get("status", 201))

    def update(self, kind, facts, query, content, parents, names):
        content = at(content, facts["body"]) if facts.get("body") and isinstance(content, dict) else content
        item = self.find(kind, facts, names, parents)
        self.change(item, facts, content or {})
        return self.shown(facts, item)

    @staticmethod
    def change(item, facts, content):
        """Takes over members, whatever the case of their names; never the id."""
        names = {name.lower(): name for name in item}
        for name, value in content.items():
            if name != facts.get("id", "id"):
                item[names.get(name.lower(), name)] = value

    def add(self, kind, facts, query, content, parents, names):
        items = self.items[kind["of"]]
        if len(items) >= MOST_ITEMS:
            raise Refusal(422, "There are too many")
        items.append((self.fresh(kind["of"], 1) | {facts.get("id", "id"): names[-1]}, {}))
        return 204, {}, None

    def act(self, kind, facts, query, content, parents, names):
        item = self.find({**kind, "by": kind.get("by", -1)}, facts, names, parents)
        item.update(kind.get("set", {}))
        return self.shown(facts, item)

    def delete(self, kind, facts, query, content, parents, names):
        item = self.find(kind, facts, names, parents)
        self.items[kind["of"]] = [pair for pair in self.items[kind["of"]] if pair[0] is not item]
        return (200, {}, kind["gives"]) if "gives" in kind else (204, {}, None)

    def fixed(self, kind, facts, query, content, parents, names):
        return kind.get("status", 200), {}, kind["gives"]

    def file(self, kind, facts, query, content, parents, names):
        self.find(kind, facts, names, parents)
        return 200, {"Content-Type": kind["media"]}, base64.b64decode(kind["data"])


def handler(models):
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True
        timeout = 60

        def serve(self):
            length = int(self.headers.get("Content-Length") or 0)
            if length > LONGEST_BODY:
                self.close_connection = True
                return self.reply(413, {}, {"message": "The body is too large"})
            body, (model, target) = self.rfile.read(length), self.model()
            if not model:
                return self.reply(404, {}, {"message": "No such API"})
            headers = {name.lower(): value for name, value in self.headers.items()}
            return self.reply(*model.answer(self.command, target, headers, body))

        def model(self):
            if "" in models:
                return models[""], self.path
            _, name, *rest = self.path.split("/", 2)
            if name in models:
                return models[name], "/" + "".join(rest)
            # The address of tokens stands at the root.
            return (next(iter(models.values())) if self.path.endswith("token") else None), self.path

        def reply(self, status, headers, body):
            data = b"" if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
            self.send_response(status)
            for name, value in (({"Content-Type": "application/json"} if data else {}) | headers).items():
                self.send_header(name, value)
            if status != 204:
                self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = serve

        def log_message(self, *_):
            pass

    return Handler


def load(folder):
    with open(os.path.join(folder, "openapi.json"), encoding="utf-8") as file:
        return Model(json.load(file))


def credentials(folder):
    """The variables that api.yaml names, with what the model accepts."""
    with open(os.path.join(folder, "api.yaml"), encoding="utf-8") as file:
        named = re.findall(r"(\w+): \{[^}]*\benv: (\w+)", file.read())
    return {variable: {"username": USER, "client_id": CLIENT}.get(member, SECRET) for member, variable in named}


def listen(models, port):
    server = ThreadingHTTPServer(("127.0.0.1", port), handler(models))
    server.daemon_threads = True
    return server


def run_with(folder, command):
    model = load(folder)
    server = listen({"": model}, 0)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    base = f"http://127.0.0.1:{server.server_port}{model.base}"
    child = subprocess.Popen([*command, "--base-url", base], env=credentials(folder) | os.environ)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda number, _: child.send_signal(number))
    return child.wait()


def main(words):
    if words[1:2] == ["--"] and words[2:]:
        return run_with(words[0], words[2:])
    if words[:1] == ["--port"] and words[2:]:
        server = listen({os.path.basename(os.path.normpath(folder)): load(folder) for folder in words[2:]}, int(words[1]))
        print(f"serving http://127.0.0.1:{server.server_port}", file=sys.stderr, flush=True)
        return server.serve_forever()
    sys.exit(__doc__)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
