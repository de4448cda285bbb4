"""Steps about what a request holds: tools, images, and words of the model's own."""

from typing import Any

from pytest_bdd import parsers, then, when

from gateway.testkit.steps.asking import Memory
from gateway.testkit.world import Ask, World

PIXEL = "data:image/png;base64,iVBORw0KGgo="


def _tool(letters: int) -> dict[str, Any]:
    return {"type": "function", "function": {"name": "look_up", "description": "a" * letters}}


@when(parsers.parse('the assistant asks "{question}" under the key "{key}" with a tool of {letters:d} letters'))
def _ask_with_tool(world: World, memory: Memory, question: str, key: str, letters: int) -> None:
    memory.replies.append(world.ask(Ask(question=question, key=key, changes={"tools": [_tool(letters)]})))


@when(parsers.parse('the assistant asks "{question}" under the key "{key}" with an image'))
def _ask_with_image(world: World, memory: Memory, question: str, key: str) -> None:
    parts = [{"type": "text", "text": question}, {"type": "image_url", "image_url": {"url": PIXEL}}]
    changes = {"messages": [{"role": "user", "content": parts}]}
    memory.replies.append(world.ask(Ask(question=question, key=key, changes=changes)))


@then(parsers.parse('the refusal is about the field "{field}"'))
def _about_field(memory: Memory, field: str) -> None:
    assert memory.last.param == field


@then(parsers.parse("the count was {tokens:d} tokens"))
def _counted(memory: Memory, tokens: int) -> None:
    assert memory.last.facts["input"] == tokens


@then(parsers.parse('the refusal does not repeat "{words}"'))
def _not_repeated(memory: Memory, words: str) -> None:
    assert words.encode() not in memory.last.body
    assert words not in repr(memory.last)
