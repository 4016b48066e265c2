"""The pages of the documentation, and what happens when somebody does as they say.

The blocks of a page run one after another in one folder: Python in one namespace, shell commands
with bash, and the steps of a workflow in YAML as its runner would. A block of text right after one
of them is what it prints, to the letter. A picture that a block writes into the folder is the one
of that name in docs/pictures. `make outputs` writes what is printed and drawn anew.
"""

import contextlib
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
PAGES = {
    str(path.relative_to(ROOT)): path
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
}
#: Blocks that run, blocks that only show something, and what the others print.
RUN, SHOWN, PRINTED = {"python", "sh", "yaml"}, {"math", "bibtex"}, "text"
#: Commands that change the environment or the checkout: `make test-install` runs those.
SETTING_UP = re.compile(r"(pip install|make|git clone) ")
ENGINE = re.compile(r"# (spark|dask)\n")
WIDTH = 90
PICTURE = re.compile(r"\]\((?:\.\./|docs/)?pictures/([\w-]+\.svg)\)")
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """A fenced block, the line where it begins, and what it prints with its place on the page."""

    language: str
    text: str
    line: int
    printed: str | None
    place: tuple[int, int] | None


def blocks(page):
    """Return the blocks of a page that can run."""
    found = list(FENCE.finditer(page))
    result = []
    for place, fence in enumerate(found):
        after = found[place + 1] if place + 1 < len(found) else None
        shown = (
            after is not None
            and after[1] == PRINTED
            and not page[fence.end() : after.start()].strip()
        )
        if fence[1] in RUN:
            result.append(
                Block(
                    fence[1],
                    fence[2],
                    page.count("\n", 0, fence.start()) + 1,
                    after[2] if shown else None,
                    after.span(2) if shown else None,
                )
            )
    return result


def run(name, text, folder, engines=()):
    """Run the blocks of a page in a folder, and yield each with what it printed."""
    namespace = {"__name__": "__main__"}
    for block in blocks(text):
        engine = ENGINE.match(block.text)
        if engine and engine[1] not in engines:
            continue
        if block.language == "python":
            # blank lines, so that an error names the line of the page
            code = compile("\n" * block.line + block.text, name, "exec")
            with contextlib.redirect_stdout(io.StringIO()) as printed:
                exec(code, namespace)
            yield block, _trimmed(printed.getvalue())
        else:
            steps = [_shell(name, block, step, folder) for step in _steps(block)]
            yield block, _trimmed("".join(steps))


def _trimmed(printed):
    """Return what was printed as a terminal shows it, without spaces at the ends of lines."""
    lines = (wrapped for line in printed.strip("\n").splitlines() for wrapped in _wrapped(line))
    return "".join(f"{line.rstrip()}\n" for line in lines)


def _wrapped(line):
    return textwrap.wrap(line, WIDTH) if len(line) > WIDTH else [line]


def _steps(block):
    """Return the shell scripts of a block: itself, or those of a workflow's steps."""
    if block.language == "sh":
        return [] if all(map(SETTING_UP.match, block.text.splitlines())) else [block.text]
    import yaml

    steps = [step for job in yaml.safe_load(block.text)["jobs"].values() for step in job["steps"]]
    return [step["run"] for step in steps if "run" in step and not SETTING_UP.match(step["run"])]


def _shell(name, block, script, folder):
    environment = os.environ | {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "COLUMNS": str(WIDTH),
        "NO_COLOR": "1",
    }
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{name}, line {block.line}\n{done.stdout}{done.stderr}"
    return done.stdout


def drawn(text, folder):
    """Return the pictures of a page that its blocks wrote into the folder."""
    return [Path(folder) / name for name in PICTURE.findall(text) if (Path(folder) / name).exists()]


def _main(names):
    """Write anew what blocks print and draw, on the pages named or on all of them."""
    # the same picture every time
    os.environ |= {"MPLBACKEND": "agg", "SOURCE_DATE_EPOCH": "0"}
    import matplotlib as mpl

    mpl.rcParams["svg.hashsalt"] = "calibrant"
    for name in names or PAGES:
        path = ROOT / name
        text = path.read_text(encoding="utf-8")
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            done = list(run(name, text, folder))
            for picture in drawn(text, folder):
                shutil.copy(picture, ROOT / "docs" / "pictures")
        for block, printed in reversed(done):
            if block.place:
                start, end = block.place
                text = text[:start] + printed + text[end:]
        path.write_text(text, encoding="utf-8")
        sys.stdout.write(f"{name}: {len(done)} blocks\n")


if __name__ == "__main__":
    _main(sys.argv[1:])
