"""What the scripted provider does with each request: a function of the seed, the operation and how often it asked."""

import random
from collections.abc import Mapping

from msgspec import Struct

from gateway.domain.operation import State
from gateway.testkit.provider.behaviours import (
    Behaviour,
    duplicate_keys,
    error,
    huge,
    malformed_json,
    redirect,
)

MAX_ANSWER_BYTES = 64 * 1024
"""What the profile of the harness allows."""


class Misbehaviour(Struct, frozen=True, kw_only=True):
    """One way to answer."""

    behaviour: Behaviour
    weight: int
    executed: bool = True
    """Whether the provider may have done work."""
    concludes: State = State.UNKNOWN
    """What an undisturbed gateway makes of it."""
    misbehaves: bool = True


def _usage(prompt: object, completion: object) -> Behaviour:
    return Behaviour(usage={"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": 1})


def _unclear(behaviour: Behaviour, weight: int = 3) -> Misbehaviour:
    return Misbehaviour(behaviour=behaviour, weight=weight)


def _completed(behaviour: Behaviour, weight: int = 2, *, misbehaves: bool = True) -> Misbehaviour:
    return Misbehaviour(behaviour=behaviour, weight=weight, concludes=State.COMPLETED, misbehaves=misbehaves)


def _charged(behaviour: Behaviour, weight: int = 2) -> Misbehaviour:
    return Misbehaviour(behaviour=behaviour, weight=weight, concludes=State.CHARGED)


def _refused(status: int, weight: int = 3) -> Misbehaviour:
    return Misbehaviour(behaviour=error(status), weight=weight, executed=False, concludes=State.NO_EFFECT)


ALL: Mapping[str, Misbehaviour] = {
    "answers": _completed(Behaviour(), 45, misbehaves=False),
    "takes a while": _completed(Behaviour(delay_ms=120), 25, misbehaves=False),
    "answers and closes": _completed(Behaviour(delivery="close_after"), 2, misbehaves=False),
    "hangs": _unclear(Behaviour(delivery="hang")),
    "drops before the headers": _unclear(Behaviour(delivery="drop"), 4),
    "resets": _unclear(Behaviour(delivery="reset"), 4),
    "drops after the headers": _unclear(Behaviour(delivery="drop_after_headers"), 4),
    "truncates": _unclear(Behaviour(delivery="truncated"), 4),
    "truncates a chunk": _unclear(Behaviour(delivery="truncated_chunked")),
    "trickles": _unclear(Behaviour(delivery="trickle"), 2),
    "is no HTTP": _unclear(Behaviour(delivery="not_http")),
    "redirects": _unclear(redirect("http://127.0.0.1:9/v1/chat/completions")),
    "conflict": _unclear(error(409)),
    "fails": _unclear(error(500), 4),
    "is unavailable": _unclear(error(503)),
    "malformed JSON": _unclear(malformed_json()),
    "keys twice": _unclear(duplicate_keys()),
    "unknown finish reason": _unclear(Behaviour(finish_reason="whim")),
    "bad request": _refused(400),
    "unauthorised": _refused(401, 2),
    "busy": _refused(429, 5),
    "no usage": _completed(Behaviour(omit=("usage",))),
    "negative usage": _completed(_usage(-20, 3)),
    "fractional usage": _completed(_usage(20.5, 3)),
    "huge usage": _completed(_usage(10**9, 10**9)),
    "usage above the reservation": _completed(_usage(1900, 100)),
    "another model": _charged(Behaviour(model="somebody-else@1")),
    "huge answer": _charged(huge(2 * MAX_ANSWER_BYTES)),
}
_NAMES = list(ALL)
_WEIGHTS = [one.weight for one in ALL.values()]


def choose(seed: int, label: str, asked: int) -> str:
    """Name of the way in which the provider answers an operation's request, counted from 0."""
    return random.Random(f"{seed}/{label}/{asked}").choices(_NAMES, _WEIGHTS)[0]
