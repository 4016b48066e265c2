"""The content security policy of a page: it runs and shows what it was written with, no more."""

from __future__ import annotations

import re
from base64 import b64encode
from hashlib import sha256

#: Where a page of ours has its policy.
_PLACE = "the policy"
#: What stands in a page by itself. Names from data are escaped, so no other such mark is in it.
_PART = re.compile(r"<(style|script)>(.*?)</\1>", re.DOTALL)
#: No request of any kind, no other base for links, no place to send a form to.
_NOTHING = ("default-src 'none'", "base-uri 'none'", "form-action 'none'")


def with_policy(page: str, *more: str) -> str:
    """Fill the policy in: nothing is loaded, and only the styles and scripts in the page count.

    Parameters
    ----------
    page : str
        HTML, in whose head ``content="the policy"`` stands.
    more : str
        Further directives, such as "img-src data:".

    Examples
    --------
    >>> head = '<meta http-equiv="Content-Security-Policy" content="the policy">'
    >>> print(with_policy(head + "<style>p { color: red }</style>")[43:-31])
    content="default-src 'none'; base-uri 'none'; form-action 'none';
    style-src 'sha256-ngewhhP73WDIbgwseeu52VAAJgKdGUsu1IUQQsAm8m4='">
    """
    found: dict[str, list[str]] = {}
    for kind, text in _PART.findall(page):
        digest = b64encode(sha256(text.encode("utf-8")).digest()).decode("ascii")
        found.setdefault(f"{kind}-src", []).append(f"'sha256-{digest}'")
    allowed = [f"{kind} {' '.join(hashes)}" for kind, hashes in found.items()]
    policy = "; ".join([*_NOTHING, *allowed, *more])
    return page.replace(f'content="{_PLACE}"', f'content="{policy}"', 1)
