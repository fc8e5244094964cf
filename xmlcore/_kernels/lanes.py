"""Operations on sixteen float32 numbers (lanes) at once, which training and search consist of.

LLVM translates a ``<16 x float>`` to the vector registers of the processor. Numba vectorises long loops well, but turns
a loop of sixteen steps into scalar code, which is six times slower. The operations here therefore ask for vectors
explicitly. The expressions of :func:`lane_operation` are written once: their values are LLVM vectors when compiled, and
NumPy arrays when ``NUMBA_DISABLE_JIT`` is set.
"""

import numpy as np
from llvmlite import ir
from numba import config, types
from numba.core import cgutils
from numba.extending import intrinsic

LANES = 16

WEIGHTS = types.float32[::1]
FLOAT = ir.FloatType()
INT = ir.IntType(32)
FLOATS = ir.VectorType(FLOAT, LANES)
INTS = ir.VectorType(INT, LANES)


class Vector:
    """An LLVM vector with Python's operators; numbers and scalars are spread over the lanes."""

    def __init__(self, builder, value):
        self.builder = builder
        self.value = value

    def _other(self, other):
        """Return the LLVM value of an operand; a Python number is repeated in all lanes."""
        return other.value if isinstance(other, Vector) else ir.Constant(FLOATS, [float(other)] * LANES)

    def _new(self, value):
        return Vector(self.builder, value)

    def __add__(self, other):
        return self._new(self.builder.fadd(self.value, self._other(other)))

    def __sub__(self, other):
        return self._new(self.builder.fsub(self.value, self._other(other)))

    def __rsub__(self, other):
        return self._new(self.builder.fsub(self._other(other), self.value))

    def __mul__(self, other):
        return self._new(self.builder.fmul(self.value, self._other(other)))

    def __truediv__(self, other):
        return self._new(self.builder.fdiv(self.value, self._other(other)))

    def __rtruediv__(self, other):
        return self._new(self.builder.fdiv(self._other(other), self.value))

    def __neg__(self):
        return self * -1.0

    __radd__ = __add__
    __rmul__ = __mul__


class CompiledOps:
    """Operations on :class:`Vector` that Python has no operators for."""

    def __init__(self, builder):
        self.builder = builder

    def _bits(self, x):
        """Return the bits of a Vector as an LLVM vector of integers."""
        return self.builder.bitcast(x.value, INTS)

    def _floats(self, bits):
        return Vector(self.builder, self.builder.bitcast(bits, FLOATS))

    def _mask(self, number):
        """Return an integer constant, repeated in all lanes."""
        return ir.Constant(INTS, [number] * LANES)

    def maximum(self, x, y):
        y = x._other(y)
        return Vector(self.builder, self.builder.select(self.builder.fcmp_ordered(">", x.value, y), x.value, y))

    def minimum(self, x, y):
        y = x._other(y)
        return Vector(self.builder, self.builder.select(self.builder.fcmp_ordered("<", x.value, y), x.value, y))

    def where_less(self, x, y, a, b):
        less = self.builder.fcmp_ordered("<", x.value, x._other(y))
        return Vector(self.builder, self.builder.select(less, a.value, b.value))

    def abs(self, x):
        return self._floats(self.builder.and_(self._bits(x), self._mask(0x7FFFFFFF)))

    def copysign(self, size, sign):
        """Return the absolute values of ``size`` with the signs of ``sign``."""
        negative = self.builder.and_(self._bits(sign), self._mask(-0x80000000))
        return self._floats(self.builder.or_(self.builder.and_(self._bits(size), self._mask(0x7FFFFFFF)), negative))

    def power_of_two(self, shifted):
        """Return 2**n, given ``shifted`` = n + 1.5 * 2**23 for a whole number n."""
        bits = self.builder.shl(self._bits(shifted), self._mask(23))
        return self._floats(self.builder.add(bits, self._mask(0x3F800000)))

    def largest(self, x):
        value = x.value
        width = LANES
        while width > 1:
            width //= 2
            low = ir.Constant(ir.VectorType(INT, width), list(range(width)))
            high = ir.Constant(ir.VectorType(INT, width), list(range(width, 2 * width)))
            a = self.builder.shuffle_vector(value, value, low)
            b = self.builder.shuffle_vector(value, value, high)
            value = self.builder.select(self.builder.fcmp_ordered(">", a, b), a, b)
        return self.builder.extract_element(value, ir.Constant(INT, 0))


class ArrayOps:
    """The operations of :class:`CompiledOps` on NumPy arrays."""

    maximum = staticmethod(np.maximum)
    minimum = staticmethod(np.minimum)
    abs = staticmethod(np.abs)
    copysign = staticmethod(np.copysign)
    largest = staticmethod(np.max)

    @staticmethod
    def where_less(x, y, a, b):
        """See :meth:`CompiledOps.where_less`."""
        return np.where(x < y, a, b)

    @staticmethod
    def power_of_two(shifted):
        """See :meth:`CompiledOps.power_of_two`."""
        return ((shifted.view(np.int32) << np.int32(23)) + np.int32(0x3F800000)).view(np.float32)


def _pointer(context, builder, array_type, array, at=None):
    """Return the address of the sixteen floats of a one-dimensional array from position ``at`` on, by default 0."""
    data = context.make_array(array_type)(context, builder, array).data
    if at is not None:
        data = builder.gep(data, [at])
    return builder.bitcast(data, FLOATS.as_pointer())


def _load(builder, pointer):
    return builder.load(pointer, align=4)  # the addresses of NumPy arrays are only multiples of a float's 4 bytes


def _store(builder, value, pointer):
    builder.store(value, pointer, align=4)


def _spread(builder, scalar):
    one = builder.insert_element(ir.Constant(FLOATS, ir.Undefined), scalar, ir.Constant(INT, 0))
    return builder.shuffle_vector(one, ir.Constant(FLOATS, ir.Undefined), ir.Constant(INTS, [0] * LANES))


def lane_operation(n_arrays, n_scalars):
    """Return a decorator that turns an expression over sixteen lanes into a function for kernels.

    The expression gets the operations (:class:`CompiledOps` or :class:`ArrayOps`), values from ``n_arrays`` arrays,
    and ``n_scalars`` scalars, and returns the values to store in the arrays, and a float32. The function gets a
    position, the arrays and the scalars: it works on sixteen numbers, in the first array from the position on, in the
    others from the beginning.
    """

    def decorate(expression):
        if config.DISABLE_JIT:

            def plain(at, first, *others):
                arrays = [first[at : at + LANES], *(a[:LANES] for a in others[: n_arrays - 1])]
                scalars = [np.float32(s) for s in others[n_arrays - 1 :]]
                stored, result = expression(ArrayOps, *(a.copy() for a in arrays), *scalars)
                for array, value in zip(arrays, stored):
                    array[:] = value
                return result

            return plain

        def codegen(context, builder, signature, arguments):
            """Generate LLVM code: load the arrays, evaluate the expression, store its values."""
            at, arrays, scalars = arguments[0], arguments[1 : n_arrays + 1], arguments[n_arrays + 1 :]
            pointers = [
                _pointer(context, builder, WEIGHTS, array, None if number else at)
                for number, array in enumerate(arrays)
            ]
            values = [Vector(builder, _load(builder, pointer)) for pointer in pointers]
            values += [Vector(builder, _spread(builder, scalar)) for scalar in scalars]
            stored, result = expression(CompiledOps(builder), *values)
            for pointer, value in zip(pointers, stored):
                _store(builder, value.value, pointer)
            return result

        names = [f"a{i}" for i in range(n_arrays + n_scalars)]
        space = {"types": types, "codegen": codegen}
        declared = ", ".join(["types.intp"] + ["types.float32[::1]"] * n_arrays + ["types.float32"] * n_scalars)
        exec(  # Numba reads the names of an intrinsic's arguments, so the function cannot take *arguments
            f"def {expression.__name__}(typing_context, at, {', '.join(names)}):\n"
            f"    return types.float32({declared}), codegen\n",
            space,
        )
        return intrinsic(space[expression.__name__])

    return decorate


if config.DISABLE_JIT:

    def margins_of_row(weights, bias_at, indices, data, start, end, out):
        """See the compiled function below; so for the next functions."""
        out[:LANES] = weights[bias_at : bias_at + LANES]
        for t in range(start, end):
            at = LANES * int(indices[t])
            out[:LANES] += data[t] * weights[at : at + LANES]

    def add_row(weights, bias_at, indices, data, start, end, step):
        weights[bias_at : bias_at + LANES] += step[:LANES]
        for t in range(start, end):
            at = LANES * int(indices[t])
            weights[at : at + LANES] += data[t] * step[:LANES]

    def add_scaled(out, to, values, start, scale):
        out[to : to + LANES] += scale * values[start : start + LANES]

    def count_bits(bits):
        return bin(int(bits)).count("1")

    def same_or(stored, unfolded):
        return stored if stored.dtype == unfolded.dtype else unfolded

    def _tile(n_rows, n_vectors):
        """Return a function that adds up products for ``n_rows`` rows; see the comment at the end of this file."""
        lanes = LANES * n_vectors

        def add(out, out_at, out_step, weights, at, step, columns, begin, end, rows, places, first):
            for i in range(n_rows):
                total = out[out_at + i * out_step :][:lanes]
                row = rows[places[first + i]]
                for t in range(begin, end):
                    total += row[columns[t]] * weights[at + (t - begin) * step :][:lanes]

        return add

else:

    def _each_entry(context, builder, signature, arguments, visit):
        """Call ``visit(address of the feature's weights, value in all lanes)`` for every entry of a row."""
        index_type, data_type = signature.args[2:4]
        weights, _, indices, data, start, end, _ = arguments
        index_array = context.make_array(index_type)(context, builder, indices)
        data_array = context.make_array(data_type)(context, builder, data)
        word = context.get_value_type(types.intp)
        with cgutils.for_range_slice(builder, start, end, ir.Constant(word, 1), word) as (t, _):
            feature = builder.zext(builder.load(builder.gep(index_array.data, [t])), word)
            place = builder.mul(feature, ir.Constant(word, LANES))
            value = _spread(builder, builder.load(builder.gep(data_array.data, [t])))
            visit(_pointer(context, builder, WEIGHTS, weights, place), value)

    @intrinsic
    def count_bits(typing_context, bits):
        def codegen(context, builder, signature, arguments):
            return builder.ctpop(arguments[0])

        return types.uint32(types.uint32), codegen

    @intrinsic
    def margins_of_row(typing_context, weights, bias_at, indices, data, start, end, out):
        """``out = weights[bias_at:][:16] + sum over t of data[t] * weights[16 * indices[t]:][:16]``; uint32 indices."""

        def codegen(context, builder, signature, arguments):
            total = cgutils.alloca_once(builder, FLOATS)
            bias = _pointer(context, builder, WEIGHTS, arguments[0], arguments[1])
            _store(builder, _load(builder, bias), total)

            def visit(pointer, value):
                term = builder.fmul(value, _load(builder, pointer))
                _store(builder, builder.fadd(_load(builder, total), term), total)

            _each_entry(context, builder, signature, arguments, visit)
            _store(builder, _load(builder, total), _pointer(context, builder, WEIGHTS, arguments[6]))
            return context.get_dummy_value()

        return types.void(WEIGHTS, types.intp, types.uint32[::1], WEIGHTS, types.intp, types.intp, WEIGHTS), codegen

    @intrinsic
    def add_row(typing_context, weights, bias_at, indices, data, start, end, step):
        """``weights[bias_at:][:16] += step``, and ``+= data[t] * step`` at ``16 * indices[t]``; uint32 indices."""

        def codegen(context, builder, signature, arguments):
            step_value = _load(builder, _pointer(context, builder, WEIGHTS, arguments[6]))
            bias = _pointer(context, builder, WEIGHTS, arguments[0], arguments[1])
            _store(builder, builder.fadd(_load(builder, bias), step_value), bias)

            def visit(pointer, value):
                _store(builder, builder.fadd(_load(builder, pointer), builder.fmul(value, step_value)), pointer)

            _each_entry(context, builder, signature, arguments, visit)
            return context.get_dummy_value()

        return types.void(WEIGHTS, types.intp, types.uint32[::1], WEIGHTS, types.intp, types.intp, WEIGHTS), codegen

    @intrinsic
    def add_scaled(typing_context, out, to, values, start, scale):
        """``out[to:to + 16] += scale * values[start:start + 16]``, with values of float32 or int8."""

        def codegen(context, builder, signature, arguments):
            target = _pointer(context, builder, WEIGHTS, arguments[0], arguments[1])
            place = _pointer(context, builder, signature.args[2], arguments[2], arguments[3])
            if values.dtype == types.int8:
                place = builder.bitcast(place, ir.VectorType(ir.IntType(8), LANES).as_pointer())
                value = builder.sitofp(builder.load(place, align=1), FLOATS)
            else:
                value = _load(builder, place)
            term = builder.fmul(_spread(builder, arguments[4]), value)
            _store(builder, builder.fadd(_load(builder, target), term), target)
            return context.get_dummy_value()

        return types.void(WEIGHTS, types.intp, _numbers_in(values), types.intp, types.float32), codegen

    @intrinsic
    def same_or(typing_context, stored, unfolded):
        """Return ``stored`` if its numbers are of the type of those in ``unfolded``, else ``unfolded``."""
        differ = stored.dtype != unfolded.dtype

        def codegen(context, builder, signature, arguments):
            return arguments[differ]

        return (stored, unfolded)[differ](stored, unfolded), codegen

    def _tile(n_rows, n_vectors):
        """Return a function that adds up products for ``n_rows`` rows; see the comment at the end of this file."""

        def codegen(context, builder, signature, arguments):
            out, out_at, out_step, weights, at, step, columns, begin, end, rows, places, first = arguments
            word = context.get_value_type(types.intp)
            row_array = context.make_array(signature.args[9])(context, builder, rows)
            columns = context.make_array(signature.args[6])(context, builder, columns).data
            places = context.make_array(signature.args[10])(context, builder, places).data
            length = builder.extract_value(row_array.shape, 1)

            def vectors_from(array_type, array, place):
                return [
                    _pointer(context, builder, array_type, array, builder.add(place, ir.Constant(word, LANES * number)))
                    for number in range(n_vectors)
                ]

            starts, targets, totals = [], [], []
            for i in range(n_rows):
                number = ir.Constant(word, i)
                place = builder.load(builder.gep(places, [builder.add(first, number)]))
                starts.append(builder.gep(row_array.data, [builder.mul(place, length)]))
                targets.append(vectors_from(WEIGHTS, out, builder.add(out_at, builder.mul(out_step, number))))
                totals.append([cgutils.alloca_once(builder, FLOATS) for _ in targets[i]])
                for target, total in zip(targets[i], totals[i]):
                    _store(builder, _load(builder, target), total)
            with cgutils.for_range_slice(builder, begin, end, ir.Constant(word, 1), word) as (t, _):
                column = builder.zext(builder.load(builder.gep(columns, [t])), word)
                own = builder.add(at, builder.mul(builder.sub(t, begin), step))
                values = [_load(builder, pointer) for pointer in vectors_from(signature.args[3], weights, own)]
                for start, row_totals in zip(starts, totals):
                    of_row = _spread(builder, builder.load(builder.gep(start, [column])))
                    for value, total in zip(values, row_totals):
                        _store(builder, builder.fadd(_load(builder, total), builder.fmul(of_row, value)), total)
            for row_targets, row_totals in zip(targets, totals):
                for target, total in zip(row_targets, row_totals):
                    _store(builder, _load(builder, total), target)
            return context.get_dummy_value()

        # More than 12 arguments: an intrinsic reads flat arrays, and a tuple would have to be taken apart in LLVM.
        @intrinsic
        def add(typing_context, out, out_at, out_step, weights, at, step, columns, begin, end, rows, places, first):
            words = [types.intp] * 2
            declared = types.void(
                WEIGHTS, *words, _numbers_in(weights), *words, _numbers_in(columns), *words,
                types.float32[:, ::1], types.int64[::1], types.intp,
            )  # fmt: skip
            return declared, codegen

        return add


def _numbers_in(given):
    """Return the Numba type of a contiguous array argument, which is read-only if ``given`` is."""
    return types.Array(given.dtype, 1, "C", readonly=not given.mutable)


# For row i of some rows, and 16 lanes or more: ``out[out_at + i * out_step:][:lanes] += sum over t from begin to end of
# rows[places[first + i], columns[t]] * weights[at + (t - begin) * step:][:lanes]``. The sums stay in registers: AVX2
# has enough registers for the sums of six rows. Products and sums are rounded one by one, in the order of t, so the
# bits of a row's results depend neither on the other rows nor on the machine.
TILE_ROWS = 6
WIDE = 4 * LANES
add_rows = _tile(TILE_ROWS, 1)
add_one_row = _tile(1, 1)
add_one_row_wide = _tile(1, WIDE // LANES)
