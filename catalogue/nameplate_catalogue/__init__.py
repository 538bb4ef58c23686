"""Others' measurements of cloud instance types, for ``nameplate check``: the file ``machines.jsonl`` in this folder.

The data are under CC BY-SA 4.0, and their sources are named in the file's first line and in LICENSE.
"""
