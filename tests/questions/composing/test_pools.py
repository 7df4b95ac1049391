"""Where values come from: round thresholds in the middle of the data, and dates that every database has."""

from sqlite_files import write_table

from sqldojo.questions.composing.pools import category_pool, date_pools, number_pools, parameter, thresholds, values


def test_parameters_are_named_after_table_column_and_kind():
    assert parameter("InvoiceLine", "UnitPrice", "first year") == "invoice_line_unit_price_first_year"
    assert (parameter("城市", "名"), parameter("2020", "größe")) == ("城市_名", "value_2020_größe")


def test_values_are_listed_as_literals():
    assert values(["it's", 2, 2.5]) == "VALUES ('it''s'), (2), (2.5)"


def test_thresholds_are_round_and_leave_rows_on_both_sides(tmp_path):
    path = write_table(tmp_path / "a.sqlite", "CREATE TABLE t (n INTEGER)", [(n * 11,) for n in range(101)])
    assert thresholds([path], "SELECT n AS value FROM t") == [220, 330, 440, 550, 660, 770, 880]
    pools = number_pools([path], "t", "n")
    assert pools["threshold"] == {"t_n": "VALUES (220), (330), (440), (550), (660), (770), (880)"}
    assert pools["between"] == {"t_n_from": "VALUES (220), (330), (440)", "t_n_to": "VALUES (550), (660), (770), (880)"}


def test_a_column_with_few_values_has_no_pool(tmp_path):
    path = write_table(tmp_path / "a.sqlite", "CREATE TABLE t (n INTEGER, c TEXT)", [(1, "a"), (1, "b")] * 5)
    assert number_pools([path], "t", "n") == {}
    assert category_pool([path], "t", "c") == {}


def test_dates_are_those_that_all_databases_share(tmp_path):
    paths = [
        write_table(
            tmp_path / f"{first}.sqlite", "CREATE TABLE t (d TEXT)",
            [(f"{year}-0{month}-03",) for year in range(first, 2020) for month in (1, 5)],
        )
        for first in (2012, 2014)
    ]  # fmt: skip
    pools = date_pools(paths, "t", "d")
    assert pools["year"]["t_d_year"] == "VALUES ('2014'), ('2015'), ('2016'), ('2017'), ('2018'), ('2019')"
    assert pools["years"] == {
        "t_d_first_year": "VALUES ('2014'), ('2015'), ('2016')",
        "t_d_last_year": "VALUES ('2017'), ('2018'), ('2019')",
    }
    assert "month" not in pools  # two are too few to train some and reserve others
