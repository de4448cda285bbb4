"""How long a request may be, by the positions that a config.json describes."""

from gateway.domain.worksheets.models.hf_fields import MOST_TOKENS, Config

_MOST_FACTOR = 10**4
_STRETCHING = ("linear", "dynamic")
"""Positions beyond max_position_embeddings come of these; other kinds leave that number as it stands."""


def longest_context(config: Config, family: str) -> int | None:
    """Tokens; None: the config does not say.

    Source: vllm/config/model.py, _get_and_verify_max_len (0.32), which leaves the factor of Gemma 3 out too.
    :raises ConfigRefused: naming the key that cannot be read.
    """
    if not config.has("max_position_embeddings"):
        return None
    positions = config.count("max_position_embeddings", most=MOST_TOKENS)
    section = config.section("rope_parameters") or config.section("rope_scaling")
    if section is None or family.startswith("gemma3"):
        return positions
    kind = next((section.name(key) for key in ("rope_type", "type") if section.has(key)), None)
    return int(positions * section.factor("factor", most=_MOST_FACTOR)) if kind in _STRETCHING else positions
