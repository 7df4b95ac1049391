"""Two ranks on this machine: they compute together what one computes alone, agree, and end together."""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path
from typing import Any

import mlx.core as mx
import mlx.nn as nn
import numpy as np
import pytest
from mlx.utils import tree_flatten
from on_ranks import end_of, run_on_ranks, start_on_ranks
from tiny_policy import with_adapter

from sqldojo.errors import UserError
from sqldojo.training import launching
from sqldojo.training.data_parallel import Ranks, join_ranks
from sqldojo.training.launching import LOST_RANK, relaunch_on
from sqldojo.training.policy_model import PolicyModel

ALONE = Ranks()
SEQUENCES = [[(7 * number + 3 * place) % 259 for place in range(5 + number)] for number in range(7)]


def summed_gradients(policy: PolicyModel, ranks: Ranks) -> dict[str, mx.array]:
    """Gradients of the summed loss of SEQUENCES by name, each rank computing its share."""

    def loss(model: nn.Module) -> mx.array:
        total = mx.array(0.0)
        for tokens in ranks.share(SEQUENCES, cost=len):
            total = total + nn.losses.cross_entropy(model(mx.array([tokens[:-1]])), mx.array([tokens[1:]])).sum()
        return total

    return dict(tree_flatten(ranks.sum_gradients(nn.value_and_grad(policy.model, loss)(policy.model)[1])))


def everything_collective(ranks: Ranks) -> dict[str, Any]:
    """What one rank gets from each collective operation; a disagreement comes last."""
    values = ranks.gather_objects({"rank": ranks.rank, "text": "ü" * (1 + 40_000 * ranks.rank), "none": None})
    answer = {
        "place": [ranks.rank, ranks.size, ranks.is_first],
        "ranks": [[value["rank"], len(value["text"]), value["none"]] for value in values],
        "logprobs": ranks.gather_objects([-1 / 3, 1e-300, -2.5e17]),
        "empty": ranks.gather_objects([]),
        "first": ranks.of_first({"b": mx.array([0.1 + ranks.rank])})["b"].tolist(),
        "half": ranks.sum_gradients({"b": mx.array([1.5 + ranks.rank], mx.float16)})["b"].dtype == mx.float16,
        "threads": os.environ["MKL_NUM_THREADS"],
    }
    ranks.barrier()
    ranks.agree("the step", {"step": 3, "loss": 0.5})
    try:
        ranks.agree("the drawn questions", ["q-1", f"q-{2 + ranks.rank}"])
    except ValueError as error:
        answer["disagreement"] = str(error)
    return answer


@pytest.fixture(scope="module")
def together(tiny_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Any]]:
    """A folder with each rank's summed gradients, and what each rank got from the collective operations."""
    folder = tmp_path_factory.mktemp("ranks")
    snippet = f"""
from training import test_data_parallel as test
gradients = test.summed_gradients(test.with_adapter(Path({str(tiny_folder)!r})), ranks)
mx.savez(f"gradients_{{ranks.rank}}.npz", **gradients)
result = test.everything_collective(ranks)
"""
    return folder, run_on_ranks(2, snippet, folder)


def test_summed_gradients_are_those_of_one_process(together: tuple[Path, list[Any]], tiny_folder: Path) -> None:
    folder, _ = together
    other = mx.load(str(folder / "gradients_0.npz"))
    expected = summed_gradients(with_adapter(tiny_folder), ALONE)
    found = mx.load(str(folder / "gradients_1.npz"))
    assert set(found) == set(expected)
    for name, gradient in expected.items():
        largest = mx.abs(gradient).max().item()
        assert largest > 0, name
        assert mx.array_equal(found[name], other[name]).item(), name
        np.testing.assert_allclose(np.array(found[name]), np.array(gradient), atol=1e-5 * largest, err_msg=name)


def test_objects_reach_every_rank_unchanged(together: tuple[Path, list[Any]]) -> None:
    for rank, result in enumerate(together[1]):
        assert result["place"] == [rank, 2, rank == 0]
        assert result["ranks"] == [[0, 1, None], [1, 40_001, None]]
        assert result["logprobs"] == [[-1 / 3, 1e-300, -2.5e17]] * 2
        assert result["empty"] == [[], []]
        assert result["first"] == pytest.approx([0.1])
        assert result["half"] is True


def test_disagreement_names_both_values_on_every_rank(together: tuple[Path, list[Any]]) -> None:
    expected = 'ranks disagree on the drawn questions: rank 0 has ["q-1", "q-2"], rank 1 has ["q-1", "q-3"]'
    assert [result["disagreement"] for result in together[1]] == [expected] * 2


def test_cores_are_divided_among_the_ranks_of_one_machine(together: tuple[Path, list[Any]]) -> None:
    share = os.environ.get("MKL_NUM_THREADS", str(max(1, (os.cpu_count() or 1) // 2)))
    assert [result["threads"] for result in together[1]] == [share] * 2


def test_a_single_process_needs_no_launcher() -> None:
    ranks = join_ranks()
    assert (ranks.rank, ranks.size, ranks.is_first) == (0, 1, True)
    gradients = {"a": mx.ones(3)}
    assert ranks.sum_gradients(gradients) is gradients
    assert ranks.share("abc") == ["a", "b", "c"]
    assert ranks.gather_objects((1, "x")) == [[1, "x"]]
    ranks.barrier()
    ranks.agree("anything", object())  # not even looked at


@pytest.mark.parametrize("size", [1, 2, 3, 8])
def test_shares_are_disjoint_complete_ordered_and_balanced(size: int) -> None:
    costs = [9, 1, 8, 2, 7, 3, 6, 4, 5, 5, 1, 1, 30]
    items = [(number, cost) for number, cost in enumerate(costs)]
    shares = [Ranks(rank, size).share(items, cost=lambda item: item[1]) for rank in range(size)]
    assert sorted(item for share in shares for item in share) == items
    assert all(share == sorted(share) for share in shares)
    least_possible = max(max(costs), sum(costs) / size)
    assert max(sum(cost for _, cost in share) for share in shares) <= 4 / 3 * least_possible


def test_equal_costs_give_equal_shares() -> None:
    assert [len(Ranks(rank, 3).share(range(16))) for rank in range(3)] == [6, 5, 5]


def test_one_failing_rank_ends_all_with_its_code(tmp_path: Path) -> None:
    """Rank 0 waits for the other for ever; its own end must not hide the cause."""
    snippet = """
print("progress of rank", ranks.rank)
if ranks.rank == 1:
    print("out of luck", file=sys.stderr)
    sys.exit(3)
ranks.barrier()
"""
    code, output, errors = end_of(start_on_ranks(2, snippet, tmp_path))
    assert code == 3, errors
    assert output == "progress of rank 0\n"
    assert "rank 1: out of luck\n" in errors
    assert "rank 0: another rank has ended\n" in errors and "Traceback" not in errors


def started(folder: Path, count: int) -> list[int]:
    """The process ids that ranks wrote down, once all have."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        found = [int(path.read_text() or 0) for path in sorted(folder.glob("pid_*"))]
        if len(found) == count and all(found):
            return found
        time.sleep(0.02)
    raise AssertionError("the ranks did not start")


def assert_gone(process: int) -> None:
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            return
        time.sleep(0.02)
    raise AssertionError(f"process {process} outlived its launcher")


@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGINT])
def test_ranks_end_with_their_launcher(tmp_path: Path, sent: signal.Signals) -> None:
    snippet = """
import os, time
Path(f"pid_{ranks.rank}").write_text(str(os.getpid()))
try:
    if ranks.rank == 0:
        time.sleep(1000)
    ranks.barrier()
except KeyboardInterrupt:
    print("checkpoint kept", flush=True)
    raise
"""
    launcher = start_on_ranks(2, snippet, tmp_path)
    try:
        processes = started(tmp_path, 2)
        launcher.send_signal(sent)
        code, output, _ = end_of(launcher)
    finally:
        launcher.kill()
    assert (code, output) == ((-9, "") if sent == signal.SIGKILL else (130, "checkpoint kept\n"))
    for process in processes:
        assert_gone(process)


def test_other_machines_get_folder_interpreter_and_variables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With an `ssh` that runs the command here; the script needs no mlx."""
    folder = tmp_path / "it's a folder"
    (tmp_path / "bin").mkdir()
    folder.mkdir()
    ssh = tmp_path / "bin" / "ssh"
    ssh.write_text('#!/bin/sh\nwhile [ "$1" = -o ]; do shift 2; done\ncd / && export HOST="$1" && exec sh -c "$2"\n')
    ssh.chmod(0o755)
    monkeypatch.setenv("PATH", f"{ssh.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", "src with blank")
    monkeypatch.setattr(launching, "_addresses", lambda hosts: ["10.0.0.1", "10.0.0.2"])
    script = folder / "script.py"
    script.write_text(
        "import json, os, sys\n"
        "names = ('HOST', 'MLX_RANK', 'SQLDOJO_RING', 'PYTHONPATH')\n"
        "seen = [sys.argv[1:], sys.executable, [os.environ.get(name) for name in names]]\n"
        "open(f'{os.environ[\"MLX_RANK\"]}.json', 'w').write(json.dumps(seen))\n"
        "sys.exit(4 * int(os.environ['MLX_RANK']))\n"
    )
    assert relaunch_on(["first", "second"], ["script.py", "a b"], folder=folder) == 4
    seen = [json.loads((folder / f"{rank}.json").read_text()) for rank in range(2)]
    for rank, (arguments, interpreter, (host, number, ring, path)) in enumerate(seen):
        assert (arguments, interpreter, path) == (["a b"], launching.sys.executable, "src with blank")
        assert (host, number) == ([None, "second"][rank], str(rank))
        assert [address.rpartition(":")[0] for address, in json.loads(ring)] == ["10.0.0.1", "10.0.0.2"]


def test_nothing_is_launched_for_one_host_or_inside_a_rank(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(launching, "_start", lambda *_: pytest.fail("launched"))
    assert relaunch_on([], ["x.py"], folder=tmp_path) is None
    assert relaunch_on(["localhost"], ["x.py"], folder=tmp_path) is None
    monkeypatch.setenv("MLX_RANK", "0")
    assert relaunch_on(["localhost", "localhost"], ["x.py"], folder=tmp_path) is None


@pytest.mark.parametrize(
    ("hosts", "message"),
    [
        (["localhost", "10.0.0.2"], "localhost is 127.0.0.1, which other machines cannot reach; write the address"),
        (["10.0.0.1", "no host.invalid"], "no host.invalid: .*; correct the name"),
    ],
)
def test_hosts_that_cannot_form_a_ring_are_the_users_fault(hosts: list[str], message: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=f"params.yaml: grpo.hosts: {message}"):
        relaunch_on(hosts, ["x.py"], folder=tmp_path)


def test_codes_of_ranks_that_only_followed_do_not_count() -> None:
    assert launching._common_code([0, 0, 0], [None] * 3) == 0
    assert launching._common_code([LOST_RANK, None, 3, 4], [None] * 4) == 3
    assert launching._common_code([LOST_RANK, -signal.SIGKILL], [None] * 2) == 137
    assert launching._common_code([LOST_RANK, 0], [None] * 2) == LOST_RANK
