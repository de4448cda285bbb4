"""The HTTP server: uvicorn with uvloop around an open gateway, and a drain that ends in exit 0."""

import asyncio
import gc
import signal
import socket
import threading
from collections.abc import Callable
from types import FrameType

import uvicorn

from gateway.api.app import create_app
from gateway.api.body import BodyBounds
from gateway.bootstrap.data_folder import write_address
from gateway.bootstrap.serving import Decorate, Gateway, Wrap, open_gateway
from gateway.domain.errors import StartRefused
from gateway.http_protocol import BoundedProtocol
from gateway.settings import Settings

BACKLOG = 2048
"""Connections that wait until they are accepted."""
ANSWER_GRACE_S = 5
"""Seconds that answers get to leave after the drain has ended."""


class Server(uvicorn.Server):
    """uvicorn, which drains at SIGTERM or SIGINT, and then ends as having done what it was asked to."""

    def __init__(self, config: uvicorn.Config, gateway: Gateway, drain_s: float) -> None:
        super().__init__(config)
        self.gateway = gateway
        self._drain_s = drain_s

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        # Not recorded as captured: uvicorn would raise the signal again at its end, and the exit code be 143.
        del sig, frame
        self.gateway.services.running.draining = True
        self.should_exit = True

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        drain = asyncio.ensure_future(self.gateway.services.running.drain(self._drain_s))
        await super().shutdown(sockets)
        await drain


async def serve(
    settings: Settings,
    *,
    decorate: Decorate = lambda ports: ports,
    wrap: Wrap = lambda connection: connection,
    on_start: Callable[["Server"], None] = lambda _: None,
) -> int:
    """Serve until a signal or a fatal fault of the store; returns the exit code.

    :raises StartRefused: with a sentence and a remedy, before the port opens.
    """
    loop = asyncio.get_running_loop()
    failed = asyncio.Event()
    servers: list[Server] = []

    def stop() -> None:
        failed.set()
        for running in servers:
            running.should_exit = True

    def on_fatal() -> None:
        loop.call_soon_threadsafe(stop)

    ended_early = _listen_for_signals()
    async with open_gateway(settings, on_fatal=on_fatal, decorate=decorate, wrap=wrap) as gateway:
        if ended_early.is_set():
            return 0
        listener = _listen(settings)
        host, port = listener.getsockname()[:2]
        app = create_app(
            gateway.services,
            bounds=BodyBounds(settings.max_body_bytes, settings.body_within_s),
            render_metrics=gateway.telemetry.render,
        )
        config = uvicorn.Config(
            app,
            http=BoundedProtocol,
            loop="none",
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            proxy_headers=False,
            server_header=False,
            backlog=BACKLOG,
            timeout_graceful_shutdown=int(settings.drain_s) + ANSWER_GRACE_S,
        )
        url = f"http://{f'[{host}]' if ':' in host else host}:{port}"
        write_address(settings.data_folder, url)
        print(f"gateway serves {url}", flush=True)  # noqa: T201 - what a person waits for; the log has standard error
        _spare_the_collector()
        server = Server(config, gateway, settings.drain_s)
        servers.append(server)
        on_start(server)
        await server.serve(sockets=[listener])
    return 1 if failed.is_set() else 0


def _listen(settings: Settings) -> socket.socket:
    """A socket that takes connections from now on, so that whoever reads the address finds somebody there."""
    host, port = settings.address
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen(BACKLOG)  # uvicorn does it again, later
    except OSError as error:
        listener.close()
        raise StartRefused(
            f"The address {settings.listen} cannot be used ({error.strerror}). Set GATEWAY_LISTEN to another."
        ) from None
    return listener


def _listen_for_signals() -> threading.Event:
    """Until uvicorn listens for them, a signal ends the start as soon as everything that was opened can be closed."""
    ended = threading.Event()
    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: ended.set())
    return ended


def _spare_the_collector() -> None:
    """Take what was imported and opened out of the garbage collector's sight, and let it run less often.

    A request makes few cycles, yet with the defaults full collections walked every imported object: 8 to 16 % of
    the CPU and pauses of tens of milliseconds (docs/bench.md).
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, 10, 10)
