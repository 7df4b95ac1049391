"""What is read of a chain: all that is there, growing curves where no finished one is, and never an error for a gap."""

import pytest
from example_chain import CHAIN, LOOKS, episodes, losses, questions, steps, write_chain

from sqldojo.chains import GRPO, REDISTILLED, Chain
from sqldojo.errors import UserError
from sqldojo.evaluation.page.run_files import Run, attempts_of, input_paths, read_run
from sqldojo.evaluation.tables import write_table
from sqldojo.files import file_sha256, write_json, write_records, write_text


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    folder = tmp_path_factory.mktemp("chain")
    write_chain(folder)
    return folder


def test_a_whole_chain(root):
    run = read_run(root, CHAIN)
    assert list(run.scores) == list(run.episodes) == ["released", "distilled", "grpo", "redistilled"]
    assert run.episodes["grpo"] == episodes("grpo")
    assert list(run.questions.values()) == questions()
    assert run.curves["distill"] == losses(64) and run.curves["grpo_looks"] == LOOKS
    assert run.curves["grpo_steps"] == steps(4)
    assert run.curves["grpo_steps"][1]["kl"] is None
    assert run.metrics["grpo"]["kept_step"] == 4 and run.about["distilled"]["seed"] == 17
    assert not run.growing and run.begun


def test_every_input_is_declared_and_told_by_its_hash(root):
    run = read_run(root, CHAIN)
    assert set(run.inputs) < {path.as_posix() for path in input_paths(CHAIN)}
    assert list(run.inputs) == sorted(run.inputs) and len(run.inputs) > 20
    name = CHAIN.episodes("grpo").as_posix()
    assert run.inputs[name] == file_sha256(root / name)


@pytest.mark.parametrize("content", ["{", "[]", "{}", '{"kept_redistilled": 1, "grpo": "0.5", "redistilled": 0.5}'])
def test_a_file_that_does_not_say_which_is_kept_is_named(tmp_path, content):
    write_text(tmp_path / CHAIN.metrics("keep"), content)
    for read in (lambda: attempts_of(CHAIN, "kept", tmp_path), lambda: read_run(tmp_path, CHAIN)):
        with pytest.raises(UserError, match=r"^metrics/keep/tiny/17\.json: .*; rebuild it with `dvc repro`"):
            read()


def test_a_file_that_is_replaced_is_read_again(tmp_path):
    path = tmp_path / CHAIN.episodes("grpo")
    for played in (episodes("grpo"), episodes("grpo")[::-1]):  # as many bytes
        write_records(path, played)
        run = read_run(tmp_path, CHAIN)
        assert run.episodes["grpo"] == read_run(tmp_path, CHAIN).episodes["grpo"] == played
        assert run.inputs == {CHAIN.episodes("grpo").as_posix(): file_sha256(path)}


def test_kept(root, tmp_path):
    assert read_run(tmp_path, CHAIN).kept is None
    for flag, name in ((0, GRPO), (1, REDISTILLED)):
        write_json(tmp_path / CHAIN.metrics("keep"), {"kept_redistilled": flag, "grpo": 0.5, "redistilled": 0.5})
        assert read_run(tmp_path, CHAIN).kept == name


def test_nothing_there(tmp_path):
    assert read_run(tmp_path, CHAIN, live=True) == Run(CHAIN)
    assert not Run(CHAIN).begun


def test_what_all_seeds_share_does_not_begin_a_chain(tmp_path):
    write_chain(tmp_path)
    assert read_run(tmp_path, CHAIN).begun
    other = read_run(tmp_path, Chain(CHAIN.model, CHAIN.seed + 1))
    assert other.scores.keys() == {"released"} and not other.begun


def test_growing_curves_take_the_place_of_missing_ones(tmp_path, monkeypatch):
    monkeypatch.setenv("DVC_ROOT", str(tmp_path))
    write_table(tmp_path / CHAIN.curve("distill"), losses(3))
    live = tmp_path / ".scratch/live/tiny/17"
    write_table(live / "distill.csv", losses(9))  # left by a killed run
    write_table(live / "grpo_looks.csv", LOOKS[:1])
    run = read_run(tmp_path, CHAIN, live=True)
    assert run.curves == {"distill": losses(3), "grpo_looks": LOOKS[:1]} and run.growing == {"grpo_looks"}
    assert list(run.inputs) == [CHAIN.curve("distill").as_posix()]
    assert read_run(tmp_path, CHAIN).curves == {"distill": losses(3)}, "a stage does not look there"
    assert read_run(tmp_path, Chain("tiny", 18), live=True).curves == {}


@pytest.mark.parametrize("text", ["", "\n", "update,loss\n"])
def test_a_curve_without_rows_is_not_there(tmp_path, text):
    write_text(tmp_path / CHAIN.curve("distill"), text)
    assert read_run(tmp_path, CHAIN).curves == {}


@pytest.mark.parametrize(
    ("path", "content"),
    [(CHAIN.scores("grpo"), "[1]"), (CHAIN.scores("grpo"), "{"), (CHAIN.curve("distill"), "a,b\n1,2\n1,2,3\n"),
     (CHAIN.episodes("grpo"), "{}\n"), (CHAIN.scores("grpo"), '{"check": {"accuracy": 0.5}}'),
     (CHAIN.scores("grpo"), '{"check": 1}'), (CHAIN.curve("grpo_looks"), "step,accuracy\n1,0.5\n")],
)  # fmt: skip
def test_what_cannot_be_read_is_named(tmp_path, path, content):
    write_text(tmp_path / path, content)
    with pytest.raises(UserError, match=r"dvc repro") as error:
        read_run(tmp_path, CHAIN)
    assert path.as_posix() in str(error.value)


def test_the_attempts_of_a_checkpoint(tmp_path):
    with pytest.raises(UserError, match=r"grpo has not played yet; run `dvc repro`"):
        attempts_of(CHAIN, "grpo", tmp_path)
    with pytest.raises(UserError, match=r"keep/tiny/17\.json: no checkpoint has been kept yet; run `dvc repro keep`"):
        attempts_of(CHAIN, "kept", tmp_path)
    write_chain(tmp_path)
    assert attempts_of(CHAIN, "grpo", tmp_path) == tmp_path / "data/episodes/tiny/17/grpo.jsonl"
    for chosen, name in ((0, "grpo"), (1, "redistilled")):
        write_json(tmp_path / CHAIN.metrics("keep"), {"kept_redistilled": chosen, "grpo": 0.5, "redistilled": 0.5})
        assert attempts_of(CHAIN, "kept", tmp_path) == tmp_path / CHAIN.episodes(name)
