"""Where an endpoint is, told from its host alone, and what may travel there in plain text."""

import pathlib

import pytest
from registry_examples import faults, full_registry

from adapters.registry.hosts import authority, place
from gateway.testkit.registry_copy import Edit

LOCAL = "endpoint: http://127.0.0.1:8091/v1\nnetwork: loopback"


@pytest.mark.parametrize(
    ("host", "where"),
    [
        ("localhost", "loopback"),
        ("127.9.9.9", "loopback"),
        ("::1", "loopback"),
        ("::ffff:127.0.0.1", "loopback"),
        ("10.0.0.7", "private"),
        ("172.31.0.1", "private"),
        ("192.168.1.1", "private"),
        ("fd12::1", "private"),
        ("::ffff:10.0.0.7", "private"),
        ("engine", "private"),
        ("engine.internal", "private"),
        ("engine.models.svc", "private"),
        ("engine.models.svc.cluster.local", "private"),
        ("engine.home.arpa", "private"),
        ("8.8.8.8", "public"),
        ("172.32.0.1", "public"),
        ("::ffff:8.8.8.8", "public"),
        ("2001:4860:4860::8888", "public"),
        ("192.0.2.1", "public"),
        ("models.example.com", "public"),
        ("internal.example.com", "public"),
        ("examplelocal.com", "public"),
        ("notinternal", "private"),
        ("engine.notinternal", "public"),
        ("169.254.169.254", "forbidden"),
        ("::ffff:169.254.169.254", "forbidden"),
        ("fe80::1", "forbidden"),
        ("0.0.0.0", "forbidden"),
        ("::", "forbidden"),
        ("224.0.0.1", "forbidden"),
        ("ff02::1", "forbidden"),
        ("metadata", "forbidden"),
        ("metadata.google.internal", "forbidden"),
        ("metadata.engine.internal", "private"),
        ("instance-data.ec2.internal", "forbidden"),
        ("100.100.100.200", "forbidden"),
        ("::ffff:100.100.100.200", "forbidden"),
        ("fd00:ec2::254", "forbidden"),
        ("168.63.129.16", "forbidden"),
        ("64:ff9b::a9fe:a9fe", "forbidden"),
        ("2002:a9fe:a9fe::1", "forbidden"),
        ("::169.254.169.254", "forbidden"),
        ("255.255.255.255", "forbidden"),
    ],
)
def test_a_host_tells_where_it_is(host: str, where: str) -> None:
    assert place(host) == where


@pytest.mark.parametrize(
    "host",
    [
        "134744072",
        "0x8080808",
        "8.8",
        "8.8.8.8.",
        "010.0.0.1",
        "1.0x7f",
        "localhost.",
        "a..b",
        ".",
        "-.:1",
        "[::1",
        "[x]",
        "-engine",
        "engine-.internal",
        "a" * 64,
    ],
)
def test_what_resolvers_and_people_read_differently_is_no_host(host: str) -> None:
    assert authority(f"http://{host}/v1") is None


def test_a_name_may_begin_with_digits() -> None:
    assert authority("https://1.Models.example.com/v1") == ("https", "1.models.example.com", 443)


@pytest.mark.parametrize(
    ("endpoint", "network", "told"),
    [
        ("http://10.0.0.7:8091/v1", "private", []),
        ("http://engine:8091/v1", "private", []),
        ("http://engine.models.svc/v1", "private", []),
        ("https://models.example.com/v1", "private", ["/network"]),
        ("https://10.0.0.7.nip.io/v1", "private", ["/network"]),
        ("https://models.example.com/v1", "public", []),
        ("https://8.8.8.8/v1", "public", []),
        ("http://8.8.8.8/v1", "private", ["/network", "/endpoint"]),
        ("https://8.8.8.8/v1", "private", ["/network"]),
        ("http://models.example.com/v1", "private", ["/network", "/endpoint"]),
        ("http://engine:8091/v1", "public", ["/endpoint"]),
        ("http://169.254.169.254/v1", "private", ["/endpoint"]),
        ("https://[fe80::1]/v1", "public", ["/endpoint"]),
        ("http://134744072/v1", "private", ["/endpoint"]),
        ("http://[::ffff:127.0.0.1]:8091/v1", "private", ["/network"]),
    ],
)
def test_a_private_network_is_not_taken_at_its_word(
    endpoint: str, network: str, told: list[str], tmp_path: pathlib.Path
) -> None:
    edit = Edit("profiles/smollm2-135m.yaml", LOCAL, f"endpoint: {endpoint}\nnetwork: {network}")
    assert sorted(f.path for f in faults(full_registry(tmp_path, [edit]))) == sorted(told)


def test_a_text_of_several_lines_is_no_fault(tmp_path: pathlib.Path) -> None:
    edit = Edit(
        "profiles/hosted-small.yaml",
        "evidence: The contract of 2026-06-01.",
        "evidence: |\n      One.\n      Zwei: \u00fc.",
    )
    assert faults(full_registry(tmp_path, [edit])) == []
