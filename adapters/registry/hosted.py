"""Can a hosted profile be spoken to as it says? What its adapter cannot carry would be dropped on the way."""

from collections.abc import Iterator, Mapping
from typing import get_args

from adapters.registry.draft import Draft
from gateway.domain.fault import Fault
from gateway.domain.profile import Adapter, Capability

CARRIED: Mapping[Adapter, frozenset[Capability]] = {
    "openai": frozenset(get_args(Capability)),
    "azure": frozenset(get_args(Capability)),
    # Formats of the answer and reasoning would come as a tool or a budget of litellm's choosing; the rest it drops.
    "anthropic": frozenset({"chat", "tools", "parallel_tool_calls", "images"}),
}
"""What the translations of the transport carry without loss. A test holds each of them to it."""


def hosted(draft: Draft) -> Iterator[Fault]:
    """Faults of hosted profiles that their adapter could not serve."""
    for entry in draft.profiles.values():
        profile = entry.value
        for index, capability in enumerate(profile.capabilities):
            if capability not in CARRIED.get(profile.adapter, profile.capabilities):
                remedy = f"Remove it; this adapter carries: {', '.join(sorted(CARRIED[profile.adapter]))}."
                yield entry.fault(("capabilities", index), "The adapter cannot carry this capability.", remedy)
        if profile.adapter == "azure" and profile.api_version is None:
            remedy = "Add api_version, the version of the provider's interface, such as 2024-10-21."
            yield entry.fault(("adapter",), "The adapter needs a version of the provider's interface.", remedy)
        if profile.adapter != "azure" and profile.api_version is not None:
            sentence = "The adapter takes no version of the provider's interface."
            yield entry.fault(("api_version",), sentence, "Remove api_version, or use the adapter azure.")
