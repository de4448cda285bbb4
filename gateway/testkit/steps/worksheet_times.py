"""Steps about the worksheets of latency and cost."""

from decimal import Decimal

from pytest_bdd import given, parsers, then, when

from gateway.testkit.doors.planning import Planner
from gateway.testkit.steps.worksheets import Plans, compute


@given(parsers.parse("{seconds} s pass before the engine begins, half of them in its queue"))
def _before(plans: Plans, seconds: str) -> None:
    half = str(Decimal(seconds) / 2)
    plans.entered |= {"queue_s": half, "verification_s": half, "retrieval_s": "0"}


@given(parsers.parse("the engine reads for {prefill} s and writes {tokens:d} tokens of {each} s"))
def _engine_times(plans: Plans, prefill: str, tokens: int, each: str) -> None:
    plans.entered |= {"prefill_s": prefill, "output_tokens": str(tokens), "per_token_s": each, "persist_s": "0"}


@when(parsers.parse("its time is compared with {seconds} s for the saved answer"))
def _plan_latency(planner: Planner, plans: Plans, seconds: str) -> None:
    compute(planner, plans, "latency", {"slo_s": seconds})


@then(parsers.parse("the first token can be there after {first} s, and the saved answer after {saved} s"))
def _times(plans: Plans, first: str, saved: str) -> None:
    figures = plans.sheet["figures"]
    assert [Decimal(figures[name]["value"]) for name in ("first_token", "saved_answer")] == [
        Decimal(first),
        Decimal(saved),
    ]


@then("that misses what was asked for")
def _misses(plans: Plans) -> None:
    assert plans.sheet["verdict"]["code"] == "misses"


@then("that meets what was asked for")
def _meets(plans: Plans) -> None:
    assert plans.sheet["verdict"]["code"] == "meets"


@given(parsers.parse("a device that costs {price} {currency} an hour and serves {rate} requests a second when busy"))
def _device(plans: Plans, price: str, currency: str, rate: str) -> None:
    plans.entered |= {"currency": currency, "device_hour": price, "requests_per_s": rate}


@when(parsers.parse("its cost is planned at a utilisation of {share}"))
def _plan_cost(planner: Planner, plans: Plans, share: str) -> None:
    compute(planner, plans, "cost", {"utilisation": share})


@then(parsers.parse("a request costs {amount} {currency}"))
def _costs(plans: Plans, amount: str, currency: str) -> None:
    assert plans.shown("self_hosted_per_request").split() == [amount, currency]


@then(parsers.parse('what a request costs is undefined, because "{reason}"'))
def _undefined(plans: Plans, reason: str) -> None:
    figure = plans.sheet["figures"]["self_hosted_per_request"]
    assert figure["value"] is None
    assert reason in figure["shown"]


@then("nothing says what to buy")
def _no_advice(plans: Plans) -> None:
    assert plans.sheet["verdict"] is None


@then(parsers.parse('"{word}" is told to be left out'))
def _left_out(plans: Plans, word: str) -> None:
    assert word in " ".join(plans.sheet["left_out"])
