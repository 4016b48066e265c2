"""Draw the pictures of the README: what a terminal shows, as SVG, and a report in a browser."""

import io
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console

import calibrant as cb
from calibrant.report import terminal
from calibrant.simulate import overconfident

FOLDER = Path(__file__).parent / "pictures"
WINDOW = {"width": 1100, "height": 1200}


def terminal_picture() -> str:
    """Return an audit as a terminal shows it."""
    console = Console(record=True, width=90, file=io.StringIO(), force_terminal=True)
    console.print(
        "[dim]$[/dim] calibrant audit predictions.csv --label y --prob p\n", highlight=False
    )
    terminal.render(cb.audit(*overconfident().draw(20_000)[:2]), console)
    svg = console.export_svg(title="calibrant", unique_id="calibrant-audit")
    # the picture must not fetch a font or carry anybody's address
    return re.sub(r"@font-face \{.*?\}|<!--.*?-->", "", svg, flags=re.DOTALL)


def command(folder: str, *arguments: str) -> None:
    """Run calibrant in a folder."""
    subprocess.run(
        [sys.executable, "-m", "calibrant", *arguments],
        cwd=folder,
        check=True,
        stdout=subprocess.DEVNULL,
    )


def report_picture() -> bytes:
    """Return the first page of the report of docs/start.md, as chromium shows it."""
    from playwright.sync_api import sync_playwright

    path = shutil.which("chromium") or shutil.which("chromium-browser")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as started:
        command(folder, "demo", "--save", "predictions.csv")
        rows = (Path(folder) / "predictions.csv").read_text(encoding="utf-8").splitlines()
        (Path(folder) / "old.csv").write_text("\n".join(rows[:10_001]), encoding="utf-8")
        columns = ("--label", "y", "--prob", "p")
        command(folder, "audit", "old.csv", *columns, "--html", "report.html")
        browser = started.chromium.launch(executable_path=path, args=["--no-sandbox"])
        opened = browser.new_page(viewport=WINDOW)
        opened.goto((Path(folder) / "report.html").as_uri())
        shot = opened.screenshot()
        browser.close()
    return shot


def main() -> None:
    """Write every picture."""
    (FOLDER / "audit.svg").write_text(terminal_picture(), encoding="utf-8")
    (FOLDER / "report.png").write_bytes(report_picture())


if __name__ == "__main__":
    main()
