"""Layout parts: the literals and slots that a tool call is made of, and the value codecs.

A *layout* says how one tool call is written. A `sequence` layout is a list of *parts*; a part is a plain string (a
*literal*, text that stands in every call) or a *slot* (a place where a value goes). A *codec* says how a value of one JSON
type is written inside its slot.

A slot that stands twice (`to=NAME ... name="NAME"`) is written twice in the list; the second one is a back-reference.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictInt, model_validator

JSON_TYPES = ("string", "integer", "number", "boolean", "null", "array", "object")
"""The JSON types in the order in which probes try them; `integer` and `number` are told apart."""

JsonType: TypeAlias = Literal["string", "integer", "number", "boolean", "null", "array", "object"]


class Frozen(BaseModel):
    """Base of every spec model: immutable, unknown keys refused, strings taken as they are."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=False, str_strip_whitespace=False)


# ------------------------------------------------------------------------------------------------------------ codecs


class RawCodec(Frozen):
    """The text itself, without quotes or escapes; it ends where the next literal, followed by structure, begins."""

    kind: Literal["raw"] = "raw"
    """The tag."""


class JsonCodec(Frozen):
    """A JSON value."""

    kind: Literal["json"] = "json"
    """The tag."""


class PythonCodec(Frozen):
    """A Python literal: `'text'`, `True`, `None`, `{'a': 1}`."""

    kind: Literal["python"] = "python"
    """The tag."""


class JsonTextCodec(Frozen):
    """JSON text inside a JSON string: the value is encoded twice."""

    kind: Literal["json_text"] = "json_text"
    """The tag."""


class QuotedCodec(Frozen):
    """The text itself between two quotes, without escapes: the closing quote counts when structure follows."""

    kind: Literal["quoted"] = "quoted"
    """The tag."""
    open: str = Field(min_length=1)
    """The opening quote."""
    close: str = Field(min_length=1)
    """The closing quote."""


class DialectCodec(Frozen):
    """JSON-like text with string quotes of its own and, if `bare_keys`, keys without quotes: `{a:<q>x<q>,b:[1,true]}`."""

    kind: Literal["dialect"] = "dialect"
    """The tag."""
    quote: str = Field(min_length=1)
    """What stands on both sides of a string."""
    bare_keys: StrictBool = True
    """True: keys have no quotes."""


class NestedCodec(Frozen):
    """A container as nested items: the item's own parts again for each key; array elements use the key `array_key`."""

    kind: Literal["nested"] = "nested"
    """The tag."""
    array_key: str = Field(min_length=1)
    """The key that stands for each element of an array."""


class EscapedCodec(Frozen):
    """The text with some characters replaced, such as `<` by `&lt;`; `escapes` maps the character to its spelling."""

    kind: Literal["escaped"] = "escaped"
    """The tag."""
    escapes: dict[str, str]
    """The spelling of each escaped character."""


class CdataCodec(Frozen):
    """The text itself or, where it holds special characters, the text between `open` and `close`."""

    kind: Literal["cdata"] = "cdata"
    """The tag."""
    open: str = "<![CDATA["
    """What opens a protected text."""
    close: str = "]]>"
    """What closes it."""


Codec: TypeAlias = Annotated[
    RawCodec
    | JsonCodec
    | PythonCodec
    | JsonTextCodec
    | QuotedCodec
    | DialectCodec
    | NestedCodec
    | EscapedCodec
    | CdataCodec,
    Field(discriminator="kind"),
]


class Codecs(Frozen):
    """One codec for each JSON type. In a file a codec without parameters may be written as its kind: `string: raw`."""

    string: Codec
    """How a text is written."""
    integer: Codec = JsonCodec()
    """How an integer is written."""
    number: Codec = JsonCodec()
    """How a number that is no integer is written."""
    boolean: Codec = JsonCodec()
    """How true and false are written."""
    null: Codec = JsonCodec()
    """How null is written."""
    array: Codec = JsonCodec()
    """How an array is written."""
    object: Codec = JsonCodec()
    """How an object is written."""

    @model_validator(mode="before")
    @classmethod
    def _shorthand(cls, data: Any) -> Any:
        if not isinstance(data, dict):
            return data
        return {key: {"kind": value} if isinstance(value, str) else value for key, value in data.items()}

    def of(self, json_type: JsonType) -> Codec:
        """Return the codec for values of `json_type`."""
        codec: Codec = getattr(self, json_type)
        return codec


# ------------------------------------------------------------------------------------------------------------- slots


class NameSlot(Frozen):
    """The tool's name."""

    slot: Literal["name"] = "name"
    """The tag."""


class IdSlot(Frozen):
    """The call's id. `pattern` (with `{name}` and `{index}`) says that the id is made of the name and a counter."""

    slot: Literal["id"] = "id"
    """The tag."""
    pattern: str | None = None
    """How the id is made of `{name}` and `{index}`; null when the caller chose it."""
    start: StrictInt = 0
    """The number of the first call in the pattern."""


class IndexSlot(Frozen):
    """The call's number within the turn, counted from `start`."""

    slot: Literal["index"] = "index"
    """The tag."""
    start: StrictInt = 0
    """The number of the first call."""


class KeySlot(Frozen):
    """An argument's name (only inside an arguments item)."""

    slot: Literal["key"] = "key"
    """The tag."""


class TypeSlot(Frozen):
    """A word that depends on the value's JSON type, such as `true`/`false` in `string="true"` (only inside an item).

    Behind the value it is what closes it: one of several closers, by the type of what they close.
    """

    slot: Literal["type"] = "type"
    """The tag."""
    words: dict[JsonType, str]
    """The word for each JSON type."""


class ValueSlot(Frozen):
    """An argument's value (only inside an arguments item)."""

    slot: Literal["value"] = "value"
    """The tag."""


ItemPart: TypeAlias = str | Annotated[KeySlot | TypeSlot | ValueSlot, Field(discriminator="slot")]


class ArgumentsSlot(Frozen):
    """All arguments of a call: one value (`codec`), or a run of items (`item`, `separator`, `codecs`)."""

    slot: Literal["arguments"] = "arguments"
    """The tag."""
    codec: Codec | None = None
    """How all arguments are written as one value."""
    item: tuple[ItemPart, ...] | None = None
    """The literals and slots of one argument."""
    separator: str = ""
    """What stands between two arguments."""
    codecs: Codecs | None = None
    """How the values of the items are written, by JSON type."""

    @model_validator(mode="before")
    @classmethod
    def _shorthand(cls, data: Any) -> Any:
        if isinstance(data, dict) and isinstance(data.get("codec"), str):
            return {**data, "codec": {"kind": data["codec"]}}
        return data

    @model_validator(mode="after")
    def _one_form(self) -> ArgumentsSlot:
        if (self.codec is None) == (self.item is None):
            raise ValueError("an arguments slot has either `codec` (one value) or `item` (a run of items)")
        if self.item is not None:
            kinds = [part.slot for part in self.item if not isinstance(part, str)]
            if "key" not in kinds or kinds.count("value") != 1:
                raise ValueError("an item has at least one key slot and exactly one value slot")
            if self.codecs is None:
                raise ValueError("an arguments slot with `item` needs `codecs`")
        return self


class ContentSlot(Frozen):
    """The content of a tool's result (only inside the parts of results)."""

    slot: Literal["content"] = "content"
    """The tag."""


ResultPart: TypeAlias = (
    str | Annotated[NameSlot | IdSlot | IndexSlot | ContentSlot, Field(discriminator="slot")]
)

Part: TypeAlias = str | Annotated[NameSlot | IdSlot | IndexSlot | ArgumentsSlot, Field(discriminator="slot")]
