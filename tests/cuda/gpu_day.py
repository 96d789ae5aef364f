"""Tests tools/gpu-day with a stub of ablate: usage gpu_day.py ROOT."""
import os
import pathlib
import re
import subprocess
import sys
import tarfile
import tempfile

# The stub of ablate: it writes its arguments into `calls`. The file `mode` selects a fault.
ABLATE = """#!/bin/sh
here=$(dirname "$0")
mode=$(cat "$here/mode" 2>/dev/null)
echo "$*" >>"$here/calls"
echo "$LD_LIBRARY_PATH" >"$here/libraries"
case "$1 $2" in
  "plugins --kind") [ "$3" != attention ] || printf '    "id": "softmax"\\n' ;;
  "plugins --cuda") [ "$mode" = none ] || printf '  {\\n    "id": "%s",\\n    "kind": "attention"\\n  },\\n' softmax rfa ;;
  "plugins ") printf 'attention\\n  softmax\\n'; [ "$mode" != refused ] || printf 'refused\\n  mine.so\\n' ;;
  "check softmax") [ "$mode" != closed ] || { echo "nothing was checked with --device cuda: no driver"; exit 0; }; echo "all passed" ;;
  "run "*) [ "$mode" != slow ] || { trap 'echo saved; exit 130' TERM; sleep 60 & wait; } ;;
  "query SELECT count"*) echo count; case "$mode" in plain*) echo 1 ;; *) echo 2 ;; esac ;;
  "query "*) printf 'attention,train/loss\na,1\nb,1\nc,1\nd,1\n'
    case "$mode $2" in unequal*replayed*) echo e,2 ;; *) echo e,1 ;; esac ;;
  "check rfa") echo "a fault" >&2; [ "$mode" != fault ] ;;
esac
"""


def expect(found, expected):
    if found != expected:
        sys.exit(f"found {found!r}, expected {expected!r}")


class Day:
    def __init__(self, root: pathlib.Path, work: pathlib.Path):
        self.root, self.work, self.build, self.results = root, work, work / "build", work / "results"
        for folder in ("bin", "tests", "fake"):
            (self.build / folder).mkdir(parents=True)
        self.write("bin/ablate", ABLATE)
        self.write("tests/test_cuda_device", "#!/bin/sh\necho kernels passed\n")

    def write(self, name: str, text: str):
        (self.build / name).write_text(text)
        (self.build / name).chmod(0o755)

    def run(self, *arguments: str, mode: str = "", **environment: str) -> subprocess.CompletedProcess:
        self.write("bin/mode", mode)
        self.write("bin/calls", "")
        whole = {**os.environ, "ABLATE_BUILD": str(self.build), "ABLATE_DEVICE": "cuda", "CUDA_HOME": "/none", "LD_LIBRARY_PATH": "",
                 "PATH": f"{self.work}/build/fake:{pathlib.Path(sys.executable).parent}:/usr/bin:/bin", **environment}
        return subprocess.run([str(self.root / "tools/gpu-day"), *arguments], cwd=self.work, env=whole, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True)

    def calls(self) -> list[str]:
        return (self.build / "bin/calls").read_text().splitlines()

    def files(self) -> set[str]:
        return {path.name for path in self.results.iterdir()} if self.results.exists() else set()


def main(root: pathlib.Path, work: pathlib.Path):
    day = Day(root.resolve(), work)
    listed = day.run("--list").stdout.split()
    expect(listed[:2] + listed[-4:], ["device", "kernels", "check_softmax", "check_rfa", "table2", "table4"])
    expect(len([step for step in listed if step.startswith("pytorch_")]), 4)
    expect(len([step for step in listed if step.startswith("bench_")]), 8)
    expect([step for step in listed if step.startswith("graphs_")], ["graphs_1024", "graphs_8192"])
    # The list has steps with fla-core's kernels only if these are installed.
    (work / "with/fla").mkdir(parents=True)
    (work / "with/fla/ops.py").touch()
    expect([step.startswith("fla_") for step in day.run("--list", PYTHONPATH=str(work / "with")).stdout.split()].count(True), 4)
    expect("fla_1024_float32" in listed, False)
    expect(day.run("--list", mode="none").returncode, 2)
    expect(day.run().returncode, 2)
    expect(day.run("results", "check_lm").returncode, 2)

    # If the device cannot be opened, or a library cannot be loaded, no other step starts.
    for mode in ("closed", "refused"):
        ended = day.run("results", mode=mode)
        expect((ended.returncode, day.files()), (1, {"device.failed"}))

    # A failed check leaves its output, from both streams. The next call runs it last.
    steps = ["check_rfa", "check_softmax", "bench_both_1024_float32"]
    ended = day.run("results", *steps, "--tar", "results.tar", mode="fault")
    expect((ended.returncode, day.files()), (1, {"device", "check_rfa.failed", "check_softmax", "bench_both_1024_float32"}))
    expect((day.results / "check_rfa.failed").read_text(), "a fault\n")
    with tarfile.open(work / "results.tar") as whole:
        expect({pathlib.PurePath(name).name for name in whole.getnames()}, {"results"} | day.files())
    called = day.calls()
    expect([line for line in called if "--db" in line and line.startswith("check")], [])  # there is no history
    expect(["--name bench_both_1024_float32" in line for line in called if line.startswith("bench")], [True])
    inner = [int(line.split("--timeout ")[1].split()[0]) for line in called if line.startswith("check rfa")]
    expect([limit < 180 for limit in inner], [True])

    (day.results / "history.db").write_text("")
    (day.results / "check_softmax").unlink()
    ended = day.run("results", *steps)
    expect((ended.returncode, day.files()), (0, {"device", "history.db", "check_rfa", "check_softmax", "bench_both_1024_float32"}))
    order = [line.split()[1] for line in day.calls() if line.startswith("check") and "--db" in line]
    expect(order, ["softmax", "rfa"])

    # A step that may exceed the budget does not start.
    (day.results / "check_rfa").unlink()
    ended = day.run("results", "check_rfa", "--budget", "120")
    expect((ended.returncode, "check_rfa" in day.files()), (3, False))
    expect(day.run("results", "check_rfa", "--budget", "120", ABLATE_STEP_SECONDS="20").returncode, 0)
    expect(day.run("results", "kernels").returncode, 0)
    expect((day.results / "kernels").read_text(), "kernels passed\n")

    # An unfinished training resumes in the next call. A failed training does not.
    ended = day.run("results", "table4", mode="slow", ABLATE_STEP_SECONDS="8")
    expect((ended.returncode, "table4.goes-on" in day.files(), "table4" in day.files()), (3, True, False))
    expect("saved" in (day.results / "table4.goes-on").read_text(), True)
    expect((day.run("results", "table4").returncode, "table4.goes-on" in day.files()), (0, False))
    run = [line for line in day.calls() if line.startswith("run ")][0]
    expect(["train.steps=35000" in run, "train.device=cuda" in run, "seeds=[1]" in run], [True, True, True])
    # Replayed training steps must end with the same losses as plain training steps.
    ended = day.run("results", "graphs_1024", mode="unequal")
    expect((ended.returncode, "> e,2" in (day.results / "graphs_1024.failed").read_text()), (1, True))
    ended = day.run("results", "graphs_1024", mode="plain")
    expect((ended.returncode, "replayed steps in 1 trials" in (day.results / "graphs_1024.failed").read_text()), (1, True))
    expect(day.run("results", "table2", "graphs_1024").returncode, 0)
    expect(["train.graphs=true" in line for line in day.calls() if line.startswith("bench")], [True, False])
    limits = [int(found) for found in re.findall(r"ABLATE_STEP_SECONDS:-(\d+)", (root / "tools/gpu-day").read_text())]
    expect(max(limits) <= 540, True)

    # A packed folder runs without a build, with the libraries of a Python that has the same version of torch.
    (day.build / "lib/ablate/plugins").mkdir(parents=True)
    for name in ("bin/ablate-worker", "bin/ablate-checker", "lib/ablate/plugins/softmax.so", "lib/ablate/plugins/bytes.so",
                 "lib/ablate/plugins/image.so", "lib/ablate/plugins/text.so", "lib/ablate/plugins/lm.so"):
        day.write(name, "")
    day.write("fake/ldd", f"#!/bin/sh\necho ' libmine.so.1 => {day.build}/bin/mode (0x$$)'\necho ' libc.so.6 => /none (0x1)'\n")
    expect(day.run("--pack", "packed").returncode, 0)
    expect({path.name for path in (work / "packed/lib").iterdir()}, {"ablate"})
    expect({path.name for path in (work / "packed/lib/ablate/plugins").iterdir()}, {"softmax.so", "bytes.so", "image.so", "text.so"})
    expect({path.name for path in (work / "packed").glob("*.toml")}, {"table2.toml", "table4.toml"})
    release = (work / "packed/packed").read_text().strip()
    (work / "site/nvidia/cu13/lib").mkdir(parents=True)
    (work / "site/torch").mkdir()
    (work / "site/torch/__init__.py").write_text("raise RuntimeError('is not imported')")
    kept = day.build, day.root
    day.build, day.root = work / "packed", work / "packed"
    for version, code in ((release + "+cu130", 0), ("1.0", 2)):
        about = work / f"site/torch-{version}.dist-info"
        about.mkdir()
        (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: torch\nVersion: {version}\n")
        expect(day.run("results", "check_rfa", PYTHONPATH=str(work / "site"), ABLATE_BUILD="/none").returncode, code)
        (about / "METADATA").unlink()
        about.rmdir()
    expect({path.name for path in (work / "packed/lib").iterdir()}, {"ablate", "libmine.so.1"})
    folders = [work / "packed/lib", work / "site/torch/lib", work / "site/nvidia/cu13/lib"]
    expect((work / "packed/bin/libraries").read_text().strip(), ":".join(str(folder.resolve()) for folder in folders))
    day.build, day.root = kept
    day.write("fake/ldd", "#!/bin/sh\necho ' libmine.so.1 => not found'\n")
    expect(day.run("--pack", "another").returncode, 1)


with tempfile.TemporaryDirectory() as place:
    main(pathlib.Path(sys.argv[1]), pathlib.Path(place))
