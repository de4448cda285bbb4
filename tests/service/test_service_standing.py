"""What a disclosure asks of the process: whether what was decided upon is in force."""

from service_support import Surroundings


def test_what_was_decided_is_in_force_until_another_revision_is() -> None:
    world = Surroundings()
    decided_upon = world.policy.revision
    assert world.standing.is_in_force(decided_upon)
    assert not world.standing.is_in_force("")
    later = world.put_in_force()
    assert not world.standing.is_in_force(decided_upon)
    assert world.standing.is_in_force(later.revision)
