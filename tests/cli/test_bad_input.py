from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import Result

from analyzer.cli.app import EXIT_CODES
from tests.cli.conftest import ROOT, TEMPLATE, Invoke

COMMAND = [sys.executable, "-c", "from analyzer.cli import main; main()"]
SECONDS = 90.0
"""No mistake may cost more time than this, on a busy machine too."""


def check(result: Result, code: int, *words: str) -> None:
    """The command ended with the code, and one paragraph on standard error that holds the words."""
    assert code == result.exit_code, result.output
    assert "Traceback" not in result.output
    for word in words:
        assert word in result.stderr
    complaints = [line for line in result.stderr.splitlines() if line.startswith("analyzer: ")]
    assert 1 == len(complaints), result.stderr


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder to write to."""
    made = tmp_path / "out"
    made.mkdir()
    return made


BAD_TEMPLATES = {
    "syntax": ("{% for m in messages %}\n{{ m.content }}", ("does not compile", "bad.jinja, line 2")),
    "endless": (
        "{% for a in range(90000) %}{% for b in range(90000) %}{% endfor %}{% endfor %}",
        ("timeout",),
    ),
    "gigabyte": ("{% for a in range(99999) %}{{ 'x' * 10000 }}{% endfor %}", ("output",)),
    "huge_string": ("{{ 'x' * 1000000000 }}", ("given up",)),
}


@pytest.mark.parametrize("name", BAD_TEMPLATES)
@pytest.mark.parametrize("command", ["infer", "explain", "verify"])
def test_bad_templates(invoke: Invoke, spec_file: Path, folder: Path, name: str, command: str) -> None:
    """A template that does not compile, or has to be stopped, is one paragraph and exit code 3; nothing is written."""
    source, words = BAD_TEMPLATES[name]
    file = folder.with_name("bad.jinja")
    file.write_text(source, encoding="utf-8")
    started = time.monotonic()
    first = (spec_file,) if command == "verify" else ()
    more = () if command == "explain" else ("-o", folder / "spec.yaml")
    result = invoke(command, *first, file, *more)

    check(result, 3, "bad", *words)
    assert time.monotonic() - started < SECONDS
    assert [] == list(folder.iterdir())


def test_binary_template(invoke: Invoke, tmp_path: Path) -> None:
    """A binary file is no template."""
    file = tmp_path / "model.jinja"
    file.write_bytes(b"\x7fELF\x00\xff\xfe" * 100)

    check(invoke("infer", file), 3, "model.jinja")


def test_missing_template(invoke: Invoke, tmp_path: Path) -> None:
    """A file that is not there is named, one in the home of nobody too."""
    check(invoke("infer", tmp_path / "nothing.jinja"), 3, "nothing.jinja")
    check(invoke("infer", "~no-such-user/nothing.jinja"), 3, "~no-such-user/nothing.jinja")


BAD_SPECS = {
    "misspelt": (b"format_version: 1\nturn: {segmints: []}\n", ("line 2", "segmints")),
    "duplicate": (
        b"format_version: 1\nturn:\n  header: a\n  header: b\n  segments: []\n",
        ("line 4", "header"),
    ),
    "version": (b"format_version: 99\nturn: {segments: []}\n", ("line 1", "99")),
    "binary": (b"\x00\x01\xff\xfe" * 64, ("spec.yaml",)),
    "nothing": (b"", ("spec.yaml",)),
}


@pytest.mark.parametrize("name", BAD_SPECS)
@pytest.mark.parametrize("command", ["parse", "verify", "spec check"])
def test_bad_specs(invoke: Invoke, tmp_path: Path, folder: Path, name: str, command: str) -> None:
    """A spec that is not valid is one paragraph with file, line and path, and exit code 4; nothing is written."""
    text, words = BAD_SPECS[name]
    file = tmp_path / "spec.yaml"
    file.write_bytes(text)
    more = {"parse": (), "verify": (TEMPLATE, "-o", folder / "out.yaml"), "spec check": ()}[command]
    result = invoke(*command.split(), file, *more, stdin="Hello")

    check(result, 4, "spec.yaml", *words)
    assert [] == list(folder.iterdir())


def test_a_template_in_the_place_of_a_spec(invoke: Invoke) -> None:
    """It is said how to make a spec of it."""
    check(invoke("parse", TEMPLATE, stdin=""), 4, f"analyzer infer {TEMPLATE} -o format.yaml")


def test_a_spec_in_the_place_of_a_template(invoke: Invoke, spec_file: Path) -> None:
    """It renders itself, whatever the messages are; that is a reason, where nothing was refused."""
    result = invoke("infer", spec_file)

    assert 1 == result.exit_code
    assert "this may be no chat template" in result.stdout


def test_a_line_of_a_template_inside_another_file(invoke: Invoke, tmp_path: Path) -> None:
    """The line is the template's own, not one of the file that it is in."""
    file = tmp_path / "tokenizer_config.json"
    file.write_text(json.dumps({"chat_template": "\n{% for"}), encoding="utf-8")

    check(invoke("infer", file), 3, f"the template in {file}, line 2: the template does not compile")


def test_a_variable_that_no_template_reads(invoke: Invoke, tmp_path: Path) -> None:
    """A misspelt one changes nothing, which is told; the prompt is printed all the same."""
    messages = tmp_path / "messages.json"
    messages.write_text('[{"role": "user", "content": "Hello?"}]', encoding="utf-8")
    words = ("render", TEMPLATE, "--messages", messages, "--set")

    check(invoke(*words, "enable_thinkng=false"), 0, "reads no variable enable_thinkng")
    assert "" == invoke(*words, "enable_thinking=false").stderr
    for command in ("infer", "explain"):
        more = ("--no-verify",) if command == "infer" else ()
        check(invoke(command, TEMPLATE, "--set", "nonsense=1", *more), 0, "reads no variable nonsense")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("[{", ("messages.json, line 1", "not JSON")),
        ("{}", ("no messages",)),
        ("[1]", ("no messages",)),
    ],
)
def test_bad_messages(invoke: Invoke, tmp_path: Path, content: str, words: tuple[str, ...]) -> None:
    """Messages that are none are said so, with what is expected."""
    file = tmp_path / "messages.json"
    file.write_text(content, encoding="utf-8")

    check(invoke("render", TEMPLATE, "--messages", file), 2, *words)


def test_bad_tools_and_settings(invoke: Invoke, spec_file: Path, tmp_path: Path) -> None:
    """Tools without a name, assignments without a key, variables that no prompt depends on."""
    file = tmp_path / "tools.json"
    file.write_text('[{"type": "function", "function": {}}]', encoding="utf-8")

    check(invoke("parse", spec_file, "--tools", file, stdin=""), 2, "no tool")
    check(invoke("parse", spec_file, "--set", "=3", stdin=""), 2, "KEY=VALUE")
    check(invoke("parse", spec_file, "--set", "enable_thinkng=false", stdin=""), 2, "enable_thinking")


ODD_FILES = {
    "tools.json": '[{"type": "function", "function": {"name": "a", "parameters": 3}}]',
    "calls.json": '[{"role": "assistant", "content": "", "tool_calls": [3, {"function": 3}]}]',
    "messages.json": '[{"role": "user", "content": "a"}]',
    "deep.yaml": "[" * 10000,
    "date.yaml": "gaps: 2024-13-45",
    "one/tokenizer.json": '{"added_tokens": [3]}',
    "two/tokenizer.json": '{"added_tokens": [{"special": true}]}',
}


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (("render", TEMPLATE, "--messages", "messages.json", "--tools", "tools.json"), 2, "no schema"),
        (("export", "SPEC", "--to", "gbnf", "--tools", "tools.json"), 2, "no schema"),
        (
            ("render", TEMPLATE, "--messages", "calls.json", "--arguments", "text"),
            3,
            "cannot render this conversation",
        ),
        (
            ("render", TEMPLATE, "--messages", "calls.json", "--arguments", "mapping"),
            3,
            "cannot render this conversation",
        ),
        (("corpus", "check", TEMPLATE, "--ledger", "deep.yaml"), 2, "deep.yaml: the ledger cannot be read"),
        (("corpus", "check", TEMPLATE, "--ledger", "date.yaml"), 2, "date.yaml: the ledger cannot be read"),
        (("export", "SPEC", "--to", "lark", "--tokenizer", "one"), 2, "added_tokens"),
        (("export", "SPEC", "--to", "lark", "--tokenizer", "two"), 2, "added_tokens"),
    ],
)
def test_files_that_hold_something_else(
    words: tuple[object, ...],
    code: int,
    told: str,
    invoke: Invoke,
    spec_file: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A mistake in a file is no bug of the program: it is told which file, and what is wrong."""
    for name, text in ODD_FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    result = invoke(*(spec_file if word == "SPEC" else word for word in words))

    assert code == result.exit_code, result.output
    assert told in result.stderr


def test_model_text_in_another_encoding(invoke: Invoke, spec_file: Path) -> None:
    """Text that is not UTF-8 is refused."""
    check(invoke("parse", spec_file, stdin=b"caf\xe9"), 2, "standard input: this is not text in UTF-8")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (b"caf\xe9", "standard input: this is not text in UTF-8"),
        (b"[{", "standard input, line 1: this is not JSON"),
        (b"3", "standard input: this is no list"),
        (b"[3]", "standard input: an item is no tool"),
    ],
)
def test_standard_input_has_a_name(
    invoke: Invoke, spec_file: Path, tmp_path: Path, text: bytes, told: str
) -> None:
    """What stands for it on the command line is no name of a file."""
    reply = tmp_path / "reply.txt"
    reply.write_text("Hello.", encoding="utf-8")

    check(invoke("parse", spec_file, reply, "--tools", "-", stdin=text), 2, told)


IMPOSSIBLE = {
    "round_trips": (r"round_trips: .*", "round_trips: -4", "verification.round_trips: found -4"),
    "covered": (r"covered: \d+", "covered: -1", "verification.coverage.covered: found -1"),
    "total": (r"total: \d+", "total: 7", "verification.coverage: "),
    "refused": (r"refused: \d+", "refused: 1", "verification.coverage: "),
    "sha256": (r'sha256: "\w+"', "sha256: abc", "template.sha256: found 3 characters"),
    "digits": (r'sha256: "\w', 'sha256: "g', "template.sha256: found 64 characters"),
}


@pytest.mark.parametrize("name", IMPOSSIBLE)
def test_figures_that_cannot_be(invoke: Invoke, spec_file: Path, tmp_path: Path, name: str) -> None:
    """A spec that was edited by hand and claims what no run of this program says."""
    pattern, other, told = IMPOSSIBLE[name]
    lines = spec_file.read_text(encoding="utf-8").splitlines()
    [line] = [number for number, text in enumerate(lines) if re.search(rf"(^|\W){pattern}", text)]
    lines[line] = re.sub(pattern, other, lines[line])
    file = tmp_path / "spec.yaml"
    file.write_text("\n".join(lines), encoding="utf-8")

    check(invoke("spec", "check", file), 4, f"spec.yaml, line {line + 1}, at {told}")


def test_a_verdict_is_what_the_file_says(invoke: Invoke, spec_file: Path, tmp_path: Path) -> None:
    """Nothing is proven by checking that a file is a spec."""
    file = tmp_path / "spec.yaml"
    text = spec_file.read_text(encoding="utf-8").replace("verdict: proven", "verdict: proven_with_defects")
    file.write_text(text, encoding="utf-8")

    assert f"{file}: valid; it says: proven with defects\n" == invoke("spec", "check", file).stdout


def test_refused_conversation_says_so(invoke: Invoke, tmp_path: Path) -> None:
    """What a template raises is told in its own words, and cannot drive the terminal."""
    template, messages = tmp_path / "t.jinja", tmp_path / "m.json"
    template.write_text("{{ raise_exception('no \x1b[31m tools here') }}", encoding="utf-8")
    messages.write_text(json.dumps([{"role": "user", "content": "a"}]), encoding="utf-8")
    result = invoke("render", template, "--messages", messages)

    check(result, 3, "refuses this conversation", "tools here")
    assert "\x1b" not in result.stderr


def test_output_folder_is_checked_first(invoke: Invoke, tmp_path: Path) -> None:
    """A folder that is not there is a usage error before any work is done."""
    result = invoke("infer", TEMPLATE, "-o", tmp_path / "no" / "spec.yaml")

    assert 2 == result.exit_code
    assert "there is no folder" in result.stderr


def test_a_bug_is_one_paragraph_unless_debugging(invoke: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    """An unexpected exception is told as a bug; `--debug` shows the traceback."""

    def broken(*_: object, **__: object) -> None:
        raise KeyError("boom")

    monkeypatch.setattr("analyzer.analysis.analyze", broken)
    result = invoke("infer", TEMPLATE)
    check(result, 70, "bug", "boom")
    assert "Traceback" in invoke("infer", TEMPLATE, "--debug").stderr


def test_exit_codes_are_those_of_the_errors() -> None:
    """The documented exit codes are the ones that the exceptions carry."""
    from analyzer import errors  # noqa: PLC0415

    carried = {
        errors.UsageError,
        errors.TemplateError,
        errors.SpecError,
        errors.ExportError,
        errors.JobError,
    }
    assert {error.exit_code for error in carried} <= set(EXIT_CODES)


def until_it_renders(process: subprocess.Popen[str]) -> None:
    """Wait for the rendering process of a command."""
    threads = Path(f"/proc/{process.pid}/task")
    until = time.monotonic() + SECONDS
    while not any(path.read_text(encoding="ascii") for path in threads.glob("*/children")):
        assert time.monotonic() < until
        time.sleep(0.05)


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="processes are found as Linux shows them")
def test_interrupt_is_clean(tmp_path: Path) -> None:
    """Ctrl-C ends with 130 and one line, and leaves nothing behind."""
    file = tmp_path / "endless.jinja"
    file.write_text(
        "{% for a in range(90000) %}{% for b in range(90000) %}{% endfor %}{% endfor %}", encoding="utf-8"
    )
    heeding = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "  # tests may run behind nohup
    process = subprocess.Popen(
        [sys.executable, "-c", heeding + COMMAND[-1], "infer", str(file), "-o", str(tmp_path / "spec.yaml")],
        cwd=ROOT,
        stderr=subprocess.PIPE,
        text=True,
    )
    until_it_renders(process)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=SECONDS)

    assert 130 == process.returncode, stderr
    assert "Traceback" not in stderr
    assert [file] == list(tmp_path.iterdir())
