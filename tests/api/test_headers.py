"""The credential and the operation key: each exactly once and in one form."""

import hashlib

import pytest
from starlette.datastructures import Headers

from gateway.api.headers import bearer, operation_key_hash
from gateway.domain.refusal import Code, Refusal


def key(*values: bytes) -> bytes | Refusal:
    return operation_key_hash(Headers(raw=[(b"idempotency-key", value) for value in values]))


def credential(*values: bytes) -> str | None:
    return bearer(Headers(raw=[(b"authorization", value) for value in values]))


def test_a_quoted_key_and_the_bare_token_are_the_same_key() -> None:
    assert key(b"k-1") == key(b'"k-1"') == hashlib.sha256(b"k-1").digest()


def test_escapes_of_a_quoted_key_are_undone() -> None:
    assert key(b'"a\\"b\\\\c"') == hashlib.sha256(b'a"b\\c').digest()


def test_a_missing_key_is_required() -> None:
    refusal = key()
    assert isinstance(refusal, Refusal)
    assert refusal.code is Code.OPERATION_KEY_REQUIRED


@pytest.mark.parametrize(
    "values",
    [
        (b"",),
        (b"a b",),
        (b"a" * 256,),
        (b'"' + b"a" * 256 + b'"',),
        (b'"a',),
        (b'""',),
        (b'"a b"',),
        (b'"a\\b"',),
        (b"a\0b",),
        ("ü".encode(),),
        (b"a\n",),
        (b"k-1", b"k-1"),
    ],
)
def test_bnd_11_a_key_of_another_form_is_refused(values: tuple[bytes, ...]) -> None:
    refusal = key(*values)
    assert isinstance(refusal, Refusal)
    assert refusal.code is Code.OPERATION_KEY_INVALID


def test_the_longest_key_is_taken() -> None:
    assert isinstance(key(b"a" * 255), bytes)


@pytest.mark.parametrize("scheme", [b"Bearer", b"bearer", b"BEARER"])
def test_aut_08_the_scheme_has_no_case(scheme: bytes) -> None:
    assert credential(scheme + b" gw_x") == "gw_x"


@pytest.mark.parametrize(
    "values",
    [
        (),
        (b"",),
        (b"Bearer",),
        (b"Bearer ",),
        (b"Basic gw_x",),
        (b"gw_x",),
        (b"Bearer ' OR '1'='1",),
        (b"Bearer " + b"a" * 65536,),
        (b"Bearer a\0b",),
        ("Bearer ü".encode(),),
        (b"Bearer a", b"Bearer a"),
        (b"Bearer a b",),
    ],
)
def test_aut_08_a_credential_of_another_form_is_none(values: tuple[bytes, ...]) -> None:
    assert credential(*values) is None
