"""Whatever goes missing from the registry, nothing more is allowed by what is left of it."""

import copy
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from cases.registry_nodes import all_without_one_node
from reference import NOTHING, STRUCTS, Json, said
from reference_mutator import at, places, without
from reference_opa import UNDEFINED, Asked, answers
from reference_questions import as_json, built, example, near_misses, of_built, of_example

from adapters.policy.registry_facts import facts
from adapters.registry import Loaded

WHOLE = "whole"
Question = tuple[str, Json]
"""Entrypoint and question."""


def questions_of_example() -> list[Question]:
    """The golden ones and more, allowed and denied, and for each check one that fails it and little else."""
    found = [(entrypoint, question) for entrypoint in STRUCTS for question in of_example(entrypoint)]
    return found + near_misses()


def widened(before: Json, after: Json, ranks: Json) -> list[str]:
    """In what an answer allows more than the one before it."""
    if after == UNDEFINED:
        return []
    found = [name for name in ("aliases", "routes") if not set(after.get(name, ())) <= set(before.get(name, ()))]
    if after.get("allow") is True and before["allow"] is not True:
        found.append("allow")
    elif after.get("allow") is True and "privacy_class" in after:
        is_laxer = ranks.get(after["privacy_class"], -1) < ranks[before["privacy_class"]]
        found += ["privacy_class"] * is_laxer
    return found


def all_widened(registries: dict[str, Json], questions: Sequence[Question], *, strict: bool) -> list[Any]:
    """What was changed, the question, and in what it was widened, where ``whole`` is what nothing was changed in."""
    asked = [Asked(*question, name) for name in registries for question in questions]
    answered = list(zip(asked, answers(asked, registries, strict=strict), strict=True))
    before = dict(zip(map(repr, questions), [answer for one, answer in answered if one.registry == WHOLE], strict=True))
    ranks = registries[WHOLE]["ranks"]
    return [
        (one.registry, one.entrypoint, one.question, found)
        for one, answer in answered
        if (found := widened(before[repr(one[:2])], answer, ranks))
    ]


def test_what_is_asked_is_denied_as_often_as_allowed() -> None:
    registry = example()
    found = [said(*question, registry) != NOTHING[question[0]] for question in questions_of_example()]
    assert found.count(True) >= 20
    assert found.count(False) >= 40


@pytest.mark.timeout(600)
def test_no_registry_that_loads_without_one_of_its_nodes_allows_more() -> None:
    """As an administrator might lose a line of a file."""
    loaded = {removed: found for removed, found in all_without_one_node() if isinstance(found, Loaded)}
    whole = example()
    changed = {removed: as_json(facts(found.snapshot)) for removed, found in loaded.items()}
    registries = {WHOLE: whole} | {removed: registry for removed, registry in changed.items() if registry != whole}
    assert len(registries) > 15  # so that the comparison below has something to compare
    assert all_widened(registries, questions_of_example(), strict=True) == []


def projections(registry: Json) -> Iterator[tuple[str, Json]]:
    """``data.registry`` without one of its nodes, and with null in its place."""
    for place in places(registry):
        name = "/".join(map(str, place))
        yield f"{name} removed", without(registry, place)
        nothing = copy.deepcopy(registry)
        at(nothing, place[:-1])[place[-1]] = None
        yield f"{name} null", nothing


@pytest.mark.parametrize("kind", ["example", "built"])
def test_no_hole_in_what_the_rules_know_allows_more(kind: str) -> None:
    """Past the structs, which have no optional field. An error within a builtin counts as undefined here."""
    registry = example() if kind == "example" else built("own", "sliced", "for-free", "rented")
    known = [one for one in near_misses() if one[0] != "replay"] if kind == "example" else []
    of, most = (of_example, 3) if kind == "example" else (of_built, 4)
    known += [(entrypoint, question) for entrypoint in STRUCTS for question in of(entrypoint)[:most]]
    registries = {WHOLE: registry} | dict(projections(registry))
    assert len(registries) > 300
    assert all_widened(registries, known, strict=False) == []
