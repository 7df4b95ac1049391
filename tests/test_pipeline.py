"""dvc.yaml against the code: a stage that forgets a module it imports, or a section it loads, gives stale results."""

import ast
from pathlib import Path

import pytest
from dvc.dependency.param import ParamsDependency
from dvc.repo import Repo
from source_tree import ROOT, closure, has_code, parse, stage_scripts

from sqldojo.params import read_document

REPAIR, EXPORT = ROOT / "stages/repair", ROOT / "stages/export"
# Used by stages but in no result: how a stage starts, fails, is timed and shows that it is alive.
WITHOUT_INFLUENCE = {ROOT / "src/sqldojo" / name for name in ("chain_stage.py", "errors.py", "progress.py", "stage.py")}
SECTION_READERS = {"load", "load_entry", "load_list"}
# A stage of its own, since the base model has no seed, but the same work.
SHARED_SCRIPTS = {"evaluate_released": "evaluate"}


# The test split's is apart: tests/test_held_out.py
GRAPHS = (ROOT / "dvc.yaml", REPAIR / "dvc.yaml", EXPORT / "dvc.yaml")


def read_stages():
    with Repo(str(ROOT)) as repo:
        return {stage.name: stage for stage in repo.index.stages if Path(stage.path) in GRAPHS}


STAGES = read_stages()
NAMES = sorted(STAGES)


def script_of(stage):
    """The one script of a stage: `PYTHONPATH=src python stages/<stage>.py ...`."""
    words = stage.cmd.split()
    assert words[:2] == ["PYTHONPATH=src", "python"]
    return ROOT / words[2]


def depended_paths(stage):
    return {(ROOT / dep.def_path) for dep in stage.deps if not isinstance(dep, ParamsDependency)}


def declared_sections(stage):
    names = {name for dep in stage.deps if isinstance(dep, ParamsDependency) for name in dep.params}
    return {name.split(".")[0] for name in names}  # of `sources` each model's stage has its own entry


def loaded_sections(script):
    """The sections that a script asks `sqldojo.params` for, by the first text in the call."""
    sections = set()
    for node in ast.walk(parse(script)):
        if isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] in SECTION_READERS:
            texts = [word.value for word in node.args if isinstance(word, ast.Constant) and isinstance(word.value, str)]
            assert len(texts) == 1, f"{script.name}, line {node.lineno}: name one section as a literal text"
            sections |= set(texts)
        if isinstance(node, ast.Subscript) and ast.unparse(node.value).split("(")[0].endswith("read_document"):
            sections.add(node.slice.value)
    return sections


def test_one_stage_is_one_script():
    used = {name.split("@")[0]: script_of(stage) for name, stage in STAGES.items()}
    assert {name: path.stem for name, path in used.items()} == {name: SHARED_SCRIPTS.get(name, name) for name in used}
    assert sorted(set(used.values())) == sorted([*stage_scripts(), *REPAIR.glob("*.py"), *EXPORT.glob("*.py")])


@pytest.mark.parametrize("name", NAMES)
def test_script_runs_under_the_name_of_its_stage(name):
    calls = [node for node in ast.walk(parse(script_of(STAGES[name]))) if isinstance(node, ast.Call)]
    (start,) = [call for call in calls if ast.unparse(call.func) in ("run_stage", "run_chain_stage")]
    named = {ast.unparse(node).removeprefix("f").strip("'\"").split("@")[0] for node in texts_of(start.args[0], name)}
    assert name.split("@")[0] in named


def texts_of(node, name):
    """The texts that an argument may be: itself, or what the script assigns to it, by a condition or without."""
    if isinstance(node, ast.Name):
        for found in ast.walk(parse(script_of(STAGES[name]))):
            if isinstance(found, ast.Assign) and ast.unparse(found.targets[0]) == node.id:
                yield from texts_of(found.value, name)
    elif isinstance(node, ast.IfExp):
        yield from (node.body, node.orelse)
    else:
        yield node


@pytest.mark.parametrize("name", NAMES)
def test_deps_cover_the_imports(name):
    stage = STAGES[name]
    script, deps = script_of(stage), depended_paths(stage)
    needed = {path for path in closure(script) if has_code(path)} - WITHOUT_INFLUENCE | {script}
    missing = {str(path.relative_to(ROOT)) for path in needed if not deps & {path, *path.parents}}
    assert not missing, f"add to the deps of {name}"


@pytest.mark.parametrize("name", NAMES)
def test_deps_name_no_code_that_is_not_imported(name):
    """A dep too many reruns the stage for nothing."""
    stage = STAGES[name]
    script = script_of(stage)
    imported = closure(script) | {script}
    code = {dep for dep in depended_paths(stage) if dep.relative_to(ROOT).parts[0] in ("src", "stages")}
    unused = {str(dep.relative_to(ROOT)) for dep in code if not any({dep} & {path, *path.parents} for path in imported)}
    assert not unused, f"remove from the deps of {name}"


@pytest.mark.parametrize("name", NAMES)
def test_params_are_the_sections_that_the_script_loads(name):
    stage = STAGES[name]
    loaded = loaded_sections(script_of(stage))
    if name.startswith("report@"):  # whose page shows all settings of the chain
        loaded = set(read_document(ROOT / "params.yaml")) - {"export", "models", "repair", "seeds", "sources"}
    assert declared_sections(stage) == loaded


@pytest.mark.parametrize("name", NAMES)
def test_outs_keep_the_run_cache(name):
    """A plain out with `cache: false`, or a persistent one, turns DVC's run cache off for its whole stage."""
    for out in STAGES[name].outs:
        assert out.use_cache or out.metric or out.plot, f"{out}: declare it under metrics or plots"
        assert not out.persist, f"{out}: must not be persistent"


def test_paths_in_the_graph_are_relative_and_have_no_spaces():
    for stage in STAGES.values():
        for path in [item.def_path for item in [*stage.deps, *stage.outs]]:
            assert not Path(path).is_absolute() and " " not in path
