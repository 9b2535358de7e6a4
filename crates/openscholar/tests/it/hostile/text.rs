//! Text of papers, models, servers and file names on a terminal and in every format of answers.
