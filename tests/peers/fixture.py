"""A fixture is written, or compared with what it would be now, byte for byte."""
import csv
import io
import pathlib
import sys

FOLDER = pathlib.Path(__file__).parent.parent / "db"


def text_of(number):
    """Twelve digits: more differ between processors, whose vectors are summed in another order."""
    return f"{float(number):.12g}"


def finish(name, by, heading, rows):
    """`--check` compares; without it the file is written. rows: one list of texts a row."""
    out = io.StringIO()
    print(f"# {by}", file=out)
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(heading)
    writer.writerows(rows)
    file = FOLDER / name
    if "--check" not in sys.argv[1:]:
        file.write_text(out.getvalue())
        print(file, file=sys.stderr)
        return
    made, kept = out.getvalue().splitlines(), file.read_text().splitlines()
    if made == kept:
        print(f"{name}: {len(rows)} rows, as kept", file=sys.stderr)
        return
    wrong = [i for i in range(max(len(made), len(kept))) if made[i:i + 1] != kept[i:i + 1]]
    for i in wrong[:3]:
        print(f"{file}:{i + 1}:\n  kept {kept[i:i + 1]}\n  made {made[i:i + 1]}", file=sys.stderr)
    sys.exit(f"{name}: {len(wrong)} of {len(kept)} lines differ from those that are kept. If that is meant: the same without --check")
