"""The scripted provider as a process of its own, told what to do over its control port."""

import http.client
import json
import urllib.error
import urllib.request

import pytest

from gateway.testkit.provider.behaviours import Behaviour, error
from gateway.testkit.provider.child import ProviderProcess
from gateway.testkit.provider.server import EngineFace


def ask(url: str, body: bytes | None = None) -> tuple[int, dict[str, object]]:
    try:
        with urllib.request.urlopen(urllib.request.Request(url, body)) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as refused:
        with refused:
            return refused.code, json.load(refused)


def test_it_does_what_it_is_told_and_keeps_what_it_received():
    with ProviderProcess("--alias", "a@1") as provider:
        url = provider.url + "/chat/completions"
        provider.script(error(429), Behaviour(content="Two."))
        assert ask(url, b"1")[0] == 429
        assert ask(url, b"2")[1]["choices"][0]["message"]["content"] == "Two."
        provider.answer_by_default(Behaviour(content="Three."))
        assert ask(url, b"3")[1]["choices"][0]["message"]["content"] == "Three."
        provider.show(EngineFace(alias="b@1"))
        assert ask(provider.url + "/models")[1]["data"][0]["id"] == "b@1"
        state = provider.state()
        assert [received.body for received in state.generations] == [b"1", b"2", b"3"]
        assert [received.path for received in state.others] == ["/v1/models"]
        provider.reset()
        assert provider.state().generation_count == 0


def test_it_refuses_and_accepts_again_on_the_same_port():
    with ProviderProcess() as provider:
        provider.refuse()
        with pytest.raises(urllib.error.URLError, match="refused"):
            ask(provider.url + "/models")
        provider.refuse(False)
        assert ask(provider.url + "/models")[0] == 200


def test_a_misspelt_order_is_refused():
    with ProviderProcess() as provider:
        connection = http.client.HTTPConnection("127.0.0.1", provider.control)
        connection.request("POST", "/", b'{"scrpt": []}')
        answer = connection.getresponse()
        assert (answer.status, b"scrpt" in answer.read()) == (400, True)
        connection.close()
