"""Functions that run our C++ on the CPU, and plain JAX everywhere else."""

from .periodic_add import periodic_add as periodic_add
