"""A small real run, made once, whose database and records the tests damage in copies."""

import asyncio
import copy
import shutil
import sqlite3
from pathlib import Path

from gateway.testkit.faults import checks
from gateway.testkit.faults.evidence import Evidence
from gateway.testkit.faults.gateway_child import gateway_child
from gateway.testkit.faults.harness import Harness
from gateway.testkit.faults.provider import FaultProvider
from gateway.testkit.faults.tally import Tally, Wanted
from gateway.testkit.faults.witness import Witness


class SmallRun:
    """One calm round and its end: kill -9 from outside, then everything is reconciled."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._copies = 0
        self.tally, self._evidence = asyncio.run(self._run())

    async def _run(self) -> tuple[Tally, Evidence]:
        witness = Witness()
        wanted = Wanted(operations=30, seed=7, least=0, rounds=lambda _seed, _number: ())
        provider = FaultProvider(wanted.seed, witness)
        async with provider:
            with gateway_child(self._folder, provider.port) as child:
                harness = Harness(wanted, child, provider, witness)
                tally = await harness.run(lambda _: None)
                return tally, harness.evidence()

    def copy(self) -> "Copy":
        """Database and records, to damage."""
        self._copies += 1
        data = self._folder / f"copy-{self._copies}"
        shutil.copytree(self._folder / "data", data)
        return Copy(data, copy.deepcopy(self._evidence))


class Copy:
    """Some of what a run left."""

    def __init__(self, data: Path, evidence: Evidence) -> None:
        self.data = data
        self.evidence = evidence

    def change(self, *statements: str) -> int:
        """Change the database without its guards; returns how many rows the last statement changed."""
        connection = sqlite3.connect(next(self.data.glob("*.db")), isolation_level=None)
        try:
            for (trigger,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
                connection.execute(f"DROP TRIGGER {trigger}")
            connection.execute("PRAGMA ignore_check_constraints = ON")
            return [connection.execute(statement).rowcount for statement in statements][-1]
        finally:
            connection.close()

    def found(self) -> list[str]:
        """What the checks say, but for the guards that ``change`` took away."""
        return [sentence for sentence in checks.check(self.data, self.evidence) if not sentence.startswith("I16")]
