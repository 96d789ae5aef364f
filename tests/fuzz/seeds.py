"""Small valid files as libFuzzer's first inputs. seeds.py FOLDER writes FOLDER/NAME/* for each program of this folder."""
import gzip
import io
import json
import pathlib
import shutil
import struct
import sys
import tarfile
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent


def zipped(files, packing=zipfile.ZIP_DEFLATED):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", packing) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return out.getvalue()


def tarred(files, mode):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode) as archive:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return out.getvalue()


def npy(shape, kind="|u1"):
    header = repr({"descr": kind, "fortran_order": False, "shape": shape}) + "\n"
    size = 1
    for n in shape:
        size *= n
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + bytes(size)


def idx(shape, fill=1):
    size = 1
    for n in shape:
        size *= n
    return struct.pack(">HBB", 0, 8, len(shape)) + b"".join(struct.pack(">I", n) for n in shape) + bytes([fill]) * size


def elf(sections):
    """Returns a 64-bit shared library for x86-64 with only these sections."""
    names = [""] + list(sections) + [".shstrtab"]
    table = b"".join(name.encode() + b"\0" for name in names)
    contents = [b""] + list(sections.values()) + [table]
    headers, body, at = b"", b"", 64
    for i, content in enumerate(contents):
        kind = 0 if i == 0 else 3 if i == len(contents) - 1 else 1  # SHT_STRTAB, SHT_PROGBITS
        name = len(b"".join(one.encode() + b"\0" for one in names[:i]))
        headers += struct.pack("<IIQQQQIIQQ", name, kind, 0, 0, at + len(body), len(content), 0, 0, 1, 0)
        body += content
    start = b"\x7fELF\x02\x01\x01" + bytes(9) + struct.pack("<HHIQQQIHHHHHH", 3, 62, 1, 0, 0, at + len(body), 0, 64, 56, 0, 64,
                                                              len(contents), len(contents) - 1)
    return start + body + headers


def pair(images, labels):
    return struct.pack(">H", len(images)) + images + labels


def seeds():
    studies = [path.read_bytes() for path in sorted((ROOT / "experiments").glob("*.toml"))]
    studies.append(b'[experiment]\nname = "a"\n[task]\nplugin = "image"\npool = 2\n[attention]\nplugin = "adamra"\n'
                   b'compression.plugin = "segment-mean"\n[grid]\n"attention.rates" = [["1/2"], ["1/4", "1/8"]]\nseeds = 2\n')
    yield "study", studies
    stamp = b"ABLATE\0\0" + struct.pack("<6I", 7, 128, 400, 100, 1, 1017) + b"2.11.0".ljust(32, b"\0") + b"12.2.0".ljust(64, b"\0")
    code = (b"0" * 64).ljust(65, b"\0") + b"ablate/plugin.h=0123456789abcdef ablate/task.h=0123456789abcdef".ljust(4031, b"\0")
    yield "library", [elf({".ablate.abi": stamp, ".ablate.code": code}), elf({".ablate.abi": stamp}), elf({})]
    trial = {"step": 1, "steps": 2, "loss": 0.5, "dev": None, "curve": {"points": [["train/loss", 1, 0.5]], "metrics": []}}
    words = [trial, {"event": "message", "job": 1, "data": trial}, {"event": "ended", "job": 1, "status": 0},
             {"command": "kill", "job": 1}, {"command": "ping"}, {"check": "types", "on": "x", "verdict": "passed"}]
    yield "messages", [json.dumps(word).encode() for word in words]
    files = {"a/b.txt": b"text" * 100, "c": b""}
    yield "archive", [b"\0" + zipped(files), b"\2" + zipped({"inner.zip": zipped(files)}), b"\1" + tarred(files, "w"),
                      b"\1" + tarred(files, "w:gz"), b"\1" + tarred(files, "w:xz")]
    batch = zipped({"data.npy": npy((2, 12288)), "labels.npy": npy((2,))}, zipfile.ZIP_STORED)
    yield "npz", [batch, zipped({"data.npy": npy((1, 12288))})]
    yield "idx", [pair(idx((2, 3, 3)), idx((2,))), pair(gzip.compress(idx((2, 3, 3))), idx((2,)))]
    lines = b"0.0\ta\tb\tone text\tanother\n1\tc\td\tthird\tfourth\r\n"
    yield "tsv", [lines, gzip.compress(lines)]


folder = pathlib.Path(sys.argv[1])
shutil.rmtree(folder, ignore_errors=True)
for name, contents in seeds():
    (folder / name).mkdir(parents=True)
    for number, content in enumerate(contents):
        (folder / name / str(number)).write_bytes(content)
