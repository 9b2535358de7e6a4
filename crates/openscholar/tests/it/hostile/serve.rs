//! Clients of `datastore serve` that ask for too much, read too slowly or come from elsewhere.
