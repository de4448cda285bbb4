"""Which layers of a model share a block table in vLLM, and how large their pages are.

A page is what one layer keeps of one block. All groups take blocks of one pool, so a block must be as large for each:
pages are made equal, and groups have the same number of layers, with padding where a kind of layer has too few.
Source: vllm/v1/core/kv_cache_utils.py, get_kv_cache_groups (0.32).
"""

from collections.abc import Mapping
from fractions import Fraction

from msgspec import Struct
from msgspec.structs import replace

from gateway.domain.worksheets.memory.kv_formats import KvFormat, rank_heads, token_bytes
from gateway.domain.worksheets.models.architecture import Attention, Latent, Window
from gateway.domain.worksheets.units import Exact


class Group(Struct, frozen=True):
    """Layers with one block table."""

    pages: Mapping[int, Exact]
    """Bytes of a page by the number of its layer."""
    block: int
    """Tokens of a block."""
    window: int | None

    def blocks(self, tokens: int, in_flight: int) -> int:
        """Blocks that a sequence of so many tokens takes at most.

        A window keeps its tokens and those in flight, and one block more, as it need not begin with a block.
        Source: vllm/v1/kv_cache_interface.py, FullAttentionSpec and SlidingWindowSpec.max_memory_usage_bytes (0.32).
        """
        if self.window is None:
            return -(-tokens // self.block)
        return -(-min(self.window - 1 + in_flight, tokens) // self.block) + 1


class _Page(Struct, frozen=True):
    """What vLLM compares layers by: equal ones may share a group."""

    layer: Attention
    """As one rank has it."""
    block: int
    bytes: Exact

    @property
    def window(self) -> int | None:
        return self.layer.window if isinstance(self.layer, Window) else None


def layer_groups(attention: tuple[Attention, ...], kv_format: KvFormat, tensor: int, block: int) -> tuple[Group, ...]:
    """The groups, in the order in which their kinds of layers first come."""
    pages = [
        _Page(_on_rank(layer, tensor), block, block * token_bytes(layer, kv_format, tensor)) for layer in attention
    ]
    if len({page.window for page in pages}) == 1:
        return (_one_group(pages, pages[0].window),)
    equal = _equal_pages(pages)
    if equal is None:
        # Latent rows cannot be padded. vLLM then keeps all tokens of the windows too, in one group with the rest.
        return (_one_group(pages, None),)
    return _split(equal)


def pads_pages(attention: tuple[Attention, ...], kv_format: KvFormat, tensor: int) -> bool:
    """Whether pages can only be made equal by leaving a part of some empty, or not at all."""
    if len({layer.window if isinstance(layer, Window) else None for layer in attention}) == 1:
        return False
    sizes = {token_bytes(layer, kv_format, tensor) for layer in attention}
    return any(Fraction(max(sizes)) % size for size in sizes)


def _on_rank(layer: Attention, tensor: int) -> Attention:
    return layer if isinstance(layer, Latent) else replace(layer, kv_heads=rank_heads(layer.kv_heads, tensor))


def _one_group(pages: list[_Page], window: int | None) -> Group:
    return Group({layer: page.bytes for layer, page in enumerate(pages)}, pages[0].block, window)


def _equal_pages(pages: list[_Page]) -> list[_Page] | None:
    """Smaller pages get longer blocks where that comes out even, and else an empty rest. None: neither goes.

    Source: unify_kv_cache_spec_page_size.
    """
    largest = max(page.bytes for page in pages)
    equal = []
    for page in pages:
        times = Fraction(largest) / Fraction(page.bytes)
        if times.denominator == 1:
            equal.append(replace(page, block=page.block * times.numerator, bytes=largest))
        elif isinstance(page.layer, Latent):
            return None
        else:
            equal.append(replace(page, bytes=largest))
    return equal


def _split(pages: list[_Page]) -> tuple[Group, ...]:
    """Kinds of layers, in groups of as many layers as the rarest kind has; or as the commonest, if that is not more
    than half as many again. A kind's layers are dealt out in turn, so that stages of a pipeline have some of each.

    Source: _get_kv_cache_groups_uniform_page_size.
    """
    kinds: dict[_Page, list[int]] = {}
    for layer, page in enumerate(pages):
        kinds.setdefault(page, []).append(layer)
    counts = [len(layers) for layers in kinds.values()]
    size = max(counts) if 2 * max(counts) < 3 * min(counts) else min(counts)
    groups = []
    for page, layers in kinds.items():
        number = -(-len(layers) // size)
        groups += [
            Group(dict.fromkeys(layers[first::number], page.bytes), page.block, page.window) for first in range(number)
        ]
    return tuple(groups)
