"""The report served on this machine, with the runtime behind it: `POST /parse` takes a model's text and says what came of it.

Only loopback is bound, and a request counts only when its `Host` (and its `Origin`, where it has one) is the address
that was bound: a page elsewhere that points a name of its own at 127.0.0.1 is refused.  Nothing is written, no template is
rendered, and of files only those that the report's own list names are read.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from functools import lru_cache
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from analyzer.errors import AnalyzerError, UsageError
from analyzer.report.manifest import MANIFEST, read_manifest, specs_of
from analyzer.report.replay import cut, replay
from analyzer.report.site import LIVE, POLICY
from analyzer.spec.document import load_spec
from analyzer.spec.model import Spec

HOST: Final = "127.0.0.1"
BODY_BYTES: Final = 1 << 20
"""The longest request that is read."""
WORK: Final = 200_000_000
"""The most characters that may be held back in all steps of one request together: its length, times its deltas."""
_SECONDS: Final = 30.0
_LIVE_TEXT: Final = "globalThis.REPORT_IS_SERVED = true;\n"
_TYPES: Final[Mapping[str, str]] = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".yaml": "text/plain; charset=utf-8",
    ".json": "application/json",
}


class BadRequest(Exception):  # noqa: N818  (named as HTTP names it)
    """A request that is refused, with the status that says so."""

    def __init__(self, status: HTTPStatus, found: str) -> None:
        super().__init__(found)
        self.status = status
        self.found = found


class ReportServer(ThreadingHTTPServer):
    """Serves one report on loopback."""

    daemon_threads = True

    def __init__(self, folder: Path, port: int = 0) -> None:
        files = read_manifest(folder)
        if files is None:
            raise UsageError(
                f"{folder}: there is no report in this folder",
                hint="Write one with: analyzer report SOURCE -o DIR",
            )
        self.folder = folder
        self.files: Mapping[str, Path] = {name: folder / name for name in files}
        self.specs: Mapping[str, Path] = dict(specs_of(folder))
        try:
            super().__init__((HOST, port), _Handler)
        except OSError as error:
            raise UsageError(
                f"port {port} of {HOST} cannot be used ({error.strerror or error})",
                hint="Give another one with --port, or 0 for any.",
            ) from error

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of a browser that went away; anything else is a bug, and told as one."""
        if not isinstance(sys.exc_info()[1], (ConnectionError, TimeoutError)):
            super().handle_error(request, client_address)

    @property
    def address(self) -> str:
        """The address of the report."""
        return f"http://{HOST}:{self.server_port}/"

    @property
    def hosts(self) -> frozenset[str]:
        """What a request's `Host` may say."""
        return frozenset({f"{HOST}:{self.server_port}", f"localhost:{self.server_port}"})


class _Handler(BaseHTTPRequestHandler):
    """One request."""

    server: ReportServer
    server_version = "analyzer-report"
    sys_version = ""
    timeout = _SECONDS

    def do_GET(self) -> None:
        """A file of the report."""
        self._answer(self._file)

    def do_HEAD(self) -> None:
        """The same without its text."""
        self._answer(self._file)

    def do_POST(self) -> None:
        """A text to parse."""
        self._answer(self._parsed)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  (named by the base class)
        """Say nothing: the terminal shows the address."""

    def _answer(self, made: Any) -> None:
        try:
            self._check_origin()
            kind, data = made()
            status = HTTPStatus.OK
        except BadRequest as error:
            status, kind = error.status, _TYPES[".json"]
            data = json.dumps({"error": error.found}).encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.send_header("Content-Security-Policy", f"{POLICY}; frame-ancestors 'none'")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Referrer-Policy", "no-referrer")
        self.send_header("Cross-Origin-Resource-Policy", "same-origin")
        self.send_header("Cache-Control", "no-store")
        if status is not HTTPStatus.OK:
            self.close_connection = True
            self.send_header("Connection", "close")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def _check_origin(self) -> None:
        host = self.headers.get("Host", "")
        origin = self.headers.get("Origin")
        if host not in self.server.hosts:
            raise BadRequest(HTTPStatus.MISDIRECTED_REQUEST, "this server answers to its own address only")
        if origin is not None and origin not in {f"http://{name}" for name in self.server.hosts}:
            raise BadRequest(HTTPStatus.FORBIDDEN, "this server answers to its own pages only")

    def _file(self) -> tuple[str, bytes]:
        name = unquote(urlsplit(self.path).path).removeprefix("/") or "index.html"
        if name == LIVE:
            return _TYPES[".js"], _LIVE_TEXT.encode()
        path = self.server.files.get(name)
        kind = _TYPES.get(Path(name).suffix)
        if path is None or kind is None or name == MANIFEST:
            raise BadRequest(HTTPStatus.NOT_FOUND, "there is no such page")
        try:
            return kind, path.read_bytes()
        except OSError:
            raise BadRequest(HTTPStatus.NOT_FOUND, "this page is not there any more") from None

    def _parsed(self) -> tuple[str, bytes]:
        if urlsplit(self.path).path != "/parse":
            raise BadRequest(HTTPStatus.NOT_FOUND, "only /parse takes a text")
        if self.headers.get_content_type() != "application/json":
            raise BadRequest(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "a text comes as application/json")
        length = self.headers.get("Content-Length", "")
        if not length.isdigit():
            raise BadRequest(HTTPStatus.LENGTH_REQUIRED, "the length of the request is not given")
        if int(length) > BODY_BYTES:
            raise BadRequest(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"more than {BODY_BYTES} bytes")
        asked = _asked(self.rfile.read(int(length)))
        found = parsed(self.server.specs, asked)
        return _TYPES[".json"], json.dumps(found, ensure_ascii=False).encode("utf-8", "replace")


def _asked(body: bytes) -> Mapping[str, Any]:
    try:
        asked = json.loads(body)
    except (ValueError, RecursionError):
        raise BadRequest(HTTPStatus.BAD_REQUEST, "the request is not JSON") from None
    if not isinstance(asked, dict):
        raise BadRequest(HTTPStatus.BAD_REQUEST, "the request is no object")
    return asked


def parsed(specs: Mapping[str, Path], asked: Mapping[str, Any]) -> dict[str, Any]:
    """The replay of a text.

    `page` names the template, `text` is the model's, `size` the characters of a delta, `prompt` the number of the generation
    prompt that stands before it.

    Raises:
        BadRequest: the request is not like that, or asks for too much.
    """
    page, text = asked.get("page"), asked.get("text")
    size, prompt = asked.get("size", 1), asked.get("prompt", 0)
    if not isinstance(page, str) or page not in specs:
        raise BadRequest(HTTPStatus.NOT_FOUND, "this report has no spec of that name")
    if not isinstance(text, str) or type(size) is not int or type(prompt) is not int or size < 1:
        raise BadRequest(HTTPStatus.BAD_REQUEST, "expected are a text, and the size of a delta from 1 on")
    if len(text) * len(text) / size > WORK:
        raise BadRequest(HTTPStatus.BAD_REQUEST, "that is a long text in many deltas: give longer ones")
    spec = _spec(specs[page])
    prompts = spec.turn.prompts
    if prompts and not 0 <= prompt < len(prompts):
        raise BadRequest(HTTPStatus.BAD_REQUEST, f"there are {len(prompts)} prompts, counted from 0")
    before = prompts[prompt].text if prompts else None
    return replay(spec, list(cut(text, size)), prompt=before).to_json()


@lru_cache(maxsize=64)
def _spec(path: Path) -> Spec:
    try:
        return load_spec(path)
    except AnalyzerError as error:
        raise BadRequest(HTTPStatus.INTERNAL_SERVER_ERROR, str(error)) from error
