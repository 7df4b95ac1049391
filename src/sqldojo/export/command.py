"""What `sqldojo export` does: the files of one adapter, checked, and a table of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from sqldojo.chains import KEPT
from sqldojo.chosen_model import model_and_adapter
from sqldojo.export.examples import prompts_without_data
from sqldojo.export.exporting import check_files, export_model, file_facts
from sqldojo.export.llama_library import is_installed
from sqldojo.export.quantising import check_kind
from sqldojo.export.report import facts_lines
from sqldojo.export.settings import MLX


def export_and_report(
    params_file: Path, model: str | None, adapter: Path | None, out: Path, kinds: Sequence[str],
    tell: Callable[[str], None],
) -> list[str]:  # fmt: skip
    """Write the files into `out`, check them where llama.cpp's library is here, and return a table of them.

    `model` is a name of the params file, whose first chain's kept adapter comes with it, or the folder of a base model,
    which comes without an adapter unless one is named; None is the first of the params file. UserError as in the steps.
    """
    for kind in kinds:
        check_kind(kind, "--quantise")
    base, adapter = model_and_adapter(params_file, model, adapter)
    name = base.resolve().name if adapter is None else "-".join((base.resolve().name, *_told_apart(adapter)))
    paths = export_model(base, adapter, out, name, kinds, tell)
    agreements = {}
    if is_installed():
        found = check_files(out / MLX, paths, lambda policy: prompts_without_data(policy.dialogue.tool_format), tell)
        agreements = {path.name: agreement.as_json() for path, agreement in found.items()}
    return facts_lines({path.name: file_facts(path) for path in paths}, agreements)


def _told_apart(adapter: Path) -> Sequence[str]:
    """What of an adapter's path goes into the names of files: of a chain's its seed, else the folder's name."""
    path = adapter.resolve()
    return [path.parent.name] if path.name == KEPT and path.parent.name.isdigit() else [path.name]
