"""DeepResearch Bench (Du et al. 2025, arXiv 2506.11763): RACE and FACT for reports."""
