"""Several label trees as one argument of a kernel.

Numba would compile a kernel that gets a tuple of trees once for each number of trees. Here the kernel gets the arrays
of the first tree, and a table of where the arrays of all trees are in memory.
"""

import ctypes
from typing import NamedTuple

import numpy as np
from numba import config, types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np.arrayobj import make_array, populate_array

from xmlcore._kernels.plt_tree import TreeArrays


class Member(NamedTuple):
    """One tree of an ensemble."""

    arrays: TreeArrays
    leaf_of_label: np.ndarray  # int32 (L,)
    gains: np.ndarray  # float64, of the nodes if labels have weights, else empty


class Ensemble(NamedTuple):
    """The trees of a model; it does not keep their arrays alive, which is up to the caller of a kernel."""

    first: Member
    # int64 (t, 2 * number of arrays): for each tree the address and the size of each array; a number and 0 for a field
    # that is a number.
    table: np.ndarray


def fields_of(member):
    """Return the arrays and numbers of a :class:`Member` in one flat tuple."""
    return (*member.arrays, *member[1:])


def as_ensemble(trees, leaves, gains) -> Ensemble:
    """Return trees as one argument of a kernel; raise TypeError if their arrays have different types."""
    members = [Member(*parts) for parts in zip(trees, leaves, gains)]
    table = [[] for _ in members]
    for line, member in zip(table, members):
        for name, field, like in zip(
            (*TreeArrays._fields, *Member._fields[1:]), fields_of(member), fields_of(members[0])
        ):
            if not isinstance(like, np.ndarray):
                line.extend((field, 0))
                continue
            if field.dtype != like.dtype or not field.flags.c_contiguous:
                raise TypeError(f"{name} of a tree must be a contiguous array of {like.dtype}, not of {field.dtype}")
            line.extend((field.ctypes.data, field.size))
    return Ensemble(members[0], np.array(table, np.int64))


if config.DISABLE_JIT:

    def member_at(first, table, t):
        """See the compiled function below."""
        fields = []
        for like, (place, size) in zip(fields_of(first), table[t].reshape(-1, 2).tolist()):
            if isinstance(like, np.ndarray):
                place = np.frombuffer((ctypes.c_char * (size * like.itemsize)).from_address(place), like.dtype)
            fields.append(place)
        return Member(TreeArrays(*fields[:-2]), *fields[-2:])

else:

    @intrinsic
    def member_at(typing_context, first, table, t):
        """Return tree t of an ensemble, from its ``first`` tree and its ``table``: some reads from memory."""

        def codegen(context, builder, signature, arguments):
            """Generate LLVM code: copy the structures of the first tree's arrays, with other addresses and sizes."""
            numbers = make_array(signature.args[1])(context, builder, arguments[1])
            line = builder.mul(arguments[2], builder.extract_value(numbers.shape, 1))
            place = iter(range(table_width(first)))

            def entry():
                at = builder.add(line, context.get_constant(types.intp, next(place)))
                return builder.load(builder.gep(numbers.data, [at]))

            def moved(kind, value):
                """Return a tuple, array or number of the tree for that of the first tree."""
                if isinstance(kind, types.BaseTuple):
                    parts = [moved(*pair) for pair in zip(kind.types, cgutils.unpack_tuple(builder, value))]
                    return context.make_tuple(builder, kind, parts)
                address, size = entry(), entry()
                if not isinstance(kind, types.Array):
                    return address
                old = make_array(kind)(context, builder, value)
                new = make_array(kind)(context, builder)
                data = builder.inttoptr(address, old.data.type)
                strides = cgutils.unpack_tuple(builder, old.strides)
                populate_array(new, data, [size], strides, old.itemsize, None)
                return new._getvalue()

            return moved(first, arguments[0])

        return first(first, table, types.intp), codegen


def table_width(kind):
    """Return the number of columns of a table for the Numba type of a :class:`Member`."""
    return sum(map(table_width, kind.types)) if isinstance(kind, types.BaseTuple) else 2
