"""Lists of sources and of keys, a page at a time. Each walks along an index of ids and sorts nothing."""

import sqlite3
from functools import cache

from sqlalchemy import ColumnElement, Select, bindparam, text

from adapters.store.key_rows import KEYS, key_from
from adapters.store.source_rows import IS_WITHDRAWN, SOURCES, source_from
from adapters.store.statements import sql
from adapters.store.tables import key, source
from gateway.domain.source import Source
from gateway.ports.reads import LONGEST_PAGE, Key, KeyFilter, SourceFilter

# As text, because a blob may one day be read as SQLite's own binary form of JSON.
_OPEN_TO = text("EXISTS (SELECT 1 FROM json_each(CAST(source.groups AS TEXT)) AS one WHERE one.value = :group)")


def search_sources(connection: sqlite3.Connection, wanted: SourceFilter) -> tuple[Source, ...]:
    """At most a page of what is wanted, by id."""
    values = {
        "tenant": wanted.tenant,
        "group": wanted.group,
        "withdrawn": wanted.withdrawn,
        "after": wanted.after,
        "limit": _page_of(wanted.limit),
    }
    statement = _sources(frozenset(name for name, value in values.items() if value is not None))
    return tuple(map(source_from, connection.execute(statement, values).fetchall()))


def search_keys(connection: sqlite3.Connection, wanted: KeyFilter) -> tuple[Key, ...]:
    """At most a page of what is wanted, newest first: by id, which a uuid7 puts in the order of time."""
    values = {
        "tenant": wanted.tenant,
        "principal": wanted.principal,
        "active": wanted.active,
        "before": wanted.before,
        "limit": _page_of(wanted.limit),
    }
    statement = _keys(frozenset(name for name, value in values.items() if value is not None))
    return tuple(map(key_from, connection.execute(statement, values).fetchall()))


def _page_of(limit: int) -> int:
    return min(max(limit, 0), LONGEST_PAGE)


@cache
def _sources(given: frozenset[str]) -> str:
    conditions: dict[str, ColumnElement[bool]] = {
        "tenant": source.c.tenant == bindparam("tenant"),
        "withdrawn": bindparam("withdrawn") == IS_WITHDRAWN,
        "after": source.c.id > bindparam("after"),
    }
    statement = _narrowed(SOURCES, conditions, given)
    if "group" in given:
        statement = statement.where(_OPEN_TO)
    return f"{sql(statement.order_by(source.c.id))} LIMIT :limit"


@cache
def _keys(given: frozenset[str]) -> str:
    conditions: dict[str, ColumnElement[bool]] = {
        "tenant": key.c.tenant == bindparam("tenant"),
        "principal": key.c.principal == bindparam("principal"),
        "active": key.c.active == bindparam("active"),
        "before": key.c.id < bindparam("before"),
    }
    return f"{sql(_narrowed(KEYS, conditions, given).order_by(key.c.id.desc()))} LIMIT :limit"


def _narrowed(
    statement: Select[tuple[object, ...]], conditions: dict[str, ColumnElement[bool]], given: frozenset[str]
) -> Select[tuple[object, ...]]:
    return statement.where(*(condition for name, condition in conditions.items() if name in given))
