"""The commands of the shell, one small module each: a function `command`, and nothing heavy until it runs.

`obep.cli.main` finds them by name (`why-not` is `why_not.py`). They print; the packages below do the work.
"""
