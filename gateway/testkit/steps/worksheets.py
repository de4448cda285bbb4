"""Steps about the worksheet of memory, and about what every worksheet refuses."""

import json
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, get_args

from pytest_bdd import given, parsers, then, when

from gateway.domain.worksheets.sheet import Basis
from gateway.testkit.doors.planning import Planned, Planner

FIELDS: Mapping[str, str] = {
    "cached tokens": "cached_tokens",
    "sequences": "sequences",
    "memory of the device": "vram_gib",
    "reserve": "reserve_gib",
    "layers": "layers",
    "architecture": "config",
    "utilisation": "utilisation",
}
"""What a scenario calls a field."""
NAMES = "|".join(FIELDS)
LLAMA: Mapping[str, Any] = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "hidden_size": 4096,
    "intermediate_size": 14336,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "max_position_embeddings": 131072,
    "tie_word_embeddings": False,
    "vocab_size": 128256,
    "torch_dtype": "bfloat16",
}
"""Facts of the config.json of Llama 3.1 8B."""
KEPT = ("kv_per_token", "kv", "reserve", "device")
"""What the format of the weights has no part in."""


class Plans:
    """What was entered in this scenario, and what was answered."""

    def __init__(self) -> None:
        self.entered: dict[str, str] = {}
        self.answers: list[Planned] = []

    @property
    def sheet(self) -> Mapping[str, Any]:
        """Of the last answer."""
        sheet = self.answers[-1].sheet
        assert sheet is not None, self.answers[-1].faults
        return sheet

    @property
    def faults(self) -> Mapping[str, str]:
        assert self.answers[-1].sheet is None, "it was computed"
        return self.answers[-1].faults

    def shown(self, figure: str) -> str:
        """A figure as people read it."""
        shown: str = self.sheet["figures"][figure]["shown"]
        return shown


def compute(planner: Planner, plans: Plans, worksheet: str, entered: Mapping[str, str]) -> None:
    """One worksheet, of what was entered so far and of this."""
    plans.answers.append(planner.plan(worksheet, plans.entered | dict(entered)))


# Memory


@given(parsers.parse("a model of {billions:d} billion parameters in {layers} layers with {heads} KV heads of {width}"))
def _model(plans: Plans, billions: int, layers: str, heads: str, width: str) -> None:
    plans.entered |= {"parameters": f"{billions}e9", "layers": layers, "kv_heads": heads, "head_dim": width}


@given(parsers.parse("a reserve of {gib} GiB"))
def _reserve(plans: Plans, gib: str) -> None:
    plans.entered["reserve_gib"] = gib


@given(parsers.parse('a model whose config says that it is "{kind}"'))
def _other_kind(plans: Plans, kind: str) -> None:
    plans.entered["config"] = json.dumps({**LLAMA, "model_type": kind, "architectures": [f"{kind.title()}ForCausalLM"]})


@given(parsers.parse('a model whose config does not say "{name}"'))
def _config_lacks(plans: Plans, name: str) -> None:
    assert name in LLAMA
    plans.entered["config"] = json.dumps({key: fact for key, fact in LLAMA.items() if key != name})


@when(parsers.parse("{sequences:d} sequences of {tokens:d} tokens are planned on {gib} GiB with {bits}-bit weights"))
def _plan_memory(planner: Planner, plans: Plans, *, sequences: int, tokens: int, gib: str, bits: str) -> None:
    entered = {"sequences": str(sequences), "cached_tokens": str(tokens), "vram_gib": gib, "weight_bits": bits}
    compute(planner, plans, "memory", entered)


@when("its memory is planned")
def _plan_memory_of_model(planner: Planner, plans: Plans) -> None:
    compute(planner, plans, "memory", {})


@when(parsers.re(rf'its memory is planned with "(?P<text>[^"]*)" as the (?P<field>{NAMES})$'))
def _plan_with(planner: Planner, plans: Plans, text: str, field: str) -> None:
    compute(planner, plans, "memory", {FIELDS[field]: text})


@when(
    parsers.re(
        rf'its memory is planned with "(?P<text>[^"]*)" as the (?P<field>{NAMES}) and '
        rf'"(?P<other_text>[^"]*)" as the (?P<other>{NAMES})$'
    )
)
def _plan_with_both(planner: Planner, plans: Plans, *, text: str, field: str, other_text: str, other: str) -> None:
    compute(planner, plans, "memory", {FIELDS[field]: text, FIELDS[other]: other_text})


@when(parsers.parse("as many tokens are planned as fit, and {more:d} more"))
def _plan_most(planner: Planner, plans: Plans, more: int) -> None:
    most = plans.sheet["figures"]["most_tokens"]["value"]
    compute(planner, plans, "memory", {"cached_tokens": str(most + more)})


@then(parsers.parse("weights of {weights} GiB and KV state of {kv} GiB make {total} GiB with the reserve"))
def _sizes(plans: Plans, weights: str, kv: str, total: str) -> None:
    assert [plans.shown(part) for part in ("weights", "kv", "total")] == [
        f"{size} GiB" for size in (weights, kv, total)
    ]


@then(parsers.parse("a cached token takes {kib} KiB"))
def _per_token(plans: Plans, kib: str) -> None:
    shown, unit = plans.shown("kv_per_token").split()
    assert (Decimal(shown), unit) == (Decimal(kib), "KiB")


@then("that is within the memory of the device")
def _within(plans: Plans) -> None:
    assert plans.sheet["verdict"]["code"] == "within"


@then("that exceeds the memory of the device")
def _exceeds(plans: Plans) -> None:
    assert plans.sheet["verdict"]["code"] == "exceeds"


@then(parsers.parse('it says "{words}"'))
def _says(plans: Plans, words: str) -> None:
    assert words in plans.sheet["verdict"]["sentence"]


@then("only the weights have become smaller")
def _only_weights(plans: Plans) -> None:
    before, after = (answer.sheet for answer in plans.answers[-2:])
    assert before is not None
    assert after is not None
    sizes = {part: (before["figures"][part]["value"], after["figures"][part]["value"]) for part in KEPT}
    assert all(earlier == later for earlier, later in sizes.values()), sizes
    assert after["figures"]["weights"]["value"] < before["figures"]["weights"]["value"]


@then("no number of it is without a basis")
def _bases(plans: Plans) -> None:
    bases = {name: figure["basis"] for name, figure in plans.sheet["figures"].items()}
    assert set(bases.values()) <= set(get_args(Basis)), bases
    assert bases["total"] == "arithmetic"


# Refusals


@then(parsers.re(rf"nothing is computed, because of the (?P<field>{NAMES})$"))
def _refused(plans: Plans, field: str) -> None:
    assert list(plans.faults) == [FIELDS[field]]


@then(parsers.re(rf"nothing is computed, because of the (?P<field>{NAMES}) and the (?P<other>{NAMES})$"))
def _refused_both(plans: Plans, field: str, other: str) -> None:
    assert plans.faults.keys() == {FIELDS[field], FIELDS[other]}


@then(parsers.parse('the sentence names "{word}"'))
def _names(plans: Plans, word: str) -> None:
    assert word in " ".join(plans.faults.values())
