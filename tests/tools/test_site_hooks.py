"""The hooks of the site: menus, formulas, tables, and nothing from elsewhere."""

import logging
from types import SimpleNamespace

import pytest
from mkdocs.config import load_config
from mkdocs.structure.files import File, Files

from tools import site_hooks

PAGE = SimpleNamespace(file=SimpleNamespace(src_uri="bench.md"))


def written(markdown):
    return site_hooks.on_page_markdown(markdown, page=PAGE, config=None, files=None)


def test_measurements_and_examples_end_the_menu():
    config = site_hooks.on_config(SimpleNamespace(nav=["index.md"]))
    first, results, repository = config.nav
    assert first == "index.md"
    assert {"results/kernels.md", "results/digits/README.md"} <= set(results["Results"])
    assert {"CHANGELOG.md", "examples/flower/README.md"} <= set(repository["Repository"])


def test_an_inline_formula_is_mathml():
    found = site_hooks.on_page_content(r'a <span class="arithmatex">\(x_i &lt; 1\)</span> b')
    assert found.startswith("a <math")
    assert found.endswith("</math> b")
    assert "<msub><mi>x</mi><mi>i</mi></msub>" in found
    assert "&amp;" not in found


def test_a_formula_on_lines_of_its_own_can_be_scrolled():
    found = site_hooks.on_page_content('<div class="arithmatex">\\[\n\\Big\\| a\n= b\\]</div>')
    assert found.startswith('<div class="formula"><math')
    assert 'display="block"' in found
    assert ">\N{DOUBLE VERTICAL LINE}<" in found


def test_names_that_the_converter_lacks_are_spelt_out(caplog):
    found = site_hooks.on_page_content(r'<span class="arithmatex">\(\arg\max_i x_i\)</span>')
    assert "<mi>a</mi><mi>r</mi><mi>g</mi>" in found.replace(' mathvariant="normal"', "")
    assert not caplog.text


def test_a_formula_that_cannot_be_shown_is_a_warning(caplog):
    with caplog.at_level(logging.WARNING):
        site_hooks.on_page_content(r'<span class="arithmatex">\(\nosuchthing x\)</span>')
    assert r"\nosuchthing x has a command that cannot be shown" in caplog.text


def test_examples_at_a_prompt_are_marked_as_such():
    assert written("```python\n>>> 1\n1\n```") == "```pycon\n>>> 1\n1\n```"
    assert written("```python\nx = 1\n```") == "```python\nx = 1\n```"


def test_bars_in_code_of_a_table_are_plain():
    assert written(r"| `a \| b` | c \| d |") == r"| `a | b` | c \| d |"
    assert written(r"`a \| b`") == r"`a \| b`"


@pytest.mark.parametrize(
    "html",
    [
        '<script src="https://example.org/a.js"></script>',
        '<link rel="stylesheet" href="//example.org/a.css">',
        '<img alt="x" src=http://example.org/a.png>',
    ],
)
def test_what_is_loaded_from_elsewhere_is_a_warning(caplog, html):
    with caplog.at_level(logging.WARNING):
        assert site_hooks.on_post_page(html, page=PAGE, config=None) == html
    assert "bench.md loads" in caplog.text
    assert "example.org/a" in caplog.text


def test_files_of_the_site_and_links_to_elsewhere_are_no_warning(caplog):
    html = '<script src="a.js"></script><a href="https://example.org">x</a>'
    with caplog.at_level(logging.WARNING):
        site_hooks.on_post_page(html, page=PAGE, config=None)
    assert not caplog.text


def test_pages_and_files_from_outside_are_added():
    config = load_config(str(site_hooks.ROOT / "mkdocs.yml"))
    page = File("flower.md", config.docs_dir, config.site_dir, use_directory_urls=False)
    added = {file.src_uri for file in site_hooks.on_files(Files([page]), config)}
    assert {"flower.md", "results/grid.md", "CHANGELOG.md", "results/growth.png"} <= added
