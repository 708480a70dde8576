"""A results folder while its numbers are played: what was asked, and the counts of all that is finished.

`experiment.toml` says what was asked, `chunks.npz` holds the counters of the finished blocks, `state.json` tells people
how far it got. A folder belongs to one experiment: the same question goes on where it stopped, another one is refused.
Each file is written beside its place and then renamed, so that Ctrl-C, a kill or a full disk leaves the last whole
state; `chunks.npz` alone is read back, so that the files need not agree about a moment. No pickles: plain arrays.
"""

import json
import os
import tempfile
import time
import tomllib
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from io import BytesIO
from pathlib import Path
from typing import Any, Self

import numpy as np
import tomli_w

from sim.batch import Plan, Run, empty_tally
from sim.tally import Tally

EXPERIMENT, CHUNKS, STATE = "experiment.toml", "chunks.npz", "state.json"
TABLES = ("results", "ranking", "standings", "pairs")
OTHERS = (*(f"{name}.{kind}" for name in TABLES for kind in ("csv", "parquet")), "report.html", "report.md", "figures")
"""What is written into a results folder besides, when all is played."""
EVERY = 2.0
"""Seconds between two savings."""
LARGEST_INTEGER = 2**63
"""From here on TOML has no integers: such numbers (a seed may be one) are written as text."""

_FINISHED, _SECONDS = "finished", "seconds"


class FolderError(ValueError):
    """A results folder that cannot be used: one line with the reason."""


class SavingError(RuntimeError):
    """A file that could not be written while a run was under way; one line with the reason."""


class Folder:
    """An open results folder; `open` it before playing, `load` and `save` the run of each part of the experiment."""

    def __init__(self, path: Path, experiment: Mapping[str, Any]) -> None:
        self.path = path
        self.experiment = experiment
        self._parts: dict[str, dict[str, np.ndarray[Any, Any]]] = {}
        self._told: dict[str, dict[str, Any]] = {}
        self._saved_at = -EVERY

    @classmethod
    def open(cls, path: Path, experiment: Mapping[str, Any]) -> Self:
        """Make the folder, or take up one that the same experiment made; `experiment`: what TOML can hold.

        Raises FolderError if it is another experiment's, damaged, no folder, or cannot be written to.
        """
        folder = cls(path, _plain(experiment))
        folder._try_to_write()
        marker = path / EXPERIMENT
        if marker.exists():
            folder._check_same(marker)
            folder._read_chunks()
        elif taken := [name for name in (CHUNKS, STATE, *OTHERS) if (path / name).exists()]:
            raise FolderError(f"{path} holds {taken[0]} but no {EXPERIMENT}; choose a new folder")
        else:
            text = "# What was asked. The same command with this folder goes on where it stopped.\n"
            try:
                write_whole(marker, (text + tomli_w.dumps(folder.experiment)).encode())
            except OSError as error:
                raise FolderError(f"{marker}: {_reason(error)}") from None
        return folder

    def _try_to_write(self) -> None:
        if self.path.exists() and not self.path.is_dir():
            raise FolderError(f"{self.path} is a file; allowed: a folder, new or of the same experiment")
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(dir=self.path) as file:
                file.write(b"room?")
        except OSError as error:
            raise FolderError(f"{self.path}: can not be written to: {_reason(error)}") from None

    def _check_same(self, marker: Path) -> None:
        try:
            there = tomllib.loads(marker.read_text("utf-8"))
        except (OSError, ValueError) as error:
            raise FolderError(f"{marker}: can not be read: {' '.join(str(error).split())}") from None
        mine, theirs = dict(_leaves(self.experiment)), dict(_leaves(there))
        for key in [*mine, *theirs]:
            here, before = mine.get(key, "not given"), theirs.get(key, "not given")
            if here != before:
                raise FolderError(
                    f"{self.path} belongs to another experiment ({key}: {before} there, {here} here); "
                    "choose a new folder"
                )

    def _read_chunks(self) -> None:
        path = self.path / CHUNKS
        if not path.exists():
            return
        try:
            with np.load(BytesIO(path.read_bytes()), allow_pickle=False) as file:
                for key in file.files:
                    part, _, name = key.partition("/")
                    self._parts.setdefault(part, {})[name] = file[key]
        except (OSError, ValueError, TypeError, EOFError, zlib.error, zipfile.BadZipFile):
            raise _damaged(path, "not the counts that were saved there") from None

    def load(self, part: str, plan: Plan) -> Run | None:
        """Return what was finished of a part of the experiment, or None if nothing was. Raises FolderError."""
        held = self._parts.get(part)
        if held is None:
            return None
        empty = empty_tally(plan).arrays()
        ranges = held.get(_FINISHED, np.zeros(0))
        if ranges.dtype.kind != "i" or ranges.shape != (len(ranges), 2) or (np.diff(ranges.ravel()) <= 0).any():
            raise _damaged(self.path / CHUNKS, "its ranges of blocks are none")
        for name, array in {**empty, _SECONDS: np.zeros(())}.items():
            saved = held.get(name)
            if saved is None or (saved.dtype.kind, saved.shape) != (array.dtype.kind, array.shape):
                raise _damaged(self.path / CHUNKS, f"no {name} of this experiment in it")
        finished = [(int(first), int(last)) for first, last in ranges]
        tally = Tally(**{name: held[name].copy() for name in empty})
        if sum(last - first for first, last in finished) != int(tally.blocks):
            raise _damaged(self.path / CHUNKS, "its counts and its ranges of blocks differ")
        return Run(plan, tally, finished, float(held[_SECONDS]))

    def save(self, part: str, run: Run, *, now: bool = False) -> None:
        """Save what is finished of a part, if that was not just done or it has to be `now`. Raises SavingError."""
        if not now and time.monotonic() - self._saved_at < EVERY:
            return
        self._parts[part] = {
            **{name: array.copy() for name, array in run.tally.arrays().items()},
            _FINISHED: np.array(run.finished, np.int64).reshape(-1, 2),
            _SECONDS: np.array(run.seconds),
        }
        self._told[part] = {
            "part": part,
            "blocks": int(run.tally.blocks),
            "blocks_at_most": run.plan.blocks,
            "seconds": round(run.seconds, 3),
            "stopped": run.stopped if now else "playing",
        }
        content = BytesIO()
        arrays = {f"{name}/{key}": array for name, held in self._parts.items() for key, array in held.items()}
        np.savez_compressed(content, allow_pickle=False, **arrays)
        told = json.dumps({"parts": list(self._told.values())}, indent=2) + "\n"
        try:
            write_whole(self.path / CHUNKS, content.getvalue())
            write_whole(self.path / STATE, told.encode())
        except OSError as error:
            raise SavingError(f"{self.path}: could not be saved to: {_reason(error)}") from None
        self._saved_at = time.monotonic()


def write_whole(path: Path, content: bytes) -> Path:
    """Write a file that is there as a whole or not at all, and its folder if need be; return its path. Raises OSError.

    Written beside its place first, because a rename is all or nothing only within one file system.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with open(beside, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)
    finally:
        beside.unlink(missing_ok=True)
    return path


def _damaged(path: Path, what: str) -> FolderError:
    return FolderError(f"{path}: damaged: {what}; remove it to play from the start")


def _reason(error: OSError) -> str:
    return error.strerror or str(error)


def _plain(value: Any) -> Any:
    """Return the value as it comes back from TOML: no tuples, no None, no integer that TOML cannot hold."""
    if isinstance(value, Mapping):
        return {str(key): _plain(entry) for key, entry in value.items() if entry is not None}
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    if isinstance(value, int) and value >= LARGEST_INTEGER:
        return str(value)
    return value


def _leaves(value: Any, key: str = "") -> Iterator[tuple[str, Any]]:
    """Nested tables and lists as dotted keys with their values, entries of a list counted from 1."""
    if isinstance(value, Mapping):
        for name, entry in value.items():
            yield from _leaves(entry, f"{key}.{name}" if key else name)
    elif isinstance(value, list) and any(isinstance(entry, Mapping) for entry in value):
        for number, entry in enumerate(value, start=1):
            yield from _leaves(entry, f"{key}.{number}")
    else:
        yield key, value
