"""What went wrong, by the lines that say so, and the change of a spec that would mend it."""
