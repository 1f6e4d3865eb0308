"""How many bytes a content holds."""

import numpy as np
from flwr.app import Array, ArrayRecord, ConfigRecord, MetricRecord, RecordDict

from wola.flower.content_size import content_size


def test_names_count_where_values_are_empty() -> None:
    empty = ConfigRecord({"a": "", "b": [], "c": b""})
    assert content_size(RecordDict({"r": empty})) == 4


def test_an_array_counts_with_its_bytes_dtype_and_shape() -> None:
    array = Array(np.zeros((2, 3), dtype="float32"))
    content = RecordDict({"u": ArrayRecord({"v": array}), "m": MetricRecord({"x": 1.5})})
    assert content_size(content) == 2 + len(array.data) + len("float32") + 2 * 8 + 2 + 8
