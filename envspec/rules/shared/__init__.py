"""What several rules ask or write: no module here is a rule."""
