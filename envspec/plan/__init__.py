"""The target-neutral plan and the lowering that makes it."""
