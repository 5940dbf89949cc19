"""Pages in headless Chromium: what a browser makes of a file, and what is wrong with it."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

PHONE, DESKTOP = 390, 1280
"""Widths in pixels."""
READABLE = 16
"""How many pixels high letters on a phone are, at least."""
CONTRAST = 4.5
"""The contrast of text, level AA of the Web Content Accessibility Guidelines."""
_HEIGHT = 900
_NAMES = ("chromium", "chromium-browser", "google-chrome")
_KEPT = "try { localStorage.length + sessionStorage.length } catch { true }"
_SCRIPT = (Path(__file__).parent / "browser.js").read_text(encoding="utf-8")


@dataclass(frozen=True)
class Look:
    """What one look at a page found.

    Parameters
    ----------
    width
        The width of the window.
    messages
        What the page wrote to the console, and its errors.
    requests
        The addresses that the page asked for, other than itself.
    elements
        How many elements of each name there are.
    text
        The text that can be read.
    tables, pictures
        How many there are.
    hidden
        Tables and pictures without a size, and pictures that cannot be decoded.
    beyond
        By how many pixels the document is wider than the window.
    small
        Texts that are lower than `READABLE`, marks beside numbers aside.
    faint
        Texts with less than `CONTRAST` against what is behind them.
    active
        Elements that could run code or load something: scripts, frames, handlers, inline styles.
    disorder
        Headings that skip a level, ids that occur twice, links that lead nowhere.
    """

    width: int
    messages: list[str]
    requests: list[str]
    elements: dict[str, int]
    text: str
    tables: int
    pictures: int
    hidden: list[str]
    beyond: int
    small: list[str]
    faint: list[str]
    active: list[str]
    disorder: list[str]

    def faults(self) -> list[str]:
        """What no page of ours may have, a line for each fault."""
        kinds = {
            "the page says": self.messages,
            "the page asks for": self.requests,
            "not visible": self.hidden,
            "could act": self.active,
            "faint": self.faint,
            "too small": self.small if self.width <= PHONE else [],
            "out of order": self.disorder,
        }
        lines = [f"{kind}: {fault}" for kind, faults in kinds.items() for fault in faults]
        if self.beyond > 0:
            lines.append(f"the page is {self.beyond} pixels wider than the window of {self.width}")
        return lines


@dataclass(frozen=True)
class Opened:
    """A page that a test may click and type in: `page` is playwright's, `messages` and `requests` grow
    as the page writes to the console and asks for addresses other than its own."""

    page: Any
    messages: list[str]
    requests: list[str]


LookedAt = Callable[..., Look]
"""`looked_at(path, width=DESKTOP, dark=False, screenshot=None)`."""

Opening = Callable[..., AbstractContextManager[Opened]]
"""`with opening(path, width=DESKTOP, dark=False) as opened:`."""


@contextmanager
def opened_browser() -> Iterator[Opening]:
    """A function that opens files in one Chromium; skips where there is no browser."""
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="no playwright: pip install 'rankgauge[browser]'"
    )
    executable = next(filter(None, map(shutil.which, _NAMES)), None)
    if executable is None:
        pytest.skip("no Chromium: install it, on Debian with apt-get install chromium")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=executable, args=["--no-sandbox"])

        idle: list[Any] = []

        @contextmanager
        def opening(path: Path, width: int = DESKTOP, dark: bool = False) -> Iterator[Opened]:
            page = idle.pop() if idle else _window(browser)
            try:
                page.set_viewport_size({"width": width, "height": _HEIGHT})
                page.emulate_media(media="null", color_scheme="dark" if dark else "light")
                with _opened(page, path.resolve().as_uri()) as opened:
                    yield opened
                    fresh = len(page.context.pages) == 1 and not page.evaluate(_KEPT)
            except BaseException:
                page.context.close()
                raise
            if fresh:
                idle.append(page)
            else:
                page.context.close()

        try:
            yield opening
        finally:
            browser.close()


def looking(opening: Opening) -> LookedAt:
    """A function that opens a file and says what it saw."""

    def looked_at(
        path: Path, width: int = DESKTOP, dark: bool = False, screenshot: Path | None = None
    ) -> Look:
        with opening(path, width, dark) as opened:
            look = look_of(opened)
            if screenshot is not None:
                opened.page.screenshot(path=screenshot, full_page=True)
            if opened.page.url.split("#")[0] != path.resolve().as_uri():
                look.messages.append(f"the page went to {opened.page.url}")
            return look

    return looked_at


def look_of(opened: Opened) -> Look:
    """A look at a page as it is now."""
    found = opened.page.evaluate(_SCRIPT, {"readable": READABLE, "contrast": CONTRAST})
    width = opened.page.viewport_size["width"]
    return Look(width=width, messages=opened.messages, requests=opened.requests, **found)


def _window(browser: Any) -> Any:
    """An empty page of its own profile, which is used again: making one takes longer than a look."""
    context = browser.new_context(offline=True, service_workers="block")
    return context.new_page()


@contextmanager
def _opened(page: Any, address: str) -> Iterator[Opened]:
    """The page shows the file; afterwards it is empty, without listeners, and the mouse is outside."""
    messages: list[str] = []
    requests: list[str] = []

    def asked(route: Any) -> None:
        if route.request.url == address:
            route.continue_()
        else:
            route.abort()

    def seen(request: Any) -> None:
        if request.url != address and not request.url.startswith("data:"):
            requests.append(request.url)

    def met(dialog: Any) -> None:
        messages.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    listeners: dict[str, Callable[[Any], None]] = {
        "console": lambda message: messages.append(f"{message.type}: {message.text}"),
        "pageerror": lambda error: messages.append(f"error: {error}"),
        "dialog": met,
        "popup": lambda popup: messages.append(f"popup: {popup.url}"),
        "request": seen,
    }
    for event, listener in listeners.items():
        page.on(event, listener)
    page.context.route("**/*", asked)
    page.goto(address, wait_until="load")
    yield Opened(page, messages, requests)
    page.mouse.move(-1, -1)
    page.goto("about:blank")
    page.context.unroute("**/*", asked)
    for event, listener in listeners.items():
        page.remove_listener(event, listener)
