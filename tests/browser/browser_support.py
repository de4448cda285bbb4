"""What the tests do with Chromium, in the words of the page."""

import json
import time
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlencode

from selenium import webdriver
from selenium.common.exceptions import NoSuchElementException, StaleElementReferenceException
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement

WITHIN_S = 20.0
WIDE, NARROW = (1280, 900), (360, 740)


class Browser:
    """One window, and one page in it."""

    def __init__(self, driver: webdriver.Chrome, url: str) -> None:
        self.driver = driver
        self.url = url
        self.expected: tuple[str, ...] = ()
        """Parts of messages of the console that a test causes on purpose."""

    def reset(self) -> None:
        """Nothing of the test before."""
        self.scripts(on=True)
        self.size(*WIDE)
        self.media()
        self.driver.get("about:blank")
        self.driver.get_log("browser")
        self.driver.get_log("performance")

    # The window

    def scripts(self, *, on: bool) -> None:
        self.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": not on})

    def size(self, width: int, height: int) -> None:
        told = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", told)

    def media(self, **features: str) -> None:
        # Without motion by default: who clicks while the page is moving misses.
        wanted = {"prefers_reduced_motion": "reduce"} | features
        told = [{"name": name.replace("_", "-"), "value": value} for name, value in wanted.items()]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": told})

    def open(self, path: str = "/worksheets", entries: Mapping[str, str] | None = None) -> None:
        self.driver.get(f"{self.url}{path}" + (f"?{urlencode(entries)}" if entries else ""))

    # The page

    def find(self, selector: str) -> WebElement:
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def find_all(self, selector: str) -> list[WebElement]:
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def enter(self, field: str, text: str, worksheet: str = "memory") -> None:
        """Type into a control in place of what is there."""
        control = self.find(f"#{worksheet}-{field}")
        control.clear()
        control.send_keys(text)

    def figures(self, worksheet: str = "memory") -> dict[str, str]:
        """Exact values by id, as the table has them."""
        return {
            row.get_dom_attribute("data-figure"): row.find_element(By.CSS_SELECTOR, "data").get_dom_attribute("value")
            for row in self.find_all(f"#{worksheet} [data-figure]")
            if row.find_elements(By.CSS_SELECTOR, "data")
        }

    def verdict(self, worksheet: str = "memory") -> str:
        return self.find(f"#{worksheet} [data-part=verdict]").text

    def widths(self) -> dict[str, float]:
        """Of the parts of the memory bar, in pixels."""
        return {
            part.get_dom_attribute("data-part-of-bar"): part.rect["width"]
            for part in self.find_all("#memory [data-part-of-bar]")
        }

    def run(self, script: str, *told: Any) -> Any:
        return self.driver.execute_script(script, *told)

    def until(self, holds: Callable[[], Any], otherwise: str) -> None:
        """Wait. What is looked at while the page changes may be gone, and then does not hold yet."""
        deadline = time.monotonic() + WITHIN_S
        while not _holds(holds):
            assert time.monotonic() < deadline, otherwise
            time.sleep(0.02)

    def until_says(self, words: str, worksheet: str = "memory") -> None:
        """Wait for a verdict."""
        self.until(lambda: words in self.verdict(worksheet), f"it does not say: {words}")

    # What went on

    def foreign_requests(self) -> list[str]:
        """Addresses that were asked for and are not the gateway's."""
        told = [json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")]
        asked = [one["params"]["request"]["url"] for one in told if one["method"] == "Network.requestWillBeSent"]
        return [url for url in asked if not url.startswith((f"{self.url}/", "data:", "about:"))]

    def unexpected_messages(self) -> list[str]:
        """Of the console."""
        messages = [entry["message"] for entry in self.driver.get_log("browser")]
        return [message for message in messages if not any(part in message for part in self.expected)]


def _holds(condition: Callable[[], Any]) -> bool:
    try:
        return bool(condition())
    except (NoSuchElementException, StaleElementReferenceException):
        return False


REFUSED = "the server responded with a status of 422"
"""What Chromium itself writes of an answer that says so."""
