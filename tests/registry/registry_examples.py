"""Registries for these tests: the example, and a full one that uses every kind and every struct."""

import pathlib
import re
from collections.abc import Iterable

from adapters.registry import Loaded, load
from gateway.domain.fault import Fault
from gateway.testkit.registry_copy import EXAMPLE, Edit, copy_registry

NOW_US = 1_796_000_000_000_000
"""2026-11-30."""
FAR_US = 2_000_000_000_000_000
"""2033: everything in the example has expired."""

HOSTED = """\
id: hosted-small
kind: hosted
adapter: openai
provider: example
model: small-2026-06-01
revision: small-2026-06-01
accepted_models: [small-2026-06-01]
context_window: 8000
max_output: 1000
capabilities: [chat]
counter:
  method: tiktoken:cl100k_base
  per_message: 4
  per_request: 8
endpoint: https://api.example.com/v1
network: public
region: eu
data_handling:
  retention_days: 30
  trains_on_data: false
approvals:
  - privacy_class: internal
    by: Robin Reyes
    evidence: The contract of 2026-06-01.
    until: 2028-01-01T00:00:00Z
credential: example-key
quota_scope: example
limits:
  requests_per_minute: 60
  tokens_per_minute: 100000
  tokens_per_day: unlimited
  tokens_per_month: unlimited
  cost_per_month: "250.50"
  concurrency: 8
prices:
  checked: 2026-11-30
  tiers:
    - input_per_million: "0.15"
      output_per_million: "0.60"
    - above_input_tokens: 4000
      input_per_million: "0.30"
      output_per_million: "1.20"
errors:
  not_executed:
    - status: 429
      code: rate_limit_exceeded
      busy: true
      source: The provider's documentation of 2026-06-01.
  charged:
    - status: 400
      code: content_filter
      source: The provider's documentation of 2026-06-01.
timeouts:
  connect_ms: 1000
  total_ms: 30000
on_disconnect: continue
"""
CREDENTIAL = """\
id: example-key
secret: env:GATEWAY_SECRET_EXAMPLE
hosts: [api.example.com]
tenants: [acme]
owner: Kim Okafor
"""
SCOPE = """\
id: example
provider: example
limits:
  requests_per_minute: 600
  tokens_per_minute: 1000000
  tokens_per_day: unlimited
  tokens_per_month: unlimited
  cost_per_month: unlimited
  concurrency: 16
"""
BUNDLE = """\
id: mail@2
author: Alex Tan
privacy_class: internal
profiles:
  - id: hosted-small
    digest: sha256:0000000000000000000000000000000000000000000000000000000000000000
  - id: smollm2-135m
    digest: sha256:0000000000000000000000000000000000000000000000000000000000000000
purposes: [drafting, answers]
prompt_template_digest: sha256:1111111111111111111111111111111111111111111111111111111111111111
evaluation:
  suite_digest: sha256:2222222222222222222222222222222222222222222222222222222222222222
  score: 1
  refusal_rate: 0
  date: 2026-11-30
  rules_revision: sha256:3333333333333333333333333333333333333333333333333333333333333333
approvals:
  - by: Kim Okafor
    date: 2026-11-30
    digest: sha256:0000000000000000000000000000000000000000000000000000000000000000
  - by: Robin Reyes
    date: 2026-11-30
    digest: sha256:0000000000000000000000000000000000000000000000000000000000000000
expires: 2028-01-01T00:00:00Z
"""
SELF_HOSTED_A = "profiles/smollm2-135m-a.yaml"
_BLOCK = re.compile(r"^  capacity:\n(?:    .*\n)+", re.MULTILINE)
MEASURED = """\
  capacity:
    basis: measured
    kv_tokens: 4096
    context: 2048
    engine_version: "2026.10.11549"
    device: A machine with two cores
    workload: Two generations of 256 tokens at once
    date: 2026-11-30
    by: Robin Reyes
"""


def capacity_of(file: str) -> str:
    """The capacity block of a profile in the example, as it is written."""
    found = _BLOCK.search((EXAMPLE / file).read_text())
    assert found is not None, file
    return found[0]


FULL = (
    Edit(SELF_HOSTED_A, capacity_of(SELF_HOSTED_A), MEASURED),
    Edit("credentials/example-key.yaml", "", CREDENTIAL),
    Edit("quota-scopes/example.yaml", "", SCOPE),
    Edit("profiles/hosted-small.yaml", "", HOSTED),
    Edit("bundles/mail@2.yaml", "", BUNDLE),
    Edit("releases.yaml", "  chat: chat@1\n", "  chat: chat@1\n  mail: mail@2\n"),
)


def full_registry(tmp_path: pathlib.Path, edits: Iterable[Edit] = (), *, approve: bool = True) -> pathlib.Path:
    """A registry in which every kind, every struct and every optional field is used."""
    return copy_registry(tmp_path, (*FULL, *edits), approve=approve)


def faults(directory: pathlib.Path, *, at_us: int = NOW_US, strict: bool = False) -> list[Fault]:
    """The faults of a registry; none if it loads."""
    loaded = load(directory, at_us=at_us, strict=strict)
    return [] if isinstance(loaded, Loaded) else list(loaded)


def digest(directory: pathlib.Path) -> str:
    """The digest of a registry that loads."""
    loaded = load(directory, at_us=NOW_US)
    assert isinstance(loaded, Loaded), loaded
    return loaded.snapshot.digest


def files(directory: pathlib.Path) -> list[pathlib.Path]:
    """All YAML files of a registry."""
    return sorted(directory.rglob("*.yaml"))
