"""The command line against a server that answers otherwise than it should, or not at all."""

import socket
import threading
from collections.abc import Callable, Iterator

import pytest
from cli_support import CommandLine

from adapters.store.database import DirectoryLock
from gateway.bootstrap.data_folder import write_address
from gateway.cli.remote import NO_ANSWER, NO_PROBLEM

Answering = Callable[[bytes | None], None]


@pytest.fixture
def gateway(gateway: CommandLine) -> CommandLine:
    """The command line, where a gateway has served before."""
    gateway.make_store()
    assert gateway("keys", "list").code == 0
    return gateway


@pytest.fixture
def answering(gateway: CommandLine) -> Iterator[Answering]:
    """A server that holds the data directory and answers these bytes to one connection; None: it says nothing."""
    lock = DirectoryLock(gateway.data)
    listener = socket.create_server(("127.0.0.1", 0))
    write_address(gateway.data, f"http://127.0.0.1:{listener.getsockname()[1]}")
    threads: list[threading.Thread] = []

    def answer(said: bytes) -> None:
        with listener.accept()[0] as connection:
            connection.recv(65_536)
            connection.sendall(said)

    def start(said: bytes | None) -> None:
        if said is not None:
            threads.append(threading.Thread(target=answer, args=(said,)))
            threads[-1].start()

    yield start
    for thread in threads:
        thread.join()
    listener.close()
    lock.release()


@pytest.mark.parametrize(
    "body",
    [b"Invalid HTTP request received.", b'{"a": 1}', b"[]", b"null", b'"text"', b"\xff", b'{"code": "x"}'],
)
def test_a_refusal_that_is_no_problem_document_becomes_a_sentence(
    gateway: CommandLine, answering: Answering, body: bytes
) -> None:
    answering(b"HTTP/1.1 400 Bad Request\r\ncontent-length: %d\r\n\r\n%s" % (len(body), body))
    said = gateway("keys", "list")
    assert (said.code, said.out, said.err) == (1, "", NO_PROBLEM.format(status=400) + "\n")


@pytest.mark.parametrize(
    "said", [b"", b"no HTTP\r\n\r\n", b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{}", b"HTTP/1.1 200"]
)
def test_an_answer_that_breaks_off_leaves_open_what_was_done(
    gateway: CommandLine, answering: Answering, said: bytes
) -> None:
    answering(said)
    told = gateway("keys", "list")
    assert (told.code, told.out, told.err) == (1, "", NO_ANSWER + "\n")


def test_a_server_that_is_stopped_is_not_waited_for_for_ever(
    gateway: CommandLine, answering: Answering, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gateway.cli.remote.TIMEOUT_S", 0.2)
    answering(None)
    told = gateway("keys", "list")
    assert (told.code, told.out, told.err) == (1, "", NO_ANSWER + "\n")


@pytest.mark.parametrize("operation", ["a b", "a\nb\u00e9", "a/../b?c#d", ""])
@pytest.mark.parametrize("act", [("show",), ("show", "--timeline"), ("write-off", "--reason", "nobody knows")])
def test_whatever_an_operation_is_called_it_is_looked_for(
    gateway: CommandLine, operation: str, act: tuple[str, ...]
) -> None:
    said = gateway("operations", *act, "--", operation)
    assert (said.code, said.out) == (1, "")
    assert said.err.startswith("There is no such ")


@pytest.mark.parametrize(
    "arguments",
    [
        ("operations", "show", "\udcff"),
        ("keys", "create", "--tenant", "acme", "--principal", "assistant", "--label", "\udcff"),
        ("keys", "list", "--tenant", "\udcff"),
        ("check", "--at", "\udcff"),
        ("\udcff",),
    ],
)
def test_arguments_that_are_not_utf_8_are_a_wrong_call(gateway: CommandLine, arguments: tuple[str, ...]) -> None:
    said = gateway(*arguments)
    assert (said.code, said.out) == (2, "")
    assert said.err.endswith(f"Error: Argument {len(arguments)} is not UTF-8.\n")
