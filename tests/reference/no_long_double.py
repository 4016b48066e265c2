"""A plugin for pytest: numpy as on Windows and on ARM Macs, where a long double is a double."""

import numpy

# what numpy calls it by its size goes too, if it has such names
REPLACED = {
    numpy.float64: ("longdouble", "float128", "float96"),
    numpy.complex128: ("clongdouble", "complex256", "complex192"),
}
for narrow, names in REPLACED.items():
    for name in names:
        if hasattr(numpy, name):
            setattr(numpy, name, narrow)

assert numpy.ones(1, dtype=numpy.longdouble).itemsize == 8
