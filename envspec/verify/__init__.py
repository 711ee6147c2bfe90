"""The pyramid C0 to C4, judged from evidence, and C5, claims against evidence."""
