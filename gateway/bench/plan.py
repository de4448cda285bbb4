"""How much is measured, and the request that is asked."""

import json

from msgspec import Struct


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


FULL = Plan(rounds=3, cell_s=2.5, warm_up_s=1.5, starts=3, waves=20)
QUICK = Plan(rounds=1, cell_s=0.9, warm_up_s=0.3, starts=1, waves=5)

_SENTENCE = "The harbour office keeps a list of every ship that has asked for a berth this week. "
PROMPT_CHARACTERS = 1_200
"""About 300 tokens of English."""
PROMPT = (_SENTENCE * (PROMPT_CHARACTERS // len(_SENTENCE) + 1))[:PROMPT_CHARACTERS]

BODY = json.dumps(
    {
        "model": "chat",
        "messages": [
            {"role": "system", "content": "You answer in one sentence."},
            {"role": "user", "content": PROMPT},
        ],
        "max_tokens": 64,
        "temperature": 0.2,
    }
)
"""The same for every request, so that a replay has the fingerprint of the fresh one."""
