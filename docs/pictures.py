"""Draw the pictures of the README: what a terminal shows, as SVG."""

import io
import re
from pathlib import Path

from rich.console import Console

import calibrant as cb
from calibrant.report import terminal
from calibrant.simulate import overconfident

FOLDER = Path(__file__).parent / "pictures"


def main() -> None:
    """Write every picture."""
    console = Console(record=True, width=90, file=io.StringIO(), force_terminal=True)
    console.print(
        "[dim]$[/dim] calibrant audit predictions.csv --label y --prob p\n", highlight=False
    )
    terminal.render(cb.audit(*overconfident().draw(20_000)[:2]), console)
    svg = console.export_svg(title="calibrant", unique_id="calibrant-audit")
    # the picture must not fetch a font or carry anybody's address
    svg = re.sub(r"@font-face \{.*?\}|<!--.*?-->", "", svg, flags=re.DOTALL)
    (FOLDER / "audit.svg").write_text(svg, encoding="utf-8")


if __name__ == "__main__":
    main()
