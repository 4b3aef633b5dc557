//! What bytes a token stands for.
//!
//! Byte-level vocabularies (GPT-2's) write each byte as one printable character: the printable Latin-1 bytes as
//! themselves, the 68 others as U+0100 and up, in order. SentencePiece vocabularies write a space as U+2581 and a
//! lone byte as "<0xNN>".

/// The byte that a character of the byte-level alphabet stands for.
pub fn byte_of(character: char) -> Option<u8> {
    let code = character as u32;
    match code {
        0x21..=0x7e | 0xa1..=0xac | 0xae..=0xff => Some(code as u8),
        // The bytes without a printable form, in ascending order: 00-20, 7f-a0, ad.
        0x100..=0x120 => Some((code - 0x100) as u8),
        0x121..=0x142 => Some((code - 0x121 + 0x7f) as u8),
        0x143 => Some(0xad),
        _ => None,
    }
}

/// A piece with a character outside the alphabet was never made from bytes; it stands for its own text.
pub fn byte_level_bytes(piece: &str) -> Vec<u8> {
    piece.chars().map(byte_of).collect::<Option<Vec<u8>>>().unwrap_or_else(|| piece.as_bytes().to_vec())
}

pub fn sentence_piece_bytes(piece: &str) -> Vec<u8> {
    piece.replace('\u{2581}', " ").into_bytes()
}

/// The value of a byte token "<0xNN>".
pub fn byte_token(piece: &str) -> Option<u8> {
    let digits = piece.strip_prefix("<0x")?.strip_suffix('>')?;
    if digits.len() != 2 || !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
        return None;
    }
    u8::from_str_radix(digits, 16).ok()
}
