"""Write docs/glossary.md from the terms that reports explain."""

from pathlib import Path

from calibrant.report.glossary import TERMS, anchor

PAGE = Path(__file__).parent / "glossary.md"
HEAD = """# Glossary

Every term that a report prints, in the order of a report. A report in HTML links each of
them to the same line.
"""


def page() -> str:
    """Return the page."""
    return HEAD + "".join(
        f'\n<span id="{anchor(term)}"></span>**{term}**: {line}\n' for term, line in TERMS.items()
    )


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
