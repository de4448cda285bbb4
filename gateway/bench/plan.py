"""How much is measured, and the requests that are asked."""

import json

from msgspec import Struct

from gateway.bench.load import MARK


class Plan(Struct, frozen=True, kw_only=True):
    """Bounds of a run. A cell is one case at one place in one round."""

    rounds: int
    concurrencies: tuple[int, ...] = (1, 16, 64)
    engine_ms: tuple[int, ...] = (0, 200)
    cell_s: float
    cell_requests: int = 3_000
    warm_up_s: float
    starts: int
    """How often the gateway is started and its time to ready taken."""
    waves: int
    """Waves of concurrent requests in the breakdown; 0 leaves it out."""
    variants: bool = True
    """Also measure gateways over other registries."""
    sources: int = 2_000
    """Granted before the load. More than requests in a second, so that no citing one finds its question decided."""
    registries: tuple[int, ...] = (50, 5_000)
    """Profiles of the registries over which decisions are measured alone; at least 32. Empty leaves them out."""
    decisions_s: float
    """How long each question is asked, one at a time and 16 at once."""


FULL = Plan(rounds=3, cell_s=2.5, warm_up_s=1.5, starts=3, waves=20, decisions_s=1.0)
QUICK = Plan(rounds=1, cell_s=0.9, warm_up_s=0.3, starts=1, waves=5, decisions_s=0.2)

_SENTENCE = "The harbour office keeps a list of every ship that has asked for a berth this week. "
PROMPT_CHARACTERS = 1_200
"""About 300 tokens of English."""
PROMPT = (_SENTENCE * (PROMPT_CHARACTERS // len(_SENTENCE) + 1))[:PROMPT_CHARACTERS]

_CHAT = {
    "model": "chat",
    "messages": [
        {"role": "system", "content": "You answer in one sentence."},
        {"role": "user", "content": PROMPT},
    ],
    "max_tokens": 64,
    "temperature": 0.2,
}
BODY = json.dumps(_CHAT)
"""The same for every request, so that a replay has the fingerprint of the fresh one, and both their questions."""

# A fact holds no id, so it is the revision that makes each question another one.
_SOURCE = {"id": f"source-{MARK}", "revision": f"revision-{MARK}"}
CITING_BODY = json.dumps(_CHAT | {"gateway": {"purpose": "answers", "sources": [_SOURCE]}})
"""Cites another source each time."""
GRANT_BODY = json.dumps(_SOURCE | {"tenant": "acme", "groups": ["staff"], "privacy_class": "internal"})
"""Registers another source each time."""
