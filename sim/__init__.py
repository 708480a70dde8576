"""The simulator: cards, rules, chance, the compiled engine, counting, batches and traces."""
