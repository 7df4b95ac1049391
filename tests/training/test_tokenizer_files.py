"""The byte-level tokenizer merges text, never digits, and never cuts a special token."""

from tokenizers import pre_tokenizers

from sqldojo.training.tokenizer_files import byte_level_tokenizer

SPECIAL = ["<|end|>"]
TOKENS = [*SPECIAL, *sorted(pre_tokenizers.ByteLevel.alphabet()), "19", "ab"]
VOCABULARY = {token: index for index, token in enumerate(TOKENS)}
TOKENIZER = byte_level_tokenizer(VOCABULARY, [("1", "9"), ("a", "b")], SPECIAL)


def test_digits_stay_single_where_letters_merge() -> None:
    assert TOKENIZER.encode("ab19").tokens == ["ab", "1", "9"]


def test_a_special_token_is_one_id_also_inside_text() -> None:
    assert TOKENIZER.encode("a<|end|>b").tokens == ["a", "<|end|>", "b"]


def test_any_text_comes_back_from_single_bytes() -> None:
    text = "é\t😀 <|en d|>\n"
    assert TOKENIZER.decode(TOKENIZER.encode(text).ids, skip_special_tokens=False) == text
