"""Keeps schemathesis' valid requests small: the document allows 256 answers of a thousand tokens, a test has a minute."""

import schemathesis

SMALL = {"n": 2, "best_of": 2, "max_tokens": 3, "max_completion_tokens": 3}
FILLED_MAX = {"n": 256, "best_of": 256, "max_tokens": 1 << 20, "max_completion_tokens": 1 << 20}


@schemathesis.hook
def before_call(context, case, kwargs):
    if not isinstance(case.body, dict):
        return
    for name, small in SMALL.items():
        value = case.body.get(name)
        # Values that the document forbids are left as they are: they must be refused.
        if isinstance(value, int) and not isinstance(value, bool) and small < value <= FILLED_MAX[name]:
            case.body[name] = value % small + 1
