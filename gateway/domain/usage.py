"""What a provider says was used, and whether that can be true."""

from typing import Any

from msgspec import Struct


class Usage(Struct, frozen=True):
    """Tokens of one call."""

    input: int
    output: int


def plausible(input_tokens: Any, output_tokens: Any, *, has_output: bool, context_window: int) -> Usage | None:
    """Usage as reported, or None where it cannot be true.

    Not an integer, negative, zero although there is output, or above the context window (design, section 5).
    """
    for value in (input_tokens, output_tokens):
        if type(value) is not int or value < 0:
            return None
    if input_tokens == 0 or (has_output and output_tokens == 0):
        return None
    if input_tokens + output_tokens > context_window:
        return None
    return Usage(input=input_tokens, output=output_tokens)
