"""``gateway profiles`` over the store alone."""

import json
import sqlite3

import pytest
from cli_support import CommandLine

PROFILE = "smollm2-135m"


@pytest.fixture
def gateway(gateway: CommandLine) -> CommandLine:
    """The command line, where a gateway has served before."""
    gateway.make_store()
    return gateway


def row(gateway: CommandLine) -> dict[str, object]:
    rows = json.loads(gateway("profiles", "list", "--json").out)["data"]
    (found,) = (one for one in rows if one["id"] == PROFILE)
    return dict(found)


def test_without_a_server_nobody_has_looked_at_an_engine(gateway: CommandLine) -> None:
    found = row(gateway)
    assert (found["serves"], found["state"]) == (False, "serving")
    assert found["readiness"] == {
        "state": "unknown",
        "reason": "no_server",
        "since_us": None,
        "until_us": None,
        "shortfall": None,
    }
    shown = gateway("profiles", "list").out.splitlines()
    (line,) = (line for line in shown if line.startswith(f"{PROFILE} "))
    # "serving" beside "no" would be read as a contradiction: the column holds marks, and there is none.
    assert (shown[0].split()[:4], line.split()[1:5]) == (
        ["profile", "serves", "marks", "readiness"],
        ["no", "none", "unknown", "(no_server)"],
    )


def test_a_profile_is_drained_and_resumed(gateway: CommandLine) -> None:
    said = gateway("profiles", "drain", PROFILE, "--reason", "new drivers")
    assert (said.code, said.err) == (0, "")
    assert "draining" in said.out
    assert "new drivers (system/operator)" in said.out
    assert row(gateway)["state"] == "draining"
    again = gateway("profiles", "drain", PROFILE, "--reason", "new drivers")
    assert again.code == 1
    assert "state: draining" in again.err
    assert json.loads(gateway("profiles", "resume", PROFILE, "--reason", "done", "--json").out)["state"] == "serving"


def test_a_quarantine_shows_what_was_promised_and_what_was_reported(gateway: CommandLine) -> None:
    with sqlite3.connect(next(gateway.data.glob("*.db"))) as connection:
        connection.execute(
            "INSERT INTO profile_mark VALUES (?, 'quarantined', 'd', 'kv_cache_too_small', 'gateway', 1, NULL, ?, ?)",
            (PROFILE, 131_072, 65_536),
        )
    out = " ".join(gateway("profiles", "list").out.split())
    assert "kv_cache_too_small: 131,072 promised, 65,536 reported (gateway)" in out
    (mark,) = row(gateway)["marks"]  # type: ignore[misc]
    assert mark["shortfall"] == {"promised": 131_072, "reported": 65_536}


def test_only_what_is_quarantined_is_released(gateway: CommandLine) -> None:
    said = gateway("profiles", "release", PROFILE, "--reason", "looked at it")
    assert (said.code, said.out) == (1, "")
    assert "only a quarantined one released" in said.err


def test_a_profile_that_the_registry_does_not_have(gateway: CommandLine) -> None:
    said = gateway("profiles", "drain", "elsewhere", "--reason", "new drivers")
    assert said.code == 1
    assert "no such profile" in said.err


def test_a_reason_is_needed(gateway: CommandLine) -> None:
    assert gateway("profiles", "drain", PROFILE).code == 2
    assert gateway("profiles", "drain", PROFILE, "--reason", "x").code == 1


def test_facts_say_who_says_so(gateway: CommandLine) -> None:
    out = gateway("profiles", "list", "--facts").out
    assert f"{PROFILE}:" in out
    assert "region=local (declared)" in out
    assert "trains_on_data=false (declared)" in out
    assert "(attested)" not in out


def test_an_audit_row_names_the_user_of_the_operating_system(gateway: CommandLine) -> None:
    gateway("profiles", "drain", PROFILE, "--reason", "new drivers")
    with sqlite3.connect(next(gateway.data.glob("*.db"))) as connection:
        rows = connection.execute("SELECT code, tenant, data FROM audit WHERE kind = 'profile_drained'").fetchall()
    ((code, tenant, data),) = rows
    assert (code, tenant) == (PROFILE, "system")
    assert json.loads(data)["words"] == "new drivers"
    assert json.loads(data)["os_user"]
