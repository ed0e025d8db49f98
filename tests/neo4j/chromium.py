"""A headless Chromium that logs in to the classic Neo4j Browser, for tests that look at what a person sees."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from selenium.webdriver import Chrome, ChromeOptions
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import WebDriverWait

from tests.servers.neo4j import Neo4jServer

SECONDS = 60
_ARGUMENTS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--window-size=1600,1300",
)


def chromium_here() -> bool:
    """Whether Chromium and its driver are installed (Debian: chromium, chromium-driver)."""
    return shutil.which("chromium") is not None and shutil.which("chromedriver") is not None


class NeoBrowser:
    """The classic Browser after log-in."""

    def __init__(self, chrome: Chrome) -> None:
        self.chrome = chrome

    def all(self, selector: str) -> list[WebElement]:
        return self.chrome.find_elements(By.CSS_SELECTOR, selector)

    def wait_for(self, selector: str, count: int = 1) -> list[WebElement]:
        """Wait until at least `count` elements match; return them."""
        WebDriverWait(self.chrome, SECONDS).until(lambda _: len(self.all(selector)) >= count)
        return self.all(selector)

    def frame_texts(self) -> list[str]:
        """What the frames of the stream say, the newest first."""
        return [frame.text for frame in self.all("[data-testid=frame]")]

    def wait_for_frame(self, text: str) -> str:
        """Wait until a frame of the stream contains `text`; return that frame's text."""
        WebDriverWait(self.chrome, SECONDS).until(lambda _: any(text in frame for frame in self.frame_texts()))
        return next(frame for frame in self.frame_texts() if text in frame)

    def run(self, command: str) -> None:
        """Type a command or query into the editor and run it, as a person does."""
        before = len(self.all("[data-testid=frame]"))
        editor = self.wait_for("[data-testid=activeEditor] textarea")[0]
        editor.send_keys(Keys.CONTROL, "a")
        editor.send_keys(command.replace("\n", " "))
        self.run_editor()
        WebDriverWait(self.chrome, SECONDS).until(lambda _: len(self.all("[data-testid=frame]")) > before)

    def run_editor(self) -> None:
        self.wait_for("[data-testid=editor-Run]")[0].click()

    def answer(self, file: Path) -> None:
        """Run a saved question and wait until its graph is drawn."""
        lines = file.read_text(encoding="utf-8").splitlines()
        self.run(" ".join(line for line in lines if not line.strip().startswith("//")))
        WebDriverWait(self.chrome, SECONDS).until(lambda _: self.fills() - {"NONE"})
        time.sleep(2)  # the layout comes to rest

    def fills(self) -> set[str]:
        """The colours of the nodes in the newest graph."""
        circles = self.wait_for("[data-testid=frame]")[0].find_elements(By.CSS_SELECTOR, "circle[fill]")
        return {str(circle.get_attribute("fill")).upper() for circle in circles}

    def screenshot(self, path: Path) -> None:
        self.chrome.save_screenshot(str(path))


@contextmanager
def logged_in(server: Neo4jServer, profile: Path) -> Iterator[NeoBrowser]:
    """Open Browser at the server, log in, wait until the start commands of the server have run."""
    options = ChromeOptions()
    options.binary_location = str(shutil.which("chromium"))
    for argument in (*_ARGUMENTS, f"--user-data-dir={profile}"):
        options.add_argument(argument)
    chrome = Chrome(options=options, service=Service(shutil.which("chromedriver")))
    try:
        chrome.get(server.http.replace("127.0.0.1", "localhost") + "/browser/")
        browser = NeoBrowser(chrome)
        user = browser.wait_for("[data-testid=username]")[0]
        user.send_keys(Keys.CONTROL, "a")
        user.send_keys(server.user)
        browser.wait_for("[data-testid=password]")[0].send_keys(server.password)
        browser.wait_for("[data-testid=connect]")[0].click()
        browser.wait_for_frame("You are connected as user")
        yield browser
    finally:
        chrome.quit()
