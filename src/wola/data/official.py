"""Facts about the public datasets: class names, addresses, checksums."""

from wola.data.download import Remote
from wola.data.idx import IDX_FILES

DIGIT_NAMES = tuple(str(digit) for digit in range(10))
FASHION_NAMES = (
    "T-shirt/top", "trouser", "pullover", "dress", "coat",
    "sandal", "shirt", "sneaker", "bag", "ankle boot",
)  # fmt: skip
CIFAR10_NAMES = (
    "airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck",
)  # fmt: skip

# SHA-256 of the uncompressed files.
MNIST_CHECKSUMS = dict(
    zip(
        IDX_FILES,
        (
            "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
            "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
            "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
            "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
        ),
        strict=True,
    )
)
FASHION_CHECKSUMS = dict(
    zip(
        IDX_FILES,
        (
            "c59f468a2f672dc815687fe0f83887768d799fd8a3f3276145d20f83aa44d888",
            "bad3541b69d912435c50bb6ba87bec294ff4f6a2e1246121d8633921760443d9",
            "5b4141f0afbad91edebe8549f8fcffe087ea10ca49f1dbef5c9a5cd8815ce37b",
            "0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34",
        ),
        strict=True,
    )
)
CIFAR10_CHECKSUMS = {
    "data_batch_1.bin": "cee916563c9f80d84e3cc88e17fdc0941787f1244f00a67874d45b261883ada5",
    "data_batch_2.bin": "a591ca11fa1708a91ee40f54b3da4784ccd871ecf2137de63f51ada8b3fa57ed",
    "data_batch_3.bin": "bbe8596564c0f86427f876058170b84dac6670ddf06d79402899d93ceea26f67",
    "data_batch_4.bin": "014e562d6e23c72197cc727519169a60359f5eccd8945ad5a09d710285ff4e48",
    "data_batch_5.bin": "755304fc0b379caeae8c14f0dac912fbc7d6cd469eb67a1029a08a39453a9add",
    "test_batch.bin": "8e2eb146ae340b09e24670f29cabc6326dba54da8789dab6768acf480273f65b",
}


def _idx_remotes(bases: tuple[str, ...], checksums: tuple[str, ...]) -> tuple[Remote, ...]:
    return tuple(
        Remote(f"{name}.gz", tuple(f"{base}/{name}.gz" for base in bases), f"md5:{checksum}")
        for name, checksum in zip(IDX_FILES, checksums, strict=True)
    )


# MD5 as their publishers give it.
MNIST_REMOTES = _idx_remotes(
    (
        "https://ossci-datasets.s3.amazonaws.com/mnist",
        "https://storage.googleapis.com/cvdf-datasets/mnist",
    ),
    (
        "f68b3c2dcbeaaa9fbdd348bbdeb94873",
        "d53e105ee54ea40749a09fcbcd1e9432",
        "9fb629c4189551a2d022fa330f9573f3",
        "ec29112dd5afa0611ce80d1b7f02629c",
    ),
)
FASHION_REMOTES = _idx_remotes(
    (
        "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com",
        "https://github.com/zalandoresearch/fashion-mnist/raw/master/data/fashion",
    ),
    (
        "8d4fb7e6c68d591d4c3dfef9ec88bf0d",
        "25c81989df183df01b3e8a0aad5dffbe",
        "bef4ecab320f06d8554ea6380940ec79",
        "bb300cfdad3c16e7a12a480ee83cd310",
    ),
)
CIFAR10_REMOTES = (
    Remote(
        "cifar-10-binary.tar.gz",
        ("https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz",),
        "sha256:c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd",
    ),
)
PURCHASE100_REMOTES = (
    Remote(
        "dataset_purchase.tgz",
        (
            "https://www.comp.nus.edu.sg/~reza/files/dataset_purchase.tgz",
            "https://github.com/privacytrustlab/datasets/raw/master/dataset_purchase.tgz",
        ),
        None,
    ),
)
