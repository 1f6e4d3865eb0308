from pathlib import Path

from benchmarks import systems


def test_every_rule_is_timed_beside_multi_krum(tmp_path: Path) -> None:
    systems.main(["--d", "500", "--rounds", "1", "--no-rounds", "--out", str(tmp_path)])
    page = (tmp_path / "systems.md").read_text()
    rows = [line.split(" | ")[0][2:] for line in page.splitlines() if line.startswith("| ")]
    assert rows[0] == "work"
    assert rows[1] == "Multi-Krum"
    assert {"RAGE", "BOBA", "torch.linalg.svd, (d, n)"} <= set(rows)


def test_a_goal_is_a_multiple_of_the_first_row() -> None:
    found = {"Multi-Krum": [0.010], "RAGE": [0.011], "BOBA": [0.031]}
    lines = systems.table(found)
    assert lines[3] == "| RAGE | 11.0 (11.0 to 11.0) | 1.10 | 1.2x | yes |"
    assert lines[4] == "| BOBA | 31.0 (31.0 to 31.0) | 3.10 | 3x | no |"
