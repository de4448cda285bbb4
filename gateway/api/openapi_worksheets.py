"""The worksheets in the OpenAPI document: their entries are the table of fields that every door has."""

from collections.abc import Iterator
from typing import Annotated

from msgspec import Meta, Struct, defstruct

from gateway.api.openapi_described import BODY, Described
from gateway.domain.refusal import Code
from gateway.domain.worksheets.catalogue import WORKSHEETS, Worksheet
from gateway.domain.worksheets.fields import Field
from gateway.domain.worksheets.sheet import Sheet

_REFUSED_ENTRIES = (Code.INVALID_VALUE, Code.INTERNAL_ERROR)
_REFUSED_FORMS = (
    *(code for code in BODY if code in (Code.QUERY_NOT_ALLOWED, Code.BODY_TOO_LARGE, Code.BODY_TIMEOUT)),
    Code.MALFORMED_BODY,  # whoever goes away while he sends it
    *_REFUSED_ENTRIES,
)


def _described() -> Iterator[Described]:
    yield Described(
        method="GET",
        path="/worksheets",
        id="showWorksheets",
        summary="All worksheets, worked cases and how to choose, as a page.",
        answer=str,
        media="text/html",
        credential=False,
    )
    for name, worksheet in WORKSHEETS.items():
        entries = _entries(name, worksheet)
        words = f"{worksheet.question} The worksheet of what is entered: as a page, or as JSON for who accepts that"
        yield Described(
            method="GET",
            path=f"/worksheets/{name}",
            id=f"show{worksheet.title}Worksheet",
            summary=f"{words}.",
            answer=Sheet,
            credential=False,
            query=entries,
            codes=_REFUSED_ENTRIES,
            is_page=True,
        )
        yield Described(
            method="POST",
            path=f"/worksheets/{name}",
            id=f"compute{worksheet.title}Worksheet",
            summary=f"{words}. Nothing is kept of it.",
            answer=Sheet,
            credential=False,
            body=entries,
            codes=_REFUSED_FORMS,
            is_page=True,
        )


def _entries(name: str, worksheet: Worksheet) -> type[Struct]:
    """All texts, because that is what a form holds."""
    kind: type[Struct] = defstruct(
        f"{name.title()}Entries",
        [(field.name, Annotated[str, Meta(description=_words(field))], "") for field in worksheet.fields],
        frozen=True,
        forbid_unknown_fields=True,
        namespace={"__doc__": f"What may be entered into the worksheet {name}. Empty: not entered."},
    )
    return kind


def _words(field: Field) -> str:
    unit = f" Unit: {field.unit}." if field.unit else ""
    choices = f" One of {', '.join(field.choices)}." if field.choices else ""
    default = f" Not entered: {field.default}." if field.default else ""
    return f"{field.label}. {field.help}{unit}{choices}{default}".replace("  ", " ")


WORKSHEET_ROUTES: tuple[Described, ...] = tuple(_described())
