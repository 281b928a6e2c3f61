"""The rendering process: it answers everything, whatever a template does to it."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer.errors import UsageError
from analyzer.render import InProcessRenderer, Limits, Rendered, RenderFailure, RenderRequest, RenderWorker
from analyzer.render.process import ChildProcess, _decode
from analyzer.render.worker import BATCH_CHARS, BATCH_REQUESTS, OutcomeCache, _first_batch
from tests.budget import examples
from tests.render.conversations import request

LIMITS = Limits(seconds=2.0, memory_bytes=256 * 1024 * 1024, output_chars=100_000)
HASTY = Limits(seconds=1.0, kills=2)
ENDLESS = "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}"
CONTENT = "{{ messages[0].content }}"

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.text()
    | st.text(st.characters(categories=["Cs"]), max_size=1),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)


@pytest.fixture(scope="module")
def worker() -> Iterator[RenderWorker]:
    """One worker for all tests that leave it alive or restart it."""
    with RenderWorker(LIMITS) as made:
        yield made


def kind_of(outcome: object) -> str:
    """The kind of a failure, or the text of a render."""
    return outcome.kind if isinstance(outcome, RenderFailure) else repr(outcome)


@given(value=JSON)
@settings(max_examples=examples(60))
def test_values_arrive_as_they_are(worker: RenderWorker, value: object) -> None:
    """Any JSON value, lone surrogates included, renders to the same text in the worker and in this process."""
    asked = [RenderRequest([{"role": "user", "content": value}])]
    source = CONTENT + "{{ messages | tojson }}"

    assert InProcessRenderer().render(source, asked) == worker.render(source, asked)


def test_answers_come_in_the_order_of_requests(worker: RenderWorker) -> None:
    """More requests than a batch holds, some of them equal, are answered each in its place."""
    numbers = [number % 400 for number in range(2 * BATCH_REQUESTS)]

    outcomes = worker.render(CONTENT, [request(str(number)) for number in numbers])

    assert [Rendered(str(number)) for number in numbers] == outcomes


def test_no_requests_need_no_process() -> None:
    """Nothing is started for nothing."""
    with RenderWorker() as worker:
        assert [] == worker.render(CONTENT, [])
        assert worker.starts == 0


def test_large_requests_go_out_in_several_batches() -> None:
    """A batch holds at least one request, and not more than its number of characters."""
    todo = ["x" * BATCH_CHARS, "y" * BATCH_CHARS, "z", "z"]

    assert todo[:1] == _first_batch(todo)
    assert todo[2:] == _first_batch(todo[2:])


def test_the_immutable_sandbox_refuses_changes_and_the_mutable_one_does_not(worker: RenderWorker) -> None:
    """A list can be appended to only on request, and one render never changes what another sees."""
    source = "{% set _ = messages.append(1) %}{{ messages | length }}"

    refused = worker.render(source, [request()])
    allowed = worker.render(source, [request(), request("ho"), request()], mutable=True)

    assert "security" == kind_of(refused[0])
    assert [Rendered("2")] * 3 == allowed


@pytest.mark.parametrize(
    ("source", "kind", "line"),
    [
        ("\n{% if %}", "syntax", 2),
        ("{{ 'a' | nothing }}", "syntax", 1),
        ("{% for a in b %}" * 30 + "{% endfor %}" * 30, "syntax", None),
        ("{{ " + "9" * 5000 + " }}", "syntax", None),
        ("\n\n{{ raise_exception('no') }}", "raised", 3),
        ("{{ nothing.more }}", "undefined", 1),
        ("a\n{{ 1 + 'a' }}", "type", 2),
        ("{{ nothing | tojson }}", "type", 1),
        ("{{ 1 / 0 }}", "error", 1),
        ("{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}", "error", 1),
        ("{{ " + "(" * 3000 + "1" + ")" * 3000 + " }}", "error", None),
        ("{{ messages[0].update(a=1) }}", "security", 1),
        ("{% for a in range(100000) %}{{ 'x' * 1000 }}{% endfor %}", "output", None),
        ("{{ 'x' * 200000 }}", "output", None),
        ("{{ 'x' * 1000000000 }}", "memory", 1),
        (
            "{% set ns = namespace(a='x') %}{% for _ in range(40) %}{% set ns.a = ns.a ~ ns.a %}{% endfor %}",
            "memory",
            1,
        ),
        ("{% set x %}{% for a in range(99999) %}{{ 'x' * 9999 }}{% endfor %}{% endset %}", "memory", 1),
    ],
)
def test_each_failure_has_its_kind_and_line(
    worker: RenderWorker, source: str, kind: str, line: int | None
) -> None:
    """What a template does wrong is told apart, and the next template renders as if nothing had been."""
    failure = worker.render(source, [request()])[0]

    assert isinstance(failure, RenderFailure)
    assert (kind, line) == (failure.kind, failure.line)
    assert failure.message
    assert [Rendered("hi")] == worker.render(CONTENT, [request()])


@pytest.mark.parametrize(
    "source",
    [
        "{{ ''.__class__.__mro__ }}",
        "{{ ''.__class__.__mro__[1].__subclasses__() }}",
        "{{ raise_exception.__globals__ }}",
        "{{ strftime_now.__globals__['os'] }}",
        "{{ namespace.__init__.__globals__ }}",
        "{{ dict.__call__.__globals__['__builtins__'] }}",
        "{{ cycler.__init__.__globals__.os.popen('id').read() }}",
        "{{ self._TemplateReference__context }}{{ self.__init__.__globals__ }}",
        "{{ lipsum.__globals__['os'].system('id') }}",
        "{{ (messages | map(attribute='__class__') | list)[0].__mro__ }}",
        "{{ messages[0] | attr('__class__') | attr('__mro__') | list }}",
        "{{ '{0.__class__.__mro__}'.format(1) }}",
        "{% set f = '{0.__class__.__mro__}'.format %}{{ f(1) }}",
        "{{ '{a.__class__.__mro__}'.format_map({'a': 1}) }}",
        "{{ ('{0.__class__.__mro__}' | string).format(1) }}",
        "{{ messages['__class__'].__mro__ }}",
        "{% set ns = namespace(__class__=1) %}",
    ],
)
def test_the_sandbox_gives_nothing_of_python_away(worker: RenderWorker, source: str) -> None:
    """Known ways out of the sandbox end in a failure, or in text that names no class."""
    outcome = worker.render(source, [request()])[0]

    assert isinstance(outcome, RenderFailure) or "class" not in outcome.text


def test_what_is_stopped_is_blamed_alone() -> None:
    """Of three requests the endless one times out; the others are answered, by a second process."""
    source = "{% if messages[0].content == 'loop' %}" + ENDLESS + "{% endif %}" + CONTENT
    with RenderWorker(HASTY) as worker:
        outcomes = worker.render(source, [request("a"), request("loop"), request("b")])

        assert ["Rendered(text='a')", "timeout", "Rendered(text='b')"] == [
            kind_of(outcome) for outcome in outcomes
        ]
        assert worker.starts == 2


def test_a_template_that_is_stopped_again_and_again_is_given_up() -> None:
    """After its second kill a template is not tried any more, whatever the request."""
    with RenderWorker(HASTY) as worker:
        outcomes = worker.render(ENDLESS, [request(str(number)) for number in range(50)])
        again = worker.render(ENDLESS, [request("new")])

        assert ["timeout"] * 50 == [kind_of(outcome) for outcome in outcomes]
        assert "timeout" == kind_of(again[0])
        assert worker.starts == 2


def test_a_whole_call_has_a_limit_too() -> None:
    """When the time of a call is used up, what is left is answered without being tried."""
    with RenderWorker(Limits(batch_seconds=0.0)) as worker:
        assert ["timeout"] == [kind_of(outcome) for outcome in worker.render(CONTENT, [request()])]
        assert worker.starts == 0


def test_time_spent_compiling_counts() -> None:
    """A constant that takes forever to compute, folded while compiling, is stopped like a loop."""
    with RenderWorker(HASTY) as worker:
        assert "timeout" == kind_of(worker.render("{{ 9 ** (9 ** 9) }}", [request()])[0])


def test_a_process_that_died_between_two_calls_is_replaced() -> None:
    """Whoever killed it, the next render works."""
    with RenderWorker() as worker:
        worker.render(CONTENT, [request()])
        assert worker._child is not None
        worker._child._process.kill()
        worker._child._process.wait()

        assert [Rendered("ho")] == worker.render(CONTENT, [request("ho")])
        assert worker.starts == 2


def test_a_process_that_reads_nothing_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A request larger than a pipe does not block for ever."""
    monkeypatch.setattr("analyzer.render.process.SEND_SECONDS", 0.2)
    with RenderWorker() as worker:
        worker.render(CONTENT, [request()])
        assert worker._child is not None
        worker._child._process.send_signal(signal.SIGSTOP)

        assert "timeout" == kind_of(worker.render(CONTENT, [request("x" * 1_000_000)])[0])


def test_a_closed_worker_starts_again() -> None:
    """Closing ends the process, not the worker."""
    worker = RenderWorker()
    worker.render(CONTENT, [request()])
    worker.close()

    assert [Rendered("ho")] == worker.render(CONTENT, [request("ho")])
    worker.close()
    worker.close()


def test_a_process_that_does_not_start_is_a_usage_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without jinja2, say: the error says what is needed."""
    monkeypatch.setattr("analyzer.render.process._BOOTSTRAP", "raise SystemExit(1)")
    with RenderWorker() as worker, pytest.raises(UsageError, match="needs jinja2"):
        worker.render(CONTENT, [request()])


def test_equal_requests_are_rendered_once() -> None:
    """What was rendered is known, so a dead process is no hindrance."""
    with RenderWorker() as worker:
        first = worker.render(CONTENT, [request()])
        worker.close()

        assert first == worker.render(CONTENT, [request()])
        assert worker.starts == 1


def test_threads_may_share_a_worker(worker: RenderWorker) -> None:
    """Each thread gets its own answers."""
    found: dict[int, list[object]] = {}

    def run(number: int) -> None:
        found[number] = list(worker.render(CONTENT, [request(f"{number} {i}") for i in range(20)]))

    threads = [threading.Thread(target=run, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert {n: [Rendered(f"{n} {i}") for i in range(20)] for n in range(4)} == found


def test_batches_may_be_fetched_in_any_order(worker: RenderWorker) -> None:
    """What is sent ahead gets its own answers, also those of another template, of too many for a batch, and of none."""
    sources = [CONTENT, "2 " + CONTENT, CONTENT, "{% if %}", "3 " + CONTENT]
    counts = [3, BATCH_REQUESTS + 5, 0, 1, 2]
    asked = [[request(f"ahead {number}") for number in range(count)] for count in counts]

    fetches = [worker.submit(source, requests) for source, requests in zip(sources, asked, strict=True)]
    found = {number: fetches[number]() for number in (4, 1, 0, 3, 2)}

    for number, (source, requests) in enumerate(zip(sources, asked, strict=True)):
        assert InProcessRenderer().render(source, requests) == found[number]


def test_what_is_sent_and_answered_may_be_larger_than_a_pipe() -> None:
    """Neither side waits for the other to read first."""
    texts = [f"{number}{'x' * 300_000}" for number in range(4)]
    with RenderWorker() as worker:
        fetches = [worker.submit(CONTENT, [request(text)]) for text in texts]

        assert [[Rendered(text)] for text in texts] == [fetch() for fetch in fetches]


def test_what_is_stopped_is_blamed_among_batches_too() -> None:
    """A batch behind an endless render is done by the next process, whoever is asked first."""
    with RenderWorker(HASTY) as worker:
        slow = worker.submit(ENDLESS, [request()])
        good = worker.submit(CONTENT, [request("a"), request("b")])

        assert [Rendered("a"), Rendered("b")] == good()
        assert "timeout" == kind_of(slow()[0])
        assert worker.starts == 2


def test_a_process_that_dies_with_batches_under_way_is_replaced() -> None:
    """What it answered before counts; what it did not answer is asked again."""
    with RenderWorker() as worker:
        worker.render(CONTENT, [request()])
        assert worker._child is not None
        worker._child._process.send_signal(signal.SIGSTOP)
        first = worker.submit(CONTENT, [request("a")])
        worker._child._process.kill()
        worker._child._process.wait()
        second = worker.submit(CONTENT, [request("b")])

        assert [Rendered("b")] == second()
        assert "memory" == kind_of(first()[0])
        assert worker.starts == 2


def test_a_worker_closed_with_batches_under_way_starts_again() -> None:
    """What was sent to the process that ended is sent to the next one."""
    with RenderWorker() as worker:
        fetch = worker.submit(CONTENT, [request("a")])
        worker.close()

        assert [Rendered("a")] == fetch()
        assert worker.starts == 2


def test_more_answers_than_asked_for_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process gone bad cannot fill the memory of the one that asks it."""
    program = """print('{"ready":true}' + '\\n{"text":""}' * 9)"""
    monkeypatch.setattr("analyzer.render.process._BOOTSTRAP", program)

    with pytest.raises(UsageError, match="does not start"):
        ChildProcess(memory_bytes=2**28, cpu_seconds=9, output_chars=9)


def test_requests_must_be_plain_json() -> None:
    """An object that JSON has no form for, and a variable that has its own field, are misuse."""
    with RenderWorker() as worker, pytest.raises(UsageError, match="not plain JSON"):
        worker.render(CONTENT, [RenderRequest([{"role": "user", "content": object()}])])
    with pytest.raises(UsageError, match="'tools'"):
        RenderRequest([], variables={"tools": []})


def test_variables_win_over_special_tokens(worker: RenderWorker) -> None:
    """As in the reference, a variable replaces a token of the same name."""
    asked = request(special_tokens={"bos_token": "<s>", "eos_token": "</s>"}, variables={"eos_token": "END"})

    assert [Rendered("<s>END")] == worker.render("{{ bos_token }}{{ eos_token }}", [asked])


@pytest.mark.parametrize(
    "line",
    [
        b"[]\n",
        b'{"text": 1}\n',
        b'{"kind": "unheard of", "message": "", "line": null}\n',
        b'{"kind": "error", "message": "", "line": "1"}\n',
        b"\xff\n",
        b"[" * 100_000 + b"\n",
    ],
)
def test_answers_of_a_process_gone_bad_are_refused(line: bytes) -> None:
    """Only the two shapes of an answer are read."""
    assert _decode(line) is None


def test_kept_outcomes_are_bounded() -> None:
    """The oldest outcome goes when there is too much; kills are never kept."""
    cache = OutcomeCache(limit=10)
    cache.put((False, "s", "1"), Rendered("12345"))
    cache.put((False, "s", "2"), Rendered("12345"))
    cache.put((False, "s", "3"), RenderFailure("timeout", ""))

    assert cache.get((False, "s", "1")) is None
    assert Rendered("12345") == cache.get((False, "s", "2"))
    assert cache.get((False, "s", "3")) is None


def test_the_process_inherits_no_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the environment only what an interpreter needs is handed on."""
    monkeypatch.setenv("SECRET_KEY", "hunter2")
    with RenderWorker() as worker:
        worker.render(CONTENT, [request()])
        assert worker._child is not None
        with open(f"/proc/{worker._child._process.pid}/environ", "rb") as file:  # noqa: PTH123
            assert b"hunter2" not in file.read()


def test_importing_the_worker_is_light() -> None:
    """Neither jinja2 nor pydantic is loaded before something is rendered."""
    code = "import sys, analyzer.render.worker; print([m for m in ('jinja2', 'pydantic', 'transformers') if m in sys.modules])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert "[]" == found.stdout.strip()


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="processes are awaited as Linux can")
def test_a_render_ends_with_the_parent() -> None:
    """A process whose parent is killed does not go on with an endless render until its time is up."""
    program = (
        "from analyzer.render.process import ChildProcess\n"
        "child = ChildProcess(memory_bytes=2**28, cpu_seconds=600, output_chars=1000)\n"
        f"assert child.send({ENDLESS!r}, ['{{}}'], mutable=False)\n"
        "print(child._process.pid, flush=True)\n"
        "child.receive(600)\n"
    )
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        child = os.pidfd_open(int(parent.stdout.readline()))
        parent.kill()
    try:
        ended, _, _ = select.select([child], [], [], 60)
        assert [child] == ended
    finally:
        os.close(child)
