-- What was said of a report, beside its submission, which then has no scores and no preference.
CREATE TABLE IF NOT EXISTS review (
  evaluation INTEGER PRIMARY KEY REFERENCES evaluation (id),
  ratings TEXT NOT NULL
) STRICT;

CREATE TRIGGER IF NOT EXISTS review_is_not_changed BEFORE UPDATE ON review
BEGIN SELECT RAISE(ABORT, 'submissions are kept as they were made'); END;

CREATE TRIGGER IF NOT EXISTS review_is_not_deleted BEFORE DELETE ON review
BEGIN SELECT RAISE(ABORT, 'submissions are kept as they were made'); END;
