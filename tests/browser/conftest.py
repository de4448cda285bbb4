"""A real gateway and a real Chromium, one of each for all tests of this folder."""

import os
import shutil
from collections.abc import Iterator

import pytest
from browser_support import Browser
from selenium import webdriver
from selenium.webdriver.chrome.service import Service

from gateway.testkit.process import GatewayProcess

NO_BROWSER = "NO_BROWSER"
FLAGS = (
    "--headless",
    "--no-sandbox",  # Chromium has none for root, as whom CI may run
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--no-default-browser-check",
)
NOBODY_LISTENS = 9
"""No engine is needed for what knows nothing of any."""


@pytest.fixture(scope="session")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GatewayProcess]:
    process = GatewayProcess(tmp_path_factory.mktemp("browser"), NOBODY_LISTENS)
    try:
        process.start(ready=False)
        process.wait_until(lambda: process.ended() is not None or serves(process), "the gateway did not start")
        assert process.ended() is None, process.log.read_text()
        yield process
    finally:
        process.close()


def serves(process: GatewayProcess) -> bool:
    return (process.data / "address.json").exists()


@pytest.fixture(scope="session")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[webdriver.Chrome]:
    if os.environ.get(NO_BROWSER):
        pytest.skip(f"{NO_BROWSER} is set.")
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if chromium is None or driver is None:
        pytest.fail(
            f"There is no chromium with a chromedriver. Run: make browser. Or set {NO_BROWSER}=1.", pytrace=False
        )
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('chromium')}"):
        options.add_argument(flag)
    # Its path is told, so that selenium looks for none, and downloads none.
    with webdriver.Chrome(options=options, service=Service(driver)) as started:
        yield started


@pytest.fixture
def browser(driver: webdriver.Chrome, gateway: GatewayProcess) -> Iterator[Browser]:
    """With scripts, light, wide; and at the end nothing may have gone wrong that the test did not ask for."""
    browser = Browser(driver, gateway.url)
    browser.reset()
    yield browser
    assert browser.foreign_requests() == []
    assert browser.unexpected_messages() == []


@pytest.fixture
def without_scripts(browser: Browser) -> Browser:
    browser.scripts(on=False)
    return browser
