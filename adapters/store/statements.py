"""SQL text, compiled once from SQLAlchemy Core and run on the driver's connection.

Compiling and converting per statement would cost more CPU than the statements themselves. The driver's
errors carry no parameters, so nothing of a request can get into a log that way (promise G11).
"""

from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import Any

from sqlalchemy import ColumnElement, Table, bindparam, func, insert, literal_column, select
from sqlalchemy.dialects import sqlite
from sqlalchemy.sql import ClauseElement

from adapters.store.connection import Connection

_NAMED = sqlite.dialect(paramstyle="named")
_POSITIONAL = sqlite.dialect(paramstyle="qmark")


def sql(statement: ClauseElement) -> str:
    """Text with named parameters, for a statement whose literals are all written out or bound by name."""
    compiled = statement.compile(dialect=_NAMED, compile_kwargs={"render_postcompile": True})
    unnamed = [name for name, value in compiled.params.items() if value is not None]
    assert not unnamed, f"a literal would have to be passed at every execution: {unnamed}"
    return str(compiled)


def word(value: str) -> ColumnElement[str]:
    """A constant of the program as a literal, which partial indexes need and which costs nothing to bind."""
    assert value.replace("_", "").isalpha(), value
    return literal_column(f"'{value}'")


def within(column: ColumnElement[Any], name: str) -> ColumnElement[bool]:
    """``column`` is in the JSON array that is bound to ``name``: one text for any number of values."""
    values = func.json_each(bindparam(name)).table_valued("value")
    return column.in_(select(values.c.value))


class Inserter:
    """Inserts rows, given as mappings with every column of the table."""

    def __init__(self, table: Table) -> None:
        # By position: looking up 20 names for each row would take longer than SQLite's own work on it.
        self._text = str(insert(table).compile(dialect=_POSITIONAL))
        self._values = itemgetter(*(column.name for column in table.columns))

    def __call__(self, connection: Connection, rows: Sequence[Mapping[str, Any]]) -> None:
        if rows:
            connection.executemany(self._text, map(self._values, rows))
