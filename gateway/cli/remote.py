"""A client of the running server's admin routes, with the operator's credential of the data directory."""

import http.client
from typing import Any
from urllib.parse import urlsplit

import msgspec

from gateway.domain.errors import StartRefused
from gateway.settings import Settings

TIMEOUT_S = 30


def post(settings: Settings, path: str, body: dict[str, Any]) -> dict[str, Any] | None:
    """What the server answers, or None where no server of this data directory runs.

    :raises StartRefused: with the server's sentence and remedy, if it refuses.
    """
    from gateway.bootstrap import operator_token, read_address

    url = read_address(settings.data_folder)
    if url is None:
        return None
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
        return None
    finally:
        connection.close()
    if answer.status >= 400:
        raise StartRefused(f"{document['title']} {document['remedy']}")
    return document
