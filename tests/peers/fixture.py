"""Writes a fixture, or compares the stored fixture with a new one, byte for byte or number by number."""
import csv
import io
import pathlib
import sys

TESTS = pathlib.Path(__file__).parent.parent


def text_of(number):
    """Returns twelve digits. Further digits differ between processors, which sum vectors in another order."""
    return f"{float(number):.12g}"


def same(made, kept, within):
    """True if the lines are equal, except for numbers that differ by at most `within` times the larger of 1 and their size."""
    if made == kept or within == 0:
        return made == kept
    a, b = (" ".join(lines).replace(",", " ").split() for lines in (made, kept))
    try:
        return len(a) == len(b) and all(x == y or abs(float(x) - float(y)) <= within * max(1, abs(float(y))) for x, y in zip(a, b))
    except ValueError:  # the texts are not numbers
        return False


def finish(name, by, heading, rows, folder="db", within=0):
    """With `--check` compares the file, else writes it. rows: a list of texts for each row."""
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
        print(f"{name}: {len(rows)} rows, as stored", file=sys.stderr)
        return
    for i in wrong[:3]:
        print(f"{file}:{i + 1}:\n  stored {kept[i:i + 1]}\n  made   {made[i:i + 1]}", file=sys.stderr)
    sys.exit(f"{name}: {len(wrong)} of {len(kept)} lines differ from the stored file. If that is intended, run the script without --check")
