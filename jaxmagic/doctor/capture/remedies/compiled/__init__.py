"""Remedies that compile something before anything is measured."""
