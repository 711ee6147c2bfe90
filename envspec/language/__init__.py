"""From text to the model, and back to text."""
