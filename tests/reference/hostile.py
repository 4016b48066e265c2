"""Characters that nobody sees, and texts made of them."""

import unicodedata

from hypothesis import strategies as st

CONTROLS = "".join(map(chr, [*range(0x20), *range(0x7F, 0xA0)]))
BIDI = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
HOSTILE_TEXTS = st.text(st.sampled_from(CONTROLS + BIDI + "\u2028\u2029\ud800ab <&|.@"))


def hidden(text, keep="\n"):
    """Return the characters of a text that nobody sees."""
    return {
        one
        for one in text
        if one not in keep and unicodedata.category(one) in {"Cc", "Cf", "Cs", "Zl", "Zp"}
    }
