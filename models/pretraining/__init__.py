"""How the carried language models were trained; `models/train.py` runs it, models/README.md says how."""
