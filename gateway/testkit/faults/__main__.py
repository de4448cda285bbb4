"""``python -m gateway.testkit.faults --operations N --seed S``. Exit code 1 if anything was violated."""

import asyncio
import shutil
import sys
import tempfile
from pathlib import Path

import click

from gateway.testkit.faults.bugs import BUGS
from gateway.testkit.faults.harness import run
from gateway.testkit.faults.proof import prove
from gateway.testkit.faults.report import summary
from gateway.testkit.faults.tally import Tally, Wanted


@click.command()
@click.option("--operations", default=2000, help="Operations to strike.")
@click.option("--seed", default=1, help="Plan, clients and provider are functions of it.")
@click.option("--least", default=1, help="How often every failpoint must fire.")
@click.option("--bug", type=click.Choice(list(BUGS)), help="Put this bug in; the run must then find violations.")
@click.option("--prove", "proving", is_flag=True, help="Put in each of the bugs, and fail unless each is caught.")
@click.option("--keep", type=click.Path(path_type=Path), help="Keep database and log of the run in this folder.")
def main(*, operations: int, seed: int, least: int, bug: str | None, proving: bool, keep: Path | None) -> None:
    """Strike a real gateway, and check after each round what is left."""
    folder = Path(tempfile.mkdtemp(prefix="faults-")) if keep is None else keep
    folder.mkdir(parents=True, exist_ok=True)
    try:
        if proving:
            uncaught = asyncio.run(prove(seed, folder, click.echo))
            click.echo(f"bugs that were not caught: {len(uncaught)}")
            sys.exit(1 if uncaught else 0)
        tally = asyncio.run(run(_wanted(operations, seed, least, bug), folder, click.echo))
        click.echo(summary(tally, seed))
        sys.exit(_exit_code(tally))
    finally:
        if keep is None:
            shutil.rmtree(folder)


def _wanted(operations: int, seed: int, least: int, bug: str | None) -> Wanted:
    return Wanted(operations=operations, seed=seed, least=0 if bug else least, bug=bug)


def _exit_code(tally: Tally) -> int:
    return 1 if tally.violations else 0


main()
