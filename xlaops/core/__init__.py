"""What every operation needs and no single one owns."""
