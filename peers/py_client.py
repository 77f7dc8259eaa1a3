"""A small client on the Python SDK (`mcp` 2.x), for `cargo xtask peers`.

`python py_client.py ERA URL` speaks HTTP, `python py_client.py ERA COMMAND ARGS…` starts a server and speaks stdio; ERA is
`auto`, `legacy` or `modern`. In each scenario of `proof check-client` it makes the SDK's ordinary calls, as an application
would; nothing here makes up for what the SDK does or fails to do.
"""

import asyncio
import json
import os
import re
import sys
import warnings

import anyio
import mcp_types as types
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.sse import sse_client
from mcp.shared.exceptions import MCPDeprecationWarning

from crossing_calls import CALLS

SCENARIO = os.environ.get("PROOF_SCENARIO", "interop")
MODERN = "2026-07-28"
COUNTER = "proof://counter"

# What a scenario is for may be deprecated in another revision than the one that is spoken.
warnings.simplefilter("ignore", MCPDeprecationWarning)

changed = anyio.Event()


async def attempt(what):
    """Does what the server may well refuse; an application says so and goes on."""
    try:
        return await what
    except (MCPError, RuntimeError, ValueError) as error:
        print("refused:", error, file=sys.stderr)


async def every(verb, member):
    """Every page of a list."""
    items, seen, cursor = [], set(), None
    while True:
        page = await verb(cursor=cursor)
        items += getattr(page, member)
        cursor = page.next_cursor
        if cursor is None:
            return items
        if cursor in seen:
            raise RuntimeError(f"{member} go in circles")
        seen.add(cursor)


async def tools(client):
    return await every(client.list_tools, "tools")


async def resources(client):
    return await every(client.list_resources, "resources")


async def templates(client):
    return await every(client.list_resource_templates, "resource_templates")


async def prompts(client):
    return await every(client.list_prompts, "prompts")


def value(field):
    """What a person would fill in."""
    if "default" in field:
        return field["default"]
    match field.get("type"):
        case "boolean":
            return True
        case "integer" | "number":
            return field.get("minimum", 1)
        case _:
            return field["enum"][0] if "enum" in field else "Ada"


async def elicited(context, params):
    if params.mode == "url":
        return types.ElicitResult(action="accept")
    if SCENARIO == "sep-2322-client-request-state":
        await context.session.call_tool("test_mrtr_unrelated", {})
    schema = params.requested_schema
    fields = schema["properties"]
    # A form whose fields all have defaults is sent back as it came.
    wanted = fields if SCENARIO == "elicitation-sep1034-client-defaults" else schema.get("required", [])
    return types.ElicitResult(action="accept", content={name: value(fields[name]) for name in wanted})


async def completed(context, params):
    said = {"role": "assistant", "model": "none"}
    content = [block for message in params.messages for block in message.content_as_list]
    if params.tools and not any(block.type == "tool_result" for block in content):
        use = types.ToolUseContent(id="use-1", name=params.tools[0].name, input={"a": 17, "b": 25})
        return types.CreateMessageResultWithTools(**said, stop_reason="toolUse", content=use)
    return types.CreateMessageResult(
        **said, stop_reason="endTurn", content=types.TextContent(type="text", text="It is 42.")
    )


async def listed_roots(context):
    return types.ListRootsResult(roots=[types.Root(uri="file:///tmp", name="tmp")])


async def heard(message):
    if isinstance(message, types.ToolListChangedNotification | types.ResourceUpdatedNotification):
        changed.set()


async def logged(params):
    print("log:", params.data, file=sys.stderr)


async def progressed(progress, total, message):
    print("progress:", progress, total, file=sys.stderr)


def options():
    """What is declared: nothing that nobody asks for."""
    elicits = {"elicitation_callback": elicited}
    declared = {
        "elicitation-sep1034-client-defaults": elicits,
        "sep-2322-client-request-state": elicits,
        "hostile.endless-questions": elicits,
        "elicitation": elicits,
        "elicitation-url": elicits,
        "roots": {"list_roots_callback": listed_roots},
        "sampling": {"sampling_callback": completed},
        "sampling-with-tools": {
            "sampling_callback": completed,
            "sampling_capabilities": types.SamplingCapability(tools=types.SamplingToolsCapability()),
        },
        "logging": {"logging_callback": logged, "log_level": "info"},
        "crossing": elicits | {"sampling_callback": completed, "list_roots_callback": listed_roots},
    }
    return declared.get(SCENARIO, {}) | {"message_handler": heard}


async def read_all(client):
    for resource in await resources(client):
        await attempt(client.read_resource(resource.uri))


async def headers(client):
    await tools(client)
    await client.call_tool("test_headers", {})
    await client.call_tool("my-hyphenated-tool", {})
    await read_all(client)
    await client.get_prompt("test_prompt")


async def custom_headers(client):
    await tools(client)
    for call in json.loads(os.environ["MCP_CONFORMANCE_CONTEXT"])["toolCalls"]:
        await client.call_tool(call["name"], call["arguments"])


async def schema_echo(client):
    listed = next(tool for tool in await tools(client) if tool.name == "json_schema_2020_12_tool")
    await client.call_tool("json_schema_echo", {"schema": listed.input_schema})


async def all_resources(client):
    await read_all(client)
    for template in await templates(client):
        await attempt(client.read_resource(re.sub(r"\{\w+\}", "x", template.uri_template)))


async def all_prompts(client):
    for prompt in await prompts(client):
        wanted = {argument.name: "x" for argument in prompt.arguments or []}
        await attempt(client.get_prompt(prompt.name, wanted))


async def completion(client):
    prompt = next(prompt for prompt in await prompts(client) if prompt.arguments)
    argument = {"name": prompt.arguments[-1].name, "value": ""}
    await client.complete(types.PromptReference(name=prompt.name), argument)
    template = (await templates(client))[0].uri_template
    variable = {"name": re.search(r"\{(\w+)\}", template)[1], "value": ""}
    await client.complete(types.ResourceTemplateReference(uri=template), variable)


async def content(client):
    for tool in await tools(client):
        if tool.name.startswith("get_") and tool.name != "get_weather":
            await client.call_tool(tool.name, {})


async def logging(client):
    if client.protocol_version != MODERN:
        await client.set_logging_level("info")
    await client.call_tool("log", {})


async def cancellation(client):
    with anyio.move_on_after(0.5):
        await client.call_tool("slow", {"steps": 50})
    await tools(client)


async def list_changes(client):
    await tools(client)
    if client.protocol_version == MODERN:
        async with client.listen(tools_list_changed=True) as subscription:
            await client.call_tool("toggle_tool", {})
            async for _ in subscription:
                break
    else:
        await client.call_tool("toggle_tool", {})
        with anyio.fail_after(5):
            await changed.wait()
    await tools(client)


async def subscriptions(client):
    if client.protocol_version == MODERN:
        async with client.listen(resource_subscriptions=[COUNTER]) as subscription:
            await client.call_tool("touch_resource", {})
            async for _ in subscription:
                break
        await client.read_resource(COUNTER)
    else:
        await client.subscribe_resource(COUNTER)
        await client.call_tool("touch_resource", {})
        with anyio.fail_after(5):
            await changed.wait()
        await client.read_resource(COUNTER)
        await client.unsubscribe_resource(COUNTER)


async def twice(client):
    await tools(client)
    for message in ("Good day", "Good day, again"):
        result = await client.call_tool("echo", {"message": message})
        print(result.content[0].text)


async def going_on(client):
    """What goes wrong in between is for the next call to get over."""
    await attempt(tools(client))
    for message in ("Good day", "Good day, again"):
        await attempt(client.call_tool("echo", {"message": message}))


def calls(*named):
    """Lists the tools and calls each of these."""

    async def run(client):
        await tools(client)
        for name, arguments in named:
            await client.call_tool(name, arguments)

    return run


async def caching(client):
    await tools(client)
    await tools(client)


async def lists(client):
    for verb in (tools, resources, templates, prompts):
        await verb(client)


async def crossing(client):
    """Everything that a client sees, a line for each step: `cargo xtask gateway-clients` compares the lines."""

    async def show(step, what):
        try:
            value = (await what).model_dump(mode="json", by_alias=True, exclude_none=True)
        except MCPError as error:
            value = {"error": error.error.code}
        print(json.dumps({"step": step, "value": value}))

    async def same(item):
        return item

    for tool in await tools(client):
        await show(f"tool {tool.name}", same(tool))
    for verb, member in ((resources, "uri"), (templates, "uri_template"), (prompts, "name")):
        for item in await verb(client):
            await show(f"item {getattr(item, member)}", same(item))
    for name, arguments in CALLS:
        await show(f"call {name}", client.call_tool(name, arguments))
    for resource in await resources(client):
        await show(f"read {resource.uri}", client.read_resource(resource.uri))
    await show("read unknown", client.read_resource("memo://none"))
    for prompt in await prompts(client):
        wanted = {argument.name: "x" for argument in prompt.arguments or []}
        await show(f"prompt {prompt.name}", client.get_prompt(prompt.name, wanted))


SUM = ("sum", {"a": 2, "b": 3})
# Whatever is not named here lists the tools and calls one, twice.
DEEDS = {
    "initialize": tools,
    "request-metadata": tools,
    "json-schema-ref-no-deref": tools,
    "hostile.icons": tools,
    "hostile.endless-list": tools,
    "hostile.stdout-banner": tools,
    "hostile.lingers": tools,
    "hostile.unsupported-version": tools,
    "untyped-results": resources,
    "tools_call": calls(("add_numbers", {"a": 5, "b": 3})),
    "elicitation-sep1034-client-defaults": calls(("test_client_elicitation_defaults", {})),
    "sse-retry": calls(("test_reconnection", {})),
    "sep-2322-client-request-state": calls(
        *((f"test_mrtr_{name}", {}) for name in ("echo_state", "no_state", "no_result_type"))
    ),
    "http-standard-headers": headers,
    "http-custom-headers": custom_headers,
    "http-invalid-tool-headers": calls(("valid_tool", {"region": "eu"})),
    "json-schema-2020-12-preservation": schema_echo,
    "lists": lists,
    "echo": calls(("echo", {"message": "Good day"}), SUM),
    "fail": calls(("fail", {})),
    "resources": all_resources,
    "prompts": all_prompts,
    "completion": completion,
    "content": content,
    "logging": logging,
    "progress": lambda client: client.call_tool("slow", {}, progress_callback=progressed),
    "cancellation": cancellation,
    "sampling": calls(("sample", {})),
    "sampling-with-tools": calls(("sample_with_tools", {})),
    "elicitation": calls(*((name, {}) for name in ("ask", "ask_form", "ask_two", "ask_in_turn"))),
    "elicitation-url": calls(("ask_url", {})),
    "roots": calls(("list_roots", {})),
    "list-changes": list_changes,
    "subscriptions": subscriptions,
    "caching": caching,
    "crossing": crossing,
    "tasks": calls(("slow", {})),
    "hostile.endless-stream": lambda client: client.call_tool(
        "echo", {"message": "Good day"}, read_timeout_seconds=3, progress_callback=progressed
    ),
    "hostile.structured-otherwise": calls(SUM),
    "hostile.stream-cut": lambda client: client.call_tool("slow", {}, read_timeout_seconds=5),
    "session-ended": going_on,
}


def server(target, arguments):
    if not target.startswith("http"):
        return StdioServerParameters(command=target, args=arguments)
    return sse_client(target) if target.endswith("/sse") else target


async def main(era, target, *arguments):
    mode = MODERN if era == "modern" else era
    info = types.Implementation(name="peer-py-sdk-client", version="1.0.0")
    async with Client(server(target, arguments), mode=mode, client_info=info, **options()) as client:
        await DEEDS.get(SCENARIO, twice)(client)


asyncio.run(main(*sys.argv[1:]))
