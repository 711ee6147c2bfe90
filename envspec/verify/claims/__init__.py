"""C5: what the spec claims against what the probes saw. Pure.

`model` holds the words and what claims are held against, `rungs`, `software`, `hardware` and
`provenance` have one judge for each kind of claim, `judge` puts them together and `scores` counts.

Only stated claims are judged. Overclaim and mismatch are hallucinations, nothing else is; what
could not be checked is inconclusive and never confirmed.
"""
