"""Robot files (YAML) and URDF: read, write, check."""

from anguilla.files.expressions import Expression, Table
from anguilla.files.problems import FileError, Problem
from anguilla.files.read import RobotFile, read_file, read_robot, read_text_file
from anguilla.files.schema import robot_schema
from anguilla.files.template import Template
from anguilla.files.urdf import add_urdf, read_urdf
from anguilla.files.write import robot_document, robot_text, write_robot

__all__ = [
    "Expression",
    "FileError",
    "Problem",
    "RobotFile",
    "Table",
    "Template",
    "add_urdf",
    "read_file",
    "read_robot",
    "read_text_file",
    "read_urdf",
    "robot_document",
    "robot_schema",
    "robot_text",
    "write_robot",
]
