"""Do the privacy classes stand in their order, and can a bundle's profiles give what its class asks for?"""

from collections.abc import Callable, Iterator

from adapters.registry.coherence import repeated
from adapters.registry.draft import Draft
from gateway.domain.fault import Fault
from gateway.domain.profile import Profile
from gateway.domain.registry import Requirements

AsksLess = Callable[[Requirements, Requirements], bool]

_ASKS_LESS: dict[str, AsksLess] = {
    "networks": lambda one, other: not set(one.networks) <= set(other.networks),
    "longest_retention_days": lambda one, other: one.longest_retention_days > other.longest_retention_days,
    "training_allowed": lambda one, other: one.training_allowed and not other.training_allowed,
    "time_sharing_allowed": lambda one, other: one.time_sharing_allowed and not other.time_sharing_allowed,
    "attestation_required": lambda one, other: other.attestation_required and not one.attestation_required,
    "least_score": lambda one, other: one.least_score < other.least_score,
    "most_refusals": lambda one, other: one.most_refusals > other.most_refusals,
    "longest_evaluation_days": lambda one, other: one.longest_evaluation_days > other.longest_evaluation_days,
    "longest_facts_s": lambda one, other: one.longest_facts_s > other.longest_facts_s,
}
"""By the requirement's key: does the first class ask for less than the other?"""


def classes(draft: Draft) -> Iterator[Fault]:
    """Faults of privacy.yaml. A list in the wrong order is found here, because its classes then ask for less."""
    if draft.privacy is None:
        return
    listed = draft.privacy.value.classes
    yield from repeated(draft.privacy, "classes", [asked.id for asked in listed])
    for index, asked in enumerate(listed):
        for key, asks_less in _ASKS_LESS.items():
            if any(asks_less(asked, laxer) for laxer in listed[:index]):
                sentence = f"The class asks for less in {key} than a class before it."
                remedy = "Ask for at least as much as every class before it, or mend the order of the classes."
                yield draft.privacy.fault(("classes", index, key), sentence, remedy)


def unfit(draft: Draft) -> Iterator[Fault]:
    """Profiles that could never serve the class of a bundle that holds them.

    They do not stop a start, because policy refuses each of them: a class can be made stricter at once.
    """
    if draft.privacy is None:
        return
    by_id = {asked.id: asked for asked in draft.privacy.value.classes}
    for bundle in draft.bundles.values():
        if (asked := by_id.get(bundle.value.privacy_class)) is None:
            continue
        for index, member in enumerate(bundle.value.profiles):
            if (profile := draft.profiles.get(member.id)) is None:
                continue
            for lacking in _lacking(profile.value, asked):
                sentence = f"No request of the bundle's class could be served by this profile: {lacking}."
                remedy = "Take the profile out, in a new version of the bundle, or lower the class of that version."
                yield bundle.fault(("profiles", index, "id"), sentence, remedy)
        evaluation = bundle.value.evaluation
        if evaluation.score < asked.least_score:
            yield bundle.fault(
                ("evaluation", "score"),
                "The score is below the least_score of the bundle's class.",
                "Evaluate better profiles, as a new version, or lower the class of that version.",
            )
        if evaluation.refusal_rate > asked.most_refusals:
            yield bundle.fault(
                ("evaluation", "refusal_rate"),
                "The refusal rate is above most_refusals of the bundle's class.",
                "Evaluate better profiles, as a new version, or lower the class of that version.",
            )


def _lacking(profile: Profile, asked: Requirements) -> Iterator[str]:
    """What the class asks for and the profile does not give."""
    handling, engine = profile.data_handling, profile.engine
    if profile.network not in asked.networks:
        yield "the class does not allow its network"
    if handling.retention_days > asked.longest_retention_days:
        yield "its retention_days are above longest_retention_days"
    if handling.trains_on_data and not asked.training_allowed:
        yield "its endpoint trains on data"
    if engine is not None and engine.placement.sharing == "time_shared" and not asked.time_sharing_allowed:
        yield "the device of its engine is time_shared"
    if asked.attestation_required and (engine is None or not engine.abilities.attest_revision):
        yield "no engine attests its revision"
