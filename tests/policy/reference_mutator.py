"""Questions changed in one place or in several: taken out, of another type, nearly the same."""

import copy
import random
from collections.abc import Iterator
from typing import Any

from reference import STRUCTS, Json
from snapshots import DAY_S

Place = tuple[str | int, ...]
_UNKNOWN = ("", "nobody", "CHAT", "chat ", "chat\u200b", "ｃｈａｔ", "сhat", "*", "null", "../chat", "chat@1@1")
_NUMBERS = (0, -1, 1, 2**31, 2**53, 2**53 + 1, 2**63, 2**64, -(2**63) - 1, 1e308, -1e308, 0.5)
_LOOKS_LIKE = {"a": "а", "c": "с", "e": "е", "o": "о", "p": "р", "i": "і", "s": "ѕ", "g": "ɡ", "t": "т"}


def places(value: Any, place: Place = ()) -> Iterator[Place]:
    """Every place below the root."""
    for key in value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        yield (*place, key)
        yield from places(value[key], (*place, key))


def at(value: Any, place: Place) -> Any:
    for step in place:
        value = value[step]
    return value


def without(value: Any, place: Place) -> Any:
    """The same without one node."""
    rest = copy.deepcopy(value)
    del at(rest, place[:-1])[place[-1]]
    return rest


class Mutator:
    """Changes one to three nodes of a question at a time; the same seed makes the same questions."""

    def __init__(self, registry: Json, seed: int) -> None:
        self._chance = random.Random(seed)
        self._names = sorted({*_names(registry), "system", "operator", "auditor", "generate", "read", "change"})
        self._instants = sorted(_instants(registry))
        self._spans = [needed["longest_facts_s"] for needed in registry["requirements"].values()]

    def mutated(self, question: Json) -> Json:
        found = copy.deepcopy(question)
        for _ in range(self._chance.choice((1, 1, 2, 3))):
            before = copy.deepcopy(found)
            self._mutate(found)
            if self._chance.random() < 0.1:
                _follow(before, found)
        return found

    def _mutate(self, question: Json) -> None:
        options = list(places(question))
        if not options:
            return
        place = self._chance.choice(options)
        holder, value = at(question, place[:-1]), at(question, place)
        if isinstance(value, int) and not isinstance(value, bool) and self._chance.random() < 0.7:
            holder[place[-1]] = self._instant(question, value)
        elif isinstance(value, str) and self._chance.random() < 0.5:
            holder[place[-1]] = self._chance.choice((*self._names, *self._names, *_UNKNOWN, _look_alike(value)))
        elif isinstance(value, list) and self._chance.random() < 0.7:
            holder[place[-1]] = self._list(value)
        elif self._chance.random() < 0.2:
            (holder if isinstance(holder, dict) else question)[f"extra_{place[-1]}"] = self._chance.choice(
                (True, value)
            )
        else:
            self._replace(holder, place[-1], value)

    def _instant(self, question: Json, value: int) -> Any:
        """At and around the limits that the registry and the question set."""
        now_s = question.get("time_s")
        near = [value, *([now_s, *(now_s - span for span in self._spans)] if type(now_s) is int else [])]
        around = self._chance.choice((*near, *near, *self._instants))
        return around + self._chance.choice((-1, -1, 0, 0, 0, 1, 1, 0.5))

    def _list(self, value: list[Any]) -> Any:
        item = self._chance.choice(value) if value else self._chance.choice(self._names)
        match self._chance.randrange(7):
            case 0:
                return [*value, copy.deepcopy(item)]
            case 1:
                return value[::-1]
            case 2:
                return [*value, None]
            case 3:
                return [None, *value]
            case 4:
                return [*value, self._chance.choice(self._names)]
            case 5:
                return [value]
            case _:
                return {str(index): inner for index, inner in enumerate(value)}

    def _replace(self, holder: Any, key: Any, value: Any) -> None:
        """Something of another type, of another size, or nothing."""
        nested = ([value], {"0": value}, {"value": value}, str(value), [], {}, "", None, True, False)
        match self._chance.randrange(4):
            case 0:
                del holder[key]
            case 1:
                holder[key] = self._chance.choice(_NUMBERS)
            case _:
                holder[key] = copy.deepcopy(self._chance.choice(nested))


def mutated(entrypoint: str, registry: Json, questions: list[Json], count: int, seed: int) -> list[Json]:
    """So many questions; each of the given ones is changed about as often as the others."""
    assert all(STRUCTS[entrypoint].__struct_fields__ == tuple(question) for question in questions)
    mutator = Mutator(registry, seed)
    return [mutator.mutated(questions[index % len(questions)]) for index in range(count)]


def _names(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from value
        for inner in value.values():
            yield from _names(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _names(inner)


def _instants(registry: Json) -> Iterator[int]:
    days = [needed["longest_evaluation_days"] for needed in registry["requirements"].values()]
    for bundle in registry["bundles"].values():
        yield bundle["expires_s"]
        yield bundle["evaluation"]["date_s"]
        yield from (bundle["evaluation"]["date_s"] + count * DAY_S for count in days)
    for profile in registry["profiles"].values():
        yield from (approval["until_s"] for approval in profile["approvals"])


def _follow(before: Any, after: Any) -> None:
    """Let every node that was equal to the one that changed change with it, as a renamed tenant does everywhere."""
    for place in places(before):
        changed = _found(after, place)
        if not isinstance(at(before, place), dict | list) and changed is not None and changed != at(before, place):
            for other in places(before):
                if at(before, other) == at(before, place) and _found(after, other) == at(before, other):
                    at(after, other[:-1])[other[-1]] = copy.deepcopy(changed)
            return


def _found(value: Any, place: Place) -> Any:
    """What stands there now; None where nothing does."""
    try:
        return at(value, place)
    except (KeyError, IndexError, TypeError):
        return None


def _look_alike(text: str) -> str:
    return "".join(_LOOKS_LIKE.get(letter, letter) for letter in text)
