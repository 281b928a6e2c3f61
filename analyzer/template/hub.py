"""Fetches a model's template files from the hub, with huggingface_hub, into its cache."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from analyzer.errors import TemplateError, UsageError
from analyzer.template import folder
from analyzer.template.model import Template

HUB_ID: Final = re.compile(r"(?P<repo>[\w-][\w.-]*/[\w-][\w.-]*)(@(?P<revision>[\w./-]+))?\Z", re.ASCII)
"""``organisation/model``, with a branch, tag or commit after an ``@`` where one is meant."""

FILES: Final = (
    folder.JINJA_FILE,
    f"{folder.MORE_FOLDER}/*.jinja",
    folder.JSON_FILE,
    folder.CONFIG_FILE,
    folder.MAP_FILE,
)


def from_hub(hub_id: str) -> tuple[Template, ...]:
    """The templates of a model on the hub, the default one first.

    Raises `UsageError` when huggingface_hub is not installed, `TemplateError` when the model cannot be reached or has
    no template.
    """
    match = HUB_ID.match(hub_id)
    if match is None:
        raise UsageError(f"{hub_id!r} is no hub id", hint="A hub id looks like organisation/model.")
    local = _fetch(hub_id, match["repo"], match["revision"], FILES)
    found = folder.from_folder(local, name=match["repo"], origin=hub_id)
    if found[0].added_tokens:
        return found
    # Newer configurations leave the added tokens to the tokenizer's own file, which is large: only then.
    local = _fetch(hub_id, match["repo"], match["revision"], (*FILES, folder.TOKENIZER_FILE))
    return folder.from_folder(local, name=match["repo"], origin=hub_id)


def _fetch(hub_id: str, repo: str, revision: str | None, files: tuple[str, ...]) -> Path:
    try:
        import huggingface_hub  # noqa: PLC0415  (an extra)
        from huggingface_hub import errors  # noqa: PLC0415
    except ImportError:
        raise UsageError(
            f"{hub_id}: Loading from the hub needs huggingface_hub",
            hint="Install it with: pip install 'chat-template-analyzer[hf]'",
        ) from None
    try:
        return Path(huggingface_hub.snapshot_download(repo, revision=revision, allow_patterns=list(files)))
    except errors.GatedRepoError:
        found, hint = "The model is gated", "Accept its terms on its page, then log in with: hf auth login"
    except errors.RepositoryNotFoundError:
        found, hint = "There is no such model, and no such folder", "A private model needs: hf auth login"
    except errors.RevisionNotFoundError:
        found, hint = f"The model has no revision {revision}", ""
    except (errors.LocalEntryNotFoundError, errors.OfflineModeIsEnabled):
        found = "The hub cannot be reached, and the model is not in the local cache"
        hint = "Check the network and HF_HUB_OFFLINE, or give a local file or folder."
    except (OSError, ValueError, RuntimeError) as error:
        found, hint = f"The model cannot be fetched: {error}", ""
    raise TemplateError(found, source=hub_id, hint=hint)
