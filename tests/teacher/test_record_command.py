"""`sqldojo record`: what people see of a recording, and what it leaves."""

import pytest
from click.testing import CliRunner
from faulty_provider import BUSY, faulty_provider

from sqldojo import recording_runs
from sqldojo.cli import main
from sqldojo.files import write_text
from sqldojo.records import ProviderRequest
from sqldojo.teacher.cassette import read_cassette

MODEL = "openai/tiny"
PARAMS = """
providers:
  {{budget_usd: {budget}, concurrency: 2, retries: 1, seconds: 10, privacy: rows, prices: {{openai/tiny: [1, 10]}}}}
"""


@pytest.fixture
def record(tmp_path, monkeypatch):
    """Run the command, to ask three questions, with so many dollars."""

    def run(ask, _params, _data):
        for number in range(3):
            ask(ProviderRequest(MODEL, ({"role": "user", "content": f"Question {number}"},)))

    def command(budget):
        write_text(tmp_path / "params.yaml", PARAMS.format(budget=budget))
        return CliRunner().invoke(main, ["record", "teach", "--params", str(tmp_path / "params.yaml"),
                                         "--data", str(tmp_path), "--cassettes", str(tmp_path)])  # fmt: skip

    monkeypatch.setitem(recording_runs.RUNS, "teach", run)
    with faulty_provider([BUSY]) as provider:
        monkeypatch.setenv("OPENAI_API_KEY", "not-needed")
        monkeypatch.setenv("OPENAI_API_BASE", provider.url)
        yield command


def test_a_spent_budget_says_how_to_go_on_and_the_same_command_does(record, tmp_path):
    result = record(0.008)
    assert result.exit_code == 1, result.output
    assert "teach: 2 calls recorded, 0 found in the cassette; 2000 tokens in, 200 out; $0.0040 of" in result.stdout
    assert result.stderr.startswith("Error: params.yaml: providers.budget_usd: $0.0040 of $0.0080 are spent")
    result = record(0.008)
    assert result.exit_code == 0, result.output
    assert "teach: 1 calls recorded, 2 found in the cassette; 1000 tokens in" in result.stdout
    assert len(read_cassette(tmp_path / "teach/replies.jsonl")) == 3
