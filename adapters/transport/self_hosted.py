"""A dispatch to an OpenAI-compatible engine of one's own."""

from adapters.transport.wire import Call
from adapters.transport.wire_body import wire_body
from gateway.domain.grant import Dispatch


def call_for(dispatch: Dispatch) -> Call:
    """The one call that a dispatch makes. The request id on the wire is the dispatch id."""
    profile = dispatch.profile
    return Call(
        url=profile.endpoint.rstrip("/") + "/chat/completions",
        headers={"Content-Type": "application/json", "X-Request-Id": dispatch.dispatch_id},
        body=wire_body(dispatch),
        connect_s=profile.timeouts.connect_ms / 1000,
        total_s=profile.timeouts.total_ms / 1000,
        send_by_s=dispatch.send_by_s,
        max_answer_bytes=profile.max_answer_bytes,
    )
