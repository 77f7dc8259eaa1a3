"""Judges the strict tools of `proof eval` with a validator that is not ours: `jsonschema`, and the rules of structured outputs.

    strict.py serve PORT LOG           a model's endpoint (Responses API) that calls the tool which the prompt names
    strict.py judge TOOLS TRACE LOG    what came of it: TRACE is what `proof record` saw between `proof` and the server

The prompt is `NAME WAY`. Way 0 gives `null` wherever the schema allows it, way 1 gives values. LOG has one JSON object a line.
"""

import json
import re
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from jsonschema import Draft202012Validator, FormatChecker
from jsonschema.exceptions import SchemaError
from jsonschema.validators import validator_for

# What structured outputs take: https://platform.openai.com/docs/guides/structured-outputs
WORDS = {
    "type", "title", "description", "enum", "const", "properties", "required", "additionalProperties", "items", "anyOf",
    "$ref", "$defs", "pattern", "format", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf",
    "minItems", "maxItems",
}
FORMATS = {
    "date-time": "2026-11-27T10:00:00Z", "date": "2026-11-27", "time": "10:00:00Z", "duration": "PT1S",
    "email": "a@example.com", "hostname": "example.com", "ipv4": "127.0.0.1", "ipv6": "::1", "uri": "https://example.com/",
    "uuid": "7d444840-9dc0-41d1-b245-5ffdce74fad2",
}
REFUSAL = re.compile(r"invalid (argument|param|type|input)|validation|expected .* received|additional propert|is required", re.I)


def problems(schema, place=""):
    """Why a schema is not strict."""
    if not isinstance(schema, dict):
        return [f"{place}: not an object"]
    if "$ref" in schema:
        return [] if set(schema) == {"$ref"} else [f"{place}: members beside $ref"]
    found = [f"{place}: {word}" for word in schema if word not in WORDS]
    kinds = schema.get("type", [])
    kinds = kinds if isinstance(kinds, list) else [kinds]
    if not kinds and "anyOf" not in schema:
        found.append(f"{place}: no type")
    if "object" in kinds:
        if schema.get("additionalProperties") is not False:
            found.append(f"{place}: open")
        if sorted(schema.get("required", [])) != sorted(schema.get("properties", {"": 0})):
            found.append(f"{place}: not all members are required")
    if "array" in kinds and "items" not in schema:
        found.append(f"{place}: items of any kind")
    for word in ("properties", "$defs"):
        for name, one in schema.get(word, {}).items():
            found += problems(one, f"{place}/{word}/{name}")
    for at, one in enumerate(schema.get("anyOf", [])):
        found += problems(one, f"{place}/anyOf/{at}")
    return found + (problems(schema["items"], f"{place}/items") if "items" in schema else [])


def value(schema, root, way, depth=0):
    """A value of a strict schema."""
    if "$ref" in schema:
        target = root
        for part in schema["$ref"].split("/")[1:]:
            target = target[part.replace("~1", "/").replace("~0", "~")]
        return value(target, root, way, depth + 1)
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return schema["enum"][-1 if way == 0 else 0]
    kinds = schema.get("type")
    kinds = kinds if isinstance(kinds, list) else [kinds]
    if "anyOf" in schema:
        nulls = [one for one in schema["anyOf"] if one.get("type") == "null"]
        others = [one for one in schema["anyOf"] if one.get("type") != "null"]
        return None if nulls and (way == 0 or depth > 5) else value(others[0], root, way, depth + 1)
    if "null" in kinds and (way == 0 or depth > 5):
        return None
    kind = next(kind for kind in kinds if kind != "null")
    if kind == "object":
        return {name: value(one, root, way, depth + 1) for name, one in schema["properties"].items()}
    if kind == "array":
        return [value(schema["items"], root, way, depth + 1) for _ in range(max(way, schema.get("minItems", 0)))]
    if kind in ("integer", "number"):
        least = schema.get("minimum", schema.get("exclusiveMinimum", 0) + ("exclusiveMinimum" in schema))
        return min(max(least, 1), schema.get("maximum", max(least, 1)))
    return way == 1 if kind == "boolean" else FORMATS.get(schema.get("format"), "note.txt")


class Endpoint(BaseHTTPRequestHandler):
    log = None
    seen = set()

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        prompt = next(item["content"] for item in body["input"] if item.get("role") == "user")
        name, way = prompt.rsplit(" ", 1)
        tool = next(tool for tool in body["tools"] if tool["name"] == name)
        is_first = not any(item.get("type") == "function_call_output" for item in body["input"])
        output = self.called(tool, int(way)) if is_first else None
        done = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "done"}]}
        answer = {"object": "response", "status": "completed", "output": [output or done], "usage": {"input_tokens": 1, "output_tokens": 1}}
        text = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def called(self, tool, way):
        """The call, if the schema is accepted and its arguments are."""
        schema, name = tool["parameters"], tool["name"]
        if name not in self.seen:
            self.seen.add(name)
            found = problems(schema) if tool.get("strict") is True else ["not sent as strict"]
            try:
                Draft202012Validator.check_schema(schema)
            except SchemaError as error:
                found.append(error.message)
            self.tell({"tool": name, "problems": found})
        arguments = value(schema, schema, way)
        misfit = next(Draft202012Validator(schema, format_checker=FormatChecker()).iter_errors(arguments), None)
        if misfit:
            self.tell({"unmade": name, "way": way, "why": misfit.message[:200]})
            return None
        self.tell({"call": name, "way": way, "arguments": arguments})
        call = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": name}
        return call | {"arguments": json.dumps(arguments)}

    def tell(self, line):
        self.log.write(json.dumps(line) + "\n")
        self.log.flush()

    def log_message(self, *_):
        pass


def has_null(value):
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else []
    return value is None or any(map(has_null, inner))


def messages(trace):
    for line in open(trace, encoding="utf-8"):
        frame = json.loads(line)
        sent = frame.get("line")
        for message in sent if isinstance(sent, list) else [sent]:
            if isinstance(message, dict):
                yield frame["from"], message


def judge(tools, trace, log):
    lines = [json.loads(line) for line in open(log, encoding="utf-8")]
    schemas = {tool["name"]: tool["inputSchema"] for tool in json.load(open(tools, encoding="utf-8"))["tools"]}
    asked, complaints, refused, accepted = {}, [], [], 0
    for tool in (line for line in lines if line.get("problems")):
        complaints.append(f"{tool['tool']} is not strict: {tool['problems'][:3]}")
    for sender, message in messages(trace):
        if sender == "client" and message.get("method") == "tools/call":
            name, arguments = message["params"]["name"], message["params"].get("arguments", {})
            asked[message["id"]] = name
            schema = schemas[name]
            misfit = next(validator_for(schema, Draft202012Validator)(schema).iter_errors(arguments), None)
            if misfit:
                complaints.append(f"{name}: sent {json.dumps(arguments)[:200]}: {misfit.message[:200]}")
        elif sender == "server" and message.get("id") in asked:
            name = asked.pop(message["id"])
            result = message.get("result", {})
            text = " ".join(block.get("text", "") for block in result.get("content", []))
            is_refused = message.get("error", {}).get("code") == -32602 or result.get("isError") and REFUSAL.search(text)
            said = message.get("error", {}).get("message", text)
            refused += [f"{name}: {said[:200]}"] if is_refused else []
            accepted += not is_refused
    calls = [line for line in lines if "call" in line]
    print(json.dumps({
        "strict": sum("tool" in line for line in lines),
        "calls": len(calls),
        "withNull": sum(has_null(line["arguments"]) for line in calls),
        "unmade": [f"{line['unmade']}: {line['why']}" for line in lines if "unmade" in line],
        "accepted": accepted, "refused": refused, "complaints": complaints,
    }))


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        Endpoint.log = open(sys.argv[3], "w", encoding="utf-8")
        ThreadingHTTPServer(("127.0.0.1", int(sys.argv[2])), Endpoint).serve_forever()
    else:
        judge(*sys.argv[2:5])
