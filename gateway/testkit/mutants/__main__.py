"""``make mutants``: one guard per promise is taken out, and the scenario that failed is named."""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from gateway.testkit.mutants.listed import MUTANTS, Mutant, faults
from gateway.testkit.mutants.runner import Caught, copy_tree, outcomes, unsound
from gateway.testkit.scenario_runs import NotRun

ROOT = Path(__file__).resolve().parents[3]


@click.command(help="Take one guard per promise out of a copy of the code, and name the scenario that fails.")
@click.option("--promise", help="This one alone, such as G5.")
def main(promise: str | None) -> None:
    if found := list(faults(ROOT)):
        raise click.ClickException("\n".join(["The list of mutants does not fit the code.", *found]))
    chosen = tuple(mutant for mutant in MUTANTS if promise in (None, mutant.promise))
    if not chosen:
        raise click.ClickException(f"There is no promise {promise}.")
    with TemporaryDirectory(prefix="mutants-") as folder:
        # All are made from one copy: what is edited meanwhile would be mixed with them.
        survived = try_all(copy_tree(ROOT, Path(folder)), chosen)
    click.echo(f"{len(chosen) - survived} of {len(chosen)} mutants were caught.")
    sys.exit(survived > 0)


def try_all(tree: Path, chosen: tuple[Mutant, ...]) -> int:
    """Tell what became of each, and return how many survived."""
    try:
        failing = unsound(tree, chosen)
    except NotRun as error:
        raise click.ClickException(f"No scenario ran.\n{error}") from error
    if failing:
        names = "\n".join(f"{one.test}: {one.sentence}" for one in failing)
        raise click.ClickException(f"These scenarios fail without a mutant, so that they show nothing.\n{names}")
    survived = 0
    for caught in outcomes(tree, chosen):
        survived += caught.by is None
        click.echo(line(caught))
    return survived


def line(caught: Caught) -> str:
    """What was taken out, and which scenario failed, and why."""
    mutant, by = caught.mutant, caught.by
    head = f"{mutant.promise:<4} {mutant.sentence}"
    if by is not None:
        return f"{head}\n     caught by: {by.name} ({by.door})\n     it said: {by.sentence}"
    return f"{head}\n     {f'NOTHING RAN: {caught.error}' if caught.error else f'SURVIVED {mutant.expression}'}"


if __name__ == "__main__":
    main()
