//! A bound on the code inside one tag of a template.
//!
//! The template compiler takes time quadratic in the length of one expression ("a-a-a-..."), so a long one is refused
//! before it is compiled. Text inside quotes does not count: published templates hold whole instructions there.

/// The most bytes of code, quoted text aside, in one {{ }} or {% %} of the source. Where a source is not well formed
/// the number may be too large, never too small.
pub fn longest(source: &str) -> usize {
    let bytes = source.as_bytes();
    let mut longest = 0;
    let mut at = 0;
    while at + 1 < bytes.len() {
        if bytes[at] != b'{' || !matches!(bytes[at + 1], b'{' | b'%') {
            at += 1;
            continue;
        }
        at += 2;
        let mut length = 0;
        let mut quote = None;
        while at < bytes.len() {
            let byte = bytes[at];
            match quote {
                Some(_) if byte == b'\\' => at += 1,
                Some(end) if byte == end => quote = None,
                Some(_) => {}
                None if matches!(byte, b'"' | b'\'') => quote = Some(byte),
                None if matches!(byte, b'}' | b'%') && bytes.get(at + 1) == Some(&b'}') => break,
                None => length += 1,
            }
            at += 1;
        }
        longest = longest.max(length);
    }
    longest
}
