"""Read up to eight digits of a text at once, without a branch for each of them."""

import sys

import numpy as np
from llvmlite import ir
from numba import config, types
from numba.extending import intrinsic

from xmlcore._kernels._jit import inlined

EIGHT = 8  # most digits that are read at once

_ZERO, _NINE = 48, 57
_ZEROS = np.uint64(0x3030303030303030)  # eight digits 0
_LOW, _HIGH = np.uint64(0x7F7F7F7F7F7F7F7F), np.uint64(0x8080808080808080)  # all bits of bytes but the highest; these
_ABOVE_NINE = np.uint64(0x7676767676767676)  # added to a byte, this sets its highest bit if the byte is more than 9
_PAIRS = np.uint64(0x000000FF000000FF)
_ONE, _TEN, _BYTE, _TWO_BYTES, _FOUR_BYTES = (np.uint64(n) for n in (1, 10, 8, 16, 32))
_FIRST_PAIRS, _LAST_PAIRS = np.uint64(0x000F424000000064), np.uint64(0x0000271000000001)  # 1000000, 100; 10000, 1

if config.DISABLE_JIT or sys.byteorder != "little":

    @inlined
    def read_digits(text, at):
        """Read at most eight digits; return how many there are, and their number. Eight bytes must follow."""
        value, count = 0, 0
        while count < EIGHT and _ZERO <= text[at + count] <= _NINE:
            value = value * 10 + (int(text[at + count]) - _ZERO)
            count += 1
        return count, value

else:

    @intrinsic
    def _eight_bytes(typing_context, text, at):
        """Return the eight bytes of a text from ``at`` on as a uint64, the first of which is the lowest."""

        def codegen(context, builder, signature, arguments):
            array = context.make_array(signature.args[0])(context, builder, arguments[0])
            place = builder.bitcast(builder.gep(array.data, [arguments[1]]), ir.IntType(64).as_pointer())
            return builder.load(place, align=1)

        return types.uint64(text, types.intp), codegen

    @intrinsic
    def _zeros_below(typing_context, bits):
        """Return the number of zeros below the lowest one of a uint64, which is not 0."""

        def codegen(context, builder, signature, arguments):
            return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

        return types.uint64(types.uint64), codegen

    @inlined
    def read_digits(text, at):
        """Read the digits from ``at`` on, eight at most; return how many there are, and their number."""
        # Eight bytes of the text, an array of uint8, must follow.
        digits = _eight_bytes(text, at) ^ _ZEROS  # digits are bytes from 0 to 9 then, all others are larger
        others = (((digits & _LOW) + _ABOVE_NINE) | digits) & _HIGH
        count = np.int64(EIGHT)
        if others != np.uint64(0):
            count = np.int64(_zeros_below(others) >> np.uint64(3))
            if count == 0:
                return count, np.int64(0)
            digits <<= np.uint64(64 - 8 * count)  # the last digit becomes the highest byte, with zeros before
        digits = digits * _TEN + (digits >> _BYTE)  # four numbers of two digits
        digits = (digits & _PAIRS) * _FIRST_PAIRS + ((digits >> _TWO_BYTES) & _PAIRS) * _LAST_PAIRS
        return count, np.int64(digits >> _FOUR_BYTES)
