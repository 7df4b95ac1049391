"""The page in a real browser: what it draws, finds and compares, from a file and from the server.

Needs a Chromium on the PATH (Debian: `apt install chromium`); skipped without one.
"""

import re
import shutil
import threading
from contextlib import contextmanager

import pytest
from example_chain import CHAIN, HOSTILE, LOOKS, episodes, losses, write_chain

from sqldojo.evaluation.page.page import build_page
from sqldojo.evaluation.page.run_files import read_run
from sqldojo.evaluation.tables import write_table
from sqldojo.files import write_text
from sqldojo.watching import PageServer, WatchedPage

sync_api = pytest.importorskip("playwright.sync_api")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium on the PATH")


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    folder = tmp_path_factory.mktemp("chain")
    write_chain(folder, attempts=3)
    write_text(folder / "page.html", build_page(read_run(folder, CHAIN)))
    return folder


@pytest.fixture(scope="module")
def browser():
    sync_api.expect.set_options(timeout=120_000)  # a busy machine
    with sync_api.sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield found
        found.close()


@contextmanager
def opened(browser, address):
    """A page at an address; at the end nothing foreign was asked for, and nothing complained of."""
    context = browser.new_context(viewport={"width": 1280, "height": 900}, color_scheme="light")
    page = context.new_page()
    page.set_default_timeout(120_000)
    asked, complaints = [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(address)
    page.wait_for_selector("html[data-ready=yes]")
    yield page
    assert [url for url in asked if not url.startswith(address)] == []
    assert complaints == []
    context.close()


@pytest.fixture(scope="module")
def file_page(browser, root):
    with opened(browser, (root / "page.html").as_uri()) as found:
        yield found


@pytest.fixture
def page(file_page):
    """The page from a disk, opened once for all tests, without filters."""
    file_page.click("#filters [type=reset]")
    sync_api.expect(file_page.locator("#found")).to_have_text("63 of 63 attempts")
    return file_page


def test_every_chart_is_drawn(page):
    drawings = page.locator(".drawing")
    marks = [drawings.nth(place).locator(".marks path, .marks text").count() for place in range(drawings.count())]
    assert len(marks) == 15 and min(marks) > 8
    assert "95 % intervals" in page.locator("#chart-accuracy-check .drawing").get_attribute("aria-label")
    assert min(page.locator("svg.marks").nth(place).bounding_box()["width"] for place in range(15)) > 200
    bars = page.locator("#chart-accuracy-check .mark-rule.role-mark line")
    assert bars.count() == 4  # an interval for each checkpoint


def test_filters(page):
    played = episodes("grpo", attempts=3)
    count = page.locator("#found")
    assert count.inner_text() == f"{len(played)} of {len(played)} attempts"
    assert page.locator("#attempts li").count() == 50
    page.click("#later")
    assert page.locator("#attempts li").count() == len(played) - 50
    page.select_option("[name=split]", "check")
    wanted = [episode for episode in played if episode.split == "check"]
    assert count.inner_text().startswith(f"{len(wanted)} of")
    assert page.locator("[name=type] option").all_inner_texts() == ["all", "average-basket", "second-most-expensive"]
    page.select_option("[name=type]", "average-basket")
    page.select_option("[name=outcome]", "wrong_sql")
    wanted = [episode for episode in wanted if episode.type == "average-basket" and episode.outcome == "wrong_sql"]
    assert wanted and count.inner_text().startswith(f"{len(wanted)} of")
    page.click("[type=reset]")
    page.fill("[name=text]", "PRICE > (select")
    wanted = sum(episode.outcome == "wrong_sql" for episode in played)
    sync_api.expect(count).to_have_text(f"{wanted} of {len(played)} attempts")
    page.fill("[name=text]", "no such text")
    sync_api.expect(page.locator("#transcript")).to_have_text("No attempt fits these filters.")


def test_two_checkpoints_side_by_side(page):
    page.select_option("[name=left]", "redistilled")
    page.select_option("[name=right]", "distilled")
    assert page.locator(".side h4").all_inner_texts()[0].startswith("distilled")  # trained first, so it stands first
    page.select_option("[name=change]", "gained")
    before, after = (
        {episode.id: episode.outcome for episode in episodes(name, attempts=3)} for name in ("distilled", "redistilled")
    )
    gained = [name for name, outcome in after.items() if outcome == "correct" != before[name]]
    assert gained and page.locator("#found").inner_text().startswith(f"{len(gained)} of")
    assert page.locator(".side .outcome").all_inner_texts() == ["✗ wrong SQL", "✓ correct"]
    right = page.locator(".side").nth(1)
    assert right.locator(".result th").all_inner_texts() == ["name", "price"]
    assert right.locator(".result td").all_inner_texts() == ["tea", "3.5", "NULL", "12"]
    assert right.locator("pre").nth(1).inner_text().startswith("SELECT name, price\nFROM products\nWHERE price < ")
    assert right.locator(".string").first.inner_text() == "'it''s'"


def test_what_a_model_wrote_is_text(page):
    page.select_option("[name=left]", "released")
    page.fill("[name=text]", "onerror")
    sync_api.expect(page.locator("#found")).to_have_text("21 of 63 attempts")
    assert page.locator(".side pre").first.evaluate("each => each.textContent") == HOSTILE
    assert page.evaluate("window.broken") is None
    assert page.locator("img").count() == 0


def test_keyboard_and_links(page):
    page.locator("#attempts button").first.focus()
    page.keyboard.press("ArrowDown")
    assert page.locator("#attempts [aria-current=true]").inner_text().endswith("attempt 2")
    link = page.locator("#types .pair:not([hidden]) a").first
    text = link.inner_text()
    link.click()
    sync_api.expect(page.locator("#transcript")).to_be_focused()
    assert page.locator("#transcript h3").inner_text() == text
    assert page.locator(".side").count() == 2


def test_another_pair_of_types(page):
    ring = page.locator("#chart-types .mark-symbol path").first
    place = ring.get_attribute("transform")
    page.select_option("#pair", "released/grpo")
    sync_api.expect(ring).not_to_have_attribute("transform", place)
    assert page.locator("#types .pair:not([hidden])").get_attribute("data-pair") == "released/grpo"


def test_dark(page):
    def colours():
        page_ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
        label = page.evaluate("getComputedStyle(document.querySelector('#chart-learning .role-axis-label text')).fill")
        return page_ground, label

    light = colours()
    page.emulate_media(color_scheme="dark")
    dark = colours()
    assert light[0] == "rgb(255, 255, 255)" and light[0] != dark[0] and light[1] != dark[1]
    page.click("#theme")
    assert colours() == light  # the reader's choice is above the system's
    page.reload()
    page.wait_for_selector("html[data-ready=yes]")
    assert colours() == light


def test_a_narrow_window_has_no_sideways_scrolling(page):
    page.set_viewport_size({"width": 400, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") == 400


def test_a_watched_page_follows_and_keeps_the_reader_in_place(browser, tmp_path, monkeypatch):
    monkeypatch.setenv("DVC_ROOT", str(tmp_path))
    write_chain(tmp_path)
    (tmp_path / CHAIN.curve("distill")).unlink()
    server = PageServer(WatchedPage(tmp_path, CHAIN), 0)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    with opened(browser, server.address) as page:
        sync_api.expect(page.locator("#freshness")).to_have_text("Watching")
        page.select_option("[name=split]", "check")
        page.focus("[name=text]")
        write_table(tmp_path / ".scratch/live/tiny/17/distill.csv", losses(7))
        sync_api.expect(page.locator("#chart-distill-loss svg.marks")).to_be_visible()
        assert "distill is at work" in page.locator("#overview").inner_text()
        assert page.input_value("[name=split]") == "check"
        assert page.evaluate("document.activeElement.name") == "text"
        write_table(tmp_path / CHAIN.curve("grpo_looks"), [*LOOKS, LOOKS[1] | {"step": 8, "accuracy": 0.9}])
        sync_api.expect(page.locator("#chart-learning .drawing")).to_have_attribute("aria-label", re.compile("90.0 %"))
    server.shutdown()
    server.server_close()
