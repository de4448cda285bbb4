"""The page is whole without its script: it computes, it draws, it tells what is wrong."""

import json
import urllib.request
from urllib.parse import urlencode

import pytest
from browser_support import NARROW, REFUSED, Browser
from selenium.webdriver.common.keys import Keys

COST = {"currency": "EUR", "input_tokens": "1000", "output_tokens": "300", "input_price": "0.5", "output_price": "1.5"}
COST |= {"device_hour": "10", "requests_per_s": "20", "utilisation": "0.5"}


def submit(browser: Browser, worksheet: str = "memory") -> None:
    before = browser.find("html")
    browser.find(f"#{worksheet} button").click()
    browser.until(lambda: browser.find("html") != before, "nothing was sent")


def answered(browser: Browser, path: str) -> dict[str, str]:
    """Values by id, of the JSON."""
    request = urllib.request.Request(f"{browser.url}{path}", headers={"Accept": "application/json"})
    with urllib.request.urlopen(request) as answer:
        figures = json.load(answer)["figures"]
    return {key: str(figure["value"]) for key, figure in figures.items() if figure["value"] is not None}


def test_scripts_are_off_here_and_on_elsewhere(without_scripts: Browser) -> None:
    without_scripts.open()
    assert without_scripts.find_all("input[type=range]") == []
    without_scripts.scripts(on=True)
    without_scripts.open()
    assert len(without_scripts.find_all("#memory input[type=range]")) == 3


def test_a_form_is_computed_on_the_server_and_its_link_says_the_same(without_scripts: Browser) -> None:
    browser = without_scripts
    browser.open()
    assert browser.verdict().startswith("✓ within")
    browser.enter("cached_tokens", "8192")
    submit(browser)
    assert browser.verdict().startswith("✗ exceeds")
    assert browser.find("#memory-cached_tokens").get_property("value") == "8192"
    assert browser.find("#memory [data-figure=total]").text.startswith("Total 26.90 GiB arithmetic")
    shown = browser.figures()
    assert shown == answered(browser, "/worksheets/memory?cached_tokens=8192")
    browser.find("#memory .link a").click()
    assert browser.driver.current_url == f"{browser.url}/worksheets/memory?cached_tokens=8192"
    assert browser.figures() == shown


@pytest.mark.parametrize(
    ("worksheet", "entries"), [("memory", {"sequences": "3"}), ("latency", {"slo_s": "10"}), ("cost", COST)]
)
def test_every_worksheet_computes(without_scripts: Browser, worksheet: str, entries: dict[str, str]) -> None:
    browser = without_scripts
    browser.open()
    for field, text in entries.items():
        browser.enter(field, text, worksheet)
    submit(browser, worksheet)
    link = browser.find(f"#{worksheet} .link a").get_dom_attribute("href")
    assert browser.figures(worksheet) == answered(browser, link)
    assert browser.find(f"#{worksheet} svg[role=img]").size["width"] > 300


def test_raw_bits_are_chosen_by_keyboard(without_scripts: Browser) -> None:
    browser = without_scripts
    browser.open()
    browser.find("#memory-weight_bits").send_keys(Keys.ARROW_RIGHT)
    submit(browser)
    assert browser.find("#memory [data-figure=weights]").text.startswith("Weights 3.73 GiB")
    assert browser.find("#memory [data-figure=kv] data").text == "4.00 GiB"


def test_a_fault_is_told_beside_its_field_and_leads_to_it(without_scripts: Browser) -> None:
    browser = without_scripts
    browser.expected = (REFUSED,)
    browser.open()
    browser.enter("vram_gib", "much")
    submit(browser)
    assert browser.verdict().startswith("Not computed.")
    control = browser.find("#memory-vram_gib")
    assert control.get_property("value") == "much"
    assert control.get_dom_attribute("aria-invalid") == "true"
    assert "This is not a number." in browser.find("#memory-vram_gib-fault").text
    browser.find("#memory [data-part=verdict] a").click()
    assert browser.driver.current_url.endswith("#memory-vram_gib")


def test_an_entry_that_is_a_script_is_a_text(without_scripts: Browser) -> None:
    browser = without_scripts
    browser.expected = (REFUSED,)
    browser.scripts(on=True)
    attack = "\"><script>document.title='run'</script><img src=x onerror=\"document.title='run'\">"
    browser.open("/worksheets/memory", {"layers": attack})
    assert browser.find("#memory-layers").get_property("value") == attack
    assert browser.driver.title != "run"
    assert browser.find_all("main img") == []


@pytest.mark.parametrize("width", [960, 1000, 1280])
def test_no_arithmetic_is_cut_off_beside_the_controls(without_scripts: Browser, width: int) -> None:
    browser = without_scripts
    browser.size(width, 900)
    for path in (f"/worksheets/cost?{urlencode(COST)}", "/worksheets/cost?currency=EUR&device_hour=10&utilisation=0"):
        browser.open(path)
        tables = browser.find_all(".worksheet .box")
        cut = [
            table.get_dom_attribute("aria-label")
            for table in tables
            if int(table.get_property("scrollWidth")) > int(table.get_property("clientWidth"))
        ]
        assert cut == []


@pytest.mark.parametrize("scripts", [False, True])
def test_in_a_narrow_window_compute_leads_to_what_it_comes_to(browser: Browser, scripts: bool) -> None:
    browser.scripts(on=scripts)
    browser.size(*NARROW)
    browser.open()
    browser.enter("cached_tokens", "8192")
    browser.find("#memory button").click()
    browser.until_says("exceeds")

    def is_in_sight() -> bool:
        box = browser.run(
            "return document.querySelector('#memory [data-part=verdict]').getBoundingClientRect().toJSON()"
        )
        return box["top"] >= 0 and box["bottom"] <= NARROW[1] + 1

    browser.until(is_in_sight, "the verdict is out of sight")


def test_the_narrow_page_does_not_scroll_sideways(without_scripts: Browser) -> None:
    browser = without_scripts
    browser.size(*NARROW)
    for path in (
        "/worksheets",
        "/worksheets/memory?layers=48&cached_tokens=8192",
        f"/worksheets/cost?{urlencode(COST)}",
    ):
        browser.open(path)
        root = browser.find("html")
        assert int(root.get_property("scrollWidth")) <= NARROW[0]
        for control in browser.find_all("#memory input, #memory select, #memory textarea, #memory button"):
            if control.is_displayed():
                assert control.rect["x"] + control.rect["width"] <= NARROW[0], control.get_dom_attribute("name")
        for text in browser.find_all("svg[role=img] text"):
            assert text.rect["x"] >= 0, text.text
            assert text.rect["x"] + text.rect["width"] <= NARROW[0], text.text
    # A table that is wider scrolls inside its own box, which the keyboard reaches.
    (box,) = browser.find_all("#worked .box")
    assert int(box.get_property("scrollWidth")) > int(box.get_property("clientWidth"))
    assert box.get_dom_attribute("tabindex") == "0"


def test_the_dark_page_is_dark_and_no_picture_loses_a_part(without_scripts: Browser) -> None:
    browser = without_scripts
    browser.open()
    light = browser.find("body").value_of_css_property("background-color")
    browser.media(prefers_color_scheme="dark")
    dark = browser.find("body").value_of_css_property("background-color")
    assert (light, dark) == ("rgba(245, 246, 248, 1)", "rgba(19, 22, 26, 1)")
    fills = [part.value_of_css_property("fill") for part in browser.find_all("#memory [data-part-of-bar]")]
    assert fills == ['url("#fill-solid")', 'url("#fill-lines")', 'url("#fill-dots")']
    texts = {text.value_of_css_property("fill") for text in browser.find_all("#memory svg[role=img] text")}
    assert texts == {"rgb(233, 235, 238)"}


def test_who_wants_no_motion_gets_none(without_scripts: Browser) -> None:
    browser = without_scripts
    browser.media(prefers_reduced_motion="no-preference")
    browser.open()
    assert browser.find("html").value_of_css_property("scroll-behavior") == "smooth"
    browser.media(prefers_reduced_motion="reduce")
    assert browser.find("html").value_of_css_property("scroll-behavior") == "auto"


def test_tab_goes_through_the_controls_in_their_order_and_shows_where_it_is(without_scripts: Browser) -> None:
    browser = without_scripts
    browser.open()
    visited = []
    for _ in range(13):
        browser.driver.switch_to.active_element.send_keys(Keys.TAB)
        focused = browser.driver.switch_to.active_element
        visited.append(focused.get_dom_attribute("id") or focused.text)
        assert focused.value_of_css_property("outline-style") == "solid"
        assert focused.value_of_css_property("outline-width") == "3px"
    assert visited[0] == "Skip to the worksheets"
    assert visited[1:6] == ["Memory", "Latency", "Cost", "Worked cases", "How to choose"]
    assert visited[6:12] == [
        "memory-cached_tokens",
        "memory-sequences",
        "memory-weight_bits",
        "memory-vram_gib",
        "More",
        "Compute",
    ]


def test_more_opens_by_keyboard_and_a_form_is_sent_by_return(without_scripts: Browser) -> None:
    browser = without_scripts
    browser.open()
    assert not browser.find("#memory-reserve_gib").is_displayed()
    browser.find("#memory summary").send_keys(Keys.ENTER)
    assert browser.find("#memory-reserve_gib").is_displayed()
    browser.enter("reserve_gib", "6" + Keys.ENTER)
    browser.until_says("exceeds")
    assert browser.find("#memory details").get_dom_attribute("open") is not None


def test_what_does_not_belong_to_the_page_does_not_run_in_it(browser: Browser) -> None:
    browser.expected = ("Content Security Policy",)
    browser.open()
    violated = browser.run(
        """
        const seen = [];
        document.addEventListener("securitypolicyviolation", (event) => seen.push(event.effectiveDirective));
        const script = document.createElement("script");
        script.textContent = "document.title = 'run'";
        document.body.append(script);
        const image = document.createElement("img");
        image.src = "/livez";
        document.body.append(image);
        const frame = document.createElement("iframe");
        frame.src = "/livez";
        document.body.append(frame);
        document.body.setAttribute("style", "color: red");
        return new Promise((done) => setTimeout(() => done([document.title, ...seen.sort()]), 300));
        """
    )
    assert violated == ["Worksheets", "frame-src", "img-src", "script-src-elem", "style-src-attr"]


def test_a_page_is_shown_in_no_frame(browser: Browser) -> None:
    browser.expected = ("frame-ancestors", "favicon.ico")
    # Framed by a page without a policy of its own, and beside one that may be framed.
    browser.open("/livez")
    for path, shown in (("/metrics", True), ("/worksheets", False)):
        browser.run(
            """
            const frame = document.createElement("iframe");
            frame.src = arguments[0];
            const loaded = new Promise((done) => { frame.onload = () => done(); });
            document.body.replaceChildren(frame);
            return loaded;
            """,
            path,
        )
        browser.driver.switch_to.frame(browser.find("iframe"))
        assert bool(browser.find_all("pre, #memory")) is shown
        browser.driver.switch_to.default_content()
