//! Browsers that signed in with a token. Only digests are kept of what they hold.

use rusqlite::{OptionalExtension as _, params};
use sha2::{Digest as _, Sha256};

use super::{JobStore, JobStoreError};

impl JobStore {
    /// Keeps a sign-in of `caller` until `until`; those that are over go.
    pub(crate) fn sign_in(
        &self,
        secret: &str,
        caller: &str,
        now: i64,
        until: i64,
    ) -> Result<(), JobStoreError> {
        let digest = digest(secret);
        self.with(|connection| {
            connection.execute("DELETE FROM session WHERE until <= ?1", [now])?;
            connection.execute(
                "INSERT INTO session (digest, caller, until) VALUES (?1, ?2, ?3)",
                params![digest, caller, until],
            )?;
            Ok(())
        })
    }

    /// Who signed in with `secret`, if that is not over.
    pub(crate) fn signed_in(
        &self,
        secret: &str,
        now: i64,
    ) -> Result<Option<String>, JobStoreError> {
        let digest = digest(secret);
        self.with(|connection| {
            connection
                .query_row(
                    "SELECT caller FROM session WHERE digest = ?1 AND until > ?2",
                    params![digest, now],
                    |row| row.get(0),
                )
                .optional()
        })
    }

    /// Ends a sign-in.
    pub(crate) fn sign_out(&self, secret: &str) -> Result<(), JobStoreError> {
        let digest = digest(secret);
        self.with(|connection| {
            connection.execute("DELETE FROM session WHERE digest = ?1", [digest])?;
            Ok(())
        })
    }
}

fn digest(secret: &str) -> Vec<u8> {
    Sha256::digest(secret).to_vec()
}
