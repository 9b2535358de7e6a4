-- Files that people sent: one row a request, and one a file.
CREATE TABLE addition (
  -- Name of the folder that the files lie in, which nobody can guess.
  id TEXT PRIMARY KEY,
  caller TEXT NOT NULL,
  datastore TEXT NOT NULL,
  -- While they are sent; while they wait or are read; when nothing more will happen.
  stage TEXT NOT NULL CHECK (stage IN ('receiving', 'waiting', 'over')),
  -- Why no more came of them.
  failed TEXT,
  -- Seconds since 1970, UTC.
  submitted INTEGER NOT NULL
) STRICT;
CREATE INDEX addition_by_caller ON addition (caller, submitted);
CREATE TABLE added_file (
  addition TEXT NOT NULL REFERENCES addition (id) ON DELETE CASCADE,
  place INTEGER NOT NULL,
  name TEXT NOT NULL,
  -- What became of it, as JSON; NULL: nothing yet.
  told TEXT,
  PRIMARY KEY (addition, place)
) STRICT;
