"""Families with multi-head latent attention (MLA) and experts: DeepSeek V2 and V3, Kimi K2. As transformers 5."""

from collections.abc import Iterator

from msgspec import Struct

from gateway.domain.worksheets.models.architecture import Architecture, Latent, Tensor
from gateway.domain.worksheets.models.hf_experts import PREDICTION, Routing, read_routing
from gateway.domain.worksheets.models.hf_fields import (
    MEASURE,
    MOST_EXPERTS,
    MOST_HEADS,
    MOST_LAYERS,
    MOST_SIZE,
    Config,
    ConfigRefused,
)
from gateway.domain.worksheets.models.hf_tensors import ends, experts, feed_forward, heads, replicated, vector

ABSORBED = "Copies of the latent up-projections that an engine may keep in another layout are left out."


class LatentShape(Struct, frozen=True, kw_only=True):
    """What the attention says of itself."""

    hidden: int
    layers: int
    heads: int
    query_rank: int | None
    """q_lora_rank; None: the queries are projected at once."""
    rank: int
    rope_dim: int
    nope_dim: int
    value_dim: int


def deepseek_v2(config: Config, name: str) -> Architecture:
    """Without the bias of the router."""
    return _latent(config, name, router_bias=False)


def deepseek_v3(config: Config, name: str) -> Architecture:
    """The router has a bias for each expert."""
    return _latent(config, name, router_bias=True)


def _latent(config: Config, name: str, *, router_bias: bool) -> Architecture:
    shape = _shape(config)
    routing = read_routing(config, "n_routed_experts")
    config.must_stand("n_shared_experts")
    dense_layers = config.count("first_k_dense_replace", least=0, most=shape.layers)
    dense_size = config.count("intermediate_size", most=MOST_SIZE)
    expert_size = config.count("moe_intermediate_size", most=MOST_SIZE)
    shared = config.count("n_shared_experts", least=0, most=MOST_EXPERTS, default=0)
    if config.count("moe_layer_freq", most=MOST_LAYERS, default=1) != 1:
        raise ConfigRefused("moe_layer_freq", "Experts in only some of the later layers are not modelled.", MEASURE)
    tied = config.flag("tie_word_embeddings", default=False)
    predicts = config.count("num_nextn_predict_layers", least=0, most=MOST_LAYERS, default=0)

    def tensors() -> Iterator[Tensor]:
        yield from ends(config, shape.hidden, tied=tied)
        for layer in range(shape.layers):
            yield from _attention(shape, layer)
            if layer < dense_layers:
                yield from feed_forward(shape.hidden, dense_size, layer)
            else:
                yield from _routed(shape, routing, expert_size, shared, layer, router_bias=router_bias)
            yield vector("norms", shape.hidden, layer, count=2)

    return Architecture(
        name=name,
        attention=(Latent(shape.rank, shape.rope_dim),) * shape.layers,
        tensors=tuple(tensors()),
        tied=tied,
        experts=routing.experts,
        experts_per_token=routing.per_token,
        left_out=(ABSORBED, PREDICTION) if predicts else (ABSORBED,),
    )


def _shape(config: Config) -> LatentShape:
    if config.flag("attention_bias", default=False):
        raise ConfigRefused("attention_bias", "Biases of latent attention are not modelled.", MEASURE)
    # The same number as num_attention_heads, and of no consequence: what is kept is one row for all heads.
    config.ignore("num_key_value_heads", "qk_head_dim", "head_dim")
    config.must_stand("q_lora_rank")
    rope_dim = config.count("qk_rope_head_dim", most=MOST_SIZE)
    if rope_dim % 2:
        sentence = "It is odd, and rotary positions turn elements in pairs."
        raise ConfigRefused("qk_rope_head_dim", sentence, "Mend the config.json.")
    return LatentShape(
        hidden=config.count("hidden_size", most=MOST_SIZE),
        layers=config.count("num_hidden_layers", most=MOST_LAYERS),
        heads=config.count("num_attention_heads", most=MOST_HEADS),
        query_rank=config.count("q_lora_rank", most=MOST_SIZE) if config.has("q_lora_rank") else None,
        rank=config.count("kv_lora_rank", most=MOST_SIZE),
        rope_dim=rope_dim,
        nope_dim=config.count("qk_nope_head_dim", most=MOST_SIZE),
        value_dim=config.count("v_head_dim", most=MOST_SIZE),
    )


def _attention(shape: LatentShape, layer: int) -> Iterator[Tensor]:
    query_dim = shape.nope_dim + shape.rope_dim
    if shape.query_rank is None:
        yield heads("queries", shape.heads, query_dim, shape.hidden, layer)
    else:
        yield replicated("queries, down", shape.query_rank, shape.hidden, layer)
        yield vector("norm of queries", shape.query_rank, layer)
        yield heads("queries, up", shape.heads, query_dim, shape.query_rank, layer)
    yield replicated("keys and values, down", shape.rank + shape.rope_dim, shape.hidden, layer)
    yield vector("norm of keys and values", shape.rank, layer)
    yield heads("keys and values, up", shape.heads, shape.nope_dim + shape.value_dim, shape.rank, layer)
    yield heads("attention output", shape.heads, shape.value_dim, shape.hidden, layer)


def _routed(
    shape: LatentShape, routing: Routing, size: int, shared: int, layer: int, *, router_bias: bool
) -> Iterator[Tensor]:
    yield from experts(shape.hidden, size, routing.experts, layer)
    if router_bias:
        yield vector("bias of the router", routing.experts, layer)
    if shared:
        yield from feed_forward(shape.hidden, size * shared, layer)
