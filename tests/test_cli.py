"""The command line: what each command prints, and that a user's fault is one line and exit code 1."""

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from click.testing import CliRunner
from example_chain import CHAIN, write_chain
from example_chain import episodes as played_by
from sqlite_files import write_table

from sqldojo.cli import main
from sqldojo.files import read_records, write_records, write_text
from sqldojo.records import CORRECT, WRONG_SQL, Episode, Message


def run(*arguments):
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


@pytest.fixture
def databases(tmp_path):
    """Two databases; only the second tells `>` from `>=`."""
    for name, prices in (("first", (1, 3)), ("second", (1, 2, 3))):
        rows = [(price,) for price in prices]
        write_table(tmp_path / f"{name}.sqlite", "CREATE TABLE products (price INTEGER)", rows)
    return tmp_path


REFERENCE = "SELECT price FROM products WHERE price >= 2"


@pytest.mark.parametrize(
    ("submission", "verdict", "database"),
    [
        ("SELECT price FROM products WHERE price > 1", "correct", "second"),
        ("SELECT price FROM products WHERE price > 2", "wrong", "second"),
        ("SELECT cost FROM products", "error", "first"),
        ("DELETE FROM products", "rejected", "first"),
    ],
)
def test_grade_as_json(databases, submission, verdict, database):
    result = run("grade", "--databases", databases, "--reference", REFERENCE, "--submission", submission, "--json")
    assert result.exit_code == 0, result.output
    answer = json.loads(result.stdout)
    assert (answer["verdict"], answer["database"]) == (verdict, database)


def test_grade_for_people(databases):
    result = run("grade", "--databases", databases, "--reference", REFERENCE, "--submission", REFERENCE)
    assert (result.exit_code, result.stdout) == (0, "correct\n")
    result = run("grade", "--databases", databases, "--reference", REFERENCE, "--submission", "SELECT 1")
    assert result.exit_code == 0 and result.stdout.startswith("wrong on first: ")


def test_grade_takes_several_databases_after_one_option(databases):
    files = (databases / "first.sqlite", databases / "second.sqlite")
    result = run("grade", "--databases", *files, "--reference", REFERENCE, "--submission",
                 "SELECT price FROM products WHERE price > 2", "--json")  # fmt: skip
    assert json.loads(result.stdout)["database"] == "second"


def lines(result):
    assert result.exit_code == 0, result.output
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_grade_cases_build_their_own_databases(tmp_path):
    script = "CREATE TABLE t(a INTEGER); INSERT INTO t VALUES (1), (2);"
    asked = {"reference": "SELECT a FROM t", "submission": "SELECT a FROM t WHERE a > 0"}
    cases = [
        {"id": "one", "schema_sql": script, **asked},
        {"id": "two", "databases": [script, script + "INSERT INTO t VALUES (0);"], **asked},
        {"id": "three", "schema_sql": script, **asked, "submission": "DELETE FROM t"},
    ]
    write_text(tmp_path / "cases.json", json.dumps(cases))
    found = lines(run("grade", "--cases", tmp_path / "cases.json", "--json"))
    assert [(line["id"], line["verdict"], line["database"]) for line in found] == [
        ("one", "correct", "database_1"), ("two", "wrong", "database_2"), ("three", "rejected", "database_1")
    ]  # fmt: skip


def test_grade_pairs_over_given_databases(databases):
    rewrites = {"same": "SELECT price FROM products WHERE NOT price < 2", "not": "SELECT price FROM products WHERE 0"}
    pairs = [{"id": name, "reference": REFERENCE, "rewrite": rewrite} for name, rewrite in rewrites.items()]
    write_text(databases / "pairs.json", json.dumps(pairs))
    found = lines(run("grade", "--databases", databases, "--pairs", databases / "pairs.json", "--json"))
    assert [(line["id"], line["verdict"]) for line in found] == [("same", "correct"), ("not", "wrong")]


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("{", "not JSON"),
        ('{"id": "a"}', "expected a list of objects"),
        ('["a"]', "item 1: expected an object"),
        ('[{"id": "a", "reference": "SELECT 1"}]', "item 1: `submission` must be a text"),
        ('[{"id": "a", "reference": "SELECT 1", "submission": "SELECT 1"}]', "item 1 (a): give `schema_sql`"),
        ('[{"id": "a", "reference": "SELECT 1", "submission": "SELECT 1", "schema_sql": "CREATE"}]', "the script"),
        ('[{"id": "a", "reference": "SELECT b", "submission": "SELECT 1", "schema_sql": ""}]', "reference"),
    ],
)
def test_bad_case_files_are_told_with_file_and_item(tmp_path, content, complaint):
    write_text(tmp_path / "cases.json", content)
    result = run("grade", "--cases", tmp_path / "cases.json", "--json")
    assert result.exit_code == 1 and "cases.json" in result.stderr and complaint in result.stderr


@pytest.mark.parametrize("arguments", [(), ("--reference", "SELECT 1"), ("--cases", "FILE", "--reference", "SELECT 1")])
def test_grade_says_which_options_belong_together(databases, arguments):
    write_text(databases / "cases.json", "[]")
    given = [databases / "cases.json" if argument == "FILE" else argument for argument in arguments]
    result = run("grade", *given)
    assert result.exit_code == 1 and "give --databases" in result.stderr


def test_grade_with_a_failing_reference_is_the_users_fault(databases):
    result = run("grade", "--databases", databases, "--reference", "SELECT nothing", "--submission", "SELECT 1")
    assert result.exit_code == 1 and "--reference" in result.stderr and "Traceback" not in result.output


def test_grade_without_databases(tmp_path):
    result = run("grade", "--databases", tmp_path, "--reference", "SELECT 1", "--submission", "SELECT 1")
    assert result.exit_code == 1 and "no *.sqlite file" in result.stderr


@pytest.fixture
def episodes(tmp_path):
    path = tmp_path / "episodes.jsonl"
    records = [
        Episode(f"{type}-1/{attempt}", f"{type}-1", type, split, attempt,
                (Message("user", f"question about {type}"),), outcome, 0.0, "")
        for type, split in (("cheap", "check"), ("city", "reserved"))
        for attempt, outcome in enumerate((CORRECT, WRONG_SQL))
    ]  # fmt: skip
    write_records(path, records)
    return path


def test_show_filters_and_counts(episodes):
    result = run("show", episodes, "--outcome", "wrong_sql", "--split", "reserved")
    assert result.exit_code == 0 and "question about city" in result.stdout and "cheap" not in result.stdout
    assert result.stdout.endswith("1 of 1 matching episodes; the file holds 4\n")
    assert "1 of 2 matching" in run("show", episodes, "--type", "cheap", "--limit", "1").stdout


def test_show_a_broken_file(episodes):
    episodes.write_text("{\n")
    result = run("show", episodes)
    assert result.exit_code == 1 and "line 1" in result.stderr and "Traceback" not in result.output


def test_show_a_file_of_another_format(episodes):
    episodes.write_bytes(b"SQLite format 3\x00\x99\n")
    result = run("show", episodes)
    assert result.exit_code == 1 and "line 1" in result.stderr and "Traceback" not in result.output


def test_show_a_file_of_other_records(episodes):
    episodes.write_text('{"family": "train"}\n')
    assert "unknown key 'family'" in run("show", episodes).stderr


def test_what_the_system_refuses_is_one_line(tmp_path):
    (tmp_path / "params.yaml").mkdir()
    write_text(tmp_path / "profiles/smoke.yaml", "seed: 2\n")
    result = run("profile", "smoke", "--params", tmp_path / "params.yaml", "--folder", tmp_path / "profiles")
    assert result.exit_code == 1 and "params.yaml: Is a directory; mend that" in result.stderr


def test_the_module_runs_as_the_command_does():
    # The sources beside this test, as in a stage's command, and not whatever happens to be installed.
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[1] / "src")}
    command = [sys.executable, "-m", "sqldojo.cli", "--help"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    assert done.stdout.startswith("Usage: sqldojo ")


def test_summary_prints_report_and_seconds(tmp_path):
    report, seconds = tmp_path / "summary.md", tmp_path / "seconds"
    write_text(report, "# Scores\n\n| split | distilled |\n| --- | --- |\n| reserved (30 x 2) | 87.5 [75.0, 95.0] |\n")
    write_text(seconds / "teach", "1.5\n")
    write_text(seconds / "evaluate@released", "60.0\n")
    result = run("summary", "--report", report, "--seconds", seconds)
    assert result.exit_code == 0
    assert "87.5 [75.0, 95.0]" in result.stdout and "evaluate@released" in result.stdout and "61.5" in result.stdout


def test_summary_before_the_first_run(tmp_path):
    result = run("summary", "--report", tmp_path / "summary.md")
    assert result.exit_code == 1 and "make repro" in result.stderr


def test_profile(tmp_path):
    write_text(tmp_path / "params.yaml", "seed: 1  # kept\n")
    write_text(tmp_path / "profiles/smoke.yaml", "seed: 2\n")
    options = ("--params", tmp_path / "params.yaml", "--folder", tmp_path / "profiles")
    assert "1 values changed: seed" in run("profile", "smoke", *options).stdout
    assert (tmp_path / "params.yaml").read_text() == "seed: 2  # kept\n"
    result = run("profile", "tiny", *options)
    assert result.exit_code == 1 and "known: smoke" in result.stderr


def test_family_then_grade_then_audit_on_a_schema_of_ones_own(tmp_path):
    reference, out = 'SELECT buyer FROM "order" WHERE paid < 20', tmp_path / "out"
    (tmp_path / "schema.sql").write_text('CREATE TABLE "order" (id INTEGER PRIMARY KEY, buyer TEXT, paid REAL);')
    (tmp_path / "references.sql").write_text(f'{reference}; SELECT cost FROM "order";')
    command = ["family", tmp_path / "schema.sql", "--references", tmp_path / "references.sql", "--out", out]
    built = run(*command, "--edits", "200", "--candidates", "20")
    assert built.exit_code == 0, built.output
    assert "refused 2: no such column: cost" in built.output and "wrong rewrites of 1 references" in built.output
    for condition, verdict in (("NOT paid >= 20", "correct"), ("paid <= 20", "wrong")):
        submission = f'SELECT buyer FROM "order" WHERE {condition}'
        graded = run("grade", "--databases", out, "--reference", reference, "--submission", submission, "--json")
        assert json.loads(graded.output)["verdict"] == verdict
    audited = run("audit", out, "--references", tmp_path / "references.sql", "--oracle", "20", "--json")
    assert audited.exit_code == 0 and "skipped 2, which the family was built without" in audited.output
    found = json.loads(audited.stdout)
    assert found["references"] == 1 and found["mutants"]["made"] > 5


def test_audit_and_family_name_the_users_fault(tmp_path):
    (tmp_path / "references.sql").write_text("SELECT 1")
    assert "with --references, or neither" in run("audit", tmp_path).output
    missing = run("audit", tmp_path, "--references", tmp_path / "references.sql")
    assert missing.exit_code == 1 and "ordinary_1.sqlite: no such database" in missing.output


def test_bank_from_pairs_prints_what_was_accepted_and_names_the_users_fault(tmp_path):
    towns = ", ".join(f"('Town {number}')" for number in range(9))
    (tmp_path / "towns.sql").write_text(f"CREATE TABLE town (name TEXT); INSERT INTO town VALUES {towns};")
    pair = {"question": "How many towns are there?", "sql": "SELECT COUNT(*) FROM town"}
    (tmp_path / "pairs.jsonl").write_text(json.dumps(pair))
    given = ["bank", "--pairs", tmp_path / "pairs.jsonl"]
    made = run(*given, "--databases", tmp_path / "towns.sql", "--out", tmp_path / "out")
    assert made.exit_code == 0 and "1 question types" in made.output, made.output
    as_json = run(*given, "--databases", tmp_path / "towns.sql", "--out", tmp_path / "out", "--json")
    summary = json.loads(as_json.stdout)
    assert (summary["pairs"], summary["accepted"], summary["rejected"]) == (1, 1, {})
    for arguments, fault in (
        ([*given, "--out", tmp_path / "out"], "give --pairs with --databases, or --database alone"),
        ([*given, "--databases", tmp_path, "--out", tmp_path / "out"], "line 1: the key `db_id` is missing"),
        ([*given, "--databases", tmp_path / "towns.sql", "--out", tmp_path], "is no part of a question bank"),
    ):
        result = run(*arguments)
        assert result.exit_code == 1 and fault in result.output.replace("\n", " "), result.output


def test_regrade_says_which_verdicts_changed(tmp_path):
    archive = tmp_path / "episodes.jsonl"
    archive.write_text("")
    (tmp_path / "questions").mkdir()
    for split in ("train", "reserved", "selection", "check"):
        (tmp_path / "questions" / f"{split}.jsonl").write_text("")
    given = ["regrade", archive, "--questions", tmp_path / "questions", "--databases"]
    missing = run(*given, tmp_path / "nowhere")
    assert missing.exit_code == 1 and "nowhere: no such folder" in missing.output
    found = run(*given, tmp_path)
    assert found.exit_code == 0 and "0 of 0 submissions have another verdict today" in found.output


def test_failing_lists_the_trained_types_that_are_mostly_wrong(tmp_path):
    def attempt(name, split, outcome, number):
        return Episode(f"{name}/{number}", name, name, split, number, (), outcome, 0.0, "")

    write_records(tmp_path / "episodes.jsonl", [
        attempt("easy", "reserved", CORRECT, 0),
        *(attempt("hard", "reserved", outcome, number) for number, outcome in enumerate((CORRECT, *[WRONG_SQL] * 3))),
        attempt("held-out", "selection", WRONG_SQL, 0),
    ])  # fmt: skip
    found = run("failing", tmp_path / "episodes.jsonl", "--out", tmp_path / "failing.json")
    assert found.exit_code == 0 and "1 types with less than 50% of their attempts right" in found.output
    assert json.loads((tmp_path / "failing.json").read_text()) == {"hard": 0.25}


@pytest.mark.parametrize(
    "command",
    [
        ("grade", "--databases", "nowhere.sqlite", "--reference", "SELECT 1", "--submission", "SELECT 1"),
        ("grade", "--cases", "nowhere.json"),
        ("family", "nowhere.sql", "--references", "nowhere.json", "--out", "nowhere"),
        ("audit", "nowhere", "--references", "nowhere.json"),
        ("bank", "--pairs", "nowhere.jsonl", "--databases", "nowhere", "--out", "nowhere"),
        ("bank", "--database", "nowhere.sqlite", "--out", "nowhere"),
        ("regrade", "nowhere.jsonl"),
    ],
)
def test_a_file_that_is_not_there_is_bad_input(command):
    found = run(*command)
    assert found.exit_code == 1 and found.output.startswith("Error: ") and "nowhere" in found.output
    assert len(found.output.splitlines()) == 1


def test_cases_nested_too_deeply_are_bad_input(tmp_path):
    (tmp_path / "deep.json").write_text("[" * 100_000)
    found = run("grade", "--cases", tmp_path / "deep.json")
    assert found.exit_code == 1 and "deep.json: not JSON" in found.output


def test_the_order_of_rows_counts_where_it_is_declared(databases):
    asked = ["--reference", "SELECT price FROM products ORDER BY price"]
    given = ["--submission", "SELECT price FROM products ORDER BY price DESC", "--json"]
    one = ["grade", "--databases", databases, *asked, *given]
    assert [json.loads(run(*one, *flag).stdout)["verdict"] for flag in ([], ["--ordered"])] == ["correct", "wrong"]
    pair = {"id": "p", "reference": asked[1], "rewrite": given[1]}
    items = [pair, {**pair, "ordered": True}, {**pair, "ordered": False}]
    write_text(databases / "pairs.json", json.dumps(items))
    lines = run("grade", "--databases", databases, "--pairs", databases / "pairs.json", "--json").stdout.splitlines()
    assert [json.loads(line)["verdict"] for line in lines] == ["correct", "wrong", "correct"]
    write_text(databases / "odd.json", json.dumps([{**pair, "ordered": "yes"}]))
    odd = run("grade", "--databases", databases, "--pairs", databases / "odd.json")
    assert odd.exit_code == 1 and "`ordered` must be true or false" in odd.output


@pytest.fixture
def chain(tmp_path, monkeypatch):
    """A whole example chain in the current directory; its kept checkpoint is grpo."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DVC_ROOT", str(tmp_path))
    write_chain(tmp_path)
    return tmp_path


def right(checkpoint):
    """How many attempts of the example are right, split by split."""
    return Counter(each.split for each in played_by(checkpoint) if each.outcome == CORRECT)


def test_compare_checkpoints_of_a_chain(chain):
    result = run("compare", "distilled", "kept", "--json")
    assert result.exit_code == 0, result.output
    answer = json.loads(result.stdout)
    assert (answer["before"], answer["after"]) == ("distilled", "kept")
    for split, row in answer["splits"].items():
        counts = [right(name)[split] for name in ("distilled", "grpo")]
        assert [row["before"], row["after"]] == [round(count / row["questions"], 4) for count in counts], split
        assert row["gained"] - row["lost"] == counts[1] - counts[0]
    assert run("compare", CHAIN.episodes("distilled"), "grpo", "--json").stdout == result.stdout.replace(
        '"before": "distilled"', f'"before": "{CHAIN.episodes("distilled")}"').replace('"kept"', '"grpo"')  # fmt: skip


def test_compare_for_people(chain):
    result = run("compare", "grpo", "grpo", "--split", "check", "--limit", 0)
    assert result.exit_code == 0 and "0 of 2 types changed." in result.stdout and "+0.0 [" in result.stdout
    assert "reserved" not in result.stdout


def test_show_a_checkpoint(chain):
    count = right("grpo")["selection"]
    result = run("show", "--checkpoint", "kept", "--split", "selection", "--outcome", "correct", "--limit", 2)
    assert result.exit_code == 0, result.output
    assert result.stdout.endswith(f"2 of {count} matching episodes; the file holds {len(played_by('grpo'))}\n")
    assert result.stdout.count("=> correct") == 2


def test_show_one_checkpoint_beside_another(chain):
    result = run("show", "--checkpoint", "grpo", "--beside", "released", "--type", "best-customers", "--limit", 1)
    assert result.exit_code == 0, result.output
    assert "released" in result.stdout and "I think" not in result.stdout and "window.broken" in result.stdout
    assert result.stdout.endswith(f"1 of 3 matching episodes; the file holds {len(played_by('grpo'))}\n")


def test_show_counts_the_pairs_that_it_shows(chain):
    path = chain / CHAIN.episodes("released")
    write_records(path, [each for each in read_records(path, Episode) if each.question == "best-customers-1"])
    result = run("show", "--checkpoint", "grpo", "--beside", "released", "--type", "best-customers")
    assert result.exit_code == 0 and "1 of 3 matching episodes" in result.stdout


def test_report_writes_the_page(chain):
    result = run("report")
    assert (result.exit_code, result.stdout) == (0, f"{CHAIN.name}.html: open it in a browser\n")
    first = (chain / f"{CHAIN.name}.html").read_bytes()
    assert not CHAIN.page.exists()  # an output of DVC, which only its stage writes
    assert b"Kept: <em>grpo</em>" in first
    assert run("report", "--out", "elsewhere/page.html").exit_code == 0
    assert (chain / "elsewhere/page.html").read_bytes() == first


@pytest.mark.parametrize(
    ("arguments", "params", "words"),
    [
        (("compare", "nope", "grpo"), None, "nope: no such file, nor one of the checkpoints released, "),
        (("compare", "grpo", "kept", "--split", "test"), None, "no episodes of the split test; it holds check"),
        (("show", "--checkpoint", "grpo", "--seed", 18), None, "tiny/18/grpo.jsonl: grpo has not played yet; run `dvc"),
        (("show",), None, "give a file of EPISODES, or --checkpoint"),
        (("show", "--beside", "grpo"), None, "give a file of EPISODES, or --checkpoint"),
        (("report", "--model", "a/b"), None, "--model a/b: not among params.yaml: models (tiny)"),
        (("watch", "--seed", 3), None, "--seed 3: not among params.yaml: seeds (17, 18)"),
        (("report",), "models: []\nseeds: [17]\n", "params.yaml: models: expected a list of at least one"),
        (("report",), "models: tiny\nseeds: [17]\n", "params.yaml: models: expected a list"),
        (("report",), "models: [a/b]\nseeds: [17]\n", "params.yaml: models: 'a/b' names folders"),
        (("watch",), "models: [tiny]\nseeds: [abc]\n", "params.yaml: seeds[0]: expected a whole number"),
        (("watch",), "models: [tiny]\n", "params.yaml: section `seeds` is missing"),
    ],
)
def test_what_is_wrong_with_a_chain_is_told_in_one_line(chain, arguments, params, words):
    if params is not None:
        write_text(chain / "params.yaml", params)
    result = run(*arguments)
    assert result.exit_code == 1 and result.stderr.startswith("Error: ") and words in result.stderr, result.output
    assert result.stderr.count("\n") == 1


def test_a_kept_checkpoint_that_is_not_told_is_no_traceback(chain):
    write_text(chain / CHAIN.metrics("keep"), "{}")
    for arguments in (("compare", "distilled", "kept"), ("report",)):
        result = run(*arguments)
        assert result.exit_code == 1 and "keep/tiny/17.json: it holds no number `kept_redistilled`" in result.stderr
