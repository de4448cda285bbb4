"""The form of a worksheet: its fields as controls, each with its label, its help and what is wrong with it."""

from collections.abc import Mapping

from gateway.api.worksheets.entered import Computed
from gateway.api.worksheets.markup import Child, Markup, joined, tag
from gateway.domain.worksheets.fields import Field

MOST_RADIOS = 3
STOPS: Mapping[str, tuple[int, ...]] = {
    "cached_tokens": (512, 1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072, 262144),
    "sequences": (1, 2, 4, 8, 16, 32, 64, 128, 256),
    "vram_gib": (8, 12, 16, 20, 24, 32, 40, 48, 64, 80, 96, 141, 192),
}
"""Where a slider stops. Any other number may be typed; a slider is there for those who have JavaScript."""


def form(name: str, computed: Computed) -> Markup:
    """All controls of a worksheet. It is sent as a body, because a config.json is too long for an address."""
    first = [_control(name, field, computed) for field in computed.worksheet.fields if field.group == "first"]
    more = [field for field in computed.worksheet.fields if field.group == "more"]
    is_open = any(computed.told.get(field.name, field.default) != field.default for field in more)
    is_open |= any(_faults(field, computed) for field in more)
    return tag(
        "form",
        tag("div", first, class_="first"),
        tag("details", tag("summary", "More"), [_control(name, field, computed) for field in more], open=is_open)
        if more
        else None,
        tag("p", tag("button", "Compute", type="submit"), class_="send"),
        method="post",
        action=f"/worksheets/{name}#{results_id(name)}",
        novalidate=True,
        autocomplete="off",
        aria_labelledby=f"{name}-title",
    )


def control_id(worksheet: str, field: str) -> str:
    """Of the control that a label or a fault leads to."""
    return f"{worksheet}-{field}"


def results_id(worksheet: str) -> str:
    """Of what the worksheet came to, to which a form that was sent leads: in a narrow window it stands far below."""
    return f"{worksheet}-results"


def _control(worksheet: str, field: Field, computed: Computed) -> Markup:
    own = control_id(worksheet, field.name)
    faults = _faults(field, computed)
    entered = computed.texts.get(field.name, field.default)
    unit = tag("span", field.unit, class_="unit", id=f"{own}-unit") if field.unit else None
    told = [f"{own}-unit"] * (unit is not None) + [f"{own}-help", f"{own}-fault"]
    state = {"aria_describedby": " ".join(told), "aria_invalid": "true" if faults else None}
    notes = joined(
        tag("span", field.help, " ", tag("code", field.name), class_="help", id=f"{own}-help"),
        tag("span", faults, class_="fault", id=f"{own}-fault", data_fault=field.name),
    )
    if field.kind == "choice" and field.group == "first" and len(field.choices) <= MOST_RADIOS:
        return _radios(own, field, entered, label=joined(field.label, unit), notes=notes, state=state)
    label = joined(tag("label", field.label, for_=own), unit)
    return tag("div", tag("div", label, class_="label"), _input(own, field, entered, state), notes, class_="field")


def _input(own: str, field: Field, entered: str, state: Mapping[str, str | None]) -> Markup:
    if field.kind == "choice":
        return _select(own, field, entered, state)
    if field.kind == "document":
        # A line break that follows the tag at once is not part of the text.
        return tag("textarea", Markup("\n"), entered, id=own, name=field.name, rows=4, spellcheck="false", **state)
    stops = ",".join(map(str, STOPS.get(field.name, ()))) if field.group == "first" else ""
    return tag(
        "input",
        type="text",
        id=own,
        name=field.name,
        value=entered,
        inputmode="decimal" if field.kind in ("count", "decimal") else None,
        placeholder="2026-11-30" if field.kind == "date" else None,
        spellcheck="false",
        data_default=field.default,
        data_stops=stops or None,
        **state,
    )


def _select(own: str, field: Field, entered: str, state: Mapping[str, str | None]) -> Markup:
    choices = field.choices if field.default in field.choices else ("", *field.choices)
    # A value that is none of them stays in sight, beside its fault.
    shown = choices if entered.strip() in choices else (*choices, entered)
    options: list[Child] = [
        tag("option", choice or "not entered", value=choice, selected=choice == entered.strip()) for choice in shown
    ]
    return tag("select", options, id=own, name=field.name, data_default=field.default, **state)


def _radios(
    own: str, field: Field, entered: str, *, label: Markup, notes: Markup, state: Mapping[str, str | None]
) -> Markup:
    choices = field.choices if entered.strip() in field.choices else (*field.choices, entered)
    radios = [
        tag(
            "label",
            tag(
                "input",
                type="radio",
                id=own if number == 0 else f"{own}-{number}",
                name=field.name,
                value=choice,
                checked=choice.strip() == entered.strip(),
                data_default=field.default,
            ),
            tag("span", choice),
            class_="radio",
        )
        for number, choice in enumerate(choices)
    ]
    legend = tag("legend", label, class_="label")
    return tag(
        "fieldset", legend, tag("div", radios, class_="radios"), notes, class_="field", role="radiogroup", **state
    )


def _faults(field: Field, computed: Computed) -> str:
    return " ".join(f"{fault.sentence} {fault.remedy}" for fault in computed.faults if fault.field == field.name)
