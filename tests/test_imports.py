"""Who may import whom, and where each heavy package lives."""

import ast
import re
import sys
import tomllib

import pytest
from source_tree import PACKAGE, ROOT, first_party, imported_names, parse, source_files, stage_scripts

# A module may import modules of an earlier line and of its own subpackage.
ORDER = [
    {"errors", "records"},
    {"chains", "files", "repair_chain"},
    {"params"},
    {"chosen_model", "profiles", "progress", "stage"},
    {"chain_stage"},
    {"databases"},
    {"verifier"},
    {"agent"},
    {"questions"},
    {"repair"},
    {"teacher", "training"},
    {"evaluation", "reference_files", "grading_files", "regrading", "user_files", "proposing"},
    {"export"},
    {"family_files", "bank_files", "comparing_files", "held_out", "watching"},
    {"own_database", "repair_params"},
    {"repair_reading", "repair_runs", "repair_tasks"},
    {"asking", "recording_runs"},
    {"asking_session", "asking_terminal"},
    {"asking_view"},
    {"chat_messages"},
    {"serving"},
    {"cli"},
]
RANK = {name: rank for rank, names in enumerate(ORDER) for name in names}

# Slow or large packages, each with the parts of the project that may import it.
HOMES = {
    "altair": {"evaluation"},
    "apsw": {"databases"},
    "click": {"cli"},
    "gguf": {"export"},
    "inflect": {"questions"},
    "jinja2": {"evaluation", "training"},
    "litellm": {"teacher"},
    "llama_cpp_py_sync": {"export"},
    "mlx": {"export", "training"},
    "mlx_lm": {"export", "training"},
    "numpy": {"training", "evaluation", "export"},
    "polars": {"databases", "evaluation", "stages"},
    "rich": {"asking_view", "cli", "evaluation", "progress"},
    "ruamel": {"params", "profiles"},
    "scipy": {"evaluation"},
    "sqlglot": {"verifier", "questions", "repair", "teacher"},
    "transformers": {"training"},
    "vl_convert": {"evaluation"},
}
IMPORTED_AS = {"vl_convert_python": "vl_convert"}
FORBIDDEN_IN_SRC = {"dvc", "sqlite3", "stages", "yaml", "pickle"}
READS_OF_CURRENT_DIRECTORY = {"cwd", "getcwd", "chdir"}
BANNED_NAMES = {"utils", "helpers", "common", "misc", "base", "manager", "core"}


def part_of(path):
    """The subpackage or top-level module that a source file belongs to; `stages` for a stage script."""
    relative = path.relative_to(ROOT)
    return "stages" if relative.parts[0] == "stages" else relative.with_suffix("").parts[2]


MODULES = [path for path in source_files() if part_of(path) != "__init__"]


def identify(path):
    return str(path.relative_to(ROOT))


def test_every_part_has_its_place_in_the_order():
    assert {part_of(path) for path in MODULES} <= set(RANK)


@pytest.mark.parametrize("path", MODULES, ids=identify)
def test_imports_point_downwards(path):
    part = part_of(path)
    for imported in first_party(path):
        other = part_of(imported)
        if other not in ("__init__", part):
            assert RANK[other] < RANK[part], f"{identify(path)} must not import {identify(imported)}"


@pytest.mark.parametrize("path", [*MODULES, *stage_scripts()], ids=identify)
def test_heavy_packages_stay_at_home(path):
    for name in sorted(imported_names(path)):
        package = name.split(".")[0]
        assert part_of(path) in HOMES.get(package, {part_of(path)}), f"{name} belongs in {HOMES[package]}"


@pytest.mark.parametrize("path", source_files(), ids=identify)
def test_source_knows_neither_dvc_nor_the_current_directory(path):
    assert not {name.split(".")[0] for name in imported_names(path)} & FORBIDDEN_IN_SRC
    read = {node.attr for node in ast.walk(parse(path)) if isinstance(node, ast.Attribute)}
    assert not read & READS_OF_CURRENT_DIRECTORY


@pytest.mark.parametrize("path", MODULES, ids=identify)
def test_source_has_no_broad_except(path):
    for node in ast.walk(parse(path)):
        if isinstance(node, ast.ExceptHandler):
            caught = ast.unparse(node.type) if node.type else "everything"
            assert caught not in ("everything", "Exception", "BaseException"), f"line {node.lineno} catches {caught}"


@pytest.mark.parametrize("path", MODULES, ids=identify)
def test_source_has_no_global_random_generator(path):
    """Every random choice has a generator of its own, seeded by a stable name: random.Random(f"{seed}/{name}")."""
    names = imported_names(path)
    attributes = {ast.unparse(node) for node in ast.walk(parse(path)) if isinstance(node, ast.Attribute)}
    used = {name for name in names if name.startswith("random.")}
    if "random" in names and not used:  # plain `import random`
        used = {name for name in attributes if name.startswith("random.") and name.count(".") == 1}
    assert used <= {"random.Random"}
    arrays = {name.split("random.")[1] for name in attributes if name.startswith(("numpy.random.", "np.random."))}
    assert arrays <= {"default_rng", "Generator"}


@pytest.mark.parametrize("path", source_files(), ids=identify)
def test_modules_say_why_they_exist_and_have_a_telling_name(path):
    assert path.stem not in BANNED_NAMES
    if path.stat().st_size:
        assert ast.get_docstring(parse(path)), f"{identify(path)} has no docstring"


@pytest.mark.parametrize("path", stage_scripts(), ids=identify)
def test_stage_scripts_are_thin(path):
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 40


def test_package_itself_imports_nothing():
    assert not imported_names(ROOT / "src" / PACKAGE / "__init__.py")


def test_every_imported_package_is_declared():
    """A package that only comes with another one disappears when that one drops it."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lines = [*project["dependencies"], *project["optional-dependencies"]["export"]]
    declared = {re.match(r"[\w.-]+", line)[0].replace("-", "_").split(".")[0] for line in lines}
    declared = {IMPORTED_AS.get(name, name) for name in declared}
    imported = {name.split(".")[0] for path in [*source_files(), *stage_scripts()] for name in imported_names(path)}
    assert imported - set(sys.stdlib_module_names) - {PACKAGE} <= declared
