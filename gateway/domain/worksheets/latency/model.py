"""The model that was entered for a floor: as a config.json, or as plain numbers with their experts apart."""

from gateway.domain.worksheets.fields import Entries
from gateway.domain.worksheets.memory import weight_faults
from gateway.domain.worksheets.memory.faults import heads_fault
from gateway.domain.worksheets.memory.kv_formats import KV, format_fault
from gateway.domain.worksheets.memory.stages import Parallelism
from gateway.domain.worksheets.models.architecture import Architecture, Full, Tensor
from gateway.domain.worksheets.models.hf_config import read_config
from gateway.domain.worksheets.models.hf_fields import MOST_EXPERTS, MOST_HEADS, MOST_LAYERS, MOST_SIZE, ConfigRefused

EXPERTS = ("expert_parameters", "experts", "experts_per_token")
PLAIN = ("parameters", "embedding_parameters", "layers", "kv_heads", "head_dim", *EXPERTS)
"""What stands in place of a config.json."""


def architecture(entries: Entries) -> Architecture | None:
    """None: a fault is noted."""
    if not entries.has("config"):
        return _plain(entries)
    for name in PLAIN:
        if entries.has(name):
            entries.refuse(name, "The config.json says this already.", "Leave it out, or leave out the config.")
    try:
        return read_config(entries.text("config"))
    except ConfigRefused as refused:
        sentence = f"{refused.key}: {refused.sentence}" if refused.key else refused.sentence
        entries.refuse("config", sentence, refused.remedy)
        return None


def tensor_parallel(entries: Entries, model: Architecture) -> int:
    """Devices that this model's tensors can be shared by."""
    ranks = entries.count("device_tensor_parallel", most=1024)
    for fault in (*heads_fault(model.attention, ranks), *weight_faults.faults(model, Parallelism(tensor=ranks))):
        entries.refuse("device_tensor_parallel", fault.sentence, fault.remedy)
    return ranks


def kv_format(entries: Entries, model: Architecture) -> str:
    """An id of ``kv_formats.KV`` in which this model's states can be stored."""
    named = entries.choice("kv_format")
    if named in KV and (fault := format_fault(named, model.attention, "arithmetic")) is not None:
        entries.refuse(fault.field, fault.sentence, fault.remedy)
    return named


def _plain(entries: Entries) -> Architecture | None:
    """Equal layers with full attention. The input embedding is apart, because no step reads it."""
    parameters = entries.count("parameters")
    embedding = entries.count("embedding_parameters", least=0)
    layers, heads = entries.count("layers", most=MOST_LAYERS), entries.count("kv_heads", most=MOST_HEADS)
    attention = (Full(heads, entries.count("head_dim", most=MOST_SIZE)),) * layers
    of_experts = experts = chosen = 0
    if any(map(entries.has, EXPERTS)):
        of_experts, experts = entries.count("expert_parameters"), entries.count("experts", most=MOST_EXPERTS)
        chosen = entries.count("experts_per_token", most=MOST_EXPERTS)
        if chosen > experts:
            entries.refuse("experts_per_token", "A token cannot have more experts than there are.", "Mend either.")
    if embedding + of_experts > parameters and entries.is_sound:
        entries.refuse("parameters", "Embedding and experts together have more.", "Enter those of the whole model.")
    if not entries.is_sound:
        return None
    # ``feed_forward``: the role that most formats quantise, so that the bytes come out low, as a floor's must.
    every = Tensor(
        name="all else", role="feed_forward", sharding="tensor", rows=parameters - embedding - of_experts, columns=1
    )
    of_router = Tensor(name="experts", role="expert", sharding="tensor", rows=of_experts, columns=1)
    return Architecture(
        name="plain numbers",
        attention=attention,
        tensors=(every, of_router),
        knows_tensors=False,
        experts=experts,
        experts_per_token=chosen,
    )
