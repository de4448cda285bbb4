"""OpenAI's SDK for Python, with its default retries. A line of JSON in, a line out, until the input ends."""

import json
import sys
from typing import Any

from openai import APIConnectionError, APIStatusError, OpenAI


def ask(told: dict[str, Any]) -> dict[str, Any]:
    """One generation."""
    client = OpenAI(base_url=told["base_url"], api_key=told["token"], **told.get("client", {}))
    raw = client.chat.completions.with_raw_response.create(
        model=told["model"],
        messages=told["messages"],
        extra_headers={"Idempotency-Key": told["key"]},
        extra_body=told.get("extra"),
        **told.get("options", {}),
    )
    choice = raw.parse().choices[0]
    calls = [
        {"id": call.id, "name": call.function.name, "arguments": json.loads(call.function.arguments)}
        for call in choice.message.tool_calls or ()
    ]
    replayed = raw.headers.get("Idempotent-Replayed") == "true"
    return {"content": choice.message.content, "calls": calls, "replayed": replayed, "finish": choice.finish_reason}


def models(told: dict[str, Any]) -> dict[str, Any]:
    """The aliases."""
    client = OpenAI(base_url=told["base_url"], api_key=told["token"])
    return {"models": [model.id for model in client.models.list()]}


def answer(told: dict[str, Any]) -> dict[str, Any]:
    """What came of it, or how the SDK told that it failed."""
    try:
        return (models if told["do"] == "models" else ask)(told)
    except APIStatusError as error:
        classes = [kind.__name__ for kind in type(error).__mro__]
        return {"classes": classes, "status": error.status_code, "code": error.code}
    except APIConnectionError as error:
        return {"classes": [type(error).__name__], "status": None, "code": None}


for line in sys.stdin:
    print(json.dumps(answer(json.loads(line))), flush=True)
