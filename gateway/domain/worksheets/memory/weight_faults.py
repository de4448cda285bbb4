"""What an architecture cannot be divided into, and what its weight bytes take for granted."""

from collections.abc import Iterator

from gateway.domain.worksheets.fields import EntryFault
from gateway.domain.worksheets.memory.stages import Parallelism
from gateway.domain.worksheets.models.architecture import Architecture, Tensor
from gateway.domain.worksheets.models.weight_formats import WEIGHTS


def faults(architecture: Architecture, parallelism: Parallelism) -> tuple[EntryFault, ...]:
    """Of the field ``tensor_parallel``, one at most."""
    if not architecture.knows_tensors:
        return ()
    for tensor in architecture.tensors:
        if not _divides(tensor, parallelism.tensor):
            what = f"{tensor.heads:,} heads" if tensor.heads is not None else f"{tensor.rows:,} rows"
            sentence = f"It does not divide the {what} of the {tensor.name}."
            return (EntryFault("tensor_parallel", sentence, "Enter a number of devices that divides them."),)
    return ()


def _divides(tensor: Tensor, ranks: int) -> bool:
    if tensor.sharding != "tensor":
        return True
    units = tensor.rows if tensor.heads is None else tensor.heads
    return units % ranks == 0 or (tensor.repeated and ranks % units == 0)


def assumed(architecture: Architecture, weight_format: str) -> tuple[str, ...]:
    """What the weight bytes take for granted, a sentence each."""
    return tuple(_assumed(architecture, weight_format))


def _assumed(architecture: Architecture, weight_format: str) -> Iterator[str]:
    form = WEIGHTS[weight_format]
    yield f"Weights: {form.source}."
    if not architecture.knows_tensors:
        yield (
            "Of plain numbers every parameter is counted in the weight format, embeddings and norms too, and all"
            " ranks share them evenly."
        )
        return
    yield (
        "Tensor parallelism divides linears, experts and the rows of the vocabulary; norms, routers and what one head"
        " has alone are on every rank."
    )
    if architecture.tied:
        yield "Embeddings and output head are one tensor; under pipeline parallelism the last stage has a copy."
    if not any(tensor.role in form.roles for tensor in architecture.tensors):
        yield f"No tensor of this model is of a kind that {weight_format} quantises: all are counted at 16 bits."
    if form.pads_experts and architecture.experts:
        yield "Up to: kernels may pad both dimensions of every expert to a multiple of 256."
    if form.head_bits is not None:
        yield "Every linear is of this type; files such as Q4_K_M mix several, and have another size."
        if form.head_bits > form.bits:
            yield f"Up to: the output head may be stored with {float(form.head_bits):g} bits a parameter."
    if form.uneven_bits is not None:
        bits = f"{float(form.uneven_bits):g} bits"
        yield f"Up to: tensors with a side that is no multiple of 256 take {bits} a parameter."
