//! A gzip member whose bytes are all there, inflated by libdeflate: twice as fast as by a stream.
//!
//! In: bytes that begin with a member, and a buffer with room for its text. Out: the text, and the number of the member's
//! bytes; nothing where the member is cut, damaged, or larger than the room. It must not know limits, nor name damage.

use std::ptr::NonNull;

use libdeflate_sys::{
    libdeflate_alloc_decompressor, libdeflate_decompressor, libdeflate_free_decompressor,
    libdeflate_gzip_decompress_ex, libdeflate_result_LIBDEFLATE_SUCCESS,
};

/// Appends the text of the first member of `raw` to `text`, which is not made longer than its capacity. Returns the number
/// of the member's bytes.
pub fn append(raw: &[u8], text: &mut Vec<u8>) -> Option<usize> {
    let decompressor = Decompressor::new()?;
    let room = text.spare_capacity_mut();
    let (mut used, mut written) = (0, 0);
    // SAFETY: the lengths are those of the slices, which nothing else uses meanwhile; the numbers outlive the call.
    let result = unsafe {
        libdeflate_gzip_decompress_ex(
            decompressor.0.as_ptr(),
            raw.as_ptr().cast(),
            raw.len(),
            room.as_mut_ptr().cast(),
            room.len(),
            &raw mut used,
            &raw mut written,
        )
    };
    if result != libdeflate_result_LIBDEFLATE_SUCCESS {
        return None;
    }
    // SAFETY: that many bytes of the room were written.
    unsafe { text.set_len(text.len() + written) };
    Some(used)
}

struct Decompressor(NonNull<libdeflate_decompressor>);

impl Decompressor {
    /// Returns none if its memory cannot be allocated.
    fn new() -> Option<Decompressor> {
        // SAFETY: it has no preconditions.
        NonNull::new(unsafe { libdeflate_alloc_decompressor() }).map(Decompressor)
    }
}

impl Drop for Decompressor {
    fn drop(&mut self) {
        // SAFETY: it was allocated by `new`, and is not used any more.
        unsafe { libdeflate_free_decompressor(self.0.as_ptr()) }
    }
}
