"""Stage audit_verifier: how many wrong rewrites of every reference the databases tell apart, and what may be asked."""

from pathlib import Path

from sqldojo import params
from sqldojo.databases.execution import Limits
from sqldojo.evaluation.audit_report import audit_markdown, plot_rows
from sqldojo.evaluation.bank_audit import audit_bank, proved, read_bank
from sqldojo.evaluation.tables import write_table
from sqldojo.files import replacing_folder, write_json, write_records, write_text
from sqldojo.stage import run_stage
from sqldojo.verifier.audit import summarise
from sqldojo.verifier.audit_running import AuditParams

PARAMS = Path("params.yaml")


def main() -> None:
    settings, limits = params.load(PARAMS, "audit", AuditParams), params.load(PARAMS, "verifier", Limits)
    types, filled = read_bank(Path("data/bank"))
    audits = audit_bank(types, filled, Path("data/databases"), settings, limits)
    asked = dict(zip(("types", "filled", "withdrawn"), proved(types, filled, audits), strict=True))
    with replacing_folder(Path("data/audited")) as folder:
        for name, records in asked.items():
            write_records(folder / f"{name}.jsonl", records)
    found = summarise(audits)
    write_json(Path("metrics/audit.json"), found | {"asked": {name: len(records) for name, records in asked.items()}})
    write_table(Path("plots/audit/operators.csv"), plot_rows(found["by_operator"], "operator"))
    write_table(Path("plots/audit/types.csv"), plot_rows(found["by_type"], "type"))
    write_text(Path("reports/audit.md"), audit_markdown(audits))


if __name__ == "__main__":
    run_stage("audit_verifier", main)
