"""The memory worksheet: from what was entered to a plan, and from the plan to its sheet."""

from collections.abc import Mapping
from decimal import Decimal

from gateway.domain.worksheets import entered as entered_
from gateway.domain.worksheets import measured
from gateway.domain.worksheets.fields import Entries
from gateway.domain.worksheets.memory import faults as memory_faults
from gateway.domain.worksheets.memory import fields as memory_fields
from gateway.domain.worksheets.memory import figures as memory_figures
from gateway.domain.worksheets.memory import plan as memory
from gateway.domain.worksheets.memory.fields import FIELDS
from gateway.domain.worksheets.memory.plan import MemoryPlan
from gateway.domain.worksheets.memory.stages import Parallelism
from gateway.domain.worksheets.models import plain
from gateway.domain.worksheets.models.architecture import Architecture
from gateway.domain.worksheets.models.hf_config import read_config
from gateway.domain.worksheets.models.hf_fields import MOST_LAYERS, ConfigRefused
from gateway.domain.worksheets.sheet import Sheet
from gateway.domain.worksheets.units import gib_to_bytes

MOST_STAGES = 128
MOST_COPIES = MOST_RANKS = 1024
PLAIN = ("parameters", "layers", "kv_heads", "head_dim")
"""Of a model without a config.json."""
_SHOWN = {field.name: field for field in FIELDS if field.kind in ("count", "decimal", "choice")}


def sheet(entered: Mapping[str, str]) -> Sheet:
    """The worksheet of what was entered, defaults for the rest.

    :raises EntriesRefused: with every fault, each naming its field.
    """
    entries = Entries(FIELDS, entered)
    rests_on = measured.read_measured(entries, entered_.measurable(FIELDS))
    plan = read(entries)
    if entries.is_sound:
        for fault in memory_faults.faults(plan):
            entries.refuse(fault.field, fault.sentence, fault.remedy)
    entries.close()
    shown = {name: field for name, field in _SHOWN.items() if _counts(entries, name)}
    return memory_figures.rendered(memory.compute(plan), rests_on, entered_.table(entries, shown, rests_on))


def _counts(entries: Entries, name: str) -> bool:
    """Whether this entry went into the numbers: a config and a weight format take the place of others."""
    if name in PLAIN:
        return not entries.has("config")
    return name != "weight_bits" or entries.text("weight_format") == "raw"


def read(entries: Entries) -> MemoryPlan:
    """The plan. Faults are noted in ``entries``; with any of them it means nothing."""
    if entries.has("config"):
        for name in PLAIN:
            if entries.has(name):
                entries.refuse(name, "The config.json says this already.", "Leave it out, or leave out the config.")
    weight_format = memory_fields.weight_format(entries)
    architecture = _architecture(entries)
    parallelism = Parallelism(
        tensor=entries.count("tensor_parallel", most=MOST_RANKS),
        pipeline=entries.count("pipeline_parallel", most=MOST_STAGES),
        data=entries.count("data_parallel", most=MOST_COPIES),
    )
    return MemoryPlan(
        architecture=architecture,
        weight_format=weight_format,
        kv_format=entries.choice("kv_format"),
        parallelism=parallelism,
        tokens=entries.count("cached_tokens", most=10**9),
        sequences=entries.count("sequences", most=10**6),
        device=gib_to_bytes(entries.decimal("vram_gib", least=Decimal("0.001"), most=Decimal(10**6))),
        reserve=gib_to_bytes(entries.decimal("reserve_gib", most=Decimal(10**6))),
        accounting=entries.choice("accounting"),  # type: ignore[arg-type]  # it is one of the choices
        block=entries.count("block_tokens", most=4096),
        batched_tokens=entries.count("batched_tokens", most=2**31) if entries.has("batched_tokens") else None,
    )


def _architecture(entries: Entries) -> Architecture:
    """Of the config.json; without one, and with one that is refused, of the plain numbers."""
    if entries.has("config"):
        try:
            return read_config(entries.text("config"))
        except ConfigRefused as refused:
            where = f"{refused.key}: " if refused.key else ""
            entries.refuse("config", f"{where}{refused.sentence}", refused.remedy)
    return plain.architecture(
        parameters=entries.count("parameters"),
        layers=entries.count("layers", most=MOST_LAYERS),
        kv_heads=entries.count("kv_heads", most=2**16),
        head_dim=entries.count("head_dim", most=2**16),
    )
