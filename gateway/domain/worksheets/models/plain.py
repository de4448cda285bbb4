"""An architecture from plain numbers: what is known when there is no config.json."""

from gateway.domain.worksheets.models.architecture import Architecture, Full, Tensor


def architecture(*, parameters: int, layers: int, kv_heads: int, head_dim: int) -> Architecture:
    """Equal layers with full attention; the parameters are one sum."""
    every = Tensor(name="parameters", role="linear", sharding="tensor", rows=parameters, columns=1)
    return Architecture(
        name="plain numbers",
        attention=(Full(kv_heads, head_dim),) * layers,
        tensors=(every,),
        knows_tensors=False,
    )
