"""A face before OPA, run in its place: what OPA says goes through it, unless a test has put something else there.

For each entrypoint a test may leave ``NAME.says`` in the folder: the bytes that are sent instead, then the connection
is closed. ``hang`` sends nothing for a minute. The last answer that OPA really gave is kept in ``NAME.said``, and
whatever it was asked in ``asked``. An OPA that has just started may have no rules yet: it says nothing then, and that
is not kept.
"""

import asyncio
import os
import signal
import sys
from pathlib import Path

LIMIT = 1 << 20


async def serve(folder: Path, command: list[str]) -> int:
    """Until OPA ends. The command begins with the program that ends OPA together with this one."""
    at = next(index for index, word in enumerate(command) if word.startswith("unix://"))
    front = command[at].removeprefix("unix://")
    command[at] = f"unix://{front}.r"
    ends_with_this = [sys.executable, "-I", "-S", command[0], str(os.getpid())]
    opa = await asyncio.create_subprocess_exec(*ends_with_this, *command[1:])
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, opa.terminate)

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := await _head(reader):
                body = await reader.readexactly(_length(head))
                name = _entrypoint(head)
                said = folder / f"{name}.says"
                if said.exists():
                    if said.read_bytes() == b"hang":
                        await asyncio.sleep(60)
                    writer.write(b"" if said.read_bytes() == b"hang" else said.read_bytes())
                    break
                with (folder / "asked").open("ab") as asked:
                    asked.write(body + b"\n")
                response, document = await _forward(f"{front}.r", head + body)
                if name and b'"result":' in document:
                    whole = folder / f"{name}.whole"
                    whole.write_bytes(document)
                    whole.replace(folder / f"{name}.said")
                writer.write(response + document)
                await writer.drain()
        except (OSError, asyncio.IncompleteReadError):
            pass  # OPA is not there yet, or the gateway went away: nothing is what it gets
        finally:
            writer.close()

    server = await asyncio.start_unix_server(answer, front, limit=LIMIT)
    async with server:
        return await opa.wait()


async def _head(reader: asyncio.StreamReader) -> bytes:
    try:
        return await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return b""


async def _forward(path: str, request: bytes) -> tuple[bytes, bytes]:
    reader, writer = await asyncio.open_unix_connection(path, limit=LIMIT)
    try:
        writer.write(request)
        head = await reader.readuntil(b"\r\n\r\n")
        return head, await reader.readexactly(_length(head))
    finally:
        writer.close()


def _length(head: bytes) -> int:
    lines = (line.partition(b":") for line in head.split(b"\r\n"))
    return next((int(value) for name, _, value in lines if name.lower() == b"content-length"), 0)


def _entrypoint(head: bytes) -> str:
    """Such as access in POST /v1/data/gateway/access/answer; empty for anything else."""
    path = head.split(b" ", 2)[1].decode().partition("?")[0].split("/")
    return path[4] if path[:4] == ["", "v1", "data", "gateway"] else ""


if __name__ == "__main__":
    sys.exit(asyncio.run(serve(Path(sys.argv[1]), sys.argv[2:])))
