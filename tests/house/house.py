"""What the structural tests share: where the project is, which files count as ours, and the tables of a document."""

import os
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[2]

# What a build, a download or a tool leaves behind: at the top of the project, and anywhere.
NOT_OURS_AT_TOP = {".git", "build", "models", "third_party", "reports"}
NOT_OURS = {"target", "__pycache__", "node_modules"}


def walk(folder, root=None):
    """(folder, names of files) for the folder and all below it, without what is not ours."""
    root = root or folder
    for place, below, names in os.walk(folder):
        skipped = NOT_OURS | (NOT_OURS_AT_TOP if pathlib.Path(place) == pathlib.Path(root) else set())
        below[:] = sorted(name for name in below if name not in skipped)
        yield pathlib.Path(place), sorted(names)


def files(folder, *suffixes):
    """Every file of ours in or below the folder whose name ends in one of the suffixes."""
    for place, names in walk(folder):
        for name in names:
            if name.endswith(suffixes):
                yield place / name


def table(text, *columns):
    """The rows of the first Markdown table whose header starts with these columns, as dictionaries."""
    rows, header = [], None
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")] if line.startswith("|") else None
        if header is None:
            if cells and cells[: len(columns)] == list(columns):
                header = cells
        elif cells is None:
            break
        elif set("".join(cells)) - set("-: "):
            rows.append(dict(zip(header, cells)))
    return rows


def names(cell):
    """The names in a table cell: separated by commas, perhaps in backticks; a dash is none."""
    return [name.strip(" `") for name in cell.split(",") if name.strip(" `") not in ("", "–", "-")]
