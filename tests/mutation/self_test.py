"""Tests the list of edits, the search for a saved edit, and the verdict of a check. Takes seconds, and needs no build."""
import json
import os
import pathlib
import runpy
import sys
import tempfile

sys.dont_write_bytecode = True
import edits  # noqa: E402

mutate = runpy.run_path(str(pathlib.Path(__file__).with_name("mutate")), run_name="mutate")

SAMPLE = """// if (a < b) in a comment
int f(int a, int b) {
  if (a < 0 && g(a) || b >= 2) return 1;
  if (const auto c = h(b); c != a) return 2;
  const char* text = "a && b";
  a += b;
  return a == b ? 1 : 2;
}
"""


def expect(found, expected):
    if found != expected:
        sys.exit(f"found {found!r}, expected {expected!r}")


def main():
    made = {SAMPLE[:a] + new + SAMPLE[b:] for _, a, b, new in edits.edits_of(SAMPLE)}
    for old, new in [("if (a < 0 && g(a) || b >= 2)", "if (!(a < 0 && g(a) || b >= 2))"), ("; c != a)", "; !(c != a))"), ("0 && g", "0 || g"),
                     ("(a) || b", "(a) && b"), ("a < 0", "a <= 0"), ("b >= 2", "b > 2"), ("c != a", "c == a"), ("a == b", "a != b"),
                     ("\n  a += b;", "\n")]:
        expect(SAMPLE.replace(old, new) in made, True)
    expect(any("comment" not in one or '"a && b"' not in one or "// if (a < b)" not in one for one in made), False)
    with tempfile.TemporaryDirectory() as work:
        folder = pathlib.Path(work)
        (folder / "one.cpp").write_text(SAMPLE)
        before = [edit.described() for edit in edits.all_edits(folder)]
        expect(len({json.dumps(one) for one in before}), len(before))
        (folder / "one.cpp").write_text("int more;\n" + SAMPLE)
        expect([edit.described() for edit in edits.all_edits(folder)], before)
    line = "  FAILED     padding             float64   1  0   found 1, expected 0"
    for script, expected in [
        ("echo '  passed     load'; exit 0", ("survives", "")),
        (f"echo '{line}'; exec sleep 600", ("caught", "padding")),  # the process is ended at once
        ("echo '  FAILED     time    -  it did not end within 3 s (--timeout)'; exit 1", ("not judged", "the time ran out: time")),
        ("echo 'error: no such symbol' >&2; exit 3", ("not judged", "exit code 3: error: no such symbol")),
        ("echo 'nothing was looked at'; exit 1", ("not judged", "exit code 1: nothing was looked at")),
        ("kill -9 $$", ("not judged", "exit code -9: ")),
    ]:
        expect(mutate["judge"](["sh", "-c", script], os.environ), expected)
    print("mutate: its own test passes")


main()
