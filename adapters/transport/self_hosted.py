"""A dispatch to an OpenAI-compatible engine of one's own, and the family of llama.cpp's server."""

import aiohttp

from adapters.transport import llama_cpp
from adapters.transport.wire import Call
from adapters.transport.wire_answer import Answer, read_answer
from adapters.transport.wire_body import wire_body
from gateway.domain.grant import Dispatch
from gateway.domain.profile import Profile
from gateway.ports.transport import Readiness


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


class LlamaCpp:
    """Implements Family for the adapter ``llama_cpp``."""

    def __init__(self, session: aiohttp.ClientSession) -> None:
        self._session = session

    def call_for(self, dispatch: Dispatch) -> Call:
        """See Family.call_for."""
        return call_for(dispatch)

    def read(self, body: bytes) -> Answer | None:
        """See Family.read."""
        return read_answer(body)

    async def check(self, profile: Profile) -> Readiness:
        """See Family.check."""
        return await llama_cpp.check(self._session, profile)
