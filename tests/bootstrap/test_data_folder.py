"""The secret of cache salts: made once, kept, and refused where it is none or no longer a secret."""

import stat
from pathlib import Path

import pytest

from gateway.bootstrap.data_folder import SALT_FILE, salt_secret
from gateway.domain.errors import StartRefused


def test_it_is_made_once_for_its_owner_alone_and_stays(tmp_path: Path):
    secret = salt_secret(tmp_path)
    assert len(secret) == 32
    assert stat.S_IMODE((tmp_path / SALT_FILE).stat().st_mode) == 0o600
    assert salt_secret(tmp_path) == secret


def test_two_data_directories_have_two(tmp_path: Path):
    (tmp_path / "other").mkdir()
    assert salt_secret(tmp_path) != salt_secret(tmp_path / "other")


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o601])
def test_one_that_others_may_read_is_refused(tmp_path: Path, mode: int):
    secret = salt_secret(tmp_path)
    (tmp_path / SALT_FILE).chmod(mode)
    with pytest.raises(StartRefused, match=SALT_FILE) as refused:
        salt_secret(tmp_path)
    assert secret.hex() not in str(refused.value)


@pytest.mark.parametrize("content", [b"", b"\n", b"00" * 31, b"00" * 33, b"zz" * 32, b"\xff" * 64])
def test_what_is_none_is_refused_and_not_shown(tmp_path: Path, content: bytes):
    path = tmp_path / SALT_FILE
    path.write_bytes(content)
    path.chmod(0o600)
    with pytest.raises(StartRefused, match="holds no secret") as refused:
        salt_secret(tmp_path)
    assert "00" not in str(refused.value)


def test_a_disk_that_takes_nothing_is_refused(tmp_path: Path):
    with pytest.raises(StartRefused, match="cannot be written"):
        salt_secret(tmp_path / "absent")
