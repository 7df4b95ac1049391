"""Stage report_repair: what the checkpoints of the repair chain solve, gain and lose, as numbers, text and a page."""

from pathlib import Path

from sqldojo.evaluation.page.repair_page import build_repair_page
from sqldojo.evaluation.repair_report import repair_markdown
from sqldojo.evaluation.repair_results import repair_metrics
from sqldojo.files import write_json, write_text
from sqldojo.params import load
from sqldojo.repair_params import RepairParams
from sqldojo.repair_reading import read_results
from sqldojo.stage import run_stage

PARAMS, PAGE = Path("params.yaml"), Path("reports/repair.html")


def main() -> None:
    """Write reports/repair.html, reports/repair.md and metrics/repair/report.json."""
    results = read_results(Path("."), load(PARAMS, "repair", RepairParams), PARAMS)
    found = repair_metrics(results)
    write_json(Path("metrics/repair/report.json"), found)
    write_text(PAGE.with_suffix(".md"), repair_markdown(found))
    write_text(PAGE, build_repair_page(results, found))


if __name__ == "__main__":
    run_stage("report_repair", main)
