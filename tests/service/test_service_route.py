"""Which profile serves: of the bundle, allowed, ready, and the first that fits."""

import asyncio

import pytest
from msgspec.structs import replace
from service_support import ASKED, BUNDLE, PROFILE, Surroundings, example, with_another_profile

from gateway.domain.profile import Counter, Profile
from gateway.domain.questions import AccessQuestion, RoutesAnswer, RoutesQuestion
from gateway.domain.refusal import Code, Refusal
from gateway.domain.request import Request
from gateway.ports.transport import Readiness


def two(**changes: object) -> Surroundings:
    world = Surroundings(with_another_profile(example(), **changes))
    assert [member.id for member in world.snapshot.bundles[BUNDLE].profiles] == [PROFILE, "another"]
    return world


def served_by(world: Surroundings, request: Request = ASKED) -> str:
    world.answered(request)
    (dispatch,) = world.transport.received
    assert dispatch.profile.id == world.attempts[-1].profile
    return dispatch.profile.id


def test_the_first_profile_of_the_bundle_serves() -> None:
    assert served_by(two()) == PROFILE


def test_the_bundle_s_order_counts_and_not_the_order_of_policy_s_answer() -> None:
    world = two()
    world.policy.routes_override = ("another", PROFILE)
    assert served_by(world) == PROFILE


def test_a_profile_that_policy_leaves_out_does_not_serve() -> None:
    world = two()
    world.policy.routes_override = ("another",)
    assert served_by(world) == "another"


@pytest.mark.parametrize("state", ["unknown", "starting", "unready", "mismatch"])
def test_a_profile_that_is_not_ready_is_passed_over(state: str) -> None:
    world = two()
    world.board.note(world.profile, Readiness(state))
    assert served_by(world) == "another"


def test_a_profile_that_the_request_does_not_fit_is_passed_over() -> None:
    world = two(max_output=512)
    assert served_by(world, replace(ASKED, max_output=257)) == "another"
    assert world.transport.received[0].output_cap == 257


def test_where_none_fits_the_first_one_s_reason_is_told() -> None:
    world = two(max_output=512, context_window=64)
    refusal = world.refused(replace(ASKED, max_output=300))
    assert (refusal.code, refusal.param) == (Code.OUTPUT_EXCEEDS_PROFILE, "max_tokens")
    assert refusal.facts == {"limit": 256, "asked": 300}


def test_each_candidate_counts_with_its_own_counter() -> None:
    world = two(counter=Counter(method="bytes", per_message=1, per_request=1))
    counted: list[str] = []

    async def count(profile: Profile, _: Request, *, enough: int | None = None) -> int:
        counted.append(profile.id)
        return 10_000 if profile.id == PROFILE else 21

    world.counter.count = count
    assert served_by(world) == "another"
    assert counted == [PROFILE, "another"]
    assert world.attempts[-1].reserved_input == 21


def test_input_and_output_may_fill_the_context_window_to_the_last_token() -> None:
    world = Surroundings()
    world.counter.tokens = world.profile.context_window - world.profile.max_output
    assert served_by(world) == PROFILE
    reserved = world.attempts[-1]
    assert reserved.reserved_input + reserved.reserved_output == world.profile.context_window


def test_what_does_not_fit_the_context_window_is_told_in_numbers() -> None:
    world = Surroundings()
    window = world.profile.context_window
    world.counter.tokens = window - 99
    refusal = world.refused(replace(ASKED, max_output=100))
    assert (refusal.code, refusal.param) == (Code.CONTEXT_EXCEEDED, "messages")
    assert refusal.facts == {"limit": window, "input": window - 99, "output": 100}


@pytest.mark.parametrize(("asked", "cap"), [(None, 256), (1, 1), (256, 256)])
def test_the_cap_that_is_reserved_is_the_cap_that_is_sent(asked: int | None, cap: int) -> None:
    world = Surroundings()
    world.answered(replace(ASKED, max_output=asked))
    assert world.attempts[-1].reserved_output == cap
    assert world.transport.received[0].output_cap == cap


def test_the_checks_of_all_profiles_are_told_once_each_and_no_profile_is_named() -> None:
    world = two()
    routes = world.policy.routes

    async def denying(question):  # type: ignore[no-untyped-def] # the port's own types
        decided = await routes(question)
        failed = {PROFILE: ("region", "kind"), "another": ("region",)}
        return replace(decided, answer=RoutesAnswer((), failed))

    world.policy.routes = denying
    refusal = world.refused()
    assert refusal.code is Code.NO_ROUTE_ALLOWED
    assert [code.code for code in refusal.policy_codes] == ["route_kind", "route_region"]
    assert "another" not in repr(refusal.policy_codes)
    assert refusal.facts is None


def test_where_no_profile_is_allowed_what_the_request_needs_is_told() -> None:
    world = Surroundings()
    routes = world.policy.routes

    async def denying(question):  # type: ignore[no-untyped-def] # the port's own types
        decided = await routes(question)
        return replace(decided, answer=RoutesAnswer((), {PROFILE: ("capable",)}))

    world.policy.routes = denying
    refusal = world.refused(replace(ASKED, seed=7, logprobs=True))
    assert refusal.facts == {"needs": "logprobs, seed"}


def test_no_ready_route_says_when_to_ask_again() -> None:
    world = Surroundings()
    world.board.note(world.profile, Readiness("starting", "loading"))
    refusal = world.refused()
    assert (refusal.code, refusal.retry_after_s) == (Code.NO_READY_ROUTE, 5)


def test_routes_are_asked_for_with_the_class_that_access_requires() -> None:
    world = Surroundings()
    world.answered()
    access, routes = world.policy.asked
    assert isinstance(access, AccessQuestion)
    assert isinstance(routes, RoutesQuestion)
    assert (access.tenant, access.purpose, access.alias) == ("acme", "drafting", "chat")
    assert (routes.tenant, routes.purpose, routes.alias, routes.bundle) == ("acme", "drafting", "chat", BUNDLE)
    assert routes.features == ("chat",)
    assert routes.privacy_class == world.snapshot.tenants["acme"].privacy_class
    assert access.time_s == routes.time_s == world.clock.now_us() // 1_000_000


def test_a_purpose_that_the_request_names_is_the_one_that_is_asked_about() -> None:
    world = Surroundings()
    world.answered(replace(ASKED, purpose="answers"))
    assert world.policy.asked[0].purpose == "answers"
    assert world.operation.purpose == "answers"


def test_an_allow_that_is_not_true_is_a_no() -> None:
    world = Surroundings()
    access = world.policy.access

    async def nearly(question):  # type: ignore[no-untyped-def] # the port's own types
        decided = await access(question)
        return replace(decided, answer=replace(decided.answer, allow=1))

    world.policy.access = nearly
    end = asyncio.run(world.asking())
    assert isinstance(end, Refusal)
    assert end.code is Code.ACCESS_DENIED
