"""A small client on langchain-mcp-adapters, for `cargo xtask gateway-clients`: `python py_langchain_client.py URL` prints every
tool and what it returns, content and artefact, a line for each step."""

import asyncio
import json
import sys

from langchain_core.messages.tool import ToolCall
from langchain_mcp_adapters.callbacks import Callbacks
from langchain_mcp_adapters.client import MultiServerMCPClient
from mcp.types import ElicitResult

from crossing_calls import CALLS


async def elicited(mcp_context, params, context):
    fields = params.requestedSchema["properties"] if params.mode == "form" else {}
    content = {name: field.get("default") or field.get("enum", ["Ada"])[0] for name, field in fields.items()}
    return ElicitResult(action="accept", content=content)


async def main(url):
    connections = {"server": {"transport": "streamable_http", "url": url}}
    client = MultiServerMCPClient(connections, callbacks=Callbacks(on_elicitation=elicited))
    offered = {tool.name: tool for tool in await client.get_tools()}
    for name, tool in offered.items():
        value = {"description": tool.description, "schema": tool.args_schema, "metadata": tool.metadata}
        print(json.dumps({"step": f"tool {name}", "value": value}))
    for name, arguments in CALLS:
        if name not in offered:
            continue
        try:
            message = await offered[name].ainvoke(ToolCall(name=name, args=arguments, id="c", type="tool_call"))
            value = {"content": message.content, "artifact": message.artifact, "status": message.status}
        except Exception as error:  # what it raises depends on the tool
            value = {"error": type(error).__name__}
        print(json.dumps({"step": f"call {name}", "value": value}, default=str))
    async with client.session("server") as session:
        for resource in (await session.list_resources()).resources:
            blobs = await client.get_resources("server", uris=[str(resource.uri)])
            value = [{"data": blob.as_string(), "type": blob.mimetype} for blob in blobs if not blob.mimetype or "image" not in blob.mimetype]
            print(json.dumps({"step": f"read {resource.uri}", "value": value}))


asyncio.run(main(sys.argv[1]))
