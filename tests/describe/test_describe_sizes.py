"""Descriptions that no computer could hold are refused where they are written."""

import pytest

import anguilla as ag
from anguilla.describe import robot as robot_module
from anguilla.files import FileError, read_text_file

RUBBER = ag.Material(1e6, 1000)
ROBOT = (
    "parts: {arm: {rod: {length: 0.3, section: {type: circle, radius: 0.01}, intervals: %s,"
    " material: {young: 1e6, density: 1000}, strains: {type: kirchhoff, modes: %s}}, at: ground}}\n"
)


@pytest.mark.parametrize("make", [ag.kirchhoff, ag.planar, ag.reissner, ag.Legendre, ag.Monomial, ag.Chebyshev])
@pytest.mark.parametrize("n", [201, 3000, 10**9, 10**400])
def test_too_many_modes_are_refused(make, n):
    with pytest.raises(ag.DescriptionError, match="at most 200"):
        make(n)


def test_too_many_pieces_and_intervals_are_refused():
    with pytest.raises(ag.DescriptionError, match="at most 2000"):
        ag.PiecewiseConstant(2001)
    with pytest.raises(ag.DescriptionError, match="at most 2000"):
        ag.PiecewiseConstant([k / 3000 for k in range(1, 3000)])
    with pytest.raises(ag.DescriptionError, match="at most 1000"):
        ag.Rod(0.3, ag.Circle(0.01), RUBBER, ag.planar(2), intervals=1001)


def test_files_with_too_many_modes_do_not_pass():
    assert read_text_file(ROBOT % (64, 20)).robot.size == 60
    for intervals, modes in ((64, 3000), (10**7, 3), (64, "'9**9'")):
        with pytest.raises(FileError, match="at most"):
            read_text_file(ROBOT % (intervals, modes))


def test_a_robot_whose_matrices_fill_the_memory_is_refused(monkeypatch):
    robot = ag.Robot("crowd")
    rod = ag.Rod(0.3, ag.Circle(0.01), RUBBER, ag.kirchhoff(200))
    for k in range(34):
        robot.add(rod, at=robot.ground, name=f"arm{k}")
    with pytest.raises(ag.DescriptionError, match=r"20400 coordinates.* GB"):
        ag.statics(robot)
    with pytest.raises(ag.DescriptionError, match="20400 coordinates"):
        ag.simulate(robot, duration=0.1, dt=0.1)
    monkeypatch.setattr(robot_module, "MOST_PARTS", 34)
    with pytest.raises(ag.DescriptionError, match="34 parts"):
        robot.add(rod, at=robot.ground, name="one_more")


def test_many_pieces_choose_a_number_of_intervals():
    from anguilla.mechanics.grid import default_intervals

    pieces = ag.PiecewisePolynomial(2000, 3)
    assert default_intervals(ag.Rod(0.3, ag.Circle(0.01), RUBBER, ag.Strains(bend_z=pieces))) == 64
