"""Unpacks the parts of LibTorch's wheels that a C++ program needs: usage unpack_wheels.py WHEELS OUT."""
import pathlib
import sys
import zipfile

KEEP = ("torch/include/", "torch/lib/", "torch/share/cmake/", "nvidia/")
DROP = ("torch/lib/libtorch_python.so", "torch/lib/libtorch_nvshmem.so")


def main(wheels: pathlib.Path, out: pathlib.Path) -> None:
    found = sorted(wheels.glob("*.whl"))
    if not found:
        sys.exit(f"unpack_wheels: no wheel in {wheels}")
    for wheel in found:
        with zipfile.ZipFile(wheel) as archive:
            for name in archive.namelist():
                if name.startswith(KEEP) and name not in DROP and not name.endswith(".a"):
                    archive.extract(name, out)


main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))
