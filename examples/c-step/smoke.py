"""The function in C agrees with NumPy."""

import ctypes
from pathlib import Path

import numpy as np

library = ctypes.CDLL(str(Path(__file__).parent / "libdistance.so"))
library.squared_distance.restype = ctypes.c_double
pointer = ctypes.POINTER(ctypes.c_double)

a, b = np.random.default_rng(0).normal(size=(2, 1000))
found = library.squared_distance(
    a.ctypes.data_as(pointer), b.ctypes.data_as(pointer), ctypes.c_size_t(len(a))
)
assert np.isclose(found, ((a - b) ** 2).sum()), found
print("squared distance", found)
