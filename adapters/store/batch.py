"""One transaction of the writer: its connection, its one time, its audit rows and its budget rows."""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec
from sqlalchemy import bindparam, update

from adapters.store.budgets import Budgets
from adapters.store.connection import Connection
from adapters.store.statements import Inserter, sql
from adapters.store.tables import audit, meta

_encode = msgspec.json.Encoder().encode
_insert_audit = Inserter(audit)
_RAISE_SEQ = sql(
    update(meta).values(commit_seq=meta.c.commit_seq.op("+")(bindparam("one")), last_commit_us=bindparam("now"))
)


class Batch:
    """What every transition of one transaction shares."""

    def __init__(self, connection: Connection, *, now_us: int, incarnation: int, last_seq: int) -> None:
        self.connection = connection
        self.now_us = now_us
        """The one time of the batch: every row that it writes carries it."""
        self.incarnation = incarnation
        self.budgets = Budgets(connection, now_us)
        self.last_seq = last_seq
        """Number of the latest audit row. It counts only once the batch has been committed."""
        self._audit: list[Mapping[str, Any]] = []
        self._after_commit: list[Callable[[], None]] = []

    def after_commit(self, call: Callable[[], None]) -> None:
        """Have something called on the writer's thread when COMMIT has ended, whether well or not.

        Nobody who waits for the batch has been answered then. ``call`` raises nothing.
        """
        self._after_commit.append(call)

    def committed(self) -> None:
        """COMMIT has ended, whether well or not."""
        for call in self._after_commit:
            call()

    def audit(
        self,
        kind: str,
        *,
        tenant: str | None = None,
        principal: str | None = None,
        op_id: str | None = None,
        n: int | None = None,
        code: str = "",
        data: Mapping[str, Any] | bytes = b"{}",
    ) -> None:
        """Note an audit row. Ids, codes and digests only: never a prompt, an answer or a credential (G11)."""
        self.last_seq += 1
        self._audit.append(
            {
                "incarnation": self.incarnation,
                "seq": self.last_seq,
                "at_us": self.now_us,
                "kind": kind,
                "tenant": tenant,
                "principal": principal,
                "op_id": op_id,
                "n": n,
                "code": code,
                "data": data if isinstance(data, bytes) else _encode(data),
            }
        )

    def finish(self) -> None:
        """Write what the transitions have left to the end of the batch."""
        self.budgets.write()
        _insert_audit(self.connection, self._audit)
        self.connection.execute(_RAISE_SEQ, {"one": 1, "now": self.now_us})
