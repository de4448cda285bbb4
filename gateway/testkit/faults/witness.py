"""Looks into the database of the running gateway, as another reader, in the moment when it matters."""

import sqlite3
from pathlib import Path

from adapters.store.database import open_readable
from gateway.testkit.faults.rooms import PROFILE, TENANT

NOT_READ = "not read"


class Witness:
    """Open while a server lives: a reader that stays would spare the next server its recovery."""

    def __init__(self) -> None:
        self._connection: sqlite3.Connection | None = None
        self.most_slots: dict[str, int] = {}
        """Slots at most, by kind of scope, whenever somebody has looked since they were forgotten."""

    def forget_slots(self) -> None:
        """At each start: it has limits of its own, and what was seen under others says nothing of them."""
        self.most_slots = {}

    def open(self, data: Path) -> None:
        self._connection = open_readable(data)

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def state_of(self, dispatch_id: str) -> str:
        """State of the attempt right now; empty if there is none."""
        rows = self._rows("SELECT state FROM attempt WHERE dispatch_id = ?", dispatch_id)
        return NOT_READ if rows is None else rows[0][0] if rows else ""

    def look_at_slots(self) -> None:
        """Note how many slots are used right now."""
        for kind, scope in (("profile", PROFILE), ("tenant", TENANT)):
            rows = self._rows(
                "SELECT slots_used FROM budget WHERE scope_kind || ' ' || scope_id = ?", f"{kind} {scope}"
            )
            self.most_slots[kind] = max(self.most_slots.get(kind, 0), *(int(row[0]) for row in rows or ()), 0)

    def digest_of(self, operation_id: str) -> str:
        """Digest of the stored answer right now; empty if there is none."""
        rows = self._rows("SELECT digest FROM result WHERE op_id = ?", operation_id)
        return NOT_READ if rows is None else rows[0][0] if rows else ""

    def unknown(self) -> list[str]:
        """Ids of the operations whose outcome is unknown, oldest first."""
        rows = self._rows("SELECT op_id FROM attempt WHERE state = ? ORDER BY op_id", "unknown")
        return [row[0] for row in rows or ()]

    def _rows(self, query: str, parameter: str) -> list[tuple[str, ...]] | None:
        if self._connection is None:
            return None
        try:
            return self._connection.execute(query, (parameter,)).fetchall()
        except sqlite3.OperationalError:
            return None
