"""The language server: what an editor asks about an open spec, answered over stdio.

Text, places, completion, hover and navigation are pure and know nothing of the protocol;
`wire` turns their values into the protocol's, and `server` alone speaks it.
"""
