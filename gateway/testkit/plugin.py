"""The pytest plugin that runs feature files: doors, and guards against scenarios that check nothing.

Load it once, in the top ``conftest.py``, beside the modules that define steps::

    pytest_plugins = ["gateway.testkit.plugin", "gateway.testkit.steps.asking"]

Doors. A scenario is written once and runs through each door that a tag names, on itself, its rule or its
feature: ``@policy`` (the Rego), ``@service`` (the use cases, without HTTP), ``@cli`` (the command
line, where no gateway has to run), ``@http`` (a real server).
``@service @http`` makes two tests, ``test_name[service]`` and ``test_name[http]``. Steps stay the same for
all doors, because they talk to a world, and the world asks for the fixture ``door``::

    @pytest.fixture
    def world(door: str, request: pytest.FixtureRequest) -> World:
        return request.getfixturevalue(f"{door}_world")

``door`` has session scope, so that a fixture that depends on it may live for one test or for all tests of a
door. ``pytest -m http`` runs what goes through that door only.

Tags of behaviours (``@code-unknown_model``, ``@move-none-granted``, ``@G4``, ``@policy-<code>``) become marks
of the same names; one that names nothing stops the run. See gateway/testkit/behaviours.py. So do ``@acceptance`` and
the tags of its titles, see gateway/testkit/acceptance.py.

Guards. Before the first test runs, gateway/testkit/guards.py lists what is wrong with the scenarios that
were collected, and the run ends there.
"""

from collections.abc import Callable

import pytest
from pytest_bdd.scenario import scenario_wrapper_template_registry
from pytest_bdd.utils import registry_get_safe

from gateway.testkit import acceptance, guards
from gateway.testkit.behaviours import known_behaviours
from gateway.testkit.features import DOORS, UnreadableFeature

_behaviours: set[str] = set()


@pytest.fixture(scope="session")
def door(request: pytest.FixtureRequest) -> str:
    """The door of the running scenario: "policy", "service", "cli" or "http"."""
    name = getattr(request, "param", None)
    if not isinstance(name, str):
        pytest.fail("Only scenarios have a door: tag a scenario @policy, @service, @cli or @http.")
    return name


def pytest_configure(config: pytest.Config) -> None:
    for name in DOORS:
        config.addinivalue_line("markers", f"{name}: the scenario runs through this door.")
    for behaviour in known_behaviours(config.rootpath):
        _behaviours.add(behaviour.tag)
        config.addinivalue_line("markers", f"{behaviour.tag}: {behaviour.sentence}")
    config.addinivalue_line("markers", f"{acceptance.TAG}: the product is accepted by this scenario.")
    for tag, title in acceptance.TITLES.items():
        config.addinivalue_line("markers", f"{tag}: {title}.")


@pytest.hookimpl(tryfirst=True)
def pytest_bdd_apply_tag(tag: str, function: Callable[..., object]) -> bool | None:
    if tag not in DOORS:
        if tag not in _behaviours and tag != acceptance.TAG and tag not in acceptance.TITLES:
            raise pytest.UsageError(
                f"The tag @{tag} names no door and no behaviour. Correct it; docs/behaviours.md lists them."
            )
        return None
    # The mark of a door belongs to the one test that goes through it; pytest_generate_tests sets it.
    pytest.mark.usefixtures("door")(function)
    return True


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    template = registry_get_safe(scenario_wrapper_template_registry, metafunc.function)
    if template is None:
        return
    tags = guards.tags_of(template)
    doors = [pytest.param(name, marks=getattr(pytest.mark, name)) for name in DOORS if name in tags]
    if doors:
        metafunc.parametrize("door", doors, indirect=True, scope="session")


@pytest.hookimpl(tryfirst=True)  # before anything is deselected
def pytest_collection_modifyitems(session: pytest.Session, config: pytest.Config, items: list[pytest.Item]) -> None:
    scenarios = guards.bound_scenarios(items)
    base = config.getini("bdd_features_base_dir")
    # A module that could not be collected is told by pytest; that its features are not bound is no news.
    whole = _is_whole_run(config) and not session.testsfailed
    features = config.rootpath / base if base and whole else None
    try:
        faults = guards.faults(session, scenarios, features)
    except UnreadableFeature as error:
        faults = [str(error)]
    if faults:
        raise pytest.UsageError("\n".join(["The scenarios are not sound.", *faults]))


def _is_whole_run(config: pytest.Config) -> bool:
    """Everything below ``testpaths`` was asked for, so a feature that is not bound now never is."""
    narrowed = any(config.getoption(name, None) for name in ("lf", "ignore", "ignore_glob", "pyargs"))
    return config.args_source is pytest.Config.ArgsSource.TESTPATHS and not narrowed
