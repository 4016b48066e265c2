"""Print the oldest releases that pyproject.toml allows, one a line, as constraints for pip.

Those of what runs the tests are left out: nobody who installs the library meets them.
"""

import re
import tomllib
from pathlib import Path

#: Extras of users, but for Spark, which needs a Java of its time; and the tables of the tests.
EXTRAS = ("plot", "report", "dask", "sql", "onnx", "boosting")
TABLES = ("pandas", "polars", "pyarrow", "onnxruntime")
_FLOOR = re.compile(r"([\w.-]+)(?:\[[^]]*\])?>=([\w.]+)")


def floors():
    """Return each floor by the name of its package."""
    file = Path(__file__).parents[2] / "pyproject.toml"
    project = tomllib.loads(file.read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    wanted = [*project["dependencies"], *(one for name in EXTRAS for one in extras[name])]
    wanted += [one for one in extras["dev"] if one.startswith(TABLES)]
    return dict(_FLOOR.fullmatch(one).groups() for one in wanted)


if __name__ == "__main__":
    for package, version in floors().items():
        print(f"{package}=={version}")
