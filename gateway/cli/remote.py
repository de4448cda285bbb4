"""A client of the admin routes, with the operator's credential of the data directory.

The lock of the data directory decides: where a server holds it, the server is asked over HTTP; where nobody does,
the same routes are called in this process, over the store alone.
"""

import asyncio
import http.client
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode, urlsplit

import msgspec

from gateway.bootstrap.data_folder import is_held, operator_token, read_address
from gateway.cli.in_process import call_app
from gateway.domain.errors import StartRefused
from gateway.domain.refusal import Code
from gateway.settings import Settings

TIMEOUT_S = 60
OPERATOR_KEY_REFUSED = (
    "The credential in operator.key does not count any more. Remove operator.key from the data directory, "
    "and restart the gateway if it runs: a new one is made."
)
NOT_SERVING = "A gateway holds this data directory but does not serve. If it is starting or ending, try again."
NO_ANSWER = (
    "A gateway holds this data directory but has not answered. Whether it did what was asked is not known: "
    "look once it answers, and then try again."
)
NO_PROBLEM = (
    "The gateway did not take this request (status {status}) and did not say why. An id or a word may be too long."
)


class Declined(StartRefused):
    """The route refused. ``problem`` is the document that it answered."""

    def __init__(self, problem: Mapping[str, Any]) -> None:
        super().__init__(_sentence(problem))
        self.problem = problem


def call(
    settings: Settings,
    method: str,
    path: str,
    *,
    body: Mapping[str, Any] | None = None,
    query: Mapping[str, Any] | None = None,
    needs_registry: bool = False,
) -> Any:
    """What the route answers.

    :param needs_registry: whether it names tenants or classes of the registry, which must then have no faults.
    :raises Declined: with its sentence and remedy, if it refuses.
    :raises StartRefused: if the server is not there yet, or answers nothing that can be read.
    """
    target = path + (f"?{_query(query)}" if query else "")
    sent = b"" if body is None else msgspec.json.encode(body)
    if is_held(settings.data_folder):
        status, answer = _over_http(settings, method, target, sent)
    else:
        status, answer = asyncio.run(_in_process(settings, method, target, sent, needs_registry))
    return _document(status, answer)


def _document(status: int, answer: bytes) -> Any:
    """:raises StartRefused: of what is no JSON, such as a refusal of the HTTP protocol before any route."""
    try:
        document = msgspec.json.decode(answer)
        if status >= 400:
            raise Declined(document)
    except (msgspec.DecodeError, KeyError, TypeError):
        raise StartRefused(NO_PROBLEM.format(status=status) if status >= 400 else NO_ANSWER) from None
    return document


def _query(given: Mapping[str, Any]) -> str:
    """What is given; a truth value in JSON's spelling."""
    words = {True: "true", False: "false"}
    return urlencode(
        {name: words[value] if isinstance(value, bool) else value for name, value in given.items() if value is not None}
    )


def _sentence(problem: Mapping[str, Any]) -> str:
    if problem["code"] == Code.UNAUTHENTICATED:
        return OPERATOR_KEY_REFUSED
    facts = (
        f" ({', '.join(f'{name}: {value}' for name, value in problem['facts'].items())})" if "facts" in problem else ""
    )
    about = f" It is about {problem['error']['param']}." if problem["error"]["param"] else ""
    after = f" Retry-After is {problem['retry_after_s']} s." if "retry_after_s" in problem else ""
    codes = "".join(f"\n{code['code']}: {code['remedy']}" for code in problem.get("policy_codes", ()))
    return f"{problem['title']}{facts}{about} {problem['remedy']}{after}{codes}"


async def _in_process(
    settings: Settings, method: str, target: str, body: bytes, needs_registry: bool
) -> tuple[int, bytes]:
    from gateway.api.app import create_admin_app
    from gateway.bootstrap.administration import open_administration

    async with open_administration(settings, needs_registry=needs_registry) as administration:
        app = create_admin_app(administration.services, administration.events)
        return await call_app(app, method, target, {"authorization": f"Bearer {administration.token}"}, body)


def _over_http(settings: Settings, method: str, target: str, body: bytes) -> tuple[int, bytes]:
    url = read_address(settings.data_folder)
    if url is None:
        raise StartRefused(NOT_SERVING)
    address = urlsplit(url)
    connection = http.client.HTTPConnection(address.hostname or "", address.port, timeout=TIMEOUT_S)
    headers = {"Authorization": f"Bearer {operator_token(settings.data_folder)}"}
    try:
        connection.connect()
    except OSError:
        raise StartRefused(NOT_SERVING) from None
    try:
        connection.request(method, target, body or None, headers)
        answer = connection.getresponse()
        return answer.status, answer.read()
    except (OSError, http.client.HTTPException):
        raise StartRefused(NO_ANSWER) from None
    finally:
        connection.close()
