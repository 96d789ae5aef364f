"""Typesets every table of tests/db/golden with LaTeX and Typst. The test fails on an error, and on a warning about a fault
that a reader of the paper would see. tests/db/golden_test.cpp checks that these files equal ablate's output.

Exit code without pdflatex or typst: 77 (skipped), or 1 under tools/test (ABLATE_ALL_TESTS), which installs both.
"""
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
# Wide pages: a golden table has more columns than a table in a paper. Text that still overflows was not split into cells.
LATEX = r"""\documentclass{{article}}
\usepackage[T1]{{fontenc}}
\usepackage{{booktabs}}
\usepackage[paperwidth=150cm,paperheight=100cm,margin=1cm]{{geometry}}
\begin{{document}}
{}
\end{{document}}
"""
TYPST = "#set page(width: 150cm, height: 100cm)\n{}"


def missing(what, remedy):
    print(f"skipped: typeset: found no {what}, which typesets the tables; {remedy}", file=sys.stderr)
    sys.exit(1 if os.environ.get("ABLATE_ALL_TESTS") else 77)


def typst_folder():
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "ablate"
    return cache / ("typst-" + hashlib.sha256((ROOT / "tools/typst.txt").read_bytes()).hexdigest()[:12])


def latex_fault(text, folder):
    """Returns pdflatex's error, or "" if it accepts the text."""
    (folder / "t.tex").write_text(LATEX.format(text))
    ended = subprocess.run(["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", "t.tex"], cwd=folder,
                           capture_output=True, text=True, errors="replace", check=False)
    log = (folder / "t.log").read_text(errors="replace")
    found = re.search(r"^! .*|^Overfull .*|^Missing character.*|^LaTeX Warning: (?!Label|There were).*", log, re.MULTILINE)
    return found.group(0) if found else "" if ended.returncode == 0 else f"exit code {ended.returncode}"


def typst_fault(text, folder):
    import typst
    (folder / "t.typ").write_text(TYPST.format(text))
    try:
        _, warnings = typst.compile_with_warnings(str(folder / "t.typ"))
    except (RuntimeError, ValueError) as error:
        return str(error)
    return "; ".join(str(warning) for warning in warnings)


def main():
    if shutil.which("pdflatex") is None:
        missing("pdflatex", "tools/setup --tests installs texlive-latex-recommended")
    if not (typst_folder() / "typst").is_dir():
        missing(f"typst in {typst_folder()}", "tools/setup --tests puts it there")
    sys.path.insert(0, str(typst_folder()))
    wrong, tables = [], 0
    for ending, fault_of in (("latex", latex_fault), ("typst", typst_fault)):
        for file in sorted((ROOT / "tests/db/golden").glob(f"*.{ending}")):
            with tempfile.TemporaryDirectory() as folder:
                fault = fault_of(file.read_text(), pathlib.Path(folder))
            tables += 1
            if fault:
                wrong.append(f"{file}: {fault}")
    if wrong or tables == 0:
        sys.exit("\n".join(wrong) or "found no table")
    print(f"{tables} tables are set without a fault", file=sys.stderr)


if __name__ == "__main__":
    main()
