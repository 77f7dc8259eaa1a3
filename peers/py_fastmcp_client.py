"""A small client on fastmcp (4.x), for `cargo xtask gateway-clients`: `python py_fastmcp_client.py URL` prints everything that
it sees, a line for each step."""

import asyncio
import json
import sys

from fastmcp import Client
from fastmcp.client.elicitation import ElicitResult

from crossing_calls import CALLS


async def elicited(message, response_type, params, context):
    fields = params.requestedSchema["properties"] if hasattr(params, "requestedSchema") else {}
    fields = fields or getattr(params, "requested_schema", {}).get("properties", {})
    return ElicitResult(action="accept", content={name: value(field) for name, field in fields.items()})


def value(field):
    if "default" in field:
        return field["default"]
    match field.get("type"):
        case "boolean":
            return True
        case "integer" | "number":
            return field.get("minimum", 1)
        case _:
            return field["enum"][0] if "enum" in field else "Ada"


async def sampled(messages, params, context):
    return "It is 42."


def shown(found):
    dump = getattr(found, "model_dump", None)
    if dump:
        return dump(mode="json", by_alias=True, exclude_none=True)
    if isinstance(found, list):
        return [shown(item) for item in found]
    return found


async def main(target):
    async def show(step, what):
        try:
            found = shown(await what)
        except Exception as error:  # what each method raises is its own
            found = {"error": type(error).__name__}
        print(json.dumps({"step": step, "value": found}))

    async with Client(target, elicitation_handler=elicited, sampling_handler=sampled, roots=["file:///tmp"]) as client:
        for verb in ("list_tools", "list_resources", "list_resource_templates", "list_prompts"):
            for item in await getattr(client, verb)():
                item = shown(item)
                name = item.get("uri") or item.get("uriTemplate") or item["name"]
                print(json.dumps({"step": f"{verb} {name}", "value": item}))
        for name, arguments in CALLS:
            await show(f"call {name}", client.call_tool_mcp(name, arguments))
        for resource in await client.list_resources():
            await show(f"read {resource.uri}", client.read_resource(resource.uri))
        for prompt in await client.list_prompts():
            wanted = {argument.name: "x" for argument in prompt.arguments or []}
            await show(f"prompt {prompt.name}", client.get_prompt(prompt.name, wanted))


asyncio.run(main(sys.argv[1]))
