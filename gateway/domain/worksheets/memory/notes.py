"""What the memory worksheet takes for granted, and what is not in its numbers, a sentence each."""

from gateway.domain.worksheets.memory.accounting import VLLM, Accounting
from gateway.domain.worksheets.models.architecture import Attention, Window
from gateway.domain.worksheets.units import grouped

LEFT_OUT = (
    "Activations at their peak, CUDA graphs, the driver's context and libraries are in the reserve, as it was entered.",
    "Fragmentation of the device's memory, and other programs on it.",
    "Prefixes kept for reuse: they live in KV memory that no running sequence needs.",
    "Draft models and draft layers of speculative decoding, LoRA adapters, and encoders of images or sound.",
    "Host memory, KV states moved there, and what loading takes before the weights are in place.",
    "Speed and quality: nothing here says how fast so many sequences are, or how good their answers.",
)

_OF_ACCOUNTING: dict[Accounting, tuple[str, ...]] = {
    "arithmetic": (
        "KV memory is bytes per token times tokens; engines round up to blocks or cells, and take more.",
        "Layers with a window keep just the window; engines keep the tokens of running steps besides.",
    ),
    "vllm>=0.21": (
        "Blocks are counted as vLLM 0.32 counts them, whole blocks for every sequence, and one is never used.",
        "The layer is outermost in KV memory, as with attention kernels that do not ask for another order.",
    ),
    "vllm<0.21": (
        "Groups and blocks are those of vLLM 0.32 with one step under way; versions below 0.21 differ among "
        "themselves in how they pad mixed layers.",
        "Whole blocks are counted for every sequence, and one block is never used.",
    ),
    "llama.cpp": (
        "Every sequence has its own cells (no unified cache), a multiple of 256; windows have their small cache.",
        "Keys and values have the same format, and layers are divided among devices in equal, consecutive parts.",
    ),
}


def assumed(
    *, accounting: Accounting, attention: tuple[Attention, ...], pipeline: int, step: int | None
) -> tuple[str, ...]:
    """``step``: tokens of one step where the default stands for them, else None."""
    notes = ["All sequences have so many tokens at the same instant.", *_OF_ACCOUNTING[accounting]]
    if pipeline > 1 and accounting in VLLM:
        notes.append("Stages hold consecutive layers as vLLM divides them; the fullest decides for all.")
    if pipeline > 1 and accounting == "llama.cpp":
        notes.append("The output counts as a layer where llama.cpp divides them, so that a device may hold one more.")
    if step is not None and accounting != "arithmetic" and any(isinstance(layer, Window) for layer in attention):
        notes.append(f"A step has {grouped(step)} tokens, the engine's default on such a device; windows keep them.")
    return tuple(notes)
