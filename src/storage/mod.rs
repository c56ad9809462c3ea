//! Files under the storage root.
