"""Disks that are full."""

import resource
from contextlib import contextmanager


@contextmanager
def full_disk(size=3000):
    """No file may become larger than this [bytes]."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
