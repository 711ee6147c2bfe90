"""Engines that build a plan and run programs in the result."""
