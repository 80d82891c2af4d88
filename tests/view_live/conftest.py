"""A soft arm of three sections with nine tendons, for the viewer."""

from importlib.resources import as_file, files

import pytest

import anguilla as ag
from anguilla.describe.files import read_robot


@pytest.fixture(scope="session")
def arm() -> ag.Robot:
    with as_file(files("anguilla.cli").joinpath("templates", "tendon.yaml")) as path:
        return read_robot(path)
