"""Families whose layers are all dense. Tensors as transformers 5 makes them."""

from collections.abc import Callable, Iterator

from gateway.domain.worksheets.models import hf_windows
from gateway.domain.worksheets.models.architecture import Architecture, Attention, Full, Tensor
from gateway.domain.worksheets.models.hf_fields import MOST_LAYERS, MOST_SIZE, Config
from gateway.domain.worksheets.models.hf_tensors import Shape, attention, ends, feed_forward, read_shape, vector

Windows = Callable[[Config, Full, int], tuple[Attention, ...]]


def llama(config: Config, name: str) -> Architecture:
    """Llama, and what calls itself so. Biases only where the config says so."""
    bias = config.flag("attention_bias", default=False)
    return _plain(config, name, hf_windows.none, qkv_bias=bias, output_bias=bias)


def mistral(config: Config, name: str) -> Architecture:
    """A window in every layer, or in none where the key is null; without the key its code takes one of 4096."""
    config.must_stand("sliding_window")
    return phi3(config, name)


def phi3(config: Config, name: str) -> Architecture:
    """A window in every layer, or in none."""
    return _plain(config, name, hf_windows.everywhere)


def qwen2(config: Config, name: str) -> Architecture:
    """Biases of queries, keys and values, always."""
    return _plain(config, name, hf_windows.switched, qkv_bias=True)


def qwen3(config: Config, name: str) -> Architecture:
    """Norms of queries and keys."""
    bias = config.flag("attention_bias", default=False)
    return _plain(
        config, name, hf_windows.switched, qkv_bias=bias, output_bias=bias, derives_head_dim=False, head_norms=2
    )


def gemma2(config: Config, name: str) -> Architecture:
    """Every second layer has a window; four norms in a layer; tied."""
    return _gemma(config, name, every=2, head_norms=0)


def gemma3(config: Config, name: str) -> Architecture:
    """All but every sixth layer have a window; norms of queries and keys besides."""
    # Files that transformers has saved anew have it with an underline.
    every = config.count("_sliding_window_pattern", most=MOST_LAYERS, default=6)
    every = config.count("sliding_window_pattern", most=MOST_LAYERS, default=every)
    return _gemma(config, name, every=every, head_norms=2)


def _gemma(config: Config, name: str, *, every: int, head_norms: int) -> Architecture:
    def windows(config: Config, full: Full, layers: int) -> tuple[Attention, ...]:
        return hf_windows.interleaved(config, full, layers, every=every)

    bias = config.flag("attention_bias", default=False)
    return _plain(
        config,
        name,
        windows,
        qkv_bias=bias,
        output_bias=bias,
        derives_head_dim=False,
        head_norms=head_norms,
        norms=4,
        tied=True,
    )


def _plain(
    config: Config,
    name: str,
    windows: Windows,
    *,
    qkv_bias: bool = False,
    output_bias: bool = False,
    derives_head_dim: bool = True,
    head_norms: int = 0,
    norms: int = 2,
    tied: bool = False,
) -> Architecture:
    shape = read_shape(config, derives_head_dim=derives_head_dim)
    intermediate = config.count("intermediate_size", most=MOST_SIZE)
    mlp_bias = config.flag("mlp_bias", default=False)
    tied = config.flag("tie_word_embeddings", default=tied)

    def tensors() -> Iterator[Tensor]:
        yield from ends(config, shape.hidden, tied=tied)
        for layer in range(shape.layers):
            yield from attention(shape, layer, qkv_bias=qkv_bias, output_bias=output_bias)
            yield from feed_forward(shape.hidden, intermediate, layer, bias=mlp_bias)
            yield from layer_norms(shape, layer, norms=norms, head_norms=head_norms)

    return Architecture(
        name=name,
        attention=windows(config, shape.full, shape.layers),
        tensors=tuple(tensors()),
        tied=tied,
    )


def layer_norms(shape: Shape, layer: int, *, norms: int = 2, head_norms: int = 0) -> Iterator[Tensor]:
    """Norms of the hidden size, and those of one head that all heads share."""
    yield vector("norms", shape.hidden, layer, count=norms)
    if head_norms:
        yield vector("norms of queries and keys", shape.head_dim, layer, count=head_norms)
