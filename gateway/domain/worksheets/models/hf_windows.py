"""Which layers keep only a window of the last tokens."""

from collections.abc import Callable

from msgspec import structs

from gateway.domain.worksheets.models.architecture import Attention, Full, Window
from gateway.domain.worksheets.models.hf_fields import MEASURE, MOST_TOKENS, Config, ConfigRefused

_KINDS = ("full_attention", "sliding_attention")


def everywhere(config: Config, full: Full, layers: int) -> tuple[Attention, ...]:
    """Every layer has the window, if there is one: Mistral's kin."""
    return _layers(config, full, layers, lambda _: config.has("sliding_window"))


def none(config: Config, full: Full, layers: int) -> tuple[Attention, ...]:
    """The family has no windows; ``layer_types`` may say so."""
    return _layers(config, full, layers, lambda _: False)


def switched(config: Config, full: Full, layers: int) -> tuple[Attention, ...]:
    """Qwen's: only where ``use_sliding_window`` is set, and from layer ``max_window_layers`` on."""
    if not config.flag("use_sliding_window", default=False):
        found = none(config, full, layers)
        if any(isinstance(layer, Window) for layer in found):
            sentence = "It has layers with a sliding window, and use_sliding_window is not set."
            raise ConfigRefused("layer_types", sentence, "Mend the config.json.")
        config.ignore("sliding_window", "max_window_layers")
        return found
    first = config.count("max_window_layers", least=0, most=MOST_TOKENS)
    if first >= layers:
        config.ignore("sliding_window")
    return _layers(config, full, layers, lambda layer: layer >= first)


def interleaved(config: Config, full: Full, layers: int, *, every: int) -> tuple[Attention, ...]:
    """Every so many layers, one sees everything: Gemma's."""
    return _layers(config, full, layers, lambda layer: bool((layer + 1) % every))


def listed(config: Config, full: Full, layers: int) -> tuple[Attention, ...]:
    """Only ``layer_types`` says it."""
    if not config.has("layer_types"):
        sentence = "The config.json lacks it, and the layers of this family differ."
        raise ConfigRefused("layer_types", sentence, "Enter the whole config.json of the model.")
    return none(config, full, layers)


def _layers(config: Config, full: Full, layers: int, slides: Callable[[int], bool]) -> tuple[Attention, ...]:
    """As ``layer_types`` says, else as ``slides`` does."""
    if config.has("layer_types"):
        kinds = _kinds(config, layers)
        sliding = [kind == "sliding_attention" for kind in kinds]
        # Where every layer is said to be full, a window beside it has no layer.
        config.ignore("sliding_window")
    else:
        sliding = [slides(layer) for layer in range(layers)]
    if not any(sliding):
        return (full,) * layers
    if not config.has("sliding_window"):
        sentence = "It is missing or null, and there are layers with a sliding window."
        raise ConfigRefused("sliding_window", sentence, "Enter the window, or mend layer_types.")
    window = Window(**structs.asdict(full), window=config.count("sliding_window", most=MOST_TOKENS))
    return tuple(window if slide else full for slide in sliding)


def _kinds(config: Config, layers: int) -> list[object]:
    kinds = config.list_of("layer_types", str)
    if len(kinds) != layers:
        sentence = f"It names {len(kinds)} layers, and num_hidden_layers is {layers}."
        raise ConfigRefused("layer_types", sentence, "Mend the config.json.")
    if any(kind not in _KINDS for kind in kinds):
        sentence = f"A layer's kind is not modelled: only {' and '.join(_KINDS)} are."
        raise ConfigRefused("layer_types", sentence, MEASURE)
    return kinds
