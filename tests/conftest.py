"""Loads the plugin that runs the feature files, and the steps. See gateway/testkit/plugin.py."""

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
