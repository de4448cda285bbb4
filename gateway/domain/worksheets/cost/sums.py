"""What a request costs with a hosted provider and on devices of one's own: the arithmetic, exact in fractions.

Amounts are in one currency, whichever it is. Sources of the formulas: docs/worksheets.md.
"""

from fractions import Fraction

from msgspec import Struct

SECONDS_PER_HOUR = 3600


class Outcomes(Struct, frozen=True, kw_only=True):
    """Attempts by how they ended. All of these are paid for; an unknown one may have been, so it counts as if."""

    completed: Fraction
    content_filter: Fraction
    charged: Fraction
    unknown: Fraction

    @property
    def paid(self) -> Fraction:
        return self.completed + self.content_filter + self.charged + self.unknown


class Hosted(Struct, frozen=True, kw_only=True):
    """Tokens of one request on average, and prices of one token."""

    input_tokens: Fraction
    """Not read from a cache."""
    cached_input_tokens: Fraction
    output_tokens: Fraction
    """Without those of reasoning."""
    reasoning_tokens: Fraction
    input_price: Fraction
    cached_input_price: Fraction
    output_price: Fraction
    reasoning_price: Fraction
    paid_per_success: Fraction | None
    """Paid requests for each that succeeded; None: none did."""

    @property
    def per_request(self) -> Fraction:
        return (
            self.input_tokens * self.input_price
            + self.cached_input_tokens * self.cached_input_price
            + self.output_tokens * self.output_price
            + self.reasoning_tokens * self.reasoning_price
        )

    @property
    def per_success(self) -> Fraction | None:
        """None: undefined, nothing succeeded."""
        return None if self.paid_per_success is None else self.per_request * self.paid_per_success


class SelfHosted(Struct, frozen=True, kw_only=True):
    """Devices of one's own, per hour, and what they serve."""

    replicas: int
    """That serve. A share of their time is idle: see ``utilisation``."""
    headroom_replicas: int
    """That are paid for and serve nothing."""
    devices_per_replica: int
    device_hour: Fraction
    other_hour: Fraction
    """Storage, network, maintenance and staff."""
    requests_per_s: Fraction | None
    """Successful requests per second of one busy replica (q); None: not entered."""
    utilisation: Fraction | None
    """Share of the time in which a replica is busy (u), 0 to 1; None: not entered."""
    variable_per_request: Fraction
    """What one more request costs besides, such as energy."""
    success_rate: Fraction
    """Share of its requests whose answers are approved of, 0 to 1."""

    @property
    def per_hour(self) -> Fraction:
        """C: what is paid whether anything is served or not."""
        devices = (self.replicas + self.headroom_replicas) * self.devices_per_replica
        return devices * self.device_hour + self.other_hour

    @property
    def busy_per_hour(self) -> Fraction | None:
        """Requests per hour of all replicas at a utilisation of one; None: q was not entered."""
        return None if self.requests_per_s is None else SECONDS_PER_HOUR * self.replicas * self.requests_per_s

    @property
    def served_per_hour(self) -> Fraction | None:
        """None: q or u was not entered."""
        if self.busy_per_hour is None or self.utilisation is None:
            return None
        return self.busy_per_hour * self.utilisation

    @property
    def per_request(self) -> Fraction | None:
        """C / (3600 x replicas x q x u), and the variable part. None: undefined, nothing is served."""
        if not self.served_per_hour:
            return None
        return self.per_hour / self.served_per_hour + self.variable_per_request

    @property
    def per_success(self) -> Fraction | None:
        """None: undefined, nothing is served, or nothing of it is approved of."""
        if self.per_request is None or not self.success_rate:
            return None
        return self.per_request / self.success_rate
