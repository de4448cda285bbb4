"""What the cost worksheet takes for granted, and what is not in it."""

from gateway.domain.worksheets import decimals
from gateway.domain.worksheets.cost.fields import COUNTED
from gateway.domain.worksheets.cost.figures import CostPlan
from gateway.domain.worksheets.fields import Entries

NEVER_IN_IT = (
    "Quality: whether the answers of both are equally good is not in any of these numbers.",
    "Refusals: requests that policy, a limit or a model turns down are not in any of these numbers.",
    "This is no advice on what to buy.",
)
_OWN = {
    "headroom_replicas": "Burst headroom (headroom_replicas)",
    "storage_hour": "Storage (storage_hour)",
    "network_hour": "Network (network_hour)",
    "maintenance_hour": "Maintenance (maintenance_hour)",
    "staff_hour": "Staff (staff_hour)",
    "variable_per_request": "Variable cost of a request, such as energy (variable_per_request)",
    "self_hosted_success_rate": "The share of self-hosted answers that are approved of (self_hosted_success_rate)",
}
_SUCCESS = "The share of hosted requests that succeed (success_rate)"
_BILLED_RETRIES = "Retries that were billed (retries)"


def assumed(entries: Entries, plan: CostPlan) -> tuple[str, ...]:
    """A sentence each."""
    said = [decimals.ROUNDING]
    if plan.hosted:
        said.append("Every request has the average tokens; tiers of prices are not modelled.")
        if not entries.has("cached_input_price") and plan.hosted.cached_input_tokens:
            said.append("Cached input costs what input does.")
        if not entries.has("reasoning_price") and plan.hosted.reasoning_tokens:
            said.append("Reasoning tokens are billed as output.")
        if any(map(entries.has, COUNTED)):
            said.append(
                "Completed, filtered, charged and unknown attempts are all paid for; only completed ones succeed."
            )
        elif not entries.has("success_rate"):
            said.append("Every hosted request succeeds.")
    if plan.own:
        said.append("What a replica serves grows with its utilisation; its price per hour does not.")
        if not entries.has("self_hosted_success_rate"):
            said.append("Every self-hosted request that is served is approved of.")
    if plan.hosted and plan.own:
        said.append("The break-even compares requests, not successes.")
    return tuple(said)


def left_out(entries: Entries) -> tuple[str, ...]:
    """What was not entered, by name, and what cannot be."""
    missing = [noun for name, noun in _OWN.items() if not entries.has(name)]
    if not entries.has("success_rate") and not any(map(entries.has, COUNTED)):
        missing.append(_SUCCESS)
    if not entries.has("retries") and not any(map(entries.has, COUNTED)):
        missing.append(_BILLED_RETRIES)
    return (*(f"{noun}: not entered, so not in the cost." for noun in missing), *NEVER_IN_IT)
