"""Loads the plugin that runs the feature files, and the steps. See gateway/testkit/plugin.py."""

from pathlib import Path

import pytest

LONG = ("test_faults_run.py", "test_run.py", "test_policy_nodes.py", "test_first_policy_change.py")
"""Modules that take minutes. Begun last, each would be all that one of the workers still does."""

pytest_plugins = [
    "gateway.testkit.plugin",
    "gateway.testkit.steps.asking",
    "gateway.testkit.steps.surroundings",
    "gateway.testkit.steps.sourcing",
    "gateway.testkit.steps.operating",
    "gateway.testkit.steps.administering",
    "gateway.testkit.steps.bounding",
    "gateway.testkit.steps.budgeting",
    "gateway.testkit.steps.isolating",
    "gateway.testkit.steps.lifecycle",
    "gateway.testkit.steps.capacity",
    "gateway.testkit.steps.surface",
    "gateway.testkit.steps.worksheets",
    "gateway.testkit.steps.worksheet_times",
    "gateway.testkit.steps.http_only",
    "gateway.testkit.steps.hosted",
]


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Long modules first, the others in the order that chance has given them."""
    items.sort(key=lambda item: LONG.index(name) if (name := Path(item.path).name) in LONG else len(LONG))
