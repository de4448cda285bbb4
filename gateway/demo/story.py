"""The story. Each scene shows what a user would type, runs exactly that, and shows what came back."""

import contextlib
import io
import os
import shlex
import signal
import time
from typing import Any

from rich.console import Console
from rich.syntax import Syntax

from gateway.demo import layout, scenes
from gateway.demo.surroundings import Place

WIDEST = 100
"""Columns of a table of the story at most."""


class Story:
    """One Python session of a service and one terminal of an operator."""

    def __init__(self, console: Console, place: Place) -> None:
        self._console = console
        self._place = place
        self._session: dict[str, Any] = {}

    def tell(self) -> None:
        """All scenes, in order."""
        self._introduce()
        self._title("1. A governed answer")
        self._say(
            "A service asks with the SDK it already has, and one header. Policy admits the request, the ledger "
            "reserves its tokens, one call goes to an approved engine, and the answer is saved before it is shown."
        )
        self._run(scenes.FIRST)
        self._title("2. The same key again")
        self._say(
            "The answer did not arrive, or the service was restarted: it repeats the request under the same key. "
            "Access is decided anew, the stored answer is shown, and no engine is called."
        )
        self._run(scenes.AGAIN)
        self._title("3. The same key for another request")
        self._say("A key stands for one generation. Another temperature is another request: a conflict that says so.")
        self._run(scenes.CONFLICT)
        self._title("4. What became of it")
        self._say("The operation says what was reserved, what was used and how often an engine was called.")
        self._run(scenes.INSPECT)
        self._title("5. What does not fit")
        self._say(
            "Input and output are held to what the profile is approved for, counted here, before anything is reserved."
        )
        self._run(scenes.BOUNDS)
        self._refuse_a_private_tenant()
        self._revoke_a_source()
        self._title("8. An engine that never answers")
        self._say(
            "The request was sent, and no answer came. It may have happened, so it is kept as unknown and never "
            "tried again. Its tokens stay reserved until somebody finds out or writes it off."
        )
        self._run(scenes.HANG)
        self._command("gateway operations list --state unknown")
        self._command("gateway ledger stranded")
        self._title("9. A budget that is used up")
        self._say(
            "This engine may use 200 tokens a day, and what may have happened counts: until somebody finds out, there "
            "is no room for another request. Nothing of it is sent, and its key is not used up."
        )
        self._run(scenes.BUDGET)
        operation = self._session["lost"].headers["Operation-Id"]
        evidence = "--evidence 'provider log, request 17' --found charged --used-input 41 --used-output 0"
        self._command(f"gateway operations reconcile {operation} {evidence}")
        self._title("10. kill -9 during a call")
        self._say("The gateway dies while an engine works. Nothing of what it had promised is lost with it.")
        self._run(scenes.CRASH)
        time.sleep(0.5)
        self._console.print()
        self._shell("kill -9 GATEWAY; gateway serve")
        self._place.end(signal.SIGKILL)
        self._place.start()
        self._run(scenes.AFTER_CRASH)
        operation = self._session["after"].headers["Operation-Id"]
        self._command(f"gateway operations show {operation} --timeline")
        self._command(f"gateway operations write-off {operation} --reason 'the engine keeps no record'")
        self._command("gateway ledger verify")

    def _refuse_a_private_tenant(self) -> None:
        self._title("6. What a privacy class forbids")
        self._say(
            "Tenant A is private. Somebody has listed an alias of hosted models for it all the same. Every one of them "
            "fails what the class asks for, so nothing is sent. The caller is told what to do; who looks after "
            "policy is told which rule it was."
        )
        key = self._place.command("keys", "create", "--tenant", "tenant-a", "--principal", "advisor")
        os.environ["TENANT_A_KEY"] = key
        self._console.print()
        self._shell("export TENANT_A_KEY=$(gateway keys create --tenant tenant-a --principal advisor)")
        self._run(scenes.PRIVATE)
        self._command(f"gateway policy explain {self._session['private'].json()['decision']}")

    def _revoke_a_source(self) -> None:
        self._title("7. A source that is closed between answer and replay")
        self._say(
            "An answer discloses what it was made from. So each time that it is shown, every source that it cites is "
            "checked under today's access. The stored answer waits meanwhile."
        )
        grant = "gateway sources grant handbook --tenant acme --group staff --revision 3 --privacy-class internal"
        self._command(grant)
        self._run(scenes.CITED)
        self._command("gateway sources revoke handbook")
        self._run(scenes.REVOKED)
        self._command(grant)
        self._run(scenes.GRANTED_AGAIN)

    def _introduce(self) -> None:
        key = self._place.command("keys", "create", "--tenant", "acme", "--principal", "assistant")
        os.environ |= {"OPENAI_BASE_URL": f"{self._place.url}/v1", "OPENAI_API_KEY": key}
        self._say("\nAn operator starts the gateway and gives the service its address and its key:\n")
        self._shell("gateway serve")
        self._shell("export OPENAI_API_KEY=$(gateway keys create --tenant acme --principal assistant)")
        self._shell(f"export OPENAI_BASE_URL={self._place.url}/v1")

    def _title(self, title: str) -> None:
        self._console.print()
        self._console.rule(f"[bold]{title}", align="left")

    def _say(self, sentence: str) -> None:
        self._console.print(sentence)

    def _run(self, code: str) -> None:
        self._console.print()
        painted = Syntax("", "python", theme="ansi_dark", background_color="default").highlight(code.strip())
        painted.rstrip()
        self._console.print(painted, soft_wrap=True)  # a line that is broken by us would not be Python any more
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            exec(code, self._session)  # the code on the screen is the code that runs
        self._show(said.getvalue())

    def _command(self, line: str) -> None:
        self._console.print()
        self._shell(line)
        self._show(self._place.command(*shlex.split(line)[1:]))

    def _shell(self, line: str) -> None:
        self._console.print(f"$ {line}", style="bold", markup=False, soft_wrap=True)

    def _show(self, text: str) -> None:
        if text.strip():
            self._console.print()
        for line in layout.narrowed(text.rstrip().splitlines(), WIDEST - 2):
            for piece in layout.fitted(line, self._console.width - 2):
                self._console.print(f"> {piece}", style="green", markup=False, soft_wrap=True)
