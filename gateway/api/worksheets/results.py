"""What a worksheet came to: verdict, picture, figures with basis and arithmetic, and what is not in them.

Each part stands in an element of its own, by whose name the page finds it again when its controls change.
"""

from collections.abc import Mapping
from urllib.parse import urlencode

from gateway.api.worksheets.controls import control_id, results_id
from gateway.api.worksheets.entered import Computed
from gateway.api.worksheets.markup import Child, Markup, joined, tag
from gateway.api.worksheets.pictures import picture
from gateway.domain.worksheets.sheet import Figure, Sheet, Table

_MARKS = {"within": "✓", "meets": "✓", "exceeds": "✗", "misses": "✗"}
EXAMPLES: Mapping[str, Mapping[str, str]] = {
    "cost": {
        "currency": "EUR",
        "input_tokens": "1000",
        "output_tokens": "300",
        "input_price": "0.5",
        "output_price": "1.5",
        "device_hour": "10",
        "requests_per_s": "20",
        "utilisation": "0.5",
    }
}
"""What a worksheet that needs entries is shown with."""
HEADLINES: Mapping[str, tuple[str, ...]] = {
    "cost": ("hosted_per_request", "self_hosted_per_request", "break_even_rate"),
}
"""Of a worksheet without a verdict, the figures that answer its question."""
NEEDED: Mapping[str, str] = {
    "cost": "Enter a currency, and tokens and prices of a hosted request, or a device with its requests and "
    "utilisation, or both.",
}
"""What a worksheet without defaults wants first."""
LONGEST_LINK = 4000
"""Characters of a query, above which no link is shown: what carries a link may cut it off."""


def results(name: str, computed: Computed) -> Markup:
    """The whole of it, or which entries are to be mended."""
    sheet = computed.sheet
    first = _part("verdict", _verdict(sheet) if sheet else _not_computed(name, computed), role="status")
    drawn = _part("picture", None if sheet is None else picture(sheet))
    rest = _part("figures", None if sheet is None else [*_tables(sheet), _link(name, computed)])
    return tag("div", tag("div", first, drawn, class_="pinned"), rest, class_="results", id=results_id(name))


def table(found: Table, *, caption: bool = True, class_: str = "box") -> Markup:
    """Rows of texts. The first cell of a row says what the row is about."""
    rows = [tag("tr", tag("th", row[0], scope="row"), [tag("td", cell) for cell in row[1:]]) for row in found.rows]
    return boxed(found.title, found.columns, rows, caption=caption, class_=class_)


def boxed(title: str, columns: tuple[str, ...], rows: Child, *, caption: bool = True, class_: str = "box") -> Markup:
    """A table that scrolls inside its own box where it is wider than the page; by keyboard too."""
    head = tag("thead", tag("tr", [tag("th", column, scope="col") for column in columns]))
    inner = tag("table", tag("caption", title) if caption else None, head, tag("tbody", rows))
    return tag("div", inner, class_=class_, role="region", aria_label=title, tabindex=0)


def _part(name: str, inside: Child, **attributes: str) -> Markup:
    return tag("div", inside, data_part=name, **attributes)


def _verdict(sheet: Sheet) -> Markup:
    if sheet.verdict is None:
        found = [sheet.figures[name] for name in HEADLINES[sheet.worksheet]]
        lines = [tag("li", f"{figure.label}: ", tag("strong", figure.shown)) for figure in found]
        return tag("div", tag("ul", lines), tag("p", "No sum decides what to buy."), class_="verdict")
    code = sheet.verdict.code
    word = tag("strong", tag("span", _MARKS[code], aria_hidden="true"), f" {code}")
    return tag("p", word, " ", sheet.verdict.sentence, class_=f"verdict {code}")


def _not_computed(name: str, computed: Computed) -> Markup:
    if computed.faults:
        return _faults(name, computed)
    example = link_to(name, EXAMPLES.get(name, {}))
    shown = joined(" Or look at ", tag("a", "an example with invented prices", href=example), ".")
    return tag("p", NEEDED[name], shown, class_="verdict")


def _faults(name: str, computed: Computed) -> Markup:
    labels = {field.name: field.label for field in computed.worksheet.fields}
    lines: list[Child] = []
    for fault in computed.faults:
        words = f"{fault.sentence} {fault.remedy}"
        if fault.field in labels:
            lines.append(
                tag("li", tag("a", labels[fault.field], href=f"#{control_id(name, fault.field)}"), f": {words}")
            )
        else:
            lines.append(tag("li", f"{fault.field}: {words}" if fault.field else words))
    many = "An entry needs" if len(lines) == 1 else f"{len(lines)} entries need"
    head = tag("p", tag("strong", "Not computed. "), f"{many} to be mended:")
    return tag("div", head, tag("ul", lines), class_="verdict refused")


def _tables(sheet: Sheet) -> list[Child]:
    columns = ("What", "Value", "Basis", "Arithmetic")
    rows = [_row(key, figure) for key, figure in sheet.figures.items()]
    found: list[Child] = [boxed("Figures", columns, rows)]
    # A single row says nothing that the figures do not say.
    found += [table(one) for one in sheet.tables if len(one.rows) > 1]
    found += [
        joined(tag("h3", title), tag("ul", [tag("li", line) for line in lines]))
        for title, lines in (("Assumed", sheet.assumed), ("Left out", sheet.left_out))
        if lines
    ]
    return found


def _row(key: str, figure: Figure) -> Markup:
    value = None if figure.value is None else str(figure.value)
    # Once more without its unit, for whoever reads the page by program.
    shown = tag("data", figure.shown, value=value) if value is not None else tag("span", figure.shown)
    return tag(
        "tr",
        tag("th", figure.label, scope="row"),
        tag("td", shown, class_="number"),
        tag("td", _basis(figure)),
        tag("td", figure.how, class_="how"),
        data_figure=key,
    )


def _basis(figure: Figure) -> Child:
    found = figure.measured
    if found is None:
        return figure.basis
    return f"measured: {found.engine}, {found.device}, {found.workload}, {found.date}, by {found.by}"


def link_to(name: str, told: Mapping[str, str]) -> str | None:
    """The address of a worksheet with these entries, if it is not too long for one."""
    query = urlencode(told)
    if len(query) > LONGEST_LINK:
        return None
    return f"/worksheets/{name}" + (f"?{query}" if query else "")


def _link(name: str, computed: Computed) -> Markup | None:
    address = link_to(name, computed.told)
    return None if address is None else tag("p", tag("a", "Link to this sheet", href=address), class_="link")
