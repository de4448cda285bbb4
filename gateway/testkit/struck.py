"""``python -m gateway.testkit.struck POINT``: the real server, which kills itself at a named point.

The point is chosen by whoever starts this program. The gateway itself has no such switch.
"""

import os
import signal
import sys

import uvloop

from gateway.server import serve
from gateway.service.assembly import Ports
from gateway.settings import from_environment
from gateway.testkit.faulty import FaultyLedger
from gateway.testkit.ports import with_ports

BEFORE_T2 = "before_t2"
"""The grant is durable, and nothing more."""
POINTS = (BEFORE_T2,)


def main(point: str) -> int:
    """Serve until the point is reached."""
    if point not in POINTS:
        raise ValueError(point)

    def decorate(ports: Ports) -> Ports:
        ledger = FaultyLedger(ports.ledger)
        ledger.before_dispatch = lambda: os.kill(os.getpid(), signal.SIGKILL)
        return with_ports(ports, ledger=ledger)

    return uvloop.run(serve(from_environment(os.environ), decorate=decorate))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
