"""Records as netCDF files (HDF5), which xarray, MATLAB, Panoply and others open."""

from __future__ import annotations

import subprocess
import sys
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from anguilla.compiler.interrupts import held_back
from anguilla.errors import DescriptionError, require
from anguilla.store.hdf5 import check_seal, check_sizes, seal
from anguilla.store.image import Image
from anguilla.store.record import Record
from anguilla.store.whole import whole_file, write_bytes

__all__ = ["read_netcdf", "write_netcdf"]

NOT_A_VARIABLE = "This is a netCDF dimension but not a netCDF variable."
MOST_TEXT = 200_000_000  # characters of a variable
PATIENCE = 30.0  # [s] for a file without a seal, the start of a process included
NUMBERS = (".csv", ".npz", ".mat")  # files of numbers alone
PACKED_FROM = 4096  # numbers; smaller arrays do not gain from compression
PROBED, GAIN = 512, 0.6  # numbers, four times, packed to see whether an array gains; what may be left of them


def write_netcdf(record: Record, target: Path) -> None:
    """Write a record, complete or not at all."""
    require("h5py", "files of results need", "netcdf")
    import h5py

    image = Image(variable.values for variable in record.variables.values())
    with held_back(), h5py.File(image, "w", track_order=True) as file:
        _fill(file, record)
    pieces = list(image.pieces())
    with whole_file(target) as part:
        write_bytes(part, *pieces, seal(pieces))


def _fill(file: Any, record: Record) -> None:
    """Write a record as netCDF-4 lays it out in HDF5; h5netcdf writes the same in the time of a short simulation."""
    sizes = record.sizes
    numbers, scales, made = {axis: np.int32(k) for k, axis in enumerate(sizes)}, {}, {}
    for axis, size in sizes.items():
        if axis not in record.variables:
            scales[axis] = _dataset(file, axis, np.zeros(size, ">f4"))
            scales[axis].make_scale(f"{NOT_A_VARIABLE}{size:10}".encode())
    for name, variable in record.variables.items():
        made[name] = data = _dataset(file, name, variable.values)
        if name in sizes:  # it labels a dimension
            scales[name] = made.pop(name)
            data.make_scale(name)
        elif variable.dimensions:
            data.attrs["_Netcdf4Dimid"] = numbers[variable.dimensions[0]]
        if variable.dimensions:
            data.attrs["_Netcdf4Coordinates"] = np.array([numbers[axis] for axis in variable.dimensions])
        for key, words in (("units", variable.unit), ("long_name", variable.title)):
            if words:
                data.attrs[key] = words
    for axis, scale in scales.items():
        scale.attrs["_Netcdf4Dimid"] = numbers[axis]
    for name, data in made.items():
        for k, axis in enumerate(record.variables[name].dimensions):
            data.dims[k].attach_scale(scales[axis])
    for name, fact in record.facts.items():
        file.attrs[name] = fact if isinstance(fact, str) else np.atleast_1d(fact)
    file.attrs["_NCProperties"] = np.bytes_(f"version=2,anguilla={record.facts.get('anguilla_version', '')}")


def _dataset(file: Any, name: str, values: np.ndarray) -> Any:
    """An array in the file, packed if that gains much; a dimension of no entries is one that may grow, as netCDF has it."""
    import h5py

    options: dict[str, Any] = {}
    if values.dtype.kind in "OUS":
        values, options = values.astype(object), {"dtype": h5py.string_dtype(encoding="utf-8")}
    elif _gains(values):
        options = {"compression": "gzip", "compression_opts": 1, "shuffle": True}
    if 0 in values.shape:
        options |= {"maxshape": tuple(size or None for size in values.shape), "chunks": (1,) * values.ndim}
    return file.create_dataset(name, data=values, track_order=True, **options)


def _gains(values: np.ndarray) -> bool:
    """Whether packing makes an array much smaller: most motions are hardly so, and packing takes longer than simulating."""
    if values.size < PACKED_FROM:
        return False
    flat = values.reshape(-1)
    starts = np.linspace(0, flat.size - PROBED, 4).astype(np.int64)
    some = np.concatenate([flat[start : start + PROBED] for start in starts])
    shuffled = some.view(np.uint8).reshape(len(some), -1).T.tobytes()
    return len(zlib.compress(shuffled, 1)) <= GAIN * some.nbytes


def read_netcdf(path: Path) -> Record:
    """Read a record, or raise an error that names the file."""
    if not path.exists():
        raise DescriptionError(f"there is no file {str(path)!r}.")
    if path.suffix.lower() in NUMBERS:
        raise DescriptionError(
            f"{str(path)!r} holds numbers for other programs, without the robot: save the result as .nc to load it again."
        )
    require("h5netcdf", "files of results need", "netcdf")
    require("h5py", "files of results need", "netcdf")
    try:
        if not check_seal(path):
            _try_apart(path)
        return read_checked(path)
    except DescriptionError as error:
        raise DescriptionError(f"{str(path)!r} is not read: {error}") from None
    except (Exception, MemoryError) as error:  # the libraries below let many kinds through when a file is damaged
        reason = f"{type(error).__name__}: {error}".rstrip(".: ")
        raise DescriptionError(f"{str(path)!r} is not a netCDF file, or is damaged: {reason}.") from None


def read_checked(path: Path) -> Record:
    """Read a record whose sizes are right; errors are those of the libraries below."""
    import h5netcdf

    check_sizes(path)
    record = Record()
    with h5netcdf.File(path, "r") as file:
        block = max(1, MOST_TEXT // path.stat().st_size)
        for name, variable in file.variables.items():
            record.add(
                name,
                tuple(variable.dimensions),
                _values(variable, block),
                str(variable.attrs.get("units", "")),
                str(variable.attrs.get("long_name", "")),
            )
        record.facts = {name: _fact(file.attrs[name]) for name in file.attrs}
    return record


def _try_apart(path: Path) -> None:
    """Read a file without a seal in another process first: HDF5 may never end on damaged bytes, or end the process."""
    code = f"import sys; sys.path[:] = {sys.path!r}; from pathlib import Path; import anguilla.store.netcdf as n\n"
    code += "try:\n    n.read_checked(Path(sys.argv[1]))\nexcept Exception:\n    pass"
    most = PATIENCE + path.stat().st_size / 1e7
    try:
        done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, timeout=most, check=False)
    except subprocess.TimeoutExpired:
        raise DescriptionError(f"HDF5 does not finish reading it within {most:.0f} s; it is damaged.") from None
    except OSError:  # no processes can be started here
        return
    if done.returncode < 0:
        raise DescriptionError("HDF5 crashes on it; it is damaged.")


def _values(variable: Any, block: int) -> np.ndarray:
    if variable.dtype is not str and variable.dtype.kind not in "OS":
        return np.asarray(variable[...])
    count = len(variable) if variable.shape else 0
    pieces = (variable[k : k + block] for k in range(0, count, block)) if variable.shape else (variable[...],)
    texts: list[str] = []
    left = MOST_TEXT  # many entries may be one long text in the file
    for item in (item for piece in pieces for item in np.ravel(piece)):
        texts.append(item.decode("utf-8") if isinstance(item, bytes) else str(item))
        left -= len(texts[-1])
        if left < 0:
            raise DescriptionError(f"its texts have more than {MOST_TEXT} characters.")
    return np.array(texts, dtype=object).reshape(variable.shape)


def _fact(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.decode("utf-8")
    return value.item() if isinstance(value, (np.generic, np.ndarray)) and np.size(value) == 1 else value
