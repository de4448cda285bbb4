"""A model as far as memory needs it: what each layer keeps per token, and which tensors there are.

A layout that is not described by these words is not modelled, and is refused by name rather than guessed.
"""

from typing import Literal

from msgspec import Struct

Sharding = Literal["tensor", "vocabulary", "replicated"]
"""How tensor parallelism divides a class of tensors: by rows, or by the heads that they are of; by rows of the padded
vocabulary; not at all."""
Role = Literal["linear", "feed_forward", "expert", "embedding", "head", "other"]
"""What recipes tell apart. ``linear``: of the attention, and what is not known nearer; ``feed_forward``: of dense
layers and of experts that every token visits; ``expert``: of those that a router chooses. These are what recipes
quantise; embeddings, output head and the rest (norms, routers, biases) only where they say so."""


class Full(Struct, frozen=True, tag="full"):
    """Keys and values of every token: multi-head, grouped-query and multi-query attention alike."""

    kv_heads: int
    head_dim: int


class Window(Struct, frozen=True, tag="window"):
    """The same of the last ``window`` tokens."""

    kv_heads: int
    head_dim: int
    window: int


class Latent(Struct, frozen=True, tag="latent"):
    """Multi-head latent attention (MLA): one row per token for all heads, which no tensor parallelism divides."""

    rank: int
    """kv_lora_rank."""
    rope_dim: int
    """qk_rope_head_dim."""


Attention = Full | Window | Latent


class Tensor(Struct, frozen=True, kw_only=True):
    """A class of equal tensors: ``count`` of ``rows`` x ``columns`` parameters, whichever way they are stored.

    The rows are what tensor parallelism divides: of a projection back to the hidden size, its inputs.
    """

    name: str
    role: Role
    sharding: Sharding
    rows: int
    columns: int
    count: int = 1
    layer: int | None = None
    """The layer that it belongs to; None: to the first stage (embeddings) or to the last (norm, head)."""
    heads: int | None = None
    """Heads that the rows are of, which are divided only as wholes."""
    repeated: bool = False
    """With more ranks than heads, each rank holds one and some hold the same: keys and values."""
    routed: bool = False
    """Of experts that a router chooses from, whatever its role: a token uses as much of it as of them."""

    @property
    def parameters(self) -> int:
        return self.rows * self.columns * self.count


class Architecture(Struct, frozen=True, kw_only=True):
    """One model."""

    name: str
    """What it is called in sentences, such as ``llama`` or ``plain numbers``."""
    attention: tuple[Attention, ...]
    """One per layer, in the order of the layers."""
    tensors: tuple[Tensor, ...]
    """All of them; where only a sum of parameters is known, one linear one without a layer."""
    longest_context: int | None = None
    """Tokens that the model was made for, an interface bound; None: not known."""
    knows_tensors: bool = True
    """False: the tensors are one sum, so that no format can leave embeddings alone and ranks share it evenly."""
    tied: bool = False
    """The embeddings are the output head too, so that the last stage needs them as the first does."""
    experts: int = 0
    """That a router chooses from, in one layer; 0: there are none."""
    experts_per_token: int = 0
    stored_format: str | None = None
    """How the config says that its weights are stored; information, not the format that is counted."""
    left_out: tuple[str, ...] = ()
    """What the config describes and the tensors leave out, a sentence each."""

    @property
    def parameters(self) -> int:
        return sum(tensor.parameters for tensor in self.tensors)
