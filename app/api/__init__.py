"""HTTP for everything a person can do: thin routes over what the command line uses."""
