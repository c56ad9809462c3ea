//! `paid_content_sync`.
