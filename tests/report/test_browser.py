"""The report in a real browser: it renders, sorts, fits its window, and fetches nothing."""

import json
import os
import shutil

import pytest

pytest.importorskip("matplotlib")
pytest.importorskip("jinja2")
pytest.importorskip("selenium")
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from report import cases
from shortlist import report

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser")
DRIVER = shutil.which("chromedriver")
#: Nothing is skipped where a browser is promised.
pytestmark = pytest.mark.skipif(
    (BROWSER is None or DRIVER is None) and not os.environ.get("CI"),
    reason="no browser: install chromium and chromium-driver",
)
OVERFLOWING = """
const width = document.documentElement.clientWidth;
return [...document.querySelectorAll("body *")].filter((each) => {
  if (each.closest(".scroll, .line") && !each.matches(".scroll, .line")) return false;
  const box = each.getBoundingClientRect();
  return box.width > 0 && (box.right > width + 1 || box.left < -1);
}).map((each) => each.outerHTML.slice(0, 120));
"""


@pytest.fixture(scope="module")
def browser():
    options = webdriver.ChromeOptions()
    options.binary_location = BROWSER
    for word in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"):
        options.add_argument(word)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(DRIVER))
    yield driver
    driver.quit()


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "report.html"
    report.write(path, [*cases.all_studies(), cases.hostile_study()], title="All kinds")
    return path.as_uri()


def visit(browser, address, width=1280, scheme="light"):
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
    wish = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": wish})
    browser.get(address)


def background(browser):
    return browser.execute_script("return getComputedStyle(document.body).backgroundColor")


def test_no_error_and_no_request(browser, address):
    browser.get_log("performance")
    visit(browser, address)
    assert browser.get_log("browser") == []
    asked = []
    for line in browser.get_log("performance"):
        message = json.loads(line["message"])["message"]
        if message["method"] == "Network.requestWillBeSent":
            asked.append(message["params"]["request"]["url"])
    assert [url for url in asked if not url.startswith("data:")] == [address]
    assert "49" not in browser.find_element(By.TAG_NAME, "h1").text
    # The policy holds: a script that got in would not run, a picture would not be fetched.
    ran = browser.execute_script(
        "const bad = document.createElement('script'); bad.textContent = 'window.bad = 1';"
        "document.body.append(bad); bad.remove(); return window.bad || 0"
    )
    assert ran == 0
    assert "Content Security Policy" in browser.get_log("browser")[0]["message"]


@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_overflows(browser, address, width):
    visit(browser, address, width)
    assert browser.execute_script("return innerWidth") == width
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    for details in browser.find_elements(By.TAG_NAME, "details"):
        browser.execute_script("arguments[0].open = true", details)
    assert browser.execute_script(OVERFLOWING) == []


def column(browser, table, at):
    cells = table.find_elements(By.CSS_SELECTOR, f"tbody tr > :nth-child({at + 1})")
    return [cell.get_attribute("data-value") for cell in cells]


def test_tables_sort_by_mouse_and_keyboard(browser, address):
    visit(browser, address)
    table = browser.find_element(By.CSS_SELECTOR, "#study-1 table")
    heads = table.find_elements(By.CSS_SELECTOR, "thead th")
    assert [head.get_attribute("aria-sort") for head in heads] == ["none"] * len(heads)
    heads[1].find_element(By.TAG_NAME, "button").click()
    values = [float(value) for value in column(browser, table, 1)]
    assert values == sorted(fit.metrics["top1"] for fit in cases.study_of_digits().fits)
    assert heads[1].get_attribute("aria-sort") == "ascending"
    heads[1].find_element(By.TAG_NAME, "button").send_keys(Keys.ENTER)
    values = [float(value) for value in column(browser, table, 1)]
    assert values == sorted(values, reverse=True)
    assert heads[1].get_attribute("aria-sort") == "descending"
    heads[0].find_element(By.TAG_NAME, "button").send_keys(Keys.SPACE)
    assert column(browser, table, 0) == ["softmax", "topk_svm_alpha"]
    assert [head.get_attribute("aria-sort") for head in heads[:2]] == ["ascending", "none"]


def test_light_and_dark(browser, address):
    visit(browser, address, scheme="light")
    light = background(browser)
    button = browser.find_element(By.ID, "theme")
    assert button.text == "Dark"
    button.click()
    dark = background(browser)
    assert (light, dark) == ("rgb(253, 253, 252)", "rgb(21, 24, 29)")
    assert button.text == "Light"
    line = "return getComputedStyle(document.querySelector('.series path')).stroke"
    colour = browser.execute_script(line)
    button.click()
    assert background(browser) == light
    assert browser.execute_script(line) != colour
    visit(browser, address, scheme="dark")
    assert background(browser) == dark


def test_a_model_in_the_legend_stands_out(browser, address):
    visit(browser, address)
    study = browser.find_element(By.ID, "study-1")
    chip = study.find_elements(By.CSS_SELECTOR, ".legend button")[1]
    chip.click()
    assert chip.get_attribute("aria-pressed") == "true"
    lit = study.find_elements(By.CSS_SELECTOR, ".series.lit")
    assert {each.get_attribute("data-series") for each in lit} == {"1"}
    assert len(lit) == 2  # accuracy and convergence


def test_on_paper_all_is_unfolded(browser, address):
    visit(browser, address, scheme="dark")
    browser.execute_cdp_cmd("Page.printToPDF", {})
    opened = browser.execute_script(
        "return [...document.querySelectorAll('details')].map(d=>d.open)"
    )
    assert opened
    assert all(opened)
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    assert background(browser) == "rgb(253, 253, 252)"
