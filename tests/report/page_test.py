#!/usr/bin/python3
"""Uses the page of `ablate report` in headless Chromium as a person does, and compares its numbers with SQL queries.

page_test.py MAKE_REPORT: path of make_report, which writes a history and its report. ABLATE_SCREENSHOTS=FOLDER stores pictures.
"""
import json
import os
import re
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
EXPERIMENT = "grid <b>1</b>"
TRIALS = 240
wrong = []


def check(holds, what):
    if holds:
        return
    wrong.append(what)
    print(f"wrong: {what}", flush=True)


def start_browser(folder):
    options = webdriver.ChromeOptions()
    for word in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--hide-scrollbars",
                 "--disable-background-networking", f"--user-data-dir={folder}/browser", "--window-size=1300,900"):
        options.add_argument(word)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    return webdriver.Chrome(options=options, service=Service("/usr/bin/chromedriver"))


class Page:
    def __init__(self, browser):
        self.browser = browser
        self.run = browser.execute_script

    def one(self, selector):
        return self.browser.find_element(By.CSS_SELECTOR, selector)

    def settle(self):
        """Waits two frames, after which all requested changes are drawn."""
        self.browser.execute_async_script("const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def wait(self, script, what):
        for _ in range(200):
            if self.run(f"return {script}"):
                return
            self.settle()
        check(False, f"the page never showed {what}")

    def rows(self, section, table=0):
        """Returns the texts of the cells, row by row. In tables with pins, each row begins with the text of its pin."""
        return self.run("return [...document.querySelectorAll(arguments[0] + ' table')[arguments[1]].tBodies[0].rows]"
                        ".map((row) => [...row.cells].map((cell) => cell.innerText))", section, table)

    def headings(self, section, table=0):
        return self.run("return [...document.querySelectorAll(arguments[0] + ' table')[arguments[1]].tHead.rows[0].cells]"
                        ".map((cell) => cell.innerText.trim())", section, table)

    def sort(self, section, name, table=0):
        self.run("[...document.querySelectorAll(arguments[0] + ' table')[arguments[2]].querySelectorAll('thead button')]"
                 ".find((one) => one.innerText.startsWith(arguments[1])).click()", section, name, table)

    def filter(self, section, text, table=0):
        box = self.browser.find_elements(By.CSS_SELECTOR, f"{section} input[type=search]")[table]
        box.clear()
        box.send_keys(text or " ")

    def counted(self, section, table=0):
        return self.run("return document.querySelectorAll(arguments[0] + ' .controls [role=status]')[arguments[1]].innerText", section, table)

    def picture(self, name):
        if folder := os.environ.get("ABLATE_SCREENSHOTS"):
            self.settle()
            self.browser.save_screenshot(f"{folder}/{name}.png")

    def drawn(self):
        """Returns the share of each canvas's pixels that are not empty."""
        return self.run("""return [...document.querySelectorAll('main canvas')].map((canvas) => {
            const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext('2d', { willReadFrequently: true });
            copy.drawImage(canvas, 0, 0);
            const { data } = copy.getImageData(0, 0, canvas.width, canvas.height);
            let full = 0;
            for (let i = 3; i < data.length; i += 4) full += data[i] > 0;
            return full / (data.length / 4); })""")


def number(text):
    found = re.match(r"~?([-\d.]+)", text)
    return float(found.group(1)) if found else None


def check_rendered(page, ask):
    page.wait("document.getElementById('message').hidden", "the data")
    page.settle()
    check(EXPERIMENT in page.one("h1").text, "the title is the experiment's name, as it is written")
    check(page.run("return document.querySelectorAll('img, body b').length") == 0, "nothing of the history is read as HTML")
    check(page.headings("#tables") == ["", "attention", "test/accuracy (%)", "train/step_time (ms)"], "the study's own table")
    rows = page.rows("#tables")
    check(len(rows) == 4, "four attentions are four rows")
    check(any("</script><img src=x" in row[1] for row in rows), "a hostile name is shown unchanged")
    for row in rows:
        mean, = ask('SELECT avg(mean) FROM (SELECT avg("test/accuracy") AS mean FROM trials JOIN members USING (trial) WHERE experiment = ? AND '
                    'outcome = \'done\' AND attention LIKE ? GROUP BY "train.learning_rate", "model.width")', EXPERIMENT, row[1][:9] + "%")
        decimals = len(row[2].split()[0].partition(".")[2])
        check(abs(number(row[2]) - mean) <= 0.51 * 10 ** -decimals, f"{row[1][:9]}: {row[2]} is the mean of its settings, {mean}")
    check(all(share > 0.002 for share in page.drawn()) and len(page.drawn()) == 3, f"three figures are drawn: {page.drawn()}")
    check("out of memory" in page.one("#failures").text and "has not run yet" in page.one("#failures").text, "failures by reason")
    environments, = ask("SELECT count(DISTINCT environment) FROM attempts JOIN trials USING (attempt)")
    check(len(page.rows("#environments")) == environments > 1, "the environments of the attempts that count")


def check_sorting(page):
    page.sort("#tables", "test/accuracy")
    up = [number(row[2]) for row in page.rows("#tables")]
    page.sort("#tables", "test/accuracy")
    down = [number(row[2]) for row in page.rows("#tables")]
    check(up == sorted(up) and len(set(up)) > 2, f"sorted upwards: {up}")
    check(down == sorted(up, reverse=True), f"sorted downwards: {down}")
    check(page.run("return document.querySelectorAll('#tables thead [aria-sort=descending]').length") == 1, "the sorted column is marked as sorted")
    page.sort("#trials", "train.learning_rate")
    at = page.headings("#trials").index("train.learning_rate ▴")
    rates = [float(row[at]) for row in page.rows("#trials")]
    check(rates == sorted(rates), "numbers are sorted by size, 1e-4 before 3e-4")


def check_filters(page, ask):
    page.filter("#tables", "adamra")
    check([row[1] for row in page.rows("#tables")] == ["adamra"], "a word selects the rows that contain it")
    page.filter("#tables", "")
    page.filter("#trials", "attention=linear test/accuracy>74")
    expected, = ask('SELECT count(*) FROM trials JOIN members USING (trial) WHERE attention = \'linear\' AND "test/accuracy" > 74 AND outcome = \'done\'')
    check(page.counted("#trials").startswith(f"{expected} of") and expected > 0, f"conditions: {page.counted('#trials')}, expected {expected}")
    page.filter("#trials", "")


def check_columns_and_pin(page):
    page.run("document.querySelector('#tables details').open = true")
    box = page.run("return [...document.querySelectorAll('#tables details label')].find((one) => one.innerText.startsWith('train/step_time'))")
    box.click()
    check(page.headings("#tables")[1:] == ["attention", "test/accuracy (%) ▾"], f"a column is hidden: {page.headings('#tables')}")
    box.click()
    page.run("document.querySelector('#tables details').open = false")
    values = {row[1]: number(row[2]) for row in page.rows("#tables")}
    page.run("[...document.querySelectorAll('#tables tr.row')].find((row) => row.innerText.includes('linear')).querySelector('.pin').click()")
    rows = page.rows("#tables")
    check(rows[0][1] == "linear" and not re.search(r"[+−][\d.]+$", rows[0][2]), f"the pinned row comes first: {rows[0]}")
    for row in rows[1:]:
        shown = re.search(r"([+−])([\d.]+)\s*$", row[2])
        shown_difference = float(shown.group(2)) * (1 if shown.group(1) == "+" else -1) if shown else None
        check(shown_difference is not None and abs(shown_difference - (values[row[1]] - values["linear"])) < 0.11, f"its difference to the pinned row: {row[2]}")
    page.run("document.querySelector('#tables tr.pinned .pin').click()")


def check_detail(page, ask):
    page.run("[...document.querySelectorAll('#tables tr.row')].find((row) => row.innerText.includes('softmax')).querySelector('button.number').click()")
    trials, = ask("SELECT count(*) FROM members JOIN parameters USING (trial) WHERE path = 'attention' AND text = 'softmax' AND experiment = ?", EXPERIMENT)
    check(page.counted("dialog").startswith(f"{trials} row"), f"a number opens its {trials} trials: {page.counted('dialog')}")
    page.filter("dialog", "failed")
    page.run("document.querySelector('dialog tbody tr').focus()")
    page.browser.switch_to.active_element.send_keys(Keys.ENTER)
    page.settle()
    text = page.one("dialog").text
    key = re.search(r"key\s+([0-9a-f]{16})", text)
    check(key is not None, "a trial has its key")
    reason, = ask("SELECT reason FROM attempts WHERE key LIKE ?", key.group(1) + "%") if key else ("",)
    check(reason.split("\u2028")[0] in text and reason, f"a failed trial shows its reason: {reason}")
    check("train.batch" in text and "ablate show" in text, "a trial has all its settings, and the command that shows more")
    check(page.run("return document.querySelectorAll('dialog canvas').length") == 0, "a trial that failed at once has no curve")
    page.picture("detail")
    page.browser.switch_to.active_element.send_keys(Keys.ESCAPE)
    check(not page.run("return document.querySelector('dialog').open"), "Escape closes the panel")


def check_brush(page, ask):
    page.run("document.querySelector('#parallel').scrollIntoView({block: 'center'})")
    page.settle()
    top, bottom, left = page.run("""const axis = document.querySelector('#parallel .axis[aria-label="attention"]');
        const tick = [...axis.querySelectorAll('text')].find((text) => text.firstChild.textContent === 'softmax').getBoundingClientRect();
        const line = axis.querySelector('.domain').getBoundingClientRect();
        return [tick.top, tick.bottom, line.left]""")
    chain = ActionChains(page.browser, duration=50)
    pointer = chain.w3c_actions.pointer_action
    pointer.move_to_location(int(left), int(top) - 8)
    pointer.pointer_down()
    pointer.move_to_location(int(left), int((top + bottom) / 2))
    pointer.move_to_location(int(left), int(bottom) + 8)
    pointer.pointer_up()
    chain.perform()
    page.settle()
    expected, = ask("SELECT count(*) FROM members JOIN parameters USING (trial) WHERE path = 'attention' AND text = 'softmax'")
    check(page.one("#choice").text.startswith(f"{expected} of"), f"the brush chooses {expected} trials: {page.one('#choice').text}")
    at = page.headings("#trials").index("attention")
    check({row[at] for row in page.rows("#trials")} == {"softmax"}, "the list has only the chosen trials")
    page.picture("brushed")
    page.one("#choice button").click()
    page.settle()
    check(page.counted("#trials") == f"{TRIALS + 2} rows", f"without a brush, all trials are listed: {page.counted('#trials')}")


def check_keyboard(page):
    axis = "document.querySelector('#parallel .axis[aria-label=\"train.learning_rate\"]')"
    page.run(f"{axis}.focus()")
    ActionChains(page.browser).send_keys(Keys.ARROW_UP).perform()
    page.settle()
    first = page.one("#choice").text
    ActionChains(page.browser).key_down(Keys.SHIFT).send_keys(Keys.ARROW_UP * 12).key_up(Keys.SHIFT).perform()
    page.settle()
    check(first and "of" in first and page.one("#choice").text != first, f"arrow keys brush an axis: {first}, {page.one('#choice').text}")
    ActionChains(page.browser).send_keys(Keys.ESCAPE).perform()
    page.settle()
    check(not page.one("#choice").is_displayed(), "Escape removes the brush")
    page.run("document.querySelector('#trials tbody tr').focus()")
    page.browser.switch_to.active_element.send_keys(Keys.ARROW_DOWN)
    check(page.run("return document.activeElement === document.querySelectorAll('#trials tbody tr')[1]"), "arrows go from row to row")
    page.run("document.querySelector('#trials thead button').focus()")
    page.browser.switch_to.active_element.send_keys(Keys.ENTER)
    check(page.run("return document.querySelector('#trials [aria-sort=ascending]') !== null"), "Enter sorts by a column")
    nameless = page.run("""return [...document.querySelectorAll('button, input, select, summary, [role=slider]')].filter((one) =>
        !(one.innerText || '').trim() && !one.ariaLabel && !(one.labels && one.labels.length)).map((one) => one.outerHTML.slice(0, 80))""")
    check(not nameless, f"each control has a name: {nameless}")


def luminance(colour):
    return sum(float(part) for part in re.findall(r"[\d.]+", colour)[:3]) / 765


def check_looks(page):
    colours = "const s = getComputedStyle(document.body); return [s.backgroundColor, s.color]"
    paper, ink = map(luminance, page.run(colours))
    check(paper > 0.9 and ink < 0.2, "the light theme is light")
    page.picture("light")
    page.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": "dark"}]})
    page.settle()
    paper, ink = map(luminance, page.run(colours))
    check(paper < 0.15 and ink > 0.8, "the dark theme is dark")
    check(all(share > 0.002 for share in page.drawn()), "figures are drawn in the dark theme")
    page.picture("dark")
    page.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    page.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": 390, "height": 844, "deviceScaleFactor": 2, "mobile": True})
    page.settle()
    check(page.run("return document.documentElement.scrollWidth") <= 390, "on a phone nothing is wider than the screen")
    check(page.run("return [...document.querySelectorAll('main canvas')].every((one) => one.clientWidth > 200)"), "figures have a width on a phone")
    page.picture("phone")
    for section in ("figures", "parallel", "trials", "failures"):
        page.run("document.getElementById(arguments[0]).scrollIntoView()", section)
        page.picture(f"phone-{section}")


def check_quiet(page):
    for entry in page.browser.get_log("browser"):
        check(False, f"the console says: {entry['message']}")
    pages = 0
    for entry in page.browser.get_log("performance"):
        message = json.loads(entry["message"])["message"]
        asked = message["params"]
        is_ours = message["method"] == "Network.requestWillBeSent" and asked["documentURL"].startswith("file:")  # excludes the browser's first page
        if is_ours or message["method"] == "Network.webSocketCreated":
            url = asked.get("request", asked)["url"]
            check(url.startswith("file:///") and url.split("#")[0].endswith("report.html"), f"the page asks for {url}")
            pages += 1
    check(pages >= 1, "the browser's log contains requests")


def main():
    with tempfile.TemporaryDirectory(prefix="ablate-report.") as folder:
        folder = Path(folder)
        print(subprocess.run([sys.argv[1], str(folder), str(TRIALS)], check=True, capture_output=True, text=True).stdout)
        history = sqlite3.connect(folder / "ablate.db")
        ask = lambda sql, *words: history.execute(sql, words).fetchone()
        browser = start_browser(folder)
        try:
            page = Page(browser)
            browser.get((folder / "report.html").as_uri())
            check_rendered(page, ask)
            check_sorting(page)
            check_filters(page, ask)
            check_columns_and_pin(page)
            check_detail(page, ask)
            check_brush(page, ask)
            check_keyboard(page)
            check_looks(page)
            check_quiet(page)
        finally:
            browser.quit()
    print("all right" if not wrong else f"{len(wrong)} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
