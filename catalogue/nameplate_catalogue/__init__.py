"""What others measured on cloud instance types, for ``nameplate check``: the file ``machines.jsonl`` beside this one.

The data are under CC BY-SA 4.0, and their sources are named in the file's first line and in LICENSE.
"""
