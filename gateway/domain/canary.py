"""The readiness canary: a fixed text, with nothing of any request in it (promise G2), and one token in answer."""

from gateway.domain.message import UserMessage
from gateway.domain.request import Request

CANARY_TEXT = "This is the readiness canary of a gateway. Answer with one word."
"""Long enough that no honest count of it is larger than ours."""
CANARY_REQUEST = Request(model="canary", messages=(UserMessage(CANARY_TEXT),), max_output=1)
