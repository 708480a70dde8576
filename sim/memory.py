"""Reading and writing at addresses: how compiled code reaches records that nobody hands it.

A view carries two addresses, of the seat's parameters and of the rule record (`sim.table`), because a strategy is
called with the view alone. `load_int` and `load_float` also work in plain Python.
"""

import ctypes
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload


def load_int(address: int) -> int:
    """The int64 at an address."""
    return ctypes.c_int64.from_address(int(address)).value


def load_float(address: int) -> float:
    """The float64 at an address."""
    return ctypes.c_double.from_address(int(address)).value


def _loader(kind):
    @intrinsic
    def load(typingctx, address):
        def code(context, builder, signature, args):
            return builder.load(builder.inttoptr(args[0], context.get_value_type(kind).as_pointer()))

        return kind(types.int64), code

    return load


_load_int = _loader(types.int64)
_load_float = _loader(types.float64)


@overload(load_int)
def _overload_int(address):
    return lambda address: _load_int(np.int64(address))


@overload(load_float)
def _overload_float(address):
    return lambda address: _load_float(np.int64(address))


@intrinsic
def store_int(typingctx, address, value):
    """Store an int64 at an address."""

    def code(context, builder, signature, args):
        builder.store(args[1], builder.inttoptr(args[0], ir.IntType(64).as_pointer()))
        return context.get_dummy_value()

    return types.void(types.int64, types.int64), code


@intrinsic
def address_of(typingctx, record):
    """The address of a record."""
    if not isinstance(record, types.Record):
        return None

    def code(context, builder, signature, args):
        return builder.ptrtoint(args[0], ir.IntType(64))

    return types.int64(record), code


@intrinsic
def copy_record(typingctx, to, given):
    """Copy a record onto another of the same type."""
    if not isinstance(to, types.Record) or to != given:
        return None

    def code(context, builder, signature, args):
        cgutils.raw_memcpy(builder, args[0], args[1], ir.Constant(ir.IntType(64), to.size), 1)
        return context.get_dummy_value()

    return types.void(to, given), code


def reader_of(dtype: np.dtype[Any]) -> Any:
    """Make a function for compiled code that takes an address as the record of a type that lies there."""
    kind = numba.from_dtype(dtype)

    @intrinsic
    def record_at(typingctx, address):
        def code(context, builder, signature, args):
            return builder.inttoptr(args[0], context.get_value_type(kind))

        return kind(types.int64), code

    return record_at
