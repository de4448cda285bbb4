"""``python -m gateway.testkit.fuzz --bodies N --seed S``. Exit code 1 if anything was violated."""

import logging
import sys
import tempfile
from pathlib import Path

import click
import uvloop

from gateway.testkit.fuzz.harness import fuzz

SHOWN = 20


@click.command()
@click.option("--bodies", default=100_000, help="Bodies to send.")
@click.option("--seed", default=1, help="Every body is a function of it and of its number.")
def main(*, bodies: int, seed: int) -> None:
    """Send generated bodies to a gateway, and judge what came of each."""
    logging.getLogger("gateway").setLevel(logging.CRITICAL)
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
        tally = uvloop.run(fuzz(Path(folder), bodies=bodies, seed=seed))
    for code, count in tally.codes.most_common():
        click.echo(f"{count:>9}  {code}")
    for violation in tally.violations[:SHOWN]:
        click.echo(violation)
    click.echo(
        f"{tally.bodies} bodies of seed {seed} in {tally.seconds:.0f} s: {tally.dispatches} dispatches, "
        f"{len(tally.violations)} violations"
    )
    sys.exit(1 if tally.violations else 0)


main()
