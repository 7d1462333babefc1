"""Language models: loading, scoring, embedding, asking, and the store of their answers."""

from typing import Literal

# Here, since commands name them in their options, and start without pydantic.
Dtype = Literal["float32", "bfloat16", "float16"]
SchemeName = Literal["pll", "pll_word_l2r"]
"""How a masked model is asked: each token masked alone, or together with what follows in its own word."""
