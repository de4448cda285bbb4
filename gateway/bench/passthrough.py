"""The bare pass-through, in a process of its own: the same server and the same HTTP client, and nothing between.

It reads the body, posts it to the engine and returns the answer. ``/bare`` does not even do that, so that the cost
of the server alone is known too. It prints a line of JSON with its port and ends at the end of its standard input.
"""

import asyncio
import json
import socket
import sys

import aiohttp
import click
import uvicorn
import uvloop
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

ANSWER = b'{"answer":"%s"}' % (b"x" * 400)
JSON = "application/json"


class PassThrough:
    """The two handlers."""

    def __init__(self, session: aiohttp.ClientSession, engine: str) -> None:
        self._session = session
        self._url = engine + "/chat/completions"

    async def forward(self, request: Request) -> Response:
        body = await request.body()
        async with self._session.post(self._url, data=body, headers={"Content-Type": JSON}) as answer:
            return Response(await answer.read(), answer.status, media_type=JSON)

    async def bare(self, request: Request) -> Response:
        await request.body()
        return Response(ANSWER, media_type=JSON)


@click.command()
@click.option("--engine", required=True, help="Base URL of the engine, such as http://127.0.0.1:8091/v1.")
def main(engine: str) -> None:
    """Serve until standard input ends."""
    uvloop.run(_serve(engine))


async def _serve(engine: str) -> None:
    listener = socket.create_server(("127.0.0.1", 0), backlog=1024)
    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(connector=connector, cookie_jar=aiohttp.DummyCookieJar()) as session:
        handlers = PassThrough(session, engine)
        routes = [
            Route("/v1/chat/completions", handlers.forward, methods=["POST"]),
            Route("/bare", handlers.bare, methods=["POST"]),
        ]
        config = uvicorn.Config(
            Starlette(routes=routes),
            http="httptools",
            loop="none",
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            proxy_headers=False,
            server_header=False,
        )
        server = uvicorn.Server(config)
        serving = asyncio.ensure_future(server.serve(sockets=[listener]))
        click.echo(json.dumps({"port": listener.getsockname()[1]}))
        sys.stdout.flush()
        await asyncio.to_thread(sys.stdin.read)
        server.should_exit = True
        await serving


if __name__ == "__main__":
    main()
