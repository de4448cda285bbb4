"""The directory of sources: who may open, close and take back what, and what is then found."""

import asyncio
from typing import Any

import pytest
from contract.ledger_ends import OPERATOR, Ends, WithEnds, a_grant, change, grant, revoke, try_to_change, withdraw

from gateway.domain.request import SourceRef
from gateway.domain.source import (
    MOST_GROUPS,
    NoSuchSource,
    OtherTenantsSource,
    RevokeSource,
    Source,
    SourceAct,
    TooManyGroups,
    WithdrawnRevision,
    WithdrawSource,
)
from gateway.ports.reads import LONGEST_PAGE, SourceFilter


async def listed(ends: Ends, **wanted: Any) -> list[str]:
    return [row.id for row in await ends.sources.search(SourceFilter(**wanted))]


class DirectoryContract(WithEnds):
    """Changes of sources, and their lists."""

    def test_a_grant_registers_a_source_with_its_groups_in_order(self) -> None:
        async def use(ends: Ends) -> None:
            row = await grant(ends, groups=("staff", "board", "staff"))
            assert row == Source(
                id="handbook",
                tenant="acme",
                groups=("board", "staff"),
                privacy_class="internal",
                revision="r1",
                released_s=1_700_000_000,
                withdrawn=False,
                as_of_s=1_796_040_000,
                version=1,
            )
            assert await ends.sources.search(SourceFilter()) == (row,)

        self._with_ends(use)

    def test_groups_add_up_and_all_the_rest_becomes_what_the_last_grant_says(self) -> None:
        async def use(ends: Ends) -> None:
            await grant(ends, groups=("staff", "legal"))
            later = {"privacy_class": "private", "revision": "r2", "released_s": 7, "as_of_s": 9}
            row = await grant(ends, groups=("board",), **later)
            assert (row.groups, row.version) == (("board", "legal", "staff"), 2)
            assert {name: getattr(row, name) for name in later} == later
            assert (await ends.sources.search(SourceFilter()))[0] == row

        self._with_ends(use)

    def test_grants_that_come_at_once_add_up_too(self) -> None:
        async def use(ends: Ends) -> None:
            rows = await asyncio.gather(*(grant(ends, groups=(f"group-{n}",)) for n in range(10)))
            assert sorted(row.version for row in rows) == list(range(1, 11))
            (row,) = await ends.sources.search(SourceFilter())
            assert (row.version, row.groups) == (10, tuple(f"group-{n}" for n in range(10)))

        self._with_ends(use)

    @pytest.mark.parametrize("act", [a_grant(), RevokeSource(id="handbook", groups=("board",))])
    def test_every_change_raises_the_version_also_one_to_itself(self, act: SourceAct) -> None:
        async def use(ends: Ends) -> None:
            await grant(ends)
            first, second = await change(ends, act), await change(ends, act)
            assert (first.version, second.version) == (2, 3)
            (found,) = await ends.sources.facts((SourceRef("handbook", "r1"),))
            assert found.version == 3

        self._with_ends(use)

    @pytest.mark.parametrize(
        ("closed_to", "left"),
        [(("legal",), ("board", "staff")), (("board", "staff", "nobody"), ("legal",)), ((), ())],
    )
    def test_revoking_closes_to_the_named_groups_or_to_all_and_confirms_nothing(
        self, closed_to: tuple[str, ...], left: tuple[str, ...]
    ) -> None:
        async def use(ends: Ends) -> None:
            before = await grant(ends, groups=("legal", "board", "staff"), as_of_s=5)
            row = await revoke(ends, *closed_to)
            assert (row.groups, row.as_of_s, row.version) == (left, 5, 2)
            assert (row.revision, row.withdrawn, row.released_s) == (before.revision, False, before.released_s)
            (found,) = await ends.sources.facts((SourceRef("handbook", "r1"),))
            assert found.fact.groups == left
            assert (await grant(ends, groups=("legal",))).groups == tuple(sorted({*left, "legal"}))

        self._with_ends(use)

    @pytest.mark.parametrize("groups", [("staff",), ()])
    def test_a_withdrawn_revision_is_granted_to_nobody_any_more(self, groups: tuple[str, ...]) -> None:
        async def use(ends: Ends) -> None:
            await grant(ends)
            row = await withdraw(ends)
            assert (row.withdrawn, row.groups, row.version) == (True, ("staff",), 2)
            assert await try_to_change(ends, a_grant(groups=groups)) == WithdrawnRevision()
            assert await ends.sources.search(SourceFilter()) == (row,)

        self._with_ends(use)

    def test_a_closed_source_stays_withdrawn(self) -> None:
        async def use(ends: Ends) -> None:
            await grant(ends)
            await withdraw(ends)
            assert (await revoke(ends)).withdrawn
            assert (await withdraw(ends)).withdrawn
            (found,) = await ends.sources.facts((SourceRef("handbook", "r1"),))
            assert found.fact.withdrawn

        self._with_ends(use)

    def test_what_is_withdrawn_is_not_withdrawn_again(self) -> None:
        async def use(ends: Ends) -> None:
            await grant(ends)
            rows = await asyncio.gather(*(withdraw(ends) for _ in range(3)))
            assert rows == [rows[0]] * 3
            assert (rows[0].withdrawn, rows[0].version) == (True, 2)
            assert await ends.sources.search(SourceFilter()) == (rows[0],)
            await grant(ends, revision="r2")
            again = await withdraw(ends)
            assert (again.revision, again.withdrawn, again.version) == ("r2", True, 4)

        self._with_ends(use)

    def test_a_source_is_open_to_so_many_groups_at_most_all_grants_together(self) -> None:
        async def use(ends: Ends) -> None:
            groups = tuple(f"group-{n:03}" for n in range(MOST_GROUPS))
            await grant(ends, groups=groups[:200])
            for refused in (("elsewhere", *groups[200:]), tuple(f"other-{n}" for n in range(MOST_GROUPS))):
                assert await try_to_change(ends, a_grant(groups=refused, revision="r2")) == TooManyGroups()
            row = await grant(ends, groups=groups[100:])
            assert (row.groups, row.revision, row.version) == (groups, "r1", 2)
            assert await try_to_change(ends, a_grant(groups=("elsewhere",))) == TooManyGroups()
            assert await ends.sources.search(SourceFilter()) == (row,)
            assert (await grant(ends, groups=groups[:1])).version == 3
            await revoke(ends, groups[0])
            assert len((await grant(ends, groups=("elsewhere",))).groups) == MOST_GROUPS
            too_many = a_grant("faq", groups=(*groups, "elsewhere"))
            assert await try_to_change(ends, too_many) == TooManyGroups()
            assert await listed(ends) == ["handbook"]

        self._with_ends(use)

    def test_another_revision_makes_it_current_again_and_keeps_the_groups(self) -> None:
        async def use(ends: Ends) -> None:
            await grant(ends)
            await withdraw(ends)
            row = await grant(ends, revision="r2", groups=("board",))
            assert (row.withdrawn, row.revision, row.groups) == (False, "r2", ("board", "staff"))
            (found,) = await ends.sources.facts((SourceRef("handbook", "r2"),))
            assert (found.fact.withdrawn, found.fact.revision) == (False, "r2")

        self._with_ends(use)

    def test_what_was_withdrawn_stays_so_after_another_revision_was_in_force(self) -> None:
        async def use(ends: Ends) -> None:
            await grant(ends)
            await withdraw(ends)
            await grant(ends, revision="r2")
            assert await try_to_change(ends, a_grant()) == WithdrawnRevision()
            await withdraw(ends)
            for revision in ("r1", "r2"):
                assert await try_to_change(ends, a_grant(revision=revision)) == WithdrawnRevision()
            await grant(ends, "notes")
            assert not (await grant(ends, revision="r3")).withdrawn

        self._with_ends(use)

    def test_a_source_belongs_to_one_tenant(self) -> None:
        async def use(ends: Ends) -> None:
            row = await grant(ends)
            assert await try_to_change(ends, a_grant(tenant="umbrella", revision="r2")) == OtherTenantsSource()
            await withdraw(ends)
            assert await try_to_change(ends, a_grant(tenant="umbrella")) == OtherTenantsSource()
            (found,) = await ends.sources.search(SourceFilter())
            assert (found.tenant, found.revision, found.version) == ("acme", "r1", row.version + 1)

        self._with_ends(use)

    @pytest.mark.parametrize("act", [RevokeSource(id="nothing", groups=()), WithdrawSource(id="nothing")])
    def test_what_is_not_there_is_neither_closed_nor_withdrawn(self, act: SourceAct) -> None:
        async def use(ends: Ends) -> None:
            assert await ends.sources.change(act, actor=OPERATOR, os_user="root") == NoSuchSource()
            assert await ends.sources.search(SourceFilter()) == ()
            assert (await grant(ends, "nothing")).version == 1

        self._with_ends(use)

    @pytest.mark.parametrize(
        ("wanted", "expected"),
        [
            ({}, ["atlas", "faq", "handbook", "ledgers"]),
            ({"tenant": "acme"}, ["atlas", "faq", "handbook"]),
            ({"group": "staff"}, ["handbook", "ledgers"]),
            ({"group": "sta"}, []),
            ({"withdrawn": True}, ["faq"]),
            ({"withdrawn": False}, ["atlas", "handbook", "ledgers"]),
            ({"tenant": "acme", "group": "staff", "withdrawn": False}, ["handbook"]),
            ({"after": "faq"}, ["handbook", "ledgers"]),
            ({"after": "faq", "limit": 1}, ["handbook"]),
            ({"limit": 0}, []),
            ({"limit": -1}, []),
            ({"tenant": "nobody"}, []),
        ],
    )
    def test_sources_are_found_by_what_is_wanted_in_the_order_of_their_ids(
        self, wanted: dict[str, object], expected: list[str]
    ) -> None:
        async def use(ends: Ends) -> None:
            await grant(ends)
            await grant(ends, "faq", groups=("board",))
            await withdraw(ends, "faq")
            await grant(ends, "ledgers", tenant="umbrella", groups=("staff", "board"))
            await grant(ends, "atlas", groups=())
            assert await listed(ends, **wanted) == expected

        self._with_ends(use)

    def test_a_page_of_sources_has_its_bound(self) -> None:
        async def use(ends: Ends) -> None:
            await asyncio.gather(*(grant(ends, f"source-{n:04}") for n in range(LONGEST_PAGE + 1)))
            page = await listed(ends, limit=10 * LONGEST_PAGE)
            assert len(page) == LONGEST_PAGE
            assert await listed(ends, after=page[-1]) == [f"source-{LONGEST_PAGE:04}"]

        self._with_ends(use)
