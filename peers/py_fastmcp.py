"""A small, faultless server on FastMCP for Python (PyPI `fastmcp`), for `cargo xtask peers`: a framework on the official
Python SDK 2.x.

`python py_fastmcp.py stdio` speaks on its standard streams; `python py_fastmcp.py http` listens on the loopback port in
PORT, path /mcp, which is how it is judged. It uses the framework as its own documentation shows: what a judge finds here is the framework's doing,
or the SDK's.
"""

import asyncio
import os
import sys
from typing import Annotated

from fastmcp import Context, FastMCP
from pydantic import BaseModel, Field

server = FastMCP("peer-py-fastmcp", version="1.0.0")
READ_ONLY = {"readOnlyHint": True}


class Sum(BaseModel):
    sum: int


@server.tool(annotations=READ_ONLY)
def echo(text: Annotated[str, Field(description="What to say back")]) -> str:
    """Say the text back"""
    return text


@server.tool(annotations=READ_ONLY)
def add(a: int, b: int) -> Sum:
    """Add two whole numbers"""
    return Sum(sum=a + b)


@server.tool(annotations=READ_ONLY)
async def countdown(steps: Annotated[int, Field(ge=1, le=100, description="How many steps to take")], ctx: Context) -> str:
    """Count down, one step every 20 ms, reporting progress"""
    for step in range(1, steps + 1):
        await asyncio.sleep(0.02)
        await ctx.report_progress(step, steps)
    return f"counted {steps} steps"


@server.resource("memo://greeting", name="greeting", mime_type="text/plain")
def greeting() -> str:
    """A friendly word"""
    return "Good day."


@server.prompt
def summarize(text: Annotated[str, Field(description="What to sum up")]) -> str:
    """Ask for a summary of a text"""
    return f"Sum this up in one sentence:\n\n{text}"


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["stdio"]:
            server.run("stdio", show_banner=False)
        case ["http"]:
            server.run(
                "http",
                show_banner=False,
                host="127.0.0.1",
                port=int(os.environ["PORT"]),
                host_origin_protection="auto",
            )
        case _:
            sys.exit("usage: py_fastmcp.py stdio | PORT=… py_fastmcp.py http")
