"""Hypothesis strategies for patterns of the plan."""

from __future__ import annotations

from hypothesis import strategies as st

from cep.plan.nodes import Both, Either, Leaf, Pattern, Ref, Sequence

REFS = (*(Ref(event, key) for event in "abc" for key in (None, "k")), Ref("d"))


def patterns(leaves_max: int) -> st.SearchStrategy[Pattern]:
    """Patterns over few events, so that duplicates are common."""
    found: st.SearchStrategy[Pattern] = st.sampled_from(REFS).map(Leaf)
    return st.recursive(
        found,
        lambda inner: st.one_of(
            st.builds(Sequence, inner, inner),
            st.builds(Both, inner, inner),
            st.builds(Either, inner, inner),
        ),
        max_leaves=leaves_max,
    )
