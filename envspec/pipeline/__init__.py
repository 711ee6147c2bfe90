"""The phases in order. I/O stands at the two ends; everything between is a pure function.

load → (lock) → lower → emit → publish
                   └→ fetch → build → climb → report
"""
