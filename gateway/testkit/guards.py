"""What pytest-bdd lets pass and must not: scenarios that check nothing, or never run.

pytest-bdd 9 runs an ``async def`` step without awaiting it, forgets the first of two scenarios with one
name, takes any of two step definitions that fit, and passes a scenario without steps. Each guard here finds
one of these, and says where and what to do.
"""

import ast
import inspect
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import pytest
from msgspec import Struct
from pytest_bdd.parser import ScenarioTemplate
from pytest_bdd.scenario import find_fixturedefs_for_step, scenario_wrapper_template_registry
from pytest_bdd.steps import StepFunctionContext, step_function_context_registry
from pytest_bdd.utils import registry_get_safe

from gateway.testkit.features import DOORS, FeatureFile, Scenario, read_feature, read_features


class Bound(Struct, frozen=True):
    """A test item that runs a scenario."""

    item: pytest.Function
    template: ScenarioTemplate

    @property
    def key(self) -> tuple[Path, str]:
        return Path(self.template.feature.filename), self.template.name


def tags_of(template: ScenarioTemplate) -> set[str]:
    """Tags of a scenario with those of its rule and feature, without the @."""
    of_rule = template.rule.tags if template.rule else set()
    return template.tags | template.feature.tags | of_rule


def bound_scenarios(items: Iterable[pytest.Item]) -> list[Bound]:
    """Those of the collected tests that run a scenario."""
    functions = (item for item in items if isinstance(item, pytest.Function))
    return [
        Bound(item, template)
        for item in functions
        if (template := registry_get_safe(scenario_wrapper_template_registry, item.obj)) is not None
    ]


def faults(session: pytest.Session, bound: Sequence[Bound], features: Path | None) -> list[str]:
    """All that is wrong, a sentence each. ``features``: the folder whose every file must be bound, or None."""
    paths = {scenario.key[0] for scenario in bound}
    files = [read_feature(path) for path in sorted(paths)]
    found = [
        *(fault for file in files for fault in faults_of_feature(file)),
        *_bound_twice(bound),
        *_ambiguous_steps(session, bound),
        *(fault for context in step_function_context_registry.values() for fault in faults_of_step(context)),
    ]
    if features is not None:
        found += _never_run(bound, read_features(features))
    return [fault.replace(f"{session.config.rootpath}/", "") for fault in found]


def faults_of_feature(file: FeatureFile) -> Iterator[str]:
    """What the text of a feature file shows on its own."""
    names = Counter(scenario.name for scenario in file.scenarios)
    for scenario in file.scenarios:
        for sentence in _faults_of_scenario(scenario):
            yield f'{file.path}:{scenario.line}: Scenario "{scenario.name}" {sentence}'
        if names[scenario.name] > 1:
            yield (
                f'{file.path}:{scenario.line}: Scenario "{scenario.name}" shares its name with another of this file, '
                "and only one of them would run. Name each for its outcome."
            )


def _faults_of_scenario(scenario: Scenario) -> Iterator[str]:
    if not scenario.name:
        yield "has no name. Name it for its outcome."
    if not scenario.steps:
        yield "has no steps. Write them, or remove it."
    elif not scenario.has_outcome:
        yield "has no Then, so it checks nothing. Say what must hold."
    if not all(scenario.steps):
        yield "has a step without text. Write it, or remove the line."
    if scenario.example_rows == 0:
        yield "is an outline without example rows. Add rows, or make it a scenario."
    if scenario.tags_of_examples:
        yield "has tags on its Examples, which choose no door. Put them on the scenario."
    if not scenario.doors:
        yield f"goes through no door. Tag it {', '.join('@' + door for door in DOORS[:-1])} or @{DOORS[-1]}."


def faults_of_step(context: StepFunctionContext) -> Iterator[str]:
    """What a step's function shows on its own."""
    function = inspect.unwrap(context.step_func)
    if inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
        yield (
            f'{_place(context)}: The step "{context.parser.name}" is async, so nothing would run it. '
            "Make it a plain function that runs its work itself."
        )
    if context.type == "then" and _is_hollow(function):
        yield (
            f'{_place(context)}: The step "{context.parser.name}" has an empty body, so it always holds. '
            "Assert what it says."
        )


def _is_hollow(function: object) -> bool:
    """The body is nothing but a docstring, ``pass`` or ``...``."""
    if not inspect.isfunction(function):
        return False
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
    except (OSError, SyntaxError):  # a lambda inside an expression, or code without a file
        return False
    return isinstance(tree, ast.FunctionDef) and all(
        isinstance(line, ast.Pass) or (isinstance(line, ast.Expr) and isinstance(line.value, ast.Constant))
        for line in tree.body
    )


def _bound_twice(bound: Sequence[Bound]) -> Iterator[str]:
    # One test function makes an item per door and per example row; a second function is a second binding.
    functions: dict[tuple[Path, str], set[str]] = {}
    for scenario in bound:
        item = scenario.item
        functions.setdefault(scenario.key, set()).add(f"{item.path}::{item.originalname}")
    for (path, name), bindings in sorted(functions.items()):
        if len(bindings) > 1:
            yield f'{path}: Scenario "{name}" is bound more than once: {", ".join(sorted(bindings))}. Keep one.'


def _ambiguous_steps(session: pytest.Session, bound: Sequence[Bound]) -> Iterator[str]:
    seen: set[tuple[str, str, pytest.Collector | None]] = set()
    for scenario in bound:
        item = scenario.item
        for step in scenario.template.render(_example(item)).steps:
            key = (step.type, step.name, item.parent)
            if key in seen:
                continue
            seen.add(key)
            fitting = find_fixturedefs_for_step(step, session._fixturemanager, item)
            # The same definition may be visible through several modules that import it.
            contexts = {id(c): c for d in fitting if (c := step_function_context_registry.get(d.func)) is not None}
            if len(contexts) > 1:
                places = ", ".join(sorted(_place(context) for context in contexts.values()))
                yield (
                    f'{scenario.key[0]}:{step.line_number}: Several definitions fit the step "{step.name}": '
                    f"{places}. Word them apart, or keep one."
                )


def _example(item: pytest.Function) -> dict[str, object]:
    """The row of an outline that the test runs; empty for a plain scenario."""
    callspec = getattr(item, "callspec", None)
    return callspec.params.get("_pytest_bdd_example", {}) if callspec else {}


def _place(context: StepFunctionContext) -> str:
    code = inspect.unwrap(context.step_func).__code__
    return f"{code.co_filename}:{code.co_firstlineno}"


def _never_run(bound: Sequence[Bound], files: Sequence[FeatureFile]) -> Iterator[str]:
    keys = {scenario.key for scenario in bound}
    paths = {path for path, _ in keys}
    for file in files:
        if file.path not in paths:
            yield f'{file.path}: No test binds this feature. Add scenarios("...") for it, or remove it.'
            continue
        for scenario in file.scenarios:
            if (file.path, scenario.name) not in keys:
                yield f'{file.path}:{scenario.line}: Scenario "{scenario.name}" is not collected. Bind it.'
