import pytest

from sqldojo.evaluation.group_signal import signal_per_50_steps


def rows(steps, informative=2, groups=6):
    return [{"step": step, "informative": informative, "groups": groups, "reward": 0.5} for step in steps]


def test_blocks_of_fifty_and_the_rest():
    curve = [*rows(range(1, 51)), *rows(range(51, 101), informative=3), *rows(range(101, 104), informative=1, groups=8)]
    assert signal_per_50_steps(curve) == [
        {"from": 1, "to": 50, "informative": 100, "groups": 300, "share": 0.3333},
        {"from": 51, "to": 100, "informative": 150, "groups": 300, "share": 0.5},
        {"from": 101, "to": 103, "informative": 3, "groups": 24, "share": 0.125},
    ]
    assert signal_per_50_steps(curve[::-1]) == signal_per_50_steps(curve)


def test_the_share_is_of_all_groups_and_no_mean_of_shares():
    curve = [*rows([1], informative=1, groups=1), *rows([2], informative=0, groups=9)]
    assert signal_per_50_steps(curve)[0]["share"] == 0.1


def test_texts_as_csv_holds_them():
    texts = [{name: str(value) for name, value in row.items()} for row in rows([1, 2])]
    assert signal_per_50_steps(texts) == signal_per_50_steps(rows([1, 2]))


@pytest.mark.parametrize(("curve", "found"), [([], []), (rows([1], 0, 0), [0.0])])
def test_nothing_played(curve, found):
    assert [row["share"] for row in signal_per_50_steps(curve)] == found
