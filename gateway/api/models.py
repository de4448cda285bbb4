"""GET /v1/models: the aliases that a principal may use, in OpenAI's shape."""

from typing import Any

from starlette.requests import Request as HttpRequest
from starlette.responses import Response
from starlette.routing import Route

from gateway.api.administration import answer
from gateway.api.headers import bearer
from gateway.domain.refusal import Refusal
from gateway.service.assembly import Services
from gateway.service.visible import Model

OWNER = "policy-gateway"


class Models:
    """The handlers."""

    def __init__(self, services: Services) -> None:
        self._services = services

    async def all(self, http: HttpRequest) -> Response:
        if isinstance(session := await self._services.admin.authenticate(bearer(http.headers)), Refusal):
            return answer(session)
        models = await self._services.visible(session)
        if isinstance(models, Refusal):
            return answer(models)
        return answer({"object": "list", "data": [_model(model) for model in models]})

    async def one(self, http: HttpRequest) -> Response:
        if isinstance(session := await self._services.admin.authenticate(bearer(http.headers)), Refusal):
            return answer(session)
        model = await self._services.visible.one(session, http.path_params["model"])
        return answer(model if isinstance(model, Refusal) else _model(model))

    def routes(self) -> list[Route]:
        """All routes of models."""
        return [
            Route("/v1/models", self.all, methods=["GET"]),
            Route("/v1/models/{model}", self.one, methods=["GET"]),
        ]


def _model(model: Model) -> dict[str, Any]:
    return {"id": model.alias, "object": "model", "created": model.evaluated_s, "owned_by": OWNER}
