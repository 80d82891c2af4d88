"""Meshes in input files of Abaqus and CalculiX: nodes, elements, sets, surfaces, parts and where instances of them are.

Numbers count within a part. Sets are lists of numbers and of other sets, and may grow; surfaces are faces of elements.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from anguilla.errors import DescriptionError
from anguilla.fem.mesh import Floats, Ints

__all__ = ["read"]

SOLIDS = {4: "tetra", 5: "pyramid", 6: "wedge", 8: "hexahedron", 10: "tetra10", 15: "wedge15", 20: "hexahedron20"}
FLATS = {"S3": "triangle", "STRI3": "triangle", "DS3": "triangle", "R3D3": "triangle", "CPS3": "triangle", "CPE3": "triangle",
         "M3D3": "triangle", "SFM3D3": "triangle", "STRI65": "triangle6", "CPS6": "triangle6", "CPE6": "triangle6",
         "M3D6": "triangle6", "SFM3D6": "triangle6", "S4": "quad", "M3D4": "quad", "R3D4": "quad", "B31": "line",
         "T3D2": "line", "B32": "line3", "T3D3": "line3"}  # fmt: skip
NODES = {"triangle": 3, "triangle6": 6, "quad": 4, "line": 2, "line3": 3} | {name: n for n, name in SOLIDS.items()}
FACES = {"S1": (0, 1, 2), "S2": (0, 3, 1), "S3": (1, 3, 2), "S4": (2, 3, 0)}  # corners of a tetrahedron
MAKERS = ("NGEN", "NFILL", "NCOPY", "ELGEN", "ELCOPY", "NMAP", "SYSTEM")  # which make nodes and elements, or move them
Member = str | range


@dataclass
class Scope:
    """A part, or what is outside of parts: places of its numbers in the lists of nodes and of elements."""

    label: str
    nodes: dict[int, int] = field(default_factory=dict)
    elements: dict[int, tuple[str, int]] = field(default_factory=dict)  # kind of cell, number among these


@dataclass
class Group:
    """A set, or a surface, as it is written."""

    label: str
    scope: str
    members: list[tuple[str, Member]] = field(default_factory=list)  # scope, and a number, numbers or the name of a set
    faces: list[tuple[str, str, str]] = field(default_factory=list)  # of a surface: scope, number or set, face


class _File:
    """What is read of a file, keyword by keyword."""

    def __init__(self, file: Path) -> None:
        self.points: list[list[float]] = []
        self.cells: dict[str, list[list[int]]] = {}
        self.scopes: dict[str, Scope] = {"": Scope("")}
        self.instances: dict[str, tuple[str, list[list[float]]]] = {}  # part, and lines of where it is
        self.nsets: dict[tuple[str, str], Group] = {}
        self.elsets: dict[tuple[str, str], Group] = {}
        self.surfaces: dict[tuple[str, str], Group] = {}
        self._known: dict[
            int, list[Any]
        ] = {}  # what is in sets: those that name others twice, again and again, stay short
        self.at = ""
        for word, options, rows in _keywords(_lines(file, file.parent.resolve(), [])):
            if word in MAKERS:
                raise DescriptionError(f"*{word} makes or moves points by a rule, which is not read: write them out.")
            method = getattr(self, "_" + word.replace(" ", "_").lower(), None)
            if method is not None:
                method(options, rows)

    def _part(self, options: dict[str, str], rows: list[list[str]]) -> None:
        self.at = options["NAME"].upper()
        self.scopes[self.at] = Scope(options["NAME"])

    def _end_part(self, options: dict[str, str], rows: list[list[str]]) -> None:
        self.at = ""

    def _instance(self, options: dict[str, str], rows: list[list[str]]) -> None:
        name, part = options["NAME"].upper(), options.get("PART", "").upper()
        self.at = part
        for other, _ in self.instances.values():
            if other == part:
                raise DescriptionError(f"part {options.get('PART')!r} is there more than once: write a part for each.")
        self.scopes.setdefault(part, Scope(options.get("PART", "")))
        self.instances[name] = part, [[float(word) for word in row if word] for row in rows]

    def _end_instance(self, options: dict[str, str], rows: list[list[str]]) -> None:
        self.at = ""

    def _node(self, options: dict[str, str], rows: list[list[str]]) -> None:
        own, added = self.scopes[self.at].nodes, []
        for row in rows:
            own[int(row[0])] = len(self.points)
            added.append(row[0])
            self.points.append([float(word or 0.0) for word in [*row, "0", "0"][1:4]])
        if "NSET" in options:
            self._grow(self.nsets, options["NSET"], [(self.at, word) for word in added])

    def _element(self, options: dict[str, str], rows: list[list[str]]) -> None:
        kind = _kind(options["TYPE"])
        if kind is None:
            return
        numbers = [int(word) for row in rows for word in row if word]
        width, own, added = NODES[kind] + 1, self.scopes[self.at], []
        if len(numbers) % width:
            raise DescriptionError(f"elements of type {options['TYPE']} do not have {width - 1} nodes each.")
        block = self.cells.setdefault(kind, [])
        for k in range(0, len(numbers), width):
            number, *corners = numbers[k : k + width]
            own.elements[number] = kind, len(block)
            block.append([own.nodes[n] if n in own.nodes else self.scopes[""].nodes[n] for n in corners])
            added.append(str(number))
        if "ELSET" in options:
            self._grow(self.elsets, options["ELSET"], [(self.at, word) for word in added])

    def _nset(self, options: dict[str, str], rows: list[list[str]]) -> None:
        scope = self._scope(options)
        members = self._members(options, rows, scope)
        if "ELSET" in options:
            members = [(scope, "elset " + options["ELSET"])]
        self._grow(self.nsets, options["NSET"], members)

    def _elset(self, options: dict[str, str], rows: list[list[str]]) -> None:
        self._grow(self.elsets, options["ELSET"], self._members(options, rows, self._scope(options)))

    def _surface(self, options: dict[str, str], rows: list[list[str]]) -> None:
        if options.get("TYPE", "ELEMENT").upper() != "ELEMENT":
            return
        group = self.surfaces.setdefault((self.at, options["NAME"].upper()), Group(options["NAME"], self.at))
        for row in rows:
            scope, member = self._told(row[0], self.at)
            group.faces.append((scope, member, row[1].upper() if len(row) > 1 else ""))

    def _scope(self, options: dict[str, str]) -> str:
        """The part that numbers of a set are of."""
        name = options.get("INSTANCE", "").upper()
        return self.instances[name][0] if name else self.at

    def _told(self, word: str, scope: str) -> tuple[str, str]:
        """The part and the number, or the name, of a word such as "12", "SIDE" or "left.SIDE"."""
        before, dot, after = word.partition(".")
        if dot and before.upper() in self.instances:
            return self.instances[before.upper()][0], after
        return scope, word

    def _members(self, options: dict[str, str], rows: list[list[str]], scope: str) -> list[tuple[str, Member]]:
        if "GENERATE" in options:
            ranges = [[int(word) for word in row if word] for row in rows]
            return [(scope, range(row[0], row[1] + 1, row[2] if len(row) > 2 else 1)) for row in ranges]
        return [self._told(word, scope) for row in rows for word in row if word]

    def _grow(self, groups: dict[tuple[str, str], Group], label: str, members: list[tuple[str, Any]]) -> None:
        groups.setdefault((self.at, label.upper()), Group(label, self.at)).members.extend(members)

    # What was meant --------------------------------------------------------------------------------------------------

    def of(self, groups: dict[tuple[str, str], Group], group: Group, seen: tuple[Group, ...] = ()) -> list[Any]:
        """Nodes, or elements, of a set, with those of the sets that it names; each of them once."""
        if id(group) not in self._known:
            self._known[id(group)] = list(dict.fromkeys(self._found(groups, group, seen)))
        return self._known[id(group)]

    def _found(self, groups: dict[tuple[str, str], Group], group: Group, seen: tuple[Group, ...]) -> list[Any]:
        found: list[Any] = []
        elements = groups is self.elsets
        for scope, member in group.members:
            own: dict[int, Any] = self.scopes[scope].elements if elements else self.scopes[scope].nodes
            if isinstance(member, range):
                found += [own[n] for n in sorted(own) if n in member]
            elif member.lstrip("-").isdigit():
                if int(member) in own:
                    found.append(own[int(member)])
            elif not elements and member.startswith("elset "):
                cells = self.of(self.elsets, self._named(self.elsets, scope, member[6:]))
                found += [node for kind, row in cells for node in self.cells[kind][row]]
            else:
                other = self._named(groups, scope, member)
                if other in seen or other is group:
                    raise DescriptionError(f"set {group.label!r} contains itself.")
                found += self.of(groups, other, (*seen, group))
        return found

    def _named(self, groups: dict[tuple[str, str], Group], scope: str, name: str) -> Group:
        group = groups.get((scope, name.upper()), groups.get(("", name.upper())))
        if group is None:
            raise DescriptionError(f"there is no set {name!r}, which another one names.")
        return group

    def faces(self, group: Group) -> list[list[int]]:
        """Triangles of a surface: faces of tetrahedra, those outside where no face is named, and triangles themselves."""
        found = []
        for scope, member, face in group.faces:
            number = member.isdigit()
            cells = [self.scopes[scope].elements[int(member)]] if number else self.of(
                self.elsets, self._named(self.elsets, scope, member)
            )  # fmt: skip
            for kind, row in cells:
                nodes = self.cells[kind][row]
                if kind in ("triangle", "triangle6"):
                    found.append(nodes[:3])
                elif kind in ("tetra", "tetra10"):
                    which = (
                        [FACES[face]] if face in FACES else [one for one in FACES.values() if self._outside(nodes, one)]
                    )
                    found += [[nodes[k] for k in one] for one in which]
        return found

    def _outside(self, nodes: list[int], face: tuple[int, ...]) -> bool:
        """Whether no other tetrahedron has this face."""
        if not hasattr(self, "_shared"):
            self._shared: dict[tuple[int, ...], int] = {}
            for kind in ("tetra", "tetra10"):
                for cell in self.cells.get(kind, []):
                    for one in FACES.values():
                        key = tuple(sorted(cell[k] for k in one))
                        self._shared[key] = self._shared.get(key, 0) + 1
        return self._shared[tuple(sorted(nodes[k] for k in face))] == 1

    def placed(self) -> Floats:
        """Points (n, 3), those of parts where their instances are."""
        points = np.array(self.points, dtype=float).reshape(-1, 3)
        for part, rows in self.instances.values():
            own = sorted(self.scopes[part].nodes.values())
            if rows and rows[0]:
                points[own] += rows[0][:3]
            if len(rows) > 1:
                from anguilla.lie import exp3

                a, b, angle = np.array(rows[1][:3]), np.array(rows[1][3:6]), np.radians(rows[1][6])
                turn = exp3(angle * (b - a) / np.linalg.norm(b - a))
                points[own] = a + (points[own] - a) @ turn.T
        return points

    def gone(self) -> set[tuple[str, int]]:
        """Elements of parts of which there is no instance."""
        if not self.instances:
            return set()
        there = {part for part, _ in self.instances.values()} | {""}
        return {cell for name, scope in self.scopes.items() if name not in there for cell in scope.elements.values()}


def read(file: Path, meshio: Any) -> Any:
    """The mesh of an input file, as meshio holds one."""
    told = _File(file)
    gone = told.gone()
    places: dict[tuple[str, int], tuple[int, int]] = {}
    blocks: list[tuple[str, Ints]] = []
    for kind, rows in told.cells.items():
        kept = [k for k in range(len(rows)) if (kind, k) not in gone]
        if kept:
            places |= {(kind, k): (len(blocks), n) for n, k in enumerate(kept)}
            blocks.append((kind, np.array([rows[k] for k in kept], dtype=np.int64)))
    sets: dict[str, list[list[int]]] = {}
    for label, group in _labelled(told.elsets):
        sets[label] = [[] for _ in blocks]
        for cell in told.of(told.elsets, group):
            if cell in places:
                block, n = places[cell]
                sets[label][block].append(n)
    for label, group in _labelled(told.surfaces):
        faces = told.faces(group)
        if faces:
            name = label if label not in sets else f"{label}_surface"
            sets[name] = [[] for _ in blocks] + [list(range(len(faces)))]
            blocks.append(("triangle", np.array(faces, dtype=np.int64)))
    whole = {
        label: [np.array(own, dtype=np.int64) for own in rows + [[]] * (len(blocks) - len(rows))]
        for label, rows in sets.items()
    }
    nodes = {label: np.array(told.of(told.nsets, group), dtype=np.int64) for label, group in _labelled(told.nsets)}
    return meshio.Mesh(told.placed(), blocks, point_sets=nodes, cell_sets=whole)


def _labelled(groups: dict[tuple[str, str], Group]) -> Iterator[tuple[str, Group]]:
    """Sets with their names; where parts have sets of the same name, that of the part is put before."""
    names = [name for _, name in groups]
    for (scope, name), group in groups.items():
        alone = names.count(name) == 1 or not scope
        yield (group.label if alone else f"{scope}.{group.label}"), group


def _kind(name: str) -> str | None:
    """The kind of cell of a type of element, whose last letters say how it is integrated; None for what has no shape."""
    solid = re.fullmatch(r"(?:C3D|DC3D)(\d+)[A-Z]*", name.strip().upper())
    if solid:
        return SOLIDS.get(int(solid[1]))
    flat = re.match(r"(STRI65|STRI3|(?:SFM3D|M3D|R3D|CPS|CPE|DS|S|B|T3D)\d+)", name.strip().upper())
    return FLATS.get(flat[1]) if flat else None


def _lines(file: Path, folder: Path, read: list[Path]) -> Iterator[str]:
    """Lines that are no comments, with those of files that are included, which must lie beside it or below.

    The list of what was read gets this file: none is included twice, so that few files cannot unfold without end.
    """
    read.append(file.resolve())
    for line in file.read_text(encoding="utf-8", errors="replace").splitlines():
        if line.startswith("**") or not line.strip():
            continue
        found = re.match(r"\*\s*(INCLUDE|NODE|ELEMENT|NSET|ELSET)\b.*?,\s*INPUT\s*=\s*([^,]+)", line, re.IGNORECASE)
        if found is None:
            yield line
            continue
        other = (folder / found[2].strip().strip('"')).resolve()
        if not other.is_relative_to(folder) or not other.is_file():
            raise DescriptionError(f"it includes {found[2].strip()!r}, which must be a file beside it or below.")
        if other in read:
            raise DescriptionError(f"it includes {found[2].strip()!r} more than once.")
        if found[1].upper() != "INCLUDE":
            yield line
        yield from _lines(other, folder, read)


def _keywords(lines: Iterator[str]) -> Iterator[tuple[str, dict[str, str], list[list[str]]]]:
    """Keywords in capitals, with their options, and the rows of words below them."""
    head, rows = "", list[list[str]]()
    for line in lines:
        if line.startswith("*") and not head.rstrip().endswith(","):
            if head:
                yield (*_options(head), rows)
            head, rows = line, []
        elif head.rstrip().endswith(",") and not rows:  # options go on
            head += line
        elif head:
            rows.append([word.strip().strip('"') for word in line.rstrip().rstrip(",").split(",")])
    if head:
        yield (*_options(head), rows)


def _options(head: str) -> tuple[str, dict[str, str]]:
    word, *options = head[1:].split(",")
    pairs = (option.partition("=") for option in options if option.strip())
    return " ".join(word.upper().split()), {key.strip().upper(): value.strip().strip('"') for key, _, value in pairs}
