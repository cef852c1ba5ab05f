"""The single-device operations, one module a family; import them from `xlaops`."""
