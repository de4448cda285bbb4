"""The tensors that decoders are made of, as classes of equal ones."""

from collections.abc import Iterator

from msgspec import Struct, structs

from gateway.domain.worksheets.models.architecture import Full, Tensor
from gateway.domain.worksheets.models.hf_fields import MOST_HEADS, MOST_LAYERS, MOST_SIZE, Config, ConfigRefused

MOST_VOCABULARY = 2**24


class Shape(Struct, frozen=True, kw_only=True):
    """What every decoder with grouped-query attention says of itself."""

    hidden: int
    layers: int
    heads: int
    kv_heads: int
    head_dim: int

    @property
    def full(self) -> Full:
        return Full(self.kv_heads, self.head_dim)


def read_shape(config: Config, *, derives_head_dim: bool) -> Shape:
    """``derives_head_dim``: the family's head dimension is hidden_size / num_attention_heads where it is not given."""
    hidden = config.count("hidden_size", most=MOST_SIZE)
    heads = config.count("num_attention_heads", most=MOST_HEADS)
    kv_heads = config.count("num_key_value_heads", most=MOST_HEADS)
    if heads % kv_heads:
        sentence = "The KV heads do not divide the attention heads (num_attention_heads)."
        raise ConfigRefused("num_key_value_heads", sentence, "Mend the config.json.")
    if derives_head_dim and not config.has("head_dim"):
        if hidden % heads:
            sentence = "It is not divisible by num_attention_heads, and head_dim is not given."
            raise ConfigRefused("hidden_size", sentence, "Mend the config.json.")
        head_dim = hidden // heads
    else:
        head_dim = config.count("head_dim", most=MOST_SIZE)
    if head_dim % 2:
        sentence = "The dimension of a head is odd, and rotary positions turn its elements in pairs."
        raise ConfigRefused("head_dim", sentence, "Mend the config.json.")
    return Shape(
        hidden=hidden,
        layers=config.count("num_hidden_layers", most=MOST_LAYERS),
        heads=heads,
        kv_heads=kv_heads,
        head_dim=head_dim,
    )


def ends(config: Config, hidden: int, *, tied: bool) -> Iterator[Tensor]:
    """Embeddings, the norm before the head, and the head where it is a tensor of its own."""
    vocabulary = config.count("vocab_size", most=MOST_VOCABULARY)
    yield Tensor(name="embeddings", role="embedding", sharding="vocabulary", rows=vocabulary, columns=hidden)
    yield vector("final norm", hidden)
    if not tied:
        yield Tensor(name="head", role="head", sharding="vocabulary", rows=vocabulary, columns=hidden)


def attention(shape: Shape, layer: int, *, qkv_bias: bool, output_bias: bool) -> Iterator[Tensor]:
    """Projections of queries, keys and values, and back."""
    queries = heads("queries", shape.heads, shape.head_dim, shape.hidden, layer)
    keys = structs.replace(
        heads("keys and values", shape.kv_heads, shape.head_dim, shape.hidden, layer), count=2, repeated=True
    )
    yield queries
    yield keys
    yield heads("attention output", shape.heads, shape.head_dim, shape.hidden, layer)
    if qkv_bias:
        yield bias_of(queries)
        yield bias_of(keys)
    if output_bias:
        yield vector("attention output bias", shape.hidden, layer)


def heads(name: str, count: int, head_dim: int, columns: int, layer: int) -> Tensor:
    """A projection to heads, or from them."""
    return Tensor(
        name=name,
        role="linear",
        sharding="tensor",
        rows=count * head_dim,
        columns=columns,
        layer=layer,
        heads=count,
    )


def bias_of(linear: Tensor) -> Tensor:
    """One parameter for each row."""
    return structs.replace(linear, name=f"{linear.name} bias", role="other", columns=1)


def replicated(name: str, rows: int, columns: int, layer: int) -> Tensor:
    """A linear that every rank holds whole."""
    return Tensor(name=name, role="linear", sharding="replicated", rows=rows, columns=columns, layer=layer)


def vector(name: str, size: int, layer: int | None = None, *, count: int = 1) -> Tensor:
    """Of a norm, or a bias of the hidden size."""
    return Tensor(name=name, role="other", sharding="replicated", rows=size, columns=1, count=count, layer=layer)


def feed_forward(hidden: int, intermediate: int, layer: int, *, bias: bool = False) -> Iterator[Tensor]:
    """Gate, up and down, of a layer that every token visits."""
    gated = Tensor(
        name="feed forward",
        role="feed_forward",
        sharding="tensor",
        rows=intermediate,
        columns=hidden,
        count=3,
        layer=layer,
    )
    yield gated
    if bias:
        yield structs.replace(bias_of(gated), count=2)
        yield vector("feed forward output bias", hidden, layer)


def experts(hidden: int, intermediate: int, count: int, layer: int) -> Iterator[Tensor]:
    """A router, and gate, up and down of each expert."""
    yield structs.replace(replicated("router", count, hidden, layer), role="other")
    yield Tensor(
        name="experts",
        role="expert",
        sharding="tensor",
        rows=intermediate,
        columns=hidden,
        count=3 * count,
        layer=layer,
    )
