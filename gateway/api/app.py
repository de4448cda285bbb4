"""The routes, of the server and of administration alone."""

from collections.abc import Callable, Sequence

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request as HttpRequest
from starlette.responses import Response
from starlette.routing import Route

from gateway.api.admin import Admin
from gateway.api.admin_keys import Keys
from gateway.api.admin_ledger import LedgerAdmin
from gateway.api.admin_policy import PolicyAdmin
from gateway.api.admin_profiles import ProfilesAdmin
from gateway.api.admin_sources import Sources
from gateway.api.body import BodyBounds
from gateway.api.chat import Chat
from gateway.api.health import Live, Metrics, Ready
from gateway.api.models import Models
from gateway.api.openapi import OpenApi
from gateway.api.operations import Operations
from gateway.api.problems import problem
from gateway.api.worksheets import routes as worksheets
from gateway.domain.refusal import Code, Refusal
from gateway.ports.events import Events, Faulted
from gateway.service.assembly import AdminServices, Services


def create_app(services: Services, *, bounds: BodyBounds, render_metrics: Callable[[], bytes]) -> Starlette:
    """What the server serves."""
    return _application(
        [
            Route("/v1/chat/completions", Chat(services, bounds).__call__, methods=["POST"]),
            *Models(services).routes(),
            Route("/livez", Live().__call__, methods=["GET"]),
            Route("/readyz", Ready(services).__call__, methods=["GET"]),
            Route("/metrics", Metrics(render_metrics).__call__, methods=["GET"]),
            Route("/openapi.json", OpenApi().__call__, methods=["GET"]),
            *worksheets.routes(),
            *_administration(services.admin),
        ],
        services.events,
    )


def create_admin_app(services: AdminServices, events: Events) -> Starlette:
    """Administration alone, for the command line where no server runs."""
    return _application(_administration(services), events)


def _administration(services: AdminServices) -> list[Route]:
    return [
        *Operations(services).routes(),
        *Admin(services).routes(),
        *LedgerAdmin(services).routes(),
        *Keys(services).routes(),
        *Sources(services).routes(),
        *PolicyAdmin(services).routes(),
        *ProfilesAdmin(services).routes(),
    ]


def _application(routes: Sequence[Route], events: Events) -> Starlette:
    async def not_found(_: HttpRequest, __: Exception) -> Response:
        return problem(Refusal(code=Code.NOT_FOUND))

    async def method_not_allowed(_: HttpRequest, error: Exception) -> Response:
        response = problem(Refusal(code=Code.METHOD_NOT_ALLOWED))
        if isinstance(error, HTTPException) and error.headers:
            response.headers.update(error.headers)  # Allow, which RFC 9110 demands
        return response

    async def failed(_: HttpRequest, error: Exception) -> Response:
        # The class alone: a message may hold a value.
        events.emit(Faulted("api", type(error).__name__))
        return problem(Refusal(code=Code.INTERNAL_ERROR))

    handlers = {404: not_found, 405: method_not_allowed, Exception: failed}
    app = Starlette(routes=routes, exception_handlers=handlers)
    # A path with one slash more is another path; a redirect would name whatever host the request claimed.
    app.router.redirect_slashes = False
    return app
