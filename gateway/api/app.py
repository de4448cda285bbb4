"""The routes."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

from starlette.applications import Starlette
from starlette.requests import Request as HttpRequest
from starlette.responses import Response
from starlette.routing import Route

from gateway.api.admin import CreateKey
from gateway.api.body import BodyBounds
from gateway.api.chat import Chat
from gateway.api.health import Live, Metrics, Ready
from gateway.api.operations import ShowOperation
from gateway.api.problems import problem
from gateway.domain.refusal import Code, Refusal
from gateway.ports.events import Faulted
from gateway.service.assembly import Services


def create_app(
    services: Services,
    *,
    bounds: BodyBounds,
    render_metrics: Callable[[], bytes],
    lifespan: Callable[[Starlette], AbstractAsyncContextManager[None]],
) -> Starlette:
    """The application. Its lifespan starts and ends everything that the services need."""

    async def not_found(_: HttpRequest, __: Exception) -> Response:
        return problem(Refusal(code=Code.NOT_FOUND))

    async def method_not_allowed(_: HttpRequest, __: Exception) -> Response:
        return problem(Refusal(code=Code.METHOD_NOT_ALLOWED))

    async def failed(_: HttpRequest, error: Exception) -> Response:
        # The class alone: a message may hold a value.
        services.events.emit(Faulted("api", type(error).__name__))
        return problem(Refusal(code=Code.INTERNAL_ERROR))

    return Starlette(
        routes=[
            Route("/v1/chat/completions", Chat(services, bounds).__call__, methods=["POST"]),
            Route("/v1/operations/{operation_id}", ShowOperation(services).__call__, methods=["GET"]),
            Route("/livez", Live().__call__, methods=["GET"]),
            Route("/readyz", Ready(services).__call__, methods=["GET"]),
            Route("/metrics", Metrics(render_metrics).__call__, methods=["GET"]),
            Route("/admin/keys", CreateKey(services).__call__, methods=["POST"]),
        ],
        exception_handlers={404: not_found, 405: method_not_allowed, Exception: failed},
        lifespan=lifespan,
    )
