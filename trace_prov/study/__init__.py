"""The audit study: cases and packages to readers, their answers to scores, scores to statistics and tables.

`answers` and `score` say what an answer is worth, `statistics` and `tables` what many are, `readers` asks models and
`run` keeps a study's folder. Only `readers` and `run` need the extra `study` to its full; see docs/study.md.
"""
