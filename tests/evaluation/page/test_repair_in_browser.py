"""The page of repair in a real browser, from a disk; skipped without a Chromium on the PATH."""

import shutil

import pytest
from example_repair import CHECKPOINTS, REFERENCE, results

from sqldojo.evaluation.page.repair_page import build_repair_page
from sqldojo.evaluation.repair_results import repair_metrics
from sqldojo.files import write_text

sync_api = pytest.importorskip("playwright.sync_api")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium on the PATH")


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """The page, opened once; at the end nothing foreign was asked for, and nothing complained of."""
    path, made = tmp_path_factory.mktemp("repair") / "repair.html", results()
    write_text(path, build_repair_page(made, repair_metrics(made)))
    sync_api.expect.set_options(timeout=120_000)  # a busy machine
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        found = browser.new_page(viewport={"width": 1280, "height": 900})
        found.set_default_timeout(120_000)
        asked, complaints = [], []
        found.on("request", lambda request: asked.append(request.url))
        found.on("console", lambda message: complaints.append(message.text))
        found.on("pageerror", lambda error: complaints.append(str(error)))
        found.goto(path.as_uri())
        found.wait_for_selector("html[data-ready=yes]")
        yield found
        assert [url for url in asked if not url.startswith(path.as_uri())] == []
        assert complaints == []
        browser.close()


def test_charts_are_drawn(page):
    drawings = page.locator(".drawing")
    assert drawings.count() == 8
    assert all(drawings.nth(place).locator(".marks path").count() > 2 for place in range(8))


def test_transcripts_by_database_kind_and_outcome(page):
    assert page.locator("[name=left] option").all_inner_texts() == [*CHECKPOINTS, REFERENCE]
    page.select_option("[name=left]", REFERENCE)
    page.select_option("[name=split]", "streaming")
    page.select_option("[name=outcome]", "infrastructure")
    sync_api.expect(page.locator("#found")).to_have_text("1 of 12 attempts")
    assert page.locator(".side .outcome").inner_text() == "! provider failure"
    assert page.locator("#transcript h3").inner_text().startswith("My query for streaming-5 repeats")
    assert page.locator(".side .who").all_inner_texts() == ["user", "inspects the schema", "result", "submits"]
    assert page.locator(".side .result table").count() == 0, "a schema is no table of rows"


def test_another_pair(page):
    page.select_option("#pair", "sft_b/r2")
    assert page.locator("#types .pair:not([hidden]) h3").first.inner_text() == "sft_b and r2 on 12 tasks"
    assert page.locator("#chart-types .drawing").get_attribute("aria-label").startswith("Accuracy of sft_b (ring)")
    link = page.locator("#types .pair:not([hidden]) a").first
    text = link.inner_text()
    link.click()
    sync_api.expect(page.locator("#transcript")).to_be_focused()
    assert page.locator("#transcript h3").inner_text() == text and page.locator(".side").count() == 2


def test_dark_and_narrow(page):
    ground = "getComputedStyle(document.body).backgroundColor"
    page.emulate_media(color_scheme="light")
    light = page.evaluate(ground)
    page.emulate_media(color_scheme="dark")
    assert page.evaluate(ground) != light
    page.set_viewport_size({"width": 390, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
