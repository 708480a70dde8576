"""What stands behind the command line: options, words as people type them, playing with a bar, printing."""
