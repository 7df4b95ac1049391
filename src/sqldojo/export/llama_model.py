"""A GGUF file that llama.cpp has loaded: it cuts text into tokens, and says what may follow them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

import numpy

from sqldojo.errors import UserError
from sqldojo.export.llama_library import llama_library
from sqldojo.training.dialogue import shared_prefix_length

_BATCH = 512  # tokens computed at once
_MOST_THREADS = 4  # llama.cpp's own default; more get in each other's way on a laptop


def usable_cores() -> int:
    """How many cores this process may use: on Linux those that it is bound to."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class LlamaModel:
    """One sequence of tokens with its keys and values, in llama.cpp's memory; a context manager that frees it.

    Keys and values are float16, as in LM Studio.
    """

    def __init__(self, path: Path, context: int) -> None:
        """Load the file, for sequences of at most `context` tokens. UserError when llama.cpp cannot load it."""
        self.path, self._library = path, llama_library()
        ffi, lib = self._library.ffi, self._library.lib
        self._library.complaints.clear()
        self._context = ffi.NULL
        self._model = lib.llama_model_load_from_file(os.fsencode(path), lib.llama_model_default_params())
        if self._model == ffi.NULL:
            raise UserError(f"{path}: llama.cpp cannot load it ({self._library.last_complaint()}); export it again")
        self._vocab = lib.llama_model_get_vocab(self._model)
        self.vocabulary_size: int = lib.llama_vocab_n_tokens(self._vocab)
        params = lib.llama_context_default_params()
        params.n_ctx, params.n_batch, params.n_ubatch, params.n_seq_max = context, _BATCH, _BATCH, 1
        params.n_threads = params.n_threads_batch = min(_MOST_THREADS, usable_cores())
        self._context = lib.llama_init_from_model(self._model, params)
        if self._context == ffi.NULL:
            complaint = self._library.last_complaint()
            self.close()
            raise UserError(f"{path}: llama.cpp has no room for {context} tokens ({complaint}); free some memory")
        self._computed: list[int] = []

    def logits(self, tokens: Sequence[int]) -> numpy.ndarray:
        """The float32 logits [V] for what follows these tokens, at least one.

        What they begin with in common with those of the last call is not computed again.
        """
        ffi, lib = self._library.ffi, self._library.lib
        shared = min(shared_prefix_length([self._computed, tokens]), len(tokens) - 1)
        lib.llama_memory_seq_rm(lib.llama_get_memory(self._context), 0, shared, -1)
        self._computed = list(tokens[:shared])
        for start in range(shared, len(tokens), _BATCH):
            piece = list(tokens[start : start + _BATCH])
            array = ffi.new("llama_token[]", piece)
            status = lib.llama_decode(self._context, lib.llama_batch_get_one(array, len(piece)))
            if status != 0:
                raise RuntimeError(f"{self.path}: llama.cpp cannot compute {len(tokens)} tokens (status {status})")
            self._computed += piece
        found = lib.llama_get_logits_ith(self._context, -1)
        return numpy.frombuffer(ffi.buffer(found, 4 * self.vocabulary_size), numpy.float32).copy()

    def tokenise(self, text: str) -> list[int]:
        """The tokens of a text, in which the names of special tokens stand for these; nothing is added."""
        encoded = text.encode()
        tokens = self._library.ffi.new("llama_token[]", len(encoded) + 1)  # never more tokens than bytes
        count = self._library.lib.llama_tokenize(
            self._vocab, encoded, len(encoded), tokens, len(encoded) + 1, False, True
        )
        return list(tokens[0:count])

    def ends(self, token: int) -> bool:
        """Whether llama.cpp ends a reply at this token."""
        return bool(self._library.lib.llama_vocab_is_eog(self._vocab, token))

    def chat_template(self) -> str:
        """The template in the file, empty where there is none."""
        found = self._library.lib.llama_model_chat_template(self._model, self._library.ffi.NULL)
        return "" if found == self._library.ffi.NULL else self._library.ffi.string(found).decode()

    def parameters(self) -> int:
        """How many weights the file holds."""
        return self._library.lib.llama_model_n_params(self._model)

    def close(self) -> None:
        """Free the memory; nothing else may be called after that."""
        lib, null = self._library.lib, self._library.ffi.NULL
        if self._context != null:
            lib.llama_free(self._context)
        if self._model != null:
            lib.llama_model_free(self._model)
        self._context = self._model = null

    def __enter__(self) -> LlamaModel:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
