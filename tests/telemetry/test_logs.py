"""A log line holds ids, codes and names from the code, whatever somebody hands to the logger (OBS-01)."""

import json
import subprocess
import sys

import pytest

PROGRAM = """
import asyncio, logging, sys, threading
from adapters.telemetry import Telemetry, set_up_logs
from gateway.domain.refusal import Code
from gateway.ports.events import Faulted, Refused

set_up_logs("debug")

def fail(*_):
    raise ValueError("CANARY")

{body}
"""
CASES = {
    "an event": "Telemetry().emit(Refused(Code.UNKNOWN_FIELD, 0.5))",
    "a foreign record with arguments": "logging.getLogger('uvicorn.error').warning('Invalid request: %s', 'CANARY')",
    "a foreign record with an exception": "try:\n    fail()\nexcept ValueError:\n    logging.exception('In ASGI')",
    "an exception that nobody caught": "fail()",
    "an exception in a thread": "threading.Thread(target=fail).start()",
    "a task that nobody awaited": """
async def lose():
    asyncio.ensure_future(broken())
    await asyncio.sleep(0)
async def broken():
    fail()
asyncio.run(lose())""",
    "a callback of the loop": """
async def lose():
    asyncio.get_running_loop().call_soon(fail, "CANARY-ARGUMENT")
    await asyncio.sleep(0)
asyncio.run(lose())""",
    "a slow callback under asyncio's debugging": """
async def slow():
    asyncio.get_running_loop().set_debug(True)
    asyncio.get_running_loop().slow_callback_duration = 0
    asyncio.get_running_loop().call_soon(len, "CANARY")
    await asyncio.sleep(0.01)
asyncio.run(slow())""",
    "a foreign record that is put together": """
word = "CANARY"
logging.getLogger("LiteLLM").error(f"Request was {word}")""",
    "a foreign record that is no text": "logging.getLogger('some.library').error({'prompt': 'CANARY'})",
    "an exception in a destructor": """
class Broken:
    def __del__(self):
        fail()
Broken()""",
    "a warning": "import warnings; warnings.warn('CANARY was closed badly', ResourceWarning)",
}
QUIET = ("event", "arguments", "slow", "foreign record that", "warning")
"""Words of the cases in which nothing was raised."""


def run(body: str) -> "subprocess.CompletedProcess[str]":
    """A process that does this after its logs are set up."""
    return subprocess.run(
        [sys.executable, "-W", "always", "-c", PROGRAM.replace("{body}", body)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize("case", CASES)
def test_obs_01_no_line_holds_a_value(case: str) -> None:
    done = run(CASES[case])
    lines = [json.loads(line) for line in done.stderr.splitlines()]
    assert lines, "nothing was logged"
    assert "CANARY" not in done.stderr + done.stdout
    if not any(word in case for word in QUIET):
        assert lines[-1]["exception"] == "ValueError"
        assert lines[-1]["at"].startswith("__main__:")


def test_a_foreign_record_is_found_by_its_place() -> None:
    body = "def complain():\n    logging.getLogger('some.library').error('CANARY')\ncomplain()"
    line = json.loads(run(body).stderr)
    assert (line["logger"], line["level"]) == ("some.library", "error")
    assert line["written"].startswith("<string>.complain:")


def test_a_warning_is_found_by_its_class_and_place() -> None:
    assert json.loads(run(CASES["a warning"]).stderr)["warning"].startswith("ResourceWarning at <string>:")


def test_a_shortfall_is_logged_with_both_numbers() -> None:
    imports = "from gateway.domain.profile_state import Shortfall\nfrom gateway.ports.events import ReadinessChanged\n"
    event = "ReadinessChanged('small', 'quarantined', 'kv_cache_too_small', Shortfall(131072, 65536))"
    line = json.loads(run(f"{imports}Telemetry().emit({event})").stderr)
    assert (line["level"], line["message"], line["reason"]) == ("warning", "ReadinessChanged", "kv_cache_too_small")
    assert line["shortfall"] == {"promised": 131_072, "reported": 65_536}
