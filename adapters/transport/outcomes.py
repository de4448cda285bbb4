"""Section 5 of the design as one table: what was seen on the wire, and what that means. The first row that fits.

Pure. No row concludes more than it saw: what fits none is ``unknown``, and keeps its reservation.
"""

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import get_args

from adapters.transport.error_lists import listed
from adapters.transport.wire_answer import Answer, error_codes, read_answer
from adapters.transport.wire_result import Answered, LostAfterSend, NotSentResult, TooLarge, WireResult
from gateway.domain.completion import Completion, FinishReason
from gateway.domain.outcome import Charged, Completed, NoEffect, Outcome, Unclear, Unknown
from gateway.domain.profile import Profile
from gateway.domain.usage import Usage, plausible

FINISH_REASONS: Mapping[str, FinishReason] = {reason: reason for reason in get_args(FinishReason)}


class Seen:
    """One result of the wire, parsed once however many rows look at it."""

    def __init__(
        self,
        result: WireResult,
        profile: Profile,
        read: Callable[[bytes], Answer | None],
        *,
        logprobs_asked: bool,
    ) -> None:
        self.result = result
        self.logprobs_asked = logprobs_asked
        self.profile = profile
        self._read = read

    @cached_property
    def answer(self) -> Answer | None:
        """A complete answer with status 200 that could be read."""
        if isinstance(self.result, Answered) and self.result.status == 200:
            return self._read(self.result.body)
        return None

    @cached_property
    def usage(self) -> Usage | None:
        """What the answer says was used, if that can be true."""
        if self.answer is None:
            return None
        return plausible(
            self.answer.prompt_tokens,
            self.answer.completion_tokens,
            has_output=bool(self.answer.content or self.answer.tool_calls or self.answer.refusal),
            context_window=self.profile.context_window,
        )


def _not_sent(seen: Seen) -> Outcome | None:
    return NoEffect(seen.result.reason) if isinstance(seen.result, NotSentResult) else None


def _listed_error(seen: Seen) -> Outcome | None:
    """The rows "not executed" and "charged"."""
    if not isinstance(seen.result, Answered) or seen.result.status < 400:
        return None
    match listed(seen.profile, seen.result.status, error_codes(seen.result.body)):
        case ("not_executed", rule):
            return NoEffect("busy" if rule.busy else "rejected")
        case ("charged", _):
            return Charged("listed_as_charged")
    return None


def _too_large(seen: Seen) -> Outcome | None:
    """An answer only: what an error of that size stands for is not known."""
    large = isinstance(seen.result, TooLarge) and seen.result.status == 200
    return Charged("answer_too_large") if large else None


def _other_model(seen: Seen) -> Outcome | None:
    if seen.answer is None or seen.answer.model in seen.profile.accepted_models:
        return None
    return Charged("other_model", seen.usage)


def _other_fingerprint(seen: Seen) -> Outcome | None:
    """Only where the profile says what its engine attests: a replica with other weights shows here first."""
    attested = None if seen.profile.engine is None else seen.profile.engine.fingerprint
    if seen.answer is None or attested is None or seen.answer.system_fingerprint == attested:
        return None
    return Charged("other_fingerprint", seen.usage)


def _aborted(seen: Seen) -> Outcome | None:
    """Generation has ended, and what there is of the answer is no answer."""
    aborted = seen.answer is not None and seen.answer.finish_reason == "abort"
    return Charged("aborted", seen.usage) if aborted else None


def _completed(seen: Seen) -> Outcome | None:
    """The rows with plausible usage, without it, and with more than was reserved: settlement tells them apart."""
    answer = seen.answer
    if answer is None or (reason := FINISH_REASONS.get(answer.finish_reason or "")) is None:
        return None
    return Completed(
        Completion(
            model=answer.model,
            content=answer.content,
            finish_reason=reason,
            usage=seen.usage,
            tool_calls=answer.tool_calls,
            refusal=answer.refusal,
            logprobs=answer.logprobs if seen.logprobs_asked else None,
        ),
        provider_ref=answer.reference,
        times=answer.times,
    )


ROWS: tuple[Callable[[Seen], Outcome | None], ...] = (
    _not_sent,
    _listed_error,
    _too_large,
    _other_model,
    _other_fingerprint,
    _aborted,
    _completed,
)


def outcome_of(
    result: WireResult,
    profile: Profile,
    read: Callable[[bytes], Answer | None] = read_answer,
    *,
    logprobs_asked: bool = False,
) -> Outcome:
    """What a result of the wire means for a dispatch to ``profile``; ``read`` is its family's.

    :param logprobs_asked: whether the request asked for logprobs. They are shown to nobody else.
    """
    seen = Seen(result, profile, read, logprobs_asked=logprobs_asked)
    for row in ROWS:
        if (outcome := row(seen)) is not None:
            return outcome
    return Unknown(_why_unclear(seen))


def _why_unclear(seen: Seen) -> Unclear:
    match seen.result:
        case LostAfterSend(reason=reason):
            return reason
        case Answered(status=200):
            return "malformed_answer" if seen.answer is None else "unknown_finish_reason"
        case Answered(status=status) if 300 <= status < 400:
            return "redirect"
        case _:
            return "unlisted_status"
