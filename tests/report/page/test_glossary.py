import pytest

from wola.report.page.glossary import WORDS, field_lines, glossary, part_line, strategy_line
from wola.training import PAPER_STRATEGIES, PARTS, STRATEGIES, Scenario


@pytest.mark.parametrize("kind", PARTS.kinds)
def test_every_part_of_the_library_has_the_first_line_of_its_docstring(kind: str) -> None:
    for name, part in PARTS.kinds[kind].names.items():
        first = (part.__doc__ or "").splitlines()[0]
        line = part_line(kind, name)
        assert line == first.replace(":math:", "").replace("`", "")
        assert len(line) > 10


def test_every_field_of_a_scenario_has_a_line() -> None:
    assert set(field_lines()) == {*Scenario.model_fields, "f"}
    assert field_lines()["alpha"].startswith("Dirichlet partition")


def test_the_line_of_a_chain_speaks_of_all_its_parts() -> None:
    line = part_line("mixing", "arc+nnm")
    assert "Adaptive robust clipping" in line
    assert "n - f updates nearest" in line


def test_parameters_are_told() -> None:
    assert part_line("aggregator", "multi-krum(power=1)").endswith("(power=1)")


def test_a_part_of_ones_own_is_not_imported() -> None:
    line = part_line("aggregator", "nowhere.mine:NearestHalf(k=3)")
    assert line == "A part of one's own: nowhere.mine:NearestHalf (k=3)."


@pytest.mark.parametrize("text", ["(", "<b>", "a+", "unknown"])
def test_a_text_that_is_no_part_is_its_own_line(text: str) -> None:
    assert part_line("attack", text) == text


@pytest.mark.parametrize("name", PAPER_STRATEGIES)
def test_every_strategy_of_the_paper_has_a_line(name: str) -> None:
    line = strategy_line(name, STRATEGIES[name])
    assert ("†" in line) == ("dagger" in name)
    assert ("Worker Label Alignment" in line) == ("WoLA" in name)
    assert len(line) > 20


def test_a_strategy_of_ones_own_tells_what_it_sets() -> None:
    assert strategy_line("Slow", {"loss": "wola", "lr": 0.1}).endswith("Sets lr 0.1.")


def test_the_glossary_has_lines_by_field_and_value() -> None:
    made = glossary({"attack": ["foe", "none"]}, {"-": STRATEGIES["-"]})
    assert set(made) == {"fields", "values", "words"}
    assert made["values"]["attack"]["foe"].startswith("Fall of empires")
    assert made["values"]["strategy"]["-"].startswith("The rule alone")
    assert made["words"] is WORDS
