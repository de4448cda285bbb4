"""What the real import does: it connects to nothing, starts no thread, writes nothing, and happens once."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CHILD = """
import json, os, resource, socket, sys, threading, time

connected = []

def forbidden(*arguments, **_):
    connected.append(repr(arguments[1:]))
    raise OSError("no network")

socket.socket.connect = socket.socket.connect_ex = forbidden
socket.getaddrinfo = lambda *arguments, **_: forbidden(None, *arguments)
ON_THE_NETWORK = ("socket.connect", "socket.sendto")
sys.addaudithook(lambda event, arguments: connected.append(event) if event in ON_THE_NETWORK else None)

sys.path.insert(0, "tests/transport")
from hosted_support import hosted_profile
from transport_support import dispatch
from adapters.transport import hosted_trial, litellm_translation
from adapters.transport.hosted import DIALECTS
from gateway.testkit.provider.behaviours import answer_body
from gateway.testkit.provider.hosted import answer

assert litellm_translation.loaded() is None and "litellm" not in sys.modules
environment, started = dict(os.environ), time.process_time()
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
translation = litellm_translation.load()
seconds = time.process_time() - started
megabytes = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
assert litellm_translation.loaded() is translation is litellm_translation.load()
for family, dialect in DIALECTS.items():
    to = hosted_profile(family, "https://api.example.com/v1", capabilities=list(hosted_trial.TRIALS))
    for capability in to.capabilities:
        list(hosted_trial.not_carried(translation, to))
    dialect.body(translation, dispatch(to))
    assert dialect.read(translation, answer_body(answer(family), alias=""))
import litellm
print(json.dumps({
    "connected": connected,
    "threads": [thread.name for thread in threading.enumerate()],
    "environment": {name: text for name, text in os.environ.items() if environment.get(name) != text},
    "callbacks": [litellm.callbacks, litellm.success_callback, litellm.failure_callback, litellm.input_callback],
    "seconds": seconds,
    "megabytes": megabytes,
}))
"""


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    """A child that imports litellm where an import could go wrong: a .env file, keys and proxies around it."""
    environment = {
        **{name: text for name, text in os.environ.items() if not name.startswith("LITELLM")},
        "HTTP_PROXY": "http://127.0.0.1:9",
        "LITELLM_LOG": "DEBUG",
        "OPENAI_API_KEY": "sk-CANARY",
    }
    command = [sys.executable, "-W", "error", "-c", CHILD]
    child = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=environment, check=False)
    assert child.returncode == 0, child.stderr
    assert child.stderr == ""
    found: dict[str, object] = json.loads(child.stdout)
    return found


def test_neither_import_nor_use_connects_anywhere(imported: dict[str, object]):
    assert imported["connected"] == []


def test_it_leaves_no_thread_and_no_callback(imported: dict[str, object]):
    assert imported["threads"] == ["MainThread"]
    assert imported["callbacks"] == [[], [], [], []]


def test_it_is_kept_offline_by_its_environment_in_this_process_alone(imported: dict[str, object]):
    changed = imported["environment"]
    assert isinstance(changed, dict)
    wanted = {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_OFFLINE_MODE": "true", "LITELLM_MODE": "PRODUCTION"}
    assert wanted.items() <= changed.items()
    assert set(changed) - set(wanted) <= {"TIKTOKEN_CACHE_DIR"}


def test_the_import_is_told_to_take_no_more_than_this(imported: dict[str, object]):
    """Without compiled bytecode, which an installation has, it takes five times as long."""
    assert isinstance(imported["seconds"], float)
    assert isinstance(imported["megabytes"], float)
    assert imported["seconds"] < 60
    assert imported["megabytes"] < 350


def test_without_the_extra_the_start_is_refused_with_a_remedy():
    code = (
        "import sys; sys.modules['litellm'] = None\n"
        "from adapters.transport import NotInstalled, load_translations\n"
        "try:\n    load_translations()\nexcept NotInstalled:\n    print('told')"
    )
    child = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    assert child.stdout == "told\n"
