"""Label trees as one argument of a kernel: a table of where their arrays are in memory.

A kernel for one tree reads the first. Numba would compile a kernel that gets a tuple of trees once for each number of
trees, and take arrays from their Python objects at each call, for longer than the search for a row takes.
"""

import ctypes
from typing import NamedTuple

import numpy as np
from numba import config, types
from numba.extending import intrinsic
from numba.np.arrayobj import make_array, populate_array
from numba.np.numpy_support import from_dtype

from xmlcore._kernels.plt_tree import TreeArrays, dtypes_of


class Member(NamedTuple):
    """One tree of a table."""

    arrays: TreeArrays
    leaf_of_label: np.ndarray  # int32 (L,)
    gains: np.ndarray  # float64, of the nodes if labels have weights, else empty


def fields_of(compact):
    """Return the types of all fields of a :class:`Member` by name; None for a number."""
    return dtypes_of(compact) | {"root_group": None, "leaf_of_label": np.int32, "gains": np.float64}


def as_table(trees, leaves, gains) -> np.ndarray:
    """Return trees as one argument of a kernel; raise TypeError if their arrays have other types than they should.

    A line for each tree has the address and the size of each array; a number and 0 for a field that is a number. It is
    int64, uint64 if the trees are compact. It does not keep the arrays alive, which is up to the caller of a kernel.
    """
    members = [(*tree, leaf, gain) for tree, leaf, gain in zip(trees, leaves, gains)]
    compact = members[0][TreeArrays._fields.index("dense")].dtype == np.int8
    table = np.zeros((len(members), 2 * len(members[0])), np.int64)
    for line, member in zip(table, members):
        for at, ((name, dtype), field) in enumerate(zip(fields_of(compact).items(), member)):
            if dtype is not None and (field.dtype != dtype or not field.flags.c_contiguous):
                raise TypeError(
                    f"{name} of a tree must be a contiguous array of {dtype.__name__}, not of {field.dtype}"
                )
            line[2 * at : 2 * at + 2] = (field, 0) if dtype is None else (field.ctypes.data, field.size)
    return table.view(np.uint64) if compact else table


if config.DISABLE_JIT:

    def member_at(table, t):
        """See the compiled function below."""
        fields = []
        dtypes = fields_of(table.dtype == np.uint64).values()
        for dtype, (place, size) in zip(dtypes, table.view(np.int64)[t].reshape(-1, 2).tolist()):
            if dtype is not None:
                place = np.frombuffer((ctypes.c_char * (size * dtype().itemsize)).from_address(place), dtype)
            fields.append(place)
        return Member(TreeArrays(*fields[:-2]), *fields[-2:])

else:

    @intrinsic
    def member_at(typing_context, table, t):
        """Return tree t of a table: some reads from memory."""

        def codegen(context, builder, signature, arguments):
            """Generate LLVM code: fill the structures of the tree's arrays with their addresses and sizes."""
            numbers = make_array(signature.args[0])(context, builder, arguments[0])
            line = builder.mul(arguments[1], builder.extract_value(numbers.shape, 1))
            place = iter(range(2 * len(fields)))

            def entry():
                at = builder.add(line, context.get_constant(types.intp, next(place)))
                return builder.load(builder.gep(numbers.data, [at]))

            def filled(kind):
                """Return a tuple, array or number of the tree."""
                if isinstance(kind, types.BaseTuple):
                    return context.make_tuple(builder, kind, [filled(part) for part in kind.types])
                address, size = entry(), entry()
                if not isinstance(kind, types.Array):
                    return address
                made = make_array(kind)(context, builder)
                data = builder.inttoptr(address, made.data.type)
                itemsize = context.get_constant(types.intp, kind.dtype.bitwidth // 8)
                populate_array(made, data, [size], [itemsize], itemsize, None)
                return made._getvalue()

            return filled(signature.return_type)

        fields = fields_of(not table.dtype.signed).values()
        kinds = [
            types.intp if dtype is None else types.Array(from_dtype(np.dtype(dtype)), 1, "C", readonly=True)
            for dtype in fields
        ]
        member = types.NamedTuple([types.NamedTuple(kinds[:-2], TreeArrays), *kinds[-2:]], Member)
        return member(table, types.intp), codegen
