"""Steps about what the memory of a profile's devices holds."""

import json

from pytest_bdd import given, parsers, then, when

from gateway.testkit.doors.checking import ARCHITECTURE, Checked
from gateway.testkit.doors.http import FACE, HttpWorld
from gateway.testkit.doors.http_gateway import SLOTS
from gateway.testkit.registry_copy import EXAMPLE, PROFILE, Edit
from gateway.testkit.world import World

BESIDE = "profiles/smollm2-135m-a.yaml"
"""Released in the same bundle."""


@given(parsers.parse("the profile's device has {device} GiB, of which {reserve} GiB are reserved"))
def _device(checked: Checked, device: str, reserve: str) -> None:
    checked.edit(
        Edit(PROFILE, 'device_gib: "1"', f'device_gib: "{device}"'),
        Edit(PROFILE, 'reserve_gib: "0.5"', f'reserve_gib: "{reserve}"'),
    )


@given(parsers.parse("another released profile of the same engine promises {conversations:d} conversations"))
def _beside(checked: Checked, conversations: int) -> None:
    checked.edit(
        Edit(BESIDE, "127.0.0.1:8092", "127.0.0.1:8091"),
        Edit(BESIDE, "concurrency: 2", f"concurrency: {conversations}"),
    )


@given(parsers.parse('the engine was measured to hold {tokens:d} tokens, in version "{version}" at a length of {length:d} tokens'))  # fmt: skip # noqa: E501
def _measured(checked: Checked, tokens: int, version: str, length: int) -> None:
    checked.measured(tokens, version, length)


@given("the description of the model says that it has fewer layers")
def _fewer_layers(checked: Checked) -> None:
    described = json.loads((EXAMPLE / ARCHITECTURE).read_text())
    checked.edit(Edit(ARCHITECTURE, "", json.dumps(described | {"num_hidden_layers": 1})))


@when(parsers.parse("the registry is checked with {conversations} conversations of {tokens:d} tokens at once"))
def _checked(checked: Checked, conversations: str, tokens: int) -> None:
    checked.check(
        Edit(PROFILE, "concurrency: 2", f"concurrency: {conversations}"),
        Edit(PROFILE, "context_window: 2048", f"context_window: {tokens}"),
    )


@then("it passes")
def _passes(checked: Checked) -> None:
    assert checked.faults == ()


@then("it does not pass")
def _does_not_pass(checked: Checked) -> None:
    assert len(checked.faults) == 1, checked.faults


@then(parsers.parse('it does not pass, because of "{key}" in the profile\'s file'))
def _because_of(checked: Checked, key: str) -> None:
    of_profile = [fault for fault in checked.faults if fault.file.endswith(PROFILE)]
    assert [fault.path for fault in of_profile] == [f"/{key}"], checked.faults


@then(parsers.parse('the line is that of "{text}"'))
def _line(checked: Checked, text: str) -> None:
    (fault,) = checked.faults
    assert checked.profile_text.splitlines()[fault.line - 1].strip() == text


@then(parsers.parse("it is told that weights, KV state of {kv} GiB and reserve are above {device} GiB"))
def _told(checked: Checked, kv: str, device: str) -> None:
    (fault,) = checked.faults
    assert f"of a device of {device} GiB" in fault.sentence
    assert f"KV state {kv} GiB" in fault.sentence
    assert "weights " in fault.sentence
    assert "reserve 0.50 GiB" in fault.sentence


@then(parsers.parse("it is told that at most {most:d} conversations fit at this length"))
def _at_most(checked: Checked, most: int) -> None:
    (fault,) = checked.faults
    assert f"concurrency to at most {most} at this context" in fault.remedy


@given(parsers.parse("the engine has room for {reported:d} of the {promised:d} conversations that were promised"))
def _room(world: World, reported: int, promised: int) -> None:
    assert promised == SLOTS
    world.engine_has_room_for(reported)


@given(parsers.parse("the engine's cache holds {reported:d} of the {promised:d} tokens that were promised"))
def _cache(world: HttpWorld, reported: int, promised: int) -> None:
    assert promised == SLOTS * FACE.context
    world.engine_caches(reported)


@then(parsers.parse("the quarantine says that {promised:d} were promised and {reported:d} are reported"))
def _both_numbers(world: World, promised: int, reported: int) -> None:
    assert world.quarantine_shortfall() == (promised, reported)
