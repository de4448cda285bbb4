"""Failures of other systems around destinations, by the ids of the collection of cases.

A canary listens where a caller would like the gateway to go. It sees nobody, and the engine is asked nothing.
"""

import json
import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from gateway.testkit.doors.http import HttpWorld
from gateway.testkit.doors.registry_edits import ACME, PRIVACY
from gateway.testkit.registry_copy import EXAMPLE, Edit
from gateway.testkit.world import Ask, Reply

DESTINATIONS = (
    "api_base",
    "api_key",
    "api_version",
    "aws_bedrock_runtime_endpoint",
    "aws_region",
    "azure_endpoint",
    "base_url",
    "custom_llm_provider",
    "deployment",
    "endpoint",
    "extra_body",
    "extra_headers",
    "extra_query",
    "fallbacks",
    "host",
    "model_list",
    "organization",
    "profile",
    "provider",
    "proxy",
    "region",
    "url",
    "vertex_location",
)
"""What clients and gateways elsewhere take for the place to go to, or for a way to name it."""
HEADERS = (
    "X-Model",
    "X-Profile",
    "X-Provider",
    "X-Api-Base",
    "X-Base-Url",
    "X-Forwarded-Host",
    "X-Original-Url",
    "X-Rewrite-Url",
    "X-LiteLLM-Api-Base",
    "OpenAI-Organization",
    "OpenAI-Project",
    "Api-Key",
    "Forwarded",
)
MESSAGE = {"role": "user", "content": "Is it?"}


class Canary:
    """Listens, and counts who comes."""

    def __init__(self) -> None:
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.visits = 0
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}/v1"
        self._thread = threading.Thread(target=self._count)
        self._thread.start()

    def _count(self) -> None:
        while True:
            try:
                visitor, _ = self._socket.accept()
            except OSError:
                return
            self.visits += 1
            visitor.close()

    def close(self) -> None:
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        self._thread.join()


@pytest.fixture(scope="module")
def canary() -> Iterator[Canary]:
    canary = Canary()
    yield canary
    canary.close()


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpWorld]:
    """One gateway for all that it refuses."""
    world = HttpWorld(tmp_path_factory.mktemp("world"))
    yield world
    world.close()


def post(
    world: HttpWorld, body: dict[str, Any], *, path: str = "/v1/chat/completions", key: str = "k-1", **headers: str
) -> tuple[int, dict[str, Any]]:
    sent = world.headers(Ask(key=key)) | headers
    status, _, answer = world.request("POST", path, sent, json.dumps(body).encode())
    return status, json.loads(answer)


def test_the_canary_sees_who_comes(canary: Canary) -> None:
    seen = canary.visits
    with socket.create_connection(("127.0.0.1", int(canary.url.rpartition(":")[2].removesuffix("/v1")))) as visitor:
        assert visitor.recv(1) == b""
    assert canary.visits == seen + 1


# RTE-01: a caller names the destination


@pytest.mark.parametrize("field", DESTINATIONS)
@pytest.mark.parametrize("place", ["body", "gateway", "message", "source"])
def test_rte_01_a_destination_in_the_body_is_an_unknown_field(
    gateway: HttpWorld, canary: Canary, field: str, place: str
) -> None:
    for value in (canary.url, {"url": canary.url}, [canary.url], None, True):
        named = {field: value}
        body: dict[str, Any] = {"model": "chat", "messages": [MESSAGE]}
        match place:
            case "body":
                body |= named
                path = field
            case "gateway":
                body["gateway"] = named
                path = f"gateway.{field}"
            case "message":
                body["messages"] = [MESSAGE | named]
                path = f"messages[0].{field}"
            case _:
                body["gateway"] = {"sources": [{"id": "handbook", "revision": "1"} | named]}
                path = f"gateway.sources[0].{field}"
        calls, visits = len(gateway.engine_calls()), canary.visits
        status, problem = post(gateway, body)
        assert (status, problem["code"], problem["error"]["param"]) == (400, "unknown_field", path)
        assert canary.url not in json.dumps(problem)
        assert (len(gateway.engine_calls()), canary.visits) == (calls, visits)
    assert gateway.held_tokens() == 0


def test_rte_01_a_destination_as_model_or_purpose_is_none(gateway: HttpWorld, canary: Canary) -> None:
    calls, visits = len(gateway.engine_calls()), canary.visits
    body = {"model": canary.url, "messages": [MESSAGE]}
    assert post(gateway, body)[1]["code"] == "unknown_model"
    status, problem = post(gateway, body | {"model": "chat", "gateway": {"purpose": canary.url[:64]}})
    assert (status, problem["code"]) == (403, "access_denied")
    assert (len(gateway.engine_calls()), canary.visits) == (calls, visits)


# RTE-02: a second place names the model


@pytest.mark.parametrize("field", ["model", *DESTINATIONS])
def test_rte_02_nothing_is_read_from_the_query(gateway: HttpWorld, canary: Canary, field: str) -> None:
    calls, visits = len(gateway.engine_calls()), canary.visits
    for query in (f"{field}=assist", f"{field}={canary.url}", field):
        status, problem = post(gateway, {"model": "chat", "messages": [MESSAGE]}, path=f"/v1/chat/completions?{query}")
        assert (status, problem["code"]) == (400, "query_not_allowed")
    assert (len(gateway.engine_calls()), canary.visits) == (calls, visits)


@pytest.mark.parametrize(
    "path",
    [
        "/openai/deployments/assist/chat/completions",
        "/v1/engines/assist/chat/completions",
        "/v1/assist/chat/completions",
        "/v1/chat/completions/assist",
        "/v1/chat/completions/",
        "//v1/chat/completions",
        "/v1/../v1/chat/completions",
        "/chat/completions",
        "/v1/completions",
        "/v1/responses",
    ],
)
def test_rte_02_no_path_names_a_model(gateway: HttpWorld, path: str) -> None:
    calls = len(gateway.engine_calls())
    status, problem = post(gateway, {"model": "chat", "messages": [MESSAGE]}, path=path)
    assert (status, problem["code"]) == (404, "not_found")
    assert len(gateway.engine_calls()) == calls


@pytest.mark.parametrize("header", [*HEADERS, *DESTINATIONS, *(f"X-{name}" for name in DESTINATIONS)])
def test_rte_02_a_header_names_nothing_and_goes_nowhere(gateway: HttpWorld, canary: Canary, header: str) -> None:
    """The body alone counts, and the engine receives no header of the caller."""
    calls, visits = len(gateway.engine_calls()), canary.visits
    for index, value in enumerate(("assist", canary.url)):
        body = {"model": "chat", "messages": [MESSAGE]}
        status, answer = post(gateway, body, key=f"{header}-{index}", **{header: value})
        assert (status, answer["model"]) == (200, "smollm2-135m@q4_1")
    received = gateway._provider.generations[calls:]
    assert (len(received), canary.visits) == (2, visits)
    for one in received:
        assert header.lower() == "host" or header.lower() not in one.headers
        assert not {"assist", canary.url} & set(one.headers.values())
        assert canary.url.encode() not in one.body


# RTE-03: policy judged one name, another one was used


def test_rte_03_policy_judges_what_an_alias_stands_for(world: HttpWorld) -> None:
    """The alias is the tenant's own; what it resolves to is not allowed under the tenant's class."""
    strict = (EXAMPLE / PRIVACY).read_text().replace("[loopback, private, public]", "[loopback, private]")
    world.edit_registry(
        Edit(file=PRIVACY, old="", new=strict),
        Edit(file="releases.yaml", old="  assist: assist@1\n", new="  assist: assist@1\n  fast: assist@1\n"),
        Edit(file=ACME, old="aliases: [chat, assist]", new="aliases: [chat, assist, fast]"),
    )
    refused = world.ask(Ask(model="fast"))
    assert (refused.code, world.engine_calls()) == ("no_route_allowed", [])
    assert ("network_not_allowed", None) in refused.policy_codes
    assert not any(name in refused.body for name in (b"gpt", b"claude", b"assist@1", b"openai"))
    judged = {one["about"] for one in explained(world, refused) if one["code"] == "network_not_allowed"}
    assert judged == {"gpt-4.1-mini-eu", "claude-haiku-eu"}


def explained(world: HttpWorld, refused: Reply) -> list[dict[str, Any]]:
    """What the decision behind a refusal failed on, as an auditor reads it."""
    decision = json.loads(refused.body)["decision"]
    headers = {"Authorization": f"Bearer {world.token('platform/audit')}"}
    status, _, body = world.request("GET", f"/admin/decisions/{decision}", headers)
    assert status == 200
    return list(json.loads(body)["failed"])


@pytest.mark.parametrize(
    "model",
    [
        "smollm2-135m",
        "smollm2-135m@q4_1",
        "chat@1",
        "assist@1",
        "gpt-4.1-mini-eu",
        "gpt-4.1-mini-2025-04-14",
        "openai/gpt-4.1-mini-2025-04-14",
        "openai/gpt-4.1-mini-eu",
        "in-house/smollm2-135m",
        "in-house/chat",
        "openai/assist",
        "acme/chat",
        "tenant-a/chat",
        "chat/",
        "/chat",
        "./chat",
        "chat ",
        " chat",
        "CHAT",
        "Chat",
        "chat\u0000",
        "chat\n",
        "сhat",
        "ｃｈａｔ",
        "cha\u0074\u0301",
        "chat:latest",
        "chat,assist",
        "*",
        "ft:chat",
    ],
)
def test_rte_03_only_the_alias_itself_names_a_model(gateway: HttpWorld, model: str) -> None:
    """No id of a profile, bundle, provider or tenant, no prefix, and nothing that only looks like the alias."""
    calls = len(gateway.engine_calls())
    status, problem = post(gateway, {"model": model, "messages": [MESSAGE]})
    assert (status, problem["code"]) == (404, "unknown_model")
    assert len(gateway.engine_calls()) == calls


# RTE-15: an image that somebody would have to fetch


@pytest.mark.parametrize("kind", ["image_url", "video_url", "audio_url", "input_audio", "file"])
def test_rte_15_nobody_fetches_what_a_message_points_to(gateway: HttpWorld, canary: Canary, kind: str) -> None:
    for pointer in (canary.url, {"url": canary.url}, {"data": canary.url}, {"file_id": canary.url}):
        calls, visits = len(gateway.engine_calls()), canary.visits
        part = {"type": kind, kind: pointer}
        status, problem = post(gateway, {"model": "chat", "messages": [{"role": "user", "content": [part]}]})
        assert (status, problem["error"]["param"].startswith("messages[0].content[0]")) in {(400, True), (422, True)}
        assert canary.url not in json.dumps(problem)
        assert (len(gateway.engine_calls()), canary.visits, gateway.held_tokens()) == (calls, visits, 0)
