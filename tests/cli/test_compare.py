"""Several models on the same rows."""

import json
import re

from calibrant.simulate import overconfident
from reference.commands import calibrant


def test_the_command_compares(tmp_path):
    y_true, y_prob, truth = overconfident().draw(3000, seed=1)
    rows = zip(y_true.tolist(), y_prob.tolist(), truth.tolist(), strict=True)
    lines = [f"{int(y)},{p!r},{t!r}" for y, p, t in rows]
    (tmp_path / "a.csv").write_text("y,p,t\n" + "\n".join(lines) + "\n")
    options = ("a.csv", "--label", "y", "--prob", "p", "--prob", "t")
    done = calibrant("compare", *options, cwd=tmp_path)
    assert done.returncode == 0
    assert "t has the smallest calibration error on these 3,000 rows" in " ".join(
        done.stdout.split()
    )
    document = json.loads(calibrant("compare", *options, "--json", cwd=tmp_path).stdout)
    assert document["schema"] == "calibrant.comparison"
    # proved ends are shown no tighter than they are
    ends = document["differences"][0]["calibration_error"]
    shown = re.search(r"p - t +calibration error +\S+ +(\S+) and (\S+)", done.stdout)
    lower, upper = map(float, shown.groups())
    assert lower <= ends["lower"]
    assert upper >= ends["upper"]
    report = ("--html", "report.html", "--title", "Old and new")
    again = calibrant("compare", *options, *report, "--quiet", cwd=tmp_path)
    assert (again.returncode, again.stdout) == (0, "")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert page.startswith("<!DOCTYPE html>")
    assert "t has the smallest" in page
    assert "<h1>Old and new</h1>" in page
    assert "Data: a.csv" in page
    again = calibrant("compare", *options, "--html", "report.txt", cwd=tmp_path)
    assert again.returncode == 2
    assert "must be the name of a file that ends in .html" in " ".join(again.stderr.split())
