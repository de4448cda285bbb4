"""The directory of sources is changed by permit, within the registry in force, and never for the future."""

import asyncio
from typing import Any, cast

import pytest
from administering import permit
from msgspec.structs import replace
from service_support import CITING, HANDBOOK, Surroundings, breaking

from gateway.domain.errors import LedgerUnavailable
from gateway.domain.refusal import Code, Refusal
from gateway.domain.source import MOST_GROUPS, GrantSource, RevokeSource, Source, WithdrawSource
from gateway.ports.reads import SourceFilter
from gateway.service.directory import Directory, Grant

HANDBOOK_AT = (HANDBOOK.id, HANDBOOK.revision)
GRANT = Grant(id="handbook", tenant="acme", groups=("staff",), revision="r1", privacy_class="internal")


def grant(world: Surroundings, **changes: Any) -> Source | Refusal:
    allowed = permit(world, "sources", "change")
    return asyncio.run(world.services.admin.directory.grant(allowed, replace(GRANT, **changes)))


def granted(world: Surroundings, **changes: Any) -> Source:
    source = grant(world, **changes)
    assert isinstance(source, Source), source
    return source


def test_a_granted_source_can_be_cited_at_once() -> None:
    world = Surroundings()
    source = granted(world)
    assert (source.id, source.revision, source.groups, source.version) == (
        HANDBOOK.id,
        HANDBOOK.revision,
        ("staff",),
        1,
    )
    world.answered(CITING)
    (fact,) = world.policy.asked[1].sources  # type: ignore[union-attr] # the question before is ``operate``
    assert fact.known


def test_left_out_there_is_no_embargo_and_it_holds_now() -> None:
    world = Surroundings()
    source = granted(world)
    assert (source.released_s, source.as_of_s) == (0, world.clock.now_us() // 1_000_000)


def test_an_embargo_and_an_earlier_confirmation_are_kept() -> None:
    world = Surroundings()
    now_s = world.clock.now_us() // 1_000_000
    source = granted(world, released_s=now_s + 86_400, as_of_s=now_s - 60)
    assert (source.released_s, source.as_of_s) == (now_s + 86_400, now_s - 60)


@pytest.mark.parametrize(
    ("changes", "code", "param"),
    [
        ({"tenant": "nobody"}, Code.UNKNOWN_TENANT, "tenant"),
        ({"tenant": "system"}, Code.UNKNOWN_TENANT, "tenant"),
        ({"privacy_class": "secret"}, Code.INVALID_VALUE, "privacy_class"),
        ({"as_of_s": -1}, Code.INVALID_VALUE, "as_of"),
        ({"released_s": -1}, Code.INVALID_VALUE, "released"),
    ],
)
def test_what_the_registry_does_not_know_is_not_granted(changes: dict[str, Any], code: Code, param: str) -> None:
    world = Surroundings()
    refusal = grant(world, **changes)
    assert isinstance(refusal, Refusal)
    assert (refusal.code, refusal.param) == (code, param)
    assert world.calls == []


def test_an_unknown_class_is_told_those_that_there_are() -> None:
    refusal = grant(Surroundings(), privacy_class="secret")
    assert isinstance(refusal, Refusal)
    assert refusal.status == 422
    assert refusal.facts == {"known": "public, internal, private"}


def test_nobody_has_confirmed_anything_in_the_future() -> None:
    world = Surroundings()
    now_s = world.clock.now_us() // 1_000_000
    refusal = grant(world, as_of_s=now_s + 1)
    assert isinstance(refusal, Refusal)
    assert (refusal.code, refusal.status, refusal.param) == (Code.INVALID_VALUE, 422, "as_of")
    assert granted(world, as_of_s=now_s).as_of_s == now_s


def test_groups_are_kept_once_and_in_order() -> None:
    assert granted(Surroundings(), groups=("staff", "press", "staff")).groups == ("press", "staff")


def test_revoking_closes_to_the_groups_named_or_to_all() -> None:
    world = Surroundings()
    granted(world, groups=("staff", "press"))
    allowed = permit(world, "sources", "change")
    directory = world.services.admin.directory
    left = asyncio.run(directory.revoke(allowed, "handbook", ("staff",)))
    assert isinstance(left, Source)
    assert left.groups == ("press",)
    left = asyncio.run(directory.revoke(allowed, "handbook", ()))
    assert isinstance(left, Source)
    assert left.groups == ()


def test_a_misspelt_group_is_no_revocation() -> None:
    world = Surroundings()
    before = granted(world, groups=("staff", "press"))
    directory, allowed = world.services.admin.directory, permit(world, "sources", "change")
    refusal = asyncio.run(directory.revoke(allowed, "handbook", ("nothere", "neither")))
    assert refusal == Refusal(
        code=Code.INVALID_VALUE,
        status=422,
        param="groups",
        facts={"reason": "open to none of them", "open to": "press, staff"},
    )
    assert world.rows.sources["handbook"] == before
    # One of them is enough: then something is closed.
    left = asyncio.run(directory.revoke(allowed, "handbook", ("nothere", "staff")))
    assert isinstance(left, Source)
    assert left.groups == ("press",)


def test_closing_to_all_twice_is_no_fault() -> None:
    world = Surroundings()
    granted(world)
    directory, allowed = world.services.admin.directory, permit(world, "sources", "change")
    for _ in range(2):
        left = asyncio.run(directory.revoke(allowed, "handbook", ()))
        assert isinstance(left, Source)
        assert left.groups == ()
    refusal = asyncio.run(directory.revoke(allowed, "handbook", ("staff",)))
    assert isinstance(refusal, Refusal)
    assert refusal.facts == {"reason": "open to none of them", "open to": "nobody"}


def test_a_source_is_open_to_so_many_groups_and_no_more() -> None:
    world = Surroundings()
    granted(world, groups=tuple(f"g-{n}" for n in range(MOST_GROUPS)))
    refusal = grant(world, groups=("one-more",))
    assert isinstance(refusal, Refusal)
    assert (refusal.code, refusal.status, refusal.param) == (Code.INVALID_VALUE, 422, "groups")
    assert refusal.facts == {"reason": "open to too many with these", "limit": MOST_GROUPS}


def test_what_was_withdrawn_is_not_granted_at_the_same_revision_again() -> None:
    world = Surroundings()
    granted(world)
    allowed = permit(world, "sources", "change")
    withdrawn = asyncio.run(world.services.admin.directory.withdraw(allowed, "handbook"))
    assert isinstance(withdrawn, Source)
    assert withdrawn.withdrawn
    assert grant(world) == Refusal(code=Code.SOURCE_WITHDRAWN, param="revision")
    assert not granted(world, revision="r2").withdrawn


def test_a_source_stays_with_its_tenant() -> None:
    world = Surroundings()
    granted(world)
    assert grant(world, tenant="tenant-a") == Refusal(code=Code.SOURCE_OF_OTHER_TENANT, param="tenant")


@pytest.mark.parametrize("act", ["revoke", "withdraw"])
def test_only_a_source_that_is_there_can_be_closed(act: str) -> None:
    world = Surroundings()
    directory, allowed = world.services.admin.directory, permit(world, "sources", "change")
    done = directory.revoke(allowed, "nothing", ()) if act == "revoke" else directory.withdraw(allowed, "nothing")
    assert asyncio.run(done) == Refusal(code=Code.UNKNOWN_SOURCE, param="id")


def test_what_cannot_be_stored_is_told_so() -> None:
    world = Surroundings()
    world.notebook.at("sources.change", breaking(LedgerUnavailable("full")))
    assert grant(world) == Refusal(code=Code.LEDGER_UNAVAILABLE)


def test_every_change_names_who_did_it() -> None:
    world = Surroundings()
    source = granted(world)
    changes: list[tuple[Any, Any, Any]] = []

    class Sources:
        async def change(self, act: Any, *, actor: Any, os_user: Any) -> Source:
            changes.append((act, actor, os_user))
            return source

    directory = Directory(cast(Any, Sources()), world.clock, os_user="root")
    allowed = permit(world, "sources", "change")
    for done in (
        directory.grant(allowed, GRANT),
        directory.revoke(allowed, "handbook", ()),
        directory.withdraw(allowed, "handbook"),
    ):
        asyncio.run(done)
    assert [type(act) for act, _, _ in changes] == [GrantSource, RevokeSource, WithdrawSource]
    actor = world.session("operator").caller
    assert all((who, os_user) == (actor, "root") for _, who, os_user in changes)


def test_sources_are_found_by_filter() -> None:
    world = Surroundings()
    granted(world)
    granted(world, id="ledgers", tenant="tenant-a", groups=("books",))
    search = world.services.admin.directory.search

    def found(**wanted: Any) -> list[str]:
        sources = asyncio.run(search(permit(world, "sources", "read"), SourceFilter(**wanted)))
        return [source.id for source in sources]

    assert found() == ["handbook", "ledgers"]
    assert found(tenant="tenant-a") == ["ledgers"]
    assert found(group="staff") == ["handbook"]
    assert found(after="handbook") == ["ledgers"]
