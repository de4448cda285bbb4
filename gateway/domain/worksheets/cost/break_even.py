"""Where a hosted request and one on devices of one's own cost the same: the arithmetic, exact in fractions."""

from fractions import Fraction

from gateway.domain.worksheets.cost.sums import Hosted, SelfHosted


def rate(hosted: Hosted, own: SelfHosted) -> Fraction | None:
    """Requests per hour from which on the fixed cost is earned: C / (hosted - variable).

    None: there is none, because a hosted request costs no more than the variable part of one's own.
    """
    saved = hosted.per_request - own.variable_per_request
    return own.per_hour / saved if saved > 0 else None


def utilisation(hosted: Hosted, own: SelfHosted) -> Fraction | None:
    """The utilisation at which so many are served: the rate / (3600 x replicas x q). It may be above one.

    None: there is no such rate, or the replicas serve nothing however busy they are.
    """
    found = rate(hosted, own)
    return found / own.busy_per_hour if found is not None and own.busy_per_hour else None
