import time

import pytest

from adapters import registry
from gateway.domain.profile import Profile
from gateway.testkit.registry_copy import EXAMPLE


@pytest.fixture(scope="session")
def profile() -> Profile:
    loaded = registry.load(EXAMPLE, at_us=time.time_ns() // 1000)
    assert not isinstance(loaded, tuple), loaded
    return loaded.snapshot.profiles["smollm2-135m"]


@pytest.fixture(scope="session")
def base(profile: Profile) -> Profile:
    """The same, for tests with a function ``profile`` of their own."""
    return profile
