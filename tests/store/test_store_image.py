"""A file in memory: the same bytes as a plain one, whatever is written where."""

import io

import numpy as np
import pytest

from anguilla.store.image import Image


@pytest.mark.parametrize("seed", range(5))
def test_any_writes_leave_the_bytes_of_a_plain_file(seed):
    random = np.random.default_rng(seed)
    arrays = [random.integers(0, 255, size, dtype=np.uint8) for size in (70_000, 90_000, 200_000)]
    image, plain = Image(arrays[:2]), io.BytesIO()
    for _ in range(40):
        at, kind = int(random.integers(0, 1_000_000)), random.integers(0, 5)
        if kind == 4:
            length = int(random.integers(0, 100_000))
            into = [bytearray(length), bytearray(length)]
            for file, buffer in zip((image, plain), into, strict=True):
                file.seek(at)
                assert file.readinto(buffer) == max(0, min(length, plain.seek(0, io.SEEK_END) - at)) or file is plain
            assert into[0] == into[1]
            continue
        data = arrays[kind] if kind < 3 else random.integers(0, 255, 50, dtype=np.uint8)
        for file in (image, plain):
            file.seek(at)
            assert file.write(memoryview(data)) == len(data)
        assert image.tell() == plain.tell()
    assert b"".join(image.pieces()) == plain.getvalue()
    end = int(random.integers(1, image.seek(0, io.SEEK_END)))
    assert image.truncate(end) == plain.truncate(end) == len(plain.getvalue())
    assert b"".join(image.pieces()) == plain.getvalue()


def test_large_arrays_are_not_copied():
    array = np.arange(100_000, dtype=np.float64)
    image = Image([array])
    image.write(b"head")
    image.write(memoryview(array).cast("B"))
    image.write(b"tail")
    head, held, tail = image.pieces()
    assert np.shares_memory(np.frombuffer(held), array)
    assert (bytes(head), bytes(tail)) == (b"head", b"tail")


def test_a_file_larger_than_its_arrays():
    image, plain = Image([]), io.BytesIO()
    for size in (3_000_000, 5_000_000, 9_000_000):
        for file in (image, plain):
            file.write(bytes([size % 251]) * size)
    assert b"".join(image.pieces()) == plain.getvalue()
