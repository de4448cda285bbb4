"""Thousands of questions, most of them wrong in some way: the rules say what a plain reference says."""

import collections
from collections.abc import Iterator
from typing import Any

import pytest
from reference import NOTHING, STRUCTS, Json, is_typed, said
from reference_mutator import mutated, places, without
from reference_opa import Asked, answers
from reference_questions import built, example, of_built, of_example

COUNT = 1_100
"""Mutated questions of one entrypoint over one registry; 11,000 in all."""


@pytest.fixture(scope="module")
def registries() -> dict[str, Json]:
    return {"example": example(), "built": built()}


def known(registries: dict[str, Json]) -> Iterator[tuple[str, str, list[Json]]]:
    """Entrypoint, registry, and questions whose answers are known, both allowed and denied."""
    for entrypoint in STRUCTS:
        for name, questions in (("example", of_example(entrypoint)), ("built", of_built(entrypoint))):
            allowed = [said(entrypoint, question, registries[name]) != NOTHING[entrypoint] for question in questions]
            assert set(allowed) == {True, False}, (entrypoint, name, allowed)
            yield entrypoint, name, questions


def decided(entrypoint: str, answer: Json) -> Json:
    """The part of an answer that allows."""
    return {name: answer.get(name) for name in NOTHING[entrypoint]}


def differences(asked: list[Asked], registries: dict[str, Json]) -> list[tuple[Asked, Any, Any]]:
    found = answers(asked, registries)
    return [
        (one, expected, actual)
        for one, answer in zip(asked, found, strict=True)
        if (expected := said(one.entrypoint, one.question, registries[one.registry]))
        != (actual := decided(one.entrypoint, answer))
    ]


def test_11_000_mutated_questions_are_answered_as_the_reference_says(registries: dict[str, Json]) -> None:
    asked = [
        Asked(entrypoint, question, name)
        for entrypoint, name, questions in known(registries)
        for question in mutated(entrypoint, registries[name], questions, COUNT, seed=7)
    ]
    assert len(asked) == 11_000
    counted: collections.Counter[tuple[str, str]] = collections.Counter()
    for one in asked:
        is_allowed = said(*one[:2], registries[one.registry]) != NOTHING[one.entrypoint]
        typed = "allowed" if is_allowed else "denied"
        counted[one.entrypoint, typed if is_typed(*one[:2]) else "ill-typed"] += 1
    for entrypoint in STRUCTS:
        allowed, denied, ill = (counted[entrypoint, kind] for kind in ("allowed", "denied", "ill-typed"))
        print(f"{entrypoint}: {allowed} allowed, {denied} denied, {ill} ill-typed")
        assert allowed >= 0.05 * (allowed + denied)
        assert min(denied, ill) >= 200
    found = differences(asked, registries)
    assert not found, f"{len(found)} are answered otherwise, such as {found[:3]}"


def test_opa_04_a_question_without_one_of_its_fields_is_never_allowed(registries: dict[str, Json]) -> None:
    """Of every question that is allowed. An item of a list is another matter: the reference knows."""
    holes: list[tuple[Asked, bool]] = []
    for entrypoint, name, questions in known(registries):
        for question in questions:
            if said(entrypoint, question, registries[name]) == NOTHING[entrypoint]:
                continue
            whole = [(place, without(question, place)) for place in places(question)]
            holes += [(Asked(entrypoint, rest, name), isinstance(place[-1], str)) for place, rest in whole]
    fields = [one for one, is_field in holes if is_field]
    assert len(fields) > 200
    answered = zip(fields, answers(fields, registries), strict=True)
    allowed = [one for one, answer in answered if decided(one.entrypoint, answer) != NOTHING[one.entrypoint]]
    assert not allowed, f"{len(allowed)} are allowed, such as {allowed[:3]}"
    items = [one for one, is_field in holes if not is_field]
    assert len(items) > 50
    assert differences(items, registries) == []


@pytest.mark.parametrize("extra", [True, "private", ["smollm2-135m", "own"], {"allow": True}, None, 2**63])
def test_one_more_field_changes_no_answer(registries: dict[str, Json], extra: Any) -> None:
    """In the question and in each of its sources, whatever it is called. The structs could send none."""
    plain, more = [], []
    for entrypoint, name, questions in known(registries):
        for question in questions:
            for field in ("allow", "answer", "extra", "privacy_class", "profile", "provider"):
                if field in question:
                    continue
                plain.append(Asked(entrypoint, question, name))
                longer = {field: extra} | question
                if "sources" in question:
                    longer["sources"] = [{field: extra} | source for source in question["sources"]]
                more.append(Asked(entrypoint, longer, name))
    assert all(is_typed(*one[:2]) for one in more)
    assert answers(plain, registries) == answers(more, registries)
