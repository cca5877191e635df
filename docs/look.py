"""Open the built pages in Chromium, wide and narrow, light and dark, and say what is wrong.

python docs/look.py docs/_build/html [page ...]    # needs chromium and chromedriver

Wrong is: an error in the console, a request that leaves this machine, a page wider than the
window, a formula that was not drawn, a picture that did not load. Pictures of the windows are kept
beside the pages, in ``docs/_build/looks``.
"""

from __future__ import annotations

import json
import shutil
import sys
import time
from pathlib import Path
from typing import Any

from selenium import webdriver

WIDTHS = (1280, 390)
THEMES = ("light", "dark")

_STATE = """
const formulas = document.querySelectorAll('.math');
const drawn = document.querySelectorAll('.math mjx-container svg, .math mjx-container mjx-math');
const broken = [...document.images].filter(i => !i.complete || i.naturalWidth === 0);
const root = document.documentElement;
const wide = [...document.querySelectorAll('.bd-article *')].filter(
  e => e.getBoundingClientRect().right > root.clientWidth + 1
    && !e.closest('table, pre, .math, mjx-container, .highlight, .sphx-glr-script-out'));
return {formulas: formulas.length, drawn: drawn.length,
        broken: broken.map(i => i.src), width: root.scrollWidth, window: root.clientWidth,
        wide: wide.slice(0, 3).map(e => e.outerHTML.slice(0, 120)),
        ready: typeof MathJax === 'undefined' || !formulas.length
               || drawn.length >= formulas.length};
"""


def _installed(program: str) -> str:
    """Return where a program is; Selenium would look for it in the network."""
    path = shutil.which(program)
    if path is None:
        sys.exit(f"{program} is not installed.")
    return path


def browser(width: int) -> Any:
    """Return a window of Chromium of a width, without a network."""
    options = webdriver.ChromeOptions()
    words = ("headless=new", "no-sandbox", "disable-gpu", "hide-scrollbars")
    for word in (*words, "allow-file-access-from-files", "host-resolver-rules=MAP * ~NOTFOUND"):
        options.add_argument(f"--{word}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    options.binary_location = _installed("chromium")
    service = webdriver.ChromeService(executable_path=_installed("chromedriver"))
    window = webdriver.Chrome(options=options, service=service)
    window.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False},
    )
    return window


def requests_of(window: Any) -> list[str]:
    """Return the addresses that were asked for since the last time."""
    events = [json.loads(entry["message"])["message"] for entry in window.get_log("performance")]
    return [
        event["params"]["request"]["url"]
        for event in events
        if event["method"] == "Network.requestWillBeSent"
    ]


def problems_of(window: Any, page: Path, theme: str) -> list[str]:
    """Open a page and return what is wrong with it."""
    window.get(page.as_uri())
    window.execute_script(
        "localStorage.setItem('mode', arguments[0]); localStorage.setItem('theme', arguments[0]);"
        "document.documentElement.dataset.theme = arguments[0];"
        "document.documentElement.dataset.mode = arguments[0];", theme,
    )  # fmt: skip
    deadline = time.monotonic() + 15.0
    state = window.execute_script(_STATE)
    while not state["ready"] and time.monotonic() < deadline:
        time.sleep(0.1)
        state = window.execute_script(_STATE)
    found = [
        f"console: {entry['message']}"
        for entry in window.get_log("browser")
        if entry["level"] == "SEVERE"  # the theme tells the console what it does, too
    ]
    found += [
        f"asks for {address}"
        for address in requests_of(window)
        if not address.startswith(("file:", "data:", "blob:", "chrome"))
    ]
    if state["width"] > state["window"]:
        found.append(f"is {state['width']} wide in a window of {state['window']}: {state['wide']}")
    if state["drawn"] < state["formulas"]:
        found.append(f"has {state['formulas']} formulas, and {state['drawn']} are drawn")
    found += [f"has a picture that did not load: {source}" for source in state["broken"]]
    return found


def main() -> None:
    """Look at all pages, or at some."""
    folder = Path(sys.argv[1]).resolve()
    pages = [folder / name for name in sys.argv[2:]] or [
        page for page in sorted(folder.rglob("*.html")) if "_static" not in page.parts
    ]
    looks = folder.parent / "looks"
    looks.mkdir(exist_ok=True)
    wrong = 0
    for width in WIDTHS:
        window = browser(width)
        for page in pages:
            for theme in THEMES:
                name = page.relative_to(folder)
                found = problems_of(window, page, theme)
                wrong += len(found)
                for problem in found:
                    print(f"{name} at {width}, {theme}: {problem}", flush=True)
                picture = "-".join(name.with_suffix("").parts)
                window.save_screenshot(str(looks / f"{picture}-{width}-{theme}.png"))
        window.quit()
    print(f"{len(pages)} pages, {len(WIDTHS) * len(THEMES)} looks each: {wrong} problems")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
