"""``python leaking_gateway.py``: the real server, whose ports break as a file says, with all they were given.

The file that ``LEAK_PLAN`` names holds calls such as ``transport.send``, one a line; it is read at every call. What is
raised names the arguments, as an exception of some library would: a prompt, a credential, a row.
"""

import inspect
import logging
import os
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import uvloop

from adapters.telemetry import set_up_logs
from gateway.domain.errors import StartRefused
from gateway.server import serve
from gateway.service.assembly import Ports
from gateway.settings import from_environment
from gateway.testkit.ports import with_ports

BROKEN = ("ledger", "operations", "sources", "keys", "transport", "probe", "counter", "accounts")


class Breaking:
    """A port in front of another one."""

    def __init__(self, port: Any, name: str, plan: Path) -> None:
        self._port = port
        self._name = name
        self._plan = plan

    def __getattr__(self, method: str) -> Any:
        called: Callable[..., Any] = getattr(self._port, method)
        if not inspect.iscoroutinefunction(called):
            return called

        async def call(*args: Any, **kwargs: Any) -> Any:
            if f"{self._name}.{method}" in self._plan.read_text().split():
                words = f"CANARY-RAISED {args!r} {kwargs!r}"
                for library in ("LiteLLM", "some.library"):
                    logging.getLogger(library).error(f"about to fail: {words}")
                warnings.warn(words, RuntimeWarning, stacklevel=1)
                raise ValueError(words)
            return await called(*args, **kwargs)

        return call


def main() -> int:
    """Serve until a signal."""
    settings = from_environment(os.environ)
    plan = Path(os.environ["LEAK_PLAN"])
    set_up_logs(settings.log_level)

    def decorate(ports: Ports) -> Ports:
        return with_ports(ports, **{name: Breaking(getattr(ports, name), name, plan) for name in BROKEN})

    try:
        return uvloop.run(serve(settings, decorate=decorate))
    except StartRefused as refused:
        print(refused, file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
