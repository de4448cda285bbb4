"""Between the words of the world and HTTP: a request as a body, an answer as a reply."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from gateway.domain.source import GrantSource, RevokeSource, SourceAct, WithdrawSource
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
        facts=document.get("facts", {}),
        retry_after_s=int(headers["retry-after"]) if "retry-after" in headers else None,
        may_retry=headers.get("x-should-retry") != "false",
        **shared,
    )


def body_of(ask: Ask) -> bytes:
    """The request as OpenAI's SDK would send it."""
    document: dict[str, Any] = {"model": ask.model, "messages": [{"role": "user", "content": ask.question}]}
    extension: dict[str, Any] = {}
    if ask.purpose is not None:
        extension["purpose"] = ask.purpose
    if ask.sources:
        extension["sources"] = [{"id": source, "revision": ask.revision} for source in ask.sources]
    if extension:
        document["gateway"] = extension
    document |= ask.changes
    if not ask.respelt:
        return json.dumps(document).encode()
    escaped = "".join(f"\\u{ord(letter):04x}" for letter in ask.question)
    return f'{{ "messages" : [ {{"content":"{escaped}",\n"role":"user"}} ], "model":"{ask.model}" }}'.encode()


def source_act(act: SourceAct) -> tuple[str, dict[str, Any]]:
    """Name of the route, and the body, of a change of the directory of sources."""
    match act:
        case RevokeSource(id=source, groups=groups):
            return "revoke", {"id": source, "groups": groups}
        case WithdrawSource(id=source):
            return "withdraw", {"id": source}
        case GrantSource():
            times = {"released": _instant(act.released_s), "as_of": _instant(act.as_of_s)}
            body = {"id": act.id, "tenant": act.tenant, "groups": act.groups, "privacy_class": act.privacy_class}
            return "grant", body | {"revision": act.revision} | times


def _instant(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
