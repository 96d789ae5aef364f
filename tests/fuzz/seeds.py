"""Small right files that libFuzzer starts from: seeds.py FOLDER writes FOLDER/NAME/* for each program of this folder."""
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


def pair(images, labels):
    return struct.pack(">H", len(images)) + images + labels


def seeds():
    studies = [path.read_bytes() for path in sorted((ROOT / "experiments").glob("*.toml"))]
    studies.append(b'[experiment]\nname = "a"\n[task]\nplugin = "image"\npool = 2\n[attention]\nplugin = "adamra"\n'
                   b'compression.plugin = "segment-mean"\n[grid]\n"attention.rates" = [["1/2"], ["1/4", "1/8"]]\nseeds = 2\n')
    yield "study", studies
    libraries = sorted(ROOT.glob("build/*/plugins/*/*.so"))[:2] or sorted(ROOT.glob("build/*/lib/*.so"))[:2]
    yield "library", [path.read_bytes()[:1 << 16] for path in libraries] + [b"\x7fELF\x02\x01\x01" + bytes(57)]
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
