from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from analyzer.agent import OFFER
from analyzer.cli.app import COMMANDS
from analyzer.spec import load_spec
from tests.cli.conftest import TEMPLATE, Invoke, data

REPLY = (
    "<think>\nParis, so.\n</think>\n\nLet me see.\n<tool_call>\n"
    '{"name": "get_weather", "arguments": {"city": "Paris", "days": 3}}\n</tool_call><|im_end|>'
)
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "get_weather",
            "description": "",
            "parameters": {
                "type": "object",
                "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
            },
        },
    }
]
MESSAGES = [{"role": "user", "content": "Hello?"}]


@pytest.fixture
def reply(tmp_path: Path) -> Path:
    """A file with a model's text."""
    file = tmp_path / "reply.txt"
    file.write_text(REPLY, encoding="utf-8")
    return file


@pytest.fixture
def messages(tmp_path: Path) -> Path:
    """A file with messages."""
    file = tmp_path / "messages.json"
    file.write_text(json.dumps(MESSAGES), encoding="utf-8")
    return file


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    """A file with tools."""
    file = tmp_path / "tools.json"
    file.write_text(json.dumps(TOOLS), encoding="utf-8")
    return file


@pytest.mark.parametrize(
    "command", [(), *((name,) for name in COMMANDS), ("corpus", "check"), ("corpus", "sync")]
)
def test_help_teaches(invoke: Invoke, command: tuple[str, ...]) -> None:
    """Every command explains itself; groups and most commands give examples."""
    result = invoke(*command, "--help")

    assert 0 == result.exit_code
    assert "Usage: analyzer" in result.stdout
    assert len(result.stdout.splitlines()) > 6


@pytest.mark.parametrize("group", [(), ("spec",), ("corpus",)])
def test_commands_are_told_in_whole_sentences(invoke: Invoke, group: tuple[str, ...]) -> None:
    """On a terminal of 80 columns, too."""
    listed = invoke(*group, "--help").stdout.partition("\nCommands:\n")[2].partition("\n\n")[0].splitlines()

    assert listed
    assert [] == [line for line in listed if not line.endswith(".") or line.endswith("...")]


def test_help_says_what_the_arguments_are(invoke: Invoke) -> None:
    """Wherever a template or a spec is taken, under that name."""
    for command in COMMANDS:
        usage, *rest = invoke(command, "--help").stdout.splitlines()
        told = " ".join(" ".join(rest).split())
        for name in ("SOURCE", "SPEC"):
            if re.search(rf"\b{name}\b(?!\]\.\.\.)", usage):
                assert re.search(rf"{name} is a (template|format spec)", told), (command, usage)


def test_version(invoke: Invoke) -> None:
    """The version is one line."""
    result = invoke("--version")

    assert 0 == result.exit_code
    assert result.stdout.startswith("analyzer ")


def test_infer_writes_a_spec_that_loads(spec_file: Path) -> None:
    """`infer -o` writes a proven spec."""
    spec = load_spec(spec_file)

    assert "proven" == spec.verification.verdict
    assert spec.calls is not None


def test_infer_summary_shows_calls_and_spec(invoke: Invoke) -> None:
    """Without -o the summary shows real calls, the format, and the spec's YAML."""
    result = invoke("infer", TEMPLATE)

    assert 0 == result.exit_code
    assert '{"name": "get_weather", "arguments": {"city": "Paris", "days": 3}}' in result.stdout
    assert "two calls, with text before them" in result.stdout
    assert "format_version: 1" in result.stdout
    assert "\x1b[" not in result.stdout


def test_colors_on_request_only(invoke: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    """`--color always` colours, wherever it stands; NO_COLOR and pipes do not."""
    monkeypatch.delenv("NO_COLOR", raising=False)

    assert "\x1b[" in invoke("infer", TEMPLATE, "--no-verify", "--color", "always").stdout
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[36m" not in invoke("infer", TEMPLATE, "--no-verify").stdout


def test_infer_json(invoke: Invoke) -> None:
    """`infer --json` holds verdict, notes and the spec."""
    found = data(invoke("infer", TEMPLATE, "--json"))

    assert "proven" == found["verdict"]
    assert "calls" == found["spec"]["turn"]["segments"][-1]["kind"]
    assert found["renders"] > 10


def test_infer_reads_standard_input(invoke: Invoke) -> None:
    """`-` is standard input."""
    found = data(invoke("infer", "-", "--json", "--no-verify", stdin=TEMPLATE.read_text(encoding="utf-8")))

    assert "unverified" == found["verdict"]


def test_infer_offers_prompted_calling(invoke: Invoke, tmp_path: Path) -> None:
    """A template without calls ends with the offer to call by prompt; one with calls does not."""
    without = TEMPLATE.with_name("no_tools.jinja")
    file = tmp_path / "format.yaml"

    shown = invoke("infer", without, "--no-verify", "--color", "never").stdout
    assert shown.endswith(f"\n\nCalling tools all the same\n  {OFFER}\n")
    assert OFFER == data(invoke("infer", without, "--no-verify", "--json"))["offer"]
    assert invoke("infer", without, "--no-verify", "-o", file).stderr.endswith(f"\n{OFFER}\n")
    assert data(invoke("infer", TEMPLATE, "--no-verify", "--json"))["offer"] is None
    assert OFFER not in invoke("infer", TEMPLATE, "--no-verify").stdout


def test_parse_gives_an_openai_message(invoke: Invoke, spec_file: Path, reply: Path) -> None:
    """`parse` prints the message in the OpenAI shape."""
    message = data(invoke("parse", spec_file, reply))

    assert "Let me see." == message["content"]
    assert "Paris, so." == message["reasoning_content"]
    (call,) = message["tool_calls"]
    assert "get_weather" == call["function"]["name"]
    assert {"city": "Paris", "days": 3} == json.loads(call["function"]["arguments"])


@pytest.mark.parametrize("piece", [(), ("--piece", "1"), ("--piece", "5")])
def test_parse_streams_deltas(invoke: Invoke, spec_file: Path, reply: Path, piece: tuple[str, ...]) -> None:
    """Deltas join to the same message, however the text is cut."""
    result = invoke("parse", spec_file, reply, "--stream", *piece)

    assert 0 == result.exit_code
    deltas = [json.loads(line) for line in result.stdout.splitlines()]
    calls = [call for delta in deltas for call in delta.get("tool_calls", ())]
    arguments = "".join(call["function"]["arguments"] for call in calls if "function" in call)
    assert "Let me see." == "".join(delta.get("content", "") for delta in deltas)
    assert "Paris, so." == "".join(delta.get("reasoning_content", "") for delta in deltas)
    assert {"city": "Paris", "days": 3} == json.loads(arguments)
    assert "tool_calls" == deltas[-1]["finish_reason"]


def test_parse_from_standard_input_with_a_setting(invoke: Invoke, spec_file: Path) -> None:
    """`--set` chooses the prompt the model continued."""
    message = data(invoke("parse", spec_file, "--set", "enable_thinking=false", stdin="Hello.<|im_end|>"))

    assert {"role": "assistant", "content": "Hello."} == message


def test_parse_tells_problems(invoke: Invoke, spec_file: Path, tools: Path) -> None:
    """A call that breaks off is a problem: on standard error, in the JSON, and in the exit code."""
    text = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Pa'
    result = invoke("parse", spec_file, "--tools", tools, "--finish-reason", "length", stdin=text)

    assert 1 == result.exit_code
    assert "unterminated_call" in result.stderr
    found = data(invoke("parse", spec_file, "--json", "--finish-reason", "length", stdin=text), code=1)
    assert "unterminated_call" in [problem["kind"] for problem in found["problems"]]


def test_verify(invoke: Invoke, spec_file: Path, tmp_path: Path) -> None:
    """`verify` proves a spec, and refutes an edited one."""
    found = data(invoke("verify", spec_file, TEMPLATE, "--json"))
    assert "proven" == found["verdict"]
    assert found["same_template"]

    edited = tmp_path / "edited.yaml"
    text = spec_file.read_text(encoding="utf-8")
    edited.write_text(text.replace('"\\n</tool_call>"', '"\\n</tool_kall>"'), encoding="utf-8")
    result = invoke("verify", edited, TEMPLATE)
    assert 1 == result.exit_code
    assert "failed" in result.stdout


def test_explain(invoke: Invoke) -> None:
    """`explain` goes through the comparisons, with renders."""
    result = invoke("explain", TEMPLATE)

    assert 0 == result.exit_code
    assert "C4  " in result.stdout
    assert "two arguments against one" in result.stdout
    assert "<tool_call>" in result.stdout
    only = invoke("explain", TEMPLATE, "--only", "R").stdout
    assert "R1  " in only
    assert "C4  " not in only
    assert only == invoke("explain", TEMPLATE, "--only", "r").stdout
    assert 2 == invoke("explain", TEMPLATE, "--only", "X").exit_code


def test_explain_json(invoke: Invoke) -> None:
    """`explain --json` gives comparisons, facts and renders with the needles' places."""
    found = data(invoke("explain", TEMPLATE, "--json"))

    render = found["renders"]["c1a2"]
    names = [render["text"][one["start"] : one["end"]] for one in render["needles"] if one["kind"] == "name"]
    assert 1 == len(names)
    assert "C4" in found["comparisons"]


def test_render(invoke: Invoke, messages: Path) -> None:
    """`render` prints the prompt, to the character."""
    result = invoke("render", TEMPLATE, "--messages", messages)

    assert 0 == result.exit_code
    assert "<|im_start|>user\nHello?<|im_end|>\n<|im_start|>assistant\n" == result.stdout
    closed = invoke("render", TEMPLATE, "--messages", messages, "--set", "enable_thinking=false").stdout
    assert closed.endswith("<think>\n\n</think>\n\n")
    bare = invoke("render", TEMPLATE, "--messages", messages, "--no-generation-prompt").stdout
    assert bare.endswith("<|im_end|>\n")


def test_render_tells_what_tools_cost(invoke: Invoke, messages: Path, tmp_path: Path) -> None:
    """Tool by tool, in characters; the prompt itself stays alone on standard output."""
    long = {**TOOLS[0]["function"], "name": "write_file", "description": "Writes a file. " * 20}
    body = tmp_path / "body.json"
    body.write_text(
        json.dumps({"messages": MESSAGES, "tools": [*TOOLS, {"type": "function", "function": long}]}),
        encoding="utf-8",
    )
    found = data(invoke("render", TEMPLATE, "--messages", body, "--json"))
    bare = data(invoke("render", TEMPLATE, "--messages", messages, "--json"))
    cost = found["cost"]
    each = {one["name"]: one["characters"] for one in cost["each"]}
    around = cost["around_them"]["characters"]

    assert {"characters": len(found["prompt"])} == found["size"]
    assert bare["size"] == cost["without_tools"]
    assert "cost" not in bare
    assert each["write_file"] > each["get_weather"] > 0
    assert cost["tools"]["characters"] == sum(each.values()) + around
    result = invoke("render", TEMPLATE, "--messages", body)
    assert found["prompt"] == result.stdout
    assert f"  write_file: {each['write_file']} characters" in result.stderr.splitlines()
    assert f"  around them: {around} characters" in result.stderr.splitlines()


def test_render_counts_tokens(invoke: Invoke, messages: Path, tools: Path, tmp_path: Path) -> None:
    """With a tokenizer the same in tokens."""
    tokenizers = pytest.importorskip("tokenizers")
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel({"[UNK]": 0}, unk_token="[UNK]"))  # noqa: S106
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    common = ("render", TEMPLATE, "--messages", messages, "--tokenizer", tmp_path)

    bare = data(invoke(*common, "--json"))["size"]
    assert (
        f"analyzer: prompt: {bare['characters']} characters, {bare['tokens']} tokens\n"
        == invoke(*common).stderr
    )
    found = data(invoke(*common, "--tools", tools, "--json"))
    cost = found["cost"]
    (each,) = cost["each"]
    assert bare == cost["without_tools"]
    assert found["size"]["tokens"] == bare["tokens"] + cost["tools"]["tokens"]
    assert cost["tools"]["tokens"] > each["tokens"] > 0
    assert f"tools: {cost['tools']['characters']} characters, {cost['tools']['tokens']} tokens" in (
        invoke(*common, "--tools", tools).stderr.splitlines()
    )


def test_render_without_a_cost(invoke: Invoke, tmp_path: Path, messages: Path, tools: Path) -> None:
    """A template that needs its tools is rendered all the same."""
    template = tmp_path / "template.jinja"
    template.write_text("{{ tools[0].function.name }}: {{ messages[0].content }}", encoding="utf-8")
    result = invoke("render", template, "--messages", messages, "--tools", tools)

    assert (0, "get_weather: Hello?", "") == (result.exit_code, result.stdout, result.stderr)


def test_spec_check_and_schema(invoke: Invoke, spec_file: Path) -> None:
    """`spec check` accepts what `infer` wrote; the schema is a JSON Schema."""
    (outcome,) = data(invoke("spec", "check", spec_file, "--json"))
    assert outcome["valid"]
    assert "$schema" in data(invoke("spec", "schema"))


def test_corpus_check(invoke: Invoke, tmp_path: Path) -> None:
    """`corpus check` checks files, and compares with a ledger."""
    check = ("corpus", "check", TEMPLATE, "--jobs", "1", "--cache", tmp_path / "cache")
    found = data(invoke(*check, "--json"))
    assert {"proven": 1} == found["summary"]["verdicts"]
    assert 1 == found["summary"]["renders_calls"]

    ledger = tmp_path / "ledger.yaml"
    sha = found["results"][0]["sha256"]
    ledger.write_text(f"gaps:\n  - {{slug: a, sha256: '{sha}', reason: once}}\n", encoding="utf-8")
    result = invoke(*check, "--ledger", ledger)
    assert 1 == result.exit_code
    assert "closed unnoticed" in result.stdout
    assert 0 == invoke(*check, "--ledger", ledger, "--update-ledger").exit_code
    assert "gaps: []" in ledger.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["json_tag_reasoning_toggle", "key_value_tags"])
def test_demo(invoke: Invoke, name: str) -> None:
    """The demonstration proves a bundled template and parses a reply with it."""
    found = data(invoke("demo", "--template", name, "--json"))

    assert found["came_out_as_sent"]
    assert found["verdict"] in ("proven", "proven_with_defects")
    assert "6. The message" in invoke("demo", "--template", name).stdout


def test_bundled_templates_are_those_of_the_corpus() -> None:
    """What the package ships is what the corpus holds."""
    from analyzer.cli.demo import TEMPLATES, bundled  # noqa: PLC0415

    for name in TEMPLATES:
        assert bundled(name).text == TEMPLATE.with_name(f"{name}.jinja").read_text(encoding="utf-8")


def test_every_comparison_belongs_to_a_family() -> None:
    """No numbered comparison is left out of explanations and docs."""
    from analyzer.infer.comparisons import FAMILIES, comparisons  # noqa: PLC0415

    assert {number[0] for number in comparisons()} == {family.letter for family in FAMILIES}
