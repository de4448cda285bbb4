"""With its script the page follows the controls. It asks the server, and computes nothing."""

import pytest
from browser_support import NARROW, REFUSED, Browser
from selenium.webdriver.common.keys import Keys


@pytest.fixture
def page(browser: Browser) -> Browser:
    browser.open()
    return browser


def test_each_of_the_four_controls_is_followed(page: Browser) -> None:
    page.enter("cached_tokens", "8192")
    page.until_says("26.90 GiB, 2.90 GiB above")
    page.find("#memory-weight_bits-1").click()
    page.until_says("15.73 GiB")
    page.enter("sequences", "1")
    page.until_says("8.73 GiB")
    page.enter("vram_gib", "8")
    page.until_says("exceeds")
    assert page.find("#memory-weight_bits-1").is_selected()
    assert page.driver.current_url.endswith(
        "/worksheets/memory?cached_tokens=8192&sequences=1&weight_bits=4&vram_gib=8"
    )


def test_the_picture_follows(page: Browser) -> None:
    before = page.widths()
    assert before.keys() == {"weights", "kv", "reserve"}
    assert before["kv"] == pytest.approx(before["reserve"], rel=0.01)
    page.enter("cached_tokens", "8192")
    page.until_says("exceeds")
    after = page.widths()
    assert after["kv"] == pytest.approx(2 * after["reserve"], rel=0.01)
    line = page.find("#memory [data-mark=capacity]").rect["x"]
    over = page.find("#memory [data-part-of-bar=over]").rect
    assert over["x"] == pytest.approx(line, abs=2)
    assert over["width"] == pytest.approx(after["reserve"] * 2.9012 / 4, rel=0.02)
    assert "Sum 26.90 GiB: 2.90 GiB over" in page.find("#memory svg[role=img]").text


def test_a_slider_moves_its_control_by_keyboard(page: Browser) -> None:
    slider = page.find("#memory-cached_tokens-slider")
    assert slider.get_dom_attribute("aria-label") == "Cached tokens per sequence, in steps"
    slider.send_keys(Keys.ARROW_RIGHT)
    page.until_says("26.90 GiB")
    assert page.find("#memory-cached_tokens").get_property("value") == "8192"
    assert slider.get_dom_attribute("aria-valuetext") == "8192"
    page.enter("cached_tokens", "4096")
    page.until_says("22.90 GiB")
    assert slider.get_dom_attribute("aria-valuetext") == "4096"


def test_what_the_script_shows_is_what_the_server_shows(page: Browser) -> None:
    page.find("#memory summary").click()
    page.enter("reserve_gib", "2.5")
    page.enter("cached_tokens", "6000")
    page.until_says("23.26 GiB")
    live, live_text = page.figures(), page.find("#memory .results").text
    page.driver.refresh()
    assert page.figures() == live
    page.scripts(on=False)
    page.driver.refresh()
    assert page.figures() == live
    assert page.find("#memory .results").text == live_text


def test_the_marks_of_the_timeline_follow(page: Browser) -> None:
    def marks() -> list[str]:
        found = {mark.get_dom_attribute("data-mark"): mark.rect["x"] for mark in page.find_all("#latency [data-mark]")}
        return sorted(found, key=lambda name: found[name])

    assert marks() == ["first-token", "slo", "saved-answer"]
    page.enter("slo_s", "10", "latency")
    page.until_says("meets", "latency")
    assert marks() == ["first-token", "saved-answer", "slo"]


def test_the_curves_and_their_crossing_follow(page: Browser) -> None:
    def heights() -> list[float]:
        curve, crossing = page.find("#cost [data-curve=self-hosted]"), page.find("#cost circle.crossing")
        return [float(curve.get_dom_attribute(end)) for end in ("y1", "y2")] + [float(crossing.get_dom_attribute("cy"))]

    page.find("#cost [data-part=verdict] a").click()  # the example
    begin, end, crossing = heights()
    assert begin == end == crossing
    page.find("#cost summary").click()
    page.enter("variable_per_request", "0.0005", "cost")
    page.until(lambda: len(set(heights())) == 3, "the curve did not follow")
    begin, end, crossing = heights()
    assert begin > crossing > end


def test_a_fault_appears_and_goes_as_one_types(page: Browser) -> None:
    page.expected = (REFUSED,)
    page.enter("sequences", "many")
    page.until_says("Not computed.")
    control = page.find("#memory-sequences")
    assert control.get_dom_attribute("aria-invalid") == "true"
    assert "This is not a number." in page.find("#memory-sequences-fault").text
    assert page.find_all("#memory svg[role=img]") == []
    page.enter("sequences", "8")
    page.until_says("within")
    assert control.get_dom_attribute("aria-invalid") is None
    assert page.find("#memory-sequences-fault").text == ""


def test_who_types_keeps_the_place_in_the_control(page: Browser) -> None:
    control = page.find("#memory-cached_tokens")
    control.send_keys(Keys.HOME, "1")
    page.until_says("exceeds")
    assert page.driver.switch_to.active_element == control
    control.send_keys(Keys.DELETE)
    assert control.get_property("value") == "1096"


def test_many_keys_are_one_question(page: Browser) -> None:
    page.run(
        """
        window.asked = [];
        const real = fetch;
        window.fetch = (address, told) => (window.asked.push(address), real(address, told));
        const control = document.getElementById("memory-cached_tokens");
        for (const text of ["8", "81", "819", "8192"]) {
          control.value = text;
          control.dispatchEvent(new Event("input", { bubbles: true }));
        }
        """
    )
    page.until_says("26.90 GiB")
    assert page.run("return window.asked") == ["/worksheets/memory?cached_tokens=8192"]


def test_an_answer_that_comes_too_late_is_dropped(page: Browser) -> None:
    # The first question is answered after the second, and nobody can call it back.
    page.run(
        """
        const real = fetch;
        let held = false;
        window.fetch = async (address, told) => {
          const answer = await real(address, { ...told, signal: undefined });
          if (held) return answer;
          held = true;
          await new Promise((done) => { window.release = done; });
          window.released = true;
          return answer;
        };
        """
    )
    page.enter("cached_tokens", "8192")
    page.until(lambda: page.run("return window.release !== undefined"), "nothing was asked")
    page.enter("cached_tokens", "16384")
    page.until_says("34.90 GiB")
    page.run("window.release()")
    page.until(lambda: page.run("return window.released"), "it was not released")
    page.run("return new Promise((done) => setTimeout(done, 200))")
    assert "34.90 GiB" in page.verdict()
    assert page.driver.current_url.endswith("cached_tokens=16384")


def test_what_is_too_long_for_an_address_is_sent_as_a_body(page: Browser) -> None:
    page.expected = (REFUSED,)
    page.find("#memory summary").click()
    page.run(
        """
        const control = document.getElementById("memory-config");
        control.value = JSON.stringify({ a: "b".repeat(100000) });
        control.dispatchEvent(new Event("input", { bubbles: true }));
        """
    )
    page.until_says("Not computed.")
    assert "Architecture" in page.verdict()
    assert page.driver.current_url == f"{page.url}/worksheets"


def test_what_the_gateway_does_not_even_read_is_told(page: Browser) -> None:
    page.expected = ("the server responded with a status of 413",)
    page.find("#memory summary").click()
    page.run(
        """
        const control = document.getElementById("memory-config");
        control.value = "a".repeat(300000);
        control.dispatchEvent(new Event("input", { bubbles: true }));
        """
    )
    page.until_says("The body is larger than the gateway reads.")
    page.enter("config", "")
    page.find("#memory-config").send_keys("a", Keys.BACKSPACE)
    page.until_says("within")


def test_a_gateway_that_is_away_is_told(page: Browser) -> None:
    page.run("window.fetch = () => Promise.reject(new TypeError('away'));")
    page.enter("cached_tokens", "8192")
    page.until_says("The gateway does not answer.")


def test_return_computes_at_once_and_leaves_the_page_where_it_is(page: Browser) -> None:
    root = page.find("html")
    page.find("#memory-cached_tokens").send_keys(Keys.BACKSPACE * 4 + "8192" + Keys.ENTER)
    page.until_says("26.90 GiB")
    assert page.find("html") == root


def test_the_narrow_page_does_not_scroll_sideways_with_sliders(browser: Browser) -> None:
    browser.size(*NARROW)
    browser.open()
    assert browser.run("return document.documentElement.scrollWidth") <= NARROW[0]
    slider = browser.find("#memory-vram_gib-slider").rect
    assert slider["x"] + slider["width"] <= NARROW[0]
