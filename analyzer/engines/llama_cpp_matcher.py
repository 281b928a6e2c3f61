"""llama.cpp's own grammar sampler, through the C interface of llama.h in the library that the package xllamacpp brings.

A grammar needs a vocabulary and a vocabulary needs a model, so a model of one layer and of 256 tokens, the bytes, is written to a
temporary file and loaded (0.1 MB). A text is accepted when the sampler leaves each of its bytes, and the end, possible.
"""

from __future__ import annotations

import ctypes
import re
import tempfile
import weakref
from collections.abc import Mapping
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

_FIRST_BYTE: Final = 3
_END: Final = 2
_IMPOSSIBLE: Final = float("-inf")
_WIDTH: Final = 32
_WORD: Final = 1


class _Parameters(ctypes.Structure):
    """`llama_model_params`, passed on as it came: more room than it needs, and no field of it is touched."""

    _fields_ = (("room", ctypes.c_char * 1024),)


class _Candidate(ctypes.Structure):
    """`llama_token_data`."""

    _fields_ = (("id", ctypes.c_int32), ("logit", ctypes.c_float), ("p", ctypes.c_float))


class _Candidates(ctypes.Structure):
    """`llama_token_data_array`."""

    _fields_ = (
        ("data", ctypes.POINTER(_Candidate)),
        ("size", ctypes.c_size_t),
        ("selected", ctypes.c_int64),
        ("sorted", ctypes.c_bool),
    )


_LOG = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p)
_QUIET = _LOG(lambda _level, _text, _data: None)


@lru_cache
def _library() -> Any:
    """The library with the types of the functions that are called."""
    found = find_spec("xllamacpp")
    if found is None or found.origin is None:
        raise ModuleNotFoundError("xllamacpp is not installed")
    library = ctypes.CDLL(str(next(Path(found.origin).parent.glob("xllamacpp*.so"))))
    pointer, text, number = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t
    types: Mapping[str, tuple[Any, tuple[Any, ...]]] = {
        "llama_log_set": (None, (_LOG, pointer)),
        "llama_backend_init": (None, ()),
        "llama_model_default_params": (_Parameters, ()),
        "llama_model_load_from_file": (pointer, (text, _Parameters)),
        "llama_model_get_vocab": (pointer, (pointer,)),
        "llama_sampler_init_grammar": (pointer, (pointer, text, text)),
        "llama_sampler_init_grammar_lazy_patterns": (
            pointer,
            (pointer, text, text, ctypes.POINTER(text), number, ctypes.POINTER(ctypes.c_int32), number),
        ),
        "llama_sampler_apply": (None, (pointer, ctypes.POINTER(_Candidates))),
        "llama_sampler_accept": (None, (pointer, ctypes.c_int32)),
        "llama_sampler_clone": (pointer, (pointer,)),
        "llama_sampler_free": (None, (pointer,)),
    }
    for name, (result, arguments) in types.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    library.llama_log_set(_QUIET, None)
    library.llama_backend_init()
    return library


@lru_cache
def _vocabulary() -> Any:
    """The vocabulary of bytes. Its model stays loaded as long as the process runs."""
    library = _library()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "bytes.gguf"
        write_byte_model(path)
        model = library.llama_model_load_from_file(str(path).encode(), library.llama_model_default_params())
    if not model:
        raise ValueError("llama.cpp does not load the vocabulary of bytes")
    return library.llama_model_get_vocab(model)


def write_byte_model(path: Path) -> None:
    """A model of one layer whose tokens are the bytes."""
    import gguf  # noqa: PLC0415  (an optional package)
    import numpy as np  # noqa: PLC0415

    words = [b"<unk>", b"<s>", b"</s>", *(f"<0x{byte:02X}>".encode() for byte in range(256))]
    kinds = [gguf.TokenType.UNKNOWN, gguf.TokenType.CONTROL, gguf.TokenType.CONTROL]
    kinds += [gguf.TokenType.BYTE] * 256
    writer = gguf.GGUFWriter(str(path), "llama")
    writer.add_context_length(64)
    writer.add_embedding_length(_WIDTH)
    writer.add_block_count(1)
    writer.add_feed_forward_length(_WIDTH)
    writer.add_head_count(1)
    writer.add_head_count_kv(1)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(_WIDTH)
    writer.add_tokenizer_model("llama")
    writer.add_token_list(words)
    writer.add_token_scores([0.0] * len(words))
    writer.add_token_types(kinds)
    writer.add_unk_token_id(0)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(_END)
    square, row, table = (_WIDTH, _WIDTH), (_WIDTH,), (len(words), _WIDTH)
    shapes = {"token_embd": table, "output": table, "output_norm": row}
    shapes |= {f"blk.0.{name}": row for name in ("attn_norm", "ffn_norm")}
    squares = ("attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down")
    shapes |= {f"blk.0.{name}": square for name in squares}
    for name, shape in shapes.items():
        writer.add_tensor(f"{name}.weight", np.zeros(shape, dtype=np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


class LlamaCppMatcher:
    """A grammar that llama.cpp has read, with the triggers that it waits for."""

    def __init__(self, fields: Mapping[str, Any]) -> None:
        """`fields` are those of a llama-server request; without a grammar everything is accepted."""
        self._grammar: str | None = fields.get("grammar")
        self._lazy = bool(fields.get("grammar_lazy"))
        self._patterns = [
            (re.escape(one["value"]) if one["type"] == _WORD else one["value"]).encode()
            for one in fields.get("grammar_triggers", ())
        ]
        if self._grammar is not None:
            self._begun = self._sampler()
            weakref.finalize(self, _library().llama_sampler_free, self._begun)

    def _sampler(self) -> Any:
        library, vocabulary = _library(), _vocabulary()
        assert self._grammar is not None  # noqa: S101  (the callers asked)
        if self._lazy:
            patterns = (ctypes.c_char_p * len(self._patterns))(*self._patterns)
            sampler = library.llama_sampler_init_grammar_lazy_patterns(
                vocabulary, self._grammar.encode(), b"root", patterns, len(patterns), None, 0
            )
        else:
            sampler = library.llama_sampler_init_grammar(vocabulary, self._grammar.encode(), b"root")
        if not sampler:
            raise ValueError("llama.cpp does not read the grammar")
        return sampler

    def accepts(self, text: str) -> bool:
        """Whether the text is a whole output."""
        if self._grammar is None:
            return True
        library = _library()
        sampler = library.llama_sampler_clone(self._begun)
        try:
            for token in (*(byte + _FIRST_BYTE for byte in text.encode()), _END):
                one = _Candidate(token, 1.0, 0.0)
                library.llama_sampler_apply(
                    sampler,
                    ctypes.byref(_Candidates(ctypes.pointer(one), 1, -1, False)),  # noqa: FBT003
                )
                if one.logit == _IMPOSSIBLE:
                    return False
                if token != _END:
                    library.llama_sampler_accept(sampler, token)
        finally:
            library.llama_sampler_free(sampler)
        return True
