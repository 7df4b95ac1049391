"""The page of repair: whole, safe, offline, with its charts and transcripts, and without anything hidden."""

import html
import json
import re
from dataclasses import replace
from itertools import pairwise

import altair
import pytest
from example_chain import HOSTILE
from example_repair import CHECKPOINTS, KINDS, LIMITS, REFERENCE, results, task
from page_elements import Elements
from sqlite_files import write_database

from sqldojo.agent.episode import AgentParams
from sqldojo.agent.tool_format import plain_format, render_plain
from sqldojo.databases.execution import Limits
from sqldojo.evaluation.page.embedding import scripts, style_sheet
from sqldojo.evaluation.page.repair_charts import ending_chart, kind_chart, look_chart, solved_charts, step_chart
from sqldojo.evaluation.page.repair_page import build_repair_page
from sqldojo.evaluation.repair_report import repair_markdown
from sqldojo.evaluation.repair_results import RepairResults, RepairRun, pair_of, repair_metrics
from sqldojo.records import CORRECT, RUN_SQL, SUBMIT_SQL, WRONG_SQL, ToolCall
from sqldojo.repair.attempt import repair_attempt_maker
from sqldojo.repair.judging import Judge
from sqldojo.repair.task import INFRASTRUCTURE, REPAIR_OUTCOMES, Hidden
from sqldojo.repair.tools import REPAIR_TOOLS


@pytest.fixture(scope="module")
def made():
    return results()


@pytest.fixture(scope="module")
def metrics(made):
    return repair_metrics(made)


@pytest.fixture(scope="module")
def page(made, metrics):
    return build_repair_page(made, metrics)


def words(text):
    return " ".join(" ".join(Elements(text).words).split())


def test_equal_results_give_equal_bytes(made, page):
    again = results()
    assert build_repair_page(again, repair_metrics(again)) == page


def test_the_headline(metrics, page):
    row, text = metrics["scores"]["r1"]["all"], words(page)
    bounds = f"[{100 * row['solve_rate_low']:.1f}, {100 * row['solve_rate_high']:.1f}]"
    assert "Selected: r1" in text and f"all databases {100 * row['solve_rate']:.1f} % {bounds}" in text
    assert "selected on validation (6 tasks), not on the evaluation tasks (12)" in text
    assert f"{row['solved']} of 12 tasks solved; released 0 of 12" in text


def test_the_markup_is_whole(page):
    found = Elements(page)
    assert found.open == []
    ids = [attributes["id"] for _, attributes in found.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    assert {"overview", "types", "transcripts", "pair", "chart-types"} <= set(ids), "the scripts look for them"
    names = [tag for tag, _ in found.tags]
    assert names.count("h1") == 1 and names.count("table") == names.count("caption")
    links = {attributes["href"][1:] for tag, attributes in found.tags if tag == "a"}
    assert {link for link in links if "?" not in link} <= set(ids)
    levels = [int(tag[1]) for tag in names if re.fullmatch(r"h[1-6]", tag)]
    assert all(after <= before + 1 for before, after in pairwise(levels))


def test_nothing_is_loaded_from_anywhere(page):
    found = Elements(page)
    assert not [tag for tag, attributes in found.tags if "src" in attributes or tag in ("iframe", "img", "object")]
    assert [attributes["href"] for tag, attributes in found.tags if tag == "link"] == ["data:,"]
    rest = page.replace(scripts()[0], "")  # Vega names schemas and licences by their address
    assert "http:" not in rest and "https:" not in rest


def drawn(chart):
    """The rows that a chart draws, after a check that Vega-Lite's schema accepts it."""
    altair.Chart.from_dict(dict(chart.spec), validate=True)
    return chart.spec["data"]["values"]


def test_charts_are_on_the_page(page):
    ids = {attributes["id"] for tag, attributes in Elements(page).tags if tag == "figure"}
    assert ids == {"chart-solved", "chart-solved-0", "chart-solved-1", "chart-outcomes", "chart-steps", "chart-types",
                   "chart-loss-0", "chart-looks-0"}  # fmt: skip


def test_solved_tasks_with_their_intervals(metrics):
    charts = solved_charts(metrics)
    assert [chart.title for chart in charts] == ["all databases", "bookshop", "streaming"]
    values = {value["checkpoint"]: value for value in drawn(charts[0])}
    assert list(values) == [*CHECKPOINTS, REFERENCE]
    row = metrics["scores"]["r2"]["all"]
    assert [values["r2"][key] for key in ("accuracy", "accuracy_low", "accuracy_high")] == [
        row["solve_rate"], row["solve_rate_low"], row["solve_rate_high"],
    ]  # fmt: skip
    assert charts[1].table.rows[0][1:3] == ("0", "6")


def test_steps_go_up_by_gains_and_down_by_losses(metrics):
    values = drawn(step_chart(metrics))
    for step in metrics["history"]["steps"]:
        bars = {value["kind"]: value for value in values if value["step"] == f"{step['before']} → {step['after']}"}
        assert sum(bar["tasks"] for kind, bar in bars.items() if kind != "lost") == step["gained"]
        assert bars["lost"]["low"] == -step["lost"] if step["lost"] else "lost" not in bars
        assert bars["regained"]["tasks"] == step["regained"] if step["regained"] else "regained" not in bars


def test_every_attempt_is_in_the_bar_of_its_run(metrics):
    chart = ending_chart(metrics)
    pieces = [value for value in drawn(chart) if value["checkpoint"] == REFERENCE]
    assert pieces[-1]["outcome"] == "provider failure" and pieces[-1]["end"] == pytest.approx(1, abs=1e-3)
    assert chart.table.rows[-1][1:] == tuple(
        str(metrics["scores"][REFERENCE]["all"]["outcomes"][outcome]) for outcome in REPAIR_OUTCOMES
    )


def test_kinds_leave_provider_failures_out(made):
    values = {(value["checkpoint"], value["row"]): value for value in drawn(kind_chart(made, "released", "r1"))}
    failed = next(each for each in made.references[0].episodes if each.outcome == INFRASTRUCTURE)
    assert values[REFERENCE, f"streaming · {failed.type}"]["questions"] == 1
    assert values["r1", f"streaming · {failed.type}"]["questions"] == 2
    assert {kind for _, kind in values} == {f"{db} · {kind}" for db in ("bookshop", "streaming") for kind in KINDS}


def test_looks(made):
    chart = look_chart("looks", made.looks["sft_a"])
    assert [value["value"] for value in drawn(chart) if "value" in value][:2] == [10 / 60, 20 / 60]
    assert chart.table.rows[1] == ("20", "33.3", "[0.0, 90.0]", "6 × 1")


def test_colours_are_those_of_the_page(metrics, page):
    """A chart or an outcome with a colour of its own would stay light in a dark page."""
    used = {name for chart in (step_chart(metrics), ending_chart(metrics), *solved_charts(metrics))
            for name in re.findall(r"var\((--[a-z0-9-]+)\)", json.dumps(chart.spec))}  # fmt: skip
    used |= {f"--{outcome.replace('_', '-')}" for outcome in REPAIR_OUTCOMES}
    assert len(used) > 8
    for name in used:
        assert f"{name}: light-dark(" in style_sheet()
    for outcome in REPAIR_OUTCOMES:
        assert f".swatch.{outcome.replace('_', '-')} " in style_sheet()
        assert f".outcome.{outcome.replace('_', '-')} " in style_sheet()


def test_pairs(metrics, page):
    pair, text = pair_of(metrics, "released", "r1"), words(page)
    assert f"McNemar's exact p {pair['mcnemar_p']:.3f}. The 12 tasks are of 6 types" in text
    assert f"Upper bound: {pair['union']} of 12 are solved by one or the other." in text
    options = [
        attributes["value"] for tag, attributes in Elements(page).tags if tag == "option" and "value" in attributes
    ]
    assert len([value for value in options if "/" in value]) == 15


def test_gained_and_lost_tasks_link_to_their_transcripts(made, page):
    solved = [{each.question for each in run.episodes if each.outcome == CORRECT} for run in made.checkpoints[2:4]]
    links = [attributes["href"] for tag, attributes in Elements(page).tags if tag == "a"]
    found = [link for link in links if link.startswith("#transcripts?left=sft_b&right=r1&")]
    assert solved[0] ^ solved[1]
    assert sorted(link.partition("question=")[2] for link in found) == sorted(solved[0] ^ solved[1])


def test_transcripts_are_those_of_the_evaluation_tasks(made, page):
    (data,) = (data for attributes, data in Elements(page).data if attributes.get("id") == "episodes")
    assert list(data["episodes"]) == [*CHECKPOINTS, REFERENCE]
    assert all(len(played) == 12 for played in data["episodes"].values())
    asked = data["questions"]["streaming-1"]
    issue = next(each.issue for each in made.tasks if each.id == "streaming-1")
    assert asked == {"text": issue, "type": "join-fan-out", "split": "streaming", "reference": None}
    messages = data["episodes"]["r1"]["streaming-1/0"]["messages"]
    assert [message[0] for message in messages] == ["user", "run_sql", "tool", "submit_sql"]
    assert data["outcomes"][CORRECT] == "solved"


def test_what_a_model_wrote_stays_text(made):
    hostile = [replace(each, id=HOSTILE, issue=HOSTILE, kind=HOSTILE) if each.id == "bookshop-0" else each
               for each in made.tasks]  # fmt: skip
    runs = [replace(run, episodes=[replace(each, question=HOSTILE, reason=HOSTILE) if each.question == "bookshop-0"
                                   else each for each in run.episodes]) for run in made.checkpoints]  # fmt: skip
    bad = replace(made, tasks=hostile, checkpoints=runs, references=(), yields={HOSTILE: {HOSTILE: 1}})
    text = build_repair_page(bad, repair_metrics(bad))
    found = Elements(text)
    assert found.open == []
    assert sum(tag == "script" and "type" not in attributes for tag, attributes in found.tags) == 2
    assert not [attributes for tag, attributes in found.tags if tag == "img" or "onerror" in attributes]
    assert html.escape(HOSTILE, quote=False).split("'")[0] in text


def test_a_stage_that_had_nothing_to_learn(made, metrics):
    """Its tables have one row without numbers, since a table needs a row."""
    nothing = replace(made, curves={"r1": [{"update": 0, "loss": None}]}, looks={"r1": [{"step": 0, "accuracy": None}]})
    assert "r1 It had nothing to learn from." in words(build_repair_page(nothing, metrics))


def test_a_first_checkpoint_alone(made):
    alone = RepairResults("tiny", 17, made.tasks, made.checkpoints[:1])
    text = words(build_repair_page(alone, repair_metrics(alone)))
    assert "Last: released" in text and text.count("Not yet.") >= 4


CANARY = "canary_7f3a"


def test_nothing_hidden_is_in_a_report(tmp_path):
    """Real attempts at a task whose reference and tests hold a canary, ended in all the ways that meet the judge."""
    script = "CREATE TABLE book (title TEXT, price INTEGER); INSERT INTO book VALUES ('Ulysses', 5), ('Emma', 3)"
    write_database(tmp_path / "bookshop/bookshop_template.sqlite", script)
    asked = [replace(task(f"task-{number}"), issue_sql=("SELECT title FROM book",)) for number in range(4)]
    test = (f"def test_case(pred_sqls, sol_sqls, db_path, conn, conditions):\n"
            f"    assert ex_base(pred_sqls, sol_sqls, db_path, conn, conditions) == 1, '{CANARY}'\n")  # fmt: skip
    reference = f"SELECT title AS {CANARY} FROM book WHERE price < 4 /* {CANARY} */"
    hidden = {each.id: Hidden(each.id, (reference,), (test,)) for each in asked}
    limits = AgentParams(turns=3, tokens_per_turn=100, tokens_per_episode=1000, preview_rows=3)
    make = repair_attempt_maker(
        tmp_path, hidden, Judge(tmp_path, Limits()), plain_format(REPAIR_TOOLS), limits, Limits()
    )
    answers = ("SELECT title FROM book WHERE price < 4", "SELECT title FROM book", "SELECT nothing FROM book", "SELEC")
    episodes = []
    for each, answer in zip(asked, answers, strict=True):
        attempt = make(each, 0)
        attempt.reply(render_plain(ToolCall(RUN_SQL, "SELECT * FROM book")))
        attempt.reply(render_plain(ToolCall(SUBMIT_SQL, answer)))
        episodes.append(attempt.episode())
    assert [each.outcome for each in episodes] == [CORRECT, WRONG_SQL, WRONG_SQL, WRONG_SQL]
    found = RepairResults("tiny", 17, asked, [RepairRun("released", episodes, LIMITS)])
    metrics = repair_metrics(found)
    page = build_repair_page(found, metrics)
    assert episodes[1].reason in page
    for text in (page, repair_markdown(metrics), json.dumps(metrics)):
        assert CANARY not in text
