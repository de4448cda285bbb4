"""Plans of memory as tests make them."""

from pathlib import Path

from gateway.domain.worksheets.memory.plan import MemoryPlan
from gateway.domain.worksheets.memory.stages import Parallelism
from gateway.domain.worksheets.models.architecture import Architecture, Attention, Full, Latent, Window
from gateway.domain.worksheets.models.hf_config import read_config
from gateway.domain.worksheets.units import GIB

CONFIGS = Path(__file__).parent / "configs"
KINDS = {"full": Full, "window": Window, "latent": Latent}


def model(name: str) -> Architecture:
    """Of a config.json that lies with the tests."""
    return read_config((CONFIGS / f"{name}.json").read_text(encoding="utf-8"))


def weightless(*attention: Attention, longest: int | None = None) -> Architecture:
    """Layers and no tensors: a device for it holds nothing but KV states."""
    return Architecture(name="weightless", attention=attention, tensors=(), longest_context=longest)


def plan(
    architecture: Architecture, *, tensor: int = 1, pipeline: int = 1, data: int = 1, **changed: object
) -> MemoryPlan:
    """One sequence of 4096 tokens in 24 GiB without reserve, at 16 bits, unless changed."""
    of_plan = {
        "weight_format": "raw16",
        "kv_format": "bf16",
        "tokens": 4096,
        "sequences": 1,
        "device": 24 * GIB,
        "reserve": 0,
    }
    return MemoryPlan(architecture=architecture, parallelism=Parallelism(tensor, pipeline, data), **(of_plan | changed))
