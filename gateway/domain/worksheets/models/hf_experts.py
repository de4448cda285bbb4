"""Families with experts and grouped-query attention. Tensors as transformers 5 makes them."""

from collections.abc import Callable, Iterator

from msgspec import Struct, structs

from gateway.domain.worksheets.models import hf_windows
from gateway.domain.worksheets.models.architecture import Architecture, Tensor
from gateway.domain.worksheets.models.hf_dense import layer_norms
from gateway.domain.worksheets.models.hf_fields import (
    MEASURE,
    MOST_EXPERTS,
    MOST_LAYERS,
    MOST_SIZE,
    Config,
    ConfigRefused,
)
from gateway.domain.worksheets.models.hf_tensors import (
    Shape,
    attention,
    bias_of,
    ends,
    experts,
    feed_forward,
    heads,
    read_shape,
    vector,
)

_MINIMAX_UNUSED = (
    "layernorm_full_attention_beta",
    "layernorm_linear_attention_beta",
    "layernorm_mlp_beta",
    "mlp_intermediate_size",
    "shared_moe_mode",
)
"""Keys that MiniMax M2 has from its forerunner, and that its code does not read."""
PREDICTION = "The layers that predict further tokens (multi-token prediction) are left out."


class Routing(Struct, frozen=True):
    """Experts that a router chooses from, and of how many each token sees the answer."""

    experts: int
    per_token: int


def read_routing(config: Config, key: str) -> Routing:
    """``key`` is what the family calls the number of experts."""
    count = config.count(key, most=MOST_EXPERTS)
    per_token = config.count("num_experts_per_tok", most=MOST_EXPERTS)
    if per_token > count:
        raise ConfigRefused("num_experts_per_tok", f"It is more than {key}.", "Mend the config.json.")
    return Routing(count, per_token)


def mixtral(config: Config, name: str) -> Architecture:
    """Experts in every layer; a window in every layer, or in none."""
    shape = read_shape(config, derives_head_dim=True)
    routing = read_routing(config, "num_local_experts")
    intermediate = config.count("intermediate_size", most=MOST_SIZE)

    def layer_tensors(layer: int) -> Iterator[Tensor]:
        yield from attention(shape, layer, qkv_bias=False, output_bias=False)
        yield from experts(shape.hidden, intermediate, routing.experts, layer)
        yield from layer_norms(shape, layer)

    found = _of_layers(config, name, shape, routing, layer_tensors)
    return structs.replace(found, attention=hf_windows.everywhere(config, shape.full, shape.layers))


def qwen3_moe(config: Config, name: str) -> Architecture:
    """Experts in every layer but those that ``mlp_only_layers`` and ``decoder_sparse_step`` leave dense."""
    shape = read_shape(config, derives_head_dim=False)
    routing = read_routing(config, "num_experts")
    bias = config.flag("attention_bias", default=False)
    intermediate = config.count("moe_intermediate_size", most=MOST_SIZE)
    step = config.count("decoder_sparse_step", most=MOST_LAYERS, default=1)
    dense = config.list_of("mlp_only_layers", int) if config.has("mlp_only_layers") else []
    head_norms = 2 if config.flag("use_qk_norm", default=True) else 0
    has_dense = step > 1 or bool(dense)
    dense_size = config.count("intermediate_size", most=MOST_SIZE) if has_dense else 0
    config.ignore("intermediate_size")
    if config.flag("use_sliding_window", default=False):
        raise ConfigRefused("use_sliding_window", f"Sliding windows of {name} are not modelled.", MEASURE)

    def layer_tensors(layer: int) -> Iterator[Tensor]:
        yield from attention(shape, layer, qkv_bias=bias, output_bias=bias)
        if layer in dense or (layer + 1) % step:
            yield from feed_forward(shape.hidden, dense_size, layer)
        else:
            yield from experts(shape.hidden, intermediate, routing.experts, layer)
        yield from layer_norms(shape, layer, head_norms=head_norms)

    found = _of_layers(config, name, shape, routing, layer_tensors)
    return structs.replace(found, attention=hf_windows.switched(config, shape.full, shape.layers))


def gpt_oss(config: Config, name: str) -> Architecture:
    """Windows as ``layer_types`` says; biases everywhere, and a sink for each head."""
    shape = read_shape(config, derives_head_dim=False)
    routing = read_routing(config, "num_local_experts")
    intermediate = config.count("intermediate_size", most=MOST_SIZE)
    bias = config.flag("attention_bias", default=True)
    config.ignore("experts_per_token")

    def layer_tensors(layer: int) -> Iterator[Tensor]:
        yield from attention(shape, layer, qkv_bias=bias, output_bias=bias)
        yield structs.replace(heads("sinks", shape.heads, 1, 1, layer), role="other")
        yield from experts(shape.hidden, intermediate, routing.experts, layer)
        yield vector("bias of the router", routing.experts, layer)
        yield from _expert_biases(shape.hidden, intermediate, routing.experts, layer)
        yield from layer_norms(shape, layer)

    found = _of_layers(config, name, shape, routing, layer_tensors)
    return structs.replace(found, attention=hf_windows.listed(config, shape.full, shape.layers))


def _expert_biases(hidden: int, intermediate: int, count: int, layer: int) -> Iterator[Tensor]:
    yield Tensor(
        name="biases of the experts",
        role="other",
        sharding="tensor",
        rows=intermediate,
        columns=1,
        count=2 * count,
        layer=layer,
        routed=True,
    )
    yield structs.replace(vector("output biases of the experts", hidden, layer, count=count), routed=True)


def minimax_m2(config: Config, name: str) -> Architecture:
    """Norms of all queries and of all keys together; a bias of the router."""
    shape = read_shape(config, derives_head_dim=False)
    routing = read_routing(config, "num_local_experts")
    intermediate = config.count("intermediate_size", most=MOST_SIZE)
    has_norms = config.flag("use_qk_norm", default=True)
    has_bias = config.flag("use_routing_bias", default=True)
    if config.has("attn_type_list") and any(kind != 1 for kind in config.list_of("attn_type_list", int)):
        raise ConfigRefused("attn_type_list", "Layers with linear attention are not modelled.", MEASURE)
    config.ignore("mtp_transformer_layers", "qk_norm_type", *_MINIMAX_UNUSED)
    predicts = config.flag("use_mtp", default=False) and config.count("num_mtp_modules", least=0, most=MOST_LAYERS) > 0
    config.ignore("num_mtp_modules")

    def layer_tensors(layer: int) -> Iterator[Tensor]:
        yield from attention(shape, layer, qkv_bias=False, output_bias=False)
        if has_norms:
            yield bias_of(heads("norm of queries", shape.heads, shape.head_dim, 1, layer))
            keys = bias_of(heads("norm of keys", shape.kv_heads, shape.head_dim, 1, layer))
            yield structs.replace(keys, repeated=True)
        yield from experts(shape.hidden, intermediate, routing.experts, layer)
        if has_bias:
            yield vector("bias of the router", routing.experts, layer)
        yield from layer_norms(shape, layer)

    found = _of_layers(config, name, shape, routing, layer_tensors)
    return structs.replace(
        found,
        attention=hf_windows.none(config, shape.full, shape.layers),
        left_out=(PREDICTION,) if predicts else (),
    )


def _of_layers(
    config: Config, name: str, shape: Shape, routing: Routing, layer_tensors: Callable[[int], Iterator[Tensor]]
) -> Architecture:
    tied = config.flag("tie_word_embeddings", default=False)
    layers = [tensor for layer in range(shape.layers) for tensor in layer_tensors(layer)]
    return Architecture(
        name=name,
        attention=(shape.full,) * shape.layers,
        tensors=(*ends(config, shape.hidden, tied=tied), *layers),
        tied=tied,
        experts=routing.experts,
        experts_per_token=routing.per_token,
    )
