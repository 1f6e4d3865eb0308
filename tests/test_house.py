"""The files around the package say what the package says, and can be parsed."""

import re
import tomllib
from importlib.metadata import version

import pytest
import yaml

from tests.declared import PROJECT, ROOT

FORMS = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("[!c]*.yml"))


def text(path):
    return (ROOT / path).read_text(encoding="utf-8")


def parsed(path):
    return yaml.safe_load(text(path))


def workflow(name):
    """A workflow; YAML reads the key `on` as true."""
    found = parsed(f".github/workflows/{name}.yml")
    return {("on" if key is True else key): value for key, value in found.items()}


def steps(job):
    return [step.get("run") or step["uses"] for step in job["steps"]]


def test_the_citation_has_what_the_format_requires():
    citation = parsed("CITATION.cff")

    assert {"cff-version", "message", "title", "authors"} <= set(citation)
    assert citation["cff-version"] == "1.2.0"
    assert citation["license"] == PROJECT["license"]
    assert citation["keywords"] == PROJECT["keywords"]


def test_the_citation_is_of_this_version():
    assert parsed("CITATION.cff")["version"] == PROJECT["version"] == version("wola")
    assert re.search(r"^## (\S+)", text("CHANGELOG.md"), re.MULTILINE)[1] == PROJECT["version"]


def test_the_citation_names_the_paper_and_its_authors():
    (paper,) = parsed("CITATION.cff")["references"]

    assert {"type", "title", "authors"} <= set(paper)
    assert paper["title"].startswith("A Weighted Loss Approach to Robust Federated Learning")
    names = [author["family-names"] for author in paper["authors"]]
    assert names == ["Erbani", "Ben Mokhtar", "Portier", "Egyed-Zsigmond", "Nurbakova"]


def test_every_change_runs_what_the_project_runs():
    found = workflow("ci")

    assert {"push", "pull_request"} <= set(found["on"])
    (job,) = found["jobs"].values()
    assert "bash .ci/run" in steps(job)
    assert found["permissions"] == {"contents": "read"}


def test_a_tag_is_built_checked_and_published_without_a_password():
    found = workflow("publish")

    assert found["on"] == {"push": {"tags": ["v*"]}}
    build, publish = found["jobs"]["build"], found["jobs"]["publish"]
    assert [each for each in steps(build) if "twine check --strict" in each]
    assert (publish["needs"], publish["permissions"]) == ("build", {"id-token": "write"})
    assert steps(publish)[-1].startswith("pypa/gh-action-pypi-publish@")
    assert "secrets." not in text(".github/workflows/publish.yml")


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.name)
def test_a_form_for_issues_asks_for_something(path):
    form = yaml.safe_load(path.read_text(encoding="utf-8"))

    assert form["name"]
    assert form["description"]
    asked = [field for field in form["body"] if field.get("validations", {}).get("required")]
    assert asked
    assert len({field["id"] for field in form["body"]}) == len(form["body"])


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", "SECURITY.md"])
def test_every_file_that_the_house_rules_name_is_there(page):
    words = re.findall(r"`([\w./-]+)`|\]\(([\w./-]+)\)", text(page))
    named = {one or other for one, other in words}
    paths = {word for word in named if "/" in word or word.endswith((".md", ".toml", ".cff"))}

    assert paths
    assert [path for path in sorted(paths) if not (ROOT / path).exists()] == []


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", "README.md"])
def test_every_target_of_make_that_is_named_is_there(page):
    targets = set(re.findall(r"^([\w-]+):", text("Makefile"), re.MULTILINE))

    assert (
        set(re.findall(r"\bmake ([a-z][a-z-]+)\b(?=[ `]|$)", text(page), re.MULTILINE)) <= targets
    )


def test_what_is_tested_here_has_all_extras_that_users_may_ask_for():
    (asked,) = re.findall(r'-e "\.\[([\w,]+)\]"', text("Makefile"))

    assert set(PROJECT["optional-dependencies"]) - {"docs"} <= set(asked.split(","))


def test_the_readme_names_every_extra():
    (sentence,) = re.findall(r"the extras are ([^.]+)\.", text("README.md"))

    named = re.findall(r"`([a-z]+)`", sentence)
    assert set(PROJECT["optional-dependencies"]) - {"docs"} <= set(named)


def test_the_pythons_that_are_declared_are_those_that_were_tried():
    (row,) = re.findall(r"^\| Python \| ([^|]+) \|", text("CONTRIBUTING.md"), re.MULTILINE)
    tried = set(re.findall(r"\b3\.\d+\b", row))

    declared = {
        each.rpartition(" ")[2]
        for each in PROJECT["classifiers"]
        if each.startswith("Programming Language :: Python :: 3.")
    }
    assert declared == tried
    assert PROJECT["requires-python"] == f">={min(tried, key=lambda text: int(text[2:]))}"


def test_what_ci_pins_is_allowed_by_what_is_declared():
    from packaging.requirements import Requirement
    from packaging.utils import canonicalize_name

    pins = {
        canonicalize_name(name): pinned
        for name, _, pinned in (line.partition("==") for line in text("constraints.txt").split())
    }
    optional = PROJECT["optional-dependencies"].values()
    build = tomllib.loads(text("pyproject.toml"))["build-system"]["requires"]
    for line in [*PROJECT["dependencies"], *build, *(one for some in optional for one in some)]:
        requirement = Requirement(line)
        assert requirement.specifier.contains(pins[canonicalize_name(requirement.name)]), line
