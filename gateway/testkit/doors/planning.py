"""Worksheets through their doors: the command line, and a running gateway over HTTP."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlencode

import click
from click.testing import CliRunner
from msgspec import Struct

from gateway.testkit.doors.http import HttpWorld

REFUSED_EXIT, REFUSED_STATUS = 2, 422


class Planned(Struct, frozen=True, kw_only=True):
    """What a worksheet answered: itself, or what is wrong with the entries."""

    sheet: Mapping[str, Any] | None = None
    faults: Mapping[str, str] = {}
    """A sentence with its remedy, by field name."""


class Planner(Protocol):
    """Computes worksheets for somebody."""

    def plan(self, worksheet: str, entered: Mapping[str, str]) -> Planned: ...


class CommandLine:
    """``gateway plan`` as a script calls it; it needs no gateway that runs."""

    def __init__(self, commands: click.Command, folder: Path) -> None:
        self._commands = commands
        self._folder = folder

    def plan(self, worksheet: str, entered: Mapping[str, str]) -> Planned:
        options = [part for name, text in entered.items() for part in (_option(name), self._argument(name, text))]
        ended = CliRunner().invoke(self._commands, ["plan", worksheet, "--json", *options], catch_exceptions=False)
        if ended.exit_code == 0:
            assert ended.stderr == ""
            return Planned(sheet=json.loads(ended.stdout))
        assert (ended.exit_code, ended.stdout) == (REFUSED_EXIT, ""), ended.output
        told = (line.partition(": ") for line in ended.stderr.splitlines())
        return Planned(faults={option.removeprefix("--").replace("-", "_"): text for option, _, text in told})

    def _argument(self, name: str, text: str) -> str:
        if name != "config":
            return text
        path = self._folder / "config.json"
        path.write_text(text, encoding="utf-8")
        return str(path)


class OverHttp:
    """The page of a running gateway, as a script asks it: for JSON."""

    def __init__(self, world: HttpWorld) -> None:
        self._world = world

    def plan(self, worksheet: str, entered: Mapping[str, str]) -> Planned:
        headers = {"Accept": "application/json"}
        if "config" in entered:
            headers["Content-Type"] = "application/x-www-form-urlencoded"
            answer = self._world.request("POST", f"/worksheets/{worksheet}", headers, urlencode(entered).encode())
        else:
            answer = self._world.request("GET", f"/worksheets/{worksheet}?{urlencode(entered)}", headers)
        status, _, body = answer
        document = json.loads(body)
        if status == 200:
            return Planned(sheet=document)
        assert status == REFUSED_STATUS, body
        return Planned(
            faults={fault["field"]: f"{fault['sentence']} {fault['remedy']}" for fault in document["entries"]}
        )


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"
