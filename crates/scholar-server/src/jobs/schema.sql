-- What was asked of the server and what readers said of the answers. The answers themselves are in the run folders.
CREATE TABLE job (
  run TEXT PRIMARY KEY,
  caller TEXT NOT NULL,
  -- The request as JSON.
  request TEXT NOT NULL,
  -- The question, or what a list calls another kind of job.
  question TEXT NOT NULL,
  -- The first run of its thread.
  thread TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('queued', 'running', 'done', 'failed', 'interrupted', 'cancelled')),
  -- Seconds since 1970, UTC.
  submitted INTEGER NOT NULL,
  ended INTEGER,
  -- How often it was begun.
  attempt INTEGER NOT NULL DEFAULT 0,
  error TEXT,
  hint TEXT,
  cost_usd REAL,
  tokens INTEGER,
  -- Secret part of the address under which everybody may read it.
  share TEXT UNIQUE,
  -- What the request is: a question, a review, ….
  kind TEXT NOT NULL DEFAULT 'ask'
) STRICT;
CREATE INDEX job_by_caller ON job (caller, submitted);
CREATE INDEX job_by_state ON job (state, submitted);
CREATE INDEX job_by_thread ON job (thread, submitted);
CREATE TABLE feedback (
  run TEXT NOT NULL,
  -- Position of the section in the answer, from 0.
  section INTEGER NOT NULL,
  caller TEXT NOT NULL,
  -- 1: helpful, -1: not; NULL: a comment alone.
  thumb INTEGER CHECK (thumb IN (1, -1)),
  comment TEXT NOT NULL DEFAULT '',
  at INTEGER NOT NULL,
  PRIMARY KEY (run, section, caller)
) STRICT;
CREATE TABLE session (
  -- SHA-256 of what the browser keeps.
  digest BLOB PRIMARY KEY,
  caller TEXT NOT NULL,
  until INTEGER NOT NULL
) STRICT;
