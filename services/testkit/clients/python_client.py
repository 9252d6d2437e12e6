"""The official Python client against the door: lists the tools and calls a reading one, in both protocol eras.

Standard input: one JSON object {"url", "header", "token"}; nothing secret stands in an argument.
Standard output: one JSON line per era, {"mode", "protocol_version", "tools", "accounts"}.
"""

import asyncio
import json
import sys

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client


async def visit(asked: dict, mode: str) -> dict:
    headers = {asked["header"]: asked["token"]}
    async with httpx2.AsyncClient(headers=headers, timeout=30) as http:
        transport = streamable_http_client(asked["url"], http_client=http)
        async with Client(transport, mode=mode) as client:
            tools = await client.list_tools()
            result = await client.call_tool("list_accounts", {})
            return {
                "mode": mode,
                "protocol_version": client.protocol_version,
                "tools": sorted(tool.name for tool in tools.tools),
                "is_error": bool(result.is_error),
                "accounts": result.structured_content,
            }


async def main() -> None:
    asked = json.load(sys.stdin)
    for mode in ("legacy", "2026-07-28"):
        print(json.dumps(await visit(asked, mode)), flush=True)


asyncio.run(main())
