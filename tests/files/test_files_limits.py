"""Robot files that somebody sends: their formulas end, what they include is read once, from their own folder, untold."""

import itertools
import time

import pytest

from anguilla.errors import AnguillaWarning, DescriptionError
from anguilla.files import Expression, FileError, read_file, read_robot, read_text_file
from anguilla.files import sources as sources_module

ROBOT = (
    "name: a\nparts: {arm: {rod: {length: %s, section: {type: circle, radius: 0.01}, "
    "material: {young: 1e6, density: 1000}, strains: {bend_z: 2}}, at: ground}}\n"
)
NINE = "(" + "+".join(["(1<2)"] * 9) + ")"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("(1<2)+(1<2)", 2.0),
        ("True + True", 2.0),
        ("(not 0) * 3", 3.0),
        ("(1 and 2) + (0 or 3)", 2.0),
        ("1 < 2 < 3", 1.0),
        ("1 < 2 < 2", 0.0),
        ("3 > 2 != 2", 0.0),
        ("(2 < 1) - 1", -1.0),
    ],
)
def test_truth_is_a_number_of_the_usual_kind(text, value):
    found = Expression(text)()
    assert type(found) is float and found == value


@pytest.mark.parametrize("text", [f"{NINE}**{NINE}**{NINE}", "(True+True)**(True+True)**9**9", "(not 0)*9**9**9**9"])
def test_powers_of_truths_end(text):
    began = time.process_time()
    with pytest.raises(DescriptionError, match="no value"):
        Expression(text)()
    assert time.process_time() - began < 1.0


def test_nested_comparisons_are_computed_once():
    text = "1"
    for _ in range(50):
        text = f"0<=({text})<=1"
    began = time.process_time()
    assert Expression(text)() == 1.0
    assert time.process_time() - began < 1.0


def test_files_that_include_the_next_one_twice_are_read_once_each(tmp_path, monkeypatch):
    for k in range(30):
        (tmp_path / f"i{k}.yaml").write_text(f"include: [i{k + 1}.yaml, i{k + 1}.yaml]\n")
    (tmp_path / "i30.yaml").write_text("parameters: {long: 0.3}\n")
    (tmp_path / "top.yaml").write_text("include: i0.yaml\n" + ROBOT % "long")
    read = []
    original = sources_module.read_text
    monkeypatch.setattr(sources_module, "read_text", lambda path, most: read.append(path) or original(path, most))
    assert read_robot(tmp_path / "top.yaml").part("arm").length == 0.3
    assert len(read) == len(set(read)) == 32


def test_a_file_that_two_others_include_counts_once(tmp_path):
    (tmp_path / "base.yaml").write_text(ROBOT % "0.3" + "loads: [{type: tip_wrench, part: arm, force: [0, 0, 1]}]\n")
    for name in "bc":
        (tmp_path / f"{name}.yaml").write_text("include: base.yaml\n")
    (tmp_path / "top.yaml").write_text("include: [b.yaml, c.yaml]\n")
    assert len(read_robot(tmp_path / "top.yaml").loads) == 1


def test_too_many_files_and_too_many_bytes_are_refused(tmp_path, monkeypatch):
    for k in range(120):
        (tmp_path / f"m{k}.yaml").write_text("description: x\n")
    (tmp_path / "top.yaml").write_text("include: [" + ", ".join(f"m{k}.yaml" for k in range(120)) + "]\n" + ROBOT % 0.3)
    with pytest.raises(FileError, match="at most 100"):
        read_robot(tmp_path / "top.yaml")
    (tmp_path / "big.yaml").write_text("description: " + "x" * 5000)
    (tmp_path / "top.yaml").write_text("include: big.yaml\n" + ROBOT % 0.3)
    monkeypatch.setattr(sources_module, "MOST_BYTES", 4000)
    with pytest.raises(FileError, match=r"big\.yaml"):
        read_robot(tmp_path / "top.yaml")


@pytest.fixture
def secret(tmp_path):
    (tmp_path / "secret.yaml").write_text("password: hunter2\n")
    (tmp_path / "passwd").write_text("root:x:0:0:hunter2\n")
    folder = tmp_path / "robots"
    folder.mkdir()
    return folder


@pytest.mark.parametrize(
    "name", ["../secret.yaml", "../passwd", "sub/../../secret.yaml", "link.yaml", "down/secret.yaml"]
)
def test_includes_stay_in_their_folder(secret, name):
    (secret / "link.yaml").symlink_to(secret.parent / "secret.yaml")
    (secret / "down").symlink_to(secret.parent)
    (secret / "sub").mkdir()
    (secret / "top.yaml").write_text(f"include: {name}\n" + ROBOT % 0.3)
    with pytest.raises(FileError, match="outside of the folder") as caught:
        read_robot(secret / "top.yaml")
    assert "hunter2" not in str(caught.value) and "password" not in str(caught.value)
    (secret / "top.yaml").write_text(f"urdf: {{file: {name}}}\n" + ROBOT % 0.3)
    with pytest.raises(FileError, match="outside of the folder"):
        read_robot(secret / "top.yaml")


@pytest.mark.parametrize(
    "text", ["hunter2", "password: hunter2", "[hunter2]", "hunter2: [", "'hunter2", "*hunter2", "- hunter2"]
)
def test_what_other_files_hold_is_not_told(secret, text):
    (secret / "private.yaml").write_text(text + "\n")
    (secret / "private.key").write_text(text + "\n")
    for name in ("private.yaml", "private.key"):
        (secret / "top.yaml").write_text(f"include: {name}\n" + ROBOT % 0.3)
        with pytest.raises(FileError) as caught:
            read_robot(secret / "top.yaml")
        assert "hunter2" not in str(caught.value) and "private" in str(caught.value)


def test_a_mistake_in_an_included_robot_file_is_told_with_its_place(secret):
    (secret / "parts.yaml").write_text("gravity: [0, 0, 0]\nprats: {}\n")
    (secret / "top.yaml").write_text("include: parts.yaml\n" + ROBOT % 0.3)
    with pytest.raises(FileError, match=r"parts\.yaml:2:1: prats: there is no such section"):
        read_robot(secret / "top.yaml")


def test_a_text_names_no_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "arm.urdf").write_text(
        '<robot name="a"><link name="b"><inertial><mass value="1"/></inertial></link></robot>'
    )
    (tmp_path / "robot.yaml").write_text("urdf: {file: arm.urdf}\n")
    assert len(read_file(tmp_path / "robot.yaml").robot.parts) == 1
    for text in ("urdf: {file: arm.urdf}\n", "include: robot.yaml\n"):
        with pytest.raises(FileError, match="a text cannot"):
            read_text_file(text)


def test_a_circle_of_links_and_a_folder_are_refused(secret):
    (secret / "loop.yaml").symlink_to(secret / "loop.yaml")
    (secret / "folder.yaml").mkdir()
    for name in ("loop.yaml", "folder.yaml"):
        (secret / "top.yaml").write_text(f"include: {name}\n" + ROBOT % 0.3)
        with pytest.raises(FileError, match=name):
            read_robot(secret / "top.yaml")


def test_a_json_file_of_too_many_values_is_refused():
    began = time.process_time()
    with pytest.raises(FileError, match="characters"):
        read_text_file('{"parts": [' + "[]," * 3_000_000 + "[]]}")
    assert time.process_time() - began < 2.0


def test_a_yaml_file_of_too_many_characters_is_refused():
    with pytest.raises(FileError, match="500000"):
        read_text_file("description: " + "x" * 500_000)


def test_a_small_yaml_file_that_unfolds_by_its_aliases_is_refused():
    names = "abcdef"
    lines = ["a: &a [" + ", ".join("0" * 10) + "]"]
    lines += [f"{new}: &{new} [" + ", ".join([f"*{old}"] * 10) + "]" for old, new in itertools.pairwise(names)]
    began = time.process_time()
    with pytest.raises(FileError, match="200000 values"):
        read_text_file("\n".join(lines) + "\n")
    assert time.process_time() - began < 10.0


def test_forty_levels_are_read_and_no_more():
    for levels, words in ((30, "no such section"), (45, "at most 40 levels")):
        with pytest.raises(FileError, match=words):
            read_text_file("deep: " + "[" * levels + "]" * levels + "\n")
        with pytest.raises(FileError, match=words):
            read_text_file('{"deep": ' + "[" * levels + "]" * levels + "}")


def test_long_and_deep_formulas_are_refused():
    assert Expression("+".join(["(" + "+".join(["1"] * 30) + ")"] * 29))() == 870.0
    with pytest.raises(DescriptionError, match="at most 2000 characters"):
        Expression("+".join(["1"] * 1100))
    with pytest.raises(DescriptionError, match="more than 60 levels"):
        Expression("-(" * 70 + "1" + ")" * 70)


@pytest.mark.parametrize(
    "name", ["/etc/passwd", "C:\\secret.yaml", "file:///etc/passwd", "https://evil.example/a.yaml"]
)
def test_absolute_paths_and_addresses_are_refused(tmp_path, name):
    for section in (f"include: '{name}'\n", f"urdf: {{file: '{name}'}}\n"):
        (tmp_path / "top.yaml").write_text(section + ROBOT % 0.3)
        with pytest.raises(FileError, match="absolute path"):
            read_robot(tmp_path / "top.yaml")


def test_meshes_that_a_urdf_file_names_are_not_opened(tmp_path):
    shape = "<{0}><geometry><mesh filename='{1}'/></geometry></{0}>"
    shapes = shape.format("visual", "/nonexistent/a.stl") + shape.format("collision", "package://b/c.dae")
    (tmp_path / "arm.urdf").write_text(
        f'<robot name="a"><link name="b"><inertial><mass value="1"/></inertial>{shapes}</link></robot>'
    )
    (tmp_path / "robot.yaml").write_text("urdf: {file: arm.urdf}\n")
    with pytest.warns(AnguillaWarning, match="its mesh is not drawn"):
        assert len(read_robot(tmp_path / "robot.yaml").parts) == 1
