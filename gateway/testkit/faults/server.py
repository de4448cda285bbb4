"""``python -m gateway.testkit.faults.server PLAN.json``: the real server, which strikes itself as planned.

Settings come from the environment, as always. The gateway itself has no failpoint and no switch for one: they are
put around its ports and its writing connection here.
"""

import os
import sqlite3
import sys
from pathlib import Path

import msgspec
import uvloop

from gateway.server import serve
from gateway.service.assembly import Ports
from gateway.settings import from_environment
from gateway.testkit.faults.bugs import BUGS
from gateway.testkit.faults.connection import FaultyConnection
from gateway.testkit.faults.failpoints import Failpoints
from gateway.testkit.faults.plan import ServerPlan
from gateway.testkit.faults.points import StruckLedger, StruckTransport
from gateway.testkit.ports import with_ports


def main(plan_file: str) -> int:
    """Serve until a signal, a fatal fault or the planned end."""
    plan = msgspec.json.decode(Path(plan_file).read_bytes(), type=ServerPlan)
    settings = from_environment(os.environ)
    failpoints = Failpoints(plan)
    connections: list[FaultyConnection] = []

    def wrap(connection: sqlite3.Connection) -> FaultyConnection:
        connections.append(FaultyConnection(connection, failpoints))
        return connections[-1]

    def decorate(ports: Ports) -> Ports:
        struck = with_ports(
            ports,
            ledger=StruckLedger(ports.ledger, failpoints),
            transport=StruckTransport(ports.transport, failpoints),
        )
        if plan.bug is None:
            return struck
        # Outermost, so that the failpoints strike between the bug and what it should have waited for.
        return BUGS[plan.bug](struck, connections[-1], settings.data_folder)

    return uvloop.run(serve(settings, decorate=decorate, wrap=wrap))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
