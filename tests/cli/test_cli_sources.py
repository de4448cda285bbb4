"""``gateway sources`` over the store alone."""

import json
import subprocess

import pytest
from cli_support import CommandLine

GRANT = ("--tenant", "acme", "--group", "staff", "--revision", "r1", "--privacy-class", "internal")


@pytest.fixture
def gateway(gateway: CommandLine) -> CommandLine:
    """The command line, where a gateway has served before."""
    gateway.make_store()
    return gateway


def rows(out: str) -> list[list[str]]:
    return [line.split() for line in out.splitlines()[1:]]


def test_a_granted_source_is_shown_as_it_then_is(gateway: CommandLine) -> None:
    said = gateway("sources", "grant", "handbook", *GRANT, "--group", "press")
    assert (said.code, said.err) == (0, "")
    (row,) = rows(said.out)
    assert row[:8] == ["handbook", "r1", "acme", "press", "staff", "internal", "no", "yes"]


def test_an_embargo_and_a_confirmation_are_times(gateway: CommandLine) -> None:
    times = ("--released", "2026-12-31T00:00:00Z", "--as-of", "2026-01-01T01:00:00+01:00")
    document = json.loads(gateway("sources", "grant", "handbook", *GRANT, *times, "--json").out)
    assert (document["released"], document["as_of"]) == ("2026-12-31T00:00:00Z", "2026-01-01T00:00:00Z")


def test_a_time_that_is_none_is_refused_without_its_text(gateway: CommandLine) -> None:
    said = gateway("sources", "grant", "handbook", *GRANT, "--released", "CANARY")
    assert (said.code, said.out) == (1, "")
    assert "released" in said.err
    assert "CANARY" not in said.err


def test_a_class_that_the_registry_does_not_have_is_told_those_that_there_are(gateway: CommandLine) -> None:
    said = gateway("sources", "grant", "s", "--tenant", "acme", "--revision", "1", "--privacy-class", "secret")
    assert said.code == 1
    assert "public, internal, private" in said.err


def test_a_source_is_closed_to_one_group_or_to_all(gateway: CommandLine) -> None:
    gateway("sources", "grant", "handbook", *GRANT, "--group", "press")
    assert json.loads(gateway("sources", "revoke", "handbook", "--group", "press", "--json").out)["groups"] == ["staff"]
    assert "nobody" in gateway("sources", "revoke", "handbook").out


def test_a_withdrawn_source_says_that_it_is_for_good(gateway: CommandLine) -> None:
    gateway("sources", "grant", "handbook", *GRANT)
    assert "for good" in gateway("sources", "withdraw", "handbook").out
    said = gateway("sources", "grant", "handbook", *GRANT)
    assert said.code == 1
    assert "Grant it at another revision." in said.err


@pytest.mark.parametrize("act", ["revoke", "withdraw"])
def test_only_a_source_that_is_there_is_closed(gateway: CommandLine, act: str) -> None:
    said = gateway("sources", act, "nothing")
    assert (said.code, said.out) == (1, "")
    assert "The directory has no such source." in said.err


def test_sources_are_listed_by_what_they_are(gateway: CommandLine) -> None:
    gateway("sources", "grant", "a", *GRANT)
    gateway("sources", "grant", "b", *GRANT)
    gateway("sources", "withdraw", "b")
    assert [row[0] for row in rows(gateway("sources", "list").out)] == ["a", "b"]
    assert [row[0] for row in rows(gateway("sources", "list", "--withdrawn").out)] == ["b"]
    assert [row[0] for row in rows(gateway("sources", "list", "--current").out)] == ["a"]
    assert gateway("sources", "list", "--group", "press").out == "None.\n"
    page = gateway("sources", "list", "--limit", "1")
    assert page.err == "There are more: --after a\n"
    assert [row[0] for row in rows(gateway("sources", "list", "--after", "a").out)] == ["b"]


def test_an_id_that_could_change_a_terminal_is_escaped(gateway: CommandLine) -> None:
    evil = "a\x1b[2Jb\u202ec"
    said = gateway("sources", "grant", evil, *GRANT)
    assert said.code == 0
    assert "\x1b" not in said.out
    assert "\u202e" not in said.out
    assert r"a\x1b[2Jb\u202ec" in said.out
    as_json = gateway("sources", "list", "--json").out
    assert json.loads(as_json)["data"][0]["id"] == evil
    assert "\u202e" not in as_json


@pytest.mark.parametrize("evil", ["a\nb", "a\x1b[2J1\u202ec", "it's a $HOME \\n \t", "two words", "-x"])
def test_the_next_page_can_be_copied_into_a_shell(gateway: CommandLine, evil: str) -> None:
    gateway("sources", "grant", *GRANT, "--", evil)
    gateway("sources", "grant", *GRANT, "~later")
    said = gateway("sources", "list", "--limit", "1")
    words = said.err.removeprefix("There are more: --after ").removesuffix("\n")
    assert words.isprintable()
    told = subprocess.run(["bash", "-c", f"printf %s {words}"], capture_output=True, check=True).stdout.decode()
    assert told == evil
    assert [row[0] for row in rows(gateway("sources", "list", "--after", told).out)] == ["~later"]
