"""Two hosted providers for the HTTP door: the example's profiles, pointed at scripted providers of this machine."""

import os
from pathlib import Path

from adapters.transport import load_translations
from gateway.testkit.doors.http import HttpWorld
from gateway.testkit.loops import LoopThread, until
from gateway.testkit.provider.behaviours import Behaviour
from gateway.testkit.provider.hosted import HostedFamily, answer, path_of
from gateway.testkit.provider.server import Provider
from gateway.testkit.registry_copy import Edit

PROFILES: dict[HostedFamily, str] = {"openai": "gpt-4.1-mini-eu", "anthropic": "claude-haiku-eu"}
HOSTS: dict[HostedFamily, str] = {"openai": "eu.api.openai.com", "anthropic": "api.anthropic.com"}
VARIABLE = "GATEWAY_SECRET_OPENAI_EU"
SECRET = "sk-CANARY-CREDENTIAL"


class HostedProviders:
    """Scripted providers behind the alias ``assist``. Made before the gateway starts."""

    def __init__(self, world: HttpWorld, folder: Path) -> None:
        load_translations()  # seconds; not within those that the gateway has to start
        self._world = world
        self._loop = LoopThread("hosted")
        self._providers: dict[HostedFamily, Provider] = {}
        self._secrets = folder / "secrets"
        self._secrets.mkdir()
        world.set(secrets=str(self._secrets))
        for family, profile in PROFILES.items():
            provider = Provider(default=answer(family), generation_paths={path_of(family)})
            self._loop.call(provider.listen())
            self._providers[family] = provider
            world.edit_registry(*_pointing(profile, HOSTS[family], provider.port))
        self.elsewhere = Provider()
        self._loop.call(self.elsewhere.listen())

    def has_its_credential(self, family: HostedFamily) -> None:
        """As the example says: one in the environment of the gateway, the other in a file."""
        if family == "openai":
            os.environ[VARIABLE] = SECRET
        else:
            path = self._secrets / "anthropic-eu"
            path.write_text(SECRET + "\n")
            path.chmod(0o600)

    def reload(self) -> None:
        """Put the registry in force again, and read the secrets."""
        headers = {"Authorization": f"Bearer {self._world.token('operator')}"}
        status, _, answered = self._world.request("POST", "/admin/reload", headers, b"{}")
        assert status == 200, answered

    def serves(self, family: HostedFamily) -> None:
        """Wait until its profile is ready."""
        self._world.start()
        services = self._world.gateway.server.gateway.services
        profile = services.in_force.active.snapshot.profiles[PROFILES[family]]
        until(lambda: services.board.is_ready(profile), f"{profile.id}: {services.board.of(profile)}")

    def does(self, family: HostedFamily, behaviour: Behaviour) -> None:
        self._providers[family].default = behaviour

    def calls(self, family: HostedFamily) -> int:
        return self._providers[family].generation_count

    def presented(self, family: HostedFamily) -> str:
        """The headers of all its calls, as text."""
        return repr([call.headers for call in self._providers[family].generations])

    def close(self) -> None:
        os.environ.pop(VARIABLE, None)
        for provider in (*self._providers.values(), self.elsewhere):
            self._loop.call(provider.__aexit__(None, None, None))
        self._loop.close()


def _pointing(profile: str, host: str, port: int) -> tuple[Edit, ...]:
    """The profile and its credential for a provider on this machine."""
    file = f"profiles/{profile}.yaml"
    credential = "credentials/openai-eu.yaml" if profile == PROFILES["openai"] else "credentials/anthropic-eu.yaml"
    return (
        Edit(
            file,
            f"endpoint: https://{host}/v1\nnetwork: public",
            f"endpoint: http://127.0.0.1:{port}/v1\nnetwork: loopback",
        ),
        Edit(credential, f"hosts: [{host}]", f'hosts: ["127.0.0.1:{port}"]'),
    )
