"""A row a hand, or a match, streamed into a Parquet file (`--per-game`): for questions that the counts do not answer.

Rows are written in groups, so memory does not grow with their number. The file takes its name when it is whole.
"""

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

GROUP_ROWS = 131_072
"""Rows a group: some megabytes."""


class RowsError(ValueError):
    """A file of rows that cannot be written: one line with the reason."""


class ParquetRows:
    """A Parquet file that takes rows as the batch gives them; leaving the `with` block makes it whole.

    The columns are those of `sim.batch.row_columns`, all 64-bit integers. An exception leaves no file behind.
    """

    def __init__(self, path: Path, columns: Sequence[str], about: Mapping[str, str]) -> None:
        self.path = path
        self.columns = list(columns)
        self._beside = path.with_name(f".{path.name}.{os.getpid()}")
        self._waiting: list[np.ndarray[Any, Any]] = []
        self._schema = pa.schema([pa.field(name, pa.int64()) for name in self.columns], metadata=dict(about))
        if path.is_dir():
            raise RowsError(f"{path} is a folder; allowed: a file to write rows to")
        try:
            self._file = open(self._beside, "wb")  # noqa: SIM115 (closed when the block is left)
        except OSError as error:
            raise RowsError(f"{path}: can not be written: {error.strerror}") from None
        self._writer = pq.ParquetWriter(self._file, self._schema, compression="zstd")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                if self._waiting:
                    self._write_groups(np.concatenate(self._waiting))
                self._writer.close()
                self._file.close()
                os.replace(self._beside, self.path)
        finally:
            with suppress(OSError, ValueError):
                self._writer.close()  # or it would try when it is collected
            self._file.close()
            self._beside.unlink(missing_ok=True)

    def write(self, rows: np.ndarray[Any, Any]) -> None:
        """Take int64 rows of shape (hands, columns)."""
        self._waiting.append(rows)
        if sum(map(len, self._waiting)) >= GROUP_ROWS:
            waiting = np.concatenate(self._waiting)
            whole = len(waiting) // GROUP_ROWS * GROUP_ROWS
            self._write_groups(waiting[:whole])
            self._waiting = [waiting[whole:]]

    def _write_groups(self, rows: np.ndarray[Any, Any]) -> None:
        arrays = [pa.array(np.ascontiguousarray(column)) for column in rows.T]
        self._writer.write_table(pa.Table.from_arrays(arrays, schema=self._schema), row_group_size=GROUP_ROWS)
