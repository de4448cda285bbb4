"""How devices share a model, and which layers each stage of a pipeline holds."""

from itertools import accumulate

from msgspec import Struct


class Parallelism(Struct, frozen=True):
    """Devices by what they share: tensors, layers, or nothing (another full copy)."""

    tensor: int = 1
    pipeline: int = 1
    data: int = 1

    @property
    def devices(self) -> int:
        return self.tensor * self.pipeline * self.data


def stage_layers(layers: int, pipeline: int) -> tuple[range, ...]:
    """Consecutive layers per stage, as vLLM divides them: what is left over goes one each to the last stages but one.

    Source: vllm/distributed/utils.py, get_pp_indices (0.32).
    """
    counts = [layers // pipeline] * pipeline
    for position in range(2, layers % pipeline + 2):
        counts[-position] += 1
    return tuple(range(end - count, end) for end, count in zip(accumulate(counts), counts, strict=True))
