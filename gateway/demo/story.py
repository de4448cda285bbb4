"""The story. Each scene shows what a user would type, runs exactly that, and shows what came back."""

import contextlib
import io
import os
from typing import Any

from rich.console import Console
from rich.syntax import Syntax

from gateway.demo.surroundings import Place

FIRST = """
from openai import OpenAI, APIStatusError

client = OpenAI()  # reads OPENAI_BASE_URL and OPENAI_API_KEY, as ever

def ask(key, **changes):
    return client.chat.completions.with_raw_response.create(
        model="chat",
        messages=[{"role": "user", "content": "Say in one sentence what a lighthouse does."}],
        extra_headers={"Idempotency-Key": key},
        **({"max_tokens": 40, "temperature": 0, "seed": 7} | changes),
    )

answer = ask("order-4711")
print(answer.parse().choices[0].message.content)
print("operation", answer.headers["Operation-Id"], answer.headers["Operation-State"])
"""
AGAIN = """
again = ask("order-4711")
print("the same bytes:", again.content == answer.content)
print("operation", again.headers["Operation-Id"], "replayed:", again.headers["Idempotent-Replayed"])
"""
CONFLICT = """
try:
    ask("order-4711", temperature=1)
except APIStatusError as refused:
    problem = refused.response.json()
    print(refused.status_code, problem["code"], problem["fields"])
    print(problem["title"], problem["remedy"])
"""
INSPECT = """
operation = client.get("/operations/" + answer.headers["Operation-Id"], cast_to=dict)
print(operation["state"], "by", operation["attempt"]["profile"], "of", operation["bundle"])
print("reserved", operation["attempt"]["reserved"], "used", operation["attempt"]["used"])
print("calls that reached an engine:", operation["attempts_dispatched"])
"""


def tell(console: Console, place: Place) -> None:
    """All scenes, in one Python session."""
    session: dict[str, Any] = {}
    os.environ |= {"OPENAI_BASE_URL": f"{place.url}/v1", "OPENAI_API_KEY": place.key}
    console.print("\nAn operator starts the gateway and gives the service its address and its key:\n")
    for command in (
        "$ gateway serve",
        "$ export OPENAI_API_KEY=$(gateway keys create --tenant acme --principal assistant)",
        f"$ export OPENAI_BASE_URL={place.url}/v1",
    ):
        console.print(command, style="bold", markup=False, soft_wrap=True)
    _scene(
        console,
        "1. A governed answer",
        "A service asks with the SDK it already has, and one header. Policy admits the request, the ledger "
        "reserves its tokens, one call goes to an approved engine, and the answer is saved before it is shown.",
        FIRST,
        session,
    )
    _scene(
        console,
        "2. The same key again",
        "The answer did not arrive, or the service was restarted: it repeats the request under the same key. "
        "Access is decided anew, the stored answer is shown, and no engine is called.",
        AGAIN,
        session,
    )
    _scene(
        console,
        "3. The same key for another request",
        "A key stands for one generation. Another temperature is another request: a conflict that names the field.",
        CONFLICT,
        session,
    )
    _scene(
        console,
        "4. What became of it",
        "The operation says what was reserved, what was used and how often an engine was called.",
        INSPECT,
        session,
    )


def _scene(console: Console, title: str, sentence: str, code: str, session: dict[str, Any]) -> None:
    console.print()
    console.rule(f"[bold]{title}", align="left")
    console.print(sentence + "\n")
    console.print(Syntax(code.strip(), "python", background_color="default", word_wrap=True))
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        exec(code, session)  # the code on the screen is the code that runs
    console.print()
    for line in said.getvalue().splitlines():
        console.print(f"> {line}", style="green", markup=False, soft_wrap=True)
