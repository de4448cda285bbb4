"""A client of the running server's admin routes, with the operator's credential of the data directory."""

import http.client
from typing import Any
from urllib.parse import urlsplit

import msgspec

from gateway.domain.errors import StartRefused
from gateway.settings import Settings

TIMEOUT_S = 30
NOT_SERVING = "A gateway holds this data directory but does not serve. If it is starting or ending, try again."


def post(settings: Settings, path: str, body: dict[str, Any]) -> dict[str, Any]:
    """What the server answers that holds this data directory.

    :raises StartRefused: with the server's sentence and remedy, if it refuses, or if it is not there yet.
    """
    from gateway.bootstrap import operator_token, read_address

    url = read_address(settings.data_folder)
    if url is None:
        raise StartRefused(NOT_SERVING)
    address = urlsplit(url)
    connection = http.client.HTTPConnection(address.hostname or "", address.port, timeout=TIMEOUT_S)
    try:
        connection.request(
            "POST",
            path,
            msgspec.json.encode(body),
            {
                "Authorization": f"Bearer {operator_token(settings.data_folder)}",
                "Content-Type": "application/json",
            },
        )
        answer = connection.getresponse()
        document: dict[str, Any] = msgspec.json.decode(answer.read())
    except ConnectionRefusedError:
        raise StartRefused(NOT_SERVING) from None
    finally:
        connection.close()
    if answer.status >= 400:
        raise StartRefused(f"{document['title']} {document['remedy']}")
    return document
