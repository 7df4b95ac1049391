"""Overlays: comments and untouched lines stay, unknown keys are refused before anything is written."""

import cpu_first  # noqa: F401
import pytest

# isort: split
from source_tree import ROOT

from sqldojo import profiles
from sqldojo.agent.episode import AnswerParams
from sqldojo.chains import Chain
from sqldojo.evaluation.scoring import EvaluateParams
from sqldojo.params import ParamsError, load, load_entry, load_list, read_document
from sqldojo.proposing import ProposeParams
from sqldojo.questions.instantiate import QuestionParams
from sqldojo.questions.review import ReviewParams
from sqldojo.repair_params import RepairParams
from sqldojo.training.distill import DistillParams, RedistillParams
from sqldojo.training.grpo import GrpoParams
from sqldojo.training.model_sources import check_source

SECTIONS = {
    "agent": AnswerParams, "distill": DistillParams, "evaluate": EvaluateParams, "grpo": GrpoParams,
    "propose": ProposeParams, "questions": QuestionParams, "redistill": RedistillParams, "repair": RepairParams,
    "review": ReviewParams,
}  # fmt: skip

PARAMS = """\
# the seed of everything
seed: 17

distill:
  updates: 60  # about ten minutes
  learning_rate: 5e-4
  sizes:
  - 1
  - 2
"""


@pytest.fixture
def params(tmp_path):
    path = tmp_path / "params.yaml"
    path.write_text(PARAMS)
    return path


def overlay(params, text):
    profile = params.parent / "profiles" / "smoke.yaml"
    profile.parent.mkdir(exist_ok=True)
    profile.write_text(text)
    return profiles.apply(params, profile)


def test_only_the_changed_values_change(params):
    changed = overlay(params, "distill:\n  updates: 2\n  sizes: [3]\n  learning_rate: 0.0005\n")
    assert changed == ["distill.updates", "distill.sizes"]
    assert params.read_text().splitlines()[:6] == PARAMS.replace("updates: 60", "updates: 2 ").splitlines()[:6]
    assert read_document(params) == {"seed": 17, "distill": {"updates": 2, "learning_rate": 5e-4, "sizes": [3]}}


def test_second_time_changes_nothing(params):
    overlay(params, "seed: 3\n")
    once = params.read_bytes()
    assert overlay(params, "seed: 3\n") == []
    assert params.read_bytes() == once


def test_a_profile_that_changes_nothing_keeps_every_byte(params):
    overlay(params, "seed: 17\n")
    assert params.read_text() == PARAMS


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("distill: {update: 2}", r"smoke\.yaml: distill\.update: not in params\.yaml; did you mean `updates`\?"),
        ("grpo: {x: 2}", r"smoke\.yaml: grpo: not in params\.yaml; remove it"),
        ("distill: 3", r"smoke\.yaml: distill: a section must stay a section"),
        ("seed: {a: 1}", r"smoke\.yaml: seed: a section must stay a section"),
    ],
)
def test_refused_overlays_leave_the_file_alone(params, text, message):
    with pytest.raises(ParamsError, match=message):
        overlay(params, text)
    assert params.read_text() == PARAMS


def test_unknown_profile_lists_the_known(params):
    overlay(params, "seed: 17\n")
    with pytest.raises(ParamsError, match=r"tiny\.yaml: no such profile; known: smoke"):
        profiles.apply(params, params.parent / "profiles" / "tiny.yaml")


def test_names_of_the_users_choice_may_be_added(params):
    params.write_text(PARAMS + "sources:\n  a: wheel:a\nquestions:\n  held_out_questions: {}\n")
    changed = overlay(params, "sources: {b: 'hf:org/b'}\nquestions: {held_out_questions: {check: 18}}\n")
    assert changed == ["sources.b", "questions.held_out_questions"]
    document = read_document(params)
    assert document["sources"] == {"a": "wheel:a", "b": "hf:org/b"}
    assert document["questions"] == {"held_out_questions": {"check": 18}}
    assert overlay(params, "questions: {held_out_questions: {}}\n") == ["questions.held_out_questions"]
    assert read_document(params)["questions"] == {"held_out_questions": {}}


@pytest.mark.parametrize("name", [path.stem for path in (ROOT / "profiles").glob("*.yaml")])
def test_every_profile_fits_the_params(name, tmp_path):
    """Laid over the real file it is read by every stage's own section."""
    path = tmp_path / "params.yaml"
    path.write_text((ROOT / "params.yaml").read_text(encoding="utf-8"), encoding="utf-8")
    assert bool(profiles.apply(path, ROOT / f"profiles/{name}.yaml")) == (name != "quick")
    for model in load_list(path, "models", str):
        check_source(load_entry(path, "sources", model))
    for section, schema in SECTIONS.items():
        given = {"seed": 1} if section in ("distill", "grpo", "redistill") else {}
        load(path, section, schema, **given)


FAMILIES = ("qwen3-1.7b", "qwen3.5-2b", "llama-3.2-1b", "lfm2-1.2b", "gemma-3-1b", "smollm3-3b")


@pytest.mark.parametrize("name", FAMILIES)
def test_a_profile_of_a_model_teaches_that_model_alone(name, tmp_path):
    """By a name of its own, from the hub, in both graphs; and it says that nobody has measured it."""
    profile = ROOT / f"profiles/{name}.yaml"
    path = tmp_path / "params.yaml"
    path.write_text((ROOT / "params.yaml").read_text(encoding="utf-8"), encoding="utf-8")
    profiles.apply(path, profile)
    document = read_document(path)
    (model,) = document["models"]
    assert model == name.replace(".", "_") == document["repair"]["model"] == Chain(model, 17).model
    assert document["sources"][model].startswith("hf:")
    head = "".join(line for line in profile.read_text(encoding="utf-8").splitlines() if line.startswith("#"))
    assert "Nothing of it has been measured" in head and "for a Mac with" in head
    for section in ("distill", "redistill", "grpo"):
        assert document[section]["micro_batch_size"] <= 8


@pytest.mark.parametrize("name", sorted({path.stem for path in (ROOT / "profiles").glob("*.yaml")} - {"quick"}))
def test_the_quick_profile_takes_every_other_one_off(name, tmp_path):
    path = tmp_path / "params.yaml"
    path.write_text((ROOT / "params.yaml").read_text(encoding="utf-8"), encoding="utf-8")
    default = read_document(path)
    profiles.apply(path, ROOT / f"profiles/{name}.yaml")
    profiles.apply(path, ROOT / "profiles/quick.yaml")
    again = read_document(path)
    assert {**again, "sources": default["sources"]} == default
    assert default["sources"].items() <= again["sources"].items()  # those that a profile added stay
