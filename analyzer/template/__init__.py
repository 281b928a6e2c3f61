"""Where templates come from: files, model folders, the hub, GGUF files, standard input.

``model`` holds the value, ``config`` reads tokenizer configurations, ``folder``, ``gguf`` and ``hub`` one kind of
source each, ``load`` tells the kinds apart.  Nothing here compiles or renders a template.
"""

from analyzer.template.load import load_templates, pick
from analyzer.template.model import DEFAULT_VARIANT, TOOL_VARIANT, Template

__all__ = ["DEFAULT_VARIANT", "TOOL_VARIANT", "Template", "load_templates", "pick"]
