"""Where links between files of the repository lead in the site."""

import pytest

from tools.site_links import linked_files, outside_pages, relinked, repository_path, site_path


@pytest.fixture
def root(tmp_path):
    for path in (
        "README.md",
        "CHANGELOG.md",
        "docs/bench.md",
        "docs/images/page.png",
        "results/grid.md",
        "results/digits/README.md",
        "results/plain/runs.toml",
        "examples/README.md",
        "examples/flower/README.md",
        "examples/one_round.py",
    ):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("")
    return tmp_path


def test_measurements_examples_and_changes_are_pages(root):
    assert outside_pages(root) == [
        "CHANGELOG.md",
        "examples/README.md",
        "examples/flower/README.md",
        "results/grid.md",
        "results/digits/README.md",
    ]


@pytest.mark.parametrize("path", ["docs/bench.md", "results/grid.md"])
def test_a_page_of_the_site_is_found_in_the_repository(root, path):
    assert repository_path(root, site_path(path)) == path


@pytest.mark.parametrize(
    ("page", "link", "moved"),
    [
        ("docs/bench.md", "[x](../results/grid.md)", "[x](results/grid.md)"),
        ("docs/bench.md", "[x](../results/grid.md#a-b)", "[x](results/grid.md#a-b)"),
        ("docs/api/index.md", "[x](../bench.md)", "[x](../bench.md)"),
        ("docs/api/index.md", "[x](../../results/grid.md)", "[x](../results/grid.md)"),
        ("docs/bench.md", "[`x`](../README.md)", "[`x`](index.md)"),
        ("docs/bench.md", "![x](images/page.png)", "![x](images/page.png)"),
        ("docs/bench.md", "[x](../results/digits)", "[x](results/digits/README.md)"),
        ("docs/bench.md", "the [x](../results/plain) folder", "the x folder"),
        ("results/digits/README.md", "[x](../../docs/bench.md)", "[x](../../bench.md)"),
        ("results/grid.md", "[x](digits)", "[x](digits/README.md)"),
        ("docs/bench.md", "[x](gone.md)", "[x](gone.md)"),
    ],
)
def test_a_link_leads_to_the_same_file_as_before(root, page, link, moved):
    assert relinked(root, page, link) == moved


@pytest.mark.parametrize(
    "text",
    [
        "[x](#here)",
        "[x](https://example.org/a)",
        "`FORMS[x](../results/grid.md)`",
        "```\nFORMS[x](../results/grid.md)\n```",
    ],
)
def test_what_is_no_link_to_a_file_stays(root, text):
    assert relinked(root, "docs/bench.md", text) == text


def test_files_that_pages_link_to_come_along(root):
    text = "[a](../examples/one_round.py) [b](../results/grid.md) [c](images/page.png) [d](gone.py)"
    (root / "docs/bench.md").write_text(text + " [e](../README.md) [f](../results/plain)")
    assert linked_files(root, ["docs/bench.md"]) == ["examples/one_round.py"]
