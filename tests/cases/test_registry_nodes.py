"""Whatever goes missing from a registry is a fault, or can only be a shorter list or a documented default."""

import collections

import pytest
from cases.registry_nodes import all_without_one_node

from adapters.registry import Loaded

OPTIONAL = {
    "above_input_tokens": "0",
    "charged": "none",
    "max_attempts": "3",
    "not_executed": "none",
    "privacy_class": "a purpose that needs no class of its own",
    "ttl_s": "10",
}
"""Keys that may be left out, and what then counts."""
LISTS = {
    "aliases",
    "classes",
    "groups",
    "networks",
    "profiles",
    "providers",
    "purposes",
    "regions",
    "service_accounts",
    "tenants",
}
"""Lists that may be shorter: each item of them allows something, or is a class that nothing names."""


@pytest.mark.timeout(600)
def test_a_node_that_is_missing_is_a_fault_or_is_known_to_be_optional() -> None:
    """Each of the nodes of the example in turn. Policy's part is to see that no registry that loads allows more."""
    tried = all_without_one_node()
    still_loads = [removed for removed, loaded in tried if isinstance(loaded, Loaded)]
    assert len(tried) > 300
    assert len({removed for removed, _ in tried}) == len(tried)
    kinds = collections.Counter(_kind(removed) for removed in still_loads)
    assert kinds.keys() <= OPTIONAL.keys() | LISTS, kinds
    assert 0 < len(still_loads) < len(tried) / 5, f"{len(still_loads)} of {len(tried)} still load"


@pytest.mark.timeout(600)
def test_a_file_that_is_missing_is_always_a_fault() -> None:
    files = [(removed, loaded) for removed, loaded in all_without_one_node() if removed.endswith(".yaml")]
    assert len(files) > 15
    assert [removed for removed, loaded in files if isinstance(loaded, Loaded)] == []


@pytest.mark.timeout(600)
def test_what_is_said_of_a_missing_node_names_a_file_and_a_remedy() -> None:
    for removed, loaded in all_without_one_node():
        for fault in () if isinstance(loaded, Loaded) else loaded:
            assert fault.file, removed
            assert fault.sentence.endswith("."), removed
            assert fault.remedy.endswith("."), removed


def _kind(removed: str) -> str:
    """The key that was removed, or the list of the item."""
    *_, above, last = removed.split("/")
    return above if last.isdecimal() else last
