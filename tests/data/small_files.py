"""Tiny datasets in the official formats, written the long way round."""

import hashlib
import io
import json
import pickle
import struct
import tarfile
from pathlib import Path

import numpy as np
from PIL import Image

IDX_NAMES = (
    "train-images-idx3-ubyte",
    "train-labels-idx1-ubyte",
    "t10k-images-idx3-ubyte",
    "t10k-labels-idx1-ubyte",
)
CIFAR_NAMES = ("data_batch_1", "data_batch_2", "data_batch_3", "data_batch_4", "data_batch_5")


def idx(values):
    """An idx file of unsigned bytes."""
    header = bytes([0, 0, 8, values.ndim]) + b"".join(struct.pack(">I", s) for s in values.shape)
    return header + bytes(values.astype(np.uint8).flatten().tolist())


def idx_files(*, train=12, test=6, seed=0):
    """The four files by name, and the arrays they hold."""
    rng = np.random.default_rng(seed)
    arrays = []
    for count in (train, test):
        arrays += [rng.integers(0, 256, (count, 5, 4)), np.arange(count) % 3]
    return {name: idx(a) for name, a in zip(IDX_NAMES, arrays, strict=True)}, arrays


def checksums(files):
    """SHA-256 by name."""
    return {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}


def write_folder(folder, files, *, compress=None):
    """Writes files by name, each through ``compress`` with .gz after its name if given."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        Path(folder, name + (".gz" if compress else "")).write_bytes(
            compress(content) if compress else content
        )
    return folder


def write_tar(path, files, *, prefix="inner/"):
    """A tar.gz with the files under a folder."""
    with tarfile.open(path, "w:gz", compresslevel=1) as archive:
        for name, content in files.items():
            info = tarfile.TarInfo(prefix + name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return path


def cifar_batches(*, per_batch=4, seed=0):
    """(name, labels (N,), images (N, 3, 32, 32)) of the six batches."""
    rng = np.random.default_rng(seed)
    return [
        (name, rng.integers(0, 10, per_batch), rng.integers(0, 256, (per_batch, 3, 32, 32)))
        for name in (*CIFAR_NAMES, "test_batch")
    ]


def cifar_binary(batches):
    """Each batch record by record: a label and three planes."""
    files = {}
    for name, labels, images in batches:
        content = b""
        for label, image in zip(labels, images, strict=True):
            content += bytes([label]) + bytes(image.flatten().tolist())
        files[f"{name}.bin"] = content
    return files


def cifar_python(batches, *, protocol=2):
    """Each batch as a pickled dictionary with keys of bytes."""
    return {
        name: pickle.dumps(
            {
                b"batch_label": b"a batch",
                b"labels": [int(label) for label in labels],
                b"data": images.reshape(len(labels), -1).astype(np.uint8),
                b"filenames": [b"a.png"] * len(labels),
            },
            protocol=protocol,
        )
        for name, labels, images in batches
    }


def cifar_sheets(batches):
    """One PNG per batch with an unrolled image per row, and the labels as JSON."""
    files, labels = {}, []
    for name, batch_labels, images in batches:
        rows = [image.transpose(1, 2, 0).reshape(1024, 3) for image in images.astype(np.uint8)]
        stream = io.BytesIO()
        Image.fromarray(np.stack(rows)).save(stream, "png")
        files[f"{name}.png"] = stream.getvalue()
        labels.append([int(label) for label in batch_labels])
    files["train_lables.json"] = json.dumps([y for part in labels[:-1] for y in part]).encode()
    files["test_lables.json"] = json.dumps(labels[-1]).encode()
    return files


def purchase_rows(*, rows=500, seed=0):
    """Labels 1 to 100 and values (rows, 600) of 0 and 1."""
    rng = np.random.default_rng(seed)
    return 1 + np.arange(rows) % 100, rng.integers(0, 2, (rows, 600))


def purchase_text(labels, values):
    """The lines of ``dataset_purchase``."""
    lines = (
        ",".join([str(label), *map(str, row)])
        for label, row in zip(labels.tolist(), values.tolist(), strict=True)
    )
    return ("\n".join(lines) + "\n").encode()
