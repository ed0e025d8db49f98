"""Evidence packages: built from a run under a condition, kept as folders, checked, answered and compared.

See docs/packages.md. `condition` says what a package shows, `build` makes it, `evidence` and `graph` are its two forms,
`bag` its folder, `contract` and `validate` check it, `comparator` answers from it alone.
"""
