"""A fixture is written, or compared with what it would be now, byte for byte or number by number."""
import csv
import io
import pathlib
import sys

TESTS = pathlib.Path(__file__).parent.parent


def text_of(number):
    """Twelve digits: more differ between processors, whose vectors are summed in another order."""
    return f"{float(number):.12g}"


def same(made, kept, within):
    """Whether lines are the same, but for numbers that differ by at most `within` of 1 or of their size."""
    if made == kept or within == 0:
        return made == kept
    a, b = (" ".join(lines).replace(",", " ").split() for lines in (made, kept))
    try:
        return len(a) == len(b) and all(x == y or abs(float(x) - float(y)) <= within * max(1, abs(float(y))) for x, y in zip(a, b))
    except ValueError:  # other words
        return False


def finish(name, by, heading, rows, folder="db", within=0):
    """`--check` compares; without it the file is written. rows: one list of texts a row."""
    out = io.StringIO()
    print(f"# {by}", file=out)
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(heading)
    writer.writerows(rows)
    file = TESTS / folder / name
    if "--check" not in sys.argv[1:]:
        file.write_text(out.getvalue())
        print(file, file=sys.stderr)
        return
    made, kept = out.getvalue().splitlines(), file.read_text().splitlines()
    wrong = [i for i in range(max(len(made), len(kept))) if not same(made[i:i + 1], kept[i:i + 1], within)]
    if not wrong:
        print(f"{name}: {len(rows)} rows, as kept", file=sys.stderr)
        return
    for i in wrong[:3]:
        print(f"{file}:{i + 1}:\n  kept {kept[i:i + 1]}\n  made {made[i:i + 1]}", file=sys.stderr)
    sys.exit(f"{name}: {len(wrong)} of {len(kept)} lines differ from those that are kept. If that is meant: the same without --check")
