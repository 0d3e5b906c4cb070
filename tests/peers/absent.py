"""The answers of peers that have no result, for both kinds of peers."""
import importlib


class Absent(Exception):
    """The peer lacks something on this machine, or it cannot do the case."""


def need(module):
    """Imports the module, or raises Absent."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        if error.name and error.name.split(".")[0] != module.split(".")[0]:
            raise
        raise Absent("not installed") from error


def no_answer(name, why):
    """The JSON line of a peer that ended with this exception."""
    if isinstance(why, Absent):
        return {"name": name, "absent": str(why)}
    text = (str(why).strip() or type(why).__name__).splitlines()[0]
    return {"name": name, "error": f"{type(why).__name__}: {text}"[:200]}
