"""The engines that read exports: what was written is loaded by the code that servers run, and asked what it accepts.

    target              engine         how
    response-template   transformers   `ResponseParser`
    structural-tag      xgrammar       its compiler and matcher; the legacy form: llguidance
    gbnf                llama.cpp      the grammar sampler of the library that xllamacpp brings
    lark                llguidance     `LLMatcher`
    json-schema         jsonschema     its metaschema and validator

All but the last are optional packages (the extra `export`). A matcher takes a whole output, byte by byte: the vocabularies are
the 256 bytes, so that no tokenizer is needed and every prefix is walked through.
"""

from __future__ import annotations

from analyzer.engines.check import Checked, check
from analyzer.engines.loading import ENGINES, Engine, Matcher, load
from analyzer.engines.texts import calls_text, without_end

__all__ = ["ENGINES", "Checked", "Engine", "Matcher", "calls_text", "check", "load", "without_end"]
