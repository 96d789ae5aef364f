"""Writes requirements.txt with the newest versions of NAMES and of their dependencies, each with its wheel's hash.

To add a package, add it to NAMES, then run with Python 3.11:  python3 tests/peers/pin.py
"""
import json
import pathlib
import subprocess
import sys
import tempfile

# Programs whose numbers are compared with a table, and stores that are compared with a history (tools/compare-stores).
NAMES = "scipy statsmodels autorank numpy pandas mlflow-skinny sqlalchemy alembic optuna".split()


def main():
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "report.json"
        subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--dry-run", "--ignore-installed", "--only-binary=:all:",
                        "--report", report, *NAMES], check=True)
        installed = json.loads(report.read_text())["install"]
    lines = ["# Programs that ablate is compared with, for `tools/setup --peers`. Made by tests/peers/pin.py: Python 3.11, x86-64."]
    for one in sorted(installed, key=lambda one: one["metadata"]["name"].lower()):
        digest = one["download_info"]["archive_info"]["hashes"]["sha256"]
        lines.append(f"{one['metadata']['name']}=={one['metadata']['version']} --hash=sha256:{digest}")
    file = pathlib.Path(__file__).with_name("requirements.txt")
    file.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
