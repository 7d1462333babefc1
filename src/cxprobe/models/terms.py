"""Names for how a model runs and scores: the values that params.yaml and the code have in common."""

from typing import Literal

Axis = Literal["training_tokens", "parameters"]
"""The quantity in which the models of a series differ."""
Dtype = Literal["float32", "bfloat16", "float16"]
SchemeName = Literal["pll", "pll_word_l2r"]
"""How a masked model is asked: each token masked alone, or together with what follows in its own word."""
Scheme = Literal["causal", "pll", "pll_word_l2r"]
"""How the tokens of a text were scored."""
Bos = str
"""What a causal model reads before a text: what its tokenizer puts there (as_tokenizer), its bos_token (add),
nothing (none), or a token of its vocabulary, by its text."""
