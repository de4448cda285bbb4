"""Steps about sources: who may read them, what cites them, and what a refusal may tell of them."""

import time

from pytest_bdd import given, parsers, then, when

from gateway.domain.source import GrantSource, RevokeSource, SourceAct, WithdrawSource
from gateway.testkit.steps.asking import Memory
from gateway.testkit.world import Ask, World

DAY_S = 86_400
YEAR_S = 365 * DAY_S
SOURCE = r'the source "(?P<source>[^"]*)"'
OPEN = r'is open to "(?P<group>[^"]*)"'
CITING = r'citing the sources? "(?P<sources>[^"]*)"'


def grant(
    source: str,
    group: str,
    *,
    tenant: str = "acme",
    class_: str = "internal",
    revision: str = "1",
    released_s: int = 0,
    age_s: int = 0,
) -> GrantSource:
    """A source that a group may read, as it was ``age_s`` seconds ago."""
    return GrantSource(
        id=source,
        tenant=tenant,
        groups=(group,),
        privacy_class=class_,
        revision=revision,
        released_s=released_s,
        as_of_s=int(time.time()) - age_s,
    )


def _change(world: World, act: SourceAct) -> None:
    refusal = world.change_source(act)
    assert refusal is None, refusal


@given(parsers.re(f"(?:since then )?{SOURCE} {OPEN}(?: again| as well)?$"))
def _open(world: World, source: str, group: str) -> None:
    _change(world, grant(source, group))


@given(parsers.re(f'{SOURCE} of the tenant "(?P<tenant>[^"]*)" {OPEN}$'))
def _open_of_tenant(world: World, source: str, tenant: str, group: str) -> None:
    _change(world, grant(source, group, tenant=tenant))


@given(parsers.re(f'{SOURCE} of the class "(?P<class_>[^"]*)" {OPEN}$'))
def _open_of_class(world: World, source: str, class_: str, group: str) -> None:
    _change(world, grant(source, group, class_=class_))


@given(parsers.re(f"{SOURCE} {OPEN} from tomorrow on$"))
def _open_tomorrow(world: World, source: str, group: str) -> None:
    _change(world, grant(source, group, released_s=int(time.time()) + DAY_S))


@given(parsers.re(f"{SOURCE} {OPEN} as it was two years ago$"))
def _open_long_ago(world: World, source: str, group: str) -> None:
    _change(world, grant(source, group, age_s=2 * YEAR_S))


@given(parsers.re(f'since then {SOURCE} {OPEN} at the revision "(?P<revision>[^"]*)"$'))
def _open_revision(world: World, source: str, group: str, revision: str) -> None:
    _change(world, grant(source, group, revision=revision))


@given(parsers.re(f'since then {SOURCE} is closed to "(?P<group>[^"]*)"$'))
def _close(world: World, source: str, group: str) -> None:
    _change(world, RevokeSource(id=source, groups=(group,)))


@given(parsers.re(f"since then {SOURCE} is withdrawn$"))
def _withdraw(world: World, source: str) -> None:
    _change(world, WithdrawSource(id=source))


@given(parsers.re(rf'the assistant has asked "(?P<question>[^"]*)" under the key "(?P<key>[^"]*)" {CITING}$'))
@when(parsers.re(rf'the assistant asks "(?P<question>[^"]*)" under the key "(?P<key>[^"]*)" {CITING}$'))
def _ask_citing(world: World, memory: Memory, question: str, key: str, sources: str) -> None:
    memory.replies.append(world.ask(_citing(question, key, sources)))


@when(
    parsers.re(
        rf'the assistant asks "(?P<question>[^"]*)" under the key "(?P<key>[^"]*)" {CITING} '
        r'at the revision "(?P<revision>[^"]*)"$'
    )
)
def _ask_citing_revision(world: World, memory: Memory, *, question: str, key: str, sources: str, revision: str) -> None:
    ask = Ask(question=question, key=key, purpose="answers", sources=(sources,), revision=revision)
    memory.replies.append(world.ask(ask))


@when(parsers.re(rf'the assistant asks the model "(?P<model>[^"]*)" under the key "(?P<key>[^"]*)" {CITING}$'))
def _ask_model_citing(world: World, memory: Memory, model: str, key: str, sources: str) -> None:
    memory.replies.append(world.ask(Ask(model=model, key=key, purpose="answers", sources=(sources,))))


@given(
    parsers.re(
        rf'the assistant is waiting for an answer to "(?P<question>[^"]*)" under the key "(?P<key>[^"]*)" {CITING}$'
    )
)
def _waiting_citing(world: World, question: str, key: str, sources: str) -> None:
    world.start_asking(_citing(question, key, sources))


@then("a source that never was is refused in the same words")
def _never_was(world: World, memory: Memory) -> None:
    reply = world.ask(_citing("How long?", "k-2", "a-source-that-never-was"))
    assert (reply.code, reply.title, reply.policy_codes) == (
        memory.last.code,
        memory.last.title,
        memory.last.policy_codes,
    )


@then(parsers.parse('the refusal tells nothing of "{first}" or "{second}"'))
def _tells_nothing(memory: Memory, first: str, second: str) -> None:
    told = repr(memory.last)
    assert first not in told
    assert second not in told


def _citing(question: str, key: str, sources: str) -> Ask:
    return Ask(question=question, key=key, purpose="answers", sources=tuple(sources.split(", ")))
