"""``gateway plan``: will it fit, how long will it take, what will it cost.

The options of each worksheet are its fields. Numbers are computed by the domain alone, the same for every door.
"""

import re
import sys
from collections.abc import Mapping
from pathlib import Path

import click

from gateway.cli import plan_sources, plan_tables
from gateway.cli.terminal import as_json, visible
from gateway.domain.worksheets.catalogue import WORKSHEETS, Worksheet
from gateway.domain.worksheets.fields import EntriesRefused, EntryFault, Field
from gateway.settings import Settings

BEYOND = 1
REFUSED = 2
MOST_DOCUMENT_BYTES = 1024 * 1024
"""Many times the longest config.json."""
VERDICTS: Mapping[str, str] = {"memory": "exceeds", "latency": "misses"}
"""Of each worksheet that compares, what it is called if the numbers do not satisfy what was entered."""


@click.group()
def plan() -> None:
    """Will it fit, how long will it take, what will it cost: the worksheets.

    Nothing is measured and nothing is promised: every number says what it rests on.
    """


def option_of(name: str) -> str:
    """The option of a field."""
    return f"--{name.replace('_', '-')}"


def command_of(name: str, worksheet: Worksheet) -> click.Command:
    """The command of one worksheet."""

    @click.pass_obj
    def run(
        settings: Settings,
        /,
        *,
        as_json_: bool,
        fail: bool = False,
        from_profile: str | None = None,
        from_ledger: str | None = None,
        **given: str | None,
    ) -> None:
        entered = {key: text for key, text in given.items() if text is not None}
        try:
            entered = _read_documents(worksheet, entered)
            found = worksheet.compute(_with_sources(settings, entered, from_profile, from_ledger))
        except EntriesRefused as refused:
            for fault in refused.faults:
                click.echo(visible(_told(worksheet, fault)), err=True)
            sys.exit(REFUSED)
        if as_json_:
            as_json(found)
        else:
            plan_tables.sheet(found)
        if fail and found.verdict is not None and found.verdict.code == VERDICTS[name]:
            sys.exit(BEYOND)

    parameters: list[click.Parameter] = [_option(field) for field in worksheet.fields]
    parameters.append(click.Option(["--json", "as_json_"], is_flag=True, help="Print the worksheet as JSON."))
    if name in VERDICTS:
        word = VERDICTS[name]
        parameters.append(
            click.Option([f"--fail-if-{word}", "fail"], is_flag=True, help=f"End with exit code 1 if it {word}.")
        )
    if name == "cost":
        parameters += [
            click.Option(["--profile", "from_profile"], metavar="ID", help="Take the prices of this hosted profile."),
            click.Option(
                ["--from-ledger", "from_ledger"],
                metavar="SINCE",
                help="Take outcomes and tokens since then from the ledger, such as 2026-11-01T00:00:00Z; of --profile, "
                "where attempts were of several. An option of its own wins over what is taken.",
            ),
        ]
    return click.Command(name, params=parameters, callback=run, help=f"{worksheet.question} {_HELP}")


_HELP = "Prints the figures with their arithmetic, what they take for granted and what they leave out."


def _option(field: Field) -> click.Option:
    metavar = {"count": "NUMBER", "decimal": "NUMBER", "choice": "WORD", "text": "TEXT", "date": "DATE"}
    parts = [f"{field.label}{f', in {field.unit}' if field.unit else ''}.", field.help]
    if field.choices:
        parts.append(f"One of: {', '.join(field.choices)}.")
    if field.default:
        parts.append(f"Without it: {field.default}.")
    return click.Option(
        [option_of(field.name), field.name],
        metavar=metavar.get(field.kind, "FILE"),
        help=" ".join(part for part in parts if part),
    )


def _told(worksheet: Worksheet, fault: EntryFault) -> str:
    """A fault with options in the place of fields. One that is of no field alone names them in its remedy."""
    if fault.field:
        return f"{option_of(fault.field)}: {fault.sentence} {fault.remedy}"
    names = "|".join(field.name for field in worksheet.fields if "_" in field.name)
    return re.sub(rf"\b({names})\b", lambda found: option_of(found[0]), str(fault))


def _with_sources(
    settings: Settings, entered: Mapping[str, str], profile: str | None, since: str | None
) -> Mapping[str, str]:
    """Entries, completed by those of the sources that were named."""
    sources = []
    if profile is not None:
        sources.append(plan_sources.from_profile(settings, profile))
    if since is not None:
        sources.append(plan_sources.from_ledger(settings, since, profile))
    return plan_sources.merged(entered, *sources)


def _read_documents(worksheet: Worksheet, entered: Mapping[str, str]) -> dict[str, str]:
    """What was entered, with the contents of a file in the place of its path.

    :raises EntriesRefused: for a file that cannot be read. Nothing of its contents is in the sentence.
    """
    read = dict(entered)
    for field in worksheet.fields:
        if field.kind == "document" and field.name in entered:
            read[field.name] = _contents(field.name, entered[field.name])
    return read


def _contents(name: str, path: str) -> str:
    def refused(sentence: str, remedy: str) -> EntriesRefused:
        return EntriesRefused([EntryFault(name, sentence, remedy)])

    try:
        with Path(path).open("rb") as file:
            found = file.read(MOST_DOCUMENT_BYTES + 1)
        if len(found) > MOST_DOCUMENT_BYTES:
            raise refused("The file is longer than 1 MiB.", "Name the config.json of the model, not its weights.")
        text = found.decode()
    except IsADirectoryError:
        raise refused("This is a folder.", "Name the file in it, such as config.json.") from None
    except FileNotFoundError:
        raise refused("There is no such file.", "Correct the path.") from None
    except (OSError, ValueError) as error:
        if isinstance(error, UnicodeDecodeError):
            raise refused("The file is not UTF-8.", "Name a config.json.") from None
        raise refused("The file cannot be read.", "Look at the path and at who may read it.") from None
    if not text.strip():
        raise refused("The file is empty.", "Name a config.json.")
    return text


for _name, _worksheet in WORKSHEETS.items():
    plan.add_command(command_of(_name, _worksheet))
