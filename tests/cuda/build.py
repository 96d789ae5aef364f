"""Compiles every source of core/kernels/cuda for devices, without one: usage build.py NVCC ROOT.

For sm_90, or with ABLATE_SOAK set for sm_80, sm_90 and as PTX. A kernel that spills registers fails, and one that has more shared
memory than its file states (kSharedBytes). Without a compiler it is skipped (77).
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77
STATED = re.compile(r"\bkSharedBytes = (\d+);")
KERNEL = re.compile(r"Compiling entry function '(.+)' for '(\w+)'")
SPILLS = re.compile(r"(\d+) bytes spill stores, (\d+) bytes spill loads")
USED = re.compile(r"Used (\d+) registers(?:.*?(\d+) bytes smem)?")


def faults(report: str, stated: int) -> list[str]:
    """What is wrong by ptxas' report (-Xptxas -v) of one file."""
    found, kernel = [], "before any kernel"
    for line in report.splitlines():
        if match := KERNEL.search(line):
            kernel = f"{match[1]} for {match[2]}"
        elif match := SPILLS.search(line):
            if match[1] != "0" or match[2] != "0":
                found.append(f"{kernel}: spills {match[1]} bytes of registers and loads {match[2]}, expected none")
        elif (match := USED.search(line)) and int(match[2] or 0) > stated:
            found.append(f"{kernel}: has {match[2]} bytes of shared memory, expected at most kSharedBytes = {stated}")
    if not KERNEL.search(report):
        found.append("no kernel is in ptxas' report")
    return found


def readable(report: str) -> str:
    """With kernels' names as they are in the source, where there is a c++filt."""
    if shutil.which("c++filt") is None:
        return report
    return subprocess.run(["c++filt", "-p"], input=report, capture_output=True, text=True, check=True).stdout


def check(nvcc: str, root: pathlib.Path, source: pathlib.Path, kinds: list[str]) -> list[str]:
    stated = STATED.search(source.read_text())
    if stated is None:
        return [f"{source.name} does not state its shared memory: expected constexpr int kSharedBytes = ...;"]
    found = []
    for kind in kinds:
        code = f"arch=compute_{kind.split('_')[1]},code={kind}"
        with tempfile.TemporaryDirectory() as folder:
            form = ["-ptx"] if kind.startswith("compute") else ["-cubin", "-Xptxas", "-v"]
            run = subprocess.run([nvcc, "-std=c++20", f"-I{root}", f"-gencode={code}", *form, "-o", f"{folder}/out", str(source)],
                                 stdin=subprocess.DEVNULL, capture_output=True, text=True)
        report = readable(run.stdout + run.stderr)
        if run.returncode != 0:
            found.append(f"{source.name} for {kind} does not compile:\n{report}")
        elif "-cubin" in form:
            found += [f"{source.name}: {fault}" for fault in faults(report, int(stated[1]))]
        if "warning" in report:
            found.append(f"{source.name} for {kind}: found a warning, expected none:\n{report}")
    return found


def notices() -> None:
    """A report with each fault is not passed by."""
    kernel = "ptxas info    : Compiling entry function '_Z1k' for 'sm_90'\n"
    fine = kernel + "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n" \
        "ptxas info    : Used 64 registers, used 1 barriers, 17408 bytes smem\n"
    assert faults(fine, 17408) == []
    assert faults(fine, 17407) == ["_Z1k for sm_90: has 17408 bytes of shared memory, expected at most kSharedBytes = 17407"]
    assert faults(fine.replace("0 bytes spill loads", "8 bytes spill loads"), 17408) == [
        "_Z1k for sm_90: spills 0 bytes of registers and loads 8, expected none"]
    assert faults(kernel + "ptxas info    : Used 30 registers, used 0 barriers\n", 0) == []
    assert faults("", 0) == ["no kernel is in ptxas' report"]


def main(nvcc: str, root: pathlib.Path) -> int:
    notices()
    if shutil.which(nvcc) is None:
        print("skipped: no CUDA compiler was found (tools/setup --cuda fetches one)")
        return SKIPPED
    kinds = ["sm_80", "sm_90", "compute_90"] if os.environ.get("ABLATE_SOAK") else ["sm_90"]
    sources = sorted((root / "core/kernels/cuda").glob("*.cu"))
    planted = check(nvcc, root, root / "tests/cuda/planted/spills.cu", ["sm_90"])
    assert len(planted) == 2 and "spills" in planted[0] and "has 4100 bytes of shared memory" in planted[1], planted
    found = [fault for source in sources for fault in check(nvcc, root, source, kinds)]
    print("\n".join(found) or f"{len(sources)} sources compile for {', '.join(kinds)}, without spilled registers")
    return 1 if found or not sources else 0


sys.exit(main(sys.argv[1], pathlib.Path(sys.argv[2])))
