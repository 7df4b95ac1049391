from dataclasses import dataclass

from sqldojo.evaluation.tables import write_table


@dataclass(frozen=True)
class Row:
    update: int
    loss: float


def test_mappings_and_records_keep_their_order_and_fields(tmp_path):
    write_table(tmp_path / "plots" / "a.csv", [{"type": "b", "accuracy": 0.5}, {"type": "a", "accuracy": 1.0}])
    write_table(tmp_path / "b.csv", [Row(1, 0.25), Row(2, 0.125)])
    assert (tmp_path / "plots" / "a.csv").read_text() == "type,accuracy\nb,0.5\na,1.0\n"
    assert (tmp_path / "b.csv").read_text() == "update,loss\n1,0.25\n2,0.125\n"


def test_a_column_may_begin_with_many_empty_cells(tmp_path):
    """A number that a long run can only tell late must not lose the whole table."""
    write_table(tmp_path / "a.csv", [*({"step": n, "kl": None} for n in range(300)), {"step": 300, "kl": 0.5}])
    assert (tmp_path / "a.csv").read_text().splitlines()[-2:] == ["299,", "300,0.5"]
