"""What the writer uses of its connection. The fault tests put another one around it that fails where they want."""

import sqlite3
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol


class Connection(Protocol):
    """The writing connection, which is a ``sqlite3.Connection``, or something around it that answers as one."""

    @property
    def in_transaction(self) -> bool: ...

    def execute(self, sql: str, parameters: Mapping[str, Any] = ..., /) -> sqlite3.Cursor: ...

    def executemany(self, sql: str, parameters: Iterable[Any], /) -> sqlite3.Cursor: ...

    def close(self) -> None: ...


Wrap = Callable[[sqlite3.Connection], Connection]
"""Puts something around the writer's connection. Called once, before the first batch."""


def unwrapped(connection: sqlite3.Connection) -> Connection:
    """The connection as it is."""
    return connection
