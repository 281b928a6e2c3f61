"""Finds an archive on the package index that pip is set up for, and opens it.

The simple API, in its JSON form (PEP 691) or, where an index has only that, its HTML form (PEP 503).
"""

from __future__ import annotations

import base64
import json
import os
import re
import ssl
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from html.parser import HTMLParser
from http.client import HTTPException, HTTPResponse
from typing import Final
from urllib.parse import unquote, urldefrag, urljoin, urlsplit, urlunsplit

from analyzer.errors import UsageError

DEFAULT_INDEX: Final = "https://pypi.org/simple"
ACCEPT: Final = "application/vnd.pypi.simple.v1+json, text/html;q=0.5"
SECONDS: Final = 60.0
PAGE_BYTES: Final = 64 * 1024 * 1024


def index_url() -> str:
    """The index that pip would ask: ``PIP_INDEX_URL``, else pip's configuration, else the public index."""
    configured = os.environ.get("PIP_INDEX_URL") or _configured_index()
    return (configured or DEFAULT_INDEX).rstrip("/")


def _configured_index() -> str | None:
    try:
        listed = subprocess.run(
            [sys.executable, "-m", "pip", "config", "list"],
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        ).stdout
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = re.search(r"^(?:global|install)\.index-url='([^']+)'", listed, re.MULTILINE)
    return found.group(1) if found else None


def archive_url(index: str, package: str, file: str) -> str:
    """Where the index has a file of a package; raises `UsageError` when it has not, or cannot be reached."""
    with open_url(f"{index}/{package}/") as response:
        page = response.read(PAGE_BYTES).decode("utf-8", "replace")
        base = response.url
        is_json = "json" in response.headers.get_content_type()
    links = _json_links(page) if is_json else _html_links(page)
    for link in links:
        url = urldefrag(urljoin(base, link)).url
        if unquote(urlsplit(url).path).rsplit("/", 1)[-1] == file:
            return url
    raise UsageError(
        f"The package index {_public(index)} has no {file}",
        hint="Set PIP_INDEX_URL to an index that has it, such as https://pypi.org/simple.",
    )


def _json_links(page: str) -> list[str]:
    try:
        return [str(file["url"]) for file in json.loads(page)["files"]]
    except (ValueError, KeyError, TypeError):
        return []


def _html_links(page: str) -> list[str]:
    collector = _Anchors()
    collector.feed(page)
    return collector.links


class _Anchors(HTMLParser):
    """Collects where a page's anchors lead."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "a":
            self.links += [value for name, value in attrs if name == "href" and value]


@contextmanager
def open_url(url: str) -> Iterator[HTTPResponse]:
    """The response to a request; raises `UsageError` when there is none, also while it is being read."""
    request = _request(url)
    certificates = os.environ.get("PIP_CERT")
    context = ssl.create_default_context(cafile=certificates) if certificates else None
    try:
        with urllib.request.urlopen(request, timeout=SECONDS, context=context) as response:  # noqa: S310
            yield response
    except (OSError, HTTPException) as error:  # URLError and time-outs are OSErrors
        if isinstance(error, urllib.error.HTTPError):
            error.close()  # it is an open response, too
        reason = getattr(error, "reason", None) or error
        raise UsageError(
            f"{_public(url)} cannot be fetched: {reason}",
            hint="The corpus needs the network once; PIP_INDEX_URL and the usual proxy variables are honoured.",
        ) from None


def _request(url: str) -> urllib.request.Request:
    """A request; a user name and password in the URL go into a header."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https"):
        raise UsageError(f"{_public(url)} is no web address", hint="Set PIP_INDEX_URL to a package index.")
    request = urllib.request.Request(_public(url), headers={"Accept": ACCEPT})  # noqa: S310  (checked just above)
    if parts.username is not None:
        login = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
        request.add_unredirected_header("Authorization", f"Basic {base64.b64encode(login.encode()).decode()}")
    return request


def _public(url: str) -> str:
    """The URL without user name and password."""
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))
