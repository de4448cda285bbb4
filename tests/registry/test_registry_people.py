"""Two names that are one person's, and two that are not."""

import pytest

from adapters.registry.people import mixes_scripts, person


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Alex Tan", "alex  TAN "),
        ("Alex Tan", "AIex Tan"),
        ("Alex Tan", "A1ex Tan"),
        ("Alex Tan", "Alex T\u0430n"),
        ("Alex Tan", "\uff21lex Tan"),
        ("Chloe", "Chlo\u00eb"),
        ("Chloe", "Chl0e"),
        ("Arno Carver", "Amo Carver"),
        ("Pace Reyes", "\u0420\u0430\u0441\u0435 Reyes"),
        ("Cocoa", "\u0421\u043e\u0441\u043e\u0430"),
        ("Nina", "\u039d\u0399\u039d\u0391".replace("\u039d", "N")),
        ("Strauss", "Strauß"),
    ],
)
def test_names_that_look_alike_are_one_persons(one: str, other: str) -> None:
    assert person(one) == person(other)


@pytest.mark.parametrize(
    ("one", "other"), [("Alex Tan", "Alex Tang"), ("Kim Okafor", "Robin Reyes"), ("Kim", "Tim"), ("李", "王")]
)
def test_other_names_are_other_peoples(one: str, other: str) -> None:
    assert person(one) != person(other)


@pytest.mark.parametrize(
    ("name", "mixed"),
    [
        ("Alex Tan", False),
        ("Zoë O'Brien-Møller 2nd", False),
        ("Алексей Тан", False),
        ("田中 さくら", False),
        ("サクラ・ゲートウェー", False),
        ("Alex T\u0430n", True),
        ("Alex T\u03b1n", True),
        ("\uff21lex Tan", False),
        ("Tan 田中", True),
        ("", False),
    ],
)
def test_letters_of_several_scripts_in_one_name_are_found(name: str, mixed: bool) -> None:
    assert mixes_scripts(name) is mixed
