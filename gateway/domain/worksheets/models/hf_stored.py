"""How a config.json says that its weights are stored. It is told beside the format that is counted, and never is it."""

from gateway.domain.worksheets.models.hf_fields import Config
from gateway.domain.worksheets.models.weight_formats import WEIGHTS

_MOST = 2**16


def stored_format(config: Config) -> str | None:
    """An id of ``weight_formats.WEIGHTS`` where it is one of them, else the method's own name; None: not quantised.

    :raises ConfigRefused: if the section is there and says nothing that can be read.
    """
    section = config.section("quantization_config")
    if section is None:
        return None
    if not section.has("quant_method"):
        # ModelOpt names the algorithm alone.
        return section.name("quant_algo").lower() if section.has("quant_algo") else "an unnamed format"
    method = section.name("quant_method")
    if method == "fp8" and section.has("weight_block_size"):
        blocks = section.list_of("weight_block_size", int, most=2)
        return "fp8-128x128" if blocks == [128, 128] else method
    if method in ("awq", "gptq"):
        return _grouped(section, method)
    return method


def _grouped(section: Config, method: str) -> str:
    if section.count("bits", most=_MOST) != 4 or not section.has("group_size"):
        return method
    # -1: one group for each channel.
    group = section.count("group_size", least=-1, most=_MOST)
    key, symmetric = ("zero_point", False) if method == "awq" else ("sym", True)
    is_symmetric = section.flag(key, default=not symmetric) is symmetric
    name = f"{method}-g{group}{'-sym' if is_symmetric else ''}"
    return name if name in WEIGHTS else method
