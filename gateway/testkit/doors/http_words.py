"""Between the words of the world and HTTP: a request as a body, an answer as a reply."""

import json
from collections.abc import Mapping
from typing import Any

from gateway.testkit.world import Ask, Reply


def reply(status: int, headers: Mapping[str, str], body: bytes) -> Reply:
    """An HTTP answer in the words of the world."""
    document = json.loads(body)
    shared: dict[str, Any] = {
        "body": body,
        "operation_id": headers.get("operation-id"),
        "operation_state": headers.get("operation-state"),
        "replayed": headers.get("idempotent-replayed") == "true",
    }
    if status < 400:
        return Reply(text=document["choices"][0]["message"]["content"], **shared)
    assert headers["content-type"] == "application/problem+json"
    return Reply(
        code=document["code"],
        title=document["title"],
        param=document["error"]["param"],
        fields=tuple(document.get("fields", ())),
        policy_codes=tuple((found["code"], found.get("source")) for found in document.get("policy_codes", ())),
        **shared,
    )


def body_of(ask: Ask) -> bytes:
    """The request as OpenAI's SDK would send it."""
    document: dict[str, Any] = {"model": ask.model, "messages": [{"role": "user", "content": ask.question}]}
    extension: dict[str, Any] = {}
    if ask.purpose is not None:
        extension["purpose"] = ask.purpose
    if ask.sources:
        extension["sources"] = [{"id": source, "revision": "1"} for source in ask.sources]
    if extension:
        document["gateway"] = extension
    document |= ask.changes
    if not ask.respelt:
        return json.dumps(document).encode()
    escaped = "".join(f"\\u{ord(letter):04x}" for letter in ask.question)
    return f'{{ "messages" : [ {{"content":"{escaped}",\n"role":"user"}} ], "model":"{ask.model}" }}'.encode()
