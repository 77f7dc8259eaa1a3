"""A small, faultless server on the Python SDK (`mcp` 2.x), for `cargo xtask peers`.

`python py_sdk.py stdio` speaks on its standard streams; `python py_sdk.py http` listens on the loopback port in PORT,
path /mcp. It serves every revision that the SDK serves and uses the SDK as its own documentation shows: what a judge
finds here is the SDK's doing.
"""

import os
import sys
from typing import Annotated

import anyio
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp_types import ToolAnnotations
from pydantic import BaseModel, Field

server = MCPServer("peer-py-sdk", version="1.0.0")
READ_ONLY = ToolAnnotations(read_only_hint=True)


class Sum(BaseModel):
    sum: int


@server.tool(annotations=READ_ONLY, structured_output=False)
def echo(text: Annotated[str, Field(description="What to say back")]) -> str:
    """Say the text back"""
    return text


@server.tool(annotations=READ_ONLY)
def add(a: int, b: int) -> Sum:
    """Add two whole numbers"""
    return Sum(sum=a + b)


@server.tool(annotations=READ_ONLY, structured_output=False)
async def countdown(steps: Annotated[int, Field(ge=1, le=100, description="How many steps to take")], ctx: Context) -> str:
    """Count down, one step every 20 ms, reporting progress"""
    for step in range(1, steps + 1):
        await anyio.sleep(0.02)
        await ctx.report_progress(step, steps)
    return f"counted {steps} steps"


@server.resource("memo://greeting", name="greeting", mime_type="text/plain")
def greeting() -> str:
    """A friendly word"""
    return "Good day."


@server.prompt()
def summarize(text: Annotated[str, Field(description="What to sum up")]) -> str:
    """Ask for a summary of a text"""
    return f"Sum this up in one sentence:\n\n{text}"


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["stdio"]:
            server.run("stdio")
        case ["http"]:
            server.run("streamable-http", host="127.0.0.1", port=int(os.environ["PORT"]))
        case _:
            sys.exit("usage: py_sdk.py stdio | PORT=… py_sdk.py http")
