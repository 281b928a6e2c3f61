"""Specs as servers and engines take them: one file a target, one registry, losses told in words.

    from analyzer.export import Options, export

    done = export("structural-tag", spec, tools, Options(tool_choice="required"))
    done.payload        # what the engine loads
    done.losses         # what the target cannot say of this spec; nothing is dropped in silence

A spec that a target cannot express at all raises `ExportError`.
"""

from __future__ import annotations

from analyzer.export.registry import TARGETS, Target, export
from analyzer.export.response_template_import import import_response_template
from analyzer.export.result import Export, Loss, Options

__all__ = ["TARGETS", "Export", "Loss", "Options", "Target", "export", "import_response_template"]
