"""What may be entered into the cost worksheet."""

from gateway.domain.worksheets import measured
from gateway.domain.worksheets.fields import Field

PER_TOKENS = ("1000000", "1000")
PRICES = ("input_price", "cached_input_price", "output_price", "reasoning_price")
COUNTED = ("completed", "content_filter", "charged", "unknown")
HOURLY = ("storage_hour", "network_hour", "maintenance_hour", "staff_hour")
OWN = (
    "replicas",
    "headroom_replicas",
    "devices_per_replica",
    "device_hour",
    *HOURLY,
    "requests_per_s",
    "utilisation",
    "variable_per_request",
    "self_hosted_success_rate",
)
"""Entries about devices of one's own; the first of them asks for the price of a device too."""
_PER_REQUEST, _PRICE, _PER_HOUR = "tokens/request", "currency", "currency/h"
_PER_MILLION = "Of a million tokens, unless per_tokens says otherwise."
FIELDS = (
    Field(
        name="currency",
        label="Currency",
        kind="text",
        help="Of every amount: its three capitals of ISO 4217, such as EUR.",
        group="first",
    ),
    Field(
        name="input_tokens",
        label="Input tokens",
        kind="decimal",
        unit=_PER_REQUEST,
        help="Of one request on average, without those read from a cache.",
        group="first",
    ),
    Field(
        name="cached_input_tokens",
        label="Cached input tokens",
        kind="decimal",
        unit=_PER_REQUEST,
        default="0",
        help="Of one request on average, beside the input tokens.",
    ),
    Field(
        name="output_tokens",
        label="Output tokens",
        kind="decimal",
        unit=_PER_REQUEST,
        help="Of one request on average, without those of reasoning.",
        group="first",
    ),
    Field(
        name="reasoning_tokens",
        label="Reasoning tokens",
        kind="decimal",
        unit=_PER_REQUEST,
        default="0",
        help="Of one request on average, beside the output tokens; billed as output unless they have a price.",
    ),
    Field(name="input_price", label="Price of input", kind="decimal", unit=_PRICE, help=_PER_MILLION, group="first"),
    Field(
        name="cached_input_price",
        label="Price of cached input",
        kind="decimal",
        unit=_PRICE,
        help="Left empty, it is that of input.",
    ),
    Field(name="output_price", label="Price of output", kind="decimal", unit=_PRICE, help=_PER_MILLION, group="first"),
    Field(
        name="reasoning_price",
        label="Price of reasoning",
        kind="decimal",
        unit=_PRICE,
        help="Left empty, it is that of output.",
    ),
    Field(
        name="per_tokens",
        label="Prices are per",
        kind="choice",
        unit="tokens",
        default="1000000",
        choices=PER_TOKENS,
        help="The unit of all four prices.",
    ),
    Field(
        name="success_rate",
        label="Success rate",
        kind="decimal",
        help="Share of the hosted requests that succeed, from 0 to 1; or enter how many ended in which way.",
    ),
    Field(
        name="retries",
        label="Billed retries",
        kind="decimal",
        unit="retries/request",
        default="0",
        help="Those that were really billed, for each request on average.",
    ),
    Field(name="completed", label="Completed", kind="count", unit="attempts", help="Answered, paid for and kept."),
    Field(
        name="content_filter",
        label="Stopped by a content filter",
        kind="count",
        unit="attempts",
        help="Paid for, and cut short by the provider's filter; not a success.",
    ),
    Field(name="charged", label="Charged", kind="count", unit="attempts", help="Paid for, without an answer."),
    Field(name="unknown", label="Unknown", kind="count", unit="attempts", help="May have been paid for; counts as if."),
    Field(
        name="replicas",
        label="Replicas that serve",
        kind="count",
        unit="replicas",
        default="1",
        help="Copies of the model that share the requests.",
    ),
    Field(
        name="headroom_replicas",
        label="Replicas in reserve",
        kind="count",
        unit="replicas",
        help="Paid for and idle, for bursts and failures.",
    ),
    Field(name="devices_per_replica", label="Devices of a replica", kind="count", unit="devices", default="1"),
    Field(
        name="device_hour",
        label="A device",
        kind="decimal",
        unit=_PER_HOUR,
        help="What one costs, busy or idle.",
        group="first",
    ),
    Field(name="storage_hour", label="Storage", kind="decimal", unit=_PER_HOUR, help="Of all replicas together."),
    Field(name="network_hour", label="Network", kind="decimal", unit=_PER_HOUR, help="Of all replicas together."),
    Field(
        name="maintenance_hour", label="Maintenance", kind="decimal", unit=_PER_HOUR, help="Of all replicas together."
    ),
    Field(name="staff_hour", label="Staff", kind="decimal", unit=_PER_HOUR, help="Who runs it, of all replicas."),
    Field(
        name="requests_per_s",
        label="Requests of a busy replica",
        kind="decimal",
        unit="requests/s",
        help="Successful ones, of one replica that is never idle (q).",
        group="first",
    ),
    Field(
        name="utilisation",
        label="Utilisation",
        kind="decimal",
        help="Share of the time in which a serving replica is busy, from 0 to 1 (u).",
        group="first",
    ),
    Field(
        name="variable_per_request",
        label="Variable cost",
        kind="decimal",
        unit="currency/request",
        help="What one more self-hosted request costs besides, such as energy.",
    ),
    Field(
        name="self_hosted_success_rate",
        label="Self-hosted success rate",
        kind="decimal",
        help="Share of its successful requests whose answers are approved of, from 0 to 1.",
    ),
    *measured.FIELDS,
)
