"""GET /worksheets, and each worksheet by its name: a page for people, the same numbers as JSON for scripts.

Open, like /openapi.json: nothing here depends on the registry, on policy or on who asks. What is entered is computed
and forgotten.
"""

import asyncio
import re

import msgspec
from starlette.datastructures import Headers
from starlette.requests import Request as HttpRequest
from starlette.responses import Response
from starlette.routing import Route

from gateway.api.body import BodyBounds, read_body
from gateway.api.problems import problem
from gateway.api.worksheets import assets
from gateway.api.worksheets.entered import Computed, compute, read
from gateway.api.worksheets.markup import Markup
from gateway.api.worksheets.page import page, section, untouched
from gateway.domain.refusal import Code, Refusal
from gateway.domain.worksheets.catalogue import WORKSHEETS

BOUNDS = BodyBounds(max_bytes=256 * 1024, within_s=30.0)
"""A config.json is the longest entry; the longest ones known have some tens of KiB."""
PART = "return=minimal"
"""RFC 7240. The script of the page asks for the worksheet alone."""
_NOT_WANTED = re.compile(r"q\s*=\s*0(\.0*)?")
"""RFC 9110, 12.4.2: a weight of zero means not acceptable."""


class Page:
    """All worksheets at their defaults. It answers bytes that were made when the gateway started."""

    def __init__(self) -> None:
        self._page = page({})

    async def __call__(self, _: HttpRequest) -> Response:
        return _html(self._page)


class One:
    """One worksheet with what was entered, in a query or in a form.

    It is computed and drawn in a thread, because the longest entries take as long as a second, and one at a time, so
    that whoever sends many of them holds up the others who do, and not the requests that the gateway is there for.
    """

    def __init__(self, name: str, turn: asyncio.Semaphore) -> None:
        self._name = name
        self._worksheet = WORKSHEETS[name]
        self._turn = turn

    async def __call__(self, http: HttpRequest) -> Response:
        encoded: bytes | Refusal = http.scope["query_string"]
        if http.method == "POST":
            encoded = Refusal(code=Code.QUERY_NOT_ALLOWED) if encoded else await read_body(http, BOUNDS)
        if isinstance(encoded, Refusal):
            return _refused(http.headers, encoded)
        make = self._json if _wants_json(http.headers) else self._part if _wants_part(http.headers) else self._page
        async with self._turn:
            return await asyncio.to_thread(make, encoded, http.method == "POST")

    def _json(self, encoded: bytes, _: bool) -> Response:
        computed = compute(self._worksheet, read(encoded), is_form=False)
        if computed.sheet is None:
            names = tuple(dict.fromkeys(fault.field for fault in computed.faults if fault.field))
            return _uncached(
                problem(Refusal(code=Code.INVALID_VALUE, status=422, fields=names, entries=computed.faults))
            )
        return _uncached(Response(msgspec.json.encode(computed.sheet), media_type="application/json"))

    def _part(self, encoded: bytes, is_form: bool) -> Response:
        computed = self._shown(encoded, is_form)
        response = _html(section(self._name, computed), _status(computed))
        response.headers["Preference-Applied"] = PART
        return response

    def _page(self, encoded: bytes, is_form: bool) -> Response:
        computed = self._shown(encoded, is_form)
        return _html(page({self._name: computed}), _status(computed))

    def _shown(self, encoded: bytes, is_form: bool) -> Computed:
        if not encoded and not is_form:
            return untouched(self._name)
        return compute(self._worksheet, read(encoded), is_form=is_form)


def routes() -> list[Route]:
    """The page, and each worksheet."""
    turn = asyncio.Semaphore(1)
    each = [Route(f"/worksheets/{name}", One(name, turn).__call__, methods=["GET", "POST"]) for name in WORKSHEETS]
    return [Route("/worksheets", Page().__call__, methods=["GET"]), *each]


def _refused(headers: Headers, refusal: Refusal) -> Response:
    told = problem(refusal)
    if _wants_json(headers):
        return _uncached(told)
    response = _html(page({}, alert=f"{refusal.meaning.sentence} {refusal.meaning.remedy}"), told.status_code)
    if "x-should-retry" in told.headers:
        response.headers["x-should-retry"] = told.headers["x-should-retry"]
    return response


def _status(computed: Computed) -> int:
    return 422 if computed.faults else 200


def _wants_json(headers: Headers) -> bool:
    """Only who names it, and no page: a browser names the page, and curl neither."""
    named = set()
    for part in ",".join(headers.getlist("accept")).lower().split(","):
        media, *parameters = (text.strip() for text in part.split(";"))
        if not any(_NOT_WANTED.fullmatch(parameter) for parameter in parameters):
            named.add(media)
    return "application/json" in named and "text/html" not in named


def _wants_part(headers: Headers) -> bool:
    return headers.get("prefer", "") == PART


def _uncached(response: Response) -> Response:
    response.headers.update(assets.HEADERS)
    return response


def _html(text: Markup, status: int = 200) -> Response:
    return Response(text, status, assets.headers(), media_type="text/html")
