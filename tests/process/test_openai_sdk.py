"""The official OpenAI SDK as a client, with its default retries."""

import contextlib
import io
import re
from pathlib import Path

import pytest
from openai import APIStatusError, NotFoundError, OpenAI

from gateway.testkit.process import GatewayProcess
from gateway.testkit.provider.behaviours import Behaviour
from gateway.testkit.provider.server import Provider


@pytest.fixture
def client(gateway: GatewayProcess) -> OpenAI:
    gateway.start()
    created = gateway.command("keys", "create", "--tenant", "acme", "--principal", "assistant")
    assert created.returncode == 0, created.stderr
    return OpenAI(base_url=f"{gateway.url}/v1", api_key=created.stdout.strip())


def ask(client: OpenAI, key: str, **changes: object):  # type: ignore[no-untyped-def] # the SDK's own type
    return client.chat.completions.with_raw_response.create(
        model="chat",
        messages=[{"role": "user", "content": "Is it?"}],
        extra_headers={"Idempotency-Key": key},
        **changes,  # type: ignore[arg-type] # any parameter of the SDK
    )


def test_an_answer_is_parsed_and_a_repeated_one_is_the_same(client: OpenAI, engine: Provider) -> None:
    engine.default = Behaviour(content="It is.")
    first, again = ask(client, "k-1"), ask(client, "k-1")
    completion = first.parse()
    assert completion.choices[0].message.content == "It is."
    assert completion.choices[0].finish_reason == "stop"
    assert (completion.usage.prompt_tokens, completion.usage.completion_tokens) == (20, 3)
    assert completion.id == first.headers["Operation-Id"]
    assert again.content == first.content
    assert again.headers["Idempotent-Replayed"] == "true"
    assert engine.generation_count == 1


def test_dup_01_a_lost_answer_is_not_retried_by_the_sdk(client: OpenAI, engine: Provider) -> None:
    engine.default = Behaviour(delivery="drop")
    with pytest.raises(APIStatusError) as refused:
        ask(client, "k-1")
    assert (refused.value.status_code, refused.value.code) == (502, "outcome_unknown")
    assert refused.value.response.headers["x-should-retry"] == "false"
    assert engine.generation_count == 1


def test_what_was_not_executed_is_retried_by_the_sdk_under_the_same_key(client: OpenAI, engine: Provider) -> None:
    engine.script(Behaviour(status=429, body="{}"))
    answer = ask(client, "k-1")
    assert answer.status_code == 200
    assert engine.generation_count == 2


def test_a_conflict_names_the_parameter_in_the_sdk_s_own_words(client: OpenAI, engine: Provider) -> None:
    ask(client, "k-1")
    with pytest.raises(APIStatusError) as refused:
        ask(client, "k-1", temperature=0.9)
    error = refused.value
    assert (error.status_code, error.code, error.param) == (422, "operation_key_reused", "temperature")
    assert engine.generation_count == 1


def test_without_a_key_the_sdk_is_told_what_to_send(client: OpenAI, engine: Provider) -> None:
    with pytest.raises(APIStatusError) as refused:
        client.chat.completions.create(model="chat", messages=[{"role": "user", "content": "Is it?"}])
    assert (refused.value.status_code, refused.value.code) == (400, "operation_key_required")
    assert engine.generation_count == 0


def test_the_sdk_lists_the_models_of_the_account_and_reads_one(client: OpenAI) -> None:
    models = list(client.models.list())
    assert [(model.id, model.object, model.owned_by) for model in models] == [
        ("assist", "model", "policy-gateway"),
        ("chat", "model", "policy-gateway"),
    ]
    assert client.models.retrieve("chat") == models[1]
    with pytest.raises(NotFoundError) as refused:
        client.models.retrieve("smollm2-135m")
    assert refused.value.code == "unknown_model"


def test_the_example_of_the_interface_page_runs_and_reads_a_refusal(
    gateway: GatewayProcess, client: OpenAI, engine: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = (Path(__file__).parents[2] / "docs" / "api.md").read_text()
    (example,) = re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    monkeypatch.setenv("OPENAI_BASE_URL", str(client.base_url))
    monkeypatch.setenv("OPENAI_API_KEY", client.api_key)
    engine.default = Behaviour(content="Four weeks.")

    def said() -> list[str]:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(example, {})
        return printed.getvalue().splitlines()

    code, source, decision = said()
    assert code.startswith("access_denied ")
    assert source.startswith("source_forbidden 0 ")
    assert re.fullmatch(r"decision [0-9a-f-]{36}", decision)
    grant = ("--tenant", "acme", "--group", "staff", "--revision", "3", "--privacy-class", "internal")
    assert gateway.command("sources", "grant", "handbook", *grant).returncode == 0
    assert said() == ["Four weeks."]
    assert engine.generation_count == 1
