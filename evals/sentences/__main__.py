"""Measure the checks of a report: `python -m evals.sentences`."""

from evals.sentences.measuring import main

main()
