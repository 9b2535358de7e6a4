//! Files, folders, libraries and links that were not meant to be read.
