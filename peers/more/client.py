"""The same small client on one of many libraries for Python, for `cargo xtask peers --more`.

`python client.py LIBRARY URL` lists the tools of a server over Streamable HTTP and calls `echo` where there is one, as the
library's own documentation shows.
"""

import asyncio
import sys

WORDS = {"message": "Good day"}


async def langchain(url: str) -> None:
    from langchain_mcp_adapters.client import MultiServerMCPClient

    client = MultiServerMCPClient({"server": {"transport": "streamable_http", "url": url}})
    for tool in await client.get_tools():
        if tool.name == "echo":
            print(await tool.ainvoke(WORDS))


async def openai_agents(url: str) -> None:
    from agents.mcp import MCPServerStreamableHttp

    async with MCPServerStreamableHttp(params={"url": url}) as server:
        tools = await server.list_tools()
        if any(tool.name == "echo" for tool in tools):
            print(await server.call_tool("echo", WORDS))


async def llama_index(url: str) -> None:
    from llama_index.tools.mcp import BasicMCPClient, McpToolSpec

    for tool in await McpToolSpec(client=BasicMCPClient(url)).to_tool_list_async():
        if tool.metadata.name == "echo":
            print(await tool.acall(**WORDS))


async def mcp_use(url: str) -> None:
    from mcp_use import MCPClient

    client = MCPClient.from_dict({"mcpServers": {"server": {"url": url}}})
    try:
        session = await client.create_session("server")
        tools = await session.list_tools()
        if any(tool.name == "echo" for tool in tools):
            print(await session.call_tool("echo", WORDS))
    finally:
        await client.close_all_sessions()


if __name__ == "__main__":
    libraries = {
        name.replace("_", "-"): run
        for name, run in globals().copy().items()
        if asyncio.iscoroutinefunction(run)
    }
    if len(sys.argv) != 3 or sys.argv[1] not in libraries:
        sys.exit(f"usage: client.py {' | '.join(libraries)} URL")
    asyncio.run(libraries[sys.argv[1]](sys.argv[2]))
