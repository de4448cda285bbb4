"""POST /v1/chat/completions: one governed generation."""

from starlette.requests import Request as HttpRequest
from starlette.responses import Response

from gateway.api.body import BodyBounds, read_body
from gateway.api.chat_body import read_chat
from gateway.api.headers import bearer, operation_key_hash
from gateway.api.problems import problem
from gateway.domain.errors import WorkAbandoned
from gateway.domain.operation import State
from gateway.domain.refusal import Answer, Code, Refusal
from gateway.ports.events import Answered, Refused
from gateway.service.assembly import Services
from gateway.service.path import Arrival, Asked


class Chat:
    """The handler. Its work belongs to the application, not to the connection."""

    def __init__(self, services: Services, bounds: BodyBounds) -> None:
        self._services = services
        self._bounds = bounds

    async def __call__(self, http: HttpRequest) -> Response:
        services = self._services
        started_s = services.clock.boot_s()
        if services.running.draining:
            end: Answer | Refusal = Refusal(code=Code.DRAINING)
        else:
            arrival = Arrival(bearer(http.headers), lambda: self._read(http))
            end = await self._run(arrival)
        seconds = services.clock.boot_s() - started_s
        if isinstance(end, Refusal):
            services.events.emit(Refused(end.code, seconds))
            return problem(end)
        services.events.emit(Answered(end.replayed, seconds))
        return _answer(end)

    async def _run(self, arrival: Arrival) -> Answer | Refusal:
        try:
            return await self._services.running.own(self._services.pipeline.run(arrival))
        except WorkAbandoned as abandoned:
            if not abandoned.owned_attempt:
                return Refusal(code=Code.DRAINING)
            return Refusal(code=Code.OUTCOME_UNKNOWN, status=502)

    async def _read(self, http: HttpRequest) -> Asked | Refusal:
        if http.url.query:
            return Refusal(code=Code.QUERY_NOT_ALLOWED)
        if isinstance(key_hash := operation_key_hash(http.headers), Refusal):
            return key_hash
        if isinstance(body := await read_body(http, self._bounds), Refusal):
            return body
        if isinstance(request := read_chat(body), Refusal):
            return request
        return Asked(key_hash, request)


def _answer(answer: Answer) -> Response:
    headers = {
        "Operation-Id": answer.operation_id,
        "Operation-State": State.COMPLETED.value,
        "Bundle-Digest": answer.bundle_digest,
        "Policy-Revision": answer.policy_revision,
    }
    if answer.replayed:
        headers["Idempotent-Replayed"] = "true"
    return Response(answer.body, 200, headers, media_type="application/json")
