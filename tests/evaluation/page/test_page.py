"""The page as a text: complete or not, the same for the same files, and safe whatever a model wrote."""

import html
import json
import re
from dataclasses import replace
from itertools import pairwise

import pytest
from example_chain import CHAIN, HOSTILE, LOOKS, SYSTEM, episodes, losses, questions, write_chain
from page_elements import Elements

from sqldojo.evaluation.page.embedding import content_policy, embedded_json, scripts
from sqldojo.evaluation.page.page import build_page
from sqldojo.evaluation.page.run_files import Run, read_run
from sqldojo.evaluation.page.transcripts import packed
from sqldojo.evaluation.paired import changes
from sqldojo.files import write_json
from sqldojo.records import CORRECT, Message


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    folder = tmp_path_factory.mktemp("chain")
    write_chain(folder)
    return folder


@pytest.fixture(scope="module")
def run(root):
    return read_run(root, CHAIN)


@pytest.fixture(scope="module")
def page(run):
    return build_page(run)


def words(text):
    return " ".join(" ".join(Elements(text).words).split())


def test_equal_files_give_equal_bytes(root, page):
    assert build_page(read_run(root, CHAIN)) == page


def test_the_headline_says_what_is_kept_and_how_good_it_is(run, page):
    text = words(page)
    assert run.kept == "grpo" and "Kept: grpo" in text
    row = run.scores["grpo"]["check"]
    shown = f"[{100 * row['accuracy_low']:.1f}, {100 * row['accuracy_high']:.1f}]"
    change = changes(run.episodes["released"], run.episodes["grpo"])["check"]
    assert f"check {100 * row['accuracy']:.1f} % {shown} +{100 * change['change']:.1f} [" in text
    assert "6 × 1 attempts" in text


def test_every_score_stands_with_interval_and_counts(run, page):
    text = words(page)
    for rows in run.scores.values():
        for row in rows.values():
            bounds = f"[{100 * row['accuracy_low']:.1f}, {100 * row['accuracy_high']:.1f}]"
            counts = f"{row['questions']} × {row['attempts'] // row['questions']}"
            assert f"{100 * row['accuracy']:.1f} {bounds} {counts}" in text


def test_the_markup_is_whole_and_has_landmarks(page):
    found = Elements(page)
    assert found.open == []
    ids = [attributes["id"] for _, attributes in found.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    names = [tag for tag, _ in found.tags]
    assert names.count("main") == names.count("nav") == names.count("h1") == 1
    links = {attributes["href"][1:] for tag, attributes in found.tags if tag == "a"}
    assert {link for link in links if "?" not in link} <= set(ids)
    for tag, attributes in found.tags:
        if tag == "th":
            assert attributes["scope"] in ("row", "col")
        if attributes.get("class") == "drawing":
            assert attributes["role"] == "img" and len(attributes["aria-label"]) > 20
        if tag == "section":
            assert attributes["aria-labelledby"] in ids
    assert names.count("table") == names.count("caption")


def test_headings_do_not_skip_a_level(page):
    levels = [int(tag[1]) for tag, _ in Elements(page).tags if re.fullmatch(r"h[1-6]", tag)]
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


def test_vega_is_there_once_and_nothing_is_loaded(page):
    vega, own = scripts()
    assert page.count(vega) == page.count(own) == 1
    found = Elements(page)
    assert not [tag for tag, attributes in found.tags if "src" in attributes or tag in ("iframe", "img", "object")]
    assert [attributes["href"] for tag, attributes in found.tags if tag == "link"] == ["data:,"]
    style = page[page.index("<style>") : page.index("</style>")]
    assert "url(" not in style and "@import" not in style


def test_only_the_named_scripts_may_run(page):
    found = Elements(page)
    running = tuple(text for attributes, text in found.scripts if attributes.get("type") != "application/json")
    assert running == scripts()
    policy = next(each["content"] for _, each in found.tags if each.get("http-equiv") == "Content-Security-Policy")
    assert policy == content_policy(running)
    assert "default-src 'none'" in policy and "unsafe-eval" not in policy
    assert "'unsafe-inline'" not in policy.split("script-src")[1].split(";")[0]


def test_scripts_write_no_markup():
    own = scripts()[1]
    for name in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function"):
        assert name not in own


@pytest.mark.parametrize("text", [HOSTILE, "</SCRIPT >", "<!--<script>", "\u2029", "\ud800 alone", "&lt;", "\0"])
def test_embedded_text_comes_back_and_never_ends_the_script(text):
    found = embedded_json({"said": [text]})
    assert json.loads(found) == {"said": [text]}
    assert not re.search("[<>&\u2028\u2029\ud800]", found)


def test_hostile_text_stays_text(run):
    """In transcripts, in questions and types, in file names: wherever something foreign can come in."""
    played = {
        name: [replace(episode, type=HOSTILE, question=HOSTILE, id=f"{HOSTILE}/{episode.id}",
                       messages=(Message("user", HOSTILE), *episode.messages[2:])) for episode in members[:2]]
        for name, members in run.episodes.items()
    }  # fmt: skip
    text = build_page(replace(run, episodes=played, inputs={HOSTILE: "0"}, params={HOSTILE: {HOSTILE: HOSTILE}},
                              about={"grpo": {"stopped": HOSTILE}}))  # fmt: skip
    found = Elements(text)
    assert found.open == []
    assert sum(tag == "script" and "type" not in attributes for tag, attributes in found.tags) == 2
    assert not [attributes for tag, attributes in found.tags if tag == "img" or "onerror" in attributes]
    assert html.escape(HOSTILE, quote=False).split("'")[0] in text


def test_a_half_surrogate_pair_does_not_stop_the_page(run):
    broken = replace(run.episodes["grpo"][0], messages=(Message("user", "lone \ud800"),), reason="\udfff")
    text = build_page(replace(run, episodes={"grpo": [broken]}, questions={}))
    assert "lone" in text and text.encode("utf-8")


def test_a_run_without_anything_says_so_everywhere():
    text = words(build_page(Run(CHAIN)))
    assert "Nothing is scored yet" in text
    assert text.count("Not yet.") == 10


def test_a_run_in_progress(root, run):
    part = replace(run, scores={"released": run.scores["released"]}, episodes={"released": run.episodes["released"]},
                   curves={"distill": losses(5)}, growing=frozenset({"distill"}), metrics={}, about={})  # fmt: skip
    text = words(build_page(part))
    assert "Scored so far: released" in text and "Not yet scored: distilled, grpo, redistilled." in text
    assert "distill is at work" in text and "Distillation growing" in text
    assert "GRPO has not begun." in text and "Changes need two checkpoints" in text
    looking = words(build_page(replace(run, curves={"grpo_looks": LOOKS[:1]}, growing=frozenset({"grpo_looks"}))))
    assert "grpo is at work" in looking and "What is shown of grpo and redistilled is older than this run." in looking


def test_checkpoints_that_played_other_questions_are_not_compared(run):
    """While the graph is rerun, what is there may be of two versions of the questions."""
    mixed = replace(run, episodes=dict(run.episodes) | {"redistilled": episodes("redistilled", per_type=2)})
    text = words(build_page(mixed))
    assert "distilled → grpo" in text and "grpo → redistilled" not in text


def test_gains_and_losses_link_to_their_transcripts(run, page):
    first = {episode.question: episode.outcome for episode in run.episodes["distilled"]}
    gained = sorted(episode.question for episode in run.episodes["grpo"]
                    if episode.outcome == CORRECT and first[episode.question] != CORRECT)  # fmt: skip
    links = [attributes["href"] for tag, attributes in Elements(page).tags if tag == "a"]
    found = [link for link in links if link.startswith("#transcripts?left=distilled&right=grpo&")]
    assert gained and sorted(link.partition("question=")[2] for link in found) == gained


def test_transcripts_are_packed(run):
    found = packed(run.episodes, run.questions)
    assert found["systems"] == [SYSTEM]
    asked = questions()[0]
    assert found["questions"][asked.id] == {
        "text": asked.text, "type": asked.type, "split": asked.split, "reference": asked.reference,
    }  # fmt: skip
    assert next(iter(found["episodes"]["grpo"])).startswith("cheap-products-0")  # reserved ones first
    episode = found["episodes"]["redistilled"]["cheap-products-0/0"]
    assert [message[0] for message in episode["messages"]] == ["run_sql", "tool", "submit_sql"]
    assert len(episode["messages"][0]) == 2 and episode["messages"][2][2].startswith("I am sure.\n<submit_sql>")
    assert episode["sampled"] == 2 and "tokens" not in episode
    other = {key: replace(question, text="Another one?") for key, question in run.questions.items()}
    assert packed(run.episodes, other)["questions"][asked.id]["reference"] is None


def test_why_it_was_kept(root, run):
    keep = {"kept_redistilled": 0, "grpo": 0.5, "redistilled": 0.5}
    text = words(build_page(replace(run, metrics=dict(run.metrics) | {"keep": keep})))
    assert "On selection it has 50.0 %, redistilled 50.0 %; of equals the one that was trained less is kept." in text


def test_what_models_behind_an_api_cost(run):
    row = {"calls": 1200, "input_tokens": 34567, "output_tokens": 890, "usd": 1.5, "kept": 3, "usd_per_kept": 0.5}
    teach = {"kept": 3, "cost": {"all": row, "models": {"maker/teacher": row}}}
    text = words(build_page(replace(run, metrics={"teach": teach})))
    assert "US$ 1.50 for 1200 calls" in text and "teach maker/teacher 1,200 34,567 890 1.5000 3 0.5" in text
    assert "No model behind an API was called: US$ 0 ." in words(build_page(run))


def test_provenance_is_of_this_chain_alone(page):
    text = words(page)
    assert "0.02" in text and "guards.kl_weight" in text
    assert "random:tiny" in text and "versions.mlx-lm" in text
    assert "[17, 18]" not in text, "another seed must not change the page of this one"


def test_no_clock_host_or_path(root, page):
    write_json(root / "elsewhere.json", {})
    assert str(root) not in page
    assert not re.search(r"20\d\d-\d\d-\d\d", page.replace(scripts()[0], ""))
