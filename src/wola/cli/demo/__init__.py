"""The demonstration: the paper's main table in small, on data that needs no download."""
