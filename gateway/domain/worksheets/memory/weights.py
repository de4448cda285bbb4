"""What the weights take on one rank of each stage: parameters x bits / 8, divided as the engines divide them.

Source: vLLM 0.32, model_executor/layers/{linear,vocab_parallel_embedding}.py and
model_executor/layers/fused_moe/oracle/mxfp4.py.
"""

from collections.abc import Iterable, Mapping
from fractions import Fraction

from gateway.domain.worksheets.memory.stages import Parallelism, stage_layers
from gateway.domain.worksheets.models.architecture import Architecture, Tensor
from gateway.domain.worksheets.models.weight_formats import LONG_BLOCK, WEIGHTS, WeightFormat
from gateway.domain.worksheets.units import Interval

VOCABULARY_PADDING = 64
EXPERT_PADDING = 256


def rank_weights(architecture: Architecture, weight_format: str, parallelism: Parallelism) -> tuple[Interval, ...]:
    """Bytes on one rank of each stage, for every plan without ``faults``. Data parallelism copies them.

    From the file's bytes to what loading may take: the experts padded by their kernels, the head stored better.
    """
    form, ranks = WEIGHTS[weight_format], parallelism.tensor
    if not architecture.knows_tensors:
        share = Fraction(architecture.parameters) * form.bits / 8 / (ranks * parallelism.pipeline)
        return (Interval(share, share),) * parallelism.pipeline
    last = len(architecture.attention) - 1
    held = _held(architecture, parallelism.pipeline)
    return tuple(
        Interval(
            _bytes(_by_bits((_least_bits(form, tensor, last), on_rank(tensor, ranks)) for tensor in tensors)),
            _bytes(
                _by_bits(
                    (_most_bits(form, tensor, last, tied=architecture.tied), _on_rank_padded(form, tensor, ranks))
                    for tensor in tensors
                )
            ),
        )
        for tensors in held
    )


def parameters_by_bits(
    architecture: Architecture, weight_format: str, parallelism: Parallelism, stage: int
) -> Mapping[Fraction, int]:
    """Parameters on one rank of a stage, by the bits that each takes in the file; only where tensors are known."""
    form, last = WEIGHTS[weight_format], len(architecture.attention) - 1
    held = _held(architecture, parallelism.pipeline)[stage]
    return _by_bits((_least_bits(form, tensor, last), on_rank(tensor, parallelism.tensor)) for tensor in held)


def on_rank(tensor: Tensor, ranks: int) -> int:
    """Parameters of a class of tensors that one of so many ranks of its stage holds."""
    return tensor.count * _rows(tensor, ranks) * tensor.columns


def _held(architecture: Architecture, pipeline: int) -> list[list[Tensor]]:
    """The tensors of each stage."""
    stages = stage_layers(len(architecture.attention), pipeline)
    stage_of = {layer: stage for stage, layers in enumerate(stages) for layer in layers}
    held: list[list[Tensor]] = [[] for _ in stages]
    for tensor in architecture.tensors:
        if tensor.layer is not None:
            held[stage_of[tensor.layer]].append(tensor)
        elif tensor.role == "embedding":
            held[0].append(tensor)
            if architecture.tied and pipeline > 1:
                held[-1].append(tensor)
        else:
            held[-1].append(tensor)
    return held


def _rows(tensor: Tensor, ranks: int) -> int:
    if tensor.sharding == "replicated":
        return tensor.rows
    if tensor.sharding == "vocabulary":
        return _divided(_divided(tensor.rows, VOCABULARY_PADDING) * VOCABULARY_PADDING, ranks)
    if tensor.heads is not None:
        return _divided(tensor.heads, ranks) * (tensor.rows // tensor.heads)
    return _divided(tensor.rows, ranks)


def _on_rank_padded(form: WeightFormat, tensor: Tensor, ranks: int) -> int:
    if not (form.pads_experts and tensor.role == "expert"):
        return on_rank(tensor, ranks)
    rows, columns = (_divided(size, EXPERT_PADDING) * EXPERT_PADDING for size in (_rows(tensor, ranks), tensor.columns))
    return tensor.count * rows * columns


def _least_bits(form: WeightFormat, tensor: Tensor, last: int) -> Fraction:
    spared = form.spares_ends and tensor.layer in (0, last)
    return form.bits if tensor.role in form.roles and not spared else form.other_bits


def _most_bits(form: WeightFormat, tensor: Tensor, last: int, *, tied: bool) -> Fraction:
    bits = _least_bits(form, tensor, last)
    is_head = tensor.role == "head" or (tied and tensor.role == "embedding")
    if is_head and form.head_bits is not None:
        return form.head_bits
    # Of the vocabulary's tensors the hidden size alone is blocked.
    sides = (tensor.columns,) if tensor.sharding == "vocabulary" else (tensor.rows, tensor.columns)
    is_uneven = any(side % LONG_BLOCK for side in sides)
    if is_uneven and form.uneven_bits is not None and tensor.role in form.roles:
        return form.uneven_bits
    return bits


def _by_bits(sizes: Iterable[tuple[Fraction, int]]) -> dict[Fraction, int]:
    found: dict[Fraction, int] = {}
    for bits, parameters in sizes:
        found[bits] = found.get(bits, 0) + parameters
    return found


def _bytes(parameters: Mapping[Fraction, int]) -> Fraction:
    return sum((bits * count for bits, count in parameters.items()), Fraction(0)) / 8


def _divided(size: int, parts: int) -> int:
    """Rounded up, so that the parts are never less than the whole."""
    return -(-size // parts)
