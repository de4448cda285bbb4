"""The plan is a function of the seed, and leaves nothing to chance."""

from collections import Counter

from gateway.testkit.faults import misbehaviour
from gateway.testkit.faults.misbehaviour import ALL
from gateway.testkit.faults.plan import LETHAL, PLACES, SLOW, STATEMENTS, STOPS, Place, round_plan
from gateway.testkit.faults.tally import Tally, Wanted, next_round


def places(seed: int, rounds: int) -> Counter[Place]:
    return Counter(failpoint.place for number in range(rounds) for failpoint in round_plan(seed, number))


def test_a_seed_gives_one_plan_and_another_seed_another() -> None:
    plans = [[round_plan(seed, number) for number in range(20)] for seed in (1, 1, 2)]
    assert plans[0] == plans[1]
    assert plans[0] != plans[2]


def test_every_way_to_end_the_process_comes_once_in_as_many_rounds() -> None:
    planned = places(5, len(LETHAL))
    assert {place: planned[place] for place in LETHAL} == dict.fromkeys(LETHAL, 1)


def test_every_failpoint_comes_again_and_again() -> None:
    planned = places(6, 3 * len(LETHAL))
    assert [place for place in PLACES if planned[place] < 2] == []


def test_a_round_has_one_way_to_end_and_one_failpoint_at_a_point() -> None:
    for number in range(100):
        plan = round_plan(3, number)
        assert sum(failpoint.place in LETHAL for failpoint in plan) == 1
        assert len({failpoint.point for failpoint in plan}) == len(plan)


def test_the_groups_of_failpoints_are_apart() -> None:
    assert len(set(PLACES)) == len(PLACES) == len(LETHAL) + len(STOPS) + len(STATEMENTS) + len(SLOW)


def test_the_provider_does_the_same_for_a_seed_an_operation_and_a_repetition() -> None:
    chosen = [misbehaviour.choose(1, f"operation-{n}", 0) for n in range(2000)]
    assert chosen == [misbehaviour.choose(1, f"operation-{n}", 0) for n in range(2000)]
    assert chosen != [misbehaviour.choose(2, f"operation-{n}", 0) for n in range(2000)]
    assert set(chosen) == set(ALL)


def test_most_providers_behave_so_that_enough_is_completed() -> None:
    weights = sum(one.weight for one in ALL.values())
    assert sum(one.weight for one in ALL.values() if one.concludes == "completed") > weights / 2


def test_what_a_race_has_kept_from_firing_is_gone_after_at_once() -> None:
    missing = [place for place in LETHAL if place.point in ("t2.commit", "t2.committed")] + [SLOW[0], *STATEMENTS[:2]]
    tally = Tally(struck=100, rounds=40)
    tally.fired.update({place: 1 for place in PLACES if place not in missing})
    aimed = [next_round(Wanted(operations=100, seed=seed), tally) for seed in range(30)]
    assert {failpoint.place for plan in aimed for failpoint in plan} >= set(missing[:2])
    for plan in aimed:
        assert {failpoint.place for failpoint in plan} <= set(missing)
        assert sum(failpoint.place in LETHAL for failpoint in plan) == 1
    assert next_round(Wanted(operations=101, seed=1), tally) == round_plan(1, 40)
