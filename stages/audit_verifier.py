"""Stage audit_verifier: how many wrong rewrites of every reference the shop's databases tell apart."""

from pathlib import Path

from sqldojo import params
from sqldojo.databases.execution import Limits
from sqldojo.evaluation.audit_report import audit_markdown, plot_rows
from sqldojo.evaluation.shop_audit import audit_shop
from sqldojo.evaluation.tables import write_table
from sqldojo.files import write_json, write_text
from sqldojo.stage import run_stage
from sqldojo.verifier.audit import summarise
from sqldojo.verifier.audit_running import AuditParams

PARAMS = Path("params.yaml")


def main() -> None:
    settings, limits = params.load(PARAMS, "audit", AuditParams), params.load(PARAMS, "verifier", Limits)
    audits = audit_shop(Path("data/databases"), settings, limits)
    found = summarise(audits)
    write_json(Path("metrics/audit.json"), found)
    write_table(Path("plots/audit/operators.csv"), plot_rows(found["by_operator"], "operator"))
    write_table(Path("plots/audit/types.csv"), plot_rows(found["by_type"], "type"))
    write_text(Path("reports/audit.md"), audit_markdown(audits))


if __name__ == "__main__":
    run_stage("audit_verifier", main)
