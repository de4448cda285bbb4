"""Style and script of the page, which carries them itself, and the headers that keep everything else away."""

import base64
import hashlib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from gateway.api.worksheets.markup import Markup


@cache
def style() -> Markup:
    """worksheets.css."""
    return _read("worksheets.css")


@cache
def script() -> Markup:
    """worksheets.js."""
    return _read("worksheets.js")


HEADERS: Mapping[str, str] = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
    "Vary": "Accept, Prefer",
}
"""Of every answer at these paths, as a page or as JSON: no cache gives the one to whoever asks for the other."""


@cache
def headers() -> Mapping[str, str]:
    """Of every answer that is a page: nothing of it runs or loads but the two texts above, by their digests."""
    policy = (
        "default-src 'none'",
        f"style-src '{_digest(style())}'",
        f"script-src '{_digest(script())}'",
        "connect-src 'self'",
        "img-src data:",  # the empty icon, so that none is asked for
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
    return {"Content-Security-Policy": "; ".join(policy), **HEADERS}


def _read(name: str) -> Markup:
    return Markup(files(__package__).joinpath(name).read_text(encoding="utf-8"))


def _digest(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
