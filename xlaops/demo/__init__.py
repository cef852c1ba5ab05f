"""The demonstration: a classifier of handwritten digits made of xlaops operations.

``python -m xlaops demo`` runs it. In a notebook, use its modules: `data` loads the
digits, `model` is the network as pure functions, and `training` fits it on one or many
devices.
"""
