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
}


@pytest.mark.parametrize("case", CASES)
def test_obs_01_no_line_holds_a_value(case: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(body=CASES[case])],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    lines = [json.loads(line) for line in done.stderr.splitlines()]
    assert lines, "nothing was logged"
    assert "CANARY" not in done.stderr + done.stdout
    if "event" not in case and "arguments" not in case:
        assert lines[-1]["exception"] == "ValueError"
        assert lines[-1]["at"].startswith("__main__:")
