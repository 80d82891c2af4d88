"""The code of the page on bodies, loops and loads runs, and says what the page says."""

import re
from pathlib import Path

import numpy as np
import pytest

PAGE = Path(__file__).parents[2] / "docs" / "multibody.md"


@pytest.mark.skipif(not PAGE.exists(), reason="the documentation is not shipped with the tests")
def test_the_code_of_the_page_runs():
    names: dict[str, object] = {}
    for code in re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.S):
        exec(compile(code, PAGE.name, "exec"), names)
    assert names["run"].effort(names["wheel"])[-1, 0] == pytest.approx(4.0 * 0.5 * 1.0 * 0.1**2, rel=1e-6)
    assert names["fall"].twist(names["ball"].frame)[-1, 5] == pytest.approx(-np.sqrt(0.2 * 9.81 / 0.3), rel=1e-3)
    assert (
        np.linalg.norm(names["rest"].position(names["left"].tip) - names["rest"].position(names["right"].tip)) < 1e-10
    )
