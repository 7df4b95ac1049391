"""Where the files of a chain lie, and what names one."""

import pytest

from sqldojo.chains import CHECKPOINTS, KEPT, RELEASED, Chain, chain_of
from sqldojo.errors import UserError

CHAIN = Chain("tiny", 3)


def test_no_two_files_of_chains_are_the_same():
    chains = [CHAIN, Chain("tiny", 4), Chain("small", 3)]
    paths = [
        path
        for chain in chains
        for path in (
            *(chain.weights(name) for name in (*CHECKPOINTS[1:], KEPT)),
            *(chain.episodes(name) for name in CHECKPOINTS[1:]), chain.own_solutions,
            *(chain.scores(name) for name in CHECKPOINTS[1:]),
            *(chain.type_scores(name) for name in CHECKPOINTS[1:]),
            *(chain.metrics(name) for name in ("distill", "grpo", "redistill", "keep", "report")),
            *(chain.curve(name) for name in ("distill", "grpo_steps", "grpo_looks", "redistill")), chain.page,
        )
    ]  # fmt: skip
    assert len(set(paths)) == len(paths)


def test_the_released_checkpoint_is_the_same_for_all_seeds():
    other = Chain("tiny", 4)
    for method in ("weights", "episodes", "scores", "type_scores"):
        assert getattr(CHAIN, method)(RELEASED) == getattr(other, method)(RELEASED)
    assert CHAIN.weights(RELEASED) == CHAIN.base_card


def test_a_command_names_a_chain():
    assert chain_of(["tiny", "3"]) == CHAIN and CHAIN.name == "tiny-3"


@pytest.mark.parametrize("arguments", [[], ["tiny"], ["tiny", "three"], ["tiny", "-3"], ["tiny", "3", "grpo"]])
def test_anything_else_is_refused(arguments):
    with pytest.raises(UserError, match="expected the name of a model and a seed"):
        chain_of(arguments)


@pytest.mark.parametrize("name", ["", "a/b", "../a", "a.b", "a b", "é"])
def test_a_name_that_is_no_folder_is_refused(name):
    with pytest.raises(UserError, match=r"params.yaml: models: .* use letters, digits"):
        Chain(name, 3)
