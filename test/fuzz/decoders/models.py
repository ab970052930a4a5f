"""Reads bodies in base64, one a line. Prints for each, as JSON, the models that ways of decoding it with Python's json find."""
import base64
import json
import sys


def pairs_of(body):
    """The top-level members, in order, duplicates included; None for a body that is refused."""
    try:
        decoded = json.loads(body, object_pairs_hook=lambda pairs: ("object", pairs))
    except (ValueError, RecursionError):
        return None
    is_object = isinstance(decoded, tuple) and decoded[0] == "object"
    return decoded[1] if is_object else None


for line in sys.stdin:
    found = []
    body = base64.b64decode(line)
    for text in (body, body.decode("utf-8", "replace"), body.decode("utf-8", "ignore")):
        pairs = pairs_of(text)
        if pairs is None:
            continue
        found += [value for name, value in pairs if name.strip("\x00\ufeff\u200b ").lower() == "model"]
    print(json.dumps([value if isinstance(value, str) else None for value in found]))
