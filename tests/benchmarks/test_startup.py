"""The benchmark of how soon `wola` answers."""

from benchmarks import startup


def test_a_process_takes_some_time_and_a_busy_one_more():
    idle, _ = startup.measured(["-c", "pass"])
    busy, wall = startup.measured(["-c", "sum(i * i for i in range(5_000_000))"])

    assert 0 < idle < busy
    assert wall > 0


def test_the_page_tells_medians_and_whether_the_goals_are_reached():
    found = {
        "python alone": [(0.01, 0.02)],
        "import wola": [(0.1, 0.2), (0.9, 0.9), (0.2, 0.3)],
        "wola --help": [(0.5, 0.6)],
    }

    text = startup.page({"date": "today"}, found, rounds=3)

    assert "- date: today\n" in text
    assert "| python alone | 0.01 | 0.02 |  |\n" in text
    assert "| import wola | 0.20 | 0.30 | under 0.3 s of CPU: yes |\n" in text
    assert "| wola --help | 0.50 | 0.60 | under 0.3 s of CPU: no |\n" in text


def test_what_is_promised_is_measured(tmp_path, capsys):
    startup.main(["--rounds", "1", "--out", str(tmp_path)])

    page = (tmp_path / "startup.md").read_text()
    assert all(f"\n| {name} |" in page for name in startup.GOALS)
    assert capsys.readouterr().out == page[page.index("| |") :]
