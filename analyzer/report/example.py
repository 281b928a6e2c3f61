"""The conversation that every page shows: two tools, two calls, their results, an answer."""

from __future__ import annotations

from typing import Final

from analyzer.chat import Tool
from analyzer.verify.cases import Call, Reply

TOOLS: Final = (
    Tool(
        "get_weather",
        "The weather in a city.",
        {
            "type": "object",
            "properties": {
                "city": {"type": "string", "description": "The city."},
                "days": {"type": "integer", "description": "How many days."},
            },
            "required": ["city"],
        },
    ),
    Tool(
        "list_hotels",
        "Hotels of a city.",
        {
            "type": "object",
            "properties": {
                "city": {"type": "string", "description": "The city."},
                "filters": {"type": "object", "description": "What the hotel must have."},
            },
            "required": ["city"],
        },
    ),
)
WEATHER: Final = Call("get_weather", {"city": "Paris", "days": 3})
HOTELS: Final = Call("list_hotels", {"city": "Paris", "filters": {"stars": 4, "pool": True}})

TEXT: Final = "I will look that up."
REASONING: Final = "They want weather and hotels, so two calls."
RESULTS: Final = ("Sunny, 21 degrees.", "Three hotels have a pool.")
ANSWER: Final = Reply("It is sunny, and three hotels have a pool.", "Both results are in.")
