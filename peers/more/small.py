"""The same small server on one of many frameworks for Python, for `cargo xtask peers --more`.

`python small.py FRAMEWORK` speaks on its standard streams, or listens on the loopback port in PORT, path /mcp, where the
framework speaks HTTP alone. Each framework is used as its own documentation shows: what a judge finds here is its doing.
"""

import os
import sys

PORT = int(os.environ.get("PORT", "0"))


def echo(text: str) -> str:
    """Say the text back"""
    return text


def add(a: int, b: int) -> int:
    """Add two whole numbers"""
    return a + b


async def echo_later(text: str) -> str:
    """Say the text back"""
    return text


async def add_later(a: int, b: int) -> int:
    """Add two whole numbers"""
    return a + b


def greeting() -> str:
    """A friendly word"""
    return "Good day."


def summarize(text: str) -> str:
    """Ask for a summary of a text"""
    return f"Sum this up in one sentence: {text}"


URI = "memo://greeting"


def chuk(http: bool = False) -> None:
    from chuk_mcp_server import ChukMCPServer

    server = ChukMCPServer("peer-chuk", version="1.0.0")
    server.tool(echo)
    server.tool(add)
    server.resource(URI)(greeting)
    server.prompt(summarize)
    if http:
        server.run(host="127.0.0.1", port=PORT, stdio=False)
    else:
        server.run(stdio=True)


def chuk_http() -> None:
    chuk(http=True)


def anodize() -> None:
    from anodize_mcp import AnodizeMCP

    server = AnodizeMCP("peer-anodize")
    server.tool(echo)
    server.tool(add)
    server.resource(URI)(greeting)
    server.prompt(summarize)
    server.run()


def mcpatom(http: bool = False) -> None:
    from mcpatom import Server

    server = Server("peer-mcpatom")
    server.tool(echo)
    server.tool(add)
    server.resource(URI)(greeting)
    server.prompt(summarize)
    if http:
        server.serve_http(PORT)
    else:
        server.serve_stdio()


def mcpatom_http() -> None:
    mcpatom(http=True)


def easy() -> None:
    from easy_mcp import EasyMCP

    server = EasyMCP(name="peer-easy", version="1.0.0")
    server.tool()(echo)
    server.tool()(add)
    server.resource(URI)(greeting)
    server.prompt()(summarize)
    server.run()


def craft() -> None:
    from mcp_craft import MCPApplication

    server = MCPApplication(name="peer-craft", version="1.0.0", description="A small server")
    server.tool()(echo_later)
    server.tool()(add_later)
    server.run()


def tiny_aiohttp() -> None:
    from aiohttp import web
    from aiohttp_tiny_mcp import Endpoint, Registry
    from pydantic import BaseModel

    class Nothing(BaseModel):
        pass

    class Text(BaseModel):
        text: str

    class Pair(BaseModel):
        a: int
        b: int

    registry = Registry("peer-tiny-aiohttp", "1.0.0")

    @registry.tool
    async def echo(args: Text) -> str:
        """Say the text back"""
        return args.text

    @registry.tool
    async def add(args: Pair) -> str:
        """Add two whole numbers"""
        return str(args.a + args.b)

    @registry.resource(URI, mime_type="text/plain")
    async def greeting(args: Nothing) -> str:
        """A friendly word"""
        return "Good day."

    web.run_app(Endpoint(registry).app("/mcp"), host="127.0.0.1", port=PORT)


def minimcp(http: bool = False) -> None:
    from minimcp import HTTPTransport, MiniMCP, StdioTransport

    server = MiniMCP(name="peer-minimcp", version="1.0.0")
    server.tool()(echo)
    server.tool()(add)
    server.resource(URI)(greeting)
    server.prompt()(summarize)
    if http:
        serve(HTTPTransport(server).as_starlette("/mcp"))
    else:
        import anyio

        anyio.run(StdioTransport(server).run)


def minimcp_http() -> None:
    minimcp(http=True)


def fastapi() -> None:
    from fastapi import FastAPI
    from fastapi_mcp_router import MCPRouter

    router = MCPRouter()
    router.tool()(echo_later)
    router.tool()(add_later)
    app = FastAPI()
    app.include_router(router, prefix="/mcp")
    serve(app)


def falcon() -> None:
    import falcon.asgi
    import falcon_mcp_server

    server = falcon_mcp_server.MCP(name="peer-falcon", version="1.0.0")
    server.add_tool(echo_later, name="echo")
    server.add_tool(add_later, name="add")
    app = falcon.asgi.App()
    app.add_route("/mcp", server)
    serve(app)


def fastmcp1(http: bool = False) -> None:
    """The FastMCP of the first version of the official SDK."""
    from mcp.server.fastmcp import FastMCP

    server = FastMCP("peer-fastmcp1", host="127.0.0.1", port=PORT)
    server.tool()(echo)
    server.tool()(add)
    server.resource(URI)(greeting)
    server.prompt()(summarize)
    server.run("streamable-http" if http else "stdio")


def fastmcp1_http() -> None:
    fastmcp1(http=True)


def serve(app: object) -> None:
    import uvicorn

    uvicorn.run(app, host="127.0.0.1", port=PORT, log_level="warning")


if __name__ == "__main__":
    frameworks = {
        name.replace("_", "-"): run
        for name, run in list(globals().items())
        if callable(run) and name not in ("echo", "add", "echo_later", "add_later", "greeting", "summarize", "serve")
    }
    if len(sys.argv) != 2 or sys.argv[1] not in frameworks:
        sys.exit(f"usage: [PORT=…] small.py {' | '.join(frameworks)}")
    # A framework of this name would be hidden by this folder otherwise.
    sys.path.remove(os.path.dirname(os.path.abspath(__file__)))
    frameworks[sys.argv[1]]()
