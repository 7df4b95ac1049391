"""Charts: that they draw the very figures of the metrics, in Vega-Lite that is valid, and say them in words."""

from itertools import pairwise

import altair
import pytest
from example_chain import AUDIT, CHAIN, LOOKS, episodes, losses, steps, write_chain

from sqldojo.evaluation.page.curve_charts import learning_chart, loss_chart, step_charts
from sqldojo.evaluation.page.embedding import style_sheet
from sqldojo.evaluation.page.figures import words
from sqldojo.evaluation.page.run_files import read_run
from sqldojo.evaluation.page.score_charts import accuracy_charts, mutation_chart, outcome_charts, type_chart
from sqldojo.evaluation.page.sections import SCOPE_TEXTS
from sqldojo.records import OUTCOMES


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("chain")
    write_chain(folder)
    return read_run(folder, CHAIN)


def drawn(chart):
    """The rows that a chart draws, after a check that Vega-Lite's schema accepts it."""
    altair.Chart.from_dict(dict(chart.spec), validate=True)
    return chart.spec["data"]["values"]


def test_accuracies_with_their_intervals(run):
    charts = accuracy_charts(run.scores)
    assert [chart.title for chart in charts] == ["reserved", "selection", "check"]
    for chart in charts:
        wanted = [{"checkpoint": name, **{key: rows[chart.title][key] for key in
                   ("accuracy", "accuracy_low", "accuracy_high")}} for name, rows in run.scores.items()]  # fmt: skip
        assert drawn(chart) == wanted
        bars = next(layer for layer in chart.spec["layer"] if layer["mark"]["type"] == "rule")
        assert (bars["encoding"]["y"]["field"], bars["encoding"]["y2"]["field"]) == ("accuracy_low", "accuracy_high")
    row = run.scores["grpo"]["check"]
    text = f"[{100 * row['accuracy_low']:.1f}, {100 * row['accuracy_high']:.1f}]"
    assert text in charts[2].words and text in [cell for cells in charts[2].table.rows for cell in cells]
    assert charts[2].table.rows[0][-1] == "6 × 1"


def test_outcomes_fill_each_bar(run):
    for chart in outcome_charts(run.scores):
        for name, rows in run.scores.items():
            pieces = [value for value in drawn(chart) if value["checkpoint"] == name]
            shares = {piece["outcome"]: piece["share"] for piece in pieces}
            known = {words(outcome): rows[chart.title][outcome] for outcome in OUTCOMES}
            assert shares == {outcome: share for outcome, share in known.items() if share}
            assert pieces[0]["start"] == 0 and pieces[-1]["end"] == pytest.approx(1, abs=1e-3)
            assert all(one["end"] == two["start"] for one, two in pairwise(pieces))


def test_types_of_two_checkpoints(run):
    chart = type_chart(run.episodes, "distilled", "grpo")
    assert {each["name"]: each["value"] for each in chart.spec["params"]} == {"before": "distilled", "after": "grpo"}
    values = {(value["checkpoint"], value["row"]): value["accuracy"] for value in drawn(chart)}
    played = [episode for episode in episodes("grpo") if episode.type == "best-customers"]
    right = sum(episode.outcome == "correct" for episode in played) / len(played)
    assert values["grpo", "selection · best-customers"] == pytest.approx(right, abs=1e-4)
    assert len(values) == 4 * 7


def test_learning_compares_looks_and_training():
    chart = learning_chart(LOOKS, steps(4))
    looks = [value for value in drawn(chart) if "low" in value]
    assert [(value["x"], value["value"], value["low"], value["high"]) for value in looks] == [
        (row["step"], row["accuracy"], row["low"], row["high"]) for row in LOOKS
    ]
    trained = [value["value"] for value in drawn(chart) if value["series"] == "training questions"]
    assert trained == [row["accuracy"] for row in steps(4)]
    assert "37.5 % [20.0, 55.0] at step 4" in chart.words and "76.0 % in step 4" in chart.words
    assert chart.table.rows[1] == ("4", "37.5", "[20.0, 55.0]", "6 × 2")


@pytest.mark.parametrize(("looks", "rows"), [(LOOKS[:1], []), ([], steps(1))])
def test_learning_that_has_just_begun(looks, rows):
    assert drawn(learning_chart(looks, rows))


def test_a_negative_reward_is_not_cut_off():
    chart = learning_chart(LOOKS, [steps(1)[0] | {"reward": -0.15}])
    assert "domain" not in chart.spec["layer"][0]["encoding"]["y"]["scale"]
    assert learning_chart(LOOKS, steps(1)).spec["layer"][0]["encoding"]["y"]["scale"]["domain"] == [0, 1]


def test_indicators_of_each_step():
    charts = {chart.name: chart for chart in step_charts(steps(4))}
    assert [value["value"] for value in drawn(charts["signal"]) if value["series"] == "informative"] == [4, 5, 3, 4]
    assert [value["x"] for value in drawn(charts["kl"])] == [1, 3, 4]  # none in the step without signal
    assert charts["kl"].table.rows[1][1] == "–"
    assert charts["lengths"].series == ["right ones", "other ones", "all"]


def test_indicators_that_no_step_has():
    (kl,) = [chart for chart in step_charts([steps(2)[1]]) if chart.name == "kl"]
    assert "no step with signal yet" in kl.words


def test_loss():
    chart = loss_chart("distill-loss", "Loss", losses(64))
    assert [value["value"] for value in drawn(chart)] == [row["loss"] for row in losses(64)]
    assert "1 at update 1" in chart.words and "0.01562 at update 64" in chart.words


def test_mutation_scores():
    chart = mutation_chart(AUDIT, SCOPE_TEXTS)
    assert [round(value["score"], 4) for value in drawn(chart)] == [0.5, 0.7, 0.9889]  # of 90 that are not equivalent
    assert chart.table.rows[-1] == ("all four", "89", "98.89")


def test_colours_are_those_of_the_page(run):
    """A chart with a colour of its own would stay light in a dark page."""
    charts = [*accuracy_charts(run.scores), *outcome_charts(run.scores), type_chart(run.episodes, "released", "grpo"),
              *step_charts(steps(4)), learning_chart(LOOKS, steps(4)), mutation_chart(AUDIT, SCOPE_TEXTS)]  # fmt: skip
    used = {text for chart in charts for text in texts(chart.spec) if text.startswith(("#", "var(", "rgb"))}
    assert len(used) > 6
    for colour in used:
        name = colour.removeprefix("var(").removesuffix(")")
        assert f"{name}: light-dark(" in style_sheet()


def texts(value):
    if isinstance(value, str):
        yield value
    for part in value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ():
        yield from texts(part)
