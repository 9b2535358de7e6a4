CREATE TABLE study (
  key TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT;

CREATE TABLE instance (
  id TEXT PRIMARY KEY,
  place INTEGER NOT NULL UNIQUE,
  content TEXT NOT NULL
) STRICT;

CREATE TABLE annotator (
  name TEXT PRIMARY KEY,
  token TEXT NOT NULL UNIQUE
) STRICT;

-- Who judges what, in which order, and which answer is shown as A: drawn once, never again.
CREATE TABLE assignment (
  id INTEGER PRIMARY KEY,
  annotator TEXT NOT NULL REFERENCES annotator (name),
  instance TEXT NOT NULL REFERENCES instance (id),
  place INTEGER NOT NULL CHECK (place >= 1),
  flipped INTEGER NOT NULL CHECK (flipped IN (0, 1)),
  UNIQUE (annotator, instance),
  UNIQUE (annotator, place)
) STRICT;

-- What stands in an annotator's form now.
CREATE TABLE draft (
  assignment INTEGER PRIMARY KEY REFERENCES assignment (id),
  form TEXT NOT NULL,
  page TEXT NOT NULL,
  seq INTEGER NOT NULL,
  revision INTEGER NOT NULL,
  started TEXT NOT NULL,
  saved TEXT NOT NULL
) STRICT;

-- Every submission. Scores and preference are by the place of the answer in the instance, not by where it was shown.
CREATE TABLE evaluation (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  assignment INTEGER NOT NULL REFERENCES assignment (id),
  first_scores TEXT,
  second_scores TEXT,
  preference TEXT CHECK (preference IN ('first', 'tie', 'second')),
  explanation TEXT NOT NULL,
  quality TEXT CHECK (quality IN ('good', 'bad', 'hard')),
  comment TEXT NOT NULL,
  started TEXT NOT NULL,
  submitted TEXT NOT NULL,
  CHECK ((first_scores IS NULL) = (preference IS NULL) AND (second_scores IS NULL) = (preference IS NULL))
) STRICT;

CREATE INDEX evaluation_by_assignment ON evaluation (assignment, id);

CREATE TRIGGER evaluation_is_not_changed BEFORE UPDATE ON evaluation
BEGIN SELECT RAISE(ABORT, 'submissions are kept as they were made'); END;

CREATE TRIGGER evaluation_is_not_deleted BEFORE DELETE ON evaluation
BEGIN SELECT RAISE(ABORT, 'submissions are kept as they were made'); END;
