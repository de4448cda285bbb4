"""Calls of functions and their results, in the order that every provider demands.

OpenAI and Anthropic refuse a result without its call, and a call whose results do not all follow at once; an engine
of one's own would only answer badly. A last turn with open calls is left to the provider: some let it be continued.
"""

from collections.abc import Sequence

from gateway.domain.message import AssistantMessage, Message, ToolMessage


def broken_turn(messages: Sequence[Message]) -> tuple[str, str] | None:
    """The first field that breaks the order, and why. None: in order."""
    open_calls: set[str] = set()
    answered: set[str] = set()
    caller = 0
    for index, message in enumerate(messages):
        if isinstance(message, ToolMessage):
            if message.tool_call_id in answered:
                return f"messages[{index}].tool_call_id", "answered twice"
            if message.tool_call_id not in open_calls:
                return f"messages[{index}].tool_call_id", "no call of the turn before"
            open_calls.remove(message.tool_call_id)
            answered.add(message.tool_call_id)
            continue
        if open_calls:
            return f"messages[{caller}].tool_calls", "a call without its result"
        answered.clear()
        if isinstance(message, AssistantMessage):
            if message.content is None and not message.tool_calls:
                return f"messages[{index}].content", "needs content or tool_calls"
            caller = index
            for place, call in enumerate(message.tool_calls):
                if call.id in open_calls:
                    return f"messages[{index}].tool_calls[{place}].id", "an id twice"
                open_calls.add(call.id)
    return None
