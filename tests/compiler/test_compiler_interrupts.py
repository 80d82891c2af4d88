"""Ctrl-C while machine code is loaded: it is neither lost nor takes the process with it."""

import os
import signal
import threading

import pytest
from numba.core.caching import FunctionCache

from anguilla.compiler.interrupts import held_back
from anguilla.compiler.jit import kernel


@kernel
def _twice(x):
    return 2.0 * x


def press():
    os.kill(os.getpid(), signal.SIGINT)


def test_a_kernel_that_is_loaded_is_not_torn(monkeypatch):
    """An exception is dropped where LLVM asks for the code, which it then misses."""
    assert _twice(1.0) == 2.0
    loaded = []

    def load(self, signature, context):
        press()
        loaded.append(signature)

    monkeypatch.setattr(FunctionCache, "load_overload", load)
    with pytest.raises(KeyboardInterrupt):
        _twice._cache.load_overload(_twice.signatures[0], None)
    assert len(loaded) == 1


def test_other_threads_are_left_alone():
    before = signal.getsignal(signal.SIGINT)
    seen = []

    def work():
        with held_back():
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [before]
