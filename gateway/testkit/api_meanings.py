"""What each field of each body and query means, for the tables of docs/api.md."""

from collections.abc import Mapping

import msgspec

from gateway.api.admin import EvidenceBody, ReasonBody, SearchQuery
from gateway.api.admin_keys import KeysQuery, NewKeyBody
from gateway.api.admin_ledger import OutcomesQuery, UsageQuery
from gateway.api.admin_sources import GrantBody, RevokeBody, SourcesQuery, WithdrawBody
from gateway.api.chat_body import ChatBody

Meanings = Mapping[str, str]
"""What each field means, by its path. A field without an entry stops the generator."""

_CHAT: Meanings = {
    "model": "The alias that a release pointer resolves to a bundle. Never a profile or a provider.",
    "messages": "The conversation, in order.",
    "messages[].role": "Who speaks.",
    "messages[].content": "The text, or its parts. An `assistant` may call functions instead.",
    "messages[].content[].type": "What the part is.",
    "messages[].content[].text": "The text of the part.",
    "messages[].content[].image_url": "The image, for a profile that reads images.",
    "messages[].content[].image_url.url": "The image itself: an address to fetch would be a destination.",
    "messages[].content[].image_url.detail": "Passed on.",
    "messages[].tool_calls": "The functions that the model called, as it answered.",
    "messages[].tool_calls[].id": "The call, as the model named it.",
    "messages[].tool_calls[].type": "Functions are the only kind.",
    "messages[].tool_calls[].function": "What was called.",
    "messages[].tool_calls[].function.name": "The function.",
    "messages[].tool_calls[].function.arguments": "The arguments as the model wrote them, which need not be JSON.",
    "messages[].tool_call_id": "The call that this is the result of.",
    "messages[].refusal": "Null only, so that an earlier answer can be sent back as it came.",
    "max_tokens": "Cap on the output, at most the profile's maximum. Left out, that maximum is reserved and sent.",
    "max_completion_tokens": "Another name of `max_tokens`. Both at once are refused.",
    "temperature": "Passed on.",
    "top_p": "Passed on.",
    "stop": "Passed on. A single string is a list of one; an empty one is refused.",
    "seed": "Passed on.",
    "n": "One completion is what is reserved, so one is what there is.",
    "tools": "Functions that the model may call; the caller runs them.",
    "tools[].type": "Functions are the only kind: any other would run at the provider, unseen.",
    "tools[].function": "One function.",
    "tools[].function.name": "Its name.",
    "tools[].function.description": "Passed on.",
    "tools[].function.parameters": "JSON Schema of its arguments, passed on as it is.",
    "tools[].function.strict": "Passed on.",
    "tool_choice": "Whether a function must be called, or which. Needs `tools`.",
    "tool_choice.type": "Functions are the only kind.",
    "tool_choice.function": "The function that must be called.",
    "tool_choice.function.name": "Its name: one of `tools`.",
    "parallel_tool_calls": "Whether several may be called at once. Needs `tools`.",
    "response_format": "The shape of the answer. Left out, free text.",
    "response_format.type": "`json_schema` obeys a schema, `json_object` is any JSON.",
    "response_format.json_schema": "The schema, with its name.",
    "response_format.json_schema.name": "Its name.",
    "response_format.json_schema.description": "Passed on.",
    "response_format.json_schema.schema": "JSON Schema of the answer, passed on as it is.",
    "response_format.json_schema.strict": "Passed on.",
    "logprobs": "Whether to show how likely each token was.",
    "top_logprobs": "How many tokens to show in each place. Needs `logprobs`.",
    "presence_penalty": "Passed on.",
    "frequency_penalty": "Passed on.",
    "reasoning_effort": "How much a reasoning model thinks first; what it thinks counts as output.",
    "stream": "`true` is refused as `stream_unsupported`.",
    "gateway": "The gateway's own part. Nothing in it names a destination.",
    "gateway.purpose": "A purpose of the tenant. Left out, the tenant's default purpose counts.",
    "gateway.sources": "What the prompt was built from: the calling service's claim. No source twice.",
    "gateway.sources[].id": "The source.",
    "gateway.sources[].revision": "Its revision; another one than the one in force is forbidden.",
}
_NEW_KEY: Meanings = {
    "tenant": "A tenant of the registry.",
    "principal": "A service account of that tenant.",
    "label": "What the key is for, to tell several apart.",
}
_KEYS: Meanings = {
    "tenant": "Of this tenant only.",
    "principal": "Of service accounts of this id only.",
    "active": "`true`: only keys that count. `false`: only revoked ones.",
    "before": "Only keys older than this one: the last `id` of the page before.",
    "limit": "How many at most; left out, 50.",
}
_GRANT: Meanings = {
    "id": "The source, as requests cite it.",
    "tenant": "The tenant of the registry that it belongs to, for good.",
    "groups": "Who may read it. Groups of earlier grants stay.",
    "revision": "The revision that is in force from now on.",
    "privacy_class": "A class of the registry.",
    "released": "End of an embargo. Left out, there is none, and an earlier one is lifted.",
    "as_of": "When its owner confirmed all of this, not in the future. Left out, now.",
}
_REVOKE: Meanings = {
    "id": "The source.",
    "groups": "To whom it is closed. Left out or empty: to all.",
}
_WITHDRAW: Meanings = {"id": "The source whose revision is taken back for good."}
_SOURCES: Meanings = {
    "tenant": "Of this tenant only.",
    "group": "Open to this group only.",
    "withdrawn": "`true`: only withdrawn ones. `false`: only the others.",
    "after": "Only sources after this one: the last `id` of the page before.",
    "limit": "How many at most; left out, 50.",
}
_SEARCH: Meanings = {
    "state": "State of the last attempt.",
    "tenant": "Of this tenant only.",
    "profile": "Whose last attempt went to this profile.",
    "before": "Only operations older than this one: the last `id` of the page before.",
    "limit": "How many at most; left out, 50.",
}
_USAGE: Meanings = {
    "tenant": "Of this tenant.",
    "profile": "Of this profile.",
    "quota_scope": "Of this quota scope.",
}
_OUTCOMES: Meanings = {
    "since": "Attempts of operations that were first asked for then or later.",
    "profile": "That went to this profile.",
    "tenant": "Of this tenant.",
}
_REASON: Meanings = {"reason": "Why. Kept for good in the audit and as evidence."}
_EVIDENCE: Meanings = {
    "evidence": "What was found at the provider, and where. Kept for good in the audit and as evidence.",
    "found": "`no_effect`: it was never executed. `charged`: it was, and the answer is lost.",
    "used": "What the evidence proves was used: with `charged`, and never with `no_effect`.",
    "used.input": "Tokens.",
    "used.output": "Tokens.",
}

TABLES: Mapping[str, tuple[type[msgspec.Struct], Meanings]] = {
    "fields": (ChatBody, _CHAT),
    "new key": (NewKeyBody, _NEW_KEY),
    "keys": (KeysQuery, _KEYS),
    "grant": (GrantBody, _GRANT),
    "revoke": (RevokeBody, _REVOKE),
    "withdraw": (WithdrawBody, _WITHDRAW),
    "sources": (SourcesQuery, _SOURCES),
    "search": (SearchQuery, _SEARCH),
    "reason": (ReasonBody, _REASON),
    "evidence": (EvidenceBody, _EVIDENCE),
    "usage": (UsageQuery, _USAGE),
    "outcomes": (OutcomesQuery, _OUTCOMES),
}
"""Tables of fields, by the name in their markers."""
