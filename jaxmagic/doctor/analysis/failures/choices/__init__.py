"""Writes a choice by a traced condition with functions of JAX."""
