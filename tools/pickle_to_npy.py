#!/usr/bin/env python3
"""Turns embedding pickles, (ids, matrix) as the published OpenScholar datastore has them, into .npy files.

    python3 tools/pickle_to_npy.py passages_00.pkl OUT

writes OUT/passages_00.vectors.npy (float16, one row for each passage) and OUT/passages_00.ids.npy (int64), for
`openscholar datastore build NAME --passages-file ... --vectors ... --vector-ids ...`. Needs numpy.

A pickle can run any program when it is loaded, so nothing but numpy's arrays and numbers is let through.
"""

import pathlib
import pickle
import sys

import numpy

ALLOWED = {
    ("numpy", "ndarray"),
    ("numpy", "dtype"),
    ("numpy.core.multiarray", "_reconstruct"),
    ("numpy._core.multiarray", "_reconstruct"),
    ("numpy.core.multiarray", "scalar"),
    ("numpy._core.multiarray", "scalar"),
    ("numpy.core.numeric", "_frombuffer"),
    ("numpy._core.numeric", "_frombuffer"),
    ("_codecs", "encode"),
}


class Arrays(pickle.Unpickler):
    def find_class(self, module, name):
        if (module, name) in ALLOWED:
            return super().find_class(module, name)
        raise pickle.UnpicklingError(f"the file asks for {module}.{name}, which is no part of an array")


def convert(source, folder):
    with open(source, "rb") as file:
        ids, matrix = Arrays(file).load()
    matrix = numpy.ascontiguousarray(matrix, dtype=numpy.float16)
    ids = numpy.asarray([int(number) for number in ids], dtype=numpy.int64)
    if matrix.ndim != 2 or len(ids) != len(matrix):
        raise SystemExit(f"{source}: {len(ids)} ids for an array of shape {matrix.shape}")
    if not numpy.isfinite(matrix).all():
        rows = numpy.flatnonzero(~numpy.isfinite(matrix).all(axis=1))
        print(f"{source}: {len(rows)} rows are not finite and will be left out, the first is {rows[0]}", file=sys.stderr)
    stem = pathlib.Path(source).stem
    numpy.save(folder / f"{stem}.vectors.npy", matrix)
    numpy.save(folder / f"{stem}.ids.npy", ids)
    print(f"{source}: {len(ids)} vectors of {matrix.shape[1]} numbers")


def main():
    if len(sys.argv) < 3:
        raise SystemExit(__doc__)
    folder = pathlib.Path(sys.argv[-1])
    folder.mkdir(parents=True, exist_ok=True)
    for source in sys.argv[1:-1]:
        convert(source, folder)


main()
