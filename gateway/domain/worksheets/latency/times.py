"""From the question to the saved answer: the arithmetic of one request's time, exact in fractions of a second."""

from fractions import Fraction

from msgspec import Struct


class LatencyPlan(Struct, frozen=True, kw_only=True):
    """What is entered. Times in seconds."""

    queue: Fraction
    verification: Fraction
    retrieval: Fraction
    prefill: Fraction
    output_tokens: int
    per_token: Fraction
    persist: Fraction
    slo: Fraction
    """For the saved answer."""
    arrival_per_s: Fraction | None = None
    """Requests per second; None: not entered."""


class Latency(Struct, frozen=True, kw_only=True):
    """What came out, in seconds."""

    before: Fraction
    """Queue, verification and retrieval: what passes before the engine begins."""
    decode: Fraction
    """So many tokens times the time of one: n steps, also for the first token, not n - 1."""
    first_token: Fraction
    """When the prefill has ended; the token itself is there one decode step later."""
    saved_answer: Fraction
    """When the whole answer is stored."""
    meets: bool
    """Whether the saved answer is there within the SLO. The first token decides nothing."""
    active: Fraction | None
    """Sequences that the engine holds at once on average, by Little's law; None: no arrival rate was entered."""


def compute(plan: LatencyPlan) -> Latency:
    """The arithmetic of a plan.

    Sources: the sum is the definition of its parts; J. D. C. Little, A Proof for the Queuing Formula (1961).
    """
    before = plan.queue + plan.verification + plan.retrieval
    decode = plan.output_tokens * plan.per_token
    saved = before + plan.prefill + decode + plan.persist
    return Latency(
        before=before,
        decode=decode,
        first_token=before + plan.prefill,
        saved_answer=saved,
        meets=saved <= plan.slo,
        active=None if plan.arrival_per_s is None else plan.arrival_per_s * (plan.prefill + decode),
    )
