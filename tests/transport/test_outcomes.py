"""Section 5 of the design, row by row, without a wire."""

from typing import Any, get_args

import msgspec
import pytest
from transport_support import profile

from adapters.transport.outcomes import outcome_of
from adapters.transport.wire_answer import Answer
from adapters.transport.wire_result import Answered, LostAfterSend, NotSentResult, TooLarge
from gateway.domain.completion import FinishReason
from gateway.domain.outcome import Charged, Completed, NoEffect, NotSent, Outcome, Unclear, Unknown
from gateway.domain.usage import Usage
from gateway.testkit.provider.behaviours import Behaviour, aborted, answer_body, called, error, likely, refused

ENDPOINT = "http://127.0.0.1:9/v1"


def answered(behaviour: Behaviour, **changes: Any) -> Outcome:
    """The outcome of a complete answer."""
    body = answer_body(behaviour, alias="scripted@1")
    return outcome_of(Answered(behaviour.status, body), profile(ENDPOINT, **changes))


def usage_of(behaviour: Behaviour, **changes: Any) -> Usage | None:
    outcome = answered(behaviour, **changes)
    assert isinstance(outcome, Completed)
    return outcome.completion.usage


def usage(prompt: Any, completion: Any) -> dict[str, Any]:
    return {"prompt_tokens": prompt, "completion_tokens": completion}


@pytest.mark.parametrize("reason", get_args(NotSent))
def test_what_did_not_leave_has_no_effect(reason: NotSent):
    assert outcome_of(NotSentResult(reason), profile(ENDPOINT)) == NoEffect(reason)


@pytest.mark.parametrize("reason", get_args(Unclear))
def test_what_was_lost_after_the_send_is_unknown(reason: Unclear):
    assert outcome_of(LostAfterSend(reason), profile(ENDPOINT)) == Unknown(reason)


def test_the_self_hosted_family_knows_four_refusals_and_nothing_else():
    known = {400: NoEffect("rejected"), 401: NoEffect("rejected"), 404: NoEffect("rejected"), 429: NoEffect("busy")}
    for status in range(400, 600):
        assert answered(error(status)) == known.get(status, Unknown("unlisted_status"))


def test_a_listed_status_counts_whatever_its_body_is():
    assert outcome_of(Answered(404, b"<html>"), profile(ENDPOINT)) == NoEffect("rejected")


BUSY = {"status": 503, "code": "unavailable_error", "busy": True, "source": "engine.md"}


def test_a_profile_may_list_a_code_and_only_that_code_has_no_effect():
    listing = {"not_executed": [BUSY]}
    assert answered(error(503, type_="unavailable_error"), errors=listing) == NoEffect("busy")
    assert answered(error(503, code="unavailable_error"), errors=listing) == NoEffect("busy")
    assert answered(error(503, type_="other_error"), errors=listing) == Unknown("unlisted_status")
    assert answered(error(500, type_="unavailable_error"), errors=listing) == Unknown("unlisted_status")


def test_a_profiles_list_comes_before_its_familys():
    listing = {"charged": [{"status": 400, "source": "contract"}]}
    assert answered(error(400), errors=listing) == Charged("listed_as_charged")


def test_a_named_code_comes_before_any_code():
    listing = {
        "not_executed": [{"status": 400, "source": "contract"}],
        "charged": [{"status": 400, "code": "content_filter", "source": "contract"}],
    }
    assert answered(error(400, code="content_filter"), errors=listing) == Charged("listed_as_charged")
    assert answered(error(400, code="other"), errors=listing) == NoEffect("rejected")


@pytest.mark.parametrize("body", [b"", b"null", b'{"error": "text"}', b'{"error": {"code": {"a": 1}}}', b"\xff"])
def test_an_error_body_that_cannot_be_read_names_no_code(body: bytes):
    listing = {"not_executed": [BUSY]}
    assert outcome_of(Answered(503, body), profile(ENDPOINT, errors=listing)) == Unknown("unlisted_status")


def test_an_answer_that_is_too_large_is_charged_and_an_error_that_is_too_large_is_unknown():
    assert outcome_of(TooLarge(200), profile(ENDPOINT)) == Charged("answer_too_large")
    assert outcome_of(TooLarge(500), profile(ENDPOINT)) == Unknown("unlisted_status")
    assert outcome_of(TooLarge(404), profile(ENDPOINT)) == Unknown("unlisted_status")


def test_another_model_is_charged_with_its_usage_where_that_is_plausible():
    assert answered(Behaviour(model="other@1")) == Charged("other_model", Usage(input=20, output=3))
    assert answered(Behaviour(model="other@1", omit=("usage",))) == Charged("other_model")
    assert answered(Behaviour(model="other@1", finish_reason=None)) == Charged("other_model", Usage(input=20, output=3))
    assert answered(Behaviour(model="Scripted@1")) == Charged("other_model", Usage(input=20, output=3))


def test_each_accepted_model_is_accepted_and_keeps_its_name():
    outcome = answered(Behaviour(model="b"), accepted_models=["a", "b"])
    assert isinstance(outcome, Completed)
    assert outcome.completion.model == "b"


@pytest.mark.parametrize("reason", get_args(FinishReason))
def test_each_known_finish_reason_completes(reason: FinishReason):
    outcome = answered(Behaviour(finish_reason=reason))
    assert isinstance(outcome, Completed)
    assert outcome.completion.finish_reason == reason


@pytest.mark.parametrize("reason", [None, "", "ABORT", "error", "STOP", "insufficient_system_resource"])
def test_every_other_finish_reason_is_unknown(reason: str | None):
    assert answered(Behaviour(finish_reason=reason)) == Unknown("unknown_finish_reason")


def test_an_aborted_generation_is_charged_with_its_usage_where_that_is_plausible():
    assert answered(aborted()) == Charged("aborted", Usage(input=20, output=3))
    assert answered(msgspec.structs.replace(aborted(), omit=("usage",))) == Charged("aborted")


ATTESTING = {"engine": {**msgspec.to_builtins(profile(ENDPOINT).engine), "fingerprint": "weights-7"}}


@pytest.mark.parametrize("fingerprint", ["weights-8", "Weights-7", "weights-7 ", "", None, 7, ["weights-7"]])
def test_another_fingerprint_than_the_profiles_is_charged(fingerprint: Any):
    behaviour = Behaviour(fingerprint=fingerprint)
    assert answered(behaviour, **ATTESTING) == Charged("other_fingerprint", Usage(input=20, output=3))


def test_without_any_fingerprint_an_answer_attests_nothing():
    behaviour = Behaviour(omit=("system_fingerprint", "usage"))
    assert answered(behaviour, **ATTESTING) == Charged("other_fingerprint")


def test_the_attested_fingerprint_is_accepted_and_where_none_is_attested_any():
    assert isinstance(answered(Behaviour(fingerprint="weights-7"), **ATTESTING), Completed)
    assert isinstance(answered(Behaviour(fingerprint="weights-8")), Completed)
    assert isinstance(answered(Behaviour(fingerprint={"not": "read"})), Completed)


def test_the_first_row_that_fits_counts():
    used = Usage(input=20, output=3)
    other = Behaviour(model="other@1", fingerprint="weights-8", finish_reason="abort")
    assert answered(other, **ATTESTING) == Charged("other_model", used)
    assert answered(Behaviour(fingerprint="weights-8", finish_reason="abort"), **ATTESTING) == Charged(
        "other_fingerprint", used
    )
    assert answered(Behaviour(fingerprint="weights-8", finish_reason="odd"), **ATTESTING) == Charged(
        "other_fingerprint", used
    )


@pytest.mark.parametrize("said", [called("weather", "{}"), refused("No."), Behaviour(content="x")])
def test_usage_without_output_cannot_be_true_of_an_answer_that_says_something(said: Behaviour):
    assert usage_of(msgspec.structs.replace(said, usage=usage(20, 0))) is None


def test_logprobs_are_shown_to_whoever_asked_for_them():
    body = answer_body(likely("Hel", "lo."), alias="scripted@1")
    for asked in (True, False):
        outcome = outcome_of(Answered(200, body), profile(ENDPOINT), logprobs_asked=asked)
        assert isinstance(outcome, Completed)
        assert (outcome.completion.logprobs is not None) == asked


def test_a_family_may_read_answers_in_its_own_way():
    own = Answer(
        model="scripted@1",
        content="Hi.",
        finish_reason="stop",
        prompt_tokens=1,
        completion_tokens=1,
        reference=None,
    )
    outcome = outcome_of(Answered(200, b"<answer/>"), profile(ENDPOINT), lambda _: own)
    assert isinstance(outcome, Completed)
    assert outcome.completion.content == "Hi."


@pytest.mark.parametrize("content", [None, ""])
def test_an_answer_without_content_completes_and_may_have_used_no_output(content: str | None):
    outcome = answered(Behaviour(content=content, usage=usage(20, 0)))
    assert isinstance(outcome, Completed)
    assert (outcome.completion.content, outcome.completion.usage) == (content, Usage(input=20, output=0))


@pytest.mark.parametrize("nonsense", [-1, 0, 1.5, "20", True, None])
def test_usage_that_cannot_be_true_is_none(nonsense: Any):
    assert usage_of(Behaviour(usage=usage(nonsense, 3))) is None
    assert usage_of(Behaviour(usage=usage(20, nonsense))) is None


def test_a_total_above_its_parts_makes_usage_none():
    assert usage_of(Behaviour(usage=usage(20, 3) | {"total_tokens": 24})) is None
    for total in (23, 1, 0, -1, None, "24", 24.0):
        assert usage_of(Behaviour(usage=usage(20, 3) | {"total_tokens": total})) == Usage(input=20, output=3)


def test_usage_may_fill_the_context_and_not_more():
    assert usage_of(Behaviour(usage=usage(4000, 96))) == Usage(input=4000, output=96)
    assert usage_of(Behaviour(usage=usage(4000, 97))) is None


def test_fields_that_are_not_read_may_be_anything():
    extra = {"created": "soon", "service_tier": [1, {"x": None}], "id": {"not": "a string"}, "choices_extra": 1e300}
    outcome = answered(Behaviour(extra=extra))
    assert isinstance(outcome, Completed)
    assert outcome.provider_ref is None


@pytest.mark.parametrize("reference", ["x" * 201, "a\nb", "é", 7])
def test_a_reference_that_is_not_fit_to_be_stored_is_dropped(reference: Any):
    outcome = answered(Behaviour(extra={"id": reference}))
    assert isinstance(outcome, Completed)
    assert outcome.provider_ref is None


GOOD = msgspec.json.decode(answer_body(Behaviour(), alias="scripted@1"))


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"null",
        b"{}",
        msgspec.json.encode({**GOOD, "model": None}),
        msgspec.json.encode({**GOOD, "choices": []}),
        msgspec.json.encode({**GOOD, "choices": GOOD["choices"] * 2}),
        msgspec.json.encode({**GOOD, "choices": [{"finish_reason": "stop"}]}),
        msgspec.json.encode({**GOOD, "choices": [{"message": {"content": ["parts"]}, "finish_reason": "stop"}]}),
        msgspec.json.encode(GOOD)[:-1],
        msgspec.json.encode(GOOD) + b"{}",
        msgspec.json.encode(GOOD).replace(b"Hello.", b"\\ud83d"),
        msgspec.json.encode(GOOD).replace(b"Hello.", b"\xff"),
        b'{"usage":' + b"[" * 5000,
    ],
)
def test_what_is_no_answer_is_unknown(body: bytes):
    assert outcome_of(Answered(200, body), profile(ENDPOINT)) == Unknown("malformed_answer")


@pytest.mark.parametrize("status", [201, 202, 204, 206, 600])
def test_another_success_is_not_completion(status: int):
    assert answered(Behaviour(status=status)) == Unknown("unlisted_status")


@pytest.mark.parametrize("status", [300, 301, 307, 399])
def test_a_redirect_is_unknown(status: int):
    assert answered(Behaviour(status=status)) == Unknown("redirect")
