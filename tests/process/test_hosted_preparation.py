"""Before hosted profiles serve: secrets are read, and the translations loaded and tried, if any profile needs them."""

import asyncio
import threading
from pathlib import Path

import pytest

from adapters import transport
from adapters.clock import SystemClock
from adapters.secrets import Vault
from adapters.telemetry import Telemetry
from gateway.bootstrap import hosted
from gateway.bootstrap.administration import NoPolicy
from gateway.bootstrap.hosted import SecretsInForce, prepare_hosted
from gateway.bootstrap.registry import read_registry
from gateway.bootstrap.revisions import FileRevisions
from gateway.domain.errors import StartRefused
from gateway.domain.snapshot import Snapshot
from gateway.ports.revisions import Rejected
from gateway.ports.secrets import Held
from gateway.service.active import Active, InForce
from gateway.settings import Settings
from gateway.testkit.registry_copy import Edit, copy_registry

GPT = "profiles/gpt-4.1-mini-eu.yaml"
VARIABLE = "GATEWAY_SECRET_OPENAI_EU"
GIVEN = {VARIABLE: "sk-CANARY"}


def prepared(tmp_path: Path, environment: dict[str, str], *edits: Edit) -> tuple[Snapshot, Vault]:
    settings = Settings(registry=str(copy_registry(tmp_path, edits)))
    snapshot = read_registry(settings, SystemClock()).snapshot
    vault = Vault(environment, tmp_path)
    prepare_hosted(settings, snapshot, vault)
    return snapshot, vault


def forbidden() -> None:
    raise AssertionError("litellm was imported")


def not_installed() -> None:
    raise transport.NotInstalled


def test_without_a_secret_nothing_is_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(transport, "load_translations", forbidden)
    snapshot, vault = prepared(tmp_path, {})
    assert {vault.of(credential) for credential in snapshot.credentials.values()} == {"credential_missing"}


def test_without_a_hosted_profile_nothing_is_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(transport, "load_translations", forbidden)
    edits = (
        Edit(GPT, "", ""),
        Edit("profiles/claude-haiku-eu.yaml", "", ""),
        Edit("bundles/assist@1.yaml", "", ""),
        Edit("releases.yaml", "  assist: assist@1\n", "  assist: chat@1\n"),
    )
    prepared(tmp_path, GIVEN, *edits)


def test_without_the_extra_the_start_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(transport, "load_translations", not_installed)
    with pytest.raises(StartRefused, match=r"pip install --require-hashes -r requirements/hosted\.txt"):
        prepared(tmp_path, GIVEN)


def test_what_the_models_translation_does_not_carry_is_a_fault_of_its_file(tmp_path: Path):
    edit = Edit(GPT, "penalties, seed]", "penalties, seed, reasoning_effort]")
    with pytest.raises(StartRefused) as refused:
        prepared(tmp_path, GIVEN, edit)
    (fault,) = refused.value.faults
    assert (fault.file.endswith(GPT), fault.path) == (True, "/capabilities")
    assert "reasoning_effort" in fault.sentence
    assert "CANARY" not in str(refused.value)


def test_the_examples_profiles_pass_their_translations(tmp_path: Path):
    path = tmp_path / "anthropic-eu"
    path.write_text("sk-ant-CANARY")
    path.chmod(0o600)
    snapshot, vault = prepared(tmp_path, GIVEN)
    assert all(isinstance(vault.of(credential), Held) for credential in snapshot.credentials.values())


def test_a_secret_is_that_of_the_credential_in_force(tmp_path: Path):
    snapshot, vault = prepared(tmp_path, GIVEN)
    in_force = InForce(Active(snapshot, NoPolicy()), Telemetry())
    secrets = SecretsInForce(vault, in_force)
    found = secrets.of("openai-eu")
    assert isinstance(found, Held)
    assert found.credential == snapshot.credentials["openai-eu"]
    assert secrets.of("anthropic-eu") == secrets.of("no-such") == "credential_missing"


def test_a_reload_prepares_hosted_profiles_off_the_loop_and_is_refused_like_for_any_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    where: list[threading.Thread] = []

    def refuses(*_: object) -> None:
        where.append(threading.current_thread())
        raise StartRefused(hosted.NOT_INSTALLED)

    monkeypatch.setattr("gateway.bootstrap.revisions.prepare_hosted", refuses)
    settings = Settings(registry=str(copy_registry(tmp_path)))
    revisions = FileRevisions(settings, SystemClock(), Telemetry(), lambda: None)
    rejected = asyncio.run(revisions.prepare())
    assert isinstance(rejected, Rejected)
    assert [fault.sentence for fault in rejected.faults] == [hosted.NOT_INSTALLED]
    assert where != [threading.main_thread()]
