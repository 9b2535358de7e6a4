//! The program as a person meets it: arguments in; exit code, stdout and stderr out.

mod bad_input;
mod program;
