"""The console: controls by their codes, and nothing printed but through it."""

import ast
import io
from pathlib import Path

from hypothesis import given
from rich.table import Table
from rich.text import Text

import calibrant as cb
from calibrant._console import SafeConsole
from reference.hostile import HOSTILE_TEXTS, hidden

SOURCE = Path(cb.__file__).parent


@given(HOSTILE_TEXTS)
def test_the_console_shows_controls_by_their_codes(text):
    out = io.StringIO()
    console = SafeConsole(file=out, force_terminal=False, width=60)
    table = Table(title=Text(text))
    table.add_column(Text(text))
    table.add_row(Text(text))
    console.print(text, markup=False)
    console.print(table)
    assert not hidden(out.getvalue())


def test_the_console_keeps_its_own_styles():
    out = io.StringIO()
    SafeConsole(file=out, force_terminal=True, width=60).print(Text("a\x1b[2J", style="bold red"))
    assert out.getvalue() == "\x1b[1;31ma\\x1b[2J\x1b[0m\n"


def test_nothing_prints_but_to_the_console():
    """Every call that writes to a terminal: the console's class, JSON, and SQL that was checked."""
    found = []
    for path in SOURCE.rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if not isinstance(node, ast.Call):
                continue
            called = ast.unparse(node.func)
            loose = called in {"Console", "rich.print", "sys.stdout.write", "sys.stderr.write"}
            if loose or (called in {"print", "typer.echo", "click.echo"} and not _plain(node)):
                found.append(f"{path.name}: {ast.unparse(node)}")
    assert found == []


def _plain(node):
    first = ast.unparse(node.args[0])
    known = {"text", "f'calibrant {__version__} ({kernel_name()} kernel)'"}
    return first.startswith("json_module.dumps(") or first in known
