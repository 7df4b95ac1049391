"""The settings for providers, and work done in parallel."""

import threading
import time

import pytest

from sqldojo import params
from sqldojo.errors import UserError
from sqldojo.files import write_text
from sqldojo.teacher.provider import ProviderParams, in_parallel

SECTION = """
providers: {{budget_usd: {budget}, concurrency: 2, retries: 3, seconds: 60, privacy: {privacy}, prices: {prices}}}
"""


@pytest.mark.parametrize(
    ("changed", "complaint"),
    [
        ({"budget": "-1"}, "providers.budget_usd: must be at least 0, found -1"),
        ({"privacy": "none"}, "providers.privacy: must be `schema_only` or `rows`, found 'none'"),
        ({"prices": "{openai/x: [1]}"}, r"providers.prices.openai/x: expected \[input, output\]"),
    ],
)
def test_settings_that_make_no_sense(tmp_path, changed, complaint):
    values = {"budget": "5", "privacy": "schema_only", "prices": "{openai/x: [1, 2.5]}"}
    write_text(tmp_path / "good.yaml", SECTION.format(**values))
    loaded = params.load(tmp_path / "good.yaml", "providers", ProviderParams)
    assert loaded == ProviderParams(5.0, 2, 3, 60.0, "schema_only", {"openai/x": (1.0, 2.5)})
    write_text(tmp_path / "bad.yaml", SECTION.format(**values | changed))
    with pytest.raises(UserError, match=complaint):
        params.load(tmp_path / "bad.yaml", "providers", ProviderParams)


def test_results_come_in_the_order_of_the_items_from_so_many_threads():
    together = threading.Barrier(3, timeout=10)

    def work(item):
        together.wait()
        return item * 10

    assert in_parallel(work, range(6), 3) == [0, 10, 20, 30, 40, 50]


def test_an_error_ends_the_work():
    done = []

    def work(item):
        done.append(item)
        if item == 2:
            raise UserError("enough")
        time.sleep(0.005)

    with pytest.raises(UserError, match="enough"):
        in_parallel(work, range(1000), 1)
    assert len(done) < 100
