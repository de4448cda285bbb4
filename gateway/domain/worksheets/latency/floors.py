"""Physical floors of an engine's times: what memory bandwidth and peak arithmetic allow at best. Never a forecast.

A decode step reads every weight that it uses, and the KV states of all running sequences, once; a prefill multiplies
every prompt token by every weight that it uses. Nothing else is counted, so real steps take longer: aiconfigurator's
measured 4.5 to 28.8 ms stand against floors of 1.5 to 17.6 ms.
Sources: Pope et al., Efficiently Scaling Transformer Inference (2022); Kaplan et al., Scaling Laws (2020) for two
operations per parameter and token.
"""

from decimal import Decimal, localcontext
from fractions import Fraction

from msgspec import Struct

from gateway.domain.worksheets.memory.kv_formats import KvFormat, token_bytes
from gateway.domain.worksheets.memory.weights import on_rank
from gateway.domain.worksheets.models.architecture import Architecture, Attention, Tensor, Window
from gateway.domain.worksheets.models.weight_formats import WEIGHTS, WeightFormat

_DIGITS = 50
"""Of a power of the share of experts that a token leaves out: far beyond what any figure shows."""


class Model(Struct, frozen=True, kw_only=True):
    """What a step touches. Bytes are those of one rank, parameters those of the whole model."""

    steady_bytes: Fraction
    """Weights that every step reads: all but the input embedding, of which it reads a row, and but the experts."""
    expert_bytes: Fraction
    """All experts of all layers."""
    steady_parameters: int
    expert_parameters: int
    experts: int = 0
    """In one layer; 0: there are none."""
    experts_per_token: int = 0
    attention: tuple[Attention, ...]
    kv_format: KvFormat
    tensor_parallel: int


def model(architecture: Architecture, weight_format: str, kv_format: KvFormat, tensor_parallel: int) -> Model:
    """Of an architecture whose tensors are known. Where the head is the embedding, a step reads that too."""
    form, last = WEIGHTS[weight_format], len(architecture.attention) - 1
    read = [one for one in architecture.tensors if one.role != "embedding" or architecture.tied]
    experts = [one for one in read if _is_routed(one)]
    steady = [one for one in read if not _is_routed(one)]
    return Model(
        steady_bytes=sum((_bytes(form, one, last, tensor_parallel) for one in steady), Fraction(0)),
        expert_bytes=sum((_bytes(form, one, last, tensor_parallel) for one in experts), Fraction(0)),
        steady_parameters=sum(one.parameters for one in steady),
        expert_parameters=sum(one.parameters for one in experts),
        experts=architecture.experts,
        experts_per_token=architecture.experts_per_token,
        attention=architecture.attention,
        kv_format=kv_format,
        tensor_parallel=tensor_parallel,
    )


def distinct_experts(experts: int, per_token: int, sequences: int) -> Fraction:
    """Experts of a layer that a step of so many sequences needs on average, if all are chosen equally often:
    E (1 - (1 - k/E)^B). One sequence needs its own k."""
    with localcontext() as context:
        context.prec = _DIGITS
        power = (1 - Decimal(per_token) / Decimal(experts)) ** sequences
        # Of many sequences the power is a number with thousands of zeros, which no figure shows.
        left_out = power.quantize(Decimal(1).scaleb(1 - _DIGITS))
    return experts * (1 - Fraction(left_out)) if sequences > 1 else Fraction(per_token)


def per_token(model: Model, bandwidth: Fraction, *, input_tokens: int, output_tokens: int, sequences: int) -> Fraction:
    """Seconds of a mean decode step: bytes that it reads on one rank / bytes per second.

    Halfway through its answer a sequence has cached its input and half of its output.
    """
    cached = input_tokens + Fraction(output_tokens, 2)
    weights = model.steady_bytes
    if model.experts:
        needed = distinct_experts(model.experts, model.experts_per_token, sequences)
        weights += model.expert_bytes * needed / model.experts
    states = sum((_states(one, cached, model) for one in model.attention), Fraction(0))
    return (weights + sequences * states) / bandwidth


def prefill(model: Model, operations_per_s: Fraction, *, input_tokens: int) -> Fraction:
    """Seconds of the prefill of one prompt: 2 x parameters that a token uses x tokens / operations per second of all.

    What attention multiplies is left out, so that the floor is lower still.
    """
    used = Fraction(model.steady_parameters)
    if model.experts:
        used += Fraction(model.expert_parameters * model.experts_per_token, model.experts)
    return 2 * used * input_tokens / (model.tensor_parallel * operations_per_s)


def _is_routed(tensor: Tensor) -> bool:
    return tensor.role == "expert" or tensor.routed


def _bytes(form: WeightFormat, tensor: Tensor, last: int, ranks: int) -> Fraction:
    quantised = tensor.role in form.roles and not (form.spares_ends and tensor.layer in (0, last))
    return on_rank(tensor, ranks) * (form.bits if quantised else form.other_bits) / 8


def _states(attention: Attention, cached: Fraction, model: Model) -> Fraction:
    """Bytes of one layer's KV states that a step reads for one sequence, on one rank."""
    if isinstance(attention, Window):
        cached = min(cached, Fraction(attention.window))
    return cached * token_bytes(attention, model.kv_format, model.tensor_parallel)
