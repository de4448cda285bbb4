"""Two names that are one person's, and two that are not."""

import pytest

from adapters.registry.people import objection, spellings


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
        ("Kim Okafor", "Kim-Okafor"),
        ("Kim Okafor", "KimOkafor"),
        ("Kim Okafor", "okaforkim"),
        ("Kim Okafor", "Okafor, Kim"),
        ("Kim Okafor", "Kim Okafor Kim."),
        ("Kim Okafor", "Kim B. Okafor"),
        ("Anne-Marie O'Brien", "Annemarie OBrien"),
        ("Sam Pace", "\u0420\u0430\u0441\u0435 \u0405\u0430\u043c"),
        ("Robin Reyes", "\u0433\u043e\u044c\u0456\u043f \u0433\u0435\u0443\u0435\u0455"),
        ("Nina", "\u039dina"),
        ("Hymn Max", "\u0397\u03a5\u039c\u039d \u039c\u0391\u03a7"),
    ],
)
def test_names_that_look_alike_are_one_persons(one: str, other: str) -> None:
    assert spellings(one) & spellings(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Alex Tan", "Alex Tang"),
        ("Kim Okafor", "Robin Reyes"),
        ("Kim", "Tim"),
        ("Amy Lee", "May Lee"),
        ("Kim Okafor", "Kim Lee"),
        ("李 小明", "王 小明"),
        ("\u0915\u093f\u092e", "\u0915\u093e\u092e"),
    ],
)
def test_other_names_are_other_peoples(one: str, other: str) -> None:
    assert not spellings(one) & spellings(other)


@pytest.mark.parametrize(
    "name",
    ["Alex Tan", "Zoë O'Brien-Møller", "Łukasz Þór", "Алексей Тан", "田中 さくら", "サクラ・ゲートウェー",
     "\uff21lex Tan",
     "Νίκος Παππάς", "\u0915\u093f\u092e", "محمد علي", "Tan, Alex J.", "Ƙasim Ɗan", "Yılmaz"],
)  # fmt: skip
def test_names_of_people_are_taken(name: str) -> None:
    assert objection(name) is None


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("Alex T\u0430n", "mixes letters"),
        ("Alex T\u03b1n", "mixes letters"),
        ("Tan 田中", "mixes letters"),
        ("Ki\u0941m Okafor", "mixes letters"),
        ("\u1d0bim Okafor", "in no name"),
        ("O\u0138afor", "in no name"),
        ("\u0261rant Lee", "in no name"),
        ("\u13e6im".upper().replace("IM", "\u13a5\u13b7"), "in no name"),
        ("Kim Okafor <kim@example.com>", "more than a name"),
        ("Kim Okafor (2)", "more than a name"),
        ("K1m Okafor", "more than a name"),
        (".", "no person's name"),
        ("x", "no person's name"),
        ("x.", "no person's name"),
        ("", "no person's name"),
    ],
)
def test_what_is_no_persons_name_is_not(name: str, sentence: str) -> None:
    found = objection(name)
    assert found is not None
    assert sentence in found[0]
