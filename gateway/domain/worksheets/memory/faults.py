"""Which plans the memory worksheet refuses: what engines do not do, or what is not modelled."""

from collections.abc import Iterable, Iterator

from gateway.domain.worksheets.fields import EntryFault
from gateway.domain.worksheets.memory import weight_faults
from gateway.domain.worksheets.memory.kv_formats import KV, format_fault
from gateway.domain.worksheets.memory.plan import MemoryPlan
from gateway.domain.worksheets.memory.vllm_groups import pads_pages
from gateway.domain.worksheets.models.architecture import Attention, Latent
from gateway.domain.worksheets.units import grouped


def faults(plan: MemoryPlan) -> tuple[EntryFault, ...]:
    """What is wrong with a plan; the fields are those of the worksheet. Without any, ``memory.compute`` is defined."""
    found = [*_of_stages(plan), *_of_ranks(plan), *weight_faults.faults(plan.architecture, plan.parallelism)]
    if (fault := format_fault(plan.kv_format, plan.architecture.attention, plan.accounting)) is not None:
        return (*found, fault)
    return (*found, *_of_groups(plan))


def _of_stages(plan: MemoryPlan) -> Iterator[EntryFault]:
    layers, stages = len(plan.architecture.attention), plan.parallelism.pipeline
    if stages > layers:
        sentence = f"{grouped(stages)} stages are more than the {grouped(layers)} layers, so some would hold none."
        yield EntryFault("pipeline_parallel", sentence, "Enter at most as many stages as there are layers.")


def _of_ranks(plan: MemoryPlan) -> Iterator[EntryFault]:
    ranks = plan.parallelism.tensor
    if plan.accounting == "llama.cpp":
        if ranks > 1:
            sentence = "llama.cpp divides a model by layers; its ways to divide tensors are not modelled."
            yield EntryFault("tensor_parallel", sentence, "Enter 1, and the devices as pipeline parallelism.")
        return
    yield from heads_fault(plan.architecture.attention, ranks)


def heads_fault(attention: Iterable[Attention], ranks: int) -> tuple[EntryFault, ...]:
    """Of the field ``tensor_parallel``, one at most.

    Source: vllm/model_executor/layers/linear.py, QKVParallelLinear, which divides one by the other (0.32).
    """
    for count in sorted({layer.kv_heads for layer in attention if not isinstance(layer, Latent)}):
        if max(count, ranks) % min(count, ranks):
            sentence = f"{grouped(count)} KV heads and {grouped(ranks)} devices do not divide each other evenly."
            return (EntryFault("tensor_parallel", sentence, "Enter a divisor or a multiple of the KV heads."),)
    return ()


def _of_groups(plan: MemoryPlan) -> Iterator[EntryFault]:
    if plan.accounting != "vllm<0.21":
        return
    if pads_pages(plan.architecture.attention, KV[plan.kv_format], plan.parallelism.tensor):
        sentence = "These layers differ in size so that none is a multiple of the other, which is not modelled here."
        yield EntryFault("accounting", sentence, "Choose vllm>=0.21 or arithmetic.")
