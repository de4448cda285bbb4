"""A profile whose vocabulary cannot be had keeps its registry from being in force, told by its line."""

import asyncio
from pathlib import Path

import pytest

from adapters.clock import SystemClock
from adapters.telemetry import Telemetry
from gateway.bootstrap.registry import load_registry
from gateway.bootstrap.revisions import FileRevisions
from gateway.domain.errors import StartRefused
from gateway.ports.revisions import Rejected
from gateway.settings import Settings
from gateway.testkit.process import ROOT
from gateway.testkit.registry_copy import Edit, copy_registry

HOSTED = "profiles/gpt-4.1-mini-eu.yaml"
UNKNOWN = Edit(file=HOSTED, old="method: tiktoken:o200k_base", new="method: tiktoken:o300k_base")
ABSENT = Edit(file=HOSTED, old="method: tiktoken:o200k_base", new=f"method: tokenizers:absent.json@sha256:{'0' * 64}")


def settings(folder: Path, edit: Edit) -> Settings:
    copied = copy_registry(folder, [edit])
    return Settings(registry=str(copied), policies=str(ROOT / "policies"), vocabularies=str(folder / "vocabularies"))


def refused(settings: Settings) -> StartRefused:
    revisions = FileRevisions(settings, SystemClock(), Telemetry(), lambda: None)
    with pytest.raises(StartRefused) as refused:
        asyncio.run(revisions.start())
    assert revisions.opa_pids == ()
    return refused.value


@pytest.mark.parametrize(("edit", "words"), [(UNKNOWN, "no such encoding"), (ABSENT, "was not found")])
def test_a_start_is_refused_with_the_line_of_the_counter(tmp_path: Path, edit: Edit, words: str) -> None:
    given = settings(tmp_path, edit)
    (fault,) = refused(given).faults
    lines = Path(given.registry, HOSTED).read_text().splitlines()
    assert (fault.path, lines[fault.line - 1].strip()) == ("/counter/method", edit.new)
    assert words in fault.sentence
    assert fault.remedy


def test_a_reload_is_refused_with_the_same_fault(tmp_path: Path) -> None:
    given = settings(tmp_path, UNKNOWN)
    revisions = FileRevisions(given, SystemClock(), Telemetry(), lambda: None)
    rejected = asyncio.run(revisions.prepare())
    assert isinstance(rejected, Rejected)
    assert rejected.faults == refused(given).faults


def test_what_no_profile_names_is_not_loaded(tmp_path: Path) -> None:
    given = settings(tmp_path, Edit(file=HOSTED, old="method: tiktoken:o200k_base", new="method: bytes"))
    revisions = FileRevisions(given, SystemClock(), Telemetry(), lambda: None)
    revisions._read()
    assert revisions.vocabularies.of("bytes") is not None
    assert revisions.vocabularies.of("tiktoken:o200k_base") is None


def test_administration_without_a_server_needs_no_vocabulary(tmp_path: Path) -> None:
    assert load_registry(settings(tmp_path, UNKNOWN), SystemClock()).profiles
