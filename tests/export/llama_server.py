"""Runs llama.cpp's server, as xllamacpp brings it, on a model of zeros whose tokens are the bytes: requests in, answers out, as JSON.

It is a program of its own, since a server that fails may take its process with it.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

import xllamacpp

from analyzer.engines.llama_cpp_matcher import write_byte_model

CONTEXT = 64


def main() -> None:
    """Answer the list of requests on standard input."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "bytes.gguf"
        write_byte_model(path)
        parameters = xllamacpp.CommonParams()
        parameters.model.path = str(path)
        parameters.n_ctx = CONTEXT
        parameters.n_parallel = 1
        parameters.warmup = False
        server = xllamacpp.Server(parameters)
        answers = [server.handle_completions(request) for request in json.load(sys.stdin)]
    Path(sys.argv[1]).write_text(json.dumps(answers), encoding="utf-8")


if __name__ == "__main__":
    main()
