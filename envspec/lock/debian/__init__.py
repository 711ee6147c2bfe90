"""Packages of the distribution: which ones the images lack, as their own apt tells."""
