"""Sources and keys in memory."""

from collections.abc import Sequence

from msgspec.structs import replace

from gateway.domain.principal import Caller
from gateway.domain.request import SourceRef
from gateway.domain.source import (
    GrantSource,
    KnownSource,
    Source,
    SourceAct,
    SourceActResult,
    SourceFact,
    WithdrawSource,
    changed,
    unknown_source,
)
from gateway.ports.reads import LONGEST_PAGE, Key, KeyFilter, SourceFilter
from gateway.testkit.fakes.rows import Rows


class FakeSources:
    """Implements ``gateway.ports.reads.Sources``."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows

    async def facts(self, refs: Sequence[SourceRef]) -> tuple[KnownSource, ...]:
        return tuple(self._fact(ref) for ref in refs)

    async def search(self, wanted: SourceFilter) -> tuple[Source, ...]:
        fitting = [row for _, row in sorted(self._rows.sources.items()) if _fits(row, wanted)]
        return tuple(fitting[: min(max(wanted.limit, 0), LONGEST_PAGE)])

    async def change(self, act: SourceAct, *, actor: Caller, os_user: str | None) -> SourceActResult:  # noqa: ARG002 - the port's names
        self._rows.check(actor)
        taken_back = isinstance(act, GrantSource) and (act.id, act.revision) in self._rows.taken_back
        result = changed(self._rows.sources.get(act.id), act, is_taken_back=taken_back)
        if isinstance(result, Source):
            self._rows.sources[act.id] = result
            if isinstance(act, WithdrawSource):
                self._rows.taken_back.add((act.id, result.revision))
        return result

    def _fact(self, ref: SourceRef) -> KnownSource:
        if ref.id not in self._rows.sources:
            return unknown_source(ref)
        row = self._rows.sources[ref.id]
        fact = SourceFact(
            known=True,
            cited=ref.revision,
            revision=row.revision,
            tenant=row.tenant,
            groups=row.groups,
            privacy_class=row.privacy_class,
            released_s=row.released_s,
            withdrawn=row.withdrawn,
            as_of_s=row.as_of_s,
        )
        return KnownSource(ref=ref, fact=fact, version=row.version)


def _fits(row: Source, wanted: SourceFilter) -> bool:
    return (
        wanted.tenant in (None, row.tenant)
        and (wanted.group is None or wanted.group in row.groups)
        and wanted.withdrawn in (None, row.withdrawn)
        and (wanted.after is None or row.id > wanted.after)
    )


class FakeKeys:
    """Implements ``gateway.ports.reads.Keys``."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows

    async def find(self, credential_hash: bytes) -> Key | None:
        return self._rows.keys.get(credential_hash)

    async def search(self, wanted: KeyFilter) -> tuple[Key, ...]:
        newest_first = sorted(self._rows.keys.values(), key=lambda key: key.id, reverse=True)
        fitting = [key for key in newest_first if _is_wanted(key, wanted)]
        return tuple(fitting[: min(max(wanted.limit, 0), LONGEST_PAGE)])

    async def create(
        self,
        key: Key,
        credential_hash: bytes,
        *,
        actor: Caller | None,
        os_user: str | None = None,  # noqa: ARG002 - the port's name
        alone: bool = False,
    ) -> None:
        self._rows.check(actor)
        if alone:
            for hashed, other in self._rows.keys.items():
                if (other.tenant, other.principal) == (key.tenant, key.principal):
                    self._rows.keys[hashed] = replace(other, active=False)
        self._rows.keys[credential_hash] = key

    async def revoke(self, key_id: str, *, actor: Caller, os_user: str | None) -> Key | None:  # noqa: ARG002 - the port's names
        self._rows.check(actor)
        for hashed, key in self._rows.keys.items():
            if key.id == key_id:
                self._rows.keys[hashed] = replace(key, active=False)
                return self._rows.keys[hashed]
        return None


def _is_wanted(key: Key, wanted: KeyFilter) -> bool:
    return (
        wanted.tenant in (None, key.tenant)
        and wanted.principal in (None, key.principal)
        and wanted.active in (None, key.active)
        and (wanted.before is None or key.id < wanted.before)
    )
