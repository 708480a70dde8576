"""From counts to answers: data frames, intervals and tests, figures, pages."""
