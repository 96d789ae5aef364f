"""Compiles every source of core/kernels/cuda for devices. It needs no device. Usage: build.py NVCC ROOT.

Compiles for sm_90, or with ABLATE_SOAK for sm_80, sm_90 and as PTX, with the standard of the build (nvcc's default). A kernel fails if
it spills registers, uses a stack frame, or uses more shared memory than its file states (kSharedBytes). Without a compiler the test
is skipped (exit code 77). One check always runs: every kernel must state its number of threads, and must be launched with this number.
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
SPILLS = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
USED = re.compile(r"Used (\d+) registers(?:.*?(\d+) bytes smem)?")
BOUNDED = re.compile(r"__global__ void (?:__launch_bounds__\((\w+)[^)]*\))?\s*(\w+)\(")
LAUNCHED = re.compile(r"\blaunch\((\w+)(?:<[^()]*?>)?,\s+(.*?),\s+\d+,\s+stream\b", re.DOTALL)


def launches(texts: list[str]) -> list[str]:
    """Returns faults in thread counts. On a CPU __launch_bounds__ has no effect, and a device refuses too many threads only at run time."""
    text, found = "\n".join(texts), []
    bounds = {}
    for threads, kernel in BOUNDED.findall(text):
        bounds.setdefault(kernel, set()).add(threads)
        if not threads:
            found.append(f"{kernel} does not state its threads: expected __launch_bounds__")
    calls = LAUNCHED.findall(text)
    for kernel, rest in calls:
        threads = rest.split()[-1]
        if bounds.get(kernel) != {threads}:
            found.append(f"{kernel} is launched with {threads} threads, expected the number in its __launch_bounds__")
    if missed := set(bounds) - {kernel for kernel, _ in calls}:
        found.append(f"no launch was found for {', '.join(sorted(missed))}")
    return found


def faults(report: str, stated: int) -> list[str]:
    """Returns the faults in ptxas' report (-Xptxas -v) of a file."""
    found, kernel = [], "before any kernel"
    for line in report.splitlines():
        if match := KERNEL.search(line):
            kernel = f"{match[1]} for {match[2]}"
        elif match := SPILLS.search(line):
            if match[2] != "0" or match[3] != "0":
                found.append(f"{kernel}: spills {match[2]} bytes of registers and loads {match[3]}, expected none")
            elif match[1] != "0":
                found.append(f"{kernel}: has a stack frame of {match[1]} bytes, expected none")
        elif (match := USED.search(line)) and int(match[2] or 0) > stated:
            found.append(f"{kernel}: has {match[2]} bytes of shared memory, expected at most kSharedBytes = {stated}")
    if not KERNEL.search(report):
        found.append("no kernel is in ptxas' report")
    return found


def readable(report: str) -> str:
    """Returns the report with kernels' names as in the source, if there is a c++filt."""
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
            run = subprocess.run([nvcc, f"-I{root}", f"-I{root}/core/sdk/include", f"-gencode={code}", *form, "-o", f"{folder}/out", str(source)],
                                 stdin=subprocess.DEVNULL, capture_output=True, text=True)
        report = readable(run.stdout + run.stderr)
        if run.returncode != 0:
            found.append(f"{source.name} for {kind} does not compile:\n{report}")
        elif "-cubin" in form:
            found += [f"{source.name}: {fault}" for fault in faults(report, int(stated[1]))]
        if "warning" in report:
            found.append(f"{source.name} for {kind}: found a warning, expected none:\n{report}")
    return found


def found_later(nvcc: str, root: pathlib.Path) -> list[str]:
    """Returns faults if a build that was configured without a compiler does not find a compiler that is installed later."""
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.22)\nproject(later CXX)\n"
            f"include({root.resolve()}/cmake/AblatePlugin.cmake)\n_ablate_enable_cuda()\n"
            'message(STATUS "CUDA by <${CMAKE_CUDA_COMPILER}>")\n')

        def configured(**environment: str) -> str:
            kept = {name: value for name, value in os.environ.items() if name != "CUDACXX"}
            command = ["cmake", "-S", folder, "-B", f"{folder}/build", f"-DABLATE_NVCC={shutil.which(nvcc)}"]
            run = subprocess.run(command, env=kept | environment, stdin=subprocess.DEVNULL, capture_output=True, text=True)
            said = re.search("CUDA by <(.*)>", run.stdout)
            return said[1] if said else run.stdout + run.stderr

        without, later = configured(CUDACXX=f"{folder}/none"), configured()
    found = [] if without == "NOTFOUND" else [f"expected that cmake finds no compiler, but it found {without}"]
    return found if later.endswith("nvcc") else [*found, f"cmake did not find a compiler that was installed later: {later}"]


def notices() -> None:
    """Checks that each fault is found in a report."""
    kernel = "ptxas info    : Compiling entry function '_Z1k' for 'sm_90'\n"
    fine = kernel + "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n" \
        "ptxas info    : Used 64 registers, used 1 barriers, 17408 bytes smem\n"
    assert faults(fine, 17408) == []
    assert faults(fine, 17407) == ["_Z1k for sm_90: has 17408 bytes of shared memory, expected at most kSharedBytes = 17407"]
    assert faults(fine.replace("0 bytes spill loads", "8 bytes spill loads"), 17408) == [
        "_Z1k for sm_90: spills 0 bytes of registers and loads 8, expected none"]
    assert faults(fine.replace("    0 bytes stack", "    512 bytes stack"), 17408) == [
        "_Z1k for sm_90: has a stack frame of 512 bytes, expected none"]
    assert faults(kernel + "ptxas info    : Used 30 registers, used 0 barriers\n", 0) == []
    assert faults("", 0) == ["no kernel is in ptxas' report"]
    right = "template <class T>\n__global__ void __launch_bounds__(kThreads, 2)\n    k(T of);\n" \
        "launch(k<T, true>, pieces(n, 2),\n       kThreads, 0, stream, of);"
    assert launches([right]) == []
    assert launches([right.replace("kThreads, 0", "512, 0")]) == [
        "k is launched with 512 threads, expected the number in its __launch_bounds__"]
    assert len(launches([right.replace("__launch_bounds__(kThreads, 2)\n", "")])) == 2
    assert launches([right.split("launch(k")[0]]) == ["no launch was found for k"]


def main(nvcc: str, root: pathlib.Path) -> int:
    notices()
    sources = sorted((root / "core/kernels/cuda").glob("*.cu"))
    if wrong := launches([path.read_text() for path in (root / "core/kernels/cuda").iterdir() if path.suffix in (".cu", ".h")]):
        print("\n".join(wrong))
        return 1
    if shutil.which(nvcc) is None:
        print("skipped: cuda-build: no CUDA compiler was found (tools/setup --cuda fetches one)")
        return SKIPPED
    kinds = ["sm_80", "sm_90", "compute_90"] if os.environ.get("ABLATE_SOAK") else ["sm_90"]
    planted = check(nvcc, root, root / "tests/cuda/planted/spills.cu", ["sm_90"])
    assert len(planted) == 2 and "spills" in planted[0] and "has 4100 bytes of shared memory" in planted[1], planted
    found = found_later(nvcc, root)
    found += [fault for source in sources for fault in check(nvcc, root, source, kinds)]
    print("\n".join(found) or f"{len(sources)} sources compile for {', '.join(kinds)}, without spilled registers or stack frames")
    return 1 if found or not sources else 0


sys.exit(main(sys.argv[1], pathlib.Path(sys.argv[2])))
