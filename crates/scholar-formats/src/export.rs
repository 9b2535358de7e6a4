//! Lists and answers in the formats of others.
