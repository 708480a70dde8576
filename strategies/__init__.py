"""Ways to play: the decorator and registry, a toolkit for writers, and one file a family of strategies."""
