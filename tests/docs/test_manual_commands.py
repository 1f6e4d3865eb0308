"""Every command in the manual works as it is written, in the order of its page."""

from pathlib import Path

import pytest

from tests.docs.page_blocks import PAGES, ROOT, Block, blocks, follow, page_blocks

BLOCKS = {path: page_blocks(path) for path in PAGES}
ALL = [block for found in BLOCKS.values() for block in found]


@pytest.mark.parametrize(
    "path",
    [path for path, found in BLOCKS.items() if any(block.runs for block in found)],
    ids=lambda path: str(path.relative_to(ROOT)),
)
def test_the_commands_of_a_page_work_as_they_are_written(path: Path, tmp_path: Path) -> None:
    follow(BLOCKS[path], tmp_path)


def test_commands_stand_where_they_are_run():
    hidden = [block.place for block in ALL if block.hides_commands]
    assert not hidden, f"these blocks hold commands and are not marked `sh`: {hidden}"


def test_commands_that_are_not_run_have_a_reason():
    silent = [block.place for block in ALL if block.reason is not None and len(block.reason) < 10]
    assert not silent, f"these blocks are not run and do not say why: {silent}"


def test_a_reason_stands_above_the_commands_that_it_is_about():
    lost = [block.place for block in ALL if block.reason is not None and block.info != "sh"]
    assert not lost, f"these blocks have no commands that could run: {lost}"
    for path, found in BLOCKS.items():
        said = path.read_text(encoding="utf-8").count("<!-- not run:")
        assert said == sum(block.reason is not None for block in found), path


PAGE = """
```toml
# grid.toml, for a grid
[base]
```

1. In a list:

   ```sh
   cat grid.toml
   echo one > made
   ```

<!-- not run: it would end the world -->
```sh
exit 3
```

```sh
cat made
```
"""


def test_a_page_is_taken_apart_into_files_commands_and_what_is_not_run():
    found = list(blocks(PAGE, "page.md"))
    assert [block.file for block in found] == ["grid.toml", None, None, None]
    assert [block.runs for block in found] == [False, True, False, True]
    assert found[1] == Block("page.md", 9, "sh", "cat grid.toml\necho one > made\n")
    assert found[2].reason == "it would end the world"


def test_a_later_block_finds_what_an_earlier_one_made(tmp_path):
    follow(list(blocks(PAGE, "page.md")), tmp_path)
    assert (tmp_path / "grid.toml").read_text() == "# grid.toml, for a grid\n[base]\n"


@pytest.mark.parametrize("command", ["false", "false\ntrue", "false | cat", "wola no-such-command"])
def test_a_command_that_fails_is_named_by_its_place(tmp_path, command):
    page = f"words\n```sh\n{command}\n```\n"
    with pytest.raises(AssertionError, match=r"page\.md:2: exit code [12]\n"):
        follow(list(blocks(page, "page.md")), tmp_path)


@pytest.mark.parametrize("info", ["", "text", "bash", "console"])
def test_a_command_outside_a_block_of_commands_is_noticed(info):
    (block,) = blocks(f"```{info}\n# first\nwola train\n```\n", "page.md")
    assert block.hides_commands
    assert not block.runs


def test_what_a_command_prints_is_no_command():
    (block,) = blocks("```text\n accuracy 3 %\nrun folder: runs/wola\n```\n", "page.md")
    assert not block.hides_commands


def test_a_block_without_an_end_is_an_error():
    with pytest.raises(AssertionError, match=r"page\.md:1: the block has no end"):
        list(blocks("```sh\nwola list\n", "page.md"))
