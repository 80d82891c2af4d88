"""How kernels are called, and how they index arrays."""

import numba
import numpy as np
import pytest
from numba.np import arrayobj

from anguilla.compiler import indexing
from anguilla.compiler.distant import direct, entry
from anguilla.compiler.jit import kernel

compiled_only = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")


@entry()
def _shifted(x, by, out):
    """The numbers of x (n,), moved up by a number, into out (n,); returns the last."""
    for i in range(len(x)):
        out[i] = x[i] + by
    return out[-1]


@kernel
def _picked(x, places, out):
    """x at some places, and the last of x."""
    for i in range(len(places)):
        out[i] = x[places[i]]
    return x[-1]


def test_a_direct_call_gives_what_the_entry_gives():
    x, one, two = np.arange(3.0), np.zeros(3), np.zeros(3)
    assert _shifted(x, 1.0, one) == 3.0
    assert direct(_shifted)(x, 1.0, two) == 3.0
    np.testing.assert_array_equal(one, two)


@compiled_only
def test_it_is_direct_for_one_set_of_types_alone():
    @entry()
    def doubled(x):
        return 2.0 * x[0]

    assert direct(doubled) is doubled  # not compiled yet
    doubled(np.ones(1))
    assert direct(doubled) is not doubled

    @entry()
    def halved(x):
        return 0.5 * x[0]

    halved(np.ones(1))
    halved(np.ones(1, dtype=np.float32))
    assert direct(halved) is halved


def test_written_indices_count_from_the_end():
    out = np.zeros(2)
    assert _picked(np.arange(4.0), np.array([2, 0]), out) == 3.0
    np.testing.assert_array_equal(out, [2.0, 0.0])


@compiled_only
def test_kernels_ask_no_index_whether_it_is_negative(monkeypatch):
    def compared(function):
        function(np.arange(4.0), np.array([2, 0]), np.zeros(2))
        (text,) = function.inspect_llvm().values()
        return text.count("ashr i64") + text.count("icmp slt i64") + text.count("icmp sgt i64")

    def anew():
        return numba.njit(_nrt=False)(_picked.py_func)  # not from the disk, where its text is not kept

    ours = compared(anew())
    monkeypatch.setattr(arrayobj, "fix_integer_index", indexing._usual)
    assert ours < compared(anew())


@compiled_only
def test_others_still_count_from_the_end():
    """Functions that others compile in the same process are left alone."""
    found = numba.njit(lambda x, i: x[i])(np.arange(4.0), -1)
    assert found == 3.0
