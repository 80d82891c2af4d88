"""Puts compiled kernels into the wheel, if ANGUILLA_KERNELS names a folder of them: see wheel.py beside this file."""

import os

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Kernels(BuildHookInterface):
    """A folder that is no part of the sources."""

    def initialize(self, version, build_data):
        """Name it."""
        folder = os.environ.get("ANGUILLA_KERNELS")
        if folder and version == "standard":
            build_data["force_include"][folder] = "anguilla/kernels"
