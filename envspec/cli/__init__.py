"""The command line: arguments in, exit code out, no logic."""

import gc

# A cold command spends most of its time importing, and the collector, at its default of a round
# for every 700 new objects, a quarter of that in finding nothing. It still runs, less often.
gc.set_threshold(200_000)
