"""The chat model that needs no key: it quotes its prompt and invents nothing."""
