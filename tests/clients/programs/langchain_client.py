"""langchain-openai, with its default retries. A line of JSON in, a line out, until the input ends."""

import json
import sys
from typing import Any

from langchain_openai import ChatOpenAI
from openai import APIConnectionError, APIStatusError


def ask(told: dict[str, Any]) -> dict[str, Any]:
    """One generation. The header goes with the call, not with the object, which is used for many."""
    chat = ChatOpenAI(
        model=told["model"],
        base_url=told["base_url"],
        api_key=told["token"],
        extra_body=told.get("extra"),
        include_response_headers=True,
        **told.get("client", {}),
    )
    message = chat.invoke(told["messages"], extra_headers={"Idempotency-Key": told["key"]}, **told.get("options", {}))
    about = message.response_metadata
    calls = [{"id": call["id"], "name": call["name"], "arguments": call["args"]} for call in message.tool_calls]
    replayed = about["headers"].get("idempotent-replayed") == "true"
    return {"content": message.content, "calls": calls, "replayed": replayed, "finish": about["finish_reason"]}


def answer(told: dict[str, Any]) -> dict[str, Any]:
    """What came of it, or how the library told that it failed."""
    try:
        return ask(told)
    except APIStatusError as error:
        classes = [kind.__name__ for kind in type(error).__mro__]
        return {"classes": classes, "status": error.status_code, "code": error.code}
    except APIConnectionError as error:
        return {"classes": [type(error).__name__], "status": None, "code": None}


for line in sys.stdin:
    print(json.dumps(answer(json.loads(line))), flush=True)
