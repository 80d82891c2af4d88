"""A worker that answers, hangs or dies by the number it gets."""

import os
import time


def work(pipe, seed):
    pipe.send("ready")
    while (index := pipe.recv()) is not None:
        if index == 2:
            time.sleep(60.0)
        if index == 4:
            os._exit(3)
        pipe.send({"index": index, "seed": seed, "outcome": "right", "reason": "", "seconds": 0.0})
