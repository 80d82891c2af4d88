"""Ctrl-C while an archive of arrays is written."""

import io
import itertools
import signal
import sys

import numpy as np
import pytest

from anguilla.store.whole import write_archive

ARRAYS = {"a": np.arange(6.0).reshape(2, 3), "done": 3, "name": "arm", "none": np.zeros((0, 2))}


def pressed_at(call, write):
    """Whether Ctrl-C at the start of one of the calls of Python functions on the way ended the writing, told as such."""
    calls = itertools.count()

    def press(frame, event, argument):
        if event == "call" and next(calls) == call:
            signal.raise_signal(signal.SIGINT)

    sys.setprofile(press)
    try:
        write_archive(io.BytesIO(), write, ARRAYS)
    except KeyboardInterrupt:
        return True
    finally:
        sys.setprofile(None)
    assert next(calls) <= call, "it went on as if nothing had happened"
    return False


@pytest.mark.parametrize("write", [np.savez, np.savez_compressed])
def test_ctrl_c_is_told_whenever_it_is_pressed(write):
    pressed = next(call for call in itertools.count() if not pressed_at(call, write))
    assert pressed > 100
