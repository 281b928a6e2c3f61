"""What a command line names: `-`, empty names, files that are not there, files that cannot be written; all told at once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

import pytest
import yaml

from analyzer.spec.document import parse_spec
from tests.cli.conftest import TEMPLATE, Invoke

RESPONSE_TEMPLATE: Final = {"version": 1, "fields": {"content": {"close": "<|im_end|>"}}}
MESSAGES: Final = [{"role": "user", "content": "Hello?"}]


@pytest.fixture
def folder(tmp_path: Path, spec_file: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with a spec, a text, messages, a template and a response template."""
    files = {
        "spec.yaml": spec_file.read_text(encoding="utf-8"),
        "reply.txt": "Hello.<|im_end|>",
        "messages.json": json.dumps(MESSAGES),
        "template.jinja": TEMPLATE.read_text(encoding="utf-8"),
        "response.json": json.dumps(RESPONSE_TEMPLATE),
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "file").touch()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ANALYZER_CACHE", str(tmp_path / "cache"))
    return tmp_path


SPEC_COMMANDS: Final = (
    ("parse", "SPEC", "reply.txt"),
    ("verify", "SPEC", "template.jinja"),
    ("export", "SPEC", "--to", "response-template", "--no-check"),
    ("diff", "SPEC", "spec.yaml"),
    ("diff", "spec.yaml", "SPEC"),
    ("spec", "check", "SPEC"),
)


@pytest.mark.parametrize("words", SPEC_COMMANDS, ids=" ".join)
def test_a_spec_from_standard_input(words: tuple[str, ...], folder: Path, invoke: Invoke) -> None:
    """`-` does what the file does, whichever command takes a spec."""
    text = (folder / "spec.yaml").read_text(encoding="utf-8")
    named = invoke(*(word.replace("SPEC", "spec.yaml") for word in words))
    given = invoke(*(word.replace("SPEC", "-") for word in words), stdin=text)

    assert 0 == named.exit_code, named.output
    assert (0, named.stdout) == (given.exit_code, given.stdout.replace("-: ", "spec.yaml: "))


@pytest.mark.parametrize("words", SPEC_COMMANDS, ids=" ".join)
def test_a_spec_that_cannot_be_read(words: tuple[str, ...], folder: Path, invoke: Invoke) -> None:
    """Not there, or a folder: status 2, as for every file; what is not valid has 4, from standard input too."""
    for name, why in (("absent.yaml", "No such file"), (str(folder), "Is a directory")):
        result = invoke(*(word.replace("SPEC", name) for word in words))
        assert (2, "") == (result.exit_code, result.stdout), result.output
        assert f"{name}: the file cannot be read: {why}" in result.stderr
    bad = invoke(*(word.replace("SPEC", "-") for word in words), stdin="format_version: 1\nturn: 3\n")
    assert 4 == bad.exit_code
    assert "standard input, line 2" in bad.stderr


def test_specs_of_which_one_is_not_there(folder: Path, invoke: Invoke) -> None:
    """`spec check` goes on; a spec that is not valid counts more than a file that cannot be read."""
    (folder / "bad.yaml").write_text("format_version: 1\nturn: 3\n", encoding="utf-8")
    missing = invoke("spec", "check", "absent.yaml", "spec.yaml", "--json")

    assert 2 == missing.exit_code
    assert [False, True] == [one["valid"] for one in json.loads(missing.stdout)]
    assert 4 == invoke("spec", "check", "bad.yaml", "absent.yaml", "spec.yaml").exit_code


def test_an_overlay_that_is_not_there(folder: Path, invoke: Invoke) -> None:
    """It is a file that cannot be read."""
    result = invoke("infer", "template.jinja", "--overlay", folder / "absent.yaml")

    assert 2 == result.exit_code
    assert "absent.yaml: the file cannot be read" in result.stderr


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("parse", "-"), "SPEC and FILE"),
        (("parse", "-", "-"), "SPEC and FILE"),
        (("parse", "spec.yaml", "--tools", "-"), "--tools and FILE"),
        (("verify", "-", "-"), "SPEC and SOURCE"),
        (("diff", "-", "-"), "SPEC_A and SPEC_B"),
        (("spec", "check", "-", "-"), "FILE and FILE"),
        (("render", "-", "--messages", "-"), "--messages"),
        (("export", "-", "--to", "gbnf", "--tools", "-"), "SPEC"),
        (("report", "-", "-", "-o", "new"), "SOURCE and SOURCE"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_standard_input_is_read_once(words: tuple[str, ...], told: str, folder: Path, invoke: Invoke) -> None:
    """Two that want it are told so, before it is read."""
    result = invoke(*words, stdin="")

    assert 2 == result.exit_code, result.output
    assert told in " ".join(result.stderr.split())
    assert "would both be read from standard input" in " ".join(result.stderr.split())
    assert not (folder / "new").exists()


@pytest.mark.parametrize(
    "words",
    [
        ("infer", ""),
        ("infer", "template.jinja", "-o", ""),
        ("infer", "template.jinja", "--overlay", ""),
        ("explain", ""),
        ("lint", ""),
        ("verify", "spec.yaml", ""),
        ("render", "", "--messages", "messages.json"),
        ("render", "template.jinja", "--messages", ""),
        ("parse", ""),
        ("parse", "spec.yaml", ""),
        ("parse", "spec.yaml", "reply.txt", "--tools", ""),
        ("diff", "spec.yaml", ""),
        ("export", "", "--to", "gbnf"),
        ("export", "spec.yaml", "--to", "gbnf", "--tokenizer", ""),
        ("spec", "check", ""),
        ("import-response-template", ""),
        ("report", "", "-o", "new"),
        ("report", "template.jinja", "-o", ""),
        ("corpus", "check", ""),
        ("corpus", "check", "template.jinja", "--baseline", ""),
        ("corpus", "check", "template.jinja", "--cache", ""),
        ("corpus", "sync", "--folder", ""),
    ],
    ids=lambda words: " ".join(word or "''" for word in words),
)
def test_an_empty_name_is_a_mistake(words: tuple[str, ...], folder: Path, invoke: Invoke) -> None:
    """It is not the current folder, which holds a template and a spec here."""
    before = sorted(path.name for path in folder.iterdir())
    result = invoke(*words)

    assert 2 == result.exit_code, result.output
    assert "the name is empty" in " ".join(result.stderr.split())
    assert before == sorted(path.name for path in folder.iterdir())


def test_standard_output_in_the_place_of_a_file(folder: Path, invoke: Invoke) -> None:
    """`-o -` prints what the file would hold, to the byte, and what is for people goes to standard error."""
    cases = (
        ("infer", "template.jinja"),
        ("verify", "spec.yaml", "template.jinja"),
        ("export", "spec.yaml", "--to", "response-template", "--no-check"),
        ("import-response-template", "response.json"),
        ("corpus", "check", "template.jinja", "--jobs", "1"),
    )
    for words in cases:
        in_a_file = invoke(*words, "-o", "out")
        printed = invoke(*words, "-o", "-")

        assert 0 == in_a_file.exit_code == printed.exit_code, (words, in_a_file.output, printed.output)
        assert (folder / "out").read_text(encoding="utf-8") == printed.stdout, words
        assert not (folder / "-").exists()
    for option, begins in (("--junit", "<?xml"), ("--markdown", "## Corpus"), ("--timings", "{")):
        result = invoke("corpus", "check", "template.jinja", "--jobs", "1", option, "-")
        assert 0 == result.exit_code
        assert result.stdout.startswith(begins)
        assert "nothing changed" in result.stderr
    assert not (folder / "-").exists()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("infer", "template.jinja", "--json", "-o", "-"), "--output"),
        (("verify", "spec.yaml", "template.jinja", "--json", "-o", "-"), "--output"),
        (("corpus", "check", "template.jinja", "-o", "-", "--junit", "-"), "--output and --junit"),
        (("corpus", "check", "template.jinja", "--markdown", "-", "--json"), "--markdown"),
        (("parse", "spec.yaml", "reply.txt", "--json", "--stream"), "--json and --stream"),
        (("lint", "template.jinja", "--json", "--sarif"), "--json and --sarif"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_standard_output_holds_one_thing(
    words: tuple[str, ...], told: str, folder: Path, invoke: Invoke
) -> None:
    """Two that want it are told so, and neither is left out in silence."""
    result = invoke(*words)

    assert (2, "") == (result.exit_code, result.stdout), result.output
    assert told in " ".join(result.stderr.split())
    assert "would both be written to standard output" in " ".join(result.stderr.split())
    assert not (folder / "-").exists()


@pytest.mark.parametrize(
    "words",
    [
        ("report", "template.jinja", "-o", "-"),
        ("report", "template.jinja", "-o", "new", "--history", "-"),
        ("corpus", "check", "template.jinja", "--report", "-"),
        ("corpus", "check", "template.jinja", "--ledger", "-"),
        ("infer", "template.jinja", "--overlay", "-"),
    ],
    ids=" ".join,
)
def test_a_path_is_no_stream(words: tuple[str, ...], folder: Path, invoke: Invoke) -> None:
    """A folder, a history, which is read before it is written, and what a library reads by its path."""
    result = invoke(*words)

    assert 2 == result.exit_code, result.output
    assert "cannot stand for a" in " ".join(result.stderr.split())
    assert not (folder / "-").exists()


@pytest.mark.parametrize(
    ("words", "first", "second"),
    [
        (
            ("corpus", "check", "template.jinja", "--no-baseline", "--baseline", "x"),
            "--baseline",
            "--no-baseline",
        ),
        (("corpus", "check", "--no-baseline", "--update-baseline"), "--update-baseline", "--no-baseline"),
        (("corpus", "check", "template.jinja", "--no-cache", "--cache", "x"), "--cache", "--no-cache"),
        (("corpus", "check", "--jobs", "2", "--scheduler", "tcp://127.0.0.1:9"), "--jobs", "--scheduler"),
        (("infer", "template.jinja", "--no-verify", "--seed", "3"), "--no-verify", "--seed"),
        (("parse", "spec.yaml", "reply.txt", "--prompt", "x", "--set", "a=1"), "--prompt", "--set"),
        (("lint", "template.jinja", "--short", "--json"), "--short", "--json"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_options_that_exclude_each_other(
    words: tuple[str, ...], first: str, second: str, folder: Path, invoke: Invoke
) -> None:
    """Nothing is ignored in silence."""
    before = sorted(folder.iterdir())
    result = invoke(*words)

    assert 2 == result.exit_code, result.output
    assert f"{first} and {second} exclude each other" in " ".join(result.stderr.split())
    assert before == sorted(folder.iterdir())


def test_a_port_is_for_serving(folder: Path, invoke: Invoke) -> None:
    """So is said, instead of writing a report that nobody serves."""
    result = invoke("report", "template.jinja", "-o", "new", "--port", "8000")

    assert 2 == result.exit_code
    assert "--port needs --serve" in " ".join(result.stderr.split())
    assert not (folder / "new").exists()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("infer", "template.jinja", "-o", "absent/spec.yaml"), "there is no folder absent"),
        (("infer", "template.jinja", "-o", "file/spec.yaml"), "there is no folder file"),
        (("infer", "template.jinja", "-o", "."), "this is a folder"),
        (("verify", "spec.yaml", "template.jinja", "-o", "absent/spec.yaml"), "there is no folder absent"),
        (("export", "spec.yaml", "--to", "vllm-plugin", "-o", "absent/x.py"), "there is no folder absent"),
        (("import-response-template", "response.json", "-o", "absent/x"), "there is no folder absent"),
        (("report", "template.jinja", "-o", "file"), "cannot be a folder"),
        (("report", "template.jinja", "-o", "file/report"), "cannot be a folder"),
        (("report", "template.jinja", "-o", "."), "no report"),
        (("report", "template.jinja", "-o", "new", "--history", "absent/h"), "there is no folder absent"),
        (("report", "template.jinja", "-o", "new", "--history", "reply.txt"), "no run of a history"),
        (("corpus", "check", "template.jinja", "-o", "absent/x"), "there is no folder absent"),
        (("corpus", "check", "template.jinja", "--junit", "."), "this is a folder"),
        (("corpus", "check", "template.jinja", "--markdown", "file/x"), "there is no folder file"),
        (("corpus", "check", "template.jinja", "--timings", "absent/x"), "there is no folder absent"),
        (("corpus", "check", "template.jinja", "--report", "file/x"), "cannot be a folder"),
        (("corpus", "check", "template.jinja", "--report", "."), "no report"),
        (
            ("corpus", "check", "template.jinja", "--report", "new", "--history", "reply.txt"),
            "no run of a history",
        ),
        (
            ("corpus", "check", "template.jinja", "--baseline", "file/x", "--update-baseline"),
            "cannot be a folder",
        ),
        (
            ("corpus", "check", "template.jinja", "--ledger", "absent/x", "--update-ledger"),
            "there is no folder absent",
        ),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_what_cannot_be_written_is_told_before_the_work(
    words: tuple[str, ...], told: str, folder: Path, invoke: Invoke, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Status 2; nothing is analysed, and nothing is left behind."""
    for begun in ("analyzer.analysis.analyze", "analyzer.corpus.job.check", "analyzer.verify.verified"):
        monkeypatch.setattr(begun, lambda *_, **__: pytest.fail("the work has begun"))
    before = sorted(path.name for path in folder.iterdir() if path.name != "cache")
    result = invoke(*words)

    assert 2 == result.exit_code, result.output
    assert told in " ".join(result.stderr.split())
    assert before == sorted(path.name for path in folder.iterdir() if path.name != "cache")


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="there is no folder that even root may not write")
@pytest.mark.parametrize(
    "words",
    [
        ("infer", "template.jinja", "-o", "/proc/spec.yaml"),
        ("report", "template.jinja", "-o", "/proc/report"),
        ("corpus", "check", "template.jinja", "--junit", "/proc/junit.xml"),
        ("corpus", "check", "template.jinja", "--report", "/proc/some/report"),
    ],
    ids=" ".join,
)
def test_a_folder_that_may_not_be_written(
    words: tuple[str, ...], folder: Path, invoke: Invoke, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The system is asked before the work begins."""
    for begun in ("analyzer.analysis.analyze", "analyzer.corpus.job.check"):
        monkeypatch.setattr(begun, lambda *_, **__: pytest.fail("the work has begun"))
    result = invoke(*words)

    assert folder.is_dir()
    assert 2 == result.exit_code, result.output
    assert "cannot be written" in " ".join(result.stderr.split())


def test_a_source_is_not_written_over(folder: Path, invoke: Invoke) -> None:
    """`import-response-template X -o X` would lose X, as `infer X -o X` would."""
    result = invoke("import-response-template", "response.json", "-o", "response.json")

    assert 2 == result.exit_code
    assert RESPONSE_TEMPLATE == json.loads((folder / "response.json").read_text(encoding="utf-8"))


def test_every_command_prints_json(folder: Path, invoke: Invoke) -> None:
    """An imported spec as an object with its verdict and why; the schema with the flag and without."""
    found = json.loads(invoke("import-response-template", folder / "response.json", "--json").stdout)

    assert "unverified" == found["verdict"]
    assert ["unverified"] == [note["kind"] for note in found["notes"]]
    text = invoke("import-response-template", "-", stdin=json.dumps(RESPONSE_TEMPLATE)).stdout
    assert parse_spec(text) == parse_spec(yaml.safe_dump(found["spec"]))
    assert invoke("spec", "schema").stdout == invoke("spec", "schema", "--json").stdout


def test_one_letter_of_the_comparisons_as_json(folder: Path, invoke: Invoke) -> None:
    """`--only` holds for programs, too."""
    assert folder.is_dir()
    found = json.loads(invoke("explain", "template.jinja", "--only", "R", "--json").stdout)
    everything = json.loads(invoke("explain", "template.jinja", "--json").stdout)

    assert {"R"} == {number[0] for number in found["comparisons"]}
    assert {"R"} == {finding["comparison"][0] for finding in found["findings"]}
    assert found["facts"]
    for part in ("comparisons", "findings", "facts", "renders"):
        assert len(found[part]) < len(everything[part])
